"""Identify which notebook of the course a file is, by its cells and not by its name."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import takewhile
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode

from grader.collecting.contents import HeldFile
from grader.course.folder import Course
from grader.model.submission import KnownCell
from grader.notebooks.parsing import (
    MAX_BYTES,
    MAX_WITH_OUTPUTS,
    Unreadable,
    parse_notebook,
    read_notebook,
    why_not_whole,
    without_outputs,
)
from grader.notebooks.repair import defined_in, looks_like, nbgrader_metadata
from grader.sandbox.plain_text import listed, one_line

# Notebooks submitted as Python scripts, from jupytext, `jupyter nbconvert --to script`, VS Code or Colab.

MAX_SCRIPT = 2**19  # bytes; the course's longest notebook has 30,000 of code
_MARK = re.compile(r"^# ?(?:%%[^\n]*|In ?\[[ \d]*\]:?[ \t]*)$", re.MULTILINE)
_MARIMO = re.compile(r"^(?:import marimo\b|app = marimo\.App\()", re.MULTILINE)
_GRADE_ID = re.compile(r'"grade_id": ?"([^"\\]+)"')
_MAGIC = re.compile(r"^# (?=(?:# )*[%!])", re.MULTILINE)  # jupytext hides them from Python
_COMMENT_LINE = re.compile(r"[ \t]*(?:#.*)?")
_QUOTES = ('"""', "'''")

MARIMO = "it is a marimo notebook; convert it first: marimo export ipynb FILE --sort top-down -o NEW.ipynb"
ScriptCell = dict[str, Any]
Matches = dict[str, NotebookNode]  # the cells of a file, by the ids of the course's cells that they match


def text_of(content: bytes) -> str:
    """The text of a script; empty if it is not one."""
    if len(content) > MAX_SCRIPT:
        return ""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return ""


def cells_of(text: str) -> list[ScriptCell]:
    """The cells that marks divide a script into; none without marks."""
    if not (marks := [*_MARK.finditer(text)]):
        return []
    before = text[: marks[0].start()]
    found = [_cell("code", before)] if without_comments_at_end(before) else []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        source = text[mark.end() + 1 : following.start() if following else len(text)]
        found += _percent_cells(mark[0], source) if "%%" in mark[0] else _converted_cells(source.strip("\n"))
    return found


def split_at(cells: list[ScriptCell], given: re.Pattern[str]) -> list[ScriptCell]:
    """Split cells so that each given code gets its own: an export may mark few cells, or none."""
    found = []
    for cell in cells:
        parts = given.split(cell["source"]) if cell["cell_type"] == "code" else [cell["source"]]
        found += [{**cell, "source": part.strip("\n")} for part in parts if part.strip()]
    return found


def any_of(given: Sequence[str]) -> re.Pattern[str]:
    """A pattern that finds any of these pieces of code if it fills whole lines."""
    codes = {code for source in given for code in as_given(source) if code}
    return re.compile(rf"^({'|'.join(map(re.escape, sorted(codes, key=len, reverse=True))) or '(?!)'})$", re.MULTILINE)


def as_notebook(cells: list[ScriptCell]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _percent_cells(mark: str, source: str) -> Iterator[ScriptCell]:
    named = _GRADE_ID.search(mark)
    grade_id = named[1] if named else ""
    kind = next((kind for kind in ("markdown", "raw") if f"[{kind}]" in mark), "code")
    text, code = ("", source) if kind == "code" else _text_and_code(source, to_the_end=bool(grade_id))
    if kind != "code":
        yield _cell(kind, _uncommented(text.strip("\n")), grade_id)
        grade_id = ""
    if kind == "code" or code.strip():
        yield _cell("code", _MAGIC.sub("", code), grade_id)


def _text_and_code(source: str, to_the_end: bool) -> tuple[str, str]:
    """Split a cell of text from code that follows without a mark. Text ends with the first comments, since those after
    a gap may belong to the code."""
    if source.lstrip().lstrip("r").startswith(_QUOTES) or not without_comments_at_end(source):
        return source, ""
    lines = source.split("\n")
    number = len(list(takewhile(lambda line: _COMMENT_LINE.fullmatch(line) and (to_the_end or line.strip()), lines)))
    return "\n".join(lines[:number]), "\n".join(lines[number:])


def _converted_cells(source: str) -> Iterator[ScriptCell]:
    """A cell of code, and one of text made of the comments after it."""
    code = without_comments_at_end(source)
    yield _cell("code", code)
    if comments := source[len(code) :].strip("\n"):
        yield _cell("markdown", _uncommented(comments))


def _uncommented(text: str) -> str:
    return re.sub(r"^# ?", "", text, flags=re.MULTILINE)


def without_comments_at_end(code: str) -> str:
    """The lines of some code up to the last one that is not a comment."""
    lines = code.strip("\n").split("\n")
    while lines and _COMMENT_LINE.fullmatch(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def _cell(kind: str, source: str, grade_id: str = "") -> ScriptCell:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": kind, "source": source.strip("\n"), "metadata": metadata}


@cache
def as_given(source: str) -> frozenset[str]:
    """The code of a given cell in the two forms that scripts have: unchanged, and as nbconvert writes it."""
    from IPython.core.inputtransformer2 import TransformerManager  # slow to import, and few submit scripts

    transformer: Any = TransformerManager()  # type: ignore[no-untyped-call]
    return frozenset(map(without_comments_at_end, (source, transformer.transform_cell(source))))


_SCRIPTS = (".py", ".py.txt")


@dataclass(frozen=True)
class Identified:
    """A file that is a notebook of the assignment."""

    name: str
    held: HeldFile
    content: bytes  # to be graded
    notes: Sequence[str] = ()
    script: bool = False
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
SEND_NOTEBOOK = Remedy(". Ask for the notebook", "Submit the notebook itself, which ends in .ipynb.")


@dataclass(frozen=True)
class Unknown:
    """A file that looks like a notebook, but is not one of the assignment."""

    reason: str
    is_script: bool = False  # the notebook may still import it
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
    demos: Sequence[str] = ()  # the code of cells without an id

    @property
    def filled_in(self) -> list[KnownCell]:
        """The cells that students write, or that earn points."""
        return [cell for cell in self.cells if cell.solution or cell.grade or cell.task]


def released_by(course: Course) -> list[Released]:
    """All released notebooks of a course."""
    return [
        Released(one, name, _known(notebook), _demos(notebook))
        for one in course.assignments()
        for name in course.notebooks("release", one)
        for notebook in [course.read("release", one, name)]
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

    @cached_property
    def _given(self) -> re.Pattern[str]:
        own = [one for one in self._released if one.assignment == self._assignment]
        given = [cell.source for one in own for cell in one.cells if cell.given and cell.cell_type == "code"]
        return any_of([*given, *(source for one in own for source in one.demos)])

    def look_at(self, name: str, content: bytes) -> Identified | Unknown | None:
        """Find out what a single file of this name is."""
        return self.look(HeldFile((name,), name, content))

    def look(self, held: HeldFile) -> Identified | Unknown | None:
        """Find out what a file is; None if it does not even look like a notebook."""
        name = held.parts[-1].lower()
        if name.endswith(_SCRIPTS):
            return self._look_at_script(held)
        if ".ipynb" not in name and not _is_like_notebook(held.content):
            return None
        if len(held.content) > MAX_BYTES:
            return self._look_without_outputs(held)
        if why := why_not_whole(held.content):
            return Unknown(f"it is not a complete notebook: {why}", is_cut=True, remedy=SUBMIT_AGAIN)
        try:
            notebook = read_notebook(held.content)
        except Unreadable as why:
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
        best, _, why = self._matching(cells, of_script=False)
        if best is None:
            return Unknown(f"no cell has an id of this course, and {why}")
        notes = ["its cells had lost their ids, and were recognized by what they define"]
        return Identified(best.name, held, held.content, notes)

    def _look_at_script(self, held: HeldFile) -> Identified | Unknown | None:
        text = text_of(held.content)
        if _MARIMO.search(text):
            return Unknown(MARIMO, is_script=True)
        marked = cells_of(text)
        if not marked and not self._given.search(text):
            return None
        split = split_at(marked or [_cell("code", text)], self._given)
        reasons = []
        for one in (marked, split) if marked not in ([], split) else (split,):
            cells = parse_notebook(as_notebook(one)).cells
            best, matches, why = self._matching(cells, of_script=True)
            if best is not None:
                break
            reasons.append(why)
        if best is None:
            return Unknown(f"it is a script, and {reasons[0]}", is_script=True, remedy=SEND_NOTEBOOK)
        written = [cell for cell in best.cells if cell.solution and cell.grade_id in matches]
        untouched = all(
            without_comments_at_end(matches[cell.grade_id].source) == without_comments_at_end(cell.source)
            for cell in written
        )
        content = _notebook_of(matches, best, cells)
        return Identified(best.name, held, content, ["made from a script"], script=True, untouched=untouched)

    def _matching(
        self, cells: Sequence[NotebookNode], of_script: bool
    ) -> tuple[Released | None, dict[str, NotebookNode], str]:
        """The one notebook whose cells are all there, and these cells; or why there is none."""
        indexed = _Cells(cells)
        all_found = [(one, _matches(one.cells, indexed, of_script)) for one in self._released]
        fit = [(one, found) for one, found in all_found if isinstance(found, dict)]
        best = self._only([one for one, _ in fit]) if fit else None
        if isinstance(best, Released):
            return best, fit[0][1], ""
        own = [found for one, found in all_found if one.assignment == self._assignment and isinstance(found, str)]
        return None, {}, best.reason if best else own[0]

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


def _demos(notebook: NotebookNode) -> list[str]:
    return [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade_id")
    ]


class _Cells:
    """The cells of a file, found by id, by code or by the names that they define."""

    def __init__(self, cells: Sequence[NotebookNode]) -> None:
        self._by_id: dict[str, list[NotebookNode]] = defaultdict(list)
        self._by_code: dict[str, list[NotebookNode]] = defaultdict(list)
        self._by_name: dict[str, list[NotebookNode]] = defaultdict(list)  # names that they define
        for cell in cells:
            if "nbgrader" in cell.metadata:
                self._by_id[str(cell.metadata["nbgrader"]["grade_id"])].append(cell)
            if cell.cell_type == "code":
                self._by_code[without_comments_at_end(cell.source)].append(cell)
                for name in defined_in(cell.source):
                    self._by_name[name].append(cell)

    def places(self, known: KnownCell) -> list[NotebookNode]:
        """The cells of the file that could be this known one."""
        if named := self._by_id.get(known.grade_id):
            return named
        if known.given:
            return [cell for code in as_given(known.source) for cell in self._by_code.get(code, ())]
        found = [cell for name in defined_in(known.source) for cell in self._by_name.get(name, ())]
        return list({id(cell): cell for cell in found}.values())


def _matches(known: Sequence[KnownCell], cells: _Cells, of_script: bool) -> Matches | str:
    """Find the cell for each known one, by id; or say why it is unclear. Texts need not match: in a script they are
    comments, and in a notebook the grader restores given cells."""
    found: Matches = {}
    for cell in known:
        if cell.given and (cell.cell_type != "code" or not of_script):
            continue
        places = cells.places(cell)
        same = [other.grade_id for other in known if cell.given and other.given and other.source == cell.source]
        if len(places) != max(1, len(same)):
            return f"the cell “{one_line(cell.grade_id, 60)}” {_there(cell, len(places))}"
        found[cell.grade_id] = places[same.index(cell.grade_id) if same else 0]
    if len({id(cell) for cell in found.values()}) < len(found) or not any(cell.solution for cell in known):
        return "some of its cells look the same"
    return found


def _there(known: KnownCell, times: int) -> str:
    if times:
        return f"is in it {times} times"
    if known.given:
        return "is not in it as released"
    return "is not in it" if defined_in(known.source) else "cannot be recognized without its id"


def _notebook_of(matches: Matches, released: Released, cells: Sequence[NotebookNode]) -> bytes:
    """The notebook as a file, whose cells have the ids of the released one."""
    for cell in cells:
        cell.metadata.pop("nbgrader", None)
    for known in released.cells:
        if known.grade_id in matches:
            matches[known.grade_id].metadata["nbgrader"] = nbgrader_metadata(known)
    text: str = nbformat.writes(nbformat.v4.new_notebook(cells=list(cells)))
    return text.encode()
