"""nbgrader's own commands and interface, in the same course folder, do what `grader` does."""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import nbformat
import pytest

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.gradebook.preprocessors import RunAndJudge
from support.plain_nbgrader import added_cell, instructor, nbgrader

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
POINTS = {f"test-exercise-{number}": points for number, points in enumerate((3, 3, 2, 2, 3, 4, 5, 8), start=1)}
NOT_NORMALIZED = "def softmax(items_in):\n    return torch.exp(torch.as_tensor(items_in))"
FORGED = {"output_type": "execute_result", "data": {"text/plain": "2.0"}, "metadata": {}, "execution_count": 1}

# Row of the gradebook: automatic score, highest score, whether a person must look at it.
Rows = dict[tuple[str, str], tuple[float | None, float, bool]]


def rows(course: Course) -> Rows:
    with course.api().gradebook as gradebook:
        return {
            (submission.student.id, grade.cell.name): (grade.auto_score, grade.max_score, grade.needs_manual_grade)
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def graded_cell(course: Course, student: str, name: str) -> Any:
    notebook = course.read(f"autograded/{student}", ASSIGNMENT)
    return next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)


def shown(cell: Any) -> str:
    """All text that the outputs of a cell show."""
    parts = [(output.get("data", {}).get("text/plain", ""), *output.get("traceback", [])) for output in cell.outputs]
    return "\n".join(text for part in parts for text in part)


def with_grader(course: Course) -> None:
    assert [result.error for result in autograde(course, ASSIGNMENT)] == ["", "", ""]


def with_command_line(course: Course) -> None:
    """In a process of its own, as an instructor would."""
    command = [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT]
    done = subprocess.run(command, cwd=course.root, env=instructor(course), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def with_api(course: Course) -> None:
    api = course.api()
    for student in course.students(ASSIGNMENT):
        assert api.autograde(ASSIGNMENT, student)["success"]


@pytest.fixture(scope="module")
def graded(new_course: Any, submit: Any, solved: dict[int, str]) -> dict[str, Course]:
    """The same class of three, graded in each of the three ways."""
    courses = {}
    for way in (with_grader, with_command_line, with_api):
        course = courses[way.__name__] = new_course()
        submit(course, "ada", solved)
        submit(course, "bob", {3: NOT_NORMALIZED})
        submit(course, "eve", b"[]")
        way(course)
    return courses


def test_autograde_scores_right_wrong_and_broken_submission(graded: dict[str, Course]) -> None:
    scores = {key: row[0] for key, row in rows(graded["with_grader"]).items()}
    assert {name: score for (student, name), score in scores.items() if student == "ada"} == POINTS
    assert 0 < (scores.pop(("bob", "test-exercise-3")) or 0) < 2
    assert {score for (student, _), score in scores.items() if student != "ada"} == {0.0}


@pytest.mark.parametrize("way", [with_command_line, with_api])
def test_autograde_by_nbgrader_writes_the_same_rows(graded: dict[str, Course], way: Callable[[Course], None]) -> None:
    expected = rows(graded["with_grader"])
    assert len(expected) == 3 * len(POINTS)
    assert rows(graded[way.__name__]) == expected


@pytest.mark.parametrize("way", [with_command_line, with_api])
@pytest.mark.parametrize("student", ["ada", "bob"])
def test_autograde_by_nbgrader_writes_the_same_notebook(
    graded: dict[str, Course], way: Callable[[Course], None], student: str
) -> None:
    one, other = (graded[name].read(f"autograded/{student}", ASSIGNMENT) for name in ("with_grader", way.__name__))
    assert one == other


def test_autograde_by_nbgrader_leaves_nothing_to_grade_by_hand(graded: dict[str, Course]) -> None:
    assert not any(by_hand for _, _, by_hand in rows(graded["with_command_line"]).values())


def test_generate_feedback_of_nbgrader_shows_verdicts(graded: dict[str, Course]) -> None:
    course = graded["with_command_line"]
    nbgrader(course, "generate_feedback", ASSIGNMENT)
    pages = {
        student: (course.root / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text()
        for student in ("ada", "bob", "eve")
    }
    assert "Your values do not sum to one" in pages["bob"]
    assert "Your values do not sum to one" not in pages["ada"]
    assert "could not be read as a notebook" in pages["eve"]


def test_generate_assignment_of_nbgrader_compiles_the_same_release(released_course: Course, course: Course) -> None:
    shutil.rmtree(course.root / "release")
    nbgrader(course, "generate_assignment", ASSIGNMENT, "--force")
    ours, theirs = (one.root / "release" / ASSIGNMENT for one in (released_course, course))
    files = sorted(str(path.relative_to(ours)) for path in ours.rglob("*") if path.is_file())
    assert files == sorted(str(path.relative_to(theirs)) for path in theirs.rglob("*") if path.is_file())
    assert filecmp.cmpfiles(ours, theirs, files, shallow=False) == (files, [], [])


@pytest.fixture(scope="module")
def not_executed(new_course: Any, make_notebook: Any, submit: Any, solved: dict[int, str]) -> Course:
    """A submission with forged outputs, graded by nbgrader with --no-execute."""
    course: Course = new_course()
    notebook = make_notebook(course, solved)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.from_dict(FORGED)]
    submit(course, "ada", notebook)
    nbgrader(course, "autograde", ASSIGNMENT, "--no-execute")
    return course


def test_no_execute_gives_no_points(not_executed: Course, scores: Any) -> None:
    assert scores(not_executed, "ada") == dict.fromkeys(POINTS, 0.0)


def test_no_execute_verdict_says_not_run(not_executed: Course) -> None:
    assert "was not run" in shown(graded_cell(not_executed, "ada", "test-exercise-3"))


# Cells that an instructor adds.


@pytest.fixture(scope="module")
def extended(new_course: Any, submit: Any, solved: dict[int, str]) -> Course:
    """A course whose instructor added ordinary tests, one of no exercise, and a question to grade by hand."""
    course: Course = new_course()
    source = course.read("source", ASSIGNMENT)
    source.cells = [cell for cell in source.cells if "nbgrader" in cell.metadata][:10]  # exercises 1 to 3 of 8
    source.cells += [
        added_cell("test-exercise-99", "from grader.notebook import hidden_tests\nhidden_tests(99, points=7)"),
        added_cell("an-assertion", "assert True"),
        added_cell("a-number", "3.5"),
        added_cell("essay", "Your answer", "markdown", solution=True, locked=False),
    ]
    nbformat.write(source, course.notebook("source", ASSIGNMENT))
    nbgrader(course, "generate_assignment", ASSIGNMENT, "--force")
    notebook = course.read("release", ASSIGNMENT)
    for cell in notebook.cells:
        if cell.id == "exercise-3":
            cell.source = solved[3]
        if cell.id == "essay":
            cell.source = "Because of the keys."
    submit(course, "ada", notebook)
    nbgrader(course, "autograde", ASSIGNMENT)
    return course


def test_test_cell_of_unknown_exercise_gets_zero_and_says_why(extended: Course) -> None:
    assert rows(extended)["ada", "test-exercise-99"] == (0.0, 7.0, False)
    assert "does not belong to an exercise" in shown(graded_cell(extended, "ada", "test-exercise-99"))


@pytest.mark.parametrize(("name", "points"), [("an-assertion", 7.0), ("a-number", 3.5)])
def test_ordinary_tests_beside_exercises_get_their_points(extended: Course, name: str, points: float) -> None:
    assert rows(extended)["ada", name] == (points, 7.0, False)


def test_exercises_beside_ordinary_tests_keep_their_points(extended: Course) -> None:
    assert rows(extended)["ada", "test-exercise-3"] == (2.0, 2.0, False)


def test_manually_graded_cell_waits_for_a_person(extended: Course) -> None:
    assert rows(extended)["ada", "essay"] == (None, 7.0, True)
    assert graded_cell(extended, "ada", "essay").source == "Because of the keys."


# Given cells that only draw.


@pytest.fixture(scope="module")
def demo_outputs(new_course: Any, make_notebook: Any, submit: Any) -> dict[str, tuple[list[Any], list[Any]]]:
    """Given demos and other cells of a submission, as graded with the release in place and without it.

    The student changed the first demo, and tagged a cell of their own as if it were one.
    """
    graded = {}
    for release in ("released", "no release"):
        course: Course = new_course()
        notebook = make_notebook(course, demos=True)
        demos = [cell for cell in notebook.cells if "demo" in cell.metadata.get("tags", [])]
        demos[0].source += "\nprint('changed')"
        own = nbformat.v4.new_code_cell("print('my own')", metadata={"tags": ["demo"]})
        notebook.cells.append(own)
        submit(course, "ada", notebook)
        if release == "no release":
            shutil.rmtree(course.root / "release")
        nbgrader(course, "autograde", ASSIGNMENT)
        after = {cell.id: cell.outputs for cell in course.read("autograded/ada", ASSIGNMENT).cells if "outputs" in cell}
        graded[release] = [after[cell.id] for cell in demos[1:]], [after[demos[0].id], after[own.id]]
    return graded


def test_demos_when_unchanged_are_not_run(demo_outputs: Any) -> None:
    given, _ = demo_outputs["released"]
    assert len(given) > 5
    assert not any(given)


def test_demos_when_changed_or_tagged_by_student_are_run(demo_outputs: Any) -> None:
    _, (changed, own) = demo_outputs["released"]
    assert changed[-1].text.endswith("changed\n")
    assert own[0].text == "my own\n"


def test_demos_without_release_are_all_run(demo_outputs: Any) -> None:
    given, _ = demo_outputs["no release"]
    assert any(given)


# nbgrader's settings.


@pytest.fixture(scope="module")
def endless(new_course: Any, submit: Any, solved: dict[int, str]) -> Course:
    """A cell that never ends, one that takes memory without end, and one in order; nbgrader's time limit is set."""
    course: Course = new_course()
    submit(course, "loop", {1: "import time\nwhile time.time():\n    pass", 3: solved[3]})
    submit(course, "memory", {1: "x = []\nwhile True:\n    x.append(torch.empty(2**28))", 3: solved[3]})
    submit(course, "zoe", {3: solved[3]})
    nbgrader(course, "autograde", ASSIGNMENT, "--Execute.timeout=3")
    return course


@pytest.mark.parametrize("student", ["loop", "memory", "zoe"])
def test_endless_cell_costs_only_its_own_exercise(endless: Course, scores: Any, student: str) -> None:
    assert scores(endless, student) == dict.fromkeys(POINTS, 0.0) | {"test-exercise-3": 2.0}


def test_time_limit_of_nbgrader_is_honored(endless: Course) -> None:
    assert "more than 3 seconds" in shown(graded_cell(endless, "loop", "exercise-1"))


def test_memory_limit_holds_in_nbgrader_autograde(endless: Course) -> None:
    assert "can't allocate memory" in shown(graded_cell(endless, "memory", "exercise-1"))


def test_endless_cell_leaves_its_function_missing(endless: Course) -> None:
    assert "There is no function called compute_qkv" in shown(graded_cell(endless, "loop", "test-exercise-1"))


def test_late_penalties_and_excluded_students_follow_nbgrader_settings(course: Course, submit: Any) -> None:
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2030-02-02 14:00:00 UTC")
    for student, day in (("late", "03"), ("intime", "01"), ("excluded", "01")):
        path = submit(course, student, {3: NOT_NORMALIZED})
        (path.parent / "timestamp.txt").write_text(f"2030-02-{day} 14:00:00 UTC")
    settings = ("--LateSubmissionPlugin.penalty_method=zero", "--CourseDirectory.student_id_exclude=excluded")
    nbgrader(course, "autograde", ASSIGNMENT, *settings)
    with course.api().gradebook as gradebook:
        late, intime = (gradebook.find_submission(ASSIGNMENT, student) for student in ("late", "intime"))
        assert 0 < late.score == late.late_submission_penalty
        assert intime.score == late.score
        assert intime.late_submission_penalty == 0
        assert [one.student.id for one in gradebook.assignment_submissions(ASSIGNMENT)] == ["intime", "late"]


def test_nbgrader_autograde_regrades_only_with_force(course: Course, submit: Any, scores: Any) -> None:
    submit(course, "ada", b"{}")
    nbgrader(course, "autograde", ASSIGNMENT)
    submit(course, "ada", {3: "import torch\ndef softmax(items_in):\n    return torch.as_tensor(items_in).softmax(0)"})
    assert "Skipping existing assignment" in nbgrader(course, "autograde", ASSIGNMENT)
    assert scores(course, "ada")["test-exercise-3"] == 0.0
    nbgrader(course, "autograde", ASSIGNMENT, "--force")
    assert scores(course, "ada")["test-exercise-3"] == 2.0


@pytest.mark.parametrize(("gigabytes", "error"), [(1, ["MemoryError"]), (4, [])])
def test_run_and_judge_memory_setting_limits_memory(gigabytes: int, error: list[str]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = bytearray(2 * 2**30)")])
    RunAndJudge(memory=gigabytes * 2**30, timeout=300, submission_timeout=300).preprocess(notebook, {})
    assert [output.ename for output in notebook.cells[0].outputs] == error


def test_generate_assignment_leaves_the_environment_intact(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    nbgrader(course, "generate_assignment", ASSIGNMENT, "--force")
    monkeypatch.setenv("SET_LATER", "yes")
    told = subprocess.run([sys.executable, "-c", "import os; print(os.getenv('SET_LATER'))"], capture_output=True)
    assert told.stdout == b"yes\n"
