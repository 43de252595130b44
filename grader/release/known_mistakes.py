"""The table by which the visible checks of a released notebook recognize known mistakes: grader/kit/recognizing.py.

Each mistake of an exercise is tried on the examples of its check, whose inputs and right results students see. The
table holds a few figures of what came out, and what students read about the mistake: no code, and no hidden input.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from grader.course.folder import Course
from grader.host.machine import in_little_memory
from grader.kit import module_examples, piece_examples, recognizing, visible_examples
from grader.kit.checking import Checks, Entry
from grader.kit.recognizing import TABLE, Figures, FiguresByExample, KnownFigures, close, figures_in, fits
from grader.model.exercise import Exercise
from grader.model.misconception import Misconception
from grader.notebooks.modules_beside import imports_name
from grader.sandbox.nested import in_double, map_tensors

FILE = f"{TABLE}.py"
_EXAMPLES = visible_examples, piece_examples, module_examples
_OURS = [Path(each.__file__ or "") for each in (*_EXAMPLES, recognizing, sys.modules[__name__])]
_ROOM = 2 << 30  # bytes of memory: some mistakes compare all words of a class with one another
_SAME = 1e-5  # of the size of the numbers: figures so near are written once
_HEAD = """\
# What known mistakes give on the examples of these checks, so that a check can say which it sees. For each function:
# the places of its right figures, and each mistake with its own. See recognizing.py. Made anew when something of this
# is different:
# """


def table_for(course: Course, assignment: str) -> bytes | None:
    """The table's text; None if no module beside the notebooks in source/ has checks.

    It takes many seconds to make, so the one in release/ is taken if it was made of the same checks and exercises.
    """
    source = course.folder("source") / assignment
    texts = {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in sorted(source.glob("*.py"))}
    modules = tuple(name for name, text in texts.items() if imports_name(text, "Checks", r"grader\.kit\.checking"))
    if not modules:
        return None
    made_of = json.dumps([texts, course.exercise_files.digest, [path.read_text() for path in _OURS]])
    former = course.folder("release") / assignment / FILE
    head, _, table = former.read_text(encoding="utf-8").partition("\n\n") if former.is_file() else ("", "", "")
    if head != _head(made_of, table):
        table = _make_table(course.root, assignment, source, modules, made_of)
        head = _head(made_of, table)
    return f"{head}\n\n{table}".encode()


@functools.lru_cache(maxsize=4)  # it is asked for with each notebook, and a release is compiled twice
def _make_table(root: Path, assignment: str, source: Path, modules: Sequence[str], made_of: str) -> str:  # noqa: ARG001
    """Made in a process of its own: mistakes may leave anything behind, or take all memory."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_table, root, assignment, source, modules).result()


def _head(made_of: str, table: str) -> str:
    return _HEAD + hashlib.sha256(f"{made_of}{table}".encode()).hexdigest()[:16]


def _table(root: Path, assignment: str, source: Path, modules: Sequence[str]) -> str:
    torch.set_num_threads(1)
    functions = {
        (label, function.entry): function
        for label, exercise in Course(root).exercises(assignment).items()
        for function in exercise.functions
    }
    sys.path.insert(0, str(source))
    checks = {id(item): item for name in modules for item in vars(importlib.import_module(name)).values()}
    entries = [entry for item in checks.values() if isinstance(item, Checks) for entry in item.entries]
    with in_little_memory(_ROOM) if platform.system() == "Linux" else contextlib.nullcontext():
        known_by_name = {
            entry.name: _known_of(entry, functions[entry.exercise, entry.name])
            for entry in entries
            if (entry.exercise, entry.name) in functions
        }
    return _table_text(known_by_name)


def _known_of(entry: Entry, function: Exercise) -> KnownFigures:
    right = _figures(entry, function)
    mistakes = [(mistake.says, _figures(entry, function, mistake)) for mistake in function.mistakes]
    return KnownFigures(right, [(says, figures) for says, figures in mistakes if fits(figures, figures, right)])


def _figures(entry: Entry, function: Exercise, *mistakes: Misconception) -> FiguresByExample:
    """The figures, in float64 where that makes no difference: on any machine, those are the same."""
    code = function.holding(mistakes)
    as_usual = figures_in(entry.examples, code, entry.name)
    precise = figures_in(entry.examples, code, entry.name, _double)
    pairs = zip(as_usual, precise, strict=True)
    return [list(map(_either, *pair)) if len(pair[0]) == len(pair[1]) else pair[0] for pair in pairs]


def _either(usual: Figures, precise: Figures) -> Figures:
    return precise if close(usual, precise) else usual


def _double(item: object) -> object:
    return item.double() if isinstance(item, torch.nn.Module) else map_tensors(in_double, item)


class _Figures:
    """The figures of all calls of a table, each of them once: many calls give the same."""

    def __init__(self) -> None:
        self.figures: list[Figures] = []
        self._places: dict[object, list[int]] = {}  # by form, or by all that is known of a call without numbers

    def places_of(self, figures: FiguresByExample) -> list[list[int]]:
        return [list(map(self._place, calls)) for calls in figures]

    def _place(self, call: Figures) -> int:
        places = self._places.setdefault(call[3] if isinstance(call, tuple) else (call,), [])
        for place in places:
            if _are_one(self.figures[place], call):
                return place
        places.append(len(self.figures))
        self.figures.append(call)
        return places[-1]


def _are_one(left: Figures, right: Figures) -> bool:
    """Whether figures differ in their last digit at most, as they may by the processor."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return all(abs(a - b) <= _SAME * left[0] for a, b in zip(left[:3], right[:3], strict=True))
    return left == right


def _table_text(known_by_name: Mapping[str, KnownFigures]) -> str:
    figures = _Figures()
    lines = ["KNOWN = [\n"]
    for name, (right, mistakes) in known_by_name.items():
        lines.append(f"    ({name!r}, {_compact(figures.places_of(right))}, [\n")
        lines += [f"        ({says!r}, {_compact(figures.places_of(mistaken))}),\n" for says, mistaken in mistakes]
        lines.append("    ]),\n")
    return "".join(["FIGURES = [\n", *(f"    {call!r},\n" for call in figures.figures), "]\n", *lines, "]\n"])


def _compact(places: list[list[int]]) -> str:
    return repr(places).replace(" ", "")
