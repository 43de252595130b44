"""Expressions that compute something and change nothing, by the names of what they call."""

from __future__ import annotations

import ast
from collections.abc import Collection

import torch

# Methods and functions that return a new tensor and leave theirs unchanged. No other objects have these names.
_OTHER_CLASSES = (list, dict, set, str, torch.nn.ModuleList, torch.nn.Module, torch.Generator)
_NEW_TENSORS = frozenset(
    name
    for name in {*dir(torch.Tensor), "cat", "stack", "dropout"}
    if not name.startswith(("_", "is_", "set_", "register", "retain", "require"))
    and not name.endswith("_")
    and name not in ("backward", "map", "apply", "resize", "share_memory", "numpy", "item")
    and (name == "add" or not any(hasattr(cls, name) for cls in _OTHER_CLASSES))
)


def layers_in(tree: ast.AST | None) -> frozenset[str]:
    """The attributes in which a class keeps layers of torch, which change nothing that they are given."""
    if tree is None:
        return frozenset()
    layers: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_layer(called_name(node.value)):
            targets = [target for target in node.targets if isinstance(target, ast.Attribute)]
            layers |= {target.attr for target in targets if ast.unparse(target.value) == "self"}
    return frozenset(layers)


def _is_layer(name: str) -> bool:
    cls = getattr(torch.nn, name, None)
    return isinstance(cls, type) and issubclass(cls, torch.nn.Module)


def is_only_computed(value: ast.expr, layers: Collection[str]) -> bool:
    """Whether an expression computes something without changing anything. `layers` are the object's attributes."""
    match value:
        case ast.BinOp() | ast.Compare():
            return True
        case ast.Call(keywords=keywords) if any(keyword.arg in ("out", "inplace") for keyword in keywords):
            return False
        case ast.Call(func=ast.Name(id=name)):
            return name in _NEW_TENSORS or name.startswith("softmax")  # imported from torch, or named after its softmax
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name in layers
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _NEW_TENSORS
    return False


def called_name(value: ast.AST) -> str:
    """The last name of the function or method that is called; empty if none is."""
    function = getattr(value, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))
