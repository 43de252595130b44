"""Check that code only computes: it cannot look at code, remember anything, or reach beyond its own cell.

Only then do its answers show what it is made of. What is allowed is listed, so that the rest need not be known.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.facts.code_facts import as_far_as_it_can_be_read, tree_of
from grader.sandbox.forms.small_model import SmallModel

MODULES = {
    "torch": torch, "torch.nn": nn, "torch.nn.functional": nn.functional, "torch.nn.init": nn.init,
    "torch.nn.utils": nn.utils, "torch.linalg": torch.linalg, "math": math, "numpy": np, "numpy.linalg": np.linalg,
    "functools": functools, "itertools": itertools,
}  # fmt: skip
_TYPING = {"Any", "Callable", "Dict", "Iterable", "List", "Optional", "Sequence", "Tuple", "Union"}
_BUILTINS = {
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int", "isinstance",
    "len", "list", "map", "max", "min", "object", "pow", "print", "property", "range", "reversed", "round", "set",
    "slice", "sorted", "staticmethod", "sum", "super", "tuple", "type", "zip",
    "AssertionError", "Exception", "NotImplementedError", "RuntimeError", "TypeError", "ValueError",
}  # fmt: skip
# Names in the large modules, besides all that a tensor can do: they make tensors, compute with them, or say of what
# kind they are.
_OF_LIBRARIES = {
    "FloatTensor", "LongTensor", "Tensor", "arange", "array", "as_tensor", "asarray", "atleast_1d", "atleast_2d",
    "bernoulli", "bfloat16", "block_diag", "bool", "broadcast_tensors", "broadcast_to", "cat", "column_stack",
    "complex64", "concat", "concatenate", "cos", "cumsum", "device", "dot", "double", "dtype", "e", "einsum",
    "empty", "empty_like", "enable_grad", "exp", "eye", "finfo", "float", "float16", "float32", "float64",
    "from_numpy", "full", "full_like", "hstack", "hypot", "identity", "inf", "inference_mode", "int", "int32",
    "int64", "is_tensor", "linspace", "log", "logspace", "long", "manual_seed", "matmul", "maximum", "meshgrid",
    "minimum", "nan", "ndarray", "newaxis", "no_grad", "ones", "ones_like", "outer", "partial", "pi", "polar",
    "power", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "reduce", "result_type",
    "row_stack", "sin", "softmax", "sqrt", "stack", "tanh", "tensor", "tensordot", "tril_indices", "triu_indices",
    "uint8", "view_as_complex", "view_as_real", "vmap", "vstack", "where", "zeros", "zeros_like",
}  # fmt: skip
_OF_MODULES = {
    "bias", "embedding_dim", "eps", "grad", "in_features", "normalized_shape", "num_embeddings",
    "out_features", "p", "param_groups", "step", "training", "weight",
    *SmallModel.__annotations__,
}  # fmt: skip
_READS_OTHERS = {"format", "format_map"}  # texts that say which attributes to read


@functools.cache
def _attributes() -> frozenset[str]:
    """Attributes of things that code computes with."""
    kinds = (torch.Tensor, nn.Module, nn.ModuleList, nn.Sequential, np.ndarray, list, tuple, dict, set, str, int, float)
    names = {name for kind in kinds for name in dir(kind) if not name.startswith("_")}
    return frozenset(names.union(_OF_MODULES) - _READS_OTHERS)


def imports_in(sources: Iterable[str]) -> str:
    """A cell with those imports of other cells that bring in only what is for computing."""
    found: dict[str, None] = {}
    for source in sources:
        with as_far_as_it_can_be_read():
            body = tree_of(source).body
            found |= {ast.unparse(node): None for node in body if _is_import(node) and _brings_in(node)}
    return "\n".join(found)


def is_plain(source: str, known: Iterable[str], imports: str) -> bool:
    """Whether definitions read only their own names, `known` ones, those of `imports`, and plain builtins."""
    with as_far_as_it_can_be_read():
        return _is_plain(tree_of(source), known, tree_of(imports))
    return False


def _is_plain(tree: ast.Module, known: Iterable[str], imports: ast.Module) -> bool:
    modules: dict[str, object] = {}
    for node in (*imports.body, *ast.walk(tree)):
        if _is_import(node):
            modules |= _brings_in(node)
    names = {*known, *modules, *_BUILTINS, *_bound(tree)}
    of_self = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_of_self(node)]
    own = {node.attr for node in of_self if isinstance(node.ctx, ast.Store) or not node.attr.startswith("_")}
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
                return read and _is_for_computing(module, attribute)
            if not read and not _is_of_self(node):
                return attribute in ("data", "grad", "requires_grad")
            return attribute == "__init__" or attribute in _attributes() or (attribute in own and attribute[0] != "_")
        case ast.Global() | ast.Nonlocal() | ast.AsyncFunctionDef() | ast.Await() | ast.Try() | ast.Delete():
            return False
    return True


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _brings_in(node: ast.AST) -> dict[str, Any]:
    """The names that an import binds, with their values; none if one of them is not for computing."""
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
            if all(_is_for_computing(MODULES[module], alias.name) for alias in aliases):
                found = {alias.asname or alias.name: getattr(MODULES[module], alias.name) for alias in aliases}
    return found


def _is_for_computing(module: ModuleType, name: str) -> bool:
    """Whether this attribute of a module neither reads nor sets anything that lasts."""
    found = getattr(module, name, None)
    if found is None or name.startswith("_"):
        return False
    if isinstance(found, ModuleType):
        return found in MODULES.values()
    return module not in (torch, np, functools) or name in _OF_LIBRARIES or name in _attributes()


def _module(node: ast.expr, modules: dict[str, object]) -> ModuleType | None:
    """The module that an expression names, if any."""
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
