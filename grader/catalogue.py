"""The exercises that the grader knows, by number. To add one, add a file named like the others to grader/exercises."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any

from grader import exercises
from grader.model.exercise import Exercise


def _load() -> dict[int, Exercise]:
    names = sorted(module.name for module in pkgutil.iter_modules(exercises.__path__) if module.name.startswith("ex"))
    found = [importlib.import_module(f"{exercises.__name__}.{name}").exercise for name in names]
    return {exercise.number: exercise for exercise in found}


EXERCISES: dict[int, Exercise] = _load()


def of_assignment(assignment: str) -> list[Exercise]:
    return [exercise for exercise in EXERCISES.values() if exercise.assignment == assignment]


def earlier_functions(exercise: Exercise) -> Mapping[str, Callable[..., Any]]:
    """Right versions of all functions of the same assignment that come before."""
    return {
        function.entry: function.lent or function.reference
        for earlier in of_assignment(exercise.assignment)
        if earlier.number < exercise.number
        for function in earlier.functions
        if function.form.lendable
    }
