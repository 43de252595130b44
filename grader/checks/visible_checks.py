"""Find out what the visible checks say about each misconception: those that pass are caught by hidden cases only.

That is no error, since a visible check cannot catch everything, but authors want to know. The released notebook is
run with its solutions in a separate process. Then each misconception briefly replaces the solution, and the check's
output for it is compared with its output for the solution.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from grader.classroom.fork_server import preloaded
from grader.course.folder import Course
from grader.model.exercise import Exercise
from grader.model.label import Label
from grader.notebooks.cells import demos_of, is_test_cell, solved, tested_exercise


class Noticed(StrEnum):
    """What a visible check makes of a misconception."""

    NAMED = "named"  # it says what students read about the misconception
    SEEN = "seen"  # it says something else is wrong
    PASSED = "passed"
    UNKNOWN = "unknown"  # for even our own solution does not pass as the notebook's does


class CheckedMistake(NamedTuple):
    label: Label
    misconception: str
    noticed: Noticed


class _CodeCell(NamedTuple):
    """A cell of code, and the exercise it checks, if any."""

    source: str
    label: Label | None


def noticed_by_visible_checks(course: Course, compiled: Course, assignment: str) -> list[CheckedMistake]:
    """What the check of each exercise makes of its misconceptions, notebook by notebook."""
    mistakes: list[CheckedMistake] = []
    for name in compiled.notebooks("release", assignment):
        release = compiled.read("release", assignment, name)
        demos = demos_of(release)
        cells: list[_CodeCell] = []
        for cell in solved(release, course.read("source", assignment, name)).cells:
            if cell.cell_type == "code" and cell.source not in demos:
                cells.append(_CodeCell(cell.source, tested_exercise(cell) if is_test_cell(cell) else None))
        folder = compiled.notebook("release", assignment, name).parent
        with ProcessPoolExecutor(1, preloaded()) as process:
            arguments = (course.root.resolve(), assignment, folder.resolve(), cells)
            mistakes += process.submit(_run_notebook, *arguments).result()
    return mistakes


def _run_notebook(root: Path, assignment: str, folder: Path, cells: Sequence[_CodeCell]) -> list[CheckedMistake]:
    torch.set_num_threads(1)  # as in the parent process: more threads would only wait for each other
    exercises = Course(root).exercises(assignment)
    os.environ["MPLBACKEND"] = "agg"
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    mistakes: list[CheckedMistake] = []
    for source, label in cells:
        _run(shell, source)
        if label is not None and label in exercises and source.strip():
            for function in exercises[label].functions:
                if function.entry in shell.user_ns:
                    mistakes += _check_mistakes(shell, source, label, function)
    return mistakes


def _check_mistakes(shell: InteractiveShell, source: str, label: Label, function: Exercise) -> Iterator[CheckedMistake]:
    """The misconceptions of a function, and what its check makes of them."""
    solution = shell.user_ns[function.entry]
    right = _run(shell, source)
    if right.display is None:  # a solution that fails its check is reported elsewhere
        return
    shell.user_ns[function.entry] = function.holding()
    if _run(shell, source).display != right.display:
        yield CheckedMistake(label, "", Noticed.UNKNOWN)
    else:
        for misconception in function.mistakes:
            shell.user_ns[function.entry] = function.holding([misconception])
            output = _run(shell, source)
            if output.display == right.display:
                noticed = Noticed.PASSED
            elif " ".join(misconception.says.split()) in output.words:
                noticed = Noticed.NAMED
            else:
                noticed = Noticed.SEEN
            yield CheckedMistake(label, misconception.name, noticed)
    shell.user_ns[function.entry] = solution


@dataclass(frozen=True)
class _Output:
    """What a cell shows."""

    display: object  # None if it raises an error
    words: str


def _run(shell: Any, source: str) -> _Output:
    with capture_output() as captured:
        result = shell.run_cell(source, silent=False, store_history=False)
    display = (captured.stdout, [output.data for output in captured.outputs]) if result.success else None
    return _Output(display, " ".join(f"{captured.stdout} {captured.stderr}".split()))
