"""Find hidden cases whose inputs depend on more than their generator: the same code could earn other points next time.

Inputs are drawn twice, with the global generators in different states. Where the order of a set may matter, which
differs from process to process, they are drawn in other processes, too.
"""

from __future__ import annotations

import contextlib
import dis
import hashlib
import inspect
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import CellType, CodeType
from typing import Any

import numpy as np
import torch

from grader.checks.exercise_checks import ExerciseProblem, problem_of
from grader.course.loading import load
from grader.errors import CourseError
from grader.model.exercise import Exercise, NotDrawn
from grader.model.exercise_files import ExerciseFiles, place_of_code
from grader.sandbox.decoder import plain
from grader.sandbox.tables import Table, is_table

ORDERS = (1, 2, 3)  # values of PYTHONHASHSEED
_IN_NO_ORDER = ("set", "frozenset", "hash", "id")  # these differ from process to process
_WAY_OUT = "Draw everything random from `rng`, and let nothing depend on the time or on the order of a set."


def problems_of_drawing(
    files: ExerciseFiles, assignment: str, functions: Sequence[Exercise]
) -> Iterator[ExerciseProblem]:
    """At most one problem per case. If a function has a case that cannot be drawn, only that is reported."""
    drawn, soundly = {}, []
    for function in functions:
        try:
            drawn[function] = [traces(function, elsewhere) for elsewhere in (0, 1)]
            soundly.append(function)
        except NotDrawn as error:
            yield problem_of(function, [error.case], error.what, error.way_out)
    if any(_order_may_matter(case.inputs, set()) for function in soundly for case in function.cases):
        for found in _elsewhere(files, assignment):
            for function in soundly:
                drawn[function].append(found.get(f"{function.label}, {function.entry}", drawn[function][0]))
    for function in soundly:
        for case in function.cases:
            if any(other[case.name] != drawn[function][0][case.name] for other in drawn[function]):
                at = place_of_code(case.inputs)
                what = f"the same seed gives different inputs each time{at and f' ({at})'}"
                yield problem_of(function, [case.name], what, _WAY_OUT)


def traces(function: Exercise, elsewhere: int = 0) -> dict[str, list[str]]:
    """Digests of the inputs, by case. `elsewhere` seeds the global generators."""
    found: dict[str, list[str]] = {}
    for sampled in function.sample(elsewhere=elsewhere):
        text = _trace(sampled.inputs)
        found.setdefault(sampled.case.name, []).append(hashlib.sha256(text.encode(errors="replace")).hexdigest())
    return found


def _trace(value: object) -> str:
    """A text that differs when the value differs. If values cannot be compared, it is just their type."""
    if isinstance(value, torch.Tensor) and value.layout is torch.strided:
        content = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
        return f"{value.dtype} {tuple(value.shape)} {hashlib.sha256(content.numpy().tobytes()).hexdigest()}"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.ndarray):
        return _trace(value.tolist())
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_trace(key)}: {_trace(item)}' for key, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_trace, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"set({', '.join(sorted(map(_trace, value)))})"
    if is_table(value):
        return _trace(plain(value))
    if isinstance(value, Table):
        columns = [[column.name, column.cells] for column in (value.index, *value.columns)]
        return _trace([value.is_series, *columns])
    is_simple = value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))
    return repr(value) if is_simple else type(value).__qualname__


def _order_may_matter(function: Any, seen: set[int]) -> bool:
    """Whether a function, or what it calls in the same files, holds anything that differs from process to process."""
    function = inspect.unwrap(getattr(function, "func", function))
    if id(function) in seen or not place_of_code(function):
        return False
    seen.add(id(function))
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    codes = [*_codes(function.__code__)]
    named = [function.__globals__[name] for code in codes for name in code.co_names if name in function.__globals__]
    return any(map(_has_no_order, codes)) or any(_order_may_matter(one, seen) for one in [*held, *named])


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that are nested in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _has_no_order(code: CodeType) -> bool:
    makes_a_set = any(step.opname in ("BUILD_SET", "SET_ADD") for step in dis.get_instructions(code))
    holds_a_set = any(isinstance(one, frozenset) for one in code.co_consts)
    return makes_a_set or holds_a_set or bool({*_IN_NO_ORDER} & {*code.co_names})


def _elsewhere(files: ExerciseFiles, assignment: str) -> list[Mapping[str, dict[str, list[str]]]]:
    """The traces by exercise and function, drawn in other processes."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "grader.checks.drawn_inputs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": str(order)},
        )
        for order in ORDERS
    ]
    question = pickle.dumps((files, assignment))  # only our own process reads it
    found = []
    for process in processes:
        answer, said = process.communicate(question)
        if process.returncode:
            last = (said.decode(errors="replace").strip().splitlines() or ["it does not say why"])[-1]
            raise CourseError(f"The inputs of {assignment} cannot be drawn in another process: {last}")
        found.append(json.loads(answer))
    return found


def _draw() -> None:
    files, assignment = pickle.loads(sys.stdin.buffer.read())
    torch.set_num_threads(1)
    found: dict[str, dict[str, list[str]]] = {}
    with contextlib.redirect_stdout(sys.stderr):  # exercise files may print
        for exercise in load(files, checked=True).of(assignment).values():
            for function in exercise.functions:
                with contextlib.suppress(NotDrawn):
                    found[f"{function.label}, {function.entry}"] = traces(function)
    print(json.dumps(found))  # noqa: T201  the parent process reads it


if __name__ == "__main__":
    _draw()
