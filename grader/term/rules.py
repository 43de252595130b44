"""The term's rules as values. Grading does not use them: they decide which of its points count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from grader.term.times import format_time, unit


class Rule(StrEnum):
    """A rule for what an exercise counts, if that is not just its points."""

    VOID = "void"  # nothing, as if it did not exist
    FULL = "full"  # full marks for everyone who submitted
    BONUS = "bonus"  # its points, but it adds nothing to the maximum

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {Rule.VOID: "does not count", Rule.FULL: "full marks for everyone who submitted", Rule.BONUS: "a bonus"}


def counted(points: float, max_points: float, rule: Rule | None) -> float:
    """The points for an exercise that count. With FULL, a person may still give more than full marks."""
    if rule is Rule.VOID:
        return 0.0
    return max(points, max_points) if rule is Rule.FULL else points


def most(max_points: float, rule: Rule | None) -> float:
    """The points that an exercise adds to the maximum."""
    return 0.0 if rule in (Rule.VOID, Rule.BONUS) else max_points


@dataclass(frozen=True)
class Late:
    """The cost of being late: a share of the points reached, for each day or hour begun."""

    per: str  # day or hour
    share: float
    cap: float = 1.0  # the largest share
    grace: timedelta = timedelta()  # up to here is on time; beyond it, the whole delay counts

    def cost(self, late: timedelta) -> float:
        """The share of the points that is taken off."""
        begun = -(-late // unit(self.per)) if late > self.grace else 0
        return min(self.cap, begun * self.share)

    def penalty(self, points: float, late: timedelta) -> float:
        """The points that are taken off, to two decimals."""
        return round(self.cost(late) * points, 2)

    def lost(self, late: timedelta) -> str:
        """The same share in words."""
        return _percent(self.cost(late))

    @property
    def words(self) -> str:
        most = f", at most {_percent(self.cap)}" if self.cap < 1 else ""
        free = f"; a delay of {self.grace // unit('minute')} min or less is free" if self.grace else ""
        return f"{_percent(self.share)} of the points for each {self.per} started{most}{free}"


def _percent(share: float) -> str:
    return f"{round(100 * share, 2):g}%"


class Detail(StrEnum):
    """How much of a verdict `grader serve` shows. Each shows what those before it show, and more."""

    NOTHING = "nothing"
    POINTS = "points"  # of the whole submission
    EXERCISES = "exercises"  # points for each exercise
    MISTAKES = "mistakes"  # and the sentences
    EVERYTHING = "everything"  # the feedback page

    @property
    def shows_exercises(self) -> bool:
        """Whether a student learns the points for each exercise."""
        return self not in (Detail.NOTHING, Detail.POINTS)


class ShowSolutions(StrEnum):
    """When a student who has full marks for an exercise may read the course's own solution."""

    NEVER = "never"
    AFTER_FULL_MARKS = "after full marks"
    AFTER_DUE_DATE = "after the due date"  # of everybody


class AskAfter(StrEnum):
    """When students are asked about their own code."""

    FULL_MARKS = "full marks"  # for the exercise
    NEVER = "never"


LONGEST_PAUSE = timedelta(hours=1)


@dataclass(frozen=True)
class Serving:
    """What `grader serve` allows, and what it shows."""

    attempts: int | None = 50  # of an assignment; None: as many as students like
    a_day: int | None = None
    pause: timedelta = timedelta()  # before a third attempt; each further one takes twice as long
    before: Detail = Detail.EVERYTHING  # what students read until the due date
    after: Detail = Detail.EVERYTHING
    closed: bool = False
    solutions: ShowSolutions = ShowSolutions.NEVER
    questions: timedelta | None = None  # how long a student may write that a verdict is wrong; None: not at all

    def pause_after(self, attempts: int) -> timedelta:
        """How long to wait after so many attempts. The first one may be repeated at once."""
        if attempts < 2 or not self.pause:
            return timedelta()
        doublings = min(attempts - 2, 20)
        return min(self.pause * (1 << doublings), max(self.pause, LONGEST_PAUSE))


@dataclass(frozen=True)
class Explain:
    """What `grader serve` asks students about their own code."""

    after: AskAfter = AskAfter.FULL_MARKS
    questions: int = 3  # of an assignment


@dataclass(frozen=True)
class AssignmentRules:
    """The rules for one assignment. Without any, the points from grading count unchanged."""

    exercises: Mapping[str, Rule] = field(default_factory=dict)  # by label, as in the report
    due: datetime | None = None  # in UTC; None: the gradebook's date, with its extensions
    extensions: Mapping[str, timedelta] = field(default_factory=dict)  # by student
    weight: float = 1.0  # in the total of all assignments
    groups: Sequence[Sequence[str]] = ()  # students who submit together
    late: Late | None = None  # None: being late costs nothing
    best: bool = False  # whether the best of several attempts counts, not the last
    zone: str = ""  # the time zone in which times are shown; UTC if empty
    serving: Serving = Serving()
    explain: Explain = Explain(AskAfter.NEVER)

    def group_of(self, student: str) -> Sequence[str]:
        return next((group for group in self.groups if student in group), [student])

    def extension(self, student: str) -> timedelta | None:
        """The longest extension of anybody in the student's group."""
        extensions = [self.extensions[member] for member in self.group_of(student) if member in self.extensions]
        return max(extensions, default=None)

    def due_for(self, student: str) -> datetime | None:
        """When it is due for this student; None without a due date in the rules."""
        return self.due and self.due + (self.extension(student) or timedelta())

    def shows_solutions(self, now: datetime) -> bool:
        """Whether those who have full marks may read solutions now, in UTC. With extensions, nobody can copy them."""
        match self.serving.solutions:
            case ShowSolutions.AFTER_FULL_MARKS:
                return True
            case ShowSolutions.AFTER_DUE_DATE:
                longest_extension = max([timedelta(), *self.extensions.values()])
                return self.due is not None and self.due + longest_extension <= now
            case _:
                return False

    def late_by(
        self, student: str, submitted: datetime | None, due: datetime | None, extension: timedelta | None
    ) -> timedelta:
        """How late a submission is, given the gradebook's dates. Without a known time, it is not late."""
        if self.due:
            due, extension = self.due, self.extension(student)
        if submitted is None or due is None:
            return timedelta()
        late = submitted - due - (extension or timedelta())
        grace = self.late.grace if self.late else timedelta()
        return late if late > grace else timedelta()

    def dates(self, student: str) -> list[str]:
        """The student's due date and extension, in words; nothing without a due date in the rules."""
        if self.due is None:
            return []
        dates = [f"due on {format_time(self.due, self.zone)}"]
        extension = self.extension(student)
        if extension:
            dates.append(f"an extension until {format_time(self.due + extension, self.zone)}")
        return dates


@dataclass(frozen=True)
class Rules:
    """The rules of the whole term."""

    assignments: Mapping[str, AssignmentRules] = field(default_factory=dict)
    others: AssignmentRules = AssignmentRules()  # for all other assignments

    def of(self, assignment: str) -> AssignmentRules:
        return self.assignments.get(assignment, self.others)
