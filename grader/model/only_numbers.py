"""What came back where tensors and numbers are expected: of other kinds, no more than their name."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.sandbox.tables import Table
from grader.sandbox.values import Unusable, unboxed


def only_numbers(value: Any) -> Any:
    """The same without words, truth values, dicts, sets and tables, which cannot be compared with numbers."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(only_numbers, value))
    value = unboxed(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _as_float(value)
    if isinstance(value, Table):
        return _unusable("Series" if value.is_series else "DataFrame")
    if isinstance(value, (bool, str, bytes, dict, set, frozenset)):
        return _unusable(type(value).__name__)
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
        return _unusable("ndarray")
    return value


def _unusable(kind: str) -> Unusable:
    return Unusable(f"a value of type {kind}")


def _as_float(value: int) -> float | Unusable:
    try:
        return float(value)
    except OverflowError:
        return Unusable("a whole number far too large")
