"""What a release must not reveal: solutions, hidden tests, and what the grader knows about the exercises."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions
from traitlets.config import Config

from grader.model.exercise import Exercise
from grader.notebooks.cells import called
from grader.release.token_lines import TokenLine, lines_of

SHOWN = "shown"  # tags a cell whose lines students may see, although a solution has them, too

_TOGETHER = 3  # meaningful lines in a row that give away a solution
_FEWEST = 8  # tokens of a solution with fewer lines; shorter code can be anywhere by chance
_DISTINCT = 20  # tokens that are not chance, even with other lines in between or other names
_PHRASE = 3  # words that are not chance
_SENTENCE = 8  # words of an answer, or of a sentence in it; shorter ones can be anywhere by chance
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"' + r"|'((?:\\.|[^'\\\n])*)'")
_END_OF_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\n")


class Secret(NamedTuple):
    """Lines of tokens, or words, that must not be together in a file of a release, and where they come from."""

    lines: tuple[str, ...]  # with a space around each token; if there are few, all as one line
    in_words: bool
    of: str  # such as "the solution in cell exercise-3"
    quoted: str
    is_distinct: bool = False  # enough to be found with other names, and anything between the lines


class SecretMarks(NamedTuple):
    """How this course marks what students do not get, according to nbgrader's settings."""

    solution: tuple[str, str]
    hidden: tuple[str, str]
    scheme: tuple[str, str]
    stub: str  # the placeholder for an answer in words; an author may have written nothing else

    @classmethod
    def of(cls, config: Config) -> SecretMarks:
        solution, hidden, scheme = (kind(config=config) for kind in (ClearSolutions, ClearHiddenTests, ClearMarkScheme))
        return cls(
            (solution.begin_solution_delimeter, solution.end_solution_delimeter),
            (hidden.begin_test_delimeter, hidden.end_test_delimeter),
            (scheme.begin_mark_scheme_delimeter, scheme.end_mark_scheme_delimeter),
            solution.text_stub,
        )


def spaced(tokens: Iterable[str]) -> str:
    return f" {' '.join(tokens)} "


def words_of(text: str) -> str:
    return spaced(re.findall(r"\w+", text.lower()))


def secrets_of_cells(cells: Sequence[NotebookNode], marks: SecretMarks) -> Iterator[Secret]:
    """Solutions, hidden tests with the texts in them, and mark schemes."""
    for cell in cells:
        name = called(cell)
        for code in _parted(cell.source, marks.hidden)[0]:
            yield from _code(code, f"the hidden test in cell {name}")
            yield from (_words(one or other, f"a text of the hidden test in cell {name}", _PHRASE)
                        for one, other in _STRING.findall(code))  # fmt: skip
        for text in _parted(cell.source, marks.scheme)[0]:
            yield from _sentences(text, f"the mark scheme in cell {name}")
    yield from secrets_of_solutions(cells, marks)


def secrets_of_solutions(cells: Iterable[NotebookNode], marks: SecretMarks) -> Iterator[Secret]:
    for cell in cells:
        of = f"the solution in cell {called(cell)}"
        for text in _solutions(cell, marks):
            yield from _code(text, of) if cell.cell_type == "code" else _sentences(text, of)


def _solutions(cell: NotebookNode, marks: SecretMarks) -> list[str]:
    """What nbgrader removes from a cell: marked regions, or all of a solution cell that has none."""
    found, _ = _parted(cell.source, marks.solution)
    settings = cell.metadata.get("nbgrader", {})
    is_whole = not found and settings.get("solution", False) and cell.source.strip() != marks.stub.strip()
    return [cell.source] if is_whole else found


def secrets_of_exercise(exercise: Exercise) -> Iterator[Secret]:
    """What the grader knows about one function of an exercise."""
    number = exercise.number
    yield from _function(exercise.reference, f"the reference of exercise {number}")
    for case in exercise.cases:
        yield _words(case.catches, f"what a case of exercise {number} catches", _PHRASE)


def shown_by_an_author(cells: Iterable[NotebookNode], marks: SecretMarks) -> list[str]:
    """The texts of cells tagged as shown. What nbgrader removes or grades cannot be shown."""
    return [
        _parted(_parted(cell.source, marks.solution)[1], marks.hidden)[1]
        for cell in cells
        if SHOWN in cell.metadata.get("tags", [])
        and not any(cell.metadata.get("nbgrader", {}).get(key) for key in ("solution", "grade"))
    ]


# --- pieces that give away the whole --------------------------------------------------------------------------------


def _function(function: Callable[..., object], of: str) -> Iterator[Secret]:
    with contextlib.suppress(OSError, TypeError):  # it is not written in Python, or has no file
        yield from _code(_source(function), of)


@functools.cache
def _source(function: Callable[..., object]) -> str:
    return inspect.getsource(function)


def _code(code: str, of: str) -> Iterator[Secret]:
    """Every three meaningful lines in a row; all, if there are fewer. Short ones count with everything in between."""
    lines = lines_of(code)
    telling = [index for index, line in enumerate(lines) if line.says_something]
    starts = range(max(1, len(telling) - _TOGETHER + 1))
    for chosen in (telling[start : start + _TOGETHER] for start in starts):
        parts = [lines[index].tokens for index in chosen]
        if sum(map(len, parts)) >= _DISTINCT:
            yield Secret(tuple(map(spaced, parts)), False, of, _quoted(code, lines[chosen[0]]), True)
        elif chosen:
            together = [token for line in lines[chosen[0] : chosen[-1] + 1] for token in line.tokens]
            if len(together) >= _FEWEST:
                yield Secret((spaced(together),), False, of, _quoted(code, lines[chosen[0]]))


def _quoted(code: str, line: TokenLine) -> str:
    return code.splitlines()[line.number - 1].strip()


def _sentences(text: str, of: str) -> Iterator[Secret]:
    """An answer in words: all of it, and each longer sentence."""
    yield _words(text, of, _SENTENCE)
    yield from (_words(sentence, of, _SENTENCE) for sentence in _END_OF_SENTENCE.split(text))


def _words(text: str, of: str, fewest: int) -> Secret:
    words = words_of(text)
    return Secret((words,) if len(words.split()) >= fewest else (), True, of, " ".join(text.split()))


def _parted(text: str, marks: tuple[str, str]) -> tuple[list[str], str]:
    """The regions between marks, and the lines outside. Without the second mark, a region goes to the end."""
    regions: list[list[str]] = []
    outside: list[str] = []
    into = outside
    for line in text.split("\n"):
        if marks[0] in line:
            regions.append(into := [])
        elif marks[1] in line:
            into = outside
        else:
            into.append(line)
    return ["\n".join(region) for region in regions], "\n".join(outside)
