"""Which names statements read and write, and which comes first: as far as a text tells it without being run."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

# What is asked of a tensor or a list without looking at its numbers.
SIZES = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel", "new_zeros", "new_ones", "new_full"})
_SIZE_CALLS = frozenset({"len", "zeros_like", "ones_like", "empty_like", "full_like", "print", "type"})
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class First(Enum):
    READ = "read"
    WRITTEN = "written"


@functools.lru_cache(maxsize=4096)  # a loop is read once for each of its names
def reads_in(node: ast.AST) -> frozenset[str]:
    """The names whose values an expression or a statement needs, and not only their sizes."""
    return frozenset(_reads(node, frozenset()))


def _reads(node: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            if name not in bound:
                yield name
            return
        case ast.Attribute(value=ast.Name(), attr=attribute) if attribute in SIZES:
            return
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _SIZE_CALLS:
            return
        case ast.AugAssign(target=ast.Name(id=name)) if name not in bound:
            yield name
    if isinstance(node, _COMPREHENSIONS):
        bound |= {name for one in node.generators for name in written_in(one.target)}
    for child in ast.iter_child_nodes(node):
        yield from _reads(child, bound)


@functools.lru_cache(maxsize=4096)
def written_in(*nodes: ast.AST) -> frozenset[str]:
    """The names that get another value somewhere in there."""
    names = (name for node in nodes for name in ast.walk(node))
    return frozenset(name.id for name in names if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))


def changed_in(node: ast.AST) -> set[str]:
    """The names of what is changed in place: `x[i] = …`, `x.append(…)`, `x += …`, `x.add_(…)`."""
    return {name for part in ast.walk(node) for name in _changed_by(part)}


def _changed_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.AugAssign(target=target):
            yield from _base(target)
        case ast.Assign(targets=targets):
            changed = [target for target in targets if isinstance(target, ast.Subscript | ast.Attribute)]
            for one in changed:
                yield from _base(one)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
            yield from _base(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name.endswith("_"):
            yield from _base(value)


def _base(target: ast.expr) -> Iterator[str]:
    """Of `x[i].y` and `x.add(1)`, the x."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Call(func=value):
            yield from _base(value)


def first_of(name: str, statements: Iterable[ast.stmt]) -> First | None:
    """Whether a name is read first, or surely written before; None where there is no telling, or neither."""
    for statement in statements:
        first = _first_in(name, statement)
        if first is not None:
            return first
    return None


def _first_in(name: str, statement: ast.stmt) -> First | None:
    match statement:
        case ast.For(iter=test, body=body) | ast.While(test=test, body=body):
            if name in reads_in(test):
                return First.READ
            if isinstance(statement, ast.For) and name in written_in(statement.target):
                return None
            return _read_or_none(first_of(name, body))  # there may be no step
        case ast.If(test=test, body=body, orelse=other):
            if name in reads_in(test):
                return First.READ
            both = [first_of(name, body), first_of(name, other)]
            return First.READ if First.READ in both else First.WRITTEN if None not in both else None
        case ast.With(body=body) | ast.Try(body=body):
            return first_of(name, body)
    if name in reads_in(statement):
        return First.READ
    return First.WRITTEN if name in written_in(statement) else None


def _read_or_none(first: First | None) -> First | None:
    return first if first is First.READ else None


def closure(names: set[str], of: Sequence[tuple[frozenset[str], frozenset[str]]]) -> set[str]:
    """The names, and all that the values of these are made of: `of` says what some are made of."""
    found = set(names)
    while True:
        more = {name for made, parts in of if made & found for name in parts} - found
        if not more:
            return found
        found |= more
