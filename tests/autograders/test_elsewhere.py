"""The autograder for Gradescope, laid out as there: its steps, as they stand, grade, and what is hidden stays hidden.

It is run as root of a container on a kernel without Landlock, which is the least that the grader does with.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from root_container import run_as_root

from grader.autograders import folder_grading, gradescope
from grader.autograders.packed import HIDDEN_FILE, unpack
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.hidden_seed import secret_of
from grader.host.zygote_process import with_real_user
from grader.model.label import Label
from grader.model.submission import Graded, Submission
from grader.sandbox import own_user
from support.command_line import export, grader
from support.places import ROOT

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
EMAIL = "ada@example.edu"
MakeNotebook = Callable[..., Any]

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@pytest.fixture(scope="module")
def course(new_course: Callable[[], Course]) -> Course:
    return new_course()


@pytest.fixture(scope="module")
def archive(course: Course) -> Path:
    made = f"export/{ASSIGNMENT}-gradescope-autograder.zip"
    return export(ASSIGNMENT, "gradescope-autograder", made, course.root)


@pytest.fixture
def autograder(archive: Path, tmp_path: Path) -> Path:
    """/autograder, as Gradescope lays it out."""
    tmp_path.chmod(0o755)  # so that nothing but its own steps closes it
    folder = tmp_path / "autograder"
    for name in ("source", "submission", "results"):
        (folder / name).mkdir(parents=True)
    with zipfile.ZipFile(archive) as content:
        content.extractall(folder / "source")
    shutil.copyfile(folder / "source/run_autograder", folder / "run_autograder")
    (folder / "run_autograder").chmod(0o755)
    hand_in(folder)
    return folder


def hand_in(folder: Path) -> None:
    metadata = {"users": [{"email": EMAIL, "name": "Ada"}]}
    (folder / "submission_metadata.json").write_text(json.dumps(metadata))


def results(folder: Path) -> Any:
    return json.loads((folder / "results/results.json").read_text())


# --- in the container ------------------------------------------------------------------------------------------------


def a_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.proof
def test_setup_script_installs_only_what_is_needed(autograder: Path, tmp_path: Path) -> None:
    """Here, all of it is installed: without any index, pip finds nothing that is missing or of another version."""
    programs, environment = tmp_path / "programs", tmp_path / "environment"
    a_program(programs / "apt-get", f'echo "$@" >>{tmp_path}/apt')
    made = f'mkdir -p "$3/bin" && ln -s {programs}/here "$3/bin/python"'
    a_program(programs / "python3", f'case "$1$2" in -mvenv) {made} ;; *) exec {sys.executable} "$@" ;; esac')
    a_program(programs / "here", f'exec {sys.executable} "$@"')
    names = {"PATH": f"{programs}:{os.defpath}", "PIP_NO_INDEX": "1", "GRADER_ENVIRONMENT": str(environment)}
    done = subprocess.run(
        ["bash", autograder / "source/setup.sh"],
        env={**os.environ, **names, "AUTOGRADER": str(autograder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "torch" in done.stdout
    assert "Installing" not in done.stdout
    assert (
        tmp_path / "apt"
    ).read_text() == "update\ninstall -y --no-install-recommends python3 python3-venv libseccomp2\n"


# Everything that it can find out, into a file that anybody may write.
ATTACK = """
import gc, os
found = []
for top in ({folder!r}, os.path.dirname(os.getcwd()), "/proc/1", f"/proc/{{os.getppid()}}"):
    for base, folders, files in os.walk(top, onerror=lambda error: found.append(repr(error).encode())):
        folders[:] = folders[:50]
        for name in files:
            try:
                with open(os.path.join(base, name), "rb") as file:
                    found.append(file.read(10_000_000))
            except Exception as error:
                found.append(repr(error).encode())
for one in gc.get_objects():
    if isinstance(one, dict):
        found += [value if isinstance(value, bytes) else value.encode("utf-8", "replace")
                  for value in list(one.values()) if isinstance(value, (bytes, str))]
with open({loot!r}, "wb") as file:
    for one in found:
        file.write(one + b"\\n")
"""


@pytest.fixture
def attacked(
    course: Course, autograder: Path, solved: dict[Label, str], make_notebook: MakeNotebook
) -> Callable[[], subprocess.CompletedProcess[str]]:
    """Grades a right notebook that also looks for all that is hidden; it was called as a browser calls a second one."""
    loot = autograder.parent / "loot"
    loot.mkdir(mode=0o777)
    loot.chmod(0o777)
    notebook = make_notebook(course, solved)
    code = ATTACK.format(folder=str(autograder), loot=str(loot / "found"))
    notebook.cells.append(nbformat.v4.new_code_cell(code))
    nbformat.write(notebook, autograder / "submission/self-attention (1).ipynb")
    a_program(autograder.parent / "environment/bin/python", f'exec {sys.executable} "$@"')
    names = {"AUTOGRADER": str(autograder), "GRADER_ENVIRONMENT": str(autograder.parent / "environment")}

    def grade() -> subprocess.CompletedProcess[str]:
        command = str(autograder / "run_autograder")
        return run_as_root(command, folder=autograder.parent, environment=names)

    return grade


def hidden_from_students(autograder: Path) -> list[bytes]:
    packed = unpack(autograder / "source")
    reference = next(text for place, text in packed.assignment.exercises.texts.items() if "softmax" in place)
    return [packed.secret, reference[:200]]


@needs_root
def test_gradescope_grades_and_hides_secrets(attacked: Any, autograder: Path) -> None:
    done = attacked()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Confined by: a separate user, without Landlock.\n")
    said = results(autograder)
    assert (said["score"], said["visibility"], said["stdout_visibility"]) == (30, "visible", "hidden")
    assert "leaderboard" not in said
    assert [(one["score"], one["max_score"]) for one in said["tests"]] == [(n, n) for n in (3, 3, 2, 2, 3, 4, 5, 8)]
    assert said["tests"][2]["name"] == "Exercise 3: Softmax"
    assert {one["output"] for one in said["tests"]} == {"Right."}
    assert said["output"].startswith("The code tried to read a file that is neither its own nor a library's")
    found = (autograder.parent / "loot/found").read_bytes()
    assert b"PermissionError" in found
    assert [secret for secret in hidden_from_students(autograder) if secret in found] == []


@needs_root
def test_gradescope_attack_without_closed_folder_succeeds(attacked: Any, autograder: Path) -> None:
    """Both what closes it and what looks whether it is closed are switched off."""
    script = autograder / "run_autograder"
    script.write_text(re.sub(r"^chmod .*$", "", script.read_text(), count=1, flags=re.MULTILINE))
    looks = autograder / "source/grader/sandbox/own_user.py"
    looks.write_text(looks.read_text().replace("for path in hidden:", "for path in ():"))
    done = attacked()
    assert done.returncode == 0, done.stderr
    found = (autograder.parent / "loot/found").read_bytes()
    assert [secret for secret in hidden_from_students(autograder) if secret not in found] == []


def in_a_fork(act: Callable[[], object]) -> str:
    """What goes wrong when a process of its own does something."""
    ours, its = os.pipe()
    if not (pid := os.fork()):
        try:
            act()
            os._exit(0)
        except BaseException as error:
            os.write(its, f"{type(error).__name__}: {error}".encode())
            os._exit(1)
    os.close(its)
    with os.fdopen(ours) as told:
        said = told.read()
    os.waitpid(pid, 0)
    return said


@needs_root
def test_become_when_a_hidden_folder_is_readable_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing runs, rather than with the answers in sight."""
    scratch, readable = tmp_path / "scratch", Path("/usr")
    (scratch / "folder").mkdir(parents=True)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert in_a_fork(lambda: own_user.become(scratch, [closed, readable])).startswith(
        "PermissionError: /usr can be read"
    )
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(readable))
    assert in_a_fork(lambda: own_user.become(scratch, [closed])) == ""
    assert ((scratch / "folder").stat().st_uid, scratch.stat().st_uid) == (own_user.USER, 0)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(closed))
    assert "closed cannot be read by others. Install Python" in in_a_fork(lambda: own_user.become(scratch, [closed]))


@needs_root
def test_really_sets_limits_of_another_user() -> None:
    """Which root of a container lacks: else a promise of little memory would be kept by nobody."""
    waits, goes_on = os.pipe()
    if not (other := os.fork()):
        os.close(goes_on)
        os.setresgid(*[own_user.USER] * 3)
        os.setresuid(*[own_user.USER] * 3)
        os.read(waits, 1)
        os._exit(0)
    limit = resource.RLIMIT_AS, (2**40, resource.RLIM_INFINITY)

    def change(user: int | None) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        library.capget(header, sets)
        sets[0] &= ~(1 << 24)  # CAP_SYS_RESOURCE, in effect
        assert library.capset(header, sets) == 0
        with with_real_user(user):
            resource.prlimit(other, *limit)
        assert (os.getresuid(), os.getresgid()) == ((0, 0, 0), (0, 0, 0))

    try:
        _wait_for_user(other)
        assert in_a_fork(lambda: change(None)).startswith("PermissionError")
        assert in_a_fork(lambda: change(own_user.USER)) == ""
        assert re.search(rf"^Max address space +{2**40} ", Path(f"/proc/{other}/limits").read_text(), re.MULTILINE)
    finally:
        os.close(goes_on)
        os.close(waits)
        os.waitpid(other, 0)


def _wait_for_user(pid: int) -> None:
    while f"Uid:\t{own_user.USER}\t{own_user.USER}" not in Path(f"/proc/{pid}/status").read_text():
        os.sched_yield()


def test_gradescope_page_commands_grade_here(course: Course, submit: Callable[..., Path]) -> None:
    submit(course, "ada", {3: "softmax = lambda x: torch.softmax(torch.as_tensor(x), 0)"})
    a_program(course.root / ".venv/bin/python", f'exec {sys.executable} "$@"')
    commands, shown = commands_after("## Try it here"), commands_after("It prints")
    grader("export", ASSIGNMENT, "--to", "gradescope-autograder", folder=course.root)
    program = f"PATH={course.root}/.venv/bin:$PATH\n{commands}"
    done = subprocess.run(["bash", "-ec", program], cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told, result = done.stdout.split("{", 1)
    assert re.fullmatch(re.sub("[0-9a-f]{16}", "[0-9a-f]{16}", shown), told)
    assert json.loads("{" + result)["score"] == 2


def commands_after(words: str) -> str:
    """The first of what is shown behind these words on the page."""
    page = ROOT / "docs/gradescope.md"
    shown = re.search(r"\n\n((?:    .*\n)+)", page.read_text(encoding="utf-8").split(words, 1)[1])
    assert shown
    return textwrap.dedent(shown[1])


# --- what is handed in -----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _forget_plugins() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before


def test_gradescope_without_a_notebook_scores_zero_and_says_why(autograder: Path) -> None:
    (autograder / "submission/report.pdf").write_bytes(b"%PDF-1.7")
    gradescope.main(autograder)
    said = results(autograder)
    assert said["score"] == 0
    assert said["output"] == (
        "Nothing was graded: there is no notebook in it: report.pdf. Submit again, with exactly one "
        "notebook for this assignment."
    )
    assert [(one["name"], one["score"], one["max_score"]) for one in said["tests"]][:2] == [
        ("Exercise 1", 0, 3),
        ("Exercise 2", 0, 3),
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "it is empty"),
        ({"a.ipynb": {3: "def softmax(x): return 1"}, "b.ipynb": {3: "def softmax(x): return 2"}},
         "2 different notebooks, with no times to show which is the newest: a.ipynb, b.ipynb"),
        ({"broken.ipynb": b"\x00{"}, "it is not valid JSON, so the student has to submit it again. Submit again"),
        ({"week.ipynb": "causal_attention"}, "week.ipynb: it is for causal_attention"),
    ],
    ids=["empty", "doubled", "unreadable", "another assignment"],
)  # fmt: skip
def test_gradescope_with_ambiguous_files_scores_zero_and_says_why(
    files: dict[str, Any], words: str, course: Course, autograder: Path, make_notebook: MakeNotebook
) -> None:
    for name, what in files.items():
        if isinstance(what, str):
            what = nbformat.writes(make_notebook(course, {}, what)).encode()
        elif isinstance(what, dict):
            what = nbformat.writes(make_notebook(course, what)).encode()
        (autograder / "submission" / name).write_bytes(what)
    gradescope.main(autograder)
    said = results(autograder)
    assert said["score"] == 0
    assert words in said["output"]


def test_gradescope_with_odd_file_names_writes_a_result(
    course: Course, autograder: Path, make_notebook: MakeNotebook
) -> None:
    """Files where folders of the course or of the sandbox must be, folders where files must be, and no files at all."""
    folder = autograder / "submission"
    nbformat.write(make_notebook(course, {3: "import table\nsoftmax = table.softmax"}), folder / "mine.ipynb")
    (folder / "table.py").write_text("import torch\nsoftmax = lambda x: torch.softmax(torch.as_tensor(x), 0)")
    ours = ("images", ".ipython", ".matplotlib", "__pycache__", "torch.py")
    for name in (*ours, "-rf", "new\nline", "half\udcff", "x" * 255):
        (folder / name).write_text("raise SystemExit")
    for name in ("checks.py", "compare.py", f"{ASSIGNMENT}.ipynb", "IPython", "results", "grader", "deep/" * 30):
        (folder / name).mkdir(parents=True)
        (folder / name / "file.txt").write_text("1")
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "link.ipynb").symlink_to(folder / "mine.ipynb")
    (folder / "loop").symlink_to(folder)
    (folder / "gone.py").symlink_to("/nowhere")
    os.link(folder / "-rf", folder / "hard.py")
    gradescope.main(autograder)
    assert [one["score"] for one in results(autograder)["tests"]] == [0, 0, 2, 0, 0, 0, 0, 0]


def test_gradescope_without_a_submission_folder_writes_a_result(autograder: Path) -> None:
    (autograder / "submission").rmdir()
    gradescope.main(autograder)
    assert results(autograder)["score"] == 0


@pytest.fixture
def graders(monkeypatch: pytest.MonkeyPatch) -> list[Submission]:
    """What is to be graded; nobody grades it."""
    asked: list[Submission] = []

    class Notes:
        def __init__(self, _assignment: object) -> None: ...

        def grade(self, submission: Submission) -> Graded:
            asked.append(submission)
            return Graded(submission.student, error="" if len(asked) < 4 else "ZygoteError: no room")

    monkeypatch.setattr(folder_grading, "SubmissionGrader", Notes)
    return asked


def test_gradescope_draws_new_inputs_and_raises_on_own_faults(
    course: Course,
    autograder: Path,
    make_notebook: MakeNotebook,
    graders: list[Submission],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever a student can repeat, such as the number of hand-ins. Instructors are told how to see the same again."""
    nbformat.write(make_notebook(course, {}), autograder / "submission/mine.ipynb")
    (autograder / "submission/table.csv").write_text("1,2")
    gradescope.main(autograder)
    (told,) = re.findall("^Hidden inputs: (.+)$", capsys.readouterr().out, re.MULTILINE)
    gradescope.main(autograder)
    assert graders[0].hidden_seed != graders[1].hidden_seed
    gradescope.main(autograder, told)
    assert graders[2].hidden_seed == graders[0].hidden_seed
    assert (graders[0].student, list(graders[0].notebooks), list(graders[0].files)) == (
        EMAIL,
        [ASSIGNMENT],
        ["table.csv"],
    )
    (autograder / "results/results.json").unlink()
    with pytest.raises(CourseError, match="not the student's fault: ZygoteError"):
        gradescope.main(autograder)
    (autograder / "submission_metadata.json").write_text("[]")
    with pytest.raises(CourseError, match=r"submission_metadata\.json cannot be read"):
        gradescope.main(autograder)
    assert not (autograder / "results/results.json").exists()


# --- what travels ----------------------------------------------------------------------------------------------------


def test_export_gradescope_leaves_out_secret_and_other_assignments(course: Course, archive: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        texts = {name: content.read(name) for name in content.namelist()}
    assert [name for name, text in texts.items() if secret_of(course.root) in text] == []
    assert [name for name in texts if name.startswith(("grader/exercises", "grader/checks", "source/"))] == []
    solution = next(
        cell.source for cell in course.read("source", "causal_attention").cells if "BEGIN SOLUTION" in cell.source
    )
    assert [name for name, text in texts.items() if solution.encode() in text] == []
    reference = b"exp = torch.exp("
    assert [name for name, text in texts.items() if reference in text] == [HIDDEN_FILE]


def test_export_gradescope_index_is_in_requirements(course: Course) -> None:
    where = "https://wheels.example.edu/cpu"
    order = ["export", ASSIGNMENT, "--to", "gradescope-autograder", "--index"]
    assert grader(*order, where, folder=course.root).returncode == 0
    with zipfile.ZipFile(course.root / "export" / f"{ASSIGNMENT}-gradescope-autograder.zip") as content:
        requirements = content.read("requirements.txt").decode()
    assert requirements.splitlines()[0] == f"--extra-index-url {where}"
    for wrong in ("http://example.edu", "https://me:secret@example.edu", "https://example.edu\nmore"):
        done = grader(*order, wrong, folder=course.root)
        assert (done.returncode, done.stderr) == (
            1, "--index needs the address of a pip index, such as https://example.edu/cpu.\n"
        )  # fmt: skip


def test_export_gradescope_when_not_released_says_so(new_course: Callable[[], Course]) -> None:
    course = new_course()
    shutil.rmtree(course.root / "release" / ASSIGNMENT)
    done = grader("export", ASSIGNMENT, "--to", "gradescope-autograder", folder=course.root)
    assert (done.returncode, done.stderr.strip()) == (
        1, f"{ASSIGNMENT} has not been released yet. Run: grader release {ASSIGNMENT}"
    )  # fmt: skip
