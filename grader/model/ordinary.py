"""What a course knows about ordinary tests, nbgrader's own kind: their cells run in the student's process."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grader.model.submission import ReleasedCell


@dataclass(frozen=True)
class OrdinaryTests:
    """What all ordinary tests of a notebook share."""

    defined: frozenset[str] = frozenset()  # names that the course's own cells define
    modules: Mapping[str, str] = field(default_factory=dict)  # names under which they import modules
    begin: str = "BEGIN HIDDEN TESTS"
    end: str = "END HIDDEN TESTS"
    unheard: str = ""  # a pattern for text on the error stream to leave out, as IgnorePattern does

    @classmethod
    def of(cls, cells: Iterable[ReleasedCell], begin: str, end: str, unheard: str) -> OrdinaryTests:
        defined, modules = _names_in(tuple(cell.source for cell in cells if cell.cell_type == "code"))
        return cls(defined, modules, begin, end, unheard)

    def hides(self, source: str) -> bool:
        return self.begin in source

    def visible_lines(self, source: str) -> frozenset[int]:
        """The numbers of the lines that students have, too, by nbgrader's rules."""
        visible, hidden = set(), False
        for number, line in enumerate(source.split("\n"), start=1):
            if self.begin in line:
                hidden = True
            elif self.end in line:
                hidden = False
            elif not hidden:
                visible.add(number)
        return frozenset(visible)

    def what_it_uses(self, source: str) -> dict[str, object]:
        """The names in a test that are Python's own, or a module's: they must keep their meaning in it."""
        tree = parsed(source)
        if tree is None:
            return {"builtins": [], "modules": {}, "packages": []}
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        test_modules = dict(_imported(tree))
        modules = {alias: name for alias, name in self.modules.items() if alias in names and alias not in test_modules}
        imported_from = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        packages = {name.split(".")[0] for name in (*modules.values(), *test_modules.values(), *imported_from)}
        builtin_names = (names & vars(builtins).keys()) - self.defined - test_modules.keys()
        return {"builtins": sorted(builtin_names), "modules": modules, "packages": sorted(packages)}


@functools.lru_cache(maxsize=16)
def _names_in(sources: tuple[str, ...]) -> tuple[frozenset[str], Mapping[str, str]]:
    """What cells define, and the modules that they import: a course's are the same for each submission."""
    defined: set[str] = set()
    modules: dict[str, str] = {}
    for tree in filter(None, map(parsed, sources)):
        defined.update(_defined(tree))
        modules.update(_imported(tree))
    return frozenset(defined), modules


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell; None if it is not plain Python, as with magics."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that `import` gives to modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.split(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (package, package)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
