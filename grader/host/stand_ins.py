"""Correct functions that a sandbox may call instead of the student's own; they are computed on this side."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.host.machine import in_little_memory
from grader.model.exercise import LentClass, Standins
from grader.sandbox import wire
from grader.sandbox.decoder import decode
from grader.sandbox.tables import Table
from grader.sandbox.values import Unusable, encode

MAX_NUMBERS = 1000  # per call, in tensors and in lists alike, so that no call keeps the judge busy
MAX_MEMORY = 64 * 2**20  # bytes for one call, even if a function makes much of a small number


def kinds(standins: Standins) -> dict[str, str]:
    """Whether a function or a class stands in under each name."""
    return {name: "class" if isinstance(standin, LentClass) else "function" for name, standin in standins.items()}


def compute(frame: wire.Frame, standins: Standins) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute a correct function, or its gradients, for arguments from the sandbox."""
    name = str(frame.header["call"])
    function = standins.get(name)
    arguments = decode(frame.header.get("arguments"), frame.tensors, MAX_NUMBERS)
    names = frame.header.get("names")
    if function is None or not isinstance(arguments, list) or len(arguments) != 3 or not isinstance(names, list):
        return {"refused": "there is no such function"}, {}
    if not _are_small(list(frame.tensors.values())) or not _are_modest(arguments):
        refusal = f"the right {name}() used in place of yours only takes short inputs"
        return {"refused": refusal, "beyond": True}, {}
    try:
        positional, keywords, gradient = arguments
        unexpected = _find_unexpected(function, names)
        if unexpected is not None:
            return {"refused": f"{name}(): got an unexpected keyword argument {unexpected!r}"}, {}
        call = functools.partial(_call, function, len(positional), list(map(str, names)))
        values = [*positional, *keywords]
        with in_little_memory(MAX_MEMORY):  # torch.arange makes much of numbers that look small to our checks
            tree, tensors = encode(call(values) if gradient is None else _gradients(call, values, gradient))
    except Exception:  # the arguments do not fit, or ask for too much: the mistake is in the student's line
        return {"refused": _describe_misfit(function, name, arguments[0], names)}, {}
    return {"value": tree}, tensors


def _find_unexpected(function: Callable[..., Any], names: list[Any]) -> str | None:
    """The first name that is not an argument. Keyword-only arguments do not count: they are our own steps."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # the function does not say what it takes
        return None
    expected = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    return next((name for name in map(str, names) if name not in expected), None)


def _describe_misfit(function: Callable[..., Any], name: str, positional: Any, names: list[Any]) -> str:
    """Why these arguments do not fit, in the words that Python would use."""
    try:
        inspect.signature(function).bind(*positional, **dict.fromkeys(map(str, names)))
    except TypeError as error:  # also if it is not a list of arguments
        return f"{name}(): {error}"
    except ValueError:  # the function does not say what it takes
        pass
    return f"the arguments do not fit {name}()"


def _are_small(tensors: list[torch.Tensor]) -> bool:
    """Whether combining these tensors cannot give anything large."""
    tensors = [tensor for tensor in tensors if tensor.numel() != 1 or tensor.dim()]  # a number makes nothing large
    sizes = [tensor.numel() for tensor in tensors]
    # Empty tensors have no bound on their results: an (n, 0) times a (0, n) matrix is (n, n). Broadcasting two tensors
    # gives at most the product of their sizes; with more of them, and many dimensions, the product of all.
    are_flat = all(tensor.dim() <= (4 if len(tensors) <= 2 else 2) for tensor in tensors)
    return sum(sizes) <= MAX_NUMBERS and 0 not in sizes and (are_flat or _broadcast_size(tensors) <= MAX_NUMBERS)


def _broadcast_size(tensors: list[torch.Tensor]) -> int:
    """How many numbers broadcasting these tensors gives: each axis is as long as the longest one."""
    axes = itertools.zip_longest(*(reversed(tensor.shape) for tensor in tensors), fillvalue=1)
    return math.prod(map(max, axes))


def _are_modest(value: object) -> bool:
    """Whether numbers and texts are small enough to count up to or go through quickly. Tables are refused."""
    match value:
        case int():
            return abs(value) <= MAX_NUMBERS
        case str() | bytes():
            return len(value) <= MAX_NUMBERS
        case list() | tuple() | set() | frozenset():
            return all(map(_are_modest, value))
        case dict():
            return all(_are_modest(key) and _are_modest(item) for key, item in value.items())
        case np.generic():
            return _are_modest(value.item())
        case np.ndarray() | torch.Tensor() if value.ndim == 0:  # counts as a number
            return _are_modest(value.item())
    return not isinstance(value, (Table, Unusable))


def _call(function: Callable[..., Any], count: int, names: list[str], values: list[Any]) -> Any:
    return function(*values[:count], **dict(zip(names, values[count:], strict=True)))


def _gradients(call: Callable[[list[Any]], Any], values: list[Any], gradient: Any) -> list[torch.Tensor | None]:
    """The gradients for each value that is a tensor of real numbers; None for the others."""
    leaves = [
        value.requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point() else None
        for value in values
    ]
    tensors = [leaf for leaf in leaves if leaf is not None]
    gradients = iter(torch.autograd.grad(call(values), tensors, gradient, allow_unused=True))
    return [None if leaf is None else next(gradients) for leaf in leaves]
