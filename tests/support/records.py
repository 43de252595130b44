"""The verdicts on all our pieces of student code, in tests/data/records, with a file for each exercise.

`make records` writes them anew. If you change sentences or credit, read the difference, and commit it.
"""

from __future__ import annotations

import ast
import difflib
import functools
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from filelock import FileLock

from grader.host import grading, trial
from grader.model.exercise import Exercise
from grader.model.misconception import Misconception
from grader.model.verdict import Verdict
from grader.notebooks.cells import tested_exercise
from grader.repair import locating
from grader.solutions.lines import Lines
from support.corpus import corpus
from support.graded_corpus import SEEDS, a_few_seeds
from support.our_course import EXERCISES, OURS
from support.places import DATA
from support.real_mistakes import mistakes
from support.solution_cells import of_notebook, source

FOLDER = DATA / "records"
_FIRST = re.compile(r"\S+: (?P<credit>[\d.]+), (?P<reason>[^:]+)(?:: (?P<names>.+))?")
_PLACE = re.compile(r"  `.*` is about [^`]*$")
PATIENCE = 20  # a factor for time limits of searches; the longest needs eight on a busy machine


@dataclass(frozen=True)
class Piece:
    """Student code for one exercise."""

    number: int
    name: str  # kind/style
    cell: str

    def __str__(self) -> str:
        return f"{self.number}-{self.name}"


def pieces(number: int) -> list[Piece]:
    cells = {f"{kind}/{style}": cell for kind in ("right", "wrong") for style, cell in corpus(number, kind).items()}
    cells |= {f"real/{mistake.piece.name}": mistake.cell for mistake in mistakes(number)}
    return [Piece(number, name, cell) for name, cell in cells.items()]


def made_of_mistakes(number: int) -> Iterator[tuple[Exercise, Misconception, Piece]]:
    """The solution with the lines of each mistake, except for lines that need names from the exercise's file."""
    functions = EXERCISES[number].functions
    plain = {function.entry: lines_of(function).text({}) for function in functions}
    for function in functions:
        for mistake in function.mistakes:
            text = lines_of(function).text(mistake.change)
            if not _needs_its_file(function, text, plain[function.entry]):
                cell = "\n\n".join({**plain, function.entry: text}.values())
                yield function, mistake, Piece(number, f"made/{mistake.name}{mistake.way or ''}", cell)


def lines_of(function: Exercise) -> Lines:
    return function.solution_text.lines


def _needs_its_file(function: Exercise, text: str, plain: str) -> bool:
    new_names = _names_in(text) - _names_in(plain)
    values = [function.solution_text.variables.get(name) for name in new_names]
    return not all(value is None or isinstance(value, ModuleType) for value in values)


@functools.lru_cache
def _names_in(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


@contextmanager
def judging() -> Iterator[Callable[[Piece], Verdict]]:
    """A function that grades a piece in a notebook where everything else is right, and keeps answer keys meanwhile.

    Hidden seeds come from the names of pieces, and searches have more time than usual, so that results are the same on
    a busy machine.
    """
    settings = replace(OURS, judging=PATIENCE * OURS.judging)
    with a_few_seeds(), pytest.MonkeyPatch.context() as patch:
        for module, limit in ((locating, "SECONDS"), (trial, "SECONDS"), (trial, "SECONDS_IN_ALL")):
            patch.setattr(module, limit, PATIENCE * getattr(module, limit))

        def verdict_on(piece: Piece) -> Verdict:
            patch.setattr(grading, "seed_of_submission", lambda *_: zlib.crc32(piece.name.encode()) % SEEDS)
            (verdict,) = grading.grade_notebook(notebook_with(piece), settings=settings)
            return verdict

        yield verdict_on


def as_text(piece: Piece, verdict: Verdict) -> str:
    names = " + ".join(verdict.misconceptions)
    lines = [f"{piece.name}: {verdict.credit:g}, {verdict.reason}{': ' * bool(names)}{names}"]
    lines += [f"  {sentence}" for sentence in verdict.sentences if not verdict.right]
    lines += [f"  `{located.line}` is about {located.change}" for located in verdict.located]
    return "".join(f"{line}\n" for line in lines)


def recorded(number: int) -> dict[str, str]:
    """The recorded text for each piece, by name."""
    file = _file(number)
    blocks: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else ():
        if not line.startswith("  "):
            name = line.partition(":")[0]
        blocks[name] = blocks.get(name, "") + line
    return blocks


@dataclass(frozen=True)
class Record:
    """The recorded verdict on a piece."""

    credit: float
    reason: str
    misconceptions: tuple[str, ...]
    sentences: tuple[str, ...]


@functools.cache
def records(number: int) -> dict[str, Record]:
    """The record of each piece of an exercise, by name."""
    return {name: _read(block) for name, block in recorded(number).items()}


def _read(block: str) -> Record:
    first, *sentences = block.splitlines()
    match = _FIRST.fullmatch(first)
    assert match, first
    names = tuple(match["names"].split(" + ")) if match["names"] else ()
    return Record(
        float(match["credit"]), match["reason"], names, tuple(line[2:] for line in sentences if not _PLACE.match(line))
    )


def record(number: int, texts: dict[str, str]) -> None:
    """Write these texts, and forget those whose pieces are gone. Several processes may do this at once."""
    file = _file(number)
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(Path(tempfile.gettempdir(), f"{file.stem}.lock")):
        record_texts = recorded(number) | texts
        file.write_text("".join(record_texts.get(piece.name, "") for piece in pieces(number)), encoding="utf-8")


def difference(number: int, texts: dict[str, str]) -> str:
    record_texts = recorded(number)
    before = [line for name in texts for line in record_texts.get(name, "").splitlines(keepends=True)]
    now = [line for text in texts.values() for line in text.splitlines(keepends=True)]
    return "".join(difflib.unified_diff(before, now, "on record", "now", n=1))


def _file(number: int) -> Path:
    return FOLDER / EXERCISES[number].assignment / f"ex{number:02}.txt"


def notebook_with(piece: Piece) -> Any:
    """A notebook with the usual imports and given cells, solutions of earlier exercises, this code, and its test."""
    assignment = EXERCISES[piece.number].assignment
    cells = [cell for cell in source(assignment).cells if cell.cell_type == "code"]
    by_name = {str(cell.metadata.get("nbgrader", {}).get("grade_id")): cell for cell in cells}
    imports = "\n".join(re.findall(r"^(?:import|from) (?:math|torch)\b.*$", by_name["setup"].source, re.MULTILINE))
    given_cells = [cell for name, cell in by_name.items() if name.startswith("given-")]
    earlier = [cell for number, cell in of_notebook(assignment).items() if number < piece.number]
    before, *student_cells = [nbformat.v4.new_code_cell(text) for text in (imports, *earlier, piece.cell)]
    (test,) = (cell for cell in cells if tested_exercise(cell) == piece.number)
    copies = [nbformat.from_dict(cell) for cell in (*given_cells, test)]
    return nbformat.v4.new_notebook(cells=[before, *copies[:-1], *student_cells, copies[-1]])
