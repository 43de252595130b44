"""Facts about methods: those that a class has, and those that return None and are taken to return more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from grader.model.fact import Fact, Kind

# Of a module, and of a tensor.
_RETURN_NONE = frozenset({"register_buffer", "register_parameter", "add_module", "backward", "zero_grad"})
_OF_LISTS = frozenset({"append", "extend", "insert", "sort", "reverse"})  # a ModuleList's return more
_LAYERS = frozenset({"Linear", "Parameter", "Embedding", "LayerNorm", "RMSNorm", "MultiheadAttention"})  # of nn
_LETTERS = set("__init__")  # and those of __int__, _init_ and __inti__, which people write for it


def class_in(tree: ast.Module, entry: str) -> ast.ClassDef | None:
    """The class of that name; of several, the last one is in force."""
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == entry]
    return found[-1] if found else None


def of_class(owner: ast.ClassDef) -> Iterator[Fact]:
    """What the methods of a class lack, in what they are called and in what they take."""
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    named = {method.name for method in methods}
    for method in methods:
        if set(method.name) == _LETTERS and method.name[-1] == "_" and "__init__" not in named:
            yield Fact(Kind.NOT_INIT, method.name)
        if "self" in _read(method) - _bound(method):
            yield Fact(Kind.NO_SELF, method.name)


def made_anew(owner: ast.ClassDef, lines: Sequence[str]) -> Iterator[Fact]:
    """The first layer that `forward` makes, each time that it is called."""
    forward = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    for node in ast.walk(ast.Module([*forward], [])):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _LAYERS:
                yield Fact(Kind.MADE_ANEW, lines[node.lineno - 1].strip())
                return


def kept_none(nodes: Sequence[ast.AST], lines: Sequence[str], own: Collection[str]) -> Iterator[Fact]:
    """`outputs = outputs.append(…)`, where the list is made in the same function. `own` are functions of the cell."""
    lists = {name for node in nodes for name in _lists_made_by(node)}
    for node in nodes:
        match node:
            case (
                ast.Assign(value=ast.Call(func=ast.Attribute(value=owner, attr=name)))
                | ast.Return(value=ast.Call(func=ast.Attribute(value=owner, attr=name)))
            ) if name in _RETURN_NONE.difference(own) or (name in _OF_LISTS and getattr(owner, "id", "") in lists):
                yield Fact(Kind.KEPT_NONE, lines[node.lineno - 1], (name,))


def _lists_made_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.ListComp()):
            yield name
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            pairs = zip(names, values, strict=True)
            yield from (name.id for name, value in pairs if isinstance(name, ast.Name) and isinstance(value, ast.List))


def _read(method: ast.FunctionDef) -> set[str]:
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(method: ast.FunctionDef) -> set[str]:
    nodes = list(ast.walk(method))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}
