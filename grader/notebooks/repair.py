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
    known = [
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
    return sorted(known, key=lambda cell: ids.index(cell.grade_id) if cell.grade_id in ids else len(ids))


def repair(notebook: NotebookNode, known: Sequence[ReleasedCell]) -> list[str]:
    """Repair the notebook in place; the notes say what was changed."""
    notes: list[str] = []
    places = _find(notebook.cells, known, notes)
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    for original in known:
        if original.grade_id in places:
            places[original.grade_id] = _restore(notebook.cells, places[original.grade_id], original, notes)
    _reorder(notebook, known, places, notes)
    _insert_missing(notebook, known, places, notes)
    return notes


def _find(cells: list[NotebookNode], known: Sequence[ReleasedCell], notes: list[str]) -> dict[str, NotebookNode]:
    """Match submitted cells with known ones: by grade id, or else by content."""
    names = {original.grade_id for original in known}
    copies: dict[str, list[NotebookNode]] = {}
    for cell in cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in names:
            copies.setdefault(name, []).append(cell)
    places = {name: same[-1] for name, same in copies.items()}
    taken = {id(cell) for cell in places.values()}
    for original in known:
        if original.grade_id not in places:
            cell = next(
                (cell for cell in reversed(cells) if id(cell) not in taken and looks_like(cell, original)), None
            )
            if cell is not None:
                places[original.grade_id] = cell
                taken.add(id(cell))
                notes.append(f"The cell “{original.grade_id}” had lost its nbgrader metadata and was recognized.")
    for index, original in enumerate(known):
        same = copies.get(original.grade_id, [])
        if len(same) > 1:
            test = next((later for later in known[index:] if later.is_provided and later.grade), None)
            before = places.get(test.grade_id) if test and not original.is_provided else None
            places[original.grade_id] = last = _last_before(cells, same, before)
            which = "the last one" if last is same[-1] else "the last one before its test"
            notes.append(f"The cell “{original.grade_id}” is there several times; {which} counts.")
    return places


def _last_before(cells: list[NotebookNode], same: list[NotebookNode], test: NotebookNode) -> NotebookNode:
    """The copy that counts when the notebook runs: the last one before the test cell."""
    copies = {id(copy) for copy in same}
    earlier = itertools.takewhile(lambda cell: cell is not test, cells)
    before = [cell for cell in earlier if id(cell) in copies]
    return (before or same)[-1]


def looks_like(cell: NotebookNode, known: ReleasedCell) -> bool:
    """Whether a cell has the text of a known one or, if students write it, defines something that it defines."""
    if known.is_provided:
        return _as_given(cell.source, known)
    return bool(cell.cell_type == "code" and defined_in(known.source) & defined_in(cell.source))


def defined_in(source: str) -> set[str]:
    """The functions and classes that a cell defines."""
    return set(_DEFINES.findall(source))


def _as_given(source: str, known: ReleasedCell) -> bool:
    """Whether a source is what the student got, except for whitespace."""
    return source.split() in (known.source.split(), known.handed_out.split())


def _restore(cells: list[NotebookNode], cell: NotebookNode, known: ReleasedCell, notes: list[str]) -> NotebookNode:
    """Restore the kind and metadata of a known cell and, if the course wrote it, the source."""
    if cell.cell_type != known.cell_type:
        notes.append(
            f"The cell “{known.grade_id}” had a different type; it was changed back to a {known.cell_type} cell."
        )
    elif known.is_provided and not _as_given(cell.source, known):
        notes.append(f"The given cell “{known.grade_id}” was edited; the original was restored.")
    restored = _new_cell(known, known.source if known.is_provided else cell.source, cell["id"])
    cells[next(index for index, each in enumerate(cells) if each is cell)] = restored
    return restored


def _reorder(
    notebook: NotebookNode, known: Sequence[ReleasedCell], places: dict[str, NotebookNode], notes: list[str]
) -> None:
    """Put known cells into their released order; the student's own cells stay after the known cell they follow."""
    wanted = [places[original.grade_id] for original in known if original.grade_id in places]
    known_ids = {id(cell) for cell in wanted}
    present = [cell for cell in notebook.cells if id(cell) in known_ids]
    if [id(cell) for cell in present] == [id(cell) for cell in wanted]:
        return
    notes.append("The cells were in a different order; the original order was restored.")
    followers: dict[int, list[NotebookNode]] = {0: []}
    leader = 0
    for cell in notebook.cells:
        if id(cell) in known_ids:
            leader = id(cell)
            followers[leader] = []
        else:
            followers[leader].append(cell)
    notebook.cells = followers[0] + [each for cell in wanted for each in [cell, *followers[id(cell)]]]


def _insert_missing(
    notebook: NotebookNode, known: Sequence[ReleasedCell], places: dict[str, NotebookNode], notes: list[str]
) -> None:
    """Put given and graded cells back after the known cell that they followed. Student code stays missing."""
    after = -1
    for original in known:
        if original.grade_id in places:
            after = next(index for index, cell in enumerate(notebook.cells) if cell is places[original.grade_id])
        elif original.is_provided or original.grade:
            after += 1
            source = original.source if original.is_provided else ""
            notebook.cells.insert(after, _new_cell(original, source, _free_id(notebook, original.grade_id)))
            notes.append(f"The cell “{original.grade_id}” was missing and was restored.")


def _new_cell(known: ReleasedCell, source: str, identity: str) -> NotebookNode:
    kind = "code" if known.cell_type == "code" else "markdown"
    return new_cell(kind, source, identity, {"nbgrader": nbgrader_metadata(known)})


def nbgrader_metadata(known: ReleasedCell) -> dict[str, Any]:
    """The metadata that nbgrader reads in a known cell, except its checksum."""
    metadata: dict[str, Any] = {
        "grade_id": known.grade_id,
        "grade": known.grade,
        "solution": known.solution,
        "locked": known.locked,
        "task": known.task,
        "schema_version": NBGRADER_SCHEMA,
        "cell_type": known.cell_type,
    }
    if known.grade or known.task:
        metadata["points"] = known.points
    return metadata


def _free_id(notebook: NotebookNode, wanted: str) -> str:
    """An unused id, but not a random one like nbformat's: the same file must always give the same notebook."""
    taken = {cell["id"] for cell in notebook.cells}
    names = itertools.chain([wanted[:64]], (f"{wanted[:50]}-{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def add_notes(notebook: NotebookNode, notes: Sequence[str]) -> None:
    """Insert a first cell that tells student and instructor what was changed."""
    if notes:
        lines = ["**Notes from grading**", "", *(f"- {note}" for note in notes)]
        ours = {METADATA_KEY: {NOTES: list(notes)}}  # no submitted cell has our metadata
        notebook.cells.insert(0, new_cell("markdown", "\n".join(lines), _free_id(notebook, "notes-from-grading"), ours))
