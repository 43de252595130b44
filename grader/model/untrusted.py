"""Read values from JSON that anybody may have changed: of the right kind and size, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeGuard

MAX_TEXTS = 20
MAX_TEXT = 2_000  # characters of one


class NotJSON(ValueError):
    """This is not JSON, or Python refuses to read it: it is nested too deeply, or has too long a number."""


def read_json(content: str | bytes) -> object:
    """The value in a JSON text, whoever wrote it."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotJSON("it is not JSON") from error


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether this is what JSON calls an object."""
    return isinstance(value, Mapping)


def number(value: object) -> float | None:
    """A finite number of ordinary size, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        return None
    return float(value)


def count(value: object) -> int:
    """A count; 0 if it is not one."""
    return max(0, int(number(value) or 0))


def texts(values: object, most: int = MAX_TEXTS) -> tuple[str, ...]:
    """The texts among the first few values."""
    few = values[:most] if isinstance(values, (list, tuple)) else ()
    return tuple(text[:MAX_TEXT] for text in few if isinstance(text, str))
