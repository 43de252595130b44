"""A function that returns what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WORDS = False
KINDS = True  # what it takes and returns may be of any kind: the judge says which is asked for


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns."""
    return entry(*inputs)
