"""A term of sixty students and three assignments, with all rules at once: collected, graded, published, exported."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.notebooks.cells import solved
from support.command_line import grader
from support.second_course import WRONG, copy_of_second_course

pytestmark = pytest.mark.slow

RULES = """\
timezone = "Europe/Berlin"
counts = "best"

[late]
per = "day"
share = 0.1
cap = 0.5
grace = "15 minutes"

[assignments.words]
due = 2026-10-12T10:00:00  # in summer: 8:00 in UTC
void = [1]
full = ["parse-date"]
bonus = ["why"]
weight = 3
[assignments.words.extensions]
{of_two_days}

[assignments.numbers]
due = 2026-11-02T10:00:00  # in winter: 9:00 in UTC
late = {{per = "hour", share = 0.02, cap = 0.3, grace = "15 minutes"}}
[assignments.numbers.extensions]
{of_a_day}

[assignments.week3]
groups = false

[groups]
{groups}
"""
DUE = {"words": datetime(2026, 10, 12, 8), "numbers": datetime(2026, 11, 2, 9)}  # in UTC
# words: exercise 1 is void; 2, parse-date and the greeting are worth 2 + 2 + 1 = 5, and `why` is a bonus of 2.
# numbers: 3 + 2 = 5. week3: 2. In all: 100 * (3 * words / 5 + numbers / 5 + week3 / 2) / 5.
# kind      how many  words  numbers  week3  in all
TABLE = """
  right           20    7      5        2    124      all right, ten minutes before the time
  wrong           10    5      3        1     82      1 + 2 (for all) + 0 + 2, ten minutes late: forgiven; one of two
  late            10    5.6    3.5      2    101.2    25 hours: 2 days are 0.2 of 7; 25 hours would be half, 0.3 is most
  extended         5    7      4.9      2    123.6    as late: 2 days more; 1 day more, so that one hour has begun
  absent           5    7      -        -     84      has handed in once, and again what is wrong, which would be 5
  pair             5    5.6    5        2    107.2    25 hours late in words; hands in for two, and in week3 alone
  partner          5    5.6    5        -     87.2    has handed in nothing
"""
LATE = {"right": -10, "wrong": 10, "late": 25 * 60, "extended": 25 * 60, "absent": -10, "pair": 25 * 60}  # minutes
ON_TIME_IN_NUMBERS = ("pair",)
FROM_A_FOLDER = ("late", "pair")  # week3; of the others, it comes from Moodle
KINDS = {row.split()[0]: row.split()[1:6] for row in TABLE.strip().splitlines()}
HOW_MANY = {kind: int(row[0]) for kind, row in KINDS.items()}
STUDENTS = {f"{kind}{number:02}": kind for kind in KINDS for number in range(HOW_MANY[kind])}
HANDED_IN = {
    "words": [name for name, kind in STUDENTS.items() if kind != "partner"],
    "numbers": [name for name, kind in STUDENTS.items() if kind not in ("partner", "absent")],
    "week3": [name for name, kind in STUDENTS.items() if kind not in ("partner", "absent")],
}
PLACES = {"words": 1, "numbers": 2, "week3": 3, "in all": 4}


def by_table(what: str) -> dict[str, float]:
    """By student: points, or the percents in all."""
    found = {name: KINDS[kind][PLACES[what]] for name, kind in STUDENTS.items()}
    return {name: float(text) for name, text in found.items() if text != "-"}


def run_command(course: Course, *words: str) -> str:
    ended = grader(*words, folder=course.root)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """After the term."""
    root = tmp_path_factory.mktemp("sixty") / "course"
    course = copy_of_second_course(root)
    run_command(course, "new", "assignment", "week3")
    run_command(course, "new", "exercise", "mean", "--assignment", "week3")
    run_command(course, "release")
    write_rules(course)
    write_students(course)
    for assignment in HANDED_IN:
        sources = [str(path) for path in handed_in(course, assignment)]
        run_command(course, "collect", assignment, *sources, "--students", "students.csv")
    run_command(course, "autograde")
    by_hand(course)
    for assignment in HANDED_IN:
        run_command(course, "publish", assignment, "--to", "moodle")
        run_command(course, "report", assignment)
    run_command(course, "report")
    run_command(course, "export")
    return course


def write_rules(course: Course) -> None:
    def extended(days: str) -> str:
        return "\n".join(f'{name} = "{days}"' for name, kind in STUDENTS.items() if kind == "extended")

    groups = "\n".join(f'g{number} = ["pair{number:02}", "partner{number:02}"]' for number in range(HOW_MANY["pair"]))
    text = RULES.format(of_two_days=extended("2 days"), of_a_day=extended("1 day"), groups=groups)
    (course.root / "course.toml").write_text(text)


def write_students(course: Course) -> None:
    rows = [f"{name},{name.title()} Student,{name}@example.edu" for name in STUDENTS]
    (course.root / "students.csv").write_text("\n".join(["id,name,email", *rows]))
    with course.api().gradebook as gradebook:
        for name in STUDENTS:
            gradebook.update_or_create_student(name, email=f"{name}@example.edu")


def handed_in(course: Course, assignment: str) -> Iterator[Path]:
    """The exchange, or a zip from Moodle and a folder."""
    notebooks = {name: notebook(course, assignment, STUDENTS[name]) for name in HANDED_IN[assignment]}
    inbox = course.root.parent / f"inbox-{assignment}"
    inbox.mkdir()
    if assignment in DUE:
        for name, text in notebooks.items():
            place = inbox / f"{name}+{assignment}+{time(assignment, STUDENTS[name]):%Y-%m-%d %H:%M:%S} UTC"
            place.mkdir()
            (place / f"{assignment}.ipynb").write_text(text)
        for name in [name for name in notebooks if STUDENTS[name] == "absent"]:
            again = time(assignment, "absent") + timedelta(minutes=5)
            place = inbox / f"{name}+{assignment}+{again:%Y-%m-%d %H:%M:%S} UTC"
            place.mkdir()
            (place / f"{assignment}.ipynb").write_text(notebook(course, assignment, "wrong"))
    else:
        archive = inbox.with_suffix(".zip")
        with zipfile.ZipFile(archive, "w") as moodle:
            for number, (name, text) in enumerate(notebooks.items()):
                if STUDENTS[name] in FROM_A_FOLDER:
                    (inbox / f"{name}_week3.ipynb").write_text(text)
                else:
                    moodle.writestr(f"{name.title()} Student_{number}_assignsubmission_file_/mine (1).ipynb", text)
        yield archive
    yield inbox


def time(assignment: str, kind: str) -> datetime:
    late = -10 if assignment == "numbers" and kind in ON_TIME_IN_NUMBERS else LATE[kind]
    return DUE[assignment] + timedelta(minutes=late)


def notebook(course: Course, assignment: str, kind: str) -> str:
    made: Any = solved(course.read("release", assignment), course.read("source", assignment))
    wrong = {
        "words": {**WRONG, "exercise-1": "def count_words(text):\n    return None"},  # which is void
        "numbers": {"exercise-2": "def moving_average(numbers, width):\n    return None"},
        "week3": {"exercise-mean": "def mean(numbers):\n    return sum(numbers)"},
    }
    own = {"why": "The second: order matters."}
    own |= wrong[assignment] if kind == "wrong" else {}
    own |= {"exercise-mean": "def mean(numbers):\n    return sum(numbers) / len(numbers)"} if kind != "wrong" else {}
    for cell in made.cells:
        cell.source = own.get(cell.id, cell.source)
    text: str = nbformat.writes(made)
    return text


def by_hand(course: Course) -> None:
    """Both points for the reason, for all."""
    with course.api().gradebook as gradebook:
        for student in HANDED_IN["words"]:
            grade = gradebook.find_grade("why", "words", "words", student)
            grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


@pytest.mark.parametrize("assignment", HANDED_IN)
def test_feedback_pages_of_term_show_points_by_table(course: Course, assignment: str) -> None:
    found = {}
    for path in course.folder("feedback").glob(f"*/{assignment}/{assignment}.html"):
        said = re.search(r"<strong>([\d.]+)</strong> of ([\d.]+) points", path.read_text())
        assert said
        assert said[2] == ("2" if assignment == "week3" else "5")
        found[path.parent.parent.name] = float(said[1])
    assert found == by_table(assignment)


@pytest.mark.parametrize("assignment", HANDED_IN)
def test_report_and_moodle_export_of_term_have_points_by_table(course: Course, assignment: str) -> None:
    report = rows(course.root / "report" / f"{assignment}.csv")
    assert {one["student"]: float(one["points"]) for one in report if one["status"] == "graded"} == by_table(assignment)
    _, *moodle = csv.reader((course.root / "export" / f"{assignment}-moodle.csv").read_text().splitlines())
    assert {name: float(points) for name, points in moodle} == by_table(assignment)


def test_term_export_has_totals_by_table(course: Course) -> None:
    table = rows(course.root / "export/all-assignments.csv")
    for assignment in HANDED_IN:
        assert {one["student"]: float(one[assignment]) for one in table if one[assignment]} == by_table(assignment)
    assert {one["student"]: float(one["total in percent"]) for one in table} == by_table("in all")
    page = (course.root / "report/all-assignments.html").read_text()
    assert all(name in page for name in STUDENTS)


def test_report_when_first_attempt_is_best_says_so(course: Course) -> None:
    told = {one["student"]: one["hand-in"] for one in rows(course.root / "report/words.csv") if one["hand-in"]}
    absent = [name for name, kind in STUDENTS.items() if kind == "absent"]
    assert told == dict.fromkeys(absent, "the best of 2 attempts, submitted 2026-10-12 09:50 CEST")
