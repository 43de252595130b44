"""Identify which notebook of the course a file is, by its cells and not by its name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nbformat import NotebookNode

from grader.collecting.contents import UploadedFile
from grader.course.folder import Course
from grader.model.submission import ReleasedCell
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


@dataclass(frozen=True)
class IdentifiedNotebook:
    """A file that is a notebook of the assignment."""

    name: str
    file: UploadedFile
    content: bytes  # to be graded
    notes: Sequence[str] = ()
    is_untouched: bool = False  # exactly as released


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
class UnknownNotebook:
    """A file that looks like a notebook, but is not one of the assignment."""

    reason: str
    is_cut: bool = False  # an unknown part of it is missing
    remedy: Remedy = NOTHING_TO_DO

    @property
    def for_instructor(self) -> str:
        """The reason, and what an instructor should do."""
        return self.reason + self.remedy.for_instructor

    @property
    def for_student(self) -> str:
        """The reason, and what the student should do, in sentences."""
        return f"{self.reason.removesuffix('.')}. {self.remedy.for_student}".rstrip()


@dataclass(frozen=True)
class ReleasedNotebook:
    """A released notebook of a course."""

    assignment: str
    name: str
    cells: Sequence[ReleasedCell]

    @property
    def student_cells(self) -> list[ReleasedCell]:
        """The cells that students write, or that earn points."""
        return [cell for cell in self.cells if cell.solution or cell.grade or cell.task]


def released_notebooks(course: Course) -> list[ReleasedNotebook]:
    """All released notebooks of a course."""
    notebooks = []
    for assignment in course.assignments():
        for name in course.notebooks("release", assignment):
            cells = _released_cells(course.read("release", assignment, name))
            notebooks.append(ReleasedNotebook(assignment, name, cells))
    return notebooks


def _released_cells(notebook: NotebookNode) -> list[ReleasedCell]:
    cells = []
    for cell in notebook.cells:
        metadata = cell.metadata.get("nbgrader")
        if metadata and metadata.get("grade_id"):
            released = ReleasedCell(
                metadata["grade_id"],
                cell.cell_type,
                cell.source,
                grade=bool(metadata.get("grade")),
                solution=bool(metadata.get("solution")),
                locked=bool(metadata.get("locked")),
                points=float(metadata.get("points") or 0),
                task=bool(metadata.get("task")),
            )
            cells.append(released)
    return cells


class Identifier:
    """Identifies files by all released notebooks of a course."""

    def __init__(self, released: Sequence[ReleasedNotebook], assignment: str) -> None:
        self._assignment = assignment
        self._released = released

    @property
    def all_names(self) -> set[str]:
        """The names of all notebooks and assignments of the course."""
        return {name for notebook in self._released for name in (notebook.assignment, notebook.name)}

    @property
    def names(self) -> set[str]:
        """The names of the assignment's notebooks."""
        return {notebook.name for notebook in self._released if notebook.assignment == self._assignment}

    def identify_content(self, name: str, content: bytes) -> IdentifiedNotebook | UnknownNotebook | None:
        """Find out what a single file of this name is."""
        return self.identify(UploadedFile((name,), name, content))

    def identify(self, file: UploadedFile) -> IdentifiedNotebook | UnknownNotebook | None:
        """Find out what a file is; None if it does not even look like a notebook."""
        if ".ipynb" not in file.name.lower() and not _is_like_notebook(file.content):
            return None
        if len(file.content) > MAX_BYTES:
            return self._identify_without_outputs(file)
        cut = why_not_whole(file.content)
        if cut:
            return UnknownNotebook(f"it is not a complete notebook: {cut}", is_cut=True, remedy=SUBMIT_AGAIN)
        try:
            notebook = read_notebook(file.content)
        except UnreadableNotebook as error:
            return UnknownNotebook(str(error))
        if not notebook.cells:
            return UnknownNotebook("it has no cells that can be read")
        return self._identify_by_ids(file, notebook.cells) or self._identify_by_code(file, notebook.cells)

    def _identify_without_outputs(self, file: UploadedFile) -> IdentifiedNotebook | UnknownNotebook | None:
        """Identify a large notebook without its outputs: they make it large, and grading runs its cells anyway."""
        light = without_outputs(file.content)
        if light and len(light) <= MAX_BYTES:
            notebook = self.identify(replace(file, content=light))
            if not isinstance(notebook, IdentifiedNotebook):
                return notebook
            reason = f"it is larger than {MAX_BYTES // 2**20} MB, so it was collected without its outputs"
            return replace(notebook, file=file, notes=[f"{file.shown_path}: {reason}", *notebook.notes])
        if len(file.content) > MAX_WITH_OUTPUTS:
            size = f"larger than {MAX_WITH_OUTPUTS // 2**20} MB"
        elif light:
            size = f"larger than {MAX_BYTES // 2**20} MB, even without its outputs"
        else:
            size = f"larger than {MAX_BYTES // 2**20} MB, and cannot be read"
        return UnknownNotebook(f"it is {size}", is_cut=True, remedy=CLEAR_OUTPUTS)

    def _identify_by_ids(
        self, file: UploadedFile, cells: Sequence[NotebookNode]
    ) -> IdentifiedNotebook | UnknownNotebook | None:
        """Identify a notebook by nbgrader's cell ids. If several of the course use them, the cells decide."""
        cell_of = {str(cell.metadata["nbgrader"]["grade_id"]): cell for cell in cells if "nbgrader" in cell.metadata}
        fits: list[tuple[int, ReleasedNotebook]] = []
        for notebook in self._released:
            matched_cells = [cell for cell in notebook.student_cells if cell.grade_id in cell_of]
            if matched_cells:
                fits.append((len(matched_cells) + _count_similar(notebook.cells, cell_of), notebook))
        if not fits:
            return None
        best_fit = max(fit for fit, _ in fits)
        best = self._choose_only([notebook for fit, notebook in fits if fit == best_fit])
        if isinstance(best, UnknownNotebook):
            return best
        matched_cells = [cell for cell in best.student_cells if cell.grade_id in cell_of]
        notes = []
        if len(matched_cells) < len(best.student_cells):
            notes.append(f"only {len(matched_cells)} of its {len(best.student_cells)} cells have their ids")
        is_untouched = all(cell_of[cell.grade_id].source == cell.source for cell in matched_cells if cell.solution)
        return IdentifiedNotebook(best.name, file, file.content, notes, is_untouched)

    def _identify_by_code(
        self, file: UploadedFile, cells: Sequence[NotebookNode]
    ) -> IdentifiedNotebook | UnknownNotebook:
        """Identify a notebook without ids: each cell that students write must be there exactly once."""
        file_cells = _FileCells(cells)
        problems = [(notebook, file_cells.find_problem(notebook.cells)) for notebook in self._released]
        complete = [notebook for notebook, problem in problems if not problem]
        if complete:
            best = self._choose_only(complete)
            if isinstance(best, ReleasedNotebook):
                notes = ["its cells had lost their ids, and were recognized by what they define"]
                return IdentifiedNotebook(best.name, file, file.content, notes)
            reason = best.reason
        else:
            reason = next(problem for notebook, problem in problems if notebook.assignment == self._assignment)
        return UnknownNotebook(f"no cell has an id of this course, and {reason}")

    def _choose_only(self, candidates: Sequence[ReleasedNotebook]) -> ReleasedNotebook | UnknownNotebook:
        """The only notebook that fits, if it is one of this assignment."""
        if len(candidates) > 1:
            names = [f"{notebook.assignment}/{notebook.name}" for notebook in candidates]
            return UnknownNotebook(f"it could be {listed(names, last='or')}")
        if candidates[0].assignment != self._assignment:
            return UnknownNotebook(f"it is for {candidates[0].assignment}")
        return candidates[0]


def _is_like_notebook(content: bytes) -> bool:
    return content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b'"nbformat"' in content


def _count_similar(released: Sequence[ReleasedCell], cell_of: Mapping[str, NotebookNode]) -> int:
    return sum(looks_like(cell_of[cell.grade_id], cell) for cell in released if cell.grade_id in cell_of)


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

    def find_problem(self, released: Sequence[ReleasedCell]) -> str:
        """Why these released cells are not all in the file; empty if each that students write is there once.

        Given cells may be missing: grading restores them.
        """
        matches: list[int] = []
        for cell in released:
            if cell.is_provided:
                continue
            candidates = self._find_candidates(cell)
            if len(candidates) != 1:
                return f"the cell “{one_line(cell.grade_id, 60)}” {_describe_count(cell, len(candidates))}"
            matches += candidates
        if len(set(matches)) < len(matches) or not any(cell.solution for cell in released):
            return "some of its cells look the same"
        return ""

    def _find_candidates(self, released: ReleasedCell) -> set[int]:
        """The identities of the cells of the file that could be this released one."""
        cells = list(self._by_id.get(released.grade_id, ()))
        if not cells:
            for name in defined_in(released.source):
                cells += self._by_name.get(name, ())
        return {id(cell) for cell in cells}


def _describe_count(released: ReleasedCell, count: int) -> str:
    if count:
        return f"is in it {count} times"
    return "is not in it" if defined_in(released.source) else "cannot be recognized without its id"
