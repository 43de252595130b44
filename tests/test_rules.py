"""The rules of the term: what course.toml may say, and that all that is told of the points follows it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.classroom.run import autograde
from grader.classroom.stale import stale
from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.published import told_now
from grader.gradebook.standings import read_class
from grader.notebooks.solutions import solved
from grader.pages.export_canvas import export_canvas
from grader.pages.export_gradescope import export_gradescope
from grader.pages.export_moodle import export_moodle
from grader.pages.feedback import write_feedback
from grader.pages.publish import UnseenChanges, publish
from grader.pages.report import write_report
from grader.release.compiling import compile_release
from grader.term.reading import read_rules
from grader.term.rules import Rule, counted, most

ROOT = Path(__file__).parent.parent
WORDS = "words"
WHY = {"ada": 2.0, "kurt": 1.0}  # points by hand
# In each exercise a misconception of half the points; the greeting is wrong.
KURT = {
    "exercise-1": "def count_words(text):\n    return {word: text.split().count(word) for word in text.split()}",
    "exercise-2": "def unique(words):\n    return sorted(set(words))",
    "exercise-parse-date": "import re\n\ndef parse_date(text):\n"
    "    found = re.fullmatch('(....)-(..)-(..)', text)\n    return found and tuple(map(int, found.groups()))[::-1]",
    "greeting": "def greet(name):\n    return 'Hello, Ada!'",
}  # fmt: skip
Points = Mapping[str, tuple[float, float]]  # by student: how many, of how many


def silent(_: str) -> None: ...


def hand_in(course: Course, student: str, answers: Mapping[str, str]) -> Path:
    notebook: Any = solved(course.read("release", WORDS), course.read("source", WORDS))
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "why":
            cell.source = "The second: order matters."
    path = course.notebook(f"submitted/{student}", WORDS)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class of docs/rules.md. Tests write nothing into it but course.toml, pages and exports."""
    root = tmp_path_factory.mktemp("rules") / "course"
    shutil.copytree(ROOT / "tests/second_course", root, ignore=shutil.ignore_patterns("__pycache__"))
    course = Course(root)
    compile_release(course, WORDS)
    hand_in(course, "ada", {})
    hand_in(course, "kurt", KURT)
    assert [one.error for one in autograde(course, WORDS)] == ["", ""]
    with course.api().gradebook as gradebook:
        for student, points in WHY.items():
            gradebook.update_or_create_student(student, email=f"{student}@example.edu")
            grade = gradebook.find_grade("why", WORDS, WORDS, student)
            grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
    return course


@pytest.fixture
def course(graded: Course) -> Iterator[Course]:
    """With the rules that a test writes, and none after it."""
    yield graded
    (graded.root / "course.toml").unlink(missing_ok=True)


def rule(course: Course, text: str) -> None:
    (course.root / "course.toml").write_text(text)


# --- what is told ----------------------------------------------------------------------------------------------------


def by_standings(course: Course) -> Points:
    grades = read_class(course, WORDS, silent)
    return {one.student: (one.total, grades.max_points) for one in grades.graded}


def by_publication(course: Course) -> Points:
    told, most = told_now(course, WORDS, silent)
    return {student: (one.total, most) for student, one in told.items()}


def by_report(course: Course) -> Points:
    _, table, data = write_report(course, WORDS, silent)
    rows = list(csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines()))
    found = {row["student"]: (float(row["points"]), float(row["of"])) for row in rows}
    for row in rows:
        counting = sum(float(points) for name, points in row.items() if name.startswith("exercise ") and points)
        assert counting - float(row["penalty"]) == float(row["points"])
    told = json.loads(data.read_text())
    assert {one["student"]: (one["points"], told["points"]["max"]) for one in told["students"]} == found
    return found


def by_page(course: Course) -> Points:
    found = {}
    for path in write_feedback(course, WORDS, silent):
        said = re.search(r"<strong>([\d.]+)</strong> of ([\d.]+) points", path.read_text())
        assert said
        found[path.parent.parent.name] = (float(said[1]), float(said[2]))
    return found


def by_canvas(course: Course) -> Points:
    _, possible, *rows = csv.reader(export_canvas(course, WORDS, None, "", silent).read_text().splitlines())
    return {row[3]: (float(row[-1]), float(possible[-1])) for row in rows}


def by_moodle(course: Course) -> Points:
    """Without a maximum."""
    _, *rows = csv.reader(export_moodle(course, WORDS, "username", "", silent).read_text().splitlines())
    total = read_class(course, WORDS, silent).max_points
    return {student: (float(points), total) for student, points in rows}


def by_gradescope(course: Course) -> Points:
    with zipfile.ZipFile(export_gradescope(course, WORDS, silent)) as archive:
        results = json.loads(archive.read("grades.json"))
    return {
        name.removesuffix("@example.edu"): (one["score"], sum(test["max_score"] for test in one["tests"]))
        for name, one in results.items()
    }


WAYS: tuple[Callable[[Course], Points], ...] = (
    by_standings, by_publication, by_report, by_page, by_canvas, by_moodle, by_gradescope,
)  # fmt: skip


def examples() -> Iterator[Any]:
    """Each section of the page that works out a rule: the rule, and who has what by it."""
    page = (ROOT / "docs/rules.md").read_text()
    for section in page.split("\n## ")[1:]:
        title, shown = section.split("\n", 1)
        if "```toml" in shown:
            (text,) = re.findall(r"```toml\n(.*?)```", shown, re.DOTALL)
            said = re.findall(r"\b(ada|kurt) ([\d.]+) of ([\d.]+)", shown)
            yield pytest.param(text, {name: (float(some), float(all)) for name, some, all in said}, id=title)


@pytest.mark.parametrize(("text", "points"), [*examples()])
def test_each_example_of_the_page_counts_as_it_says_wherever_points_are_told(
    text: str, points: Points, course: Course
) -> None:
    assert set(points) == {"ada", "kurt"}
    assert by_standings(course) == {"ada": (9, 9), "kurt": (4, 9)}, "without rules"
    rule(course, text)
    assert {way.__name__: way(course) for way in WAYS} == dict.fromkeys([way.__name__ for way in WAYS], points)


def test_all_rules_for_exercises_at_once(course: Course) -> None:
    """ada: 2 + 2 + 1 + 2 = 7 of 2 + 2 + 1 = 5. kurt: 1 + 2 (for all) + 0 + 1 = 4 of 5. Exercise 1 is gone."""
    rule(course, '[assignments.words]\nvoid = [1]\nfull = ["parse-date"]\nbonus = ["why"]\n')
    assert [way(course) for way in WAYS] == [{"ada": (7, 5), "kurt": (4, 5)}] * len(WAYS)


# --- pages -----------------------------------------------------------------------------------------------------------


def test_a_page_says_what_counts_and_still_what_was_found(course: Course) -> None:
    rule(course, '[assignments.words]\nvoid = [1]\nfull = ["parse-date"]\nbonus = ["why"]\n')
    write_feedback(course, WORDS, silent)
    page = " ".join((course.folder("feedback") / "kurt" / WORDS / "words.html").read_text().split())
    assert "“A” and “a” are two words here." in page
    assert page.count("does not count") == 3, "in the table, at the exercise, and for a reader that hears it"
    assert "All who handed in get these points; it would have been 1 (Day first)." in page
    assert "1 of 2 (bonus)" in page
    assert "<b>Next:</b>" in page
    assert "part-test-exercise-2" in page.split("<b>Next:</b>")[1].split("</p>")[0], "not the one that is void"


def test_the_report_tells_the_rules_and_what_was_understood(course: Course) -> None:
    rule(course, '[assignments.words]\nvoid = [1]\nfull = ["parse-date"]\n')
    page, table, _ = write_report(course, WORDS, silent)
    said = page.read_text()
    assert "By course.toml: 1: does not count; parse-date: full marks for all who handed in." in said
    (kurt,) = [row for row in csv.DictReader(table.read_text("utf-8-sig").splitlines()) if row["student"] == "kurt"]
    assert (kurt["exercise 1"], kurt["exercise parse-date"]) == ("", "2")
    of_1, _, of_date, *_ = json.loads(write_report(course, WORDS, silent)[2].read_text())["exercises"]
    assert (of_1["mean points"], of_date["mean points"]) == (1.5, 1.5), "as they were earned"


def test_nobody_waits_for_points_that_do_not_count(course: Course) -> None:
    with course.api().gradebook as gradebook:
        gradebook.find_grade("why", WORDS, WORDS, "kurt").needs_manual_grade = True
        gradebook.db.commit()
    said: list[str] = []
    export_moodle(course, WORDS, "username", "", said.append)
    rule(course, '[assignments.words]\nvoid = ["why"]\n')
    export_moodle(course, WORDS, "username", "", said.append)
    with course.api().gradebook as gradebook:
        gradebook.find_grade("why", WORDS, WORDS, "kurt").needs_manual_grade = False
        gradebook.db.commit()
    assert [one[:24] for one in said] == ["Not final: kurt waits for"[:24]]


# --- what a rule changes, and what it does not -----------------------------------------------------------------------


def test_a_rule_is_a_reason_of_its_own_and_makes_nobody_graded_again(graded: Course, tmp_path: Path) -> None:
    shutil.copytree(graded.root, tmp_path / "course")
    course = Course(tmp_path / "course")
    assert publish(course, WORDS, [], silent)
    rule(course, "[assignments.words]\nvoid = [1]\n")
    assert stale(course, WORDS, silent) == {}
    assert [one.unchanged for one in autograde(course, WORDS)] == [True, True]
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [], silent)
    why = ["course.toml (1: does not count)"]
    assert [(one.student, one.before, one.now, one.exercises, one.why) for one in unseen.value.found] == [
        ("ada", 9, 7, ["1: 2 → 0"], why),
        ("kurt", 4, 3, ["1: 1 → 0"], why),
    ]
    new = publish(course, WORDS, [], silent, yes=True)
    assert new
    assert new.max_points == 7
    (course.root / "course.toml").unlink()
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [], silent)
    assert unseen.value.found[0].why == ["course.toml (no longer 1: does not count)"]


def test_a_rule_that_changes_nobodys_points_is_published_all_the_same(graded: Course, tmp_path: Path) -> None:
    """The maximum is another one."""
    shutil.copytree(graded.root, tmp_path / "course")
    course = Course(tmp_path / "course")
    publish(course, WORDS, [], silent)
    rule(course, '[assignments.words]\nbonus = ["why"]\n')
    new = publish(course, WORDS, [], silent)
    assert new
    assert (new.max_points, list(new.changed)) == (7, [])


def test_more_than_full_marks_stay() -> None:
    assert counted(3.0, 2.0, Rule.FULL) == 3.0
    assert [most(2.0, one) for one in (None, *Rule)] == [2.0, 0.0, 2.0, 0.0]


# --- what may stand in the file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[assignment.words]", "course.toml, assignment: there is no such key. Did you mean assignments?"),
        (
            "[assignments.word]",
            "course.toml, assignments.word: there is no such key. Did you mean words? There are: numbers, words.",
        ),
        ("[assignments.words]\nviod = [1]", "assignments.words.viod: there is no such key. Did you mean void?"),
        ("[assignments.words]\nvoid = 1", 'words.void: 1 is no list of names. Write void = [3, "mean"].'),
        ("[assignments.words]\nfull = [true]", "full: [True] is no list of names"),
        ("[assignments]\nwords = 3", "assignments.words: 3 is no table. Write [assignments.words] in its place."),
        (
            "[assignments.words]\nvoid = [1]\nbonus = [1]",
            "course.toml, assignments.words.bonus: exercise 1 is in void, too. Take it out of one of them.",
        ),
        ("[assignments.words\n", "course.toml cannot be read: Expected ']'"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_a_clear_error(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(CourseError, match=re.escape(said)):
        read_rules(tmp_path, ["numbers", "words"])


@pytest.mark.parametrize(
    "way", [*WAYS, lambda course: list(autograde(course, WORDS))], ids=lambda way: getattr(way, "__name__", "")
)
def test_a_rule_for_an_exercise_that_is_not_there_is_an_error_everywhere(
    way: Callable[[Course], object], course: Course
) -> None:
    rule(course, '[assignments.words]\nvoid = ["pars-date"]\n')
    with pytest.raises(CourseError, match=r"words.void: words has no exercise pars-date. Did you mean parse-date\?"):
        way(course)
