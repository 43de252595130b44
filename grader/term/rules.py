"""The term's rules as values. Grading knows none of them: they say what counts of the points that it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from grader.term.times import said, unit


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
class Late:
    """What being late costs: of the points that are reached, a share for each day or hour that has begun."""

    per: str  # day or hour
    share: float
    cap: float = 1.0  # the largest share
    grace: timedelta = timedelta()  # so late is not late at all; who is later is late from the due date on

    def cost(self, late: timedelta) -> float:
        """The share of the points that is taken off."""
        begun = -(-late // unit(self.per)) if late > self.grace else 0
        return min(self.cap, begun * self.share)

    def penalty(self, points: float, late: timedelta) -> float:
        """The points that are taken off, to two decimals."""
        return round(self.cost(late) * points, 2)

    @property
    def words(self) -> str:
        most = f", at most {_percent(self.cap)}" if self.cap < 1 else ""
        free = f"; up to {self.grace // unit('minute')} minutes are forgiven" if self.grace else ""
        return f"{_percent(self.share)} of the points for each {self.per} begun{most}{free}"


def _percent(share: float) -> str:
    return f"{round(100 * share, 2):g} %"


@dataclass(frozen=True)
class AssignmentRules:
    """The rules for one assignment. Without any, the points that grading gave are those that count."""

    exercises: Mapping[str, Rule] = field(default_factory=dict)  # by the label that the report has
    due: datetime | None = None  # in UTC; None: what the gradebook has counts, with its extensions
    extensions: Mapping[str, timedelta] = field(default_factory=dict)  # by student
    weight: float = 1.0  # of its share of the points, among those of the other assignments
    groups: Sequence[Sequence[str]] = ()  # students who hand in together
    late: Late | None = None  # None: a plugin of nbgrader's decides, if there is one
    anonymous: bool = False  # whether graders see no names until it is published
    best: bool = False  # whether of several hand-ins the best one counts, and not the last
    zone: str = ""  # the time zone that times are shown in; UTC if there is none

    def group_of(self, student: str) -> Sequence[str]:
        return next((group for group in self.groups if student in group), [student])

    def extension(self, student: str) -> timedelta | None:
        """The longest extension that anybody in the student's group has."""
        return max((self.extensions[one] for one in self.group_of(student) if one in self.extensions), default=None)

    def late_by(
        self, student: str, handed_in: datetime | None, due: datetime | None, extension: timedelta | None
    ) -> timedelta:
        """How late a hand-in is, given what the gradebook has of it. Without a known time, it is not late."""
        if self.due:
            due, extension = self.due, self.extension(student)
        if handed_in is None or due is None:
            return timedelta()
        late = handed_in - due - (extension or timedelta())
        grace = self.late.grace if self.late else timedelta()
        return late if late > grace else timedelta()

    def dates(self, student: str) -> list[str]:
        """When this student has to hand in, in words; nothing if the rules do not say."""
        if self.due is None:
            return []
        extension = self.extension(student)
        more = [f"an extension until {said(self.due + extension, self.zone)}"] if extension else []
        return [f"due on {said(self.due, self.zone)}", *more]


@dataclass(frozen=True)
class Rules:
    """The rules of the term."""

    assignments: Mapping[str, AssignmentRules] = field(default_factory=dict)
    others: AssignmentRules = AssignmentRules()  # of assignments of which nothing more is said

    def of(self, assignment: str) -> AssignmentRules:
        return self.assignments.get(assignment, self.others)
