"""Values (numbers, tensors, lists, tables) as they are written to cross between the judge and the sandbox.

A value becomes a JSON tree that refers to tensors by name; decoder.py reads it again. The arguments and results of
functions may be of any plain kind. What is observed of other code is shorter, and of few kinds. Nothing is asked of a
student's object but what its kind itself answers: a dict with an `items` of its own is written as the dict that it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np
import torch

from grader.sandbox import tables
from grader.sandbox.tables import Array, Column, Table
from grader.sandbox.wire import DTYPES, MAX_BODY, MAX_TENSOR_LIST

Tree: TypeAlias = "bool | int | float | str | list[Tree] | dict[str, Tree] | None"  # what JSON can hold
Encoded = tuple[Tree, dict[str, torch.Tensor]]  # and the tensors that the tree refers to
_T = TypeVar("_T")

MAX_VALUE = (MAX_BODY - MAX_TENSOR_LIST) // 2  # bytes of the tensors of one value; two go into a message
MAX_NODES = 50_000  # items, keys and numbers in one value
MAX_OBSERVED = 8000  # the same, in an observation
MAX_ANSWER = 2 * MAX_NODES + 1  # the same, in an answer: two values in a list
MAX_DEPTH = 8  # of lists in lists, and of the shape of a tensor
MAX_SIZE = 2**17  # of one dimension: an empty tensor may have a dimension without end
MAX_LETTERS = 2**20  # bytes that the texts of one value take
MAX_TEXT = 100_000  # characters of one
MAX_NAME = 200  # characters of a text in an observation, such as the name of a parameter
MAX_WHOLE = 2**53
MAX_HEX = 3500  # digits of a whole number: 4214 decimal ones, which Python still turns into text
# The types of numbers in an array. All are sent as bytes, the least one first.
NUMBERS = ("|b1", *("|i1", "<i2", "<i4", "<i8"), *("|u1", "<u2", "<u4", "<u8"), *("<f2", "<f4", "<f8"))
TIMES = tuple(f"<{kind}8[{unit}]" for kind in "Mm" for unit in ("ns", "us", "ms", "s", "D"))
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_PLAIN = frozenset(DTYPES.values())


@dataclass(frozen=True)
class Unusable:
    """Stands for a value that cannot be graded, such as an open file or a sparse tensor."""

    reason: str


class _TooMuch(Exception):
    """The value has no end, or as good as none."""


def encode(value: object, prefix: str = "", *, is_observation: bool = False) -> Encoded:
    """Write a value as a JSON tree and the tensors it refers to, whose names begin with the prefix."""
    encoder = _Encoder(prefix, is_observation)
    try:
        return encoder.tree(value, MAX_DEPTH), encoder.tensors
    except _TooMuch as reason:
        return {"unusable": str(reason)}, {}


class _Encoder:
    """Writes one value, and refuses what has no end."""

    def __init__(self, prefix: str, is_observation: bool) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self._prefix = prefix
        self._is_observation = is_observation
        self._nodes_left = MAX_OBSERVED if is_observation else MAX_NODES
        self._bytes_left = MAX_VALUE
        self._letters_left = MAX_LETTERS

    def tree(self, value: object, depth: int) -> Tree:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise _TooMuch("a list with far too many items")
        if depth < 0:
            raise _TooMuch("lists in lists in lists without end")
        if self._is_observation:
            value = unboxed(value)
        elif _is(value, np.generic):  # type: ignore[type-abstract]
            return self._scalar(value)
        if value is None or type(value) is float or type(value) is bool:  # soon done: most of a list are numbers
            return value
        if _is(value, torch.Tensor):
            return self._tensor(value)
        if _is(value, tuple):
            return {"tuple": self._items(value, depth)}
        if _is(value, list):
            return {"list": self._items(value, depth)}
        if _is(value, str):
            return self._text(str.__str__(value))
        if _is(value, int):
            return self._whole(int.__index__(value))
        if _is(value, float):
            return float.__float__(value)
        if _is(value, dict):
            return {"dict": [self._items(pair, depth) for pair in dict.items(value)]}
        if type(value) is np.ndarray and (value.dtype.kind in "fiub" or not self._is_observation):
            return self._array(value, depth)
        return self._rare(value, depth)

    def _rare(self, value: object, depth: int) -> Tree:
        """What is in no observation."""
        if self._is_observation:
            return _unusable(value)
        if _is(value, set):
            return {"set": self._items(set.__iter__(value), depth)}
        if _is(value, frozenset):
            return {"frozenset": self._items(frozenset.__iter__(value), depth)}
        if _is(value, bytes):
            return {"bytes": self._text(bytes.hex(value))}
        if tables.is_table(value):
            return self._table(tables.table_of(value), depth)
        return _unusable(value)

    def _items(self, items: Iterable[object], depth: int) -> list[Tree]:
        return [self.tree(item, depth - 1) for item in items]

    def _tensor(self, tensor: torch.Tensor) -> Tree:
        reason = why_unusable(tensor)
        if reason:
            return {"unusable": reason}
        self._count_bytes(tensor.numel() * tensor.element_size())
        return {"tensor": self._keep(_copy_of(tensor)), "device": tensor.device.type}

    def _count_bytes(self, count: int) -> None:
        """Take note of so many more, before anything is copied."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise _TooMuch("far too many numbers")

    def _keep(self, tensor: torch.Tensor) -> str:
        """The name by which the tree refers to this tensor."""
        name = f"{self._prefix}{len(self.tensors)}"
        self.tensors[name] = tensor
        return name

    def _text(self, text: str) -> str:
        """The text, counted as it is sent: a letter may take twelve bytes."""
        if len(text) > MAX_TEXT:
            raise _TooMuch("far too long a text")
        self._letters_left -= len(text) if text.isascii() and text.isprintable() else len(json.dumps(text))
        if self._letters_left < 0:
            raise _TooMuch("far too much text")
        return text

    def _whole(self, value: int) -> Tree:
        if abs(value) < MAX_WHOLE:
            return value
        if value.bit_length() > 4 * MAX_HEX or self._is_observation:
            return {"unusable": "a whole number far too large"}
        return {"large": self._text(f"{value:x}")}

    def _scalar(self, value: np.generic) -> Tree:
        if isinstance(value, np.str_):
            return self._text(str.__str__(value))
        dtype = _sent_as(value.dtype)
        if dtype not in NUMBERS:
            return _unusable(value)
        return {"scalar": dtype, "is": np.asarray(value).astype(dtype).item()}

    def _array(self, array: Array, depth: int) -> Tree:
        if array.ndim > MAX_DEPTH:
            return {"unusable": f"an array with {array.ndim} dimensions"}
        if max(array.shape, default=0) > MAX_SIZE:
            return {"unusable": "an array that is far too long"}
        if array.dtype.kind in "OUT":
            return self._array_of_texts(array, depth)
        dtype = _sent_as(array.dtype)
        if dtype not in (*NUMBERS, *TIMES):
            return {"unusable": f"an array of {array.dtype.name[:40]} values"}
        self._count_bytes(array.size * np.dtype(dtype).itemsize)
        content = np.frombuffer(array.astype(dtype).tobytes(), dtype=np.uint8)
        return {"array": dtype, "shape": [*array.shape], "bytes": self._keep(torch.from_numpy(content.copy()))}

    def _array_of_texts(self, array: Array, depth: int) -> Tree:
        """Texts may come as objects, too."""
        if array.size > self._nodes_left:  # before they are taken apart
            raise _TooMuch("an array with far too many texts")
        texts = array.ravel().tolist()
        if not all(type(text) is str for text in texts):
            return {"unusable": "an array of objects"}
        return {"texts": [self.tree(text, depth) for text in texts], "shape": [*array.shape]}

    def _table(self, table: Table, depth: int) -> Tree:
        return {
            "series" if table.is_series else "table": [self._column(column, depth) for column in table.columns],
            "index": self._column(table.index, depth),
        }

    def _column(self, column: Column, depth: int) -> Tree:
        return [self.tree(column.name, depth - 1), self.tree(column.cells, depth - 1), self._text(column.dtype)]


def _unusable(value: object) -> Tree:
    return {"unusable": f"a value of type {type(value).__name__[:100]}"}


def _is(value: object, cls: type[_T]) -> TypeGuard[_T]:
    """Whether it is of this class: unlike isinstance, this asks no attribute of the value."""
    return issubclass(type(value), cls)


def _copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous copy on the CPU, as it is sent: a view may be part of a large tensor, or transposed."""
    numbers = tensor.detach() if tensor.requires_grad else tensor
    numbers = numbers.cpu()
    return numbers.clone() if numbers.is_contiguous() else numbers.contiguous()


def _sent_as(dtype: np.dtype[np.generic]) -> str:
    """The type in which an array is sent: extended floats become ordinary ones."""
    return "<f8" if dtype.kind == "f" and dtype.itemsize > 8 else dtype.newbyteorder("<").str


def unboxed(value: object) -> Any:
    """A single number, text or truth value of numpy as one of Python; other values as they are."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        return value.item()
    return value


def why_unusable(tensor: torch.Tensor) -> str:
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
