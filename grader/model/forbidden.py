"""What the code of an exercise must not use, because not using it is the exercise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Forbidden:
    """Modules and names that a solution does without, and what is said to those who use one.

    `parts` are what no attribute contains, unless the notebook defines it. In `says`, {} stands for what is used.
    """

    modules: tuple[str, ...]
    names: tuple[str, ...]
    says: str
    parts: tuple[str, ...] = ()
