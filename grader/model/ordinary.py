"""What a course knows about ordinary tests, nbgrader's own kind: their cells run in the student's process."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grader.model.submission import KnownCell


@dataclass(frozen=True)
class OrdinaryTests:
    """What all ordinary tests of a notebook share."""

    defined: frozenset[str] = frozenset()  # names that the course's own cells define
    modules: Mapping[str, str] = field(default_factory=dict)  # names under which they import modules
    begin: str = "BEGIN HIDDEN TESTS"
    end: str = "END HIDDEN TESTS"
    unheard: str = ""  # a pattern for text on the error stream to leave out, as IgnorePattern does

    @classmethod
    def of(cls, known: Iterable[KnownCell], begin: str, end: str, unheard: str) -> OrdinaryTests:
        defined, modules = _names_in(tuple(cell.source for cell in known if cell.cell_type == "code"))
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
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        own = dict(_imported(tree))
        modules = {alias: name for alias, name in self.modules.items() if alias in used and alias not in own}
        imported_from = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        packages = {name.split(".")[0] for name in (*modules.values(), *own.values(), *imported_from)}
        mine = (used & vars(builtins).keys()) - self.defined - own.keys()
        return {"builtins": sorted(mine), "modules": modules, "packages": sorted(packages)}


@functools.lru_cache(maxsize=16)
def _names_in(sources: tuple[str, ...]) -> tuple[frozenset[str], Mapping[str, str]]:
    """What cells define, and the modules that they import: a course's are the same for each submission."""
    trees = [tree for source in sources if (tree := parsed(source))]
    modules = {alias: name for tree in trees for alias, name in _imported(tree)}
    return frozenset(name for tree in trees for name in _defined(tree)), modules


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
                yield (alias.asname, alias.name) if alias.asname else ((top := alias.name.split(".")[0]), top)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
