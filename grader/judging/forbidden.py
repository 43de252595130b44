"""Whether a student's code uses what its exercise forbids: read from its text, and from that of code which it uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.judging.code_facts import as_far_as_it_can_be_read, tree_of
from grader.model.exercise import Exercise
from grader.model.forbidden import Forbidden
from grader.model.verdict import Reason, Verdict

_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
_Bound = dict[str, list[ast.AST]]  # what a notebook binds at its top level, by name


def said_of_forbidden(exercise: Exercise, sources: Sequence[str]) -> str:
    """A sentence about the first forbidden thing that its code uses, by itself or by other code; empty if none."""
    if exercise.forbidden is None:
        return ""
    statements = [one for source in sources for one in _statements(source)]
    bound, own = _bound(statements), _functions_in(statements)
    to_read, read = [exercise.entry], set()
    while to_read:
        name = to_read.pop()
        read.add(name)
        for node in bound.get(name, ()):
            for used in _used(node):
                if _is_forbidden(used, exercise.forbidden, own):
                    return exercise.forbidden.says.format(used)
            to_read += [other for other in _read_from_outside(node) if other not in read]
    return ""


def refused(verdict: Verdict, said: str) -> Verdict:
    """Nothing for it, whatever came out."""
    return replace(verdict, credit=0.0, reason=Reason.FORBIDDEN, sentences=(said,), misconceptions=(), pictures=())


def _bound(statements: Sequence[ast.stmt]) -> _Bound:
    found: _Bound = {}
    for node in statements:
        for name in _names_bound_by(node):
            found.setdefault(name, []).append(node)
    return found


def _functions_in(statements: Sequence[ast.stmt]) -> set[str]:
    """The names of the functions and methods that a notebook defines."""
    nodes = (node for one in statements for node in ast.walk(one))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def _statements(source: str) -> list[ast.stmt]:
    with as_far_as_it_can_be_read():
        return tree_of(_MAGIC.sub("", source)).body
    return []


def _names_bound_by(statement: ast.stmt) -> Iterator[str]:
    """At the top level, however deep in its branches."""
    for node in [statement, *_without_functions(statement)]:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((one.asname or one.name).partition(".")[0] for one in names)
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):  # torch.softmax = …
                yield name


def _without_functions(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a node, but not in the functions and classes of it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _without_functions(child)


def _used(node: ast.AST) -> Iterator[str]:
    """Everything by its dotted name: `torch.autograd.grad`, and each beginning of it."""
    for part in ast.walk(node):
        match part:
            case ast.Attribute():
                yield _dotted(part)
            case ast.Name(id=name):
                yield name
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str() as module, names=names):
                yield from (f"{module}.{one.name}" for one in names)


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr}"
        case ast.Name(id=name):
            return name
    return ""


def _is_forbidden(used: str, forbidden: Forbidden, own: set[str]) -> bool:
    parts = used.split(".")
    if any(f"{used}.".startswith(f"{module}.") for module in forbidden.modules):
        return True
    if any(name in parts for name in forbidden.names):
        return True
    return any(part in name for part in forbidden.parts for name in parts[1:] if name not in own)


def _read_from_outside(node: ast.AST) -> set[str]:
    """The names that a definition reads and does not bind itself."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    arguments = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)} if _has_a_scope(node) else set()
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - own - arguments


def _has_a_scope(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
