"""The file beside a released notebook with which `explain` asks about a student's own code.

It holds the modules that make questions, as texts, and inputs of some cases, drawn from a seed of their own: the sizes
of hidden inputs are no secret, and their numbers are never these.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from grader.explaining.case_inputs import inputs_to_ask_about
from grader.explaining.observed import Draw
from grader.model.exercise import Exercise
from grader.sandbox.nested import leaves, map_leaves

FILE = "own_code.py"
FIRST = "grader.explaining.in_notebook"
PACKAGE = "_own_code"  # in place of `grader`, which may be installed as well
MOST_CASES = 1
DIGITS = 3

_GRADER = Path(__file__).resolve().parent.parent
_HEAD = '''\
"""Questions about your own code, which explain(n) asks. Your code runs here, and nobody else sees the answers.

The modules below are those of the grader, and the inputs are drawn at random.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys

'''
_TAIL = '''

class Modules(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the modules from the texts above."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            return importlib.machinery.ModuleSpec(name, self, is_package=self.is_package(name))
        return None

    def is_package(self, name):
        return any(other.startswith(f"{name}.") for other in MODULES)

    def get_source(self, name):
        return MODULES[name]


sys.meta_path.append(Modules())
in_notebook = importlib.import_module("_own_code.explaining.in_notebook")
'''


def own_code_file(functions: Iterable[Exercise]) -> str:
    """The text of the file for these functions."""
    modules = {name.replace("grader", PACKAGE, 1): text.replace("grader.", f"{PACKAGE}.") for name, text in _modules()}
    inputs = {function.entry: _inputs(function) for function in functions}
    lines = [f"    {name!r}: {text!r},\n" for name, text in sorted(modules.items())]
    draws = [f"    {entry!r}: {json.dumps(cases)!r},\n" for entry, cases in inputs.items() if cases]
    return "".join([_HEAD, "MODULES = {\n", *lines, "}\nINPUTS = {\n", *draws, "}\n", _TAIL])


def _modules() -> Iterator[tuple[str, str]]:
    """The modules that questions need, and empty packages around them."""
    waiting, texts = [FIRST], {}
    while waiting:
        name = waiting.pop()
        if name in texts:
            continue
        texts[name] = _GRADER.joinpath(*name.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8")
        waiting += _imported(texts[name])
    rooms = {name.rpartition(".")[0] for name in texts}
    yield from {**dict.fromkeys(["grader", *rooms], ""), **texts}.items()


def _imported(text: str) -> Iterator[str]:
    """The grader's own modules that a module imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grader."):
            module = str(node.module)
            is_room = _GRADER.joinpath(*module.split(".")[1:]).is_dir()
            yield from (f"{module}.{alias.name}" for alias in node.names) if is_room else [module]


def _inputs(function: Exercise) -> list[list[Any]]:
    """Draws of the best cases, as JSON can hold them; none of cases whose numbers are always the same."""
    random_cases = [draws for draws in inputs_to_ask_about(function) if are_random(draws[0], draws[1])]
    return [list(map(_plain_draw, draws)) for draws in random_cases[:MOST_CASES]]


def are_random(first: Draw, second: Draw) -> bool:
    """Whether two draws of a case have no number with decimals in common."""
    pairs = list(zip(leaves(list(first.arguments)), leaves(list(second.arguments)), strict=False))
    for value, second_value in pairs:
        if isinstance(value, torch.Tensor) and isinstance(second_value, torch.Tensor) and value.is_floating_point():
            is_same = value.shape == second_value.shape and bool((value == second_value).any())
        else:
            is_same = isinstance(value, float) and value == second_value
        if is_same:
            return False
    return any(isinstance(value, torch.Tensor | float) for value, _ in pairs)


def _plain_draw(draw: Draw) -> dict[str, Any]:
    weights = None
    if draw.weights is not None:  # drawn anew in the notebook: they are many, and may be any
        weights = {
            name: [list(weight.shape), _rounded(float(weight.std())) if weight.numel() > 1 else 1.0]
            for name, weight in draw.weights.items()
        }
    return {"arguments": map_leaves(_plain, list(draw.arguments)), "built": list(draw.built), "weights": weights}


def _plain(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    numbers = value.flatten().tolist()
    if value.is_floating_point():
        numbers = list(map(_rounded, numbers))
    return {"type": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "numbers": numbers}


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
