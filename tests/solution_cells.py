"""Run solution cells in this process, as a notebook would, and put cases to the functions that they define."""

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
from types import FrameType
from typing import Any

import nbformat
import numpy as np
import torch

from grader.answer import Answer, Lost, Raised, Returned
from grader.assemble import solutions
from grader.exercise import Inputs
from grader.exercises import notebook_data
from grader.sandbox import wire

MOST_MEMORY = 2**30  # bytes beyond what the test process holds
CELL = "cell"  # the file name of code from a cell

ROOT = Path(__file__).parent.parent


def corpus(number: int, kind: str = "right") -> dict[str, str]:
    """Solutions of the corpus by style."""
    folder = ROOT / f"tests/corpus/self_attention/ex{number:02}" / kind
    return {path.stem: path.read_text() for path in sorted(folder.glob("*.py"))}


@functools.cache
def from_notebook() -> dict[int, str]:
    return solutions(nbformat.read(ROOT / "source/self_attention/self_attention.ipynb", 4))


def notebook(number: int) -> dict[str, Any]:
    """What a solution cell finds defined: imports, given data and helpers, right functions of earlier exercises."""
    names = ["W_q", "W_k", "W_v", "b_q", "b_k", "b_v"]
    given = {
        "torch": torch,
        "math": math,
        "np": np,
        "F": torch.nn.functional,
        "N": notebook_data.N,
        "D": notebook_data.D,
        "all_x": notebook_data.words(),
        **dict(zip(names, notebook_data.weights(), strict=True)),
        "softmax_cols": lambda scores: torch.softmax(scores, dim=0),
        "multi_head_softmax_cols": lambda scores: torch.softmax(scores, dim=-2),
        "__name__": "__main__",
    }
    for earlier in range(1, number):
        define(from_notebook()[earlier], given)
    return given


def define(source: str, namespace: dict[str, Any]) -> None:
    """Run a cell, without the __future__ imports of this file."""
    exec(compile(source, CELL, "exec", dont_inherit=True), namespace)


def run(source: str, entry: str, given: dict[str, Any], steps: int = 10**6) -> Callable[[Inputs], Answer]:
    """The function that the source defines, as something to put cases to; stopped after `steps` lines."""
    namespace = dict(given)
    try:
        define(source, namespace)
        function = namespace[entry]
    except Exception as error:
        failure = Raised(type(error).__name__)
        return lambda _inputs: failure

    hung: list[Answer] = []

    def ask(inputs: Inputs) -> Answer:
        if hung:  # code that never ends is not asked again
            return hung[0]
        copy = wire.decode(*wire.encode(list(inputs)))
        try:
            with stopped_after(steps):
                value, after = wire.decode(*wire.encode([function(*copy), copy]))
        except TimeoutError:
            hung.append(Lost("too long"))
            return hung[0]
        except Exception as error:
            return Raised(type(error).__name__)
        return Returned(value, after)

    return ask


@contextlib.contextmanager
def stopped_after(steps: int) -> Iterator[None]:
    """TimeoutError after so many lines of the cell. Counted, since a signal would also strike other people's code."""
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
    """One thread, nothing printed, no warnings, a bound on memory."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    # A loop that collects without end fills the machine's memory long before its time is up.
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MOST_MEMORY, hard))
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        torch.set_num_threads(threads)
