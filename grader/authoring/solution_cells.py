"""What an exercise file takes from a solution cell that the author has written already."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from grader.errors import CourseError

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class SolutionCell:
    """The code of a solution cell, and that of the cells before it."""

    code: str
    before: tuple[str, ...] = ()

    @cached_property
    def node(self) -> Definition:
        """The last function or class that the cell defines."""
        try:
            found = [node for node in ast.parse(self.code).body if isinstance(node, Definition)]
        except SyntaxError as error:
            raise CourseError(f"The solution cell is not Python: line {error.lineno}, {error.msg}.") from None
        if not found:
            raise CourseError("The solution cell defines no function and no class. Write the solution there first.")
        return found[-1]

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_numpy(self) -> bool:
        """Whether it computes with arrays, and not with tensors."""
        used = " ".join(self.imports)
        return "numpy" in used and "torch" not in used and not self.is_class

    @property
    def arguments(self) -> list[str]:
        """Those that the function cannot do without."""
        if not isinstance(self.node, ast.FunctionDef):
            return []
        taken = self.node.args
        every = [*taken.posonlyargs, *taken.args]
        return [one.arg for one in every[: len(every) - len(taken.defaults)]]

    @property
    def marks(self) -> dict[str, int]:
        """A mark for each statement that has a name of its own, and the line on which it ends."""
        found = [(_mark(node), node) for node in ast.walk(self.node) if isinstance(node, ast.stmt) and _mark(node)]
        names = [mark for mark, _ in found]
        return {mark: node.end_lineno or 0 for mark, node in found if names.count(mark) == 1}

    @property
    def text(self) -> str:
        """The definition, with marks at its lines."""
        by_line = {line: mark for mark, line in self.marks.items()}
        lines = self.code.split("\n")
        here = range(self.node.lineno, (self.node.end_lineno or 0) + 1)
        return "\n".join(
            f"{lines[line - 1]}  #: {by_line[line]}" if line in by_line else lines[line - 1] for line in here
        )

    @property
    def imports(self) -> list[str]:
        """The imports of the notebook that the definition needs."""
        read = {node.id for node in ast.walk(self.node) if isinstance(node, ast.Name)}
        return sorted(set(_imports((*self.before, self.code), read)))


def _mark(node: ast.stmt) -> str:
    match node:
        case ast.Return(value=ast.expr()):
            return "result"
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)]):
            return name
        case _:
            return ""


def _imports(codes: Iterable[str], read: set[str]) -> Iterator[str]:
    for code in codes:
        try:
            nodes = ast.parse(code).body
        except SyntaxError:  # a cell with a magic command
            continue
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                needed = [one for one in node.names if (one.asname or one.name.split(".")[0]) in read]
                if needed:
                    node.names = needed
                    yield ast.unparse(node)
