"""Anonymous grading: until an assignment is published, nothing that graders look at says who has handed in what."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rich.console import Console

from grader.classroom.progress import Onlooker
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.names import Names
from grader.notebooks.cells import solved
from grader.pages import class_summary
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.pages.report_lines import AlikeExercise, AlikePair
from grader.publishing import publish as publishing
from grader.release.compiling import compile_release
from support.command_line import Ended, grader
from support.places import DATA
from support.second_course_answers import WRONG

pytestmark = pytest.mark.slow

publish = partial(publishing.publish, waiting_anyway=True)  # some answers wait for points by hand
WORDS = "words"
NAMES = {  # by id
    "adalove": ("Augusta", "Lovelace"), "emmynoe": ("Amalie", "Noether"), "kurtgoe": ("Kurtus", "Goedel"),
    "lisemei": ("Liselotte", "Meitner"), "zuse": ("Konrad", "Ernst-Otto"),
}  # fmt: skip
SECRET = [*NAMES, *(name for both in NAMES.values() for name in both)]
RULES = """\
[assignments.words]
anonymous = true
due = 2026-10-12T08:00:00Z
extensions = {kurtgoe = "1 day"}

[groups]
red = ["kurtgoe", "lisemei"]
"""


def silent(_: str) -> None: ...


def told_who(text: str) -> list[str]:
    """The ids and names that stand in a text."""
    return [name for name in SECRET if name.casefold() in text.casefold()]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Everyone but lise, who is in kurt's group, has handed in. What zuse has handed in is a link."""
    root = tmp_path_factory.mktemp("anonymous") / "course"
    second = DATA / "second_course"
    shutil.copytree(second, root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "course.toml").write_text(RULES)
    course = Course(root)
    compile_release(course, WORDS)
    for student in ("adalove", "emmynoe", "kurtgoe"):
        hand_in(course, student, WRONG if student == "kurtgoe" else {})
    (course.folder("submitted") / "zuse" / WORDS).mkdir(parents=True)
    course.notebook("submitted/zuse", WORDS).symlink_to(course.notebook("submitted/adalove", WORDS))
    with course.api().gradebook as gradebook:
        for student, (first, last) in NAMES.items():
            gradebook.add_student(student, first_name=first, last_name=last, email=f"{student}@example.edu")
    return course


def hand_in(course: Course, student: str, answers: Mapping[str, str], hour: int = 9) -> None:
    made: Any = solved(course.read("release", WORDS), course.read("source", WORDS))
    for cell in made.cells:
        cell.source = answers.get(cell.id, cell.source)
    path = course.notebook(f"submitted/{student}", WORDS)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, path)
    (path.parent / "timestamp.txt").write_text(f"2026-10-12 {hour:02}:00:00 UTC")


@pytest.fixture(scope="module")
def graded(released: Course) -> Course:
    list(autograde(released, WORDS))
    return released


@pytest.fixture
def course(graded: Course, tmp_path: Path) -> Course:
    return copied(graded, tmp_path)


def copied(course: Course, folder: Path) -> Course:
    shutil.copytree(course.root, folder / "course", symlinks=True)
    return Course(folder / "course")


def said(ended: Ended) -> str:
    return ended.stdout + ended.stderr


def written(course: Course) -> str:
    """All that lies in the folders of pages and tables, with the names of the files."""
    paths = [path for name in ("report", "export", "feedback") for path in (course.root / name).rglob("*")]
    return "\n".join(f"{path.relative_to(course.root)}\n{path.read_text()}" for path in paths if path.is_file())


def test_nothing_that_is_printed_or_written_before_publication_says_who_it_is(released: Course, tmp_path: Path) -> None:
    course = copied(released, tmp_path)
    (course.root / "gradebook.db").unlink()
    compile_release(course, WORDS)
    with course.api().gradebook as gradebook:
        for student, (first, last) in NAMES.items():
            gradebook.add_student(student, first_name=first, last_name=last)
    found = {}
    for words in (
        "autograde words --dry-run", "autograde words", "autograde words --json", "report words", "report",
        "feedback words", "export words --to moodle", "export words --to canvas", "export", "autograde",
    ):  # fmt: skip
        found[words] = said(grader(*words.split(), folder=course.root))
    hand_in(course, "adalove", WRONG)
    hand_in(course, "lisemei", {}, hour=10)  # so that what the group has is now by her
    (course.root / "course.toml").write_text(RULES.replace('"1 day"', '"2 days"') + 'blue = ["nobody", "zuse"]\n')
    for words in (
        "report words --student adalove", "report", "export", "autograde words --dry-run --json", "autograde words",
    ):  # fmt: skip
        found[f"{words}, later"] = said(grader(*words.split(), folder=course.root))
    assert told_who(written(course)) == []
    assert not (course.root / "feedback").exists()
    hand_in(course, "emmynoe", WRONG)
    codes = Names(course, WORDS)
    found["publish"] = said(grader("publish", WORDS, "--stale-anyway", folder=course.root))
    assert {words: told_who(text) for words, text in found.items() if told_who(text)} == {}
    assert f"a new submission: {codes('emmynoe')}" in found["publish"]
    assert found["autograde words"].count(codes("zuse")) >= 2, "in the table, and as one without a grade"
    assert "the submission is a link" in found["autograde words"]
    assert f"a new submission: {codes('adalove')}" in found["report words --student adalove, later"]
    assert f"submitted by {codes('lisemei')}" in found["autograde words --dry-run --json, later"]
    assert "the extension for" in found["autograde words, later"]
    assert f"course.toml names {codes('nobody')}, who is not in the gradebook" in found["autograde words, later"]
    assert (course.root / "report/words.html").is_file()
    assert not (course.root / "export").exists()


def test_the_order_tells_nothing_and_points_are_the_same(course: Course) -> None:
    codes = Names(course, WORDS)
    page, table, data = write_report(course, WORDS, silent)
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert [row["student"] for row in rows] == sorted(map(codes, NAMES))
    points = {row["student"]: row["points"] for row in rows}
    assert codes("adalove") in page.read_text()
    assert (points[codes("adalove")], points[codes("lisemei")], points[codes("zuse")]) == ("7", "3", "")
    assert [one["student"] for one in json.loads(data.read_text())["students"]] == sorted(map(codes, NAMES))
    told = json.loads(grader("autograde", WORDS, "--json", folder=course.root).stdout)
    assert list(told["students"]) == sorted(map(codes, ("adalove", "emmynoe", "kurtgoe")))
    assert list(told["failed"]) == [codes("zuse")]


def test_similar_code_is_that_of_codes(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def pairs(solutions: Iterable[str], *_: object) -> list[AlikePair]:
        one, other, *_rest = solutions
        return [AlikePair((one, other), [AlikeExercise(1, 0.9, False)])]

    monkeypatch.setattr(class_summary, "pairs", pairs)
    page, table, data = write_report(course, WORDS, silent)
    (pair,) = json.loads(data.read_text())["alike"]
    assert set(pair["students"]) <= set(map(Names(course, WORDS), NAMES))
    assert told_who(page.read_text() + table.read_text()) == []


def test_codes_are_stable_and_others_in_another_course_and_assignment(course: Course, graded: Course) -> None:
    codes = Names(course, WORDS)
    assert all(re.fullmatch("[0-9a-f]{10}", codes(student)) for student in NAMES)
    assert len(set(map(codes, NAMES))) == len(NAMES)
    assert [*map(codes, NAMES)] == [*map(Names(graded, WORDS), NAMES)]
    (course.root / "course.toml").write_text("anonymous = true\n")
    course = Course(course.root)
    assert not {*map(codes, NAMES)} & {*map(Names(course, "numbers"), NAMES)}
    (course.root / ".grader_secret").write_bytes(b"another")
    assert not {*map(Names(course, WORDS), NAMES)} & {*map(Names(graded, WORDS), NAMES)}


def test_the_instructor_can_ask_who_it_is(course: Course) -> None:
    code = Names(course, WORDS)("lisemei")
    assert grader("report", WORDS, "--who", code, folder=course.root).stdout == "lisemei\n"
    unknown = grader("report", WORDS, "--who", "0000000000", folder=course.root)
    assert (unknown.returncode, unknown.stderr.strip()) == (1, "Nobody in words has the code 0000000000.")
    assert "Name the assignment, too" in grader("report", "--who", code, folder=course.root).stderr


@pytest.mark.parametrize("words", ["feedback words", "export words --to moodle"])
def test_what_names_students_is_refused_and_it_is_said_why(words: str, course: Course) -> None:
    refused = grader(*words.split(), folder=course.root)
    what = "feedback" if "feedback" in words else "an export"
    why = f"words is anonymous until it is published, and {what} would name students. "
    why += "To publish it, run: grader publish words"
    assert (refused.returncode, refused.stderr.strip()) == (1, why)


def test_the_whole_term_leaves_it_out(course: Course) -> None:
    compile_release(course, "numbers")
    path = course.notebook("submitted/emmynoe", "numbers")
    path.parent.mkdir()
    nbformat.write(solved(course.read("release", "numbers"), course.read("source", "numbers")), path)
    list(autograde(course, "numbers"))
    hand_in(course, "adalove", WRONG)  # and nobody hears of it here
    ended = grader("export", folder=course.root)
    assert ended.returncode == 0
    assert ended.stderr == "words is anonymous until it is published, so it was left out.\n"
    rows = list(csv.DictReader((course.root / "export/all-assignments.csv").read_text().splitlines()))
    assert {row["student"]: row["numbers"] for row in rows if row["numbers"]} == {"emmynoe": "5"}
    assert "words" not in rows[0]
    (course.root / "course.toml").write_text("")
    assert "adalove" in said(grader("report", folder=course.root)) + written(course)


def test_after_publication_names_are_back(course: Course) -> None:
    shutil.rmtree(course.folder("submitted") / "zuse")
    write_report(course, WORDS, silent)
    assert told_who(written(course)) == []
    assert publish(course, WORDS, ["moodle"], silent)
    assert {path.parent.parent.name for path in write_feedback(course, WORDS, silent)} >= {"adalove", "lisemei"}
    page, table, _ = write_report(course, WORDS, silent)
    assert "../feedback/adalove/words/words.html" in page.read_text()
    assert "Lovelace" in table.read_text()
    assert "adalove" in grader("autograde", WORDS, folder=course.root).stdout
    assert grader("export", WORDS, "--to", "moodle", folder=course.root).returncode == 0
    assert "adalove" in (course.root / "export/words-moodle.csv").read_text()


def test_who_is_being_graded_is_shown_by_code(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    names, out = Names(course, WORDS), StringIO()
    monkeypatch.setattr("grader.classroom.progress.LINE_SECONDS", -1.0)
    onlooker = Onlooker(Console(file=out, width=200), 3, quiet=False, names=names)
    onlooker.look({"adalove": 30.0})
    onlooker.tell("Something of kurtgoe's, not of kurtgoes or xkurtgoe.")
    assert f"{names('adalove')} for 30 s" in out.getvalue()
    assert f"Something of {names('kurtgoe')}'s, not of kurtgoes or xkurtgoe." in out.getvalue()


def test_errors_name_nobody(course: Course) -> None:
    def fail(names: Names, kind: Callable[[str], Exception]) -> None:
        with names.in_errors():
            raise kind("adalove and zuse have both submitted")

    names = Names(course, WORDS)
    with pytest.raises(CourseError, match=f"^{names('adalove')} and {names('zuse')} have both"):
        fail(names, CourseError)
    with pytest.raises(ValueError, match=r"^adalove"):
        fail(names, ValueError)


def test_without_the_rule_nothing_is_hidden(course: Course) -> None:
    (course.root / "course.toml").write_text("[assignments.numbers]\nanonymous = true\n")
    assert "adalove" in grader("autograde", WORDS, folder=course.root).stdout
