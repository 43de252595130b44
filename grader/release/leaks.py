"""The proof that a release gives nothing away: no solution, no hidden test, and nothing of what the grader knows."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from grader.course import Course
from grader.errors import CourseError
from grader.model.exercise import Exercise

_SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
_HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", re.DOTALL)
_TRIVIAL = 12  # characters; shorter lines, such as "return x", say nothing


class LeakError(CourseError):
    """A release would give away what students must not see."""


def refuse_leaks(course: Course, assignment: str, folder: str = "release") -> None:
    """Stop with an error if what is about to be handed out holds a secret."""
    leaks = find_leaks(course, assignment, folder)
    if leaks:
        raise LeakError(
            f"{folder}/{assignment} gives away what is listed here. Do not hand it out; mend the notebook in source/ "
            f"and release it again.\n" + "\n".join(f"  {leak}" for leak in leaks)
        )


def find_leaks(course: Course, assignment: str, folder: str = "release") -> list[str]:
    """Every secret that occurs in a file of the release, as "file: secret"."""
    sources = [course.read("source", assignment, name) for name in course.notebooks("source", assignment)]
    secrets = _secrets(
        [cell for source in sources for cell in source.cells], list(course.exercises(assignment).values())
    )
    return [
        f"{path.name}: {secret}"
        for path in sorted((course.root / folder / assignment).rglob("*"))
        if path.is_file()
        for text in [_text(path)]
        for secret in sorted(secrets)
        if secret in text
    ]


def _text(path: Path) -> str:
    """A file as text, with JSON's escapes undone so that a source line is found as it was written."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return text.replace('\\"', '"').replace("\\\\", "\\") if path.suffix == ".ipynb" else text


def _secrets(cells: list[Any], exercises: list[Exercise]) -> set[str]:
    """Solution lines, hidden tests, and what the grader knows: references, cases, misconceptions."""
    secrets: set[str] = set()
    released: set[str] = set()  # lines that a student sees anyway, such as signatures and given code
    for cell in cells:
        for region in _SOLUTION.findall(cell.source) + _HIDDEN.findall(cell.source):
            secrets.update(_lines(region))
        released.update(_lines(_HIDDEN.sub("", _SOLUTION.sub("", cell.source))))
    for exercise in (function for numbered in exercises for function in numbered.functions):
        secrets.update(_lines(inspect.getsource(exercise.reference)))
        secrets.update(case.catches for case in exercise.cases)
        secrets.update(misconception.says for misconception in exercise.misconceptions)
    return secrets - released


def _lines(text: str) -> set[str]:
    code = (line.split("#")[0].strip() for line in text.splitlines())
    return {line for line in code if len(line) > _TRIVIAL and not line.startswith("def __")}
