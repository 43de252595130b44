"""Exercises whose solutions have no text: answers of any kind come from functions made in a test."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.model.exercise import Exercise
from grader.model.misconception import Misconception


@dataclass(frozen=True, kw_only=True, eq=False)
class UnwrittenExercise(Exercise):
    """A mistake changes arguments of the solution by name, or has a function `instead` of it."""

    def __post_init__(self) -> None:
        """Ask the functions themselves."""

        @functools.wraps(self.solution)
        def reference(*inputs: Any, instead: Callable[..., Any] = self.solution, **changes: Any) -> Any:
            return instead(*inputs, **changes)

        object.__setattr__(self, "reference", reference)


def mistake(name: str, instead: Callable[..., Any], credit: float = 0.5) -> Misconception:
    return Misconception(name, "wrong formula", credit, f"This is {name}.", change={"instead": instead})
