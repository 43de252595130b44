"""Reads what values.py writes, on the other side of the channel, where anybody may have written it.

Only values of plain kinds come out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.sandbox import tables
from grader.sandbox.plain_text import one_line
from grader.sandbox.tables import Column, Table
from grader.sandbox.values import (
    MAX_DEPTH,
    MAX_HEX,
    MAX_NAME,
    MAX_NODES,
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
    observed: bool = False,
    pandas: bool = False,
) -> Any:
    """Read the value of a JSON tree. Whatever is not as `encode` writes it becomes Unusable.

    Tables become those of `pandas` for a student's function only.
    """
    if observed:
        return _Observation(tensors, max_nodes or MAX_OBSERVED).value(tree, MAX_DEPTH)
    return _AnyKind(tensors, max_nodes or MAX_NODES, pandas).value(tree, MAX_DEPTH)


def plain(value: object) -> Any:
    """A value as it would come out on the other side, so that two of them can be compared."""
    return decode(*encode(value))


class _Decoder:
    """Reads one value, and no more than so many nodes of it."""

    def __init__(self, tensors: Mapping[str, torch.Tensor], max_nodes: int) -> None:
        self._unread = dict(tensors)  # each may stand in one place, so a short message holds no long value
        self._nodes_left = max_nodes

    def value(self, tree: object, depth: int) -> object:
        self._nodes_left -= 1
        if tree is None:
            return None
        if self._nodes_left < 0 or depth < 0:
            return _UNREADABLE
        if not isinstance(tree, dict):
            return self._other(tree, depth)
        match tree:
            case {"tensor": str(name), **more} if name in self._unread:
                return self._tensor(self._unread.pop(name), more.get("numpy") is True)
            case {"list": list(items)}:
                return self._items(items, depth)
            case {"tuple": list(items)}:
                return tuple(self._items(items, depth))
            case {"unusable": str(reason)}:
                return Unusable(one_line(reason))
        return self._other(tree, depth)

    def _items(self, items: list[object], depth: int) -> list[object]:
        return [self.value(item, depth - 1) for item in items]

    def _tensor(self, tensor: torch.Tensor, _as_numpy: bool) -> object:
        return Unusable(reason) if (reason := why_unusable(tensor)) else tensor

    def _other(self, tree: object, depth: int) -> object:
        raise NotImplementedError


class _Observation(_Decoder):
    def _tensor(self, tensor: torch.Tensor, as_numpy: bool) -> object:
        found = super()._tensor(tensor, as_numpy)
        if found is not tensor or not as_numpy:
            return found
        return _UNREADABLE if tensor.dtype is torch.bfloat16 else tensor.numpy()

    def _other(self, tree: object, depth: int) -> object:
        match tree:
            case {"number": float(number)}:
                return number
            case {"flag": bool(flag)}:
                return flag
            case {"whole": int(whole)} if type(whole) is int and abs(whole) < MAX_WHOLE:
                return whole
            case {"text": str(text)}:
                return one_line(text, MAX_NAME)
            case {"dict": dict(items)}:
                return {one_line(key, MAX_NAME): self.value(item, depth - 1) for key, item in items.items()}
        return _UNREADABLE


class _AnyKind(_Decoder):
    def __init__(self, tensors: Mapping[str, torch.Tensor], max_nodes: int, pandas: bool) -> None:
        super().__init__(tensors, max_nodes)
        self._pandas = pandas

    def _other(self, tree: object, depth: int) -> object:
        match tree:
            case bool() | float():
                return tree
            case int():
                return tree if abs(tree) < MAX_WHOLE else _UNREADABLE
            case str():
                return tree if len(tree) <= MAX_TEXT else _UNREADABLE
            case {"dict": list(pairs)}:
                return self._dict(pairs, depth)
            case {"set": list(items)}:
                return self._set(items, set, depth)
            case {"frozenset": list(items)}:
                return self._set(items, frozenset, depth)
            case {"large": str(digits)} if 0 < len(digits) <= MAX_HEX + 1:
                return _large(digits)
            case {"bytes": str(name), "array": str(dtype), "shape": list(shape)} if dtype in (*NUMBERS, *TIMES):
                return self._array(name, dtype, shape)
            case {"bytes": str(digits), **more} if not more:
                return _bytes(digits)
            case {"scalar": str(dtype), "is": bool() | int() | float() as number} if dtype in NUMBERS:
                return _scalar(dtype, number)
            case {"texts": list(texts), "shape": list(shape)} if (sizes := _sizes(shape, len(texts))) is not None:
                return self._texts(texts, sizes, depth)
            case {"table": list(columns), "index": list(index)}:
                return self._table(columns, index, False, depth)
            case {"series": list(columns), "index": list(index)} if len(columns) == 1:
                return self._table(columns, index, True, depth)
        return _UNREADABLE

    def _dict(self, pairs: list[object], depth: int) -> object:
        found = []
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                return _UNREADABLE
            key, item = self._key(pair[0], depth), self.value(pair[1], depth - 1)
            if isinstance(key, Unusable):
                return Unusable(one_line(f"a dict with {key.reason} as a key"))
            found.append((key, item))
        return dict(found) if _can_be_told_apart([key for key, _ in found]) else Unusable(ALIKE)

    def _set(self, items: list[object], of: type[set[object]] | type[frozenset[object]], depth: int) -> object:
        keys = [self._key(item, depth) for item in items]
        if bad := _first_unusable(keys):
            return Unusable(one_line(f"a set with {bad.reason} in it"))
        return of(keys) if _can_be_told_apart(keys) else Unusable(ALIKE)

    def _key(self, tree: object, depth: int) -> object:
        """A value that can be a key: it and everything in it is plain and never changes."""
        return _as_key(self.value(tree, depth - 1))

    def _array(self, name: str, dtype: str, shape: list[object]) -> object:
        content = self._unread.pop(name, None)
        if content is None or content.dtype is not torch.uint8:
            return _UNREADABLE
        count, rest = divmod(content.numel(), np.dtype(dtype).itemsize)
        if rest or (sizes := _sizes(shape, count)) is None:
            return _UNREADABLE
        # A truth value is a byte that is 0 or 1; nobody knows what any other byte does.
        flat = content.reshape(-1).numpy().copy()
        return (flat != 0 if dtype == "|b1" else flat.view(dtype)).reshape(sizes)

    def _texts(self, texts: list[object], shape: list[int], depth: int) -> object:
        found = [text for text in (self.value(text, depth) for text in texts) if isinstance(text, str)]
        # In an array, a single long text makes all others as long.
        too_long = len(found) * max(map(len, found), default=0) > MAX_VALUE
        return _UNREADABLE if too_long or len(found) < len(texts) else np.array(found, dtype=str).reshape(shape)

    def _table(self, columns: list[object], index: list[object], is_series: bool, depth: int) -> object:
        read = [self._column(column, depth) for column in [index, *columns]]
        if bad := _first_unusable(read):
            return Unusable(one_line(f"a table with {bad.reason}"))
        labels, *found = [column for column in read if isinstance(column, Column)]
        if any(len(column.cells) != len(labels.cells) for column in found):
            return _UNREADABLE
        table = Table(tuple(found), labels, is_series)
        return tables.real(table) if self._pandas else table

    def _column(self, tree: object, depth: int) -> Column | Unusable:
        if not isinstance(tree, list) or len(tree) != 3 or not isinstance(tree[2], str):
            return _UNREADABLE
        name, cells = self._key(tree[0], depth), self.value(tree[1], depth - 1)
        if bad := _first_unusable([name, cells]):
            return bad
        if isinstance(cells, list):
            cells = [_as_key(cell) for cell in cells]
            bad = _first_unusable(cells)
            return Unusable(f"{bad.reason} in a cell") if bad else Column(name, cells, one_line(tree[2], 40))
        return Column(name, cells) if isinstance(cells, np.ndarray) and cells.ndim == 1 else _UNREADABLE


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


def _sizes(shape: list[object], count: int) -> list[int] | None:
    """A shape, if it is one of so many entries."""
    sizes = [size for size in shape if type(size) is int and 0 <= size <= MAX_SIZE]
    return sizes if len(sizes) == len(shape) <= MAX_DEPTH and math.prod(sizes) == count else None


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
        for item in items.values() if isinstance(items, dict) else items if isinstance(items, list) else ():
            # Functions send a dict as pairs of a key and a value.
            yield from _devices(item[-1] if isinstance(item, list) and item else item, depth - 1)
