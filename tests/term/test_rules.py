"""The rules of the term: what course.toml may say, and that all that is told of the points follows it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from selenium.webdriver import Chrome
from traitlets.config import Config

from grader.classroom.run import autograde
from grader.classroom.stale import stale
from grader.course.folder import Course, open_course
from grader.errors import CourseError
from grader.export.canvas import export_canvas
from grader.export.moodle import export_moodle
from grader.gradebook.class_rows import ClassRows
from grader.gradebook.published import points_to_publish
from grader.gradebook.settling import settle
from grader.gradebook.standings import read_class
from grader.notebooks.cells import solved
from grader.pages import class_summary
from grader.pages.feedback import write_feedback
from grader.pages.feedback_page import Grades
from grader.pages.report import write_report
from grader.publishing import publish as publishing
from grader.publishing.publish import UnseenChanges
from grader.publishing.whole_term import export_term, write_term_report
from grader.release.compiling import compile_release
from grader.serving.arrivals import Arrival, Stage
from grader.serving.grades import read_grades
from grader.serving.submission_results import Result, result_now
from grader.term.reading import read_rules
from grader.term.rules import Late
from support.accessibility import violations
from support.command_line import grader
from support.observers import Messages
from support.places import ROOT
from support.second_course import WRONG, copy_of_second_course

pytestmark = pytest.mark.slow

publish = partial(publishing.publish, waiting_anyway=True)  # some answers wait for points by hand
WORDS = "words"
NUMBERS = "numbers"
WHY = {"ada": 2.0, "kurt": 1.0, "emmy": 0.0, "henri": 1.0}  # points by hand
TIMES = {
    "ada": "2026-10-12 07:50:00 UTC", "kurt": "2026-10-13 09:00:00 UTC", "emmy": "2026-10-13 09:00:00 UTC",
    "grace": "2026-10-12 08:10:00 UTC", "henri": "2026-10-21 08:00:01 UTC", "iris": "yesterday, I think",
}  # fmt: skip
Points = Mapping[str, tuple[float, float]]  # by student: how many, of how many


def hand_in(course: Course, student: str, answers: Mapping[str, str] | None, assignment: str = WORDS) -> None:
    """None: as it was handed out."""
    notebook: Any = course.read("release", assignment)
    if answers is not None:
        notebook = solved(notebook, course.read("source", assignment))
        for cell in notebook.cells:
            cell.source = {"why": "The second: order matters.", **answers}.get(cell.id, cell.source)
    path = course.notebook(f"submitted/{student}", assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    (path.parent / "timestamp.txt").write_text(TIMES[student])


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class of docs/rules.md, and some more. Tests write nothing into it but course.toml, pages and exports."""
    root = tmp_path_factory.mktemp("rules") / "course"
    course = copy_of_second_course(root)
    compile_release(course, WORDS)
    for student in TIMES:
        hand_in(course, student, {"kurt": WRONG, "grace": None}.get(student, {}))
    assert [one.error for one in autograde(course, WORDS)] == [""] * len(TIMES)
    with course.api().gradebook as gradebook:
        for student in (*TIMES, "lise"):  # who never hands in
            gradebook.update_or_create_student(student, email=f"{student}@example.edu")
        for student, points in WHY.items():
            grade = gradebook.find_grade("why", WORDS, WORDS, student)
            grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
    return course


@pytest.fixture
def course(graded: Course) -> Iterator[Course]:
    """With the rules that a test writes, and none after it."""
    yield graded
    (graded.root / "course.toml").unlink(missing_ok=True)


def copy_of_course(course: Course, folder: Path) -> Course:
    """To write into."""
    shutil.copytree(course.root, folder / "course")
    return Course(folder / "course")


def rule(course: Course, text: str) -> Course:
    """The course with these rules, opened as the next command opens it."""
    (course.root / "course.toml").write_text(text)
    return Course(course.root)


# --- what is told ----------------------------------------------------------------------------------------------------


def by_standings(course: Course) -> Points:
    grades = read_class(course, WORDS)
    return {one.student: (one.total, grades.max_points) for one in grades.graded}


def by_publication(course: Course) -> Points:
    told, most = points_to_publish(course, WORDS)
    return {student: (one.total, most) for student, one in told.items()}


def by_report(course: Course) -> Points:
    _, table, data = write_report(course, WORDS)
    rows = list(csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines()))
    rows = [row for row in rows if row["points"]]
    found = {row["student"]: (float(row["points"]), float(row["of"])) for row in rows}
    for row in rows:
        counted = [points for name, points in row.items() if name.startswith("exercise ")]
        counting = sum(float(points) for points in counted if points not in ("", "waiting"))
        assert counting - float(row["penalty"]) == float(row["points"])
    told = json.loads(data.read_text())
    graded = [one for one in told["students"] if one["status"] in ("graded", "waiting")]
    assert {one["student"]: (one["points"], told["points"]["max"]) for one in graded} == found
    return found


def by_page(course: Course) -> Points:
    found = {}
    for path in write_feedback(course, WORDS):
        said = re.search(r"<strong>([\d.]+)</strong> of ([\d.]+) points", path.read_text())
        assert said
        found[path.parent.parent.name] = (float(said[1]), float(said[2]))
    return found


def by_canvas(course: Course) -> Points:
    _, possible, *rows = csv.reader(export_canvas(course, WORDS, None, "").read_text().splitlines())
    return {row[3]: (float(row[-1]), float(possible[-1])) for row in rows}


def by_moodle(course: Course) -> Points:
    """Without a maximum."""
    _, *rows = csv.reader(export_moodle(course, WORDS, "username", "").read_text().splitlines())
    total = read_class(course, WORDS).max_points
    return {student: (float(points), total) for student, points in rows}


WAYS: tuple[Callable[[Course], Points], ...] = (
    by_standings, by_publication, by_report, by_page, by_canvas, by_moodle,
)  # fmt: skip


def examples() -> Iterator[Any]:
    """Each section of the page that works out a rule: the rule, and who has what by it."""
    page = (ROOT / "docs/rules.md").read_text()
    for section in page.split("\n## ")[1:]:
        title, shown = section.split("\n", 1)
        if "```toml" in shown:
            (text,) = re.findall(r"```toml\n(.*?)```", shown, re.DOTALL)
            said = re.findall(r"\b(ada|kurt|lise) ([\d.]+) of ([\d.]+)", shown)
            if title.startswith(("Weights", "The best")):  # they are worked out below
                continue
            yield pytest.param(text, {name: (float(some), float(all)) for name, some, all in said}, id=title)


@pytest.mark.parametrize(("text", "points"), [*examples()])
def test_rules_page_example_gives_the_same_points_everywhere(text: str, points: Points, course: Course) -> None:
    assert set(points) >= {"ada", "kurt"}
    assert points_of(["ada", "kurt"], by_standings(course)) == {"ada": (9, 9), "kurt": (4, 9)}, "without rules"
    course = rule(course, text)
    found = {way.__name__: points_of(points, way(course)) for way in WAYS}
    assert found == dict.fromkeys(found, points)


def test_rules_page_example_of_the_best_attempt_holds(graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    text, points = shown_in("The best")
    course = rule(course, text)
    for student, again in (("ada", "2026-10-20 08:00:00 UTC"), ("kurt", "2026-10-13 09:00:00 UTC")):
        folder = course.folder("submitted") / student / WORDS
        (folder / "timestamp.txt").write_text("2026-10-12 07:50:00 UTC")
        list(autograde(course, WORDS, [student]))
        hand_in(course, student, {"why": "Because it is another answer."})
        (folder / "timestamp.txt").write_text(again)
        list(autograde(course, WORDS, [student]))
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade("why", WORDS, WORDS, "kurt")
        assert grade.manual_score is None, "the points for the answer of the first hand-in stay with that"
        grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    assert not {"ada", "kurt"} & set(stale(course, WORDS))
    assert points == {"ada": (9, 9), "kurt": (7.2, 9)}
    assert {way.__name__: points_of(points, way(course)) for way in WAYS} == {way.__name__: points for way in WAYS}


def shown_in(title: str) -> tuple[str, Points]:
    """The rule of a section of the page, and who has what by it."""
    (section,) = [one for one in (ROOT / "docs/rules.md").read_text().split("\n## ") if one.startswith(title)]
    (text,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    said = re.findall(r"\b(ada|kurt) ([\d.]+) of ([\d.]+)", section)
    return text, {name: (float(some), float(all)) for name, some, all in said}


def points_of(students: Iterable[str], points: Points) -> Points:
    return {student: points[student] for student in students}


ALL = """\
timezone = "Europe/Berlin"

[late]
per = "day"
share = 0.1
cap = 0.5
grace = "15 minutes"

[assignments.words]
due = 2026-10-12T10:00:00  # 8:00 in UTC
void = [1]
full = ["parse-date"]
bonus = ["why"]

[assignments.words.extensions]
emmy = "2 days"
"""
# Of exercise 2, parse-date and the greeting: 2 + 2 + 1 = 5. Exercise 1 is gone, and `why` is a bonus.
BY_ALL = {
    "ada": (7.0, 5.0),  # 2 + 2 + 1 + 2, ten minutes before the time
    "kurt": (3.2, 5.0),  # 1 + 2 (for all) + 0 + 1 = 4; a day and an hour late, so two days: 0.8 is taken off
    "emmy": (5.0, 5.0),  # 2 + 2 + 1 + 0, as late as kurt, with an extension
    "grace": (2.0, 5.0),  # 0 + 2 (for all) + 0 + 0, ten minutes late, which is forgiven
    "henri": (3.0, 5.0),  # 2 + 2 + 1 + 1 = 6; nine days and a second late, so ten days: half of it is the most
    "iris": (5.0, 5.0),  # 2 + 2 + 1, and `why` waits; nobody knows when
}
PENALTIES = {"kurt": 0.8, "henri": 3.0}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.__name__))
def test_rules_all_at_once_give_the_same_points_everywhere(way: Callable[[Course], Points], course: Course) -> None:
    course = rule(course, ALL)
    assert way(course) == BY_ALL


# --- one awkward class, in all places ---------------------------------------------------------------------------------


def by_console(course: Course) -> Points:
    """Of those who are still in submitted/."""
    shown = json.loads(grader("autograde", WORDS, "--json", folder=course.root).stdout)["students"]
    most = read_class(course, WORDS).max_points
    return {student: (line["total"], most) for student, line in shown.items()}


def by_term(course: Course) -> Points:
    rows = csv.DictReader(export_term(course).read_text().splitlines())
    return {row["student"]: (float(row[WORDS]), float(row[f"{WORDS}: of"])) for row in rows if row[WORDS]}


def for_programs(course: Course) -> Points:
    """As the API of `grader serve` says it."""
    totals = {student: result.to_json() for student, result in served_results(course, as_published=False).items()}
    return {student: (total["points"], total["max_points"]) for student, total in totals.items()}


def by_served_page(course: Course) -> Points:
    """As students are told once it is published."""
    publish(course, WORDS, [], yes=True)
    results = served_results(course, as_published=True)
    words = {student: re.findall(r"[\d.]+", result.total) for student, result in results.items()}
    return {student: (float(points), float(most)) for student, (points, most) in words.items()}


def served_results(course: Course, *, as_published: bool) -> dict[str, Result]:
    """What `grader serve` shows of a graded submission by each student."""
    grades = read_grades(course, WORDS, [], as_published=as_published)
    students = grades.rows.standings if grades.rows else ()
    arrivals = [Arrival(1, student, WORDS, 1, datetime.now(UTC), "", Stage.GRADED, {}) for student in students]
    return {arrival.student: result_now(arrival, grades) for arrival in arrivals}


AWKWARD = ALL.replace("[late]", 'counts = "best"\n\n[groups]\nred = ["henri", "lise"]\n\n[late]')


def test_standing_of_an_awkward_class_is_the_same_everywhere(graded: Course, tmp_path: Path) -> None:
    """Late, in a group, with void, full and bonus exercises, waiting, with a worse second attempt, and removed."""
    course = rule(copy_of_course(graded, tmp_path), AWKWARD)
    list(autograde(course, WORDS))
    hand_in(course, "ada", WRONG)
    list(autograde(course, WORDS))
    shutil.rmtree(course.folder("submitted") / "grace")
    shown = {way.__name__: way(course) for way in (*WAYS, by_console, by_term, for_programs, by_served_page)}
    expected = BY_ALL | {"lise": BY_ALL["henri"]}
    by_console_expected = {student: points for student, points in expected.items() if student not in ("grace", "lise")}
    assert shown.pop("by_console") == by_console_expected
    assert shown == dict.fromkeys(shown, expected)
    standings = read_class(course, WORDS).standings
    assert {one.student: one.waiting for one in standings if one.waiting} == {"iris": ["why"]}
    assert {one.student: one.by for one in standings if one.by != one.student} == {"lise": "henri"}
    assert {one.student: one.attempt for one in standings if one.attempt} == {
        "ada": "the best of 2 attempts, submitted 2026-10-12 09:50 CEST"
    }


# --- pages -----------------------------------------------------------------------------------------------------------


def test_feedback_with_rules_says_what_counts_and_what_was_found(course: Course) -> None:
    course = rule(course, '[assignments.words]\nvoid = [1]\nfull = ["parse-date"]\nbonus = ["why"]\n')
    write_feedback(course, WORDS)
    page = " ".join((course.folder("feedback") / "kurt" / WORDS / "words.html").read_text().split())
    assert "“A” and “a” are two words here." in page
    assert page.count("does not count") == 2, "in the table, and at the exercise"
    assert "Everything else" not in page.split("part-test-exercise-1-title")[2].split("</section>")[0]
    assert "Everyone who submitted gets these points; otherwise, it would have been 1 (Day first)." in page
    assert "1 of 2 (bonus)" in page
    assert "<b>Next:</b>" in page
    assert "part-test-exercise-2" in page.split("<b>Next:</b>")[1].split("</p>")[0], "not the one that is void"


def test_report_tells_rules_and_earned_points(course: Course) -> None:
    course = rule(course, '[assignments.words]\nvoid = [1]\nfull = ["parse-date"]\n')
    page, table, _ = write_report(course, WORDS)
    said = page.read_text()
    assert "Rules in course.toml: 1: does not count; parse-date: full marks for everyone who submitted." in said
    (kurt,) = [row for row in csv.DictReader(table.read_text("utf-8-sig").splitlines()) if row["student"] == "kurt"]
    assert (kurt["exercise 1"], kurt["exercise parse-date"]) == ("", "2")
    of_1, _, of_date, *_ = json.loads(write_report(course, WORDS)[2].read_text())["exercises"]
    assert (of_1["mean points"], of_date["mean points"]) == (1.5, 1.5), "as they were earned: 2, 2, 2, 2, 1, 0"


def test_export_does_not_wait_for_void_exercises(course: Course, messages: Messages) -> None:
    with course.api().gradebook as gradebook:
        gradebook.find_grade("why", WORDS, WORDS, "kurt").needs_manual_grade = True
        gradebook.db.commit()
    export_moodle(course, WORDS, "username", "")
    course = rule(course, '[assignments.words]\nvoid = ["why"]\n')
    export_moodle(course, WORDS, "username", "")
    with course.api().gradebook as gradebook:
        gradebook.find_grade("why", WORDS, WORDS, "kurt").needs_manual_grade = False
        gradebook.db.commit()
    assert [one.split(". ")[0] for one in messages.texts] == [
        "Not final: 2 answers by 2 students still to grade manually (why: iris and kurt)",
        "Because of course.toml, words has 7 points, not 9",
    ]


# --- what a rule changes, and what it does not -----------------------------------------------------------------------


def test_changed_rule_is_a_reason_and_regrades_nobody(graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    assert publish(course, WORDS, [])
    course = rule(course, "[assignments.words]\nvoid = [1]\n")
    assert stale(course, WORDS) == {}
    assert {one.unchanged for one in autograde(course, WORDS)} == {True}
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [])
    why = ["course.toml (1: does not count)"]
    found = {one.student: (one.before, one.now, one.exercises, one.why) for one in unseen.value.points_changes}
    assert set(found) == {"ada", "kurt", "emmy", "henri", "iris"}, "grace had nothing"
    assert found["ada"] == (9, 7, ["1: 2 → 0"], why)
    assert found["kurt"] == (4, 3, ["1: 1 → 0"], why)
    new = publish(course, WORDS, [], yes=True)
    assert new
    assert new.max_points == 7
    course = rule(course, "")
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [])
    assert unseen.value.points_changes[0].why == ["course.toml (no longer 1: does not count)"]


def test_rule_that_changes_only_the_maximum_is_published(graded: Course, tmp_path: Path) -> None:
    """The maximum is another one."""
    course = copy_of_course(graded, tmp_path)
    publish(course, WORDS, [])
    course = rule(course, '[assignments.words]\nbonus = ["why"]\n')
    new = publish(course, WORDS, [])
    assert new
    assert (new.max_points, list(new.changed)) == (7, [])


# --- being late ------------------------------------------------------------------------------------------------------


def by_grading(course: Course) -> Points:
    return {one.student: (one.points, one.max_points) for one in autograde(course, WORDS)}


def in_nbgrader(course: Course) -> dict[str, Any]:
    """What nbgrader itself knows of due date, extensions, and what being late costs."""
    with course.api().gradebook as gradebook:
        submissions = gradebook.assignment_submissions(WORDS)
        return {
            "due": gradebook.find_assignment(WORDS).duedate,
            "extensions": {one.student.id: one.extension for one in submissions if one.extension},
            "late": {one.student.id for one in submissions if one.total_seconds_late},
            "penalties": {
                one.student.id: notebook.late_submission_penalty
                for one in submissions
                for notebook in one.notebooks
                if notebook.late_submission_penalty is not None
            },
        }


def test_nbgrader_gets_due_dates_and_penalties_of_the_rules(graded: Course, tmp_path: Path, messages: Messages) -> None:
    course = copy_of_course(graded, tmp_path)
    course = rule(course, ALL)
    assert {one.unchanged for one in autograde(course, WORDS)} == {True}
    assert in_nbgrader(course) == {
        "due": datetime(2026, 10, 12, 8),
        "extensions": {"emmy": timedelta(days=2)},
        "late": {"kurt", "grace", "henri"},  # it knows no grace
        "penalties": PENALTIES,
    }
    assert messages.texts == [
        "course.toml sets the due date of words to 2026-10-12 10:00 CEST; it was not set.",
        "From course.toml, the extension for emmy is now until 2026-10-14 10:00 CEST; it was none.",
    ]
    assert {one.unchanged for one in autograde(course, WORDS)} == {True}
    assert len(messages.texts) == 2, "once is enough"
    course = rule(course, ALL.replace("share = 0.1", "share = 0").replace('emmy = "2 days"', ""))
    assert publish(course, WORDS, [])
    assert in_nbgrader(course)["penalties"] == {}
    assert in_nbgrader(course)["extensions"] == {}
    assert messages.texts[2:-1] == [
        "From course.toml, the extension for emmy is now none; it was until 2026-10-14 10:00 CEST."
    ]
    assert messages.texts[-1].startswith("Not final: 1 answer by 1 student still to grade manually (why: iris).")


def test_unknown_names_in_course_toml_are_warned_about(graded: Course, tmp_path: Path, messages: Messages) -> None:
    course = copy_of_course(graded, tmp_path)
    due = "[assignments.words]\ndue = 2027-01-01T00:00:00Z\nextensions = {kurtt = '1 day'}\n"
    course = rule(course, f"[groups]\nred = ['ada', 'gracie']\n{due}")
    list(autograde(course, WORDS))
    unknown = [
        "course.toml names gracie, who is not in the gradebook. Did you mean grace?",
        "course.toml names kurtt, who is not in the gradebook. Did you mean kurt?",
    ]
    assert messages.texts[1:] == unknown
    publish(course, WORDS, [])
    assert messages.texts[3:-1] == unknown, "the last one is about what waits"


def test_penalties_of_a_removed_rule_do_not_count(graded: Course, tmp_path: Path) -> None:
    """What the rule has written into nbgrader's database stays there until the next run."""
    course = copy_of_course(graded, tmp_path)
    course = rule(course, ALL)
    list(autograde(course, WORDS))
    course = rule(course, "[assignments.words]\nvoid = [1]\n")
    assert in_nbgrader(course)["penalties"] == PENALTIES
    assert {way(course)["kurt"] for way in WAYS} == {(3.0, 7.0)}
    list(autograde(course, WORDS))
    assert in_nbgrader(course)["penalties"] == {}


@pytest.mark.parametrize(
    "setting", ["LateSubmissionPlugin.penalty_method = 'zero'", "AssignLatePenalties.plugin_class = 'late.Half'"]
)
def test_late_plugin_is_an_error_that_says_what_to_write(setting: str, graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    (course.root / "late.py").write_text("from nbgrader.plugins import BasePlugin\nclass Half(BasePlugin): ...\n")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.{setting}\n")
    course = open_course(course.root)
    for way in (*WAYS, by_grading):
        with pytest.raises(CourseError, match=r"Remove it, and write into course.toml") as caught:
            way(course)
    example = str(caught.value).partition("for example:\n")[2]
    assert rule(course, example).rules(WORDS).late == Late("day", 0.1, 0.5, timedelta(minutes=15))


def test_due_dates_of_the_gradebook_count_without_those_of_rules(graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(WORDS, duedate="2026-10-12 08:00 UTC")
        gradebook.grant_extension(WORDS, "emmy", days=2)
    course = rule(course, "[late]\nper = 'day'\nshare = 0.25\n")
    # Two days of a quarter each: half of kurt's 4. grace had 0 of 9, and ten minutes cost her nothing of it.
    found = {"kurt": (2.0, 9.0), "emmy": (7.0, 9.0), "grace": (0.0, 9.0), "henri": (0.0, 9.0)}
    assert [points_of(found, way(course)) for way in WAYS] == [found] * len(WAYS)


def test_pages_say_penalties_and_unknown_times(course: Course) -> None:
    course = rule(course, ALL)
    pages = {path.parent.parent.name: path.read_text() for path in write_feedback(course, WORDS)}
    why = "10% of the points for each day started, at most 50%; a delay of 15 min or less is free"
    assert f"0.8 taken off for submitting late ({why})" in pages["kurt"]
    assert "taken off" not in pages["grace"]
    assert "taken off" not in pages["iris"]
    page, _, data = write_report(course, WORDS)
    told = json.loads(data.read_text())
    assert [(one["student"], one["penalty"]) for one in told["late"]] == [("henri", 3.0), ("kurt", 0.8)]
    assert told["denied"] == [{"student": "iris", "attempts": ["submit a time that cannot be read (timestamp.txt)"]}]
    assert (told["no time"], told["due"]) == (["iris"], "2026-10-12T10:00:00+02:00")
    assert "1 submission without a submission time" in page.read_text()


def test_changed_extension_is_a_reason_for_other_points(graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    course = rule(course, ALL)
    publish(course, WORDS, [])
    course = rule(course, ALL + "kurt = '2 days'\n")
    assert stale(course, WORDS) == {}
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [])
    (kurt,) = unseen.value.points_changes
    assert (kurt.student, kurt.before, kurt.now) == ("kurt", 3.2, 4)
    extension = "course.toml (an extension until 2026-10-14 10:00 CEST)"
    assert kurt.why == [extension, "the penalty for being late"]


@pytest.mark.usefixtures("graded")  # a course puts on the path what makes new gradebooks
def test_notebooks_of_an_assignment_have_their_own_penalties(tmp_path: Path) -> None:
    """Exercise 1 has 2 of 2 points in part1, and 3 of 4 in part2, which does not count; the essay there has 5 of 6.

    So 2 + 5 of 8 count. A day late is a tenth, of part1 0.2 and of part2 0.5.
    """
    url = f"sqlite:///{tmp_path}/gradebook.db"
    points = {("part1", "test-exercise-1"): (2, 2), ("part2", "test-exercise-1"): (3, 4), ("part2", "essay"): (5, 6)}
    (tmp_path / "course.toml").write_text(TWO)
    rules = read_rules(tmp_path).of("two")
    with Gradebook(url) as gradebook:
        gradebook.add_assignment("two", duedate="2026-10-12 08:00 UTC")
        for name in ("part1", "part2"):
            gradebook.add_notebook(name, "two")
        for (name, cell), (_, most) in points.items():
            gradebook.add_grade_cell(cell, name, "two", max_score=most, cell_type="code")
        gradebook.add_student("ada")
        gradebook.add_submission("two", "ada", timestamp="2026-10-12 09:00 UTC")
        for (name, cell), (some, _) in points.items():
            gradebook.find_grade(cell, name, "two", "ada").auto_score = some
        gradebook.db.commit()
        rows = ClassRows(gradebook.db, "two", rules)
        found = rows.counted(rows.submissions["ada"])
        assert [item.label for item in rows.items] == ["part1: 1", "part2: 1", "essay"]
        assert (found.penalties, round(found.total, 9)) == ({"part1": 0.2, "part2": 0.5}, 6.3)
        settle(gradebook, "two", rules)
        assert {one.name: one.late_submission_penalty for one in gradebook.find_submission("two", "ada").notebooks} == (
            found.penalties
        )
    pages = [points_on_page(tmp_path, url, name) for name in ("part1", "part2")]
    assert pages == [(1.8, 2.0, 0.2), (4.5, 6.0, 0.5)]


TWO = """\
[late]
per = "day"
share = 0.1

[assignments.two]
void = ["part2: 1"]
"""


def points_on_page(root: Path, url: str, notebook: str) -> tuple[float, ...]:
    """Points, of how many, and what is taken off."""
    names: dict[str, Any] = {"notebook": notebook, "assignment": "two", "student": "ada", "db_url": url}
    grades = Grades(config=Config(CourseDirectory={"root": str(root)}))
    grades.preprocess(nbformat.v4.new_notebook(), {"nbgrader": names})
    return tuple(names[name] for name in ("score", "max_score", "late_penalty"))


# --- groups ----------------------------------------------------------------------------------------------------------


RED = '[groups]\nred = ["kurt", "lise"]\n'


def test_group_members_have_the_points_of_their_submission(course: Course) -> None:
    """kurt is late, and lise has an extension that is for both."""
    course = rule(course, f"{ALL}lise = '1 day'\n{RED}")
    # 1 + 2 (for all) + 0 + 1 = 4; an hour late after the extension, so one day: 0.4 is taken off.
    expected = {**BY_ALL, "kurt": (3.6, 5.0), "lise": (3.6, 5.0)}
    assert [way(course) for way in WAYS] == [expected] * len(WAYS)
    pages = {student: course.folder("feedback") / student / WORDS / "words.html" for student in ("kurt", "lise")}
    assert pages["kurt"].read_text() == pages["lise"].read_text()
    assert "Feedback for <bdi>kurt, lise</bdi>" in pages["lise"].read_text()
    grades = read_class(course, WORDS)
    assert [one.student for one in grades.graded if one.student not in {own.student for own in grades.submissions}] == [
        "lise"
    ]


def test_report_identical_does_not_compare_group_members(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def identical(works: Mapping[str, object], *_: object) -> list[object]:
        compared.extend(works)
        return []

    monkeypatch.setattr(class_summary, "identical", identical)
    course = rule(course, RED)
    write_report(course, WORDS)
    assert sorted(compared) == sorted(TIMES), "lise's code is kurt's"


def test_feedback_of_a_removed_group_is_removed(graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    course = rule(course, RED)
    assert [path.parent.parent.name for path in write_feedback(course, WORDS, ["lise"])] == ["lise"]
    assert (course.folder("feedback") / "lise").is_dir()
    course = rule(course, RED + "[assignments.words]\ngroups = false\n")
    assert "lise" not in {path.parent.parent.name for path in write_feedback(course, WORDS)}
    assert not (course.folder("feedback") / "lise" / WORDS).exists()
    with pytest.raises(CourseError, match="There is no graded notebook of words by lise"):
        write_feedback(course, WORDS, ["lise"])


def test_publish_of_a_new_group_tells_the_reason(graded: Course, tmp_path: Path) -> None:
    course = copy_of_course(graded, tmp_path)
    publish(course, WORDS, [])
    course = rule(course, '[groups]\nred = ["grace", "henri", "lise"]\n')
    assert stale(course, WORDS) == {}
    with pytest.raises(UnseenChanges) as unseen:
        publish(course, WORDS, [])
    found = {one.student: (one.before, one.now, one.why) for one in unseen.value.points_changes}
    assert set(found) == {"grace", "lise"}, "henri has handed in last"
    assert found["lise"] == (None, 8, ("graded for the first time",))
    assert found["grace"][:2] == (0, 8)
    assert "course.toml (submitted by henri)" in found["grace"][2]
    new = publish(course, WORDS, [], yes=True)
    assert new
    with zipfile.ZipFile(course.root / "published/words/1/feedback.zip") as before:
        assert "lise/words/words.html" not in before.namelist()
    with zipfile.ZipFile(course.root / "published/words/2/feedback.zip") as now:
        assert now.read("lise/words/words.html") == now.read("henri/words/words.html")


def test_group_with_two_submissions_without_times_raises(course: Course) -> None:
    course = rule(course, '[groups]\nred = ["ada", "iris"]\n')
    with pytest.raises(CourseError, match="groups: ada and iris submitted words, with no times to show"):
        by_standings(course)


# --- the term as a whole ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded_term(graded: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A second assignment of five points: ada has them all, kurt has none, and of mary there is nothing to grade."""
    root = tmp_path_factory.mktemp("term") / "course"
    shutil.copytree(graded.root, root)
    course = Course(root)
    compile_release(course, NUMBERS)
    hand_in(course, "ada", {}, NUMBERS)
    hand_in(course, "kurt", None, NUMBERS)
    (course.folder("submitted") / "mary" / NUMBERS).mkdir(parents=True)
    assert [one.student for one in autograde(course, NUMBERS) if one.error] == ["mary"]
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="=Lovelace")
    return course


@pytest.fixture
def term(graded_term: Course) -> Iterator[Course]:
    yield graded_term
    (graded_term.root / "course.toml").unlink(missing_ok=True)


def totals(course: Course) -> dict[str, str]:
    """By student, of the table; the page says the same."""
    ended = grader("export", "--stale-anyway", folder=course.root)
    assert ended.returncode == 0, ended.stderr
    rows = list(csv.DictReader((course.root / "export/all-assignments.csv").read_text().splitlines()))
    assert grader("report", folder=course.root).returncode == 0
    page = (course.root / "report/all-assignments.html").read_text()
    shown = re.findall(
        r'<th scope="row">([\w =]+)</th>.*<strong>([\d.]+)%</strong>', page.replace("Ada =Lovelace", "ada")
    )
    found = {row["student"]: row["total in percent"] for row in rows}
    assert dict(shown) == found
    return found


def test_rules_page_example_of_weights_holds(term: Course) -> None:
    (section,) = [one for one in (ROOT / "docs/rules.md").read_text().split("\n## ") if one.startswith("Weights")]
    (text,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    term = rule(term, text)
    said = dict(re.findall(r"\b(ada|kurt) ([\d.]+)%", section))
    assert {student: totals(term)[student] for student in said} == said == {"ada": "100", "kurt": "33.33"}


def test_term_totals_with_all_rules(term: Course) -> None:
    """With weights of 3 and 1, and the points of BY_ALL: (3 · points / 5 + points in numbers / 5) / 4."""
    term = rule(term, ALL.replace("void =", "weight = 3\nvoid ="))
    assert totals(term) == {
        "ada": "130",  # (3 · 7/5 + 1) / 4, with a bonus
        "kurt": "48",  # (3 · 3.2/5 + 0) / 4
        "emmy": "75",  # (3 · 5/5) / 4
        "grace": "30",  # (3 · 2/5) / 4
        "henri": "45",  # (3 · 3/5) / 4
        "iris": "75",  # (3 · 5/5) / 4
        "lise": "0",
        "mary": "0",
    }


def test_term_totals_without_weight_or_points_add_nothing(term: Course) -> None:
    term = rule(term, "[assignments.words]\nweight = 0\n")
    assert totals(term) == {"ada": "100"} | dict.fromkeys(
        ["emmy", "grace", "henri", "iris", "kurt", "lise", "mary"], "0"
    )
    term = rule(term, "[assignments.numbers]\nvoid = [1, 2]\n")
    assert totals(term)["kurt"] == "44.44", "4 of 9, and nothing of nothing"
    assert "does not count" in (term.root / "report/all-assignments.html").read_text()
    term = rule(term, "[assignments.numbers]\nvoid = [1, 2]\n[assignments.words]\nweight = 0\n")
    assert grader("export", "--stale-anyway", folder=term.root).returncode == 0
    (ada, *_) = csv.DictReader((term.root / "export/all-assignments.csv").read_text().splitlines())
    assert ada["total in percent"] == ""


def test_export_term_writes_a_table_of_all_assignments(term: Course, messages: Messages) -> None:
    term = rule(term, "[assignments.words]\nweight = 2.5\n")
    (ada, *others) = csv.DictReader(export_term(term).read_text().splitlines())
    assert ada == {
        "student": "ada", "last name": "'=Lovelace", "first name": "Ada", "numbers": "5", "numbers: of": "5",
        "numbers: weight": "1", "words": "9", "words: of": "9", "words: weight": "2.5", "total in percent": "100",
        "not final": "",
    }  # fmt: skip
    assert [one["numbers"] for one in others if one["student"] in ("emmy", "kurt")] == ["", "0"]
    assert messages.texts == ["Not final: iris and mary (some submissions are not graded, or wait for manual grading)."]


def test_term_report_links_assignments_and_lists_students(term: Course) -> None:
    write_report(term, WORDS)
    page = write_term_report(term, ["ada"]).read_text()
    assert '<a href="words.html">words</a>' in page
    assert re.findall(r'<tr><th scope="row">([\w =]+)</th>', page) == ["of", "weight", "Ada =Lovelace"]
    assert "numbers: mary – not graded" in page
    with pytest.raises(CourseError, match="There is no student called bob"):
        write_term_report(term, ["bob"])


def test_pages_with_rules_are_accessible(term: Course, browser: Chrome) -> None:
    term = rule(term, ALL)
    pages = {path.parent.parent.name: path for path in write_feedback(term, WORDS, ["kurt"])}
    for page in (pages["kurt"], write_report(term, WORDS)[0], write_term_report(term)):
        browser.get(page.as_uri())
        browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert violations(browser) == [], page


def test_term_totals_leave_out_ungraded_assignments(course: Course) -> None:
    assert totals(course)["kurt"] == "44.44"
    assert "Not graded yet, so not counted: numbers." in (course.root / "report/all-assignments.html").read_text()


def test_term_report_when_nothing_is_graded_says_so(tmp_path: Path) -> None:
    copy_of_second_course(tmp_path / "course")
    ended = grader("report", folder=tmp_path / "course")
    assert (ended.returncode, ended.stderr.strip()) == (1, "Nothing is graded yet. Run: grader autograde")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "--to", "moodle"], "Platforms import one assignment"),
        (
            ["export", "words"],
            "Name a platform: --to canvas, --to moodle, --to gradescope-autograder, --to jplag.",
        ),
        (["export"], "Out of date: not graded yet: mary"),
    ],
)
def test_export_when_an_option_is_missing_says_so(words: list[str], said: str, term: Course) -> None:
    (term.folder("submitted") / "mary" / WORDS).mkdir(parents=True, exist_ok=True)
    shutil.copy(term.notebook("submitted/ada", WORDS), term.notebook("submitted/mary", WORDS))
    ended = grader(*words, folder=term.root)
    shutil.rmtree(term.folder("submitted") / "mary" / WORDS)
    assert (ended.returncode, said in ended.stderr) == (1, True)


# --- what may stand in the file --------------------------------------------------------------------------------------


def test_validate_reads_the_rules_first(course: Course) -> None:
    course = rule(course, "[assignments.words]\nviod = [1]\n")
    ended = grader("validate", folder=course.root)
    assert (ended.returncode, "Did you mean void?" in " ".join(ended.stderr.split())) == (1, True)


@pytest.mark.parametrize("way", [*WAYS, by_grading], ids=lambda way: str(way.__name__))
def test_rule_for_an_unknown_exercise_is_an_error_everywhere(way: Callable[[Course], object], course: Course) -> None:
    course = rule(course, '[assignments.words]\nvoid = ["pars-date"]\n')
    with pytest.raises(CourseError, match=r"words.void: words has no exercise pars-date. Did you mean parse-date\?"):
        way(course)
