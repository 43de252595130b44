"""The contents of a class report: plain data that is also written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

from grader.model.label import Label


@dataclass(frozen=True)
class Counts:
    students: int
    graded: int


@dataclass(frozen=True)
class Bin:
    """How many students have points in this range."""

    from_: float
    to: float
    students: int
    waiting: int  # others, who have these points so far


@dataclass(frozen=True)
class Points:
    """The points of students who wait for none. If there are no such students, there is no mean."""

    max: float
    max_without_rules: float  # ignoring the rules of the term, which may void exercises
    final: int  # students with final points
    mean: float | None
    median: float | None
    middle_half: tuple[float, float] | None
    full_marks: int
    distribution: Sequence[Bin]


@dataclass(frozen=True)
class ExercisePoints:
    exercise: str
    title: str
    max_points: float
    full_marks: int
    some_points: int
    no_points: int
    waiting: int  # students who wait for points from a person
    share_of_full_marks: float | None
    mean_points: float | None
    rule: str  # of the term, in words; empty if there is none


@dataclass(frozen=True)
class Holders:
    """A mistake and who made it."""

    name: str
    count: int
    students: Sequence[str]


@dataclass(frozen=True)
class Named(Holders):
    """A misconception."""

    says: str


@dataclass(frozen=True)
class Mistakes:
    """What went wrong in an exercise: misconceptions by name, and everything else by kind."""

    exercise: Label | None
    title: str
    misconceptions: Sequence[Named]
    other_mistakes: Sequence[Holders]


@dataclass(frozen=True)
class HeldMistake:
    """A misconception of an exercise."""

    exercise: Label | None
    name: str


@dataclass(frozen=True)
class Together:
    """Two misconceptions that more students share than chance would explain."""

    misconceptions: tuple[HeldMistake, HeldMistake]
    count: int
    expected: float
    students: Sequence[str]
    chance: float


@dataclass(frozen=True)
class StoppedCode:
    """Code that hung or crashed its process."""

    student: str
    exercise: Label | None
    kind: str  # timeout or crash
    said: str


@dataclass(frozen=True)
class Denied:
    student: str
    attempts: Sequence[str]


@dataclass(frozen=True)
class LateStudent:
    student: str
    seconds: int
    penalty: float


@dataclass(frozen=True)
class StudentLine:
    student: str
    last_name: str
    first_name: str
    status: str
    points: float | None  # so far, if something waits
    penalty: float
    seconds_late: int
    exercises: Mapping[str, float | None]  # None if it does not count, or waits
    waiting: Sequence[str]  # exercises that wait for points from a person
    misconceptions: Sequence[HeldMistake]
    hand_in: str  # which attempt counts, if the best of several does


@dataclass(frozen=True)
class AlikeExercise:
    """An exercise that two students solved with much the same code."""

    exercise: Label
    alike: float  # the share of the shorter solution that is in the other one
    wrong: bool


@dataclass(frozen=True)
class AlikePair:
    """Two students with similar code, and the exercises to look at."""

    students: tuple[str, str]
    exercises: Sequence[AlikeExercise]


@dataclass(frozen=True)
class Identical:
    """Students who submitted the same, and what that is."""

    students: Sequence[str]
    what: Sequence[str]


@dataclass(frozen=True)
class NotCompared:
    """Solutions that earned points, but could not be compared with others."""

    student: str
    exercises: Sequence[Label]


@dataclass(frozen=True)
class Summary:
    """Everything in the report. Names are not escaped: that is up to the code that shows them."""

    assignment: str
    written: str
    due: str | None
    zone: str  # of these times; UTC if there is none
    environments: Sequence[str]  # the versions that graded: one, unless some were graded before an upgrade
    counts: Counts
    points: Points
    exercises: Sequence[ExercisePoints]
    mistakes: Sequence[Mistakes]
    together: Sequence[Together]
    stopped: Sequence[StoppedCode]
    denied: Sequence[Denied]
    identical: Sequence[Identical]
    alike: Sequence[AlikePair]
    not_compared: Sequence[NotCompared]
    in_process: Sequence[str]  # tests that ran in the students' processes, and can be fooled
    late: Sequence[LateStudent]
    late_rule: str  # what being late costs, if the rules of the term say so
    late_without_time: Sequence[str]  # according to a platform; they count as on time
    no_time: Sequence[str]  # only if being late costs points; they count as on time
    waiting: Sequence[str]
    empty: Sequence[str]
    no_submission: Sequence[str]
    no_grade: Sequence[str]
    students: Sequence[StudentLine]


def as_json(value: object) -> object:
    """A summary as plain data, with words for keys instead of Python names: "no submission", "from"."""
    if is_dataclass(value):
        return {
            field.name.rstrip("_").replace("_", " "): as_json(getattr(value, field.name)) for field in fields(value)
        }
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value
