"""What kinds_written.py writes, read on the other side as what anybody may have written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.sandbox import tables
from grader.sandbox.kinds_written import MAX_HEX, MAX_NODES, MAX_TEXT, NUMBERS, TIMES, encode
from grader.sandbox.plain_text import one_line
from grader.sandbox.tables import Column, Table
from grader.sandbox.values import MAX_DEPTH, MAX_SIZE, MAX_VALUE, MAX_WHOLE, UNREADABLE, Decoder, Unusable, usable

MAX_ALIKE = 1000  # keys of one hash
ALIKE = "far too many keys that have the same hash"


def decode(tree: Any, tensors: Mapping[str, torch.Tensor], max_nodes: int = MAX_NODES, pandas: bool = False) -> Any:
    """The value of a JSON tree. Whatever is not as `encode` writes it becomes Unusable.

    Tables become those of `pandas` for a student's function only.
    """
    return _Decoder(tensors, max_nodes, pandas).value(tree, MAX_DEPTH)


def plain(value: Any) -> Any:
    """A value as it would come out on the other side, so that two of them can be compared."""
    return decode(*encode(value))


class _Decoder(Decoder):
    def __init__(self, tensors: Mapping[str, torch.Tensor], max_nodes: int, pandas: bool) -> None:
        super().__init__(tensors, max_nodes, words=True)
        self._pandas = pandas

    def value(self, tree: Any, depth: int) -> Any:
        self._nodes_left -= 1
        if tree is None or isinstance(tree, (bool, float)):
            return tree
        if self._nodes_left < 0 or depth < 0:
            return Unusable(UNREADABLE)
        if isinstance(tree, int):
            return tree if abs(tree) < MAX_WHOLE else Unusable(UNREADABLE)
        if isinstance(tree, str):
            return tree if len(tree) <= MAX_TEXT else Unusable(UNREADABLE)
        return self._of_object(tree, depth) if isinstance(tree, dict) else Unusable(UNREADABLE)

    def _of_object(self, tree: dict[str, Any], depth: int) -> Any:
        match tree:
            case {"tensor": str(name)} if name in self.unread:
                return usable(self.unread.pop(name))
            case {"list": list(items)}:
                return [self.value(item, depth - 1) for item in items]
            case {"tuple": list(items)}:
                return tuple(self.value(item, depth - 1) for item in items)
            case {"dict": list(pairs)}:
                return self._dict(pairs, depth)
            case {"set": list(items)} | {"frozenset": list(items)}:
                return self._set(items, frozenset if "frozenset" in tree else set, depth)
            case {"large": str(digits)} if 0 < len(digits) <= MAX_HEX + 1:
                return _large(digits)
            case {"bytes": str(digits), "array": _} | {"bytes": str(digits), "texts": _}:
                return self._array(tree, digits)
            case {"bytes": str(digits)}:
                return _bytes(digits)
            case _:
                return self._of_numpy(tree, depth)

    def _of_numpy(self, tree: dict[str, Any], depth: int) -> Any:
        match tree:
            case {"scalar": str(dtype), "is": bool() | int() | float() as number} if dtype in NUMBERS:
                return _scalar(dtype, number)
            case {"texts": list(texts), "shape": list(shape)} if _is_shape(shape, len(texts)):
                return self._texts(texts, shape, depth)
            case {"table": list(columns), "index": list(index)}:
                return self._table(columns, index, False, depth)
            case {"series": list(columns), "index": list(index)} if len(columns) == 1:
                return self._table(columns, index, True, depth)
            case {"unusable": str(reason)}:
                return Unusable(one_line(reason))
        return Unusable(UNREADABLE)

    def _dict(self, pairs: list[Any], depth: int) -> Any:
        found = []
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                return Unusable(UNREADABLE)
            key, item = self._key(pair[0], depth), self.value(pair[1], depth - 1)
            if isinstance(key, Unusable):
                return Unusable(one_line(f"a dict with {key.reason} as a key"))
            found.append((key, item))
        return dict(found) if _can_be_told_apart([key for key, _ in found]) else Unusable(ALIKE)

    def _set(self, items: list[Any], of: type[Any], depth: int) -> Any:
        keys = [self._key(item, depth) for item in items]
        bad = next((key for key in keys if isinstance(key, Unusable)), None)
        if bad is not None:
            return Unusable(one_line(f"a set with {bad.reason} in it"))
        return of(keys) if _can_be_told_apart(keys) else Unusable(ALIKE)

    def _key(self, tree: Any, depth: int) -> Any:
        """What can be looked up: it and all in it is plain and never changes."""
        return _as_key(self.value(tree, depth - 1))

    def _array(self, tree: dict[str, Any], name: str) -> Any:
        dtype, shape = tree.get("array"), tree.get("shape")
        content = self.unread.pop(name, None)
        if dtype not in (*NUMBERS, *TIMES) or content is None or content.dtype is not torch.uint8:
            return Unusable(UNREADABLE)
        count, rest = divmod(content.numel(), np.dtype(dtype).itemsize)
        if rest or not _is_shape(shape, count):
            return Unusable(UNREADABLE)
        # A truth value is a byte that is 0 or 1; of another one, nobody knows what it does.
        flat = content.reshape(-1).numpy().copy()
        return (flat != 0 if dtype == "|b1" else flat.view(dtype)).reshape(shape)

    def _texts(self, texts: list[Any], shape: list[int], depth: int) -> Any:
        found = [self.value(text, depth) for text in texts]
        # Else a single long text would make all others as long.
        if not all(isinstance(text, str) for text in found) or len(found) * max(map(len, found), default=0) > MAX_VALUE:
            return Unusable(UNREADABLE)
        return np.array(found, dtype=str).reshape(shape)

    def _table(self, columns: list[Any], index: list[Any], is_series: bool, depth: int) -> Any:
        labels, *found = [self._column(column, depth) for column in [index, *columns]]
        bad = next((column for column in (labels, *found) if isinstance(column, Unusable)), None)
        if bad:
            return Unusable(one_line(f"a table with {bad.reason}"))
        if any(len(column.cells) != len(labels.cells) for column in found):
            return Unusable(UNREADABLE)
        table = Table(tuple(found), labels, is_series)
        return tables.real(table) if self._pandas else table

    def _column(self, tree: Any, depth: int) -> Any:
        if not isinstance(tree, list) or len(tree) != 3 or not isinstance(tree[2], str):
            return Unusable(UNREADABLE)
        name, cells = self._key(tree[0], depth), self.value(tree[1], depth - 1)
        if isinstance(name, Unusable) or isinstance(cells, Unusable):
            return name if isinstance(name, Unusable) else cells
        if isinstance(cells, list):
            cells = [_as_key(cell) for cell in cells]
            bad = next((cell for cell in cells if isinstance(cell, Unusable)), None)
            return Unusable(f"{bad.reason} in a cell") if bad else Column(name, cells, one_line(tree[2], 40))
        return Column(name, cells) if isinstance(cells, np.ndarray) and cells.ndim == 1 else Unusable(UNREADABLE)


def _can_be_told_apart(keys: Sequence[Any]) -> bool:
    """Whether few have the same hash: of those, Python compares each with all others, and some are made for that."""
    return max(Counter(map(hash, keys)).values(), default=0) <= MAX_ALIKE


def _as_key(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return math.nan  # always the same one, so that it is found again
    if value is None or isinstance(value, (bool, int, float, str, bytes, Unusable)):
        return value
    if isinstance(value, (tuple, frozenset)):
        items = [_as_key(item) for item in value]
        bad = next((item for item in items if isinstance(item, Unusable)), None)
        return bad or type(value)(items)
    if isinstance(value, Table):
        return Unusable(f"a value of type {'Series' if value.is_series else 'DataFrame'}")
    return Unusable(f"a value of type {type(value).__name__}")


def _large(digits: str) -> Any:
    try:
        return int(digits, 16)
    except ValueError:
        return Unusable(UNREADABLE)


def _bytes(digits: str) -> Any:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return Unusable(UNREADABLE)


def _scalar(dtype: str, number: float) -> Any:
    """A number that does not fit its type is none of ours."""
    try:
        with np.errstate(all="ignore"):
            return np.dtype(dtype).type(number)
    except (OverflowError, ValueError):
        return Unusable(UNREADABLE)


def _is_shape(shape: Any, count: int) -> bool:
    if not isinstance(shape, list) or len(shape) > MAX_DEPTH:
        return False
    return all(type(size) is int and 0 <= size <= MAX_SIZE for size in shape) and math.prod(shape) == count
