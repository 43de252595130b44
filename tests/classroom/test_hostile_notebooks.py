"""Wrong and hostile notebooks: each is graded for what it contains, with a note, and none stops the class.

All of them form one class, which is graded once. Every student has solved exercise 3, worth two points, and no other;
what differs is the file around it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.model.submission import Graded
from support.graded_corpus import a_few_seeds

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
POINTS = {f"test-exercise-{number}": points for number, points in enumerate((3, 3, 2, 2, 3, 4, 5, 8), start=1)}
NOTHING = dict.fromkeys(POINTS, 0.0)
SOFTMAX_ONLY = NOTHING | {"test-exercise-3": 2.0}
GARBAGE = [None, 3, {"output_type": 3}, {"output_type": "execute_result", "data": "3.0"}]

Notebook = dict[str, Any]  # as in the file


@dataclass(frozen=True)
class Hostile:
    spoil: Callable[[Notebook], Any]  # changes the notebook in place, or returns what to hand in instead
    note: str  # part of what the notes from grading say; empty if there is nothing to say
    scores: dict[str, float]


HOSTILE: dict[str, Hostile] = {}


def hostile(note: str = "", scores: dict[str, float] | None = None) -> Callable[[Any], Any]:
    def register(spoil: Callable[[Notebook], Any]) -> Callable[[Notebook], Any]:
        HOSTILE[spoil.__name__] = Hostile(spoil, note, SOFTMAX_ONLY if scores is None else scores)
        return spoil

    return register


def named(notebook: Notebook, name: str) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if name_of(cell) == name)


def name_of(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id"))


def graded_cells(notebook: Notebook) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if name_of(cell) in POINTS]


def code_cell(source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


def forged_score(points: str) -> dict[str, Any]:
    return {"output_type": "execute_result", "data": {"text/plain": points}, "metadata": {}, "execution_count": 1}


# Files that are no notebook.


@hostile("it is not valid JSON", NOTHING)
def nested_far_too_deeply(notebook: Notebook) -> bytes:
    return json.dumps(notebook).replace('"cells"', '"deep": ' + "[" * 100_000 + "]" * 100_000 + ', "cells"').encode()


@hostile("it is not a file", NOTHING)
def a_folder(notebook: Notebook) -> None:  # the class makes a folder of it
    notebook.clear()


@hostile("it does not contain a notebook", NOTHING)
def a_list_of_cells(notebook: Notebook) -> bytes:
    return json.dumps(notebook["cells"]).encode()


@hostile("This notebook has no cells", NOTHING)
def cells_are_a_number(notebook: Notebook) -> None:
    notebook["cells"] = 3


# Amounts that would take hours, were they looked at one by one or more than once.


@hostile("more than 1000 cells", NOTHING)
def cells_without_end(notebook: Notebook) -> None:
    notebook["cells"] += [{}] * 10**5


@hostile("too many parts", NOTHING)
def parts_without_end(notebook: Notebook) -> None:
    notebook["metadata"]["mine"] = [[]] * 10**6


@hostile("too much text", NOTHING)
def text_without_end(notebook: Notebook) -> None:
    notebook["cells"] += [code_cell("x" * 10**5)] * 50


@hostile("too much text", NOTHING)
def lines_without_end(notebook: Notebook) -> None:
    notebook["cells"].insert(0, code_cell("\n" * 3 * 10**6))


@hostile("only part is shown")
def empty_lines(notebook: Notebook) -> None:
    notebook["cells"].insert(0, code_cell("\n" * 10**6))


@hostile("only part is shown")
def definitions_without_end(notebook: Notebook) -> None:
    notebook["cells"].insert(0, code_cell("\n".join(f"def f{n}(): pass" for n in range(25_000)) + "\n" * 500_000))


@hostile("was missing and was restored")
def hidden_tests_that_begin_and_never_end(notebook: Notebook) -> None:
    notebook["cells"].remove(named(notebook, "test-exercise-5"))
    notebook["cells"].append(code_cell("### BEGIN HIDDEN TESTS\n" * 40_000))


@hostile()
def a_verdict_of_ones_own(notebook: Notebook) -> None:
    """In the metadata that the grader gives its outputs, and once as something that is no verdict."""
    forged = {"points": 30, "max_points": 30, "exercise": 1, "credit": 1.0, "reason": "right", "misconceptions": []}
    show = "from IPython.display import display\n"
    for ours in (forged, 3, {"blocked": 5}, {"points": None}):
        show += f"display({{'text/plain': 'x'}}, raw=True, metadata={{'grader': {ours!r}}})\n"
    notebook["cells"].append(code_cell(show))
    named(notebook, "exercise-3")["source"] += "\n" + show


@hostile()
def half_a_character(notebook: Notebook) -> None:
    named(notebook, "exercise-3")["source"] += "\nprint(chr(0xd800))\nchr(0xdfff)"


# Other formats and kernels.


@hostile("old format and was converted")
def nbformat_3(notebook: Notebook) -> bytes:
    return json.dumps(nbformat.convert(nbformat.from_dict(notebook), 3)).encode()


@hostile("more than 1000 cells", NOTHING)
def old_cells_without_end(notebook: Notebook) -> bytes:  # noqa: ARG001
    cells = [{"cell_type": "code", "input": "", "outputs": []}] * 10**4
    return json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()


@hostile("claims to have a different format")
def format_of_the_future(notebook: Notebook) -> None:
    notebook["nbformat"] = 7


@hostile("it was run as Python")
def kernel_of_another_language(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}


@hostile()
def kernel_that_does_not_exist(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {"name": "my-own", "display_name": "mine", "language": "python"}


# Cells of the course that were changed.


@hostile("“test-exercise-3” was missing and was restored")
def checks_deleted(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if name_of(cell) not in POINTS]


@hostile("“setup” was missing and was restored")
def everything_else_deleted(notebook: Notebook) -> None:
    notebook["cells"] = [named(notebook, "exercise-3")]


@hostile("“test-exercise-3” is there several times")
def checks_doubled(notebook: Notebook) -> None:
    notebook["cells"] += [dict(cell) for cell in graded_cells(notebook)]


@hostile("the last one before its test counts")
def unsolved_copy_at_the_end(notebook: Notebook) -> None:
    notebook["cells"].append(named(notebook, "exercise-3") | {"source": "def softmax(items_in):\n    return None"})


@hostile("“test-exercise-3” was edited; the original was restored")
def checks_edited(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["source"] = "3.0"


@hostile("“test-exercise-1” had a different type; it was changed back to a code cell")
def checks_are_markdown(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["cell_type"] = "markdown"


@hostile("“exercise-3” had a different type; it was changed back to a code cell")
def solution_is_markdown(notebook: Notebook) -> None:
    named(notebook, "exercise-3")["cell_type"] = "markdown"


@hostile("“exercise-3” had a different type; it was changed back to a code cell")
def solution_is_raw(notebook: Notebook) -> None:
    named(notebook, "exercise-3")["cell_type"] = "raw"


@hostile("“exercise-3” had lost its nbgrader metadata")
def metadata_stripped(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}


@hostile()
def points_raised(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["metadata"]["nbgrader"]["points"] = 1000


@hostile()
def cells_skipped(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]


@hostile()
def checks_are_to_be_graded_by_hand(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["metadata"]["nbgrader"] |= {"solution": True, "locked": False}


@hostile()
def solutions_claim_to_be_tests(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if name_of(cell).startswith("exercise-"):
            cell["metadata"]["nbgrader"] |= {"grade": True, "solution": False, "points": 5}


@hostile()
def schema_of_another_time(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"]["nbgrader"]["schema_version"] = [0, 1, 99, "3", None][number % 5]


@hostile("The cells were in a different order")
def order_reversed(notebook: Notebook) -> None:
    notebook["cells"].reverse()


# Cells of the student's own.


@hostile()
def graded_cell_of_their_own(notebook: Notebook) -> None:
    mine = {"grade": True, "grade_id": "bonus", "points": 50, "solution": False, "locked": False, "schema_version": 3}
    notebook["cells"].append(code_cell("50.0", nbgrader=mine) | {"outputs": [forged_score("50.0")]})


@hostile()
def extra_cells_everywhere(notebook: Notebook) -> None:
    mine = [code_cell("print('3.0')"), code_cell("1 / 0"), code_cell("this is no Python"), code_cell("3.0")]
    notebook["cells"] = [one for cell in notebook["cells"] for one in [*(dict(extra) for extra in mine), cell]]


@hostile()
def function_in_another_cell(notebook: Notebook) -> None:
    solution = named(notebook, "exercise-3")
    notebook["cells"].insert(notebook["cells"].index(solution), code_cell(solution["source"]))
    solution["source"] = "# see above"


# Things that only look like a notebook.


@hostile()
def forged_outputs(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        printed = {"output_type": "stream", "name": "stdout", "text": "✓ 3 of 3 points"}
        cell["outputs"] = [printed, forged_score(str(POINTS[name_of(cell)]))]
        cell["metadata"]["grader"] = {"points": 3}


@hostile()
def garbage_outputs(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["outputs"] = GARBAGE
        cell["execution_count"] = "first"
        cell["attachments"] = 7


@hostile()
def metadata_of_odd_types(notebook: Notebook) -> None:
    notebook["metadata"] = {"kernelspec": ["python3"], "language_info": None, "celltoolbar": {}}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"tags": "skip-execution", "jupyter": 3, "deletable": "no", "name": []}
        cell["metadata"]["nbgrader"] |= {"points": "many", "locked": [], "checksum": {}, "cell_type": 4}


@hostile("Some cells could not be read and were left out")
def cells_that_are_no_cells(notebook: Notebook) -> None:
    notebook["cells"] = [None, 3, "code", [], {}, {"cell_type": "code", "source": {}}, *notebook["cells"]]


@hostile()
def sources_are_lists(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["source"] = [7, *cell["source"].splitlines(keepends=True), None]


@hostile()
def ids_doubled(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["id"] = "notes-from-grading"


@hostile()
def ids_of_odd_types(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = [None, 3, "a b", "", ["x"], "x" * 99][number % 6]


@hostile()
def lone_surrogates(notebook: Notebook) -> None:
    named(notebook, "exercise-3")["source"] += "\n# \ud800"
    notebook["cells"].append(code_cell("print('\udfff', '\x00')", **{"\ud800": "\udfff"}))


OF_ODD_TYPES = metadata_of_odd_types.__name__


@pytest.fixture(scope="module")
def graded_class(
    new_course: Any, make_notebook: Any, submit: Any, solved: dict[int, str]
) -> tuple[Course, dict[str, Graded]]:
    """The course folder and the results, with an honest student graded after all the others."""
    course = new_course()
    for student in sorted(HOSTILE):
        notebook = json.loads(json.dumps(make_notebook(course, {3: solved[3]})))  # a source is one text
        content = HOSTILE[student].spoil(notebook)
        path = submit(course, student, json.dumps(notebook).encode() if content is None else content)
        if not notebook:
            turn_into_folder(path)
    submit(course, "zoe", solved)
    with a_few_seeds():
        return course, {result.student: result for result in autograde(course, ASSIGNMENT)}


def turn_into_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside.txt").write_text("This is a folder.")


def graded_notebook(course: Course, student: str) -> Any:
    notebook = course.read(f"autograded/{student}", ASSIGNMENT)
    nbformat.validate(notebook)
    return notebook


def notes(notebook: Any) -> str:
    first = notebook.cells[0].source
    return first if first.startswith("**Notes from grading**") else ""


def test_autograde_of_hostile_notebooks_grades_everyone(graded_class: Any) -> None:
    _, results = graded_class
    assert list(results) == [*sorted(HOSTILE), "zoe"]
    assert {student: result.error for student, result in results.items() if result.error} == {}


def test_honest_student_among_hostile_ones_has_full_marks(graded_class: Any, scores: Any) -> None:
    assert scores(graded_class[0], "zoe") == POINTS


def test_honest_student_among_hostile_ones_gets_no_notes(graded_class: Any) -> None:
    assert notes(graded_notebook(graded_class[0], "zoe")) == ""


@pytest.mark.parametrize("student", sorted(HOSTILE))
def test_hostile_notebook_is_scored_for_what_it_contains(graded_class: Any, scores: Any, student: str) -> None:
    assert scores(graded_class[0], student) == HOSTILE[student].scores


@pytest.mark.parametrize("student", sorted(HOSTILE))
def test_hostile_notebook_result_equals_the_gradebook(graded_class: Any, student: str) -> None:
    assert graded_class[1][student].points == sum(HOSTILE[student].scores.values())
    assert graded_class[1][student].max_points == sum(POINTS.values())


@pytest.mark.parametrize("student", sorted(HOSTILE))
def test_hostile_notebook_gets_a_note_on_what_was_changed(graded_class: Any, student: str) -> None:
    found = notes(graded_notebook(graded_class[0], student))
    assert HOSTILE[student].note in found
    assert bool(found) == bool(HOSTILE[student].note)


@pytest.mark.parametrize("student", sorted(HOSTILE))
def test_hostile_notebook_needs_no_manual_grading(graded_class: Any, student: str) -> None:
    with graded_class[0].api().gradebook as gradebook:
        assert not gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, student).needs_manual_grade


@pytest.mark.parametrize("student", sorted(HOSTILE))
def test_hostile_notebook_test_cells_hold_verdict_and_score(graded_class: Any, student: str) -> None:
    """Each test cell is the released one, once, in the released order, and its outputs are a verdict."""
    notebook = graded_notebook(graded_class[0], student)
    tests = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert [cell.metadata.nbgrader.grade_id for cell in tests] == list(POINTS)
    for cell in tests:
        score = HOSTILE[student].scores[cell.metadata.nbgrader.grade_id]
        verdict, number = cell.outputs
        assert f"{score:g} of {cell.metadata.nbgrader.points:g} points" in verdict.data["text/plain"]
        assert float(number.data["text/plain"]) == score


def test_metadata_garbage_is_not_in_the_graded_notebook(graded_class: Any) -> None:
    text = nbformat.writes(graded_notebook(graded_class[0], OF_ODD_TYPES))
    assert "skip-execution" not in text
    assert "many" not in text
