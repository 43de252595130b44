"""A student's definitions as text and as syntax tree, and where in the text each part of the tree is."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

MAX_SOURCE = 20_000  # characters of a cell that is read; a whole notebook of the course has as many

MAGIC = re.compile(r"^[ \t]*[%!?].*$", re.MULTILINE)  # lines that are for IPython
_LINE_END = re.compile(r"\r\n?|\n")

Function = ast.FunctionDef | ast.AsyncFunctionDef

# Expressions that need no parentheses.
_HOLDS_TOGETHER = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.List | ast.Dict


class Splice(NamedTuple):
    """Bytes of a text, and what replaces them."""

    start: int
    end: int
    text: str


class StudentText:
    """The functions and classes of a cell. All else that it does was done when it ran."""

    def __init__(self, source: str) -> None:
        """Parse a cell; raises SyntaxError or ValueError if it cannot be read."""
        if len(source) > MAX_SOURCE:
            raise ValueError("too long")
        self.source = MAGIC.sub("", source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes in strings, which are the student's affair
            self.tree = ast.parse(self.source)
        self.bytes = self.source.encode()
        self.lines = _LINE_END.split(self.source)  # as Python counts lines

    @cached_property
    def definitions(self) -> list[ast.stmt]:
        return [node for node in self.tree.body if _defines(node)]

    @cached_property
    def functions(self) -> list[tuple[Function, ast.ClassDef | None]]:
        """All functions that have a name of their own, and the class that each is a method of."""
        functions: list[tuple[Function, ast.ClassDef | None]] = []
        for node in self.definitions:
            if isinstance(node, Function):
                functions.append((node, None))
            elif isinstance(node, ast.ClassDef):
                functions += [(member, node) for member in node.body if isinstance(member, Function)]
        return functions

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a statement or an expression begins and ends."""
        assert isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword)
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def of(self, node: ast.AST) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.bytes[start:end].decode()

    def operand(self, node: ast.expr) -> str:
        """The text to write before a point or a bracket."""
        return self.of(node) if isinstance(node, _HOLDS_TOGETHER) else f"({self.of(node)})"

    def indentation(self, node: ast.stmt) -> str:
        """The text before a statement in its line."""
        start = self._starts[node.lineno - 1]
        return self.bytes[start : start + node.col_offset].decode()

    def start_of(self, number: int) -> int:
        """The byte where a line begins."""
        return self._starts[number - 1]

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def with_splices(self, *splices: Splice) -> str:
        """The whole text with these changes, none of which overlap."""
        changed = self.bytes
        for splice in sorted(splices, key=lambda splice: splice.start, reverse=True):
            changed = changed[: splice.start] + splice.text.encode() + changed[splice.end :]
        return changed.decode()

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(match.end() for match in re.finditer(rb"\r\n?|\n", self.bytes))]


def definitions_in(source: str) -> str:
    """Functions and classes alone, on their original lines."""
    text = StudentText(source)
    numbers: set[int] = set()
    for node in text.definitions:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        numbers |= set(range(first, (node.end_lineno or node.lineno) + 1))
    return "\n".join(line if number in numbers else "" for number, line in enumerate(text.lines, start=1)) + "\n"


def statements(function: Function) -> Iterator[ast.stmt]:
    """All statements of a function, also of those inside it, the outermost first."""
    pending = list(function.body)
    while pending:
        node = pending.pop(0)
        yield node
        for block in blocks(node):
            pending += block


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks directly inside a statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def _defines(node: ast.stmt) -> bool:
    is_lambda = isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
    return isinstance(node, Function | ast.ClassDef) or is_lambda


def line_of_syntax_error(source: str) -> int | None:
    """The number of the line that Python cannot read, counted in the cell; None if it can read all."""
    try:
        StudentText(source)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        pass
    return None
