"""A function that returns what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WORDS = False


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns."""
    return entry(*inputs)
