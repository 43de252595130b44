"""Whether a code only computes: nothing in it can look at code, remember anything, or reach beyond its own cell.

Only of such code do its answers tell what it is made of. What is allowed is listed, so that the rest need not be known.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

MODULES = {
    "torch": torch, "torch.nn": nn, "torch.nn.functional": nn.functional, "torch.nn.init": nn.init,
    "torch.linalg": torch.linalg, "math": math, "numpy": np, "numpy.linalg": np.linalg,
}  # fmt: skip
_TYPING = {"Any", "Callable", "Dict", "Iterable", "List", "Optional", "Sequence", "Tuple", "Union"}
_BUILTINS = {
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int", "isinstance",
    "len", "list", "map", "max", "min", "object", "pow", "print", "range", "reversed", "round", "set", "slice",
    "sorted", "sum", "super", "tuple", "type", "zip",
    "AssertionError", "Exception", "NotImplementedError", "RuntimeError", "TypeError", "ValueError",
}  # fmt: skip
_OF_MODULES = ("weight", "bias", "in_features", "out_features", "normalized_shape", "eps", "p")
_READS_OTHERS = {"format", "format_map"}  # texts that say which attributes to read


@functools.cache
def _attributes() -> frozenset[str]:
    """Of what a student's code computes with."""
    kinds = (torch.Tensor, nn.Module, nn.ModuleList, nn.Sequential, np.ndarray, list, tuple, dict, set, str, int, float)
    names = {name for kind in kinds for name in dir(kind) if not name.startswith("_")}
    return frozenset(names.union(_OF_MODULES) - _READS_OTHERS)


def imports_in(sources: Iterable[str]) -> str:
    """The imports of cells that bring in nothing but what is for computing, as a cell of their own."""
    found: dict[str, None] = {}
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # such as a magic
            continue
        found |= {ast.unparse(node): None for node in tree.body if _is_import(node) and _brings_in(node)}
    return "\n".join(found)


def is_plain(source: str, known: Iterable[str], imports: str) -> bool:
    """Whether definitions read nothing but their own names, `known` ones, what `imports` bring, and plain builtins."""
    tree = ast.parse(source)
    modules: dict[str, object] = {}
    for node in (*ast.parse(imports).body, *ast.walk(tree)):
        if _is_import(node):
            modules |= _brings_in(node)
    names = {*known, *modules, *_BUILTINS, *_bound(tree)}
    own = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_of_self(node)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return all(_is_allowed(node, names, own, modules) for node in ast.walk(tree))


def _is_allowed(node: ast.AST, names: set[str], own: set[str], modules: dict[str, object]) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return bool(_brings_in(node))
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(attr=attribute, ctx=context):
            read = isinstance(context, ast.Load)
            module = _module(node.value, modules)
            if module is not None:
                found = getattr(module, attribute, None)
                return read and not attribute.startswith("_") and _is_for_computing(found)
            if not read and not _is_of_self(node):
                return attribute in ("data", "requires_grad")
            return attribute == "__init__" or attribute in _attributes() or (attribute in own and attribute[0] != "_")
        case ast.Global() | ast.Nonlocal() | ast.AsyncFunctionDef() | ast.Await() | ast.Try() | ast.Delete():
            return False
    return True


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _brings_in(node: ast.AST) -> dict[str, Any]:
    """The names that an import binds, with what they are; none if one of them is not for computing."""
    found: dict[str, Any] = {}
    match node:
        case ast.Import(names=aliases):
            if all(alias.name in MODULES for alias in aliases):
                for alias in aliases:
                    first = alias.name.partition(".")[0]
                    found[alias.asname or first] = MODULES[alias.name if alias.asname else first]
        case ast.ImportFrom(module="typing", level=0, names=aliases):
            if all(alias.name in _TYPING for alias in aliases):
                found = {alias.asname or alias.name: None for alias in aliases}
        case ast.ImportFrom(module=str(module), level=0, names=aliases) if module in MODULES:
            taken = {alias.asname or alias.name: getattr(MODULES[module], alias.name, None) for alias in aliases}
            if all(_is_for_computing(value) for value in taken.values()) and "*" not in taken:
                found = taken
    return found


def _is_for_computing(value: object) -> bool:
    return value is not None and (not isinstance(value, ModuleType) or value in MODULES.values())


def _module(node: ast.expr, modules: dict[str, object]) -> ModuleType | None:
    """The module that an expression stands for, if it does."""
    found: object = None
    if isinstance(node, ast.Name):
        found = modules.get(node.id)
    elif isinstance(node, ast.Attribute):
        outer = _module(node.value, modules)
        found = getattr(outer, node.attr, None) if outer else None
    return found if isinstance(found, ModuleType) else None


def _bound(tree: ast.AST) -> Iterator[str]:
    """All names that code binds by itself."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def _is_of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"
