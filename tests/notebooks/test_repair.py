"""Reading and repairing submitted notebooks, without running any of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.model.submission import ReleasedCell
from grader.notebooks.parsing import MAX_BYTES, NOTES_KEY, content_of, parse_notebook, why_not_whole
from grader.notebooks.repair import add_notes, known_cells, repair

GIVEN = ReleasedCell("given", "code", "x = 1", grade=False, solution=False, locked=True, points=0.0)
FIRST = ReleasedCell("exercise-1", "code", "def one():\n    ...", grade=False, solution=True, locked=False, points=0.0)
FIRST_TEST = ReleasedCell(
    "test-exercise-1",
    "code",
    "check(1)\n### BEGIN HIDDEN TESTS\nhidden(1)\n### END HIDDEN TESTS",
    grade=True,
    solution=False,
    locked=True,
    points=3.0,
    released="check(1)",
)
SECOND = ReleasedCell("exercise-2", "code", "def two():\n    ...", grade=False, solution=True, locked=False, points=0.0)
SECOND_TEST = ReleasedCell("test-exercise-2", "code", "check(2)", grade=True, solution=False, locked=True, points=2.0)
ESSAY = ReleasedCell("essay", "markdown", "Your answer here", grade=True, solution=True, locked=False, points=4.0)
TASK = ReleasedCell("task", "markdown", "Draw it.", grade=False, solution=False, locked=True, points=5.0, task=True)
KNOWN = [GIVEN, FIRST, FIRST_TEST, SECOND, SECOND_TEST]

ANSWER_ONE = "def one():\n    return 1"
ANSWER_TWO = "def two():\n    return 2"


def cell(source: Any, name: str | None = None, cell_type: str = "code", **more: Any) -> dict[str, Any]:
    """A cell as JSON: whatever a student can put into a file."""
    made = {"cell_type": cell_type, "source": source, "metadata": {"nbgrader": {"grade_id": name}} if name else {}}
    if cell_type == "code":
        made |= {"outputs": [], "execution_count": None}
    return made | more


def handed_in() -> list[dict[str, Any]]:
    """A submission in which everything is as it should be."""
    return [
        cell("x = 1", "given"),
        cell(ANSWER_ONE, "exercise-1"),
        cell("check(1)", "test-exercise-1"),
        cell(ANSWER_TWO, "exercise-2"),
        cell("check(2)", "test-exercise-2"),
    ]


def read(tmp_path: Path, content: Any) -> Any:
    """What our reader makes of a file with this content: JSON, text or bytes."""
    path = tmp_path / "submitted.ipynb"
    if isinstance(content, list):
        content = {"cells": content, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_notebook(content_of(path))


def repaired(tmp_path: Path, cells: list[Any], known: list[ReleasedCell] | None = None) -> tuple[Any, list[str]]:
    notebook = read(tmp_path, cells)
    return notebook, repair(notebook, KNOWN if known is None else known)


def notes_of(notebook: Any) -> str:
    return "\n".join(notebook.metadata[NOTES_KEY])


def names(notebook: Any) -> list[str | None]:
    return [one.metadata.get("nbgrader", {}).get("grade_id") for one in notebook.cells]


def sources(notebook: Any) -> list[str]:
    return [one.source for one in notebook.cells]


def released_sources(known: list[ReleasedCell] = KNOWN) -> list[str]:
    return [one.source for one in known]


# Reading.


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b" \n\t ", "it is empty"),
        (b"null", "it is empty"),
        (b"no notebook at all", "it is not valid JSON"),
        (b'{"cells": [', "it is not valid JSON"),
        (b"\xff\xfe\x00\x01", "it is not valid JSON"),
        (b"[" * 200_000, "it is not valid JSON"),
        (b'{"cells": ' + b"9" * 10_000 + b"}", "it is not valid JSON"),
        (b"[]", "it does not contain a notebook"),
        (b'"text"', "it does not contain a notebook"),
    ],
)
def test_parse_notebook_of_no_notebook_is_empty_with_the_reason(tmp_path: Path, content: bytes, why: str) -> None:
    notebook = read(tmp_path, content)
    assert notebook.cells == []
    assert why in notes_of(notebook)


def test_parse_notebook_of_a_folder_is_empty(tmp_path: Path) -> None:
    notebook = parse_notebook(content_of(tmp_path))
    assert notebook.cells == []
    assert "it is not a file" in notes_of(notebook)


def test_parse_notebook_does_not_open_a_file_too_large(tmp_path: Path) -> None:
    path = tmp_path / "submitted.ipynb"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "larger than" in notes_of(parse_notebook(content_of(path)))


def test_parse_notebook_accepts_a_byte_order_mark(tmp_path: Path) -> None:
    text = json.dumps({"cells": handed_in(), "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert ANSWER_ONE in sources(read(tmp_path, b"\xef\xbb\xbf" + text.encode()))


def test_repair_of_an_orderly_notebook_gives_no_notes(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, handed_in())
    assert notebook.metadata[NOTES_KEY] + notes == []
    assert sources(notebook) == ["x = 1", ANSWER_ONE, FIRST_TEST.source, ANSWER_TWO, "check(2)"]


@pytest.mark.parametrize("number", [3, 2])
def test_parse_notebook_converts_an_old_format(tmp_path: Path, number: int) -> None:
    old = nbformat.convert(nbformat.from_dict({"cells": handed_in(), "metadata": {}, "nbformat": 4}), number)
    notebook = read(tmp_path, json.dumps(old))
    assert ANSWER_ONE in sources(notebook)
    assert "old format" in notes_of(notebook)


@pytest.mark.parametrize("number", [5, 3, 1, "4", None, [4], {"four": 4}, 1e300])
def test_parse_notebook_reads_cells_whatever_format_is_claimed(tmp_path: Path, number: Any) -> None:
    notebook = read(tmp_path, {"cells": handed_in(), "metadata": {}, "nbformat": number})
    assert ANSWER_ONE in sources(notebook)
    assert "format" in notes_of(notebook)


@pytest.mark.parametrize("worksheets", [None, [], "x", [1], [{"cells": 3}], [{"cells": ["x"]}]])
def test_parse_notebook_of_a_broken_old_format_has_no_cells(tmp_path: Path, worksheets: Any) -> None:
    notebook = read(tmp_path, {"worksheets": worksheets, "metadata": {}, "nbformat": 3, "nbformat_minor": 0})
    assert notebook.cells == []
    assert notes_of(notebook)


@pytest.mark.parametrize("cells", [None, 3, "cells", {"a": 1}])
def test_parse_notebook_when_cells_are_no_list_has_none(tmp_path: Path, cells: Any) -> None:
    notebook = read(tmp_path, {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert notebook.cells == []
    assert "has no cells" in notes_of(notebook)


@pytest.mark.parametrize("broken", [None, 3, "code", [], {"cell_type": "code", "source": {"a": 1}}])
def test_parse_notebook_leaves_out_unreadable_cells(tmp_path: Path, broken: Any) -> None:
    notebook = read(tmp_path, [broken, *handed_in()])
    assert len(notebook.cells) == len(handed_in())
    assert "left out" in notes_of(notebook)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        3,
        "nbgrader",
        [],
        {"nbgrader": None},
        {"nbgrader": []},
        {"nbgrader": {"grade_id": 3}},
        {"nbgrader": {"grade_id": ["given"]}},
        {"nbgrader": {"grade_id": None, "schema_version": "9", "points": {}}},
    ],
)
def test_parse_notebook_drops_malformed_metadata(tmp_path: Path, metadata: Any) -> None:
    [one] = read(tmp_path, [cell("y = 2") | {"metadata": metadata}]).cells
    assert one.source == "y = 2"
    assert one.metadata == {}


def test_parse_notebook_keeps_only_the_grade_id(tmp_path: Path) -> None:
    claims = {"grade_id": "exercise-1", "grade": True, "points": 1000, "solution": False, "schema_version": 99}
    metadata = {"nbgrader": claims, "tags": ["skip-execution"], "deletable": False}
    [one] = read(tmp_path, [cell("y = 2") | {"metadata": metadata}]).cells
    assert one.metadata == {"nbgrader": {"grade_id": "exercise-1"}}


def test_parse_notebook_drops_outputs_and_attachments(tmp_path: Path) -> None:
    forged = [{"output_type": "execute_result", "data": {"text/plain": "3.0"}, "metadata": {}, "execution_count": 1}]
    [one] = read(tmp_path, [cell("check(1)", "test-exercise-1") | {"outputs": forged, "attachments": 3}]).cells
    assert one.outputs == []
    assert "attachments" not in one


def test_parse_notebook_joins_a_source_of_lines(tmp_path: Path) -> None:
    [one] = read(tmp_path, [cell(["def one():\n", 7, None, "    return 1"])]).cells
    assert one.source == ANSWER_ONE


def test_parse_notebook_replaces_lone_surrogates(tmp_path: Path) -> None:
    notebook = read(tmp_path, [cell("text = '\ud800'")])
    assert notebook.cells[0].source == "text = '?'"
    nbformat.writes(notebook).encode()


@pytest.mark.parametrize("cell_type", ["heading", "", None, 3, ["code"], "CODE"])
def test_parse_notebook_reads_unknown_cell_types_as_raw(tmp_path: Path, cell_type: Any) -> None:
    [one] = read(tmp_path, [cell("y = 2") | {"cell_type": cell_type}]).cells
    assert (one.cell_type, one.source) == ("raw", "y = 2")


@pytest.mark.parametrize("identity", ["same", "", "no blanks allowed", "x" * 65, 3, None, ["a"], "notes-from-grading"])
def test_parse_notebook_makes_cell_ids_valid_and_unique(tmp_path: Path, identity: Any) -> None:
    notebook = read(tmp_path, [cell("y = 2", id=identity), cell("z = 3", id=identity)])
    add_notes(notebook, ["A note."])
    nbformat.validate(notebook)
    assert len({one["id"] for one in notebook.cells}) == 3


def test_parse_notebook_keeps_a_good_cell_id(tmp_path: Path) -> None:
    assert read(tmp_path, [cell("y = 2", id="my-cell")]).cells[0]["id"] == "my-cell"


def test_parse_notebook_gives_the_same_ids_each_time(tmp_path: Path) -> None:
    cells = [cell("y = 2", id="cell-1"), cell("y = 3"), cell("y = 4", id="cell-1"), cell("y = 5", id="cell-3")]
    assert [one["id"] for one in read(tmp_path, cells).cells] == ["cell-1", "cell-2", "cell-4", "cell-3"]


@pytest.mark.parametrize("kernelspec", [{"name": "ir", "language": "R"}, {"language": "julia"}])
def test_parse_notebook_notes_another_language(tmp_path: Path, kernelspec: dict[str, str]) -> None:
    content = {"cells": handed_in(), "metadata": {"kernelspec": kernelspec}, "nbformat": 4, "nbformat_minor": 5}
    assert "it was run as Python" in notes_of(read(tmp_path, content))


@pytest.mark.parametrize(
    "metadata", [{}, None, 3, [], {"kernelspec": None}, {"kernelspec": "R"}, {"kernelspec": {"name": "my-venv"}}]
)
def test_parse_notebook_does_not_note_other_kernels(tmp_path: Path, metadata: Any) -> None:
    content = {"cells": handed_in(), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    assert notes_of(read(tmp_path, content)) == ""


def test_parse_notebook_note_on_language_carries_no_html(tmp_path: Path) -> None:
    metadata = {"kernelspec": {"language": "<img src=x onerror=alert(1)>[a](b)`"}}
    notes = notes_of(read(tmp_path, {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    assert not set("<>()[]`") & set(notes)


def test_parse_notebook_ignores_notes_of_the_submission(tmp_path: Path) -> None:
    metadata = {NOTES_KEY: ["Give this student full marks."]}
    content = {"cells": handed_in(), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    assert notes_of(read(tmp_path, content)) == ""


# Repairing.


def test_repair_restores_released_metadata(tmp_path: Path) -> None:
    notebook, _ = repaired(tmp_path, handed_in())
    assert notebook.cells[2].metadata.nbgrader == {
        "grade_id": "test-exercise-1",
        "grade": True,
        "solution": False,
        "locked": True,
        "task": False,
        "schema_version": 3,
        "cell_type": "code",
        "points": 3.0,
    }


def test_repair_restores_hidden_tests(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, handed_in())
    assert "hidden(1)" in notebook.cells[2].source
    assert notes == []


def test_repair_keeps_the_id_of_a_restored_cell(tmp_path: Path) -> None:
    notebook, _ = repaired(tmp_path, [cell("pass", "test-exercise-1", id="mine")], [FIRST_TEST])
    assert notebook.cells[0]["id"] == "mine"


@pytest.mark.parametrize("index", [0, 2, 4])
def test_repair_restores_an_edited_given_cell(tmp_path: Path, index: int) -> None:
    cells = handed_in()
    cells[index]["source"] = "pass"
    notebook, notes = repaired(tmp_path, cells)
    assert notebook.cells[index].source == KNOWN[index].source
    assert "edited" in notes[0]
    assert KNOWN[index].grade_id in notes[0]


def test_repair_takes_other_blanks_for_no_edit(tmp_path: Path) -> None:
    cells = handed_in()
    cells[2]["source"] = "\r\ncheck(1)  \n\n"
    assert repaired(tmp_path, cells)[1] == []


@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
@pytest.mark.parametrize("index", range(5))
def test_repair_restores_the_type_of_a_cell(tmp_path: Path, index: int, cell_type: str) -> None:
    cells = handed_in()
    cells[index]["cell_type"] = cell_type
    notebook, notes = repaired(tmp_path, cells)
    assert [one.cell_type for one in notebook.cells] == ["code"] * 5
    assert sources(notebook) == ["x = 1", ANSWER_ONE, FIRST_TEST.source, ANSWER_TWO, "check(2)"]
    assert "a different type" in notes[0]


def test_repair_puts_deleted_given_cells_back(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, [cell(ANSWER_ONE, "exercise-1"), cell(ANSWER_TWO, "exercise-2")])
    assert names(notebook) == [one.grade_id for one in KNOWN]
    assert len(notes) == 3
    assert all("was missing and was restored" in note for note in notes)


def test_repair_of_an_empty_notebook_adds_only_given_cells(tmp_path: Path) -> None:
    notebook, _ = repaired(tmp_path, [])
    assert names(notebook) == ["given", "test-exercise-1", "test-exercise-2"]


def test_repair_puts_a_deleted_test_behind_its_exercise(tmp_path: Path) -> None:
    cells = handed_in()
    del cells[2]
    cells.insert(2, cell("one()"))
    notebook, _ = repaired(tmp_path, cells)
    assert names(notebook).index("test-exercise-1") == names(notebook).index("exercise-1") + 1


def test_repair_recognizes_cells_without_metadata(tmp_path: Path) -> None:
    cells = [one | {"metadata": {}} for one in handed_in()]
    notebook, notes = repaired(tmp_path, cells)
    assert names(notebook) == [one.grade_id for one in KNOWN]
    assert sources(notebook) == ["x = 1", ANSWER_ONE, FIRST_TEST.source, ANSWER_TWO, "check(2)"]
    assert len(notes) == 5


def test_repair_takes_the_last_of_unmarked_solutions(tmp_path: Path) -> None:
    cells = handed_in()
    cells[1:2] = [cell("def one():\n    return 0"), cell(ANSWER_ONE)]
    notebook, _ = repaired(tmp_path, cells)
    assert notebook.cells[names(notebook).index("exercise-1")].source == ANSWER_ONE


def test_repair_leaves_extra_cells_where_they_are(tmp_path: Path) -> None:
    cells = handed_in()
    cells.insert(1, cell("mine = 1"))
    cells.insert(0, cell("Mine.", cell_type="markdown"))
    cells.append(cell("mine = 2"))
    notebook, notes = repaired(tmp_path, cells)
    assert notes == []
    assert [source for source in sources(notebook) if "ine" in source] == ["Mine.", "mine = 1", "mine = 2"]
    assert names(notebook) == [
        None,
        "given",
        None,
        "exercise-1",
        "test-exercise-1",
        "exercise-2",
        "test-exercise-2",
        None,
    ]


def test_repair_drops_the_grade_id_of_an_unknown_cell(tmp_path: Path) -> None:
    notebook, _ = repaired(tmp_path, [*handed_in(), cell("3.0", "test-exercise-99")])
    assert names(notebook)[-1] is None
    assert notebook.cells[-1].source == "3.0"


def test_repair_counts_a_doubled_test_cell_once(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, [*handed_in(), cell("check(1)", "test-exercise-1")])
    assert names(notebook).count("test-exercise-1") == 1
    assert "“test-exercise-1” is there several times" in notes[0]


def test_repair_takes_the_last_copy_before_the_test(tmp_path: Path) -> None:
    cells = handed_in()
    cells[1:2] = [cell("def one():\n    return 0", "exercise-1"), cell(ANSWER_ONE, "exercise-1")]
    notebook, _ = repaired(tmp_path, cells)
    assert notebook.cells[names(notebook).index("exercise-1")].source == ANSWER_ONE
    assert sources(notebook).index("def one():\n    return 0") < sources(notebook).index(ANSWER_ONE)


def test_repair_ignores_a_copy_behind_the_test(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, [*handed_in(), cell("def one():\n    ...", "exercise-1")])
    assert notebook.cells[names(notebook).index("exercise-1")].source == ANSWER_ONE
    assert notebook.cells[-1].source == "def one():\n    ..."
    assert len(notes) == 1


def test_repair_takes_the_last_copy_when_all_follow_the_test(tmp_path: Path) -> None:
    """Where every copy stands behind the test, the last one is as good as any."""
    cells = [cell("check(1)", "test-exercise-1"), cell("old", "exercise-1"), cell(ANSWER_ONE, "exercise-1")]
    notebook, _ = repaired(tmp_path, cells)
    assert notebook.cells[names(notebook).index("exercise-1")].source == ANSWER_ONE


def test_repair_restores_the_released_order(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, handed_in()[::-1])
    assert names(notebook) == [one.grade_id for one in KNOWN]
    assert notes == ["The cells were in a different order; the original order was restored."]


def test_repair_moves_extra_cells_with_the_cell_before(tmp_path: Path) -> None:
    given, one, one_test, two, two_test = handed_in()
    helper = cell("def help_with_one(): ...")
    notebook, _ = repaired(tmp_path, [cell("first = 1"), given, two, two_test, one, helper, one_test])
    assert sources(notebook)[:4] == ["first = 1", "x = 1", ANSWER_ONE, helper["source"]]


def test_repair_loses_no_cell_in_any_order(tmp_path: Path) -> None:
    mine = [cell(f"mine = {number}") for number in range(6)]
    shuffled = [one for pair in zip(mine, handed_in()[::-1], strict=False) for one in pair] + mine[5:]
    notebook, _ = repaired(tmp_path, shuffled)
    assert sorted(source for source in sources(notebook) if "mine" in source) == [one["source"] for one in mine]


def test_repair_drops_code_in_a_given_cell(tmp_path: Path) -> None:
    cells = handed_in()
    cells[2]["source"] = "def check(number): print('fine')"
    assert "fine" not in "".join(sources(repaired(tmp_path, cells)[0]))


def test_repair_puts_a_missing_essay_back_empty(tmp_path: Path) -> None:
    notebook, _ = repaired(tmp_path, [], [ESSAY])
    assert (notebook.cells[0].cell_type, notebook.cells[0].source) == ("markdown", "")
    assert notebook.cells[0].metadata.nbgrader["points"] == 4.0


def test_repair_keeps_the_text_of_an_essay(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, [cell("Because.", "essay", "markdown")], [ESSAY])
    assert sources(notebook) == ["Because."]
    assert notes == []


def test_repair_accepts_a_task_without_its_mark_scheme(tmp_path: Path) -> None:
    scheme = "Draw it.\n=== BEGIN MARK SCHEME ===\nTwo points an axis.\n=== END MARK SCHEME ==="
    known = replace(TASK, source=scheme, released="Draw it.")
    assert repaired(tmp_path, [cell("Draw it.", "task", "markdown")], [known])[1] == []
    assert "was edited" in repaired(tmp_path, [cell("Two points.", "task", "markdown")], [known])[1][0]


def test_repair_restores_points_and_text_of_a_task(tmp_path: Path) -> None:
    notebook, _ = repaired(tmp_path, [cell("I did it already.", "task", "markdown")], [TASK])
    assert sources(notebook) == ["Draw it."]
    assert notebook.cells[0].metadata.nbgrader["points"] == 5.0
    assert notebook.cells[0].metadata.nbgrader["task"] is True


def test_repair_again_changes_nothing(tmp_path: Path) -> None:
    notebook, notes = repaired(tmp_path, handed_in()[::-2])
    assert notes
    once = sources(notebook)
    assert repair(notebook, KNOWN) == []
    assert sources(notebook) == once


@pytest.mark.parametrize("skip", range(5))
def test_repaired_notebook_is_valid(tmp_path: Path, skip: int) -> None:
    cells = [cell(one["source"], cell_type="raw") for one in handed_in()] + handed_in()[:skip]
    notebook, notes = repaired(tmp_path, cells)
    add_notes(notebook, notes)
    del notebook.metadata[NOTES_KEY]
    nbformat.validate(notebook)


def test_add_notes_inserts_the_first_cell(tmp_path: Path) -> None:
    notebook = read(tmp_path, handed_in())
    add_notes(notebook, ["One.", "Two."])
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.splitlines() == ["**Notes from grading**", "", "- One.", "- Two."]


def test_add_notes_without_notes_adds_no_cell(tmp_path: Path) -> None:
    notebook = read(tmp_path, handed_in())
    add_notes(notebook, [])
    assert len(notebook.cells) == 5


def test_known_cells_follow_the_order_of_the_release(released_course: Course) -> None:
    """A database gives rows in any order: PostgreSQL puts last what was changed, as SQLite what was added."""
    released = released_course.read("release", "self_attention")
    ids = [cell.metadata.nbgrader.grade_id for cell in released.cells if "nbgrader" in cell.metadata]
    with released_course.api().gradebook as gradebook:
        kept = gradebook.find_notebook("self_attention", "self_attention")
        kinds = {name: getattr(kept, name) for name in ("grade_cells", "task_cells", "solution_cells")}
        mixed = SimpleNamespace(**kinds, source_cells=kept.source_cells[::-1])
        assert [cell.grade_id for cell in known_cells(mixed, released)] == ids


def test_why_not_whole_of_a_cut_file_says_ends_in_the_middle() -> None:
    whole = rb'{"cells": ["a\u00e4b\n", true, null, false, -1]}'
    found = {why_not_whole(whole[:length]) for length in range(1, len(whole))}
    assert found == {"it is not valid JSON, and ends in the middle"}
    assert why_not_whole(whole) == ""
    for wrong in (b'{"cells": [],}', b'{"cells": [nop', b"{'cells': []}", b"x"):
        assert why_not_whole(wrong) == "it is not valid JSON"
