"""Right functions that a sandbox may call in place of a student's own: they are computed on this side."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader.model.exercise import LentClass, Standins
from grader.sandbox import wire
from grader.sandbox.decoder import decode
from grader.sandbox.tables import Table
from grader.sandbox.values import Unusable, encode

MAX_NUMBERS = 1000  # per call, and as many list items, so that no call keeps the judge busy
MAX_MEMORY = 64 * 2**20  # bytes of one call, whatever it is that a function makes of a number


def kinds(standins: Standins) -> dict[str, str]:
    """What is lent under each name: a function, or a class."""
    return {name: "class" if isinstance(lent, LentClass) else "function" for name, lent in standins.items()}


def compute(frame: wire.Frame, standins: Standins) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute a right function, or its gradients, for arguments that come from the sandbox."""
    name = str(frame.header["call"])
    function = standins.get(name)
    arguments = decode(frame.header.get("arguments"), frame.tensors, MAX_NUMBERS)
    names = frame.header.get("names")
    if function is None or not isinstance(arguments, list) or len(arguments) != 3 or not isinstance(names, list):
        return {"refused": "there is no such function"}, {}
    if not _small(list(frame.tensors.values())) or not _are_modest(arguments):
        short = f"the right {name}() that stands in for yours is for short inputs only"
        return {"refused": short, "beyond": True}, {}
    try:
        positional, named, gradient = arguments
        if (unexpected := _unexpected(function, names)) is not None:
            return {"refused": f"{name}(): got an unexpected keyword argument {unexpected!r}"}, {}
        bound = functools.partial(_call, function, len(positional), list(map(str, names)))
        values = [*positional, *named]
        with _in_little_memory():
            tree, tensors = encode(bound(values) if gradient is None else _gradients(bound, values, gradient))
    except Exception:  # the student's arguments do not fit, or ask for too much; that is in their line, not in ours
        return {"refused": _said_of_arguments(function, name, arguments[0], names)}, {}
    return {"value": tree}, tensors


def _unexpected(function: Callable[..., Any], names: list[Any]) -> str | None:
    """The first of these names that is none of an argument. What can be given by its name alone is a step of ours."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a function that does not say what it takes
        return None
    known = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    return next((name for name in map(str, names) if name not in known), None)


def _said_of_arguments(function: Callable[..., Any], name: str, positional: Any, names: list[Any]) -> str:
    """Why they do not fit, as Python would say it of a function of that name."""
    try:
        inspect.signature(function).bind(*positional, **dict.fromkeys(map(str, names)))
    except TypeError as error:  # also of what is no list of arguments
        return f"{name}(): {error}"
    except ValueError:  # of a function that does not say what it takes
        pass
    return f"the arguments do not fit {name}()"


def _small(tensors: list[torch.Tensor]) -> bool:
    """Whether nothing large can come out when these are combined."""
    tensors = [tensor for tensor in tensors if tensor.numel() != 1 or tensor.dim()]  # a number makes nothing large
    sizes = [tensor.numel() for tensor in tensors]
    # Without numbers there is no bound on what comes out: an (n, 0) times a (0, n) matrix is (n, n). Of two tensors,
    # broadcasting makes no more than the product of their sizes; of more, with many dimensions, the product of all.
    flat = all(tensor.dim() <= (4 if len(tensors) <= 2 else 2) for tensor in tensors)
    return sum(sizes) <= MAX_NUMBERS and 0 not in sizes and (flat or _broadcast(tensors) <= MAX_NUMBERS)


def _broadcast(tensors: list[torch.Tensor]) -> int:
    """How many numbers come out where each of their axes is as long as in the tensor where it is longest."""
    axes = itertools.zip_longest(*(reversed(tensor.shape) for tensor in tensors), fillvalue=1)
    return math.prod(map(max, axes))


def _are_modest(value: Any) -> bool:
    """Whether a function that counts up to a number, or goes through a text, is soon done. Tables stay outside."""
    match value:
        case int():
            return abs(value) <= MAX_NUMBERS
        case str() | bytes():
            return len(value) <= MAX_NUMBERS
        case list() | tuple() | set() | frozenset():
            return all(map(_are_modest, value))
        case dict():
            return all(_are_modest(part) for pair in value.items() for part in pair)
        case np.generic():
            return _are_modest(value.item())
        case np.ndarray() | torch.Tensor() if value.ndim == 0:  # which counts as a number does
            return _are_modest(value.item())
    return not isinstance(value, (Table, Unusable))


@contextlib.contextmanager
def _in_little_memory() -> Iterator[None]:
    """Meanwhile this process gets no more: torch.arange counts up to numbers that no check here would call large."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = (limit for limit in (in_use + MAX_MEMORY, soft, hard) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _call(function: Callable[..., Any], count: int, names: list[str], values: list[Any]) -> Any:
    return function(*values[:count], **dict(zip(names, values[count:], strict=True)))


def _gradients(bound: Callable[[list[Any]], Any], values: list[Any], gradient: Any) -> list[torch.Tensor | None]:
    """The gradients for those of the values that are tensors of real numbers."""
    leaves = [
        value.requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point() else None
        for value in values
    ]
    asked = [leaf for leaf in leaves if leaf is not None]
    found = iter(torch.autograd.grad(bound(values), asked, gradient, allow_unused=True))
    return [None if leaf is None else next(found) for leaf in leaves]
