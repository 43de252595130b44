"""What an exercise is called within its assignment: a number, or a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

Label = int | str

NAME = "[A-Za-z][A-Za-z0-9_-]{0,63}"
PATTERN = rf"[1-9]\d{{0,4}}|{NAME}"


def label_of(value: object) -> Label | None:
    """Read a label from a number or text; None if it is not one."""
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not re.fullmatch(PATTERN, str(value)):
        return None
    return int(value) if str(value).isdecimal() else value


def in_order(label: Label | None) -> tuple[bool, int, str]:
    """A key for sorting without a notebook: what belongs to no exercise, then numbers, then names."""
    if label is None:
        return (False, 0, "")
    return (isinstance(label, str), label if isinstance(label, int) else 0, str(label))


def as_in(order: Iterable[Label | None], labels: Iterable[Label | None]) -> list[Any]:
    """Sort labels as in a notebook with this `order`; those not in it come last, and None first."""
    places = {label: place for place, label in enumerate(dict.fromkeys(order))}
    return sorted(labels, key=lambda label: (label is not None, places.get(label, len(places)), in_order(label)))
