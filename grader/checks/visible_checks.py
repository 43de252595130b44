"""Which misconceptions the checks that students see let pass: of those, only the hidden cases tell.

That is no error, since a visible check cannot know everything, but an author wants to know it. The notebook is run as
it is released, solved, in a process of its own; then each misconception stands in the place of the solution for a
moment, and what the check says of it is compared with what it says of the solution.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from grader.classroom.fork_server import preloaded
from grader.course.folder import Course
from grader.model.exercise import Exercise, Misconception, changes_of
from grader.model.label import Label
from grader.notebooks.cells import demos_of, is_test_cell, tested_exercise
from grader.notebooks.solutions import solved

Cells = Sequence[tuple[str, Label | None]]  # what is run, and the exercise that it checks
Passed = tuple[Label, str | None]  # an exercise and its misconception; None where ours cannot stand for a solution


def passed_by_visible_checks(course: Course, compiled: Course, assignment: str) -> list[Passed]:
    """All misconceptions that the check of their exercise takes for right, notebook by notebook."""
    found: list[Passed] = []
    for name in compiled.notebooks("release", assignment):
        release = compiled.read("release", assignment, name)
        demos = demos_of(release)
        cells = [
            (cell.source, tested_exercise(cell) if is_test_cell(cell) else None)
            for cell in solved(release, course.read("source", assignment, name)).cells
            if cell.cell_type == "code" and cell.source not in demos
        ]
        folder = compiled.notebook("release", assignment, name).parent
        with ProcessPoolExecutor(1, preloaded()) as process:
            found += process.submit(_passed, course.root.resolve(), assignment, folder.resolve(), cells).result()
    return found


def _passed(root: Path, assignment: str, folder: Path, cells: Cells) -> list[Passed]:
    torch.set_num_threads(1)  # as where it was started: others would only wait for one another
    exercises = Course(root).exercises(assignment)
    os.environ["MPLBACKEND"] = "agg"
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    passed: list[Passed] = []
    for source, label in cells:
        _said(shell, source)
        if label is not None and label in exercises and source.strip():
            functions = [one for one in exercises[label].functions if one.entry in shell.user_ns]
            passed += [(label, name) for function in functions for name in _unseen(shell, source, function)]
    return passed


def _unseen(shell: Any, source: str, function: Exercise) -> Iterator[str | None]:
    """What the check says the same of as of the solution."""
    solution = shell.user_ns[function.entry]
    right = _said(shell, source)
    shell.user_ns[function.entry] = _holding(function, [])
    can_tell = right is not None and _said(shell, source) == right
    if not can_tell and right is not None:  # that the solution itself does not pass is found elsewhere
        yield None
    for misconception in function.mistakes if can_tell else ():
        shell.user_ns[function.entry] = _holding(function, [misconception])
        if _said(shell, source) == right:
            yield misconception.name
    shell.user_ns[function.entry] = solution


def _holding(function: Exercise, held: Sequence[Misconception]) -> Callable[..., Any]:
    """A student's function or class with just these mistakes: as it is called, and not as it is put to the test."""
    answers = held[0].answers if held else None
    changes = {} if answers else changes_of(held)
    if function.written and not answers:
        made: Callable[..., Any] = function.written.lines.version(changes, function.written.variables)
        return made
    asked, answering = inspect.signature(function.reference), answers or function.reference
    return lambda *inputs, **named: answering(*asked.bind(*inputs, **named).args, **changes)


def _said(shell: Any, source: str) -> object:
    """What a cell shows; None if it stops with an error."""
    with capture_output() as captured:
        result = shell.run_cell(source, silent=False, store_history=False)
    return (captured.stdout, [output.data for output in captured.outputs]) if result.success else None
