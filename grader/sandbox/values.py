"""Values (tensors, numbers, nested lists) as they cross between the judge and the sandbox.

A value becomes a JSON tree that refers to tensors by name. Both sides treat what they read as hostile. Answers of
functions may be of more kinds: see kinds_written.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from grader.sandbox.plain_text import one_line
from grader.sandbox.wire import KINDS, MAX_BODY, MAX_TENSOR_LIST

MAX_VALUE = (MAX_BODY - MAX_TENSOR_LIST) // 2  # bytes of the tensors of one value; two go into a message
MAX_NODES = 8000  # list items and numbers in one value
MAX_WHOLE = 2**53
MAX_TEXT = 200  # characters of one text in a value, such as the name of a parameter
MAX_SIZE = 2**17  # of one dimension: an empty tensor may have a dimension without end
MAX_DEPTH = 8  # of lists in lists, and of the shape of a tensor
UNREADABLE = "something that cannot be read"
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_PLAIN = frozenset(KINDS.values())


@dataclass(frozen=True)
class Unusable:
    """Stands for a value that cannot be graded, such as a dict or a sparse tensor."""

    reason: str


class TooMuch(Exception):
    """A value without end, or as good as."""


def encode(value: Any, prefix: str = "", words: bool = False) -> tuple[Any, dict[str, torch.Tensor]]:
    """A value as a JSON tree and the tensors it refers to, whose names begin with the prefix.

    With `words`, for arguments and observations: text, truth values, whole numbers and dicts stay what they are.
    """
    encoder = Encoder(prefix, words)
    try:
        return encoder.tree(value, MAX_DEPTH), encoder.tensors
    except TooMuch as reason:
        return {"unusable": str(reason)}, {}


class Encoder:
    """Reduces one value, whatever it is, and refuses what has no end."""

    def __init__(self, prefix: str, words: bool) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self._prefix = prefix
        self._words = words
        self._nodes_left = MAX_NODES
        self._bytes_left = MAX_VALUE

    def count(self, depth: int) -> None:
        """One more node, so deep in others."""
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise TooMuch("a list with far too many items")
        if depth < 0:
            raise TooMuch("lists in lists in lists without end")

    def tree(self, value: Any, depth: int) -> Any:
        self.count(depth)
        if value is None:
            return None
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub":
            return {**self.tensor(torch.from_numpy(np.array(value))), "numpy": True}
        value = unboxed(value)
        if self._words and type(value) in (bool, int, str, dict):
            return self._word(value, depth)
        if type(value) in (int, float):
            return _number(value)
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.tree(item, depth - 1) for item in value]}
        return {"unusable": f"a value of type {type(value).__name__}"}

    def _word(self, value: bool | int | str | dict[Any, Any], depth: int) -> dict[str, Any]:
        if isinstance(value, bool):
            return {"flag": value}
        if isinstance(value, int):
            return {"whole": value} if abs(value) < MAX_WHOLE else {"unusable": "a whole number far too large"}
        if isinstance(value, str):
            return {"text": value[:MAX_TEXT]}
        return {"dict": {str(key)[:MAX_TEXT]: self.tree(item, depth - 1) for key, item in value.items()}}

    def tensor(self, tensor: torch.Tensor) -> dict[str, Any]:
        reason = _why_unusable(tensor)
        if reason:
            return {"unusable": reason}
        self.count_bytes(tensor.numel() * tensor.element_size())
        return {"tensor": self.keep(_copy_of(tensor)), "device": tensor.device.type}

    def count_bytes(self, count: int) -> None:
        """So many more, before anything is copied."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise TooMuch("far too many numbers")

    def keep(self, tensor: torch.Tensor) -> str:
        """The name by which a tree refers to it."""
        name = f"{self._prefix}{len(self.tensors)}"
        self.tensors[name] = tensor
        return name


def _copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """Whole and on the CPU, as it is sent: a view may be a part of much, or turned."""
    numbers = tensor.detach() if tensor.requires_grad else tensor
    numbers = numbers.cpu()
    return numbers.clone() if numbers.is_contiguous() else numbers.contiguous()


def unboxed(value: Any) -> Any:
    """A single number, text or truth value of numpy as one of Python."""
    boxed = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return value.item() if boxed else value


def _number(value: float) -> dict[str, Any]:
    try:
        return {"number": float(value)}
    except OverflowError:
        return {"unusable": "a whole number far too large"}


def _why_unusable(tensor: torch.Tensor) -> str:
    """Why a tensor cannot be graded; empty if it can."""
    if type(tensor) not in _TENSORS:
        return f"a tensor of the special type {type(tensor).__name__}"
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta or tensor.is_complex():
        return "a tensor that is not plain and real (sparse, quantised, meta or complex)"
    if tensor.dtype not in _PLAIN:
        return f"a tensor of {str(tensor.dtype).removeprefix('torch.')} numbers"
    if tensor.dim() > MAX_DEPTH:
        return f"a tensor with {tensor.dim()} dimensions"
    return "a tensor that is far too long" if max(tensor.shape, default=0) > MAX_SIZE else ""


def decode(tree: Any, tensors: Mapping[str, torch.Tensor], max_nodes: int = MAX_NODES, words: bool = False) -> Any:
    """The value of a JSON tree. Whatever is not as `encode` writes it becomes Unusable."""
    return Decoder(tensors, max_nodes, words).value(tree, MAX_DEPTH)


class Decoder:
    def __init__(self, tensors: Mapping[str, torch.Tensor], max_nodes: int, words: bool) -> None:
        self.unread = dict(tensors)  # each may stand in one place, so a short message holds no long value
        self._nodes_left = max_nodes
        self._words = words

    def value(self, tree: Any, depth: int) -> Any:
        self._nodes_left -= 1
        if tree is None:
            return None
        if self._nodes_left < 0 or depth < 0 or not isinstance(tree, dict):
            return Unusable(UNREADABLE)
        match tree:
            case {"tensor": str(name)} if name in self.unread:
                return usable(self.unread.pop(name), numpy=tree.get("numpy") is True)
            case {"number": float(number)}:
                return number
            case {"list": list(items)}:
                return [self.value(item, depth - 1) for item in items]
            case {"tuple": list(items)}:
                return tuple(self.value(item, depth - 1) for item in items)
            case {"unusable": str(reason)}:
                return Unusable(one_line(reason))
            case _ if self._words:
                return self._word(tree, depth)
            case _:
                return Unusable(UNREADABLE)

    def _word(self, tree: dict[str, Any], depth: int) -> Any:
        match tree:
            case {"flag": bool(flag)}:
                return flag
            case {"whole": int(whole)} if type(whole) is int and abs(whole) < MAX_WHOLE:
                return whole
            case {"text": str(text)}:
                return one_line(text, MAX_TEXT)
            case {"dict": dict(items)}:
                return {one_line(key, MAX_TEXT): self.value(item, depth - 1) for key, item in items.items()}
            case _:
                return Unusable(UNREADABLE)


def usable(tensor: torch.Tensor, numpy: bool = False) -> Any:
    reason = _why_unusable(tensor)
    if reason:
        return Unusable(reason)
    if not numpy:
        return tensor
    return Unusable(UNREADABLE) if tensor.dtype is torch.bfloat16 else tensor.numpy()


def devices(tree: Any, depth: int = MAX_DEPTH) -> set[str]:
    """The kinds of device that the tensors of a tree were on."""
    found: set[str] = set()
    _find_devices(tree, depth, found)
    return found


def _find_devices(tree: Any, depth: int, found: set[str]) -> None:
    if not isinstance(tree, dict) or depth < 0:
        return
    if "tensor" in tree:
        found.add(one_line(tree.get("device", "cpu"), 20))
        return
    for kind in ("list", "tuple", "dict"):
        items = tree.get(kind)
        if isinstance(items, list | dict):
            for item in items.values() if isinstance(items, dict) else items:
                # Of functions, a dict is sent as pairs of a key and what it stands for.
                _find_devices(item[-1] if isinstance(item, list) and item else item, depth - 1, found)
