"""Identify which notebook of the course a file is, by its cells and not by its name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nbformat import NotebookNode

from grader.collecting.contents import HeldFile
from grader.course.folder import Course
from grader.model.submission import KnownCell
from grader.notebooks.parsing import (
    MAX_BYTES,
    MAX_WITH_OUTPUTS,
    UnreadableNotebook,
    read_notebook,
    why_not_whole,
    without_outputs,
)
from grader.notebooks.repair import defined_in, looks_like
from grader.sandbox.plain_text import listed, one_line

Matches = dict[str, NotebookNode]  # the cells of a file, by the ids of the course's cells that they match


@dataclass(frozen=True)
class Identified:
    """A file that is a notebook of the assignment."""

    name: str
    held: HeldFile
    content: bytes  # to be graded
    notes: Sequence[str] = ()
    untouched: bool = False  # exactly as released


class Remedy(NamedTuple):
    """What to do about a file."""

    for_instructor: str = ""  # goes on after the reason
    for_student: str = ""  # a sentence


NOTHING_TO_DO = Remedy()
SUBMIT_AGAIN = Remedy(", so the student has to submit it again", "Save the notebook, and submit it again.")
CLEAR_OUTPUTS = Remedy(
    ". Ask the student to clear all outputs", "Clear the outputs of all cells, save it, and submit it again."
)


@dataclass(frozen=True)
class Unknown:
    """A file that looks like a notebook, but is not one of the assignment."""

    reason: str
    is_cut: bool = False  # an unknown part of it is missing
    remedy: Remedy = NOTHING_TO_DO

    @property
    def why(self) -> str:
        """The reason, and what an instructor should do."""
        return self.reason + self.remedy.for_instructor

    @property
    def for_student(self) -> str:
        """The reason, and what the student should do, in sentences."""
        return f"{self.reason.removesuffix('.')}. {self.remedy.for_student}".rstrip()


@dataclass(frozen=True)
class Released:
    """A released notebook of a course."""

    assignment: str
    name: str
    cells: Sequence[KnownCell]

    @property
    def filled_in(self) -> list[KnownCell]:
        """The cells that students write, or that earn points."""
        return [cell for cell in self.cells if cell.solution or cell.grade or cell.task]


def released_by(course: Course) -> list[Released]:
    """All released notebooks of a course."""
    return [
        Released(assignment, name, _known(course.read("release", assignment, name)))
        for assignment in course.assignments()
        for name in course.notebooks("release", assignment)
    ]


class Identifier:
    """Identifies files by all released notebooks of a course."""

    def __init__(self, released: Sequence[Released], assignment: str) -> None:
        self._assignment = assignment
        self._released = released

    @property
    def all_names(self) -> set[str]:
        """The names of all notebooks and assignments of the course."""
        return {name for one in self._released for name in (one.assignment, one.name)}

    @property
    def names(self) -> set[str]:
        """The names of the assignment's notebooks."""
        return {one.name for one in self._released if one.assignment == self._assignment}

    def look_at(self, name: str, content: bytes) -> Identified | Unknown | None:
        """Find out what a single file of this name is."""
        return self.look(HeldFile((name,), name, content))

    def look(self, held: HeldFile) -> Identified | Unknown | None:
        """Find out what a file is; None if it does not even look like a notebook."""
        name = held.parts[-1].lower()
        if ".ipynb" not in name and not _is_like_notebook(held.content):
            return None
        if len(held.content) > MAX_BYTES:
            return self._look_without_outputs(held)
        if why := why_not_whole(held.content):
            return Unknown(f"it is not a complete notebook: {why}", is_cut=True, remedy=SUBMIT_AGAIN)
        try:
            notebook = read_notebook(held.content)
        except UnreadableNotebook as why:
            return Unknown(str(why))
        if not notebook.cells:
            return Unknown("it has no cells that can be read")
        return self._by_ids(held, notebook.cells) or self._by_code(held, notebook.cells)

    def _look_without_outputs(self, held: HeldFile) -> Identified | Unknown | None:
        """Look at a large notebook without its outputs: they make it large, and grading runs its cells anyway."""
        light = without_outputs(held.content)
        if light and len(light) <= MAX_BYTES:
            looked = self.look(replace(held, content=light))
            if isinstance(looked, Identified):
                why = f"it is larger than {MAX_BYTES // 2**20} MB, so it was collected without its outputs"
                return replace(looked, held=held, notes=[f"{one_line(held.place)}: {why}", *looked.notes])
            return looked
        if len(held.content) > MAX_WITH_OUTPUTS:
            large = f"larger than {MAX_WITH_OUTPUTS // 2**20} MB"
        else:
            more = ", even without its outputs" if light else ", and cannot be read"
            large = f"larger than {MAX_BYTES // 2**20} MB{more}"
        return Unknown(f"it is {large}", is_cut=True, remedy=CLEAR_OUTPUTS)

    def _by_ids(self, held: HeldFile, cells: Sequence[NotebookNode]) -> Identified | Unknown | None:
        """Identify a notebook by nbgrader's cell ids. If several of the course use them, the cells decide."""
        by_id = {str(cell.metadata["nbgrader"]["grade_id"]): cell for cell in cells if "nbgrader" in cell.metadata}
        fits: Counter[int] = Counter()
        for place, one in enumerate(self._released):
            known = [cell for cell in one.filled_in if cell.grade_id in by_id]
            alike = sum(looks_like(by_id[cell.grade_id], cell) for cell in one.cells if cell.grade_id in by_id)
            if known:
                fits[place] = len(known) + alike
        if not fits:
            return None
        best = self._only([self._released[place] for place in fits if fits[place] == max(fits.values())])
        if isinstance(best, Unknown):
            return best
        here = [cell for cell in best.filled_in if cell.grade_id in by_id]
        all_there = len(here) == len(best.filled_in)
        notes = [] if all_there else [f"only {len(here)} of its {len(best.filled_in)} cells have their ids"]
        untouched = all(by_id[cell.grade_id].source == cell.source for cell in here if cell.solution)
        return Identified(best.name, held, held.content, notes, untouched=untouched)

    def _by_code(self, held: HeldFile, cells: Sequence[NotebookNode]) -> Identified | Unknown:
        """Identify a notebook without ids: each cell that students write must be there exactly once."""
        file_cells = _FileCells(cells)
        matches = [(released, _match(released.cells, file_cells)) for released in self._released]
        complete = [released for released, match in matches if isinstance(match, dict)]
        best = self._only(complete) if complete else None
        if isinstance(best, Released):
            notes = ["its cells had lost their ids, and were recognized by what they define"]
            return Identified(best.name, held, held.content, notes)
        reasons = [match for released, match in matches if released.assignment == self._assignment]
        return Unknown(f"no cell has an id of this course, and {best.reason if best else reasons[0]}")

    def _only(self, found: Sequence[Released]) -> Released | Unknown:
        """The only notebook that fits, if it is one of this assignment."""
        if len(found) > 1:
            return Unknown(f"it could be {listed((f'{one.assignment}/{one.name}' for one in found), last='or')}")
        return found[0] if found[0].assignment == self._assignment else Unknown(f"it is for {found[0].assignment}")


def _is_like_notebook(content: bytes) -> bool:
    return content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b'"nbformat"' in content


def _known(notebook: NotebookNode) -> list[KnownCell]:
    found = []
    for cell in notebook.cells:
        said = cell.metadata.get("nbgrader")
        if said and said.get("grade_id"):
            grade, solution, locked, task = (bool(said.get(flag)) for flag in ("grade", "solution", "locked", "task"))
            points = float(said.get("points") or 0)
            name, kind = said["grade_id"], cell.cell_type
            found.append(KnownCell(name, kind, cell.source, grade, solution, locked, points, task))
    return found


class _FileCells:
    """The cells of a file, by id or by the names that they define."""

    def __init__(self, cells: Sequence[NotebookNode]) -> None:
        self._by_id: dict[str, list[NotebookNode]] = defaultdict(list)
        self._by_name: dict[str, list[NotebookNode]] = defaultdict(list)  # names that they define
        for cell in cells:
            if "nbgrader" in cell.metadata:
                self._by_id[str(cell.metadata["nbgrader"]["grade_id"])].append(cell)
            if cell.cell_type == "code":
                for name in defined_in(cell.source):
                    self._by_name[name].append(cell)

    def candidates(self, known: KnownCell) -> list[NotebookNode]:
        """The cells of the file that could be this known one."""
        if with_id := self._by_id.get(known.grade_id):
            return with_id
        cells = [cell for name in defined_in(known.source) for cell in self._by_name.get(name, ())]
        return list({id(cell): cell for cell in cells}.values())


def _match(known: Sequence[KnownCell], cells: _FileCells) -> Matches | str:
    """Find the cell for each one that students write; or say why it is unclear. Grading restores given cells."""
    matches: Matches = {}
    for cell in known:
        if cell.given:
            continue
        candidates = cells.candidates(cell)
        if len(candidates) != 1:
            return f"the cell “{one_line(cell.grade_id, 60)}” {_doubt(cell, len(candidates))}"
        matches[cell.grade_id] = candidates[0]
    if len({id(cell) for cell in matches.values()}) < len(matches) or not any(cell.solution for cell in known):
        return "some of its cells look the same"
    return matches


def _doubt(known: KnownCell, times: int) -> str:
    if times:
        return f"is in it {times} times"
    return "is not in it" if defined_in(known.source) else "cannot be recognized without its id"
