"""Read values from JSON that anybody may have changed: of the right kinds and sizes, or nothing.

Types say what is right: `Annotated[str, Meta(max_length=…)]`, in a dataclass or a msgspec.Struct. One wrong value
rejects all. JSON itself is read by Python's library: it writes halves of characters, as odd names of files have, and
msgspec reads none.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Annotated, Any, TypeGuard, TypeVar, overload

import msgspec
from msgspec import Meta

T = TypeVar("T")

Text = Annotated[str, Meta(max_length=10_000)]
Texts = Annotated[tuple[Text, ...], Meta(max_length=200)]
Number = Annotated[float, Meta(gt=-1e6, lt=1e6)]
Count = Annotated[int, Meta(ge=0, lt=10**6)]


# msgspec prepares a type when it is first used. If two threads do so at once, the process ends: a segmentation fault.
_one_thread_at_a_time = threading.RLock()


class NotJSON(ValueError):
    """This is not JSON, or Python refuses to read it: it is nested too deeply, or has too long a number."""


def read_json(content: str | bytes) -> object:
    """The value in a JSON text, whoever wrote it."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotJSON("it is not JSON") from error


@overload
def converted(data: object, kind: type[T]) -> T | None: ...
@overload
def converted(data: object, kind: Any) -> Any: ...
def converted(data: object, kind: Any) -> Any:
    """The value of this kind that the data describe; None if any part of them is wrong."""
    try:
        return convert(data, kind)
    except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):  # the last one: half a character for a word
        return None


def convert(data: object, kind: type[T]) -> T:
    """The value of this kind that the data describe. What is wrong with them is raised as msgspec does."""
    with _one_thread_at_a_time:
        return msgspec.convert(data, kind)


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether this is what JSON calls an object."""
    return isinstance(value, Mapping)


def number(value: object) -> float | None:
    """A number of ordinary size, or None."""
    size: float | None = converted(value, Number)
    return size
