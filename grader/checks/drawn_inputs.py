"""Find hidden cases whose inputs depend on more than their generator: the same code could earn other points next time.

Inputs are drawn twice, with the global generators in different states, and once more in another process, where the
elements of a set have another order.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

from grader.checks.exercise_checks import ExerciseProblem, problem_of
from grader.course.loading import load
from grader.errors import CourseError
from grader.model.exercise import Exercise, NotDrawn
from grader.model.exercise_files import ExerciseFiles, location_of_code
from grader.sandbox.decoder import plain
from grader.sandbox.tables import Table, is_table

Traces = Mapping[str, list[str]]  # digests of the inputs, by case

_WAY_OUT = "Draw everything random from `rng`, and let nothing depend on the time or on the order of a set."


def problems_of_drawing(
    files: ExerciseFiles, assignment: str, functions: Sequence[Exercise]
) -> Iterator[ExerciseProblem]:
    """At most one problem per case. If a function has a case that cannot be drawn, only that is reported."""
    draws_of: dict[Exercise, list[Traces]] = {}
    for function in functions:
        try:
            draws_of[function] = [traces(function, seed) for seed in (0, 1)]
        except NotDrawn as error:
            yield problem_of(function, [error.case], error.problem, error.way_out)
    traces_elsewhere = _traces_elsewhere(files, assignment) if draws_of else {}
    for function, draws in draws_of.items():
        if _name(function) in traces_elsewhere:
            draws.append(traces_elsewhere[_name(function)])
        for case in function.cases:
            if any(draw[case.name] != draws[0][case.name] for draw in draws):
                location = location_of_code(case.inputs)
                description = "the same seed gives different inputs each time"
                if location:
                    description += f" ({location})"
                yield problem_of(function, [case.name], description, _WAY_OUT)


def _name(function: Exercise) -> str:
    return f"{function.label}, {function.entry}"


def traces(function: Exercise, elsewhere: int = 0) -> Traces:
    """Digests of the inputs, by case. `elsewhere` seeds the global generators."""
    digests: dict[str, list[str]] = {}
    for sampled in function.sample(elsewhere=elsewhere):
        text = _trace(sampled.inputs)
        digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
        digests.setdefault(sampled.case.name, []).append(digest)
    return digests


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
        entries = [f"{_trace(key)}: {_trace(element)}" for key, element in value.items()]
        return f"{{{', '.join(entries)}}}"
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


def _traces_elsewhere(files: ExerciseFiles, assignment: str) -> Mapping[str, Traces]:
    """The traces by exercise and function, drawn in another process."""
    process = subprocess.run(
        [sys.executable, "-m", "grader.checks.drawn_inputs"],
        input=pickle.dumps((files, assignment)),  # only our own process reads it
        env={**os.environ, "PYTHONHASHSEED": "random"},
        capture_output=True,
        check=False,
    )
    if process.returncode:
        lines = process.stderr.decode(errors="replace").strip().splitlines() or ["it does not say why"]
        raise CourseError(f"The inputs of {assignment} cannot be drawn in another process: {lines[-1]}")
    traces_by_name: dict[str, Traces] = json.loads(process.stdout)
    return traces_by_name


def _draw() -> None:
    files, assignment = pickle.loads(sys.stdin.buffer.read())
    torch.set_num_threads(1)
    traces_by_name: dict[str, Traces] = {}
    with contextlib.redirect_stdout(sys.stderr):  # exercise files may print
        for exercise in load(files, checked=True).of(assignment).values():
            for function in exercise.functions:
                with contextlib.suppress(NotDrawn):
                    traces_by_name[_name(function)] = traces(function)
    print(json.dumps(traces_by_name))  # noqa: T201  the parent process reads it


if __name__ == "__main__":
    _draw()
