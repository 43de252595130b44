"""The command line as its users meet it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.checks.demo import answers_of_all, demonstrated, make_up_class
from grader.classroom.progress import results_table
from grader.cli import terminal
from grader.cli.app import ORDER, app
from grader.course.folder import Course
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict
from support.command_line import grader
from support.made_class import Paper, grade
from support.our_course import CATALOGUE
from support.places import ROOT

COMMANDS = [
    command.name or command.callback.__name__
    for command in app.registered_commands
    if command.callback and not command.hidden
]
GROUPS = [str(group.name) for group in app.registered_groups]


def run(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The installed command, in a process of its own."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("grader")), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_help_fits_a_screen_and_lists_commands_in_order() -> None:
    shown = run("--help", folder=ROOT, COLUMNS="80", LINES="24").stdout
    lines = shown.strip().splitlines()  # without the first one, which is blank and may be above the screen
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    listed = re.findall(r"^│ (\w+)  +(\S.*?) +│$", shown, re.MULTILINE)
    assert [name for name, _ in listed] == [name for name in ORDER if name in COMMANDS + GROUPS]
    assert len(listed) == len(COMMANDS + GROUPS)
    assert [does for _, does in listed if not does.endswith(".") or "…" in does] == [], "each says it in one line"


def on_a_terminal(*arguments: str, folder: Path, **environment: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = os.openpty()
    command = [str(Path(sys.executable).with_name("grader")), *arguments]
    there = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
    with subprocess.Popen(command, cwd=folder, env=there, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        while piece := _read(ours):
            written += piece
    os.close(ours)
    assert process.returncode == 1
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how a terminal says that nobody writes any longer
        return b""


@pytest.mark.slow
def test_colors_are_used_only_on_terminals_or_when_forced(tmp_path: Path) -> None:
    color = re.compile(r"\x1b\[[0-9;]*3[0-9]")
    assert color.search(on_a_terminal("validate", folder=tmp_path))
    assert not color.search(on_a_terminal("validate", folder=tmp_path, NO_COLOR="1"))
    assert "\x1b" not in run("validate", folder=tmp_path).stderr
    assert "\x1b" not in run("autograde", "--help", folder=tmp_path).stdout
    assert "\x1b" not in run("autograde", "--help", folder=tmp_path, GITHUB_ACTIONS="true").stdout
    assert color.search(run("autograde", "--help", folder=tmp_path, FORCE_COLOR="1").stdout)


@pytest.mark.parametrize("command", [*COMMANDS, "new course", "new assignment", "new exercise"])
def test_help_shows_an_example(command: str) -> None:
    result = grader(*command.split(), "--help", folder=ROOT)
    assert result.returncode == 0
    assert f"grader {command}" in result.stdout.split("Example:")[1]


@pytest.mark.slow
def test_help_does_not_speak_of_attention() -> None:
    """The attention course is one among many."""
    for command in ["", *COMMANDS, *GROUPS]:
        assert "attention" not in grader(*command.split(), "--help", folder=ROOT).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["release", "nonsense"],
            "There is no assignment “nonsense”. Assignments: causal_attention, fast_attention, modern_attention, "
            "multi_head_attention, self_attention, transformer.",
        ),
        (
            ["autograde", "self_attention"],
            "There is nothing to grade. Put submissions into submitted/STUDENT/self_attention/",
        ),
        (
            ["autograde", "self_attention", "--student", "nobody"],
            "no submission of self_attention by nobody. Use the names of the folders",
        ),
        (["autograde", "self_attention", "--dask", "nowhere"], "There is nothing to grade"),
        (["feedback", "self_attention"], "Run: grader autograde self_attention"),
        (["feedback", "nonsense"], "There is no assignment “nonsense”. Assignments: causal_attention"),
    ],
)
def test_mistake_of_the_user_prints_one_clear_line(arguments: list[str], words: str, course: Course) -> None:
    result = grader(*arguments, folder=course.root)
    assert result.returncode == 1
    assert words in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr + result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["release"],
        ["autograde", "self_attention"],
        ["feedback", "self_attention"],
        ["report", "self_attention"],
        ["export", "self_attention", "--to", "moodle"],
        ["validate"],
    ],
)
def test_command_outside_of_a_course_folder_says_so(arguments: list[str], tmp_path: Path) -> None:
    result = grader(*arguments, folder=tmp_path)
    assert result.returncode == 1
    assert "Run this in the course folder" in " ".join(result.stderr.split())


@pytest.mark.parametrize("arguments", [["autograde", "self_attention"], ["validate"]])
def test_command_outside_of_a_course_folder_does_not_load_torch(arguments: list[str], tmp_path: Path) -> None:
    program = (
        "import atexit, sys; atexit.register(lambda: print('torch' in sys.modules)); from grader.cli.app import run; "
    )
    command = [sys.executable, "-c", program + "run()", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "False\n")


@pytest.mark.slow
def test_installed_command_prints_one_line_on_error(tmp_path: Path) -> None:
    result = run("autograde", "self_attention", folder=tmp_path)
    said = f"There is no nbgrader_config.py in {tmp_path}. Run this in the course folder.\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", said)


def test_help_into_a_closed_pipe_prints_no_traceback(tmp_path: Path) -> None:
    """As `head` does."""
    ours, theirs = os.pipe()
    os.close(ours)
    command = [str(Path(sys.executable).with_name("grader")), "--help"]
    done = subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, b"")


def test_autograde_with_device_cuda_when_there_is_none_says_so(
    course: Course, submit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ada")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    result = grader("autograde", "self_attention", "--device", "cuda", folder=course.root)
    assert result.returncode == 1
    assert "no CUDA device here. Grade without --device cuda" in " ".join(result.stderr.split())
    assert not (course.root / "autograded").exists()


@pytest.mark.parametrize("command", [["release"], ["autograde", "self_attention"], ["validate"]])
def test_command_when_config_is_unreadable_names_it(
    command: list[str], course: Course, submit: Callable[..., Path]
) -> None:
    submit(course, "ada")
    (course.root / "nbgrader_config.py").write_text("c = (\n")
    result = grader(*command, folder=course.root)
    assert result.returncode == 1
    assert "nbgrader_config.py cannot be read. Fix it" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_release_when_source_is_no_notebook_names_it(course: Course) -> None:
    course.notebook("source", "self_attention").write_text("nothing")
    result = grader("release", "self_attention", folder=course.root)
    assert result.returncode == 1
    assert "self_attention.ipynb cannot be read: it is not a notebook. Fix it" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def _garbage(gradebook: Path) -> None:
    gradebook.write_text("no database at all, but of some length\n" * 100)


def _cut_off(gradebook: Path) -> None:
    os.truncate(gradebook, gradebook.stat().st_size // 4096 * 4 // 5 * 4096)


def _folder(gradebook: Path) -> None:
    gradebook.unlink()
    gradebook.mkdir()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_garbage, "file is not a database"),
        (_cut_off, "database disk image is malformed"),
        (_folder, "unable to open database file"),
    ],
)
@pytest.mark.parametrize("command", ["feedback", "release", "report"])
def test_command_when_gradebook_is_unreadable_names_it(
    spoil: Callable[[Path], None], words: str, command: str, course: Course
) -> None:
    grade(course, Paper("ada"))
    gradebook = course.root / "gradebook.db"
    spoil(gradebook)
    result = grader(command, "self_attention", folder=course.root)
    assert result.returncode == 1
    assert result.stderr == (
        f"The gradebook {gradebook} cannot be used: {words}. Fix that, or restore an intact copy, then run this "
        "again.\n"
    )


@pytest.mark.slow
def test_doctor_on_an_ascii_terminal_escapes_letters(course: Course) -> None:
    result = run("doctor", folder=course.root, PYTHONIOENCODING="ascii")
    assert "\\u2713" in result.stdout
    assert "Traceback" not in result.stderr


def test_report_when_config_exits_says_so(course: Course) -> None:
    """So that nobody takes a command that has done nothing for one that is done."""
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("\nraise SystemExit(0)\n")
    result = grader("report", "self_attention", folder=course.root)
    assert result.returncode == 1
    assert "nbgrader_config.py cannot be read. Fix it, then run this again. SystemExit: 0" in result.stderr


@pytest.mark.slow
def test_report_when_disk_is_full_says_so(course: Course) -> None:
    """It says so while a file is written, and not of which one."""
    grade(course, Paper("ada"))
    (course.root / "report").mkdir()
    (course.root / "report/self_attention.unfinished").symlink_to("/dev/full")
    result = grader("report", "self_attention", folder=course.root)
    assert result.returncode == 1
    assert result.stderr == "Cannot write files: No space left on device. Fix that, then run this again.\n"


def test_print_path_in_a_pipe_is_one_relative_line_without_markup(course: Course, capsys: Any) -> None:
    name = "[bold]" + "a" * 250
    with contextlib.chdir(course.root):
        terminal.print_path(course.root / "feedback" / name / "self_attention.html")
    assert capsys.readouterr().out == f"feedback/{name}/self_attention.html\n"


def test_feedback_prints_relative_paths(course: Course) -> None:
    student = "a" * 99
    grade(course, Paper(student))
    pages = grader("feedback", "self_attention", folder=course.root)
    assert pages.stdout == f"feedback/{student}/self_attention/self_attention.html\n", pages.stderr


def test_autograde_when_submitted_is_a_file_says_so(course: Course) -> None:
    (course.root / "submitted").write_text("a file, where a folder is to be")
    result = grader("autograde", "self_attention", folder=course.root)
    assert result.returncode == 1
    assert result.stderr == ("The folder submitted/ cannot be read: Not a directory. Fix that, then run this again.\n")


@pytest.mark.slow
def test_feedback_when_a_file_is_in_the_way_says_what_to_do(course: Course) -> None:
    grade(course, Paper("ada"))
    (course.root / "feedback").write_text("a file, where a folder is to be")
    result = grader("feedback", "self_attention", folder=course.root)
    assert result.returncode == 1
    assert "could not write the feedback. It says:\nNotADirectoryError" in result.stderr
    assert "nbgrader generate_feedback self_attention --force" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["feedback", "release"])
def test_command_when_course_path_is_a_pattern_asks_to_rename(command: str, course: Course) -> None:
    grade(course, Paper("ada"))
    folder = course.root.rename(course.root.parent / "[ml]")
    result = grader(command, "self_attention", folder=folder)
    assert result.returncode == 1
    assert "Rename the folder, then run this again." in result.stderr
    assert "Traceback" not in result.stderr


def test_demo_when_a_file_is_in_the_way_names_it(course: Course) -> None:
    (course.root / "demo").write_text("a file, where a folder is to be")
    result = grader("demo", folder=course.root)
    assert result.returncode == 1
    assert "demo: Not a directory. Fix that, then run this again." in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_autograde_and_feedback_from_the_shell(course: Course, submit: Callable[..., Path], solved: Any) -> None:
    """One right submission, and a student who handed in a folder without the notebook."""
    submit(course, "ada", solved)
    (course.root / "submitted/ben/self_attention").mkdir(parents=True)
    graded = run("autograde", "self_attention", folder=course.root)
    assert graded.returncode == 1, graded.stderr
    assert "30/30" in graded.stdout
    assert "ben has no grade: there is no self_attention.ipynb" in graded.stderr
    pages = grader("feedback", "self_attention", folder=course.root)
    assert pages.returncode == 0, pages.stderr
    page = course.root / "feedback/ada/self_attention/self_attention.html"
    assert "Exercise 8: Two heads" in page.read_text()


@pytest.mark.parametrize("assignment", demonstrated())
def test_demo_makes_up_twelve_submissions(assignment: str, course: Course) -> None:
    assert make_up_class(course, assignment) == 12
    students = course.students(assignment)
    assert len(students) == 12
    notebooks = {student: course.notebook(f"submitted/{student}", assignment).read_text() for student in students}
    assert len(set(notebooks.values())) == 12
    with pytest.raises(json.JSONDecodeError):
        json.loads(notebooks["luca"])
    assert notebooks["kurt"] == course.notebook("release", assignment).read_text().rstrip("\n")


@pytest.mark.parametrize("assignment", demonstrated())
def test_demo_students_answer_each_exercise(assignment: str) -> None:
    exercises = CATALOGUE.of(assignment)
    answers = [(label, code) for own in answers_of_all(assignment).values() for label, code in own.items()]
    assert {label for label, _ in answers} == set(exercises)
    for label, code in answers:
        assert any(f" {function.entry}" in code for function in exercises[label].functions), code


def test_demo_of_an_assignment_without_answers_is_refused(tmp_path: Path) -> None:
    refused = grader("demo", "--assignment", "algebra", folder=tmp_path)
    assert refused.returncode == 1
    assert "Choose one of: causal_attention, fast_attention," in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_results_table_has_a_line_for_everyone() -> None:
    wrong = Scored(Verdict(2, "Scores", 0.5, Reason.MISCONCEPTION, misconceptions=("a",)), max_points=3)
    right = Scored(Verdict(3, "Softmax", 1.0, Reason.RIGHT), max_points=1.5)
    table = results_table([Graded("ada", verdicts=[wrong, right]), Graded("ben", error="no notebook")])
    assert [list(column.cells) for column in table.columns] == [
        ["ada", "ben"],
        ["1.5", "–"],
        ["1.5", "–"],
        ["3/4.5", "–"],
        ["2: a", "no notebook"],
    ]
