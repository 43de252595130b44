"""A student's definitions with small changes, to be put to a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class EditedSource:
    """The definitions, and numbers for names that the change has brought in."""

    source: str
    lent: Mapping[str, float] = field(default_factory=dict)
