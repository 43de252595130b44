"""What the code of an exercise may use, where doing without the rest is the exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Allowed:
    """All that code may use which the notebook does not define. A list of what is forbidden would never be complete.

    `instead` has what is said of things that are not here, by their names; `says` is said of all others, and before.
    """

    modules: frozenset[str]  # by their full names
    names: frozenset[str]  # what may stand behind a dot, or be imported from a module
    builtins: frozenset[str]  # of Python's own names
    says: str
    instead: Mapping[str, str] = field(default_factory=dict)
