"""All exercises, one file each. To add one, add a file named like the others; nothing else to register."""

from __future__ import annotations

import importlib
import pkgutil

from grader.exercise import Exercise


def _load() -> dict[int, Exercise]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("ex"))
    found = [importlib.import_module(f"{__name__}.{name}").exercise for name in names]
    return {exercise.number: exercise for exercise in found}


EXERCISES: dict[int, Exercise] = _load()


def of_assignment(assignment: str) -> list[Exercise]:
    return [exercise for exercise in EXERCISES.values() if exercise.assignment == assignment]
