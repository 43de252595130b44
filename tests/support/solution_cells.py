"""Run solution cells in this process, as a notebook would, and put cases to their functions."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import nbformat
import numpy as np
import torch

from grader.model.answer import Answer, Loss, Lost, Raised, Returned
from grader.model.exercise import Exercise, Inputs
from grader.notebooks.cells import solutions
from grader.sandbox.forms import decode_value, encode_value, put_case
from grader.sandbox.probes import load_probe
from grader.solutions.chance import same_chance
from support.our_course import ASSIGNMENTS, EXERCISES
from support.places import ROOT

MOST_MEMORY = 2**30  # bytes, beyond those of the test process
CELL = "cell"  # the file name of code from a cell


@functools.cache
def source(assignment: str) -> Any:
    return nbformat.read(ROOT / f"source/{assignment}/{assignment}.ipynb", 4)


@functools.cache
def from_notebook() -> dict[int, str]:
    """The solutions in all notebooks, by exercise."""
    return {number: cell for name in ASSIGNMENTS for number, cell in of_notebook(name).items()}


def of_notebook(assignment: str) -> dict[int, str]:
    """The solutions in one notebook, by exercise."""
    return {int(number): cell for number, cell in solutions(source(assignment)).items()}


def notebook(number: int) -> dict[str, Any]:
    """The names that a solution cell can use: imports, given data and helpers, and solutions of earlier exercises."""
    assignment = EXERCISES[number].assignment
    cells = {str(cell.metadata.get("nbgrader", {}).get("grade_id")): cell.source for cell in source(assignment).cells}
    earlier = [int(one) for one in solutions(source(assignment)) if int(one) < number]
    namespace: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math, "np": np}
    namespace["__name__"] = "__main__"
    state = torch.get_rng_state()
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in [
            *(cells[name] for name in cells if name.startswith("given-")),
            *(from_notebook()[one] for one in earlier),
        ]:
            define(cell, namespace)
    torch.set_rng_state(state)
    return namespace


def define(source: str, namespace: dict[str, Any]) -> None:
    """Run a cell, without the __future__ imports of this file."""
    exec(_compiled(source), namespace)


@functools.lru_cache(maxsize=64)
def _compiled(source: str) -> CodeType:
    return compile(source, CELL, "exec", dont_inherit=True)


def functions(number: int) -> dict[int | str, Exercise]:
    """All functions of an exercise: the first by its number, any others by their names."""
    first, *others = EXERCISES[number].functions
    return {number: first} | {other.entry: other for other in others}


def run(source: str, exercise: Exercise, given: dict[str, Any], steps: int = 10**6) -> Callable[[Inputs], Answer]:
    """A function that puts cases to a source's function for an exercise, each stopped after `steps` lines."""
    namespace = given | {"print": _print_nothing}  # saves formatting tensors
    try:
        define(source, namespace)
        entry = namespace[exercise.entry]
    except Exception as error:
        failure = Raised(type(error).__name__)
        return lambda _inputs: failure
    hung: list[Answer] = []

    def ask(inputs: Inputs) -> Answer:
        if hung:  # do not ask endless code again
            return hung[0]
        copy = of_its_own(list(inputs))
        try:
            with stopped_after(steps), same_chance():  # as in the sandbox, where each answer has the same seed
                value = put(exercise, entry, copy)
            tree, tensors = encode_value(exercise.form.name, value)
        except TimeoutError:
            hung.append(Lost(Loss.TIME))
            return hung[0]
        except Exception as error:
            return Raised(type(error).__name__)
        return Returned(decode_value(exercise.form.name, tree, tensors), copy)

    return ask


def put(exercise: Exercise, entry: Any, inputs: Inputs | list[Any]) -> Any:
    """Put a case to code, as the sandbox does."""
    probe = load_probe(exercise.probe_text) if exercise.probe_text else None
    return put_case(exercise.form.name, entry, inputs, probe)


def _print_nothing(*_values: object, **_options: object) -> None: ...


def of_its_own(value: Any) -> Any:
    """A copy of inputs, as a sandbox gets them."""
    if isinstance(value, torch.Tensor):
        return value.clone(memory_format=torch.contiguous_format)
    if isinstance(value, dict):
        return {name: of_its_own(item) for name, item in value.items()}
    return type(value)(map(of_its_own, value)) if isinstance(value, list | tuple) else value


@contextlib.contextmanager
def stopped_after(steps: int) -> Iterator[None]:
    """Raise TimeoutError after this many lines of the cell; a signal could also hit code outside of it."""
    left = steps

    def count(frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != CELL:
            return None
        left -= 1
        if left < 0:
            raise TimeoutError
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """One thread, no output, no warnings, and a limit on memory."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    # An endless loop that collects something would fill the machine's memory before it times out.
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MOST_MEMORY, hard))
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        torch.set_num_threads(threads)
