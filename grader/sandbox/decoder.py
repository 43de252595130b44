"""Reads what values.py writes, on the other side of the channel, where anybody may have written it.

Only values of plain kinds come out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import torch

from grader.sandbox import tables
from grader.sandbox.plain_text import one_line
from grader.sandbox.tables import Column, Table
from grader.sandbox.values import (
    MAX_ANSWER,
    MAX_DEPTH,
    MAX_HEX,
    MAX_NAME,
    MAX_OBSERVED,
    MAX_SIZE,
    MAX_TEXT,
    MAX_VALUE,
    MAX_WHOLE,
    NUMBERS,
    TIMES,
    Unusable,
    encode,
    why_unusable,
)

UNREADABLE = "something that cannot be read"
MAX_ALIKE = 1000  # keys of one hash
ALIKE = "far too many keys that have the same hash"
_UNREADABLE = Unusable(UNREADABLE)


def decode(
    tree: object,
    tensors: Mapping[str, torch.Tensor],
    max_nodes: int = 0,
    *,
    is_observation: bool = False,
    pandas: bool = False,
) -> Any:
    """Read the value of a JSON tree. Whatever is not as `encode` writes it becomes Unusable.

    Tables become those of `pandas` for a student's function only.
    """
    max_nodes = max_nodes or (MAX_OBSERVED if is_observation else MAX_ANSWER)
    return _Decoder(tensors, max_nodes, is_observation, pandas).value(tree, MAX_DEPTH)


def plain(value: object) -> Any:
    """A value as it would come out on the other side, so that two of them can be compared."""
    return decode(*encode(value))


class _Decoder:
    """Reads one value, and no more than so many nodes of it."""

    def __init__(self, tensors: Mapping[str, torch.Tensor], max_nodes: int, is_observation: bool, pandas: bool) -> None:
        self._unread = dict(tensors)  # each may stand in one place, so a short message holds no long value
        self._nodes_left = max_nodes
        self._is_observation = is_observation
        self._pandas = pandas

    def value(self, tree: object, depth: int) -> object:
        self._nodes_left -= 1
        if tree is None:
            return None
        if self._nodes_left < 0 or depth < 0:
            return _UNREADABLE
        match tree:
            case bool() | float():
                return tree
            case int():
                return tree if abs(tree) < MAX_WHOLE else _UNREADABLE
            case str():
                return self._text(tree)
            case {"tensor": str(name)} if name in self._unread:
                return _usable(self._unread.pop(name))
            case {"list": list(items)}:
                return self._items(items, depth)
            case {"tuple": list(items)}:
                return tuple(self._items(items, depth))
            case {"dict": list(pairs)}:
                return self._dict(pairs, depth)
            case {"array": str(dtype), "shape": list(shape), "bytes": str(name)} if dtype in NUMBERS:
                return self._array(name, dtype, shape)
            case {"unusable": str(reason)}:
                return Unusable(one_line(reason))
        return _UNREADABLE if self._is_observation else self._rare(tree, depth)

    def _rare(self, tree: object, depth: int) -> object:
        """What is in no observation."""
        match tree:
            case {"set": list(items)}:
                return self._set(items, set, depth)
            case {"frozenset": list(items)}:
                return self._set(items, frozenset, depth)
            case {"large": str(digits)} if 0 < len(digits) <= MAX_HEX + 1:
                return _large(digits)
            case {"array": str(dtype), "shape": list(shape), "bytes": str(name)} if dtype in TIMES:
                return self._array(name, dtype, shape)
            case {"bytes": str(digits), **more} if not more:
                return _bytes(digits)
            case {"scalar": str(dtype), "is": bool() | int() | float() as number} if dtype in NUMBERS:
                return _scalar(dtype, number)
            case {"texts": list(texts), "shape": list(shape)}:
                return self._texts(texts, shape, depth)
            case {"table": list(columns), "index": list(index)}:
                return self._table(columns, index, False, depth)
            case {"series": list(columns), "index": list(index)} if len(columns) == 1:
                return self._table(columns, index, True, depth)
        return _UNREADABLE

    def _text(self, text: str) -> object:
        """A text in an observation is the name of something: it is cut, and stays on one line."""
        if self._is_observation:
            return one_line(text, MAX_NAME)
        return text if len(text) <= MAX_TEXT else _UNREADABLE

    def _items(self, items: list[object], depth: int) -> list[object]:
        return [self.value(item, depth - 1) for item in items]

    def _dict(self, pairs: list[object], depth: int) -> object:
        items = []
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                return _UNREADABLE
            key, value = self._key(pair[0], depth), self.value(pair[1], depth - 1)
            if isinstance(key, Unusable):
                return Unusable(one_line(f"a dict with {key.reason} as a key"))
            items.append((key, value))
        return dict(items) if _can_be_told_apart([key for key, _ in items]) else Unusable(ALIKE)

    def _set(self, items: list[object], cls: type[set[object]] | type[frozenset[object]], depth: int) -> object:
        keys = [self._key(item, depth) for item in items]
        unusable = _first_unusable(keys)
        if unusable:
            return Unusable(one_line(f"a set with {unusable.reason} in it"))
        return cls(keys) if _can_be_told_apart(keys) else Unusable(ALIKE)

    def _key(self, tree: object, depth: int) -> object:
        """A value that can be a key: it and all in it is plain and never changes. In an observation, it is a name."""
        key = _as_key(self.value(tree, depth - 1))
        return one_line(key) if self._is_observation and not isinstance(key, Unusable) else key

    def _array(self, name: str, dtype: str, shape: list[object]) -> object:
        content = self._unread.pop(name, None)
        if content is None or content.dtype is not torch.uint8:
            return _UNREADABLE
        count, bytes_left = divmod(content.numel(), np.dtype(dtype).itemsize)
        if bytes_left or not _is_shape(shape, count):
            return _UNREADABLE
        # A truth value is a byte that is 0 or 1; nobody knows what any other byte does.
        flat = content.reshape(-1).numpy().copy()
        return (flat != 0 if dtype == "|b1" else flat.view(dtype)).reshape(shape)

    def _texts(self, trees: list[object], shape: list[object], depth: int) -> object:
        if not _is_shape(shape, len(trees)):
            return _UNREADABLE
        values = [self.value(tree, depth) for tree in trees]
        texts = [value for value in values if isinstance(value, str)]
        # In an array, a single long text makes all others as long.
        is_too_long = len(texts) * max(map(len, texts), default=0) > MAX_VALUE
        return _UNREADABLE if is_too_long or len(texts) < len(trees) else np.array(texts, dtype=str).reshape(shape)

    def _table(self, column_trees: list[object], index: list[object], is_series: bool, depth: int) -> object:
        columns: list[Column] = []
        for tree in [index, *column_trees]:
            column = self._column(tree, depth)
            if isinstance(column, Unusable):
                return Unusable(one_line(f"a table with {column.reason}"))
            columns.append(column)
        labels = columns.pop(0)
        if any(len(column.cells) != len(labels.cells) for column in columns):
            return _UNREADABLE
        table = Table(tuple(columns), labels, is_series)
        return tables.real(table) if self._pandas else table

    def _column(self, tree: object, depth: int) -> Column | Unusable:
        if not isinstance(tree, list) or len(tree) != 3 or not isinstance(tree[2], str):
            return _UNREADABLE
        name, cells = self._key(tree[0], depth), self.value(tree[1], depth - 1)
        unusable = _first_unusable([name, cells])
        if unusable:
            return unusable
        if isinstance(cells, list):
            cells = list(map(_as_key, cells))
            unusable = _first_unusable(cells)
            return Unusable(f"{unusable.reason} in a cell") if unusable else Column(name, cells, one_line(tree[2], 40))
        return Column(name, cells) if isinstance(cells, np.ndarray) and cells.ndim == 1 else _UNREADABLE


def _usable(tensor: torch.Tensor) -> torch.Tensor | Unusable:
    reason = why_unusable(tensor)
    return Unusable(reason) if reason else tensor


def _first_unusable(values: Sequence[object]) -> Unusable | None:
    return next((value for value in values if isinstance(value, Unusable)), None)


def _can_be_told_apart(keys: Sequence[object]) -> bool:
    """Whether only a few keys share a hash: Python compares those with each other, and some are made to be slow."""
    return max(Counter(map(hash, keys)).values(), default=0) <= MAX_ALIKE


def _as_key(value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return math.nan  # always the same one, so that it is found again
    if value is None or isinstance(value, (bool, int, float, str, bytes, Unusable)):
        return value
    if isinstance(value, (tuple, frozenset)):
        items = [_as_key(item) for item in value]
        return _first_unusable(items) or type(value)(items)
    if isinstance(value, Table):
        return Unusable(f"a value of type {'Series' if value.is_series else 'DataFrame'}")
    return Unusable(f"a value of type {type(value).__name__}")


def _large(digits: str) -> object:
    try:
        return int(digits, 16)
    except ValueError:
        return _UNREADABLE


def _bytes(digits: str) -> object:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return _UNREADABLE


def _scalar(dtype: str, number: float) -> object:
    """A number of this type. The other side never sends one that does not fit its type."""
    try:
        with np.errstate(all="ignore"):
            return np.dtype(dtype).type(number)
    except (OverflowError, ValueError):
        return _UNREADABLE


def _is_shape(sizes: list[Any], count: int) -> TypeGuard[list[int]]:
    """Whether these are sizes of an array with so many entries."""
    are_sizes = all(type(size) is int and 0 <= size <= MAX_SIZE for size in sizes)
    return are_sizes and len(sizes) <= MAX_DEPTH and bool(math.prod(sizes) == count)


def devices(tree: object) -> frozenset[str]:
    """The kinds of device that the tensors of a tree were on."""
    return frozenset(_devices(tree, MAX_DEPTH))


def _devices(tree: object, depth: int) -> Iterator[str]:
    if not isinstance(tree, dict) or depth < 0:
        return
    if "tensor" in tree:
        yield one_line(tree.get("device", "cpu"), 20)
        return
    for kind in ("list", "tuple", "dict"):
        items = tree.get(kind)
        if isinstance(items, list):
            for item in items:
                yield from _devices(
                    item[-1] if isinstance(item, list) and item else item, depth - 1
                )  # a pair of a dict
