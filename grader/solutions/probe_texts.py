"""The text of a probe, as it goes to the sandbox: the function, and what it uses of its course's files."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from grader.errors import CourseError
from grader.sandbox.plain_text import listed
from grader.sandbox.probes import HELPERS, MODULES, PROBE, compile_probe
from grader.solutions.lines import Solution, text_of_module

_AVAILABLE = (
    f"A probe has {listed(MODULES)}; {listed(HELPERS)} of `grader`; and functions, classes, numbers and texts at the "
    "top of the course's files."
)


class ProbeError(CourseError):
    """A probe cannot run in the sandbox."""


class ProbeText:
    """The text of a probe, and the values that it is made of."""

    def __init__(self, probe: Solution) -> None:
        if not isinstance(probe, FunctionType):
            raise ProbeError("`probe` should be a function at the top of a file of the course.")
        self.values: dict[str, object] = {}  # by name
        self._probe = probe
        self._texts: list[str] = []
        self._add(probe.__name__, probe)
        self.text = "\n\n".join([*self._texts, f"{PROBE} = {probe.__name__}\n"])

    def _add(self, name: str, value: object) -> None:
        """Add a value, after those that it uses."""
        if name in self.values:
            if self.values[name] is not value:
                raise self._error(f"uses two things called `{name}`. Rename one of them.")
            return
        self.values[name] = value
        if isinstance(value, FunctionType | type) and self._is_of_course(value):
            self._texts.append(self._define(name, value))
            return
        expression = _find_expression(value)
        if not expression:
            raise self._error(f"uses `{name}`, which is not there in the sandbox. {_AVAILABLE}")
        if expression != name:
            self._texts.append(f"{name} = {expression}")

    def _is_of_course(self, value: FunctionType | type) -> bool:
        """Whether it is from the file of the probe, or from another one in its folder or below."""
        folder = self._probe.__module__.rpartition(".")[0]
        is_in_folder = folder != "" and value.__module__.startswith(f"{folder}.")
        return is_in_folder or value.__module__ == self._probe.__module__

    def _define(self, name: str, value: FunctionType | type) -> str:
        """The text of a function or class, after adding what it uses."""
        node = _definitions(text_of_module(value.__module__)).get(name)
        if node is None or value.__name__ != name:
            raise self._error(f"uses `{name}`, which is not defined by this name at the top of a file.")
        text = ast.unparse(node)
        variables = vars(sys.modules[value.__module__])
        for used_name in dict.fromkeys(self._names_read(text)):
            if used_name in variables:
                self._add(used_name, variables[used_name])
            elif not hasattr(builtins, used_name):
                raise self._error(f"uses `{used_name}`, which nothing defines. {_AVAILABLE}")
        return text

    def _names_read(self, text: str) -> Iterator[str]:
        """The names that a definition reads from outside. Annotations do not count, since nothing evaluates them."""
        waiting = [compile_probe(text)]
        while waiting:
            code = waiting.pop()
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            bound_names = {"__name__"}
            for instruction in dis.get_instructions(code):
                match instruction.opname:
                    case "IMPORT_NAME":
                        raise self._error(f"imports `{instruction.argval}` itself. Import at the top of the file.")
                    case "STORE_NAME":
                        bound_names.add(instruction.argval)
                    case "LOAD_GLOBAL" | "LOAD_NAME" | "LOAD_FROM_DICT_OR_GLOBALS":
                        if instruction.argval not in bound_names:
                            yield instruction.argval

    def _error(self, problem: str) -> ProbeError:
        return ProbeError(f"its probe `{self._probe.__name__}` {problem}")


@functools.lru_cache
def _definitions(text: str) -> Mapping[str, ast.stmt]:
    """The functions and classes at the top of a file, by name."""
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _find_expression(value: Any) -> str:
    """What a value is called in the sandbox, or how a number or a text is written; empty if it is something else."""
    name = getattr(value, "__name__", "")
    if HELPERS.get(name) is value:
        return name
    path = name if isinstance(value, ModuleType) else f"{getattr(value, '__module__', '')}.{name}"
    if name and _find(path) is value:
        return path
    try:
        literal = ast.literal_eval(repr(value))
    except (SyntaxError, ValueError):
        return ""
    return repr(value) if type(literal) is type(value) and literal == value else ""


def _find(path: str) -> object:
    """What the sandbox has under a name with dots; None if it has nothing."""
    first, *names = path.split(".")
    value: object = MODULES.get(first)
    for name in names:
        value = getattr(value, name, None)
    return value
