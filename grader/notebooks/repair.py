"""Restore the released shape of a submitted notebook, and note what had to be changed.

The student's code stays. What the course gave (tests, given code, points, the kind of each cell) is restored,
wherever the student deleted, duplicated, edited, retyped or moved it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from nbformat import NotebookNode

from grader.model.submission import ReleasedCell
from grader.notebooks.cells import METADATA_KEY, NOTES, new_cell

NBGRADER_SCHEMA = 3

_DEFINES = re.compile(r"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)


def known_cells(notebook: NotebookNode, released: NotebookNode = None) -> list[ReleasedCell]:
    """The cells of a released notebook as nbgrader's gradebook records them, in the order of the file.

    The gradebook itself keeps no order: a cell that was changed, or added in the middle, may come last. It does keep
    what students do not get, and only the file knows what that is: a course may have steps and delimiters of its own.
    """
    cells = released.cells if released else []
    handed_out = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in cells}
    grades = {cell.name: cell.max_score for cell in notebook.grade_cells}
    tasks = {cell.name: cell.max_score for cell in notebook.task_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    recorded = [
        ReleasedCell(
            grade_id=cell.name,
            cell_type=cell.cell_type,
            source=cell.source,
            grade=cell.name in grades,
            solution=cell.name in solutions,
            locked=cell.locked,
            points=grades.get(cell.name, tasks.get(cell.name, 0.0)),
            task=cell.name in tasks,
            checksum=cell.checksum,
            released=handed_out.get(cell.name),
        )
        for cell in notebook.source_cells
    ]
    ids = list(handed_out)
    return sorted(recorded, key=lambda cell: ids.index(cell.grade_id) if cell.grade_id in ids else len(ids))


def repair(notebook: NotebookNode, released_cells: Sequence[ReleasedCell]) -> list[str]:
    """Repair the notebook in place; the notes say what was changed."""
    notes: list[str] = []
    cell_of = _match(notebook.cells, released_cells, notes)
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    for released in released_cells:
        if released.grade_id in cell_of:
            cell_of[released.grade_id] = _restore(notebook.cells, cell_of[released.grade_id], released, notes)
    _reorder(notebook, released_cells, cell_of, notes)
    _insert_missing(notebook, released_cells, cell_of, notes)
    return notes


def _match(
    cells: list[NotebookNode], released_cells: Sequence[ReleasedCell], notes: list[str]
) -> dict[str, NotebookNode]:
    """Match released cells with submitted ones, by grade id or else by content."""
    names = {released.grade_id for released in released_cells}
    copies: dict[str, list[NotebookNode]] = {}
    for cell in cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in names:
            copies.setdefault(name, []).append(cell)
    cell_of = {name: cells_of_name[-1] for name, cells_of_name in copies.items()}
    matched = {id(cell) for cell in cell_of.values()}
    for released in released_cells:
        if released.grade_id in cell_of:
            continue
        for cell in reversed(cells):
            if id(cell) not in matched and looks_like(cell, released):
                cell_of[released.grade_id] = cell
                matched.add(id(cell))
                notes.append(f"The cell “{released.grade_id}” had lost its nbgrader metadata and was recognized.")
                break
    for index, released in enumerate(released_cells):
        cells_of_name = copies.get(released.grade_id, [])
        if len(cells_of_name) > 1:
            test = next((later for later in released_cells[index:] if later.is_provided and later.grade), None)
            test_cell = cell_of.get(test.grade_id) if test and not released.is_provided else None
            last = _last_before(cells, cells_of_name, test_cell)
            cell_of[released.grade_id] = last
            position = "the last one" if last is cells_of_name[-1] else "the last one before its test"
            notes.append(f"The cell “{released.grade_id}” is there several times; {position} counts.")
    return cell_of


def _last_before(cells: list[NotebookNode], copies: list[NotebookNode], test: NotebookNode) -> NotebookNode:
    """The copy that counts when the notebook runs: the last one before the test cell."""
    ids = {id(copy) for copy in copies}
    earlier = itertools.takewhile(lambda cell: cell is not test, cells)
    earlier_copies = [cell for cell in earlier if id(cell) in ids]
    return (earlier_copies or copies)[-1]


def looks_like(cell: NotebookNode, released: ReleasedCell) -> bool:
    """Whether a cell has the text of a released one or, if students write it, defines something that it defines."""
    if released.is_provided:
        return _is_unchanged(cell.source, released)
    return bool(cell.cell_type == "code" and defined_in(released.source) & defined_in(cell.source))


def defined_in(source: str) -> set[str]:
    """The functions and classes that a cell defines."""
    return set(_DEFINES.findall(source))


def _is_unchanged(source: str, released: ReleasedCell) -> bool:
    """Whether a source is what the student got, except for whitespace."""
    return source.split() in (released.source.split(), released.handed_out.split())


def _restore(cells: list[NotebookNode], cell: NotebookNode, released: ReleasedCell, notes: list[str]) -> NotebookNode:
    """Restore the kind and metadata of a cell and, if the course wrote it, the source."""
    if cell.cell_type != released.cell_type:
        notes.append(
            f"The cell “{released.grade_id}” had a different type; it was changed back to a {released.cell_type} cell."
        )
    elif released.is_provided and not _is_unchanged(cell.source, released):
        notes.append(f"The given cell “{released.grade_id}” was edited; the original was restored.")
    restored = _new_cell(released, released.source if released.is_provided else cell.source, cell["id"])
    cells[_index_of(cell, cells)] = restored
    return restored


def _index_of(cell: NotebookNode, cells: list[NotebookNode]) -> int:
    """The index of this very cell: another one may be equal."""
    return next(index for index, other in enumerate(cells) if other is cell)


def _reorder(
    notebook: NotebookNode,
    released_cells: Sequence[ReleasedCell],
    cell_of: dict[str, NotebookNode],
    notes: list[str],
) -> None:
    """Put released cells into their order; the student's own cells stay after the released cell they follow."""
    ordered = [cell_of[released.grade_id] for released in released_cells if released.grade_id in cell_of]
    released_ids = {id(cell) for cell in ordered}
    present_ids = [id(cell) for cell in notebook.cells if id(cell) in released_ids]
    if present_ids == [id(cell) for cell in ordered]:
        return
    notes.append("The cells were in a different order; the original order was restored.")
    followers: dict[int, list[NotebookNode]] = {0: []}
    leader = 0
    for cell in notebook.cells:
        if id(cell) in released_ids:
            leader = id(cell)
            followers[leader] = []
        else:
            followers[leader].append(cell)
    notebook.cells = followers[0]
    for cell in ordered:
        notebook.cells += [cell, *followers[id(cell)]]


def _insert_missing(
    notebook: NotebookNode,
    released_cells: Sequence[ReleasedCell],
    cell_of: dict[str, NotebookNode],
    notes: list[str],
) -> None:
    """Put given and graded cells back after the released cell that they followed. Student code stays missing."""
    after = -1
    for released in released_cells:
        if released.grade_id in cell_of:
            after = _index_of(cell_of[released.grade_id], notebook.cells)
        elif released.is_provided or released.grade:
            after += 1
            source = released.source if released.is_provided else ""
            notebook.cells.insert(after, _new_cell(released, source, _free_id(notebook, released.grade_id)))
            notes.append(f"The cell “{released.grade_id}” was missing and was restored.")


def _new_cell(released: ReleasedCell, source: str, identity: str) -> NotebookNode:
    kind = "code" if released.cell_type == "code" else "markdown"
    return new_cell(kind, source, identity, {"nbgrader": nbgrader_metadata(released)})


def nbgrader_metadata(released: ReleasedCell) -> dict[str, Any]:
    """The metadata that nbgrader reads in such a cell, except its checksum."""
    metadata: dict[str, Any] = {
        "grade_id": released.grade_id,
        "grade": released.grade,
        "solution": released.solution,
        "locked": released.locked,
        "task": released.task,
        "schema_version": NBGRADER_SCHEMA,
        "cell_type": released.cell_type,
    }
    if released.grade or released.task:
        metadata["points"] = released.points
    return metadata


def _free_id(notebook: NotebookNode, name: str) -> str:
    """An unused id, but not a random one like nbformat's: the same file must always give the same notebook."""
    ids = {cell["id"] for cell in notebook.cells}
    candidates = itertools.chain([name[:64]], (f"{name[:50]}-{number}" for number in itertools.count(2)))
    return next(candidate for candidate in candidates if candidate not in ids)


def add_notes(notebook: NotebookNode, notes: Sequence[str]) -> None:
    """Insert a first cell that tells student and instructor what was changed."""
    if notes:
        lines = ["**Notes from grading**", "", *(f"- {note}" for note in notes)]
        ours = {METADATA_KEY: {NOTES: list(notes)}}  # no submitted cell has our metadata
        notebook.cells.insert(0, new_cell("markdown", "\n".join(lines), _free_id(notebook, "notes-from-grading"), ours))
