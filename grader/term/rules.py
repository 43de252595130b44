"""The term's rules as values. Grading knows none of them: they say what counts of the points that it gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Rule(StrEnum):
    """What counts of an exercise, where that is not just its points."""

    VOID = "void"  # nothing, as if it were not there
    FULL = "full"  # all of it, for everyone who handed in
    BONUS = "bonus"  # its points, and of the maximum nothing

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {Rule.VOID: "does not count", Rule.FULL: "full marks for all who handed in", Rule.BONUS: "a bonus"}


def counted(points: float, max_points: float, rule: Rule | None) -> float:
    """What counts of the points for an exercise. More than full marks stay, where a person has given them."""
    if rule is Rule.VOID:
        return 0.0
    return max(points, max_points) if rule is Rule.FULL else points


def most(max_points: float, rule: Rule | None) -> float:
    """What the exercise adds to the maximum."""
    return 0.0 if rule in (Rule.VOID, Rule.BONUS) else max_points


@dataclass(frozen=True)
class AssignmentRules:
    """Those of one assignment. Without any, what grading gave is what counts."""

    exercises: Mapping[str, Rule] = field(default_factory=dict)  # by the label that the report has


@dataclass(frozen=True)
class Rules:
    """Those of the term."""

    assignments: Mapping[str, AssignmentRules] = field(default_factory=dict)

    def of(self, assignment: str) -> AssignmentRules:
        return self.assignments.get(assignment, AssignmentRules())
