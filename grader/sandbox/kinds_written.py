"""Values of all kinds, as functions take and return them: words, truth values, dicts, sets, arrays and tables, too.

As in values.py, a value becomes a JSON tree that refers to tensors by name, and both sides treat what they read as
hostile. Nothing is asked of a student's object but what its kind itself answers: a dict with an `items` of its own is
read as the dict that it is. What comes out on the other side is of the plain kinds alone.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch

from grader.sandbox import tables
from grader.sandbox.tables import Column, Table
from grader.sandbox.values import (
    MAX_DEPTH,
    MAX_SIZE,
    MAX_WHOLE,
    Encoder,
    TooMuch,
)

MAX_NODES = 50_000  # items, keys and numbers in one value
MAX_LETTERS = 2**20  # bytes that the texts of one value take
MAX_TEXT = 100_000  # characters of one
MAX_HEX = 3500  # digits of a whole number: 4214 decimal ones, of which Python still makes a text
# The types of numbers in an array. All are sent as bytes, the least one first.
NUMBERS = ("|b1", *("|i1", "<i2", "<i4", "<i8"), *("|u1", "<u2", "<u4", "<u8"), *("<f2", "<f4", "<f8"))
TIMES = tuple(f"<{kind}8[{unit}]" for kind in "Mm" for unit in ("ns", "us", "ms", "s", "D"))


def encode(value: Any, prefix: str = "") -> tuple[Any, dict[str, torch.Tensor]]:
    """A value as a JSON tree and the tensors it refers to, whose names begin with the prefix."""
    encoder = _Encoder(prefix)
    try:
        return encoder.tree(value, MAX_DEPTH), encoder.tensors
    except TooMuch as reason:
        return {"unusable": str(reason)}, {}


class _Encoder(Encoder):
    def __init__(self, prefix: str) -> None:
        super().__init__(prefix, words=True)
        self._nodes_left = MAX_NODES
        self._letters_left = MAX_LETTERS

    def tree(self, value: Any, depth: int) -> Any:
        self.count(depth)
        kind = type(value)  # which, unlike isinstance, asks no attribute of the value
        if value is None or kind is bool:
            return value
        if issubclass(kind, torch.Tensor):
            return self.tensor(value)
        if issubclass(kind, np.generic):
            return self._scalar(value)
        if issubclass(kind, str):
            return self._text(str.__str__(value))
        if issubclass(kind, int):
            return self._whole(int.__index__(value))
        if issubclass(kind, float):
            return float.__float__(value)
        if issubclass(kind, (list, tuple)):
            return {"tuple" if issubclass(kind, tuple) else "list": [self.tree(item, depth - 1) for item in value]}
        return self._container(value, kind, depth)

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        if issubclass(kind, dict):
            pairs = dict.items(value)
            return {"dict": [[self.tree(key, depth - 1), self.tree(item, depth - 1)] for key, item in pairs]}
        for of in (set, frozenset):
            if issubclass(kind, of):
                return {of.__name__: [self.tree(item, depth - 1) for item in of.__iter__(value)]}
        if issubclass(kind, bytes):
            return {"bytes": self._text(bytes.hex(value))}
        if kind is np.ndarray:
            return self._array(value, depth)
        if tables.is_table(value):
            return self._table(tables.table_of(value), depth)
        return {"unusable": f"a value of type {kind.__name__[:100]}"}

    def _text(self, text: str) -> Any:
        """Counted as it is sent: a letter may take twelve bytes."""
        if len(text) > MAX_TEXT:
            raise TooMuch("far too long a text")
        self._letters_left -= len(text) if text.isascii() and text.isprintable() else len(json.dumps(text))
        if self._letters_left < 0:
            raise TooMuch("far too much text")
        return text

    def _whole(self, value: int) -> Any:
        if abs(value) < MAX_WHOLE:
            return value
        if value.bit_length() > 4 * MAX_HEX:
            return {"unusable": "a whole number far too large"}
        return {"large": self._text(f"{value:x}")}

    def _scalar(self, value: np.generic) -> Any:
        if isinstance(value, np.str_):
            return self._text(str.__str__(value))
        dtype = _sent_as(value.dtype)
        if dtype not in NUMBERS:
            return {"unusable": f"a value of type {type(value).__name__}"}
        return {"scalar": dtype, "is": np.asarray(value).astype(dtype).item()}

    def _array(self, array: np.ndarray[Any, Any], depth: int) -> Any:
        if array.ndim > MAX_DEPTH:
            return {"unusable": f"an array with {array.ndim} dimensions"}
        if max(array.shape, default=0) > MAX_SIZE:
            return {"unusable": "an array that is far too long"}
        if array.dtype.kind in "OUT":
            return self._array_of_texts(array, depth)
        dtype = _sent_as(array.dtype)
        if dtype not in (*NUMBERS, *TIMES):
            return {"unusable": f"an array of {array.dtype.name[:40]} values"}
        self.count_bytes(array.size * np.dtype(dtype).itemsize)
        content = np.frombuffer(array.astype(dtype).tobytes(), dtype=np.uint8)
        return {"array": dtype, "shape": list(array.shape), "bytes": self.keep(torch.from_numpy(content.copy()))}

    def _array_of_texts(self, array: np.ndarray[Any, Any], depth: int) -> Any:
        """Of objects as well, if they are texts."""
        if array.size > self._nodes_left:  # before they are taken apart
            raise TooMuch("an array with far too many texts")
        texts = array.ravel().tolist()
        if not all(type(text) is str for text in texts):
            return {"unusable": "an array of objects"}
        return {"texts": [self.tree(text, depth) for text in texts], "shape": list(array.shape)}

    def _table(self, table: Table, depth: int) -> Any:
        return {
            "series" if table.is_series else "table": [self._column(column, depth) for column in table.columns],
            "index": self._column(table.index, depth),
        }

    def _column(self, column: Column, depth: int) -> Any:
        return [self.tree(column.name, depth - 1), self.tree(column.cells, depth - 1), self._text(column.dtype)]


def _sent_as(dtype: np.dtype[Any]) -> str:
    """The type in an array that is sent: a longer float than others have is cut to the usual one."""
    return "<f8" if dtype.kind == "f" and dtype.itemsize > 8 else dtype.newbyteorder("<").str
