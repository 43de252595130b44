"""course.toml beside nbgrader_config.py, read into the term's rules. Without the file, there are none."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from grader.errors import CourseError
from grader.term.rules import AssignmentRules, Rule, Rules
from grader.term.toml_table import COURSE_FILE, TomlTable, nearest

_TERM = ("assignments",)
_ASSIGNMENT = tuple(Rule)


def read_rules(root: Path, assignments: Sequence[str] | None = None) -> Rules:
    """The rules in this folder. Others than these assignments, if they are known, have no place in them."""
    path = root / COURSE_FILE
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Rules()
    except (OSError, ValueError) as error:  # also what is no TOML, or no UTF-8
        raise CourseError(f"{COURSE_FILE} cannot be read: {error}. Mend that, and run this again.") from None
    term = TomlTable(values)
    term.only(_TERM)
    tables = term.table("assignments")
    if assignments is not None:
        tables.only(assignments)
    return Rules({name: _assignment(tables.table(name)) for name in tables.values})


def must_fit(rules: AssignmentRules, assignment: str, labels: Collection[str]) -> None:
    """The exercises that the rules name are there."""
    for label, rule in rules.exercises.items():
        if label not in labels:
            table = TomlTable({}, ("assignments", assignment))
            raise table.wrong(rule, f"{assignment} has no exercise {label}", nearest(label, labels))


def _assignment(table: TomlTable) -> AssignmentRules:
    table.only(_ASSIGNMENT)
    exercises: dict[str, Rule] = {}
    for rule in Rule:
        for label in table.names(rule, '[3, "mean"]'):
            if label in exercises:
                raise table.wrong(rule, f"exercise {label} is in {exercises[label]}, too", "Take it out of one of them")
            exercises[label] = rule
    return AssignmentRules(exercises)
