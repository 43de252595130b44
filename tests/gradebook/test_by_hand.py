"""Answers that a person gives points for: until then they wait, on each page and in each table, and then they stay."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.export.canvas import export_canvas
from grader.export.moodle import export_moodle
from grader.export.points import describe_waiting
from grader.gradebook.fingerprint import answers_in
from grader.gradebook.marks import AnswerChange
from grader.gradebook.published import Publications, points_to_publish
from grader.gradebook.settling import write_rules
from grader.notebooks.cells import new_cell, solved
from grader.notebooks.outputs import NOT_SHOWN
from grader.pages.feedback import write_feedback
from grader.pages.feedback_page import FeedbackExporter
from grader.pages.report import write_report
from grader.publishing.publish import publish
from grader.publishing.whole_term import export_term, write_term_report
from grader.release.compiling import compile_release
from support.command_line import grader
from support.observers import Messages
from support.second_course import WRONG, copy_of_second_course

WORDS = "words"
PLOT = """\
import matplotlib.pyplot as plt
plt.plot([1, 4, 9])
plt.show()
print("of <b>squares</b>")"""
FAILS = "print('so far')\nraise ValueError('<script>alert(1)</script>')"
GIVEN = {"ada": {"why": 2.0, "plot": 3.0}, "kurt": {"why": 0.0}}  # kurt's plot waits


@pytest.fixture(scope="module")
def graded_course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Two students, each with an answer in words and one in code; and emmy, who has written neither."""
    root = tmp_path_factory.mktemp("by_hand") / "course"
    course = copy_of_second_course(root)
    edit_source(course, add_plot)
    hand_in(course, "ada", {"why": "The second.", "plot": PLOT})
    hand_in(course, "kurt", {**WRONG, "why": "None.", "plot": FAILS})
    hand_in(course, "emmy", {})
    assert [one.error for one in autograde(course, WORDS)] == [""] * 3
    return course


@pytest.fixture
def waiting(graded_course: Course, tmp_path: Path) -> Course:
    """Nobody has given points."""
    shutil.copytree(graded_course.root, tmp_path / "course")
    return Course(tmp_path / "course")


@pytest.fixture
def course(waiting: Course) -> Course:
    for student, points in GIVEN.items():
        for cell, score in points.items():
            by_hand(waiting, student, cell, score)
    return waiting


def add_plot(notebook: Any) -> None:
    marks = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3}
    notebook.cells.append(new_cell("code", "...", "plot", {"nbgrader": {**marks, "grade_id": "plot", "points": 3}}))


def edit_source(course: Course, edit: Any) -> None:
    notebook = course.read("source", WORDS)
    edit(notebook)
    nbformat.write(notebook, course.notebook("source", WORDS))
    compile_release(course, WORDS)


def hand_in(course: Course, student: str, answers: Mapping[str, str]) -> None:
    notebook: Any = solved(course.read("release", WORDS), course.read("source", WORDS))
    as_released = {cell.id: cell.source for cell in course.read("release", WORDS).cells if cell.id in ("why", "plot")}
    for cell in notebook.cells:
        cell.source = {**as_released, **answers}.get(cell.id, cell.source)
    path = course.notebook(f"submitted/{student}", WORDS)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def by_hand(course: Course, student: str, cell: str, points: float) -> None:
    """As the formgrader writes it."""
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade(cell, WORDS, WORDS, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def marks(course: Course, student: str) -> dict[str, tuple[float | None, bool]]:
    """What a person has given for each cell, if anything, and whether it is to be looked at."""
    with course.api().gradebook as gradebook:
        grades = gradebook.find_submission_notebook(WORDS, WORDS, student).grades
        return {grade.name: (grade.manual_score, grade.needs_manual_grade) for grade in grades}


def plain(path: Path) -> str:
    """What there is to read on a page."""
    text = re.sub(r"<(style|defs)>.*?</\1>|<[^>]*>", " ", path.read_text(), flags=re.DOTALL)
    return " ".join(unescape(text).split())


def page_of(course: Course, student: str) -> str:
    return plain(course.root / f"feedback/{student}/{WORDS}/{WORDS}.html")


def cells_to_review(course: Course, student: str) -> set[str]:
    return {cell for cell, (points, waits) in marks(course, student).items() if waits and points is not None}


# --- what a person has given -----------------------------------------------------------------------------------------


def another_cell(course: Course) -> None:
    hand_in(course, "ada", {"why": "The second.", "plot": PLOT, "exercise-2": WRONG["exercise-2"]})


def another_text(course: Course) -> None:
    def edit(notebook: Any) -> None:
        notebook.cells[1].source += "\n\nGood luck!"

    edit_source(course, edit)


def another_test(course: Course) -> None:
    def edit(notebook: Any) -> None:
        next(cell for cell in notebook.cells if cell.id == "test-exercise-2").metadata.nbgrader.points = 4

    edit_source(course, edit)


def another_exercise_file(course: Course) -> None:
    path = course.root / "exercises/words_2_unique.py"
    path.write_text(path.read_text() + "\n# changed\n")


@pytest.mark.slow
def test_manual_points_stay_while_answer_and_task_are_the_same(course: Course) -> None:
    by_hand(course, "ada", "test-exercise-1", 1)
    before = marks(course, "ada")
    assert (before["why"], before["plot"], before["test-exercise-1"]) == ((2, False), (3, False), (1, False))
    for change in (another_text, another_test, another_exercise_file, another_cell):
        change(course)
    course = Course(course.root)  # with the other exercise file
    assert [one.unchanged for one in autograde(course, WORDS, force=True)] == [False] * 3
    assert marks(course, "ada") == before
    assert marks(course, "kurt")["plot"] == (None, True), "nobody has looked at it"


@pytest.mark.slow
def test_manual_points_when_answer_or_task_changes_need_review(course: Course) -> None:
    by_hand(course, "ada", "test-exercise-2", 1)
    hand_in(course, "ada", {"why": "The third.", "plot": PLOT, "exercise-2": WRONG["exercise-2"]})
    list(autograde(course, WORDS))
    assert cells_to_review(course, "ada") == {"why", "test-exercise-2"}
    hand_in(course, "ada", {"why": "The third.", "plot": PLOT})
    list(autograde(course, WORDS))
    assert cells_to_review(course, "ada") == {"why", "test-exercise-2"}, "nobody has looked at it so far"
    by_hand(course, "ada", "why", 1)

    def edit(notebook: Any) -> None:
        next(cell for cell in notebook.cells if cell.id == "plot").metadata.nbgrader.points = 5

    edit_source(course, edit)
    list(autograde(course, WORDS))
    assert cells_to_review(course, "ada") == {"plot", "test-exercise-2"}
    assert cells_to_review(course, "kurt") == set()


def graded_text(*cells: Any) -> dict[str, str]:
    return {WORDS: json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})}


def graded_cell(name: str, source: str, **said: Any) -> Any:
    return {"cell_type": "code", "source": source, "metadata": {"nbgrader": {"grade_id": name, **said}}}


def same_answers(before: Mapping[str, str], after: Mapping[str, str]) -> set[tuple[str, str]]:
    change = AnswerChange(answers_in(before), answers_in(after))
    return {cell for cell in change.after if change.is_same(cell)}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cells": [{"metadata": {"nbgrader": 1}}]}', '{"cells": [{}]}', "[" * 9999]
)
def test_same_answers_when_text_is_unreadable_are_none(text: str) -> None:
    why = graded_text(graded_cell("why", "So.", grade=True, solution=True))
    assert same_answers(why, why) == {(WORDS, "why")}
    assert same_answers({WORDS: text}, why) == same_answers(why, {WORDS: text}) == same_answers({}, why) == set()


def test_answer_to_a_task_is_in_the_students_own_cells() -> None:
    task = graded_cell("task", "Do it.", task=True, checksum="1")
    essay, own = graded_cell("essay", "So.", grade=True, solution=True), graded_cell("own", "x = 1", solution=True)
    added = {"cell_type": "markdown", "source": "I did.", "metadata": {}}
    before = graded_text(task, essay, own, added)
    assert same_answers(before, graded_text(task, {**essay, "source": "No."}, own, added)) == {
        (WORDS, "task"),
        (WORDS, "own"),
    }
    assert same_answers(before, graded_text(task, essay, own, {**added, "source": "I was ill."})) == {
        (WORDS, "essay"),
        (WORDS, "own"),
    }
    assert same_answers(before, graded_text(task, essay, {**own, "source": "x = 2"}, added)) == {(WORDS, "essay")}


@pytest.mark.slow
def test_manual_points_when_best_counts_stay(course: Course) -> None:
    (course.root / "course.toml").write_text('counts = "best"\n')
    list(autograde(course, WORDS))
    another_text(course)
    list(autograde(course, WORDS))
    assert cells_to_review(course, "ada") == set()
    hand_in(course, "ada", {**WRONG})  # which is worse
    list(autograde(course, WORDS))
    another_test(course)
    list(autograde(course, WORDS))
    assert cells_to_review(course, "ada") == set()
    assert marks(course, "ada")["plot"] == (3, False)


# --- publishing ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_publish_when_answers_wait_needs_waiting_anyway(course: Course) -> None:
    refused = grader("publish", WORDS, folder=course.root)
    assert refused.returncode == 1
    said = " ".join(refused.stderr.split())
    assert "Not final: 1 answer by 1 student still to grade manually (plot: kurt)." in said
    assert "add --waiting-anyway" in said
    assert Publications(course, WORDS).last() is None
    done = grader("publish", WORDS, "--waiting-anyway", folder=course.root)
    assert (done.returncode, "(plot: kurt)" in done.stderr) == (0, True)
    assert "(publication 1)" in done.stdout
    by_hand(course, "kurt", "plot", 0)
    again = grader("publish", WORDS, folder=course.root)
    assert again.returncode == 1, "check these changes first"
    assert " ".join(again.stdout.split()).count("plot: waits → 0 manual points for plot") == 1
    assert "(publication 2)" in grader("publish", WORDS, folder=course.root).stdout
    assert "Nothing to publish" in grader("publish", WORDS, folder=course.root).stdout


def test_waiting_sentence_counts_answers_and_students() -> None:
    assert describe_waiting({"ada": []}) == ""
    assert describe_waiting({"ada": ["why", "plot"], "emmy": [], "kurt": ["plot"]}) == (
        "Not final: 3 answers by 2 students still to grade manually (why: ada; plot: ada and kurt)."
    )


@pytest.mark.slow
def test_published_pages_show_the_published_points(course: Course) -> None:
    """Whatever has changed: here, a person has looked at an answer again, and given the same points."""
    by_hand(course, "kurt", "plot", 1)
    hand_in(course, "ada", {"why": "The third.", "plot": PLOT})
    list(autograde(course, WORDS))
    assert publish(course, WORDS, [], waiting_anyway=True)
    assert "9 of 12 points so far" not in page_of(course, "ada")
    assert "12 of 12 points so far 1 answer is waiting for your instructor" in page_of(course, "ada")
    by_hand(course, "ada", "why", 2)
    assert publish(course, WORDS, [], yes=True)
    assert "12 of 12 points" in page_of(course, "ada")
    assert "wait" not in page_of(course, "ada")
    assert publish(course, WORDS, []) is None
    page = course.root / "release" / WORDS / f"{WORDS}.ipynb"
    page.write_text(page.read_text().replace("# Words", "# Many words"))
    assert publish(course, WORDS, [], stale_anyway=True), "the title of each page"
    shutil.rmtree(course.root / "autograded/emmy")
    write_feedback(course, WORDS)
    assert {path.parent.parent.name for path in (course.root / "feedback").rglob("*.html")} == {"ada", "kurt"}


# --- waiting is a state of its own ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_report_counts_waiting_answers_apart(course: Course) -> None:
    page, table, data = write_report(course, WORDS)
    told = json.loads(data.read_text())
    exercises = {one["exercise"]: one for one in told["exercises"]}
    assert [(exercises["plot"][kind]) for kind in ("full marks", "some points", "no points", "waiting")] == [1, 0, 1, 1]
    assert (told["points"]["final"], told["points"]["mean"]) == (2, 9.5)  # ada 12, emmy 7
    assert [(one["students"], one["waiting"]) for one in told["points"]["distribution"] if one["waiting"]] == [(0, 1)]
    assert {one["student"]: one["waiting"] for one in told["students"]} == {"ada": [], "emmy": [], "kurt": ["plot"]}
    rows = {row["student"]: row for row in csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines())}
    assert (rows["kurt"]["status"], rows["kurt"]["exercise plot"], rows["kurt"]["points"]) == (
        "waiting",
        "waiting",
        "3",
    )
    assert (rows["emmy"]["status"], rows["emmy"]["exercise plot"]) == ("graded", "0")
    said = plain(page)
    assert "2 students have a final grade. The median is 9.5 of 12 points" in said
    assert "1 student has no final grade yet (waiting for manual grading)." in said
    assert re.search("Waiting for manual grading kurt ?: plot", said)
    assert "kurt notebook 1 1 1 0 0 waits 3 so far" in said
    exercises_table = page.read_text().split("<caption>Points by exercise")[1].split("</table>")[0]
    assert exercises_table.count('<i class="key waiting">') == 1
    assert exercises_table.count('<i class="waiting" style="flex-grow: 1">') == 1  # in the bar of plot


@pytest.mark.slow
def test_report_when_nobody_is_final_has_no_median(waiting: Course) -> None:
    by_hand(waiting, "emmy", "test-exercise-1", 1)
    with waiting.api().gradebook as gradebook:
        gradebook.find_grade("test-exercise-1", WORDS, WORDS, "emmy").needs_manual_grade = True
        gradebook.db.commit()
    said = plain(write_report(waiting, WORDS)[0])
    assert "3 students have no final grade yet (waiting for manual grading)." in said
    assert "median" not in said


@pytest.mark.slow
def test_report_has_no_empty_section(course: Course) -> None:
    page = write_report(course, WORDS, ["ada", "emmy"])[0]
    heads = re.findall("<h2 id.*?>(.*?)</h2>", page.read_text())
    assert heads == ["What was understood", "Tests that can be fooled", "Students"]
    assert "What went wrong" in write_report(course, WORDS)[0].read_text()


@pytest.mark.slow
def test_report_mistakes_leave_out_full_manual_points(course: Course) -> None:
    by_hand(course, "kurt", "plot", 3)
    by_hand(course, "kurt", "test-exercise-1", 2)
    told = json.loads(write_report(course, WORDS)[2].read_text())
    assert [one["exercise"] for one in told["mistakes"]] == [None, 2, "parse-date"]
    assert "capital letters count" not in json.dumps(told)
    shown = grader("autograde", WORDS, folder=course.root).stdout
    assert "capital letters count" not in shown
    assert "sorted (1)" in shown


@pytest.mark.slow
def test_autograde_table_says_what_waits(course: Course) -> None:
    ended = grader("autograde", WORDS, folder=course.root)
    lines = ended.stdout.splitlines()
    assert lines[2].split() == [
        "student", "A", "B", "C", "D", "E", "F", "total", "what", "went", "wrong", "also",
    ]  # fmt: skip
    assert "A: 1, B: 2, C: parse-date, D: test-greeting, E: why, F: plot" in map(str.strip, lines)
    assert [line.split()[:8] for line in lines if line.startswith((" ada", " kurt"))] == [
        ["ada", "2", "2", "2", "1", "2", "3", "12/12"],
        ["kurt", "1", "1", "1", "0", "0", "waits", "3/12"],
    ]
    table = lines[: next(place for place, line in enumerate(lines) if line.startswith(" graded"))]
    given = [line for line in table if "set manually" in line]
    also = lines[2].index("also")
    assert {line.rindex(":") > also for line in given} == {True}, "it did not go wrong"
    assert "to grade manually 1 kurt: plot" in " ".join(ended.stdout.split())
    told = json.loads(grader("autograde", WORDS, "--json", folder=course.root).stdout)
    assert told["students"]["kurt"]["waits"] == ["plot"]


def test_exports_and_comments_say_what_waits(course: Course, messages: Messages) -> None:
    export_moodle(course, WORDS, "username", "")
    assert messages.texts == [
        "Not final: 1 answer by 1 student still to grade manually (plot: kurt). Grade them in the formgrader "
        "(`jupyter lab`, menu Nbgrader), then export again."
    ]
    assert [row.split(",")[-1] for row in export_term(course).read_text().splitlines()][1:] == ["", "", WORDS]
    told, _ = points_to_publish(course, WORDS)
    described = [f"{exercise}: {told['kurt'].describe(exercise)}" for exercise in told["kurt"].points]
    assert "test-greeting: 0, why: 0, plot: waits" in ", ".join(described)


# --- pages -----------------------------------------------------------------------------------------------------------


def test_feedback_says_what_waits(course: Course) -> None:
    write_feedback(course, WORDS)
    said = page_of(course, "kurt")
    assert "3 of 12 points so far 1 answer is waiting for your instructor" in said
    assert "Waiting for your instructor: Your answer: plot" in said
    assert "– of 3" in said
    assert "wait" not in page_of(course, "ada")


def test_feedback_shows_outputs_of_a_code_answer(course: Course) -> None:
    write_feedback(course, WORDS)
    ada, kurt = ((course.root / f"feedback/{name}/{WORDS}/{WORDS}.html").read_text() for name in ("ada", "kurt"))
    assert len(re.findall(r'<img alt="Drawn by your code" src="data:image/png;base64,[\w+/=]+">', ada)) == 1
    assert "of &lt;b&gt;squares&lt;/b&gt;" in ada
    assert "so far" in kurt
    assert "ValueError" in kurt
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in kurt
    assert "<script" not in kurt


def test_feedback_escapes_markup_of_outputs() -> None:
    def shown(**data: str) -> str:
        data = {name.replace("_", "/"): text for name, text in data.items()}
        output = nbformat.v4.new_output("display_data", data=data)
        cell = nbformat.v4.new_code_cell("draw()", outputs=[output], metadata={"nbgrader": {
            "grade": True, "solution": True, "grade_id": "plot", "points": 1, "score": 1,
        }})  # fmt: skip
        page, _ = FeedbackExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
        return str(page).partition('<div class="outputs">')[2].partition("</div>")[0]

    assert shown(text_html="<script>alert(1)</script>", text_plain="<b>") == (
        '<pre tabindex="0" aria-label="Output">&lt;b&gt;</pre>'
    )
    assert shown(text_html='<img src="https://example.edu/x.png">') == ""
    assert shown(text_plain="/home/ada/x") == shown(text_plain="…")
    assert shown(image_png="bm90IGEgcGljdHVyZQ==", text_plain="/home/ada/x") == shown(text_plain=NOT_SHOWN)
    assert shown(text_markdown="![x](https://example.edu/x.png) *so*").count("<img") == 0
    assert len(shown(text_plain="x" * 10**6)) < 20_000


# --- the rules of the term -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_course_rules_that_change_the_maximum_are_explained(course: Course, messages: Messages) -> None:
    (course.root / "course.toml").write_text('[assignments.words]\nvoid = ["plot"]\nbonus = [1]\n')
    write_feedback(course, WORDS)
    said = page_of(course, "kurt")
    assert "Under the course rules, points are out of 7, not 12." in said
    assert "does not count (was out of 3)" in said
    assert "wait" not in said
    assert "So points are out of 7, not 12." in plain(write_report(course, WORDS)[0])
    export_moodle(course, WORDS, "username", "")
    export_canvas(course, WORDS, None, "")
    assert [line.split(". Before you")[0] for line in messages.texts] == [
        "Because of course.toml, words has 7 points, not 12"
    ] * 2


@pytest.mark.slow
def test_times_are_shown_in_the_time_zone_of_the_course(course: Course, messages: Messages) -> None:
    (course.root / "course.toml").write_text(
        'timezone = "America/New_York"\ncounts = "best"\n[assignments.words]\ndue = 2026-10-12T10:00:00\n'
        'extensions = {kurt = "1 day"}\n'
    )
    write_rules(course, WORDS)
    assert "the due date of words to 2026-10-12 10:00 EDT" in messages.texts[0]
    assert "the extension for kurt is now until 2026-10-13 10:00 EDT" in messages.texts[1]
    page, _, data = write_report(course, WORDS)
    assert re.search(r"Written on [\d-]+ [\d:]+ E[SD]T\. Due on 2026-10-12 10:00 EDT\.", plain(page))
    assert json.loads(data.read_text())["due"] == "2026-10-12T10:00:00-04:00"
    assert publish(course, WORDS, [], waiting_anyway=True, stale_anyway=True)
    assert re.search(r"[\d-]+ [\d:]+ E[SD]T", grader("publish", WORDS, "--history", folder=course.root).stdout)
    assert "UTC" not in plain(write_term_report(course))
