"""The shape of what a class report tells: plain data, that is also written as JSON."""

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
    """How many students have points of this range."""

    from_: float
    to: float
    students: int
    waiting: int  # others, who have so many so far


@dataclass(frozen=True)
class Points:
    """Of those who wait for none. Nobody may be left, and then there is no mean."""

    max: float
    max_without_rules: float  # of the term, by which an exercise may not count
    final: int  # of how many students
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
    waiting: int  # for points by hand, which nobody can know yet
    share_of_full_marks: float | None
    mean_points: float | None
    rule: str  # of the term, in words; empty if it just counts


@dataclass(frozen=True)
class Holders:
    """A mistake and who has made it."""

    name: str
    count: int
    students: Sequence[str]


@dataclass(frozen=True)
class Named(Holders):
    """A misconception."""

    says: str


@dataclass(frozen=True)
class Mistakes:
    """What went wrong in an exercise: the misconceptions that have a name, and everything else by its kind."""

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
    """Two misconceptions that more students have both than chance would have it."""

    misconceptions: tuple[HeldMistake, HeldMistake]
    count: int
    expected: float
    students: Sequence[str]
    chance: float


@dataclass(frozen=True)
class StoppedCode:
    """Code that hung, or took its process down."""

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
    points: float | None  # so far, where something waits
    penalty: float
    seconds_late: int
    exercises: Mapping[str, float | None]  # None: it does not count, or waits
    waiting: Sequence[str]  # exercises that a person is to give points for
    misconceptions: Sequence[HeldMistake]
    hand_in: str  # which one counts, where the best of several does


@dataclass(frozen=True)
class AlikeExercise:
    """An exercise that both of a pair have solved with much the same code."""

    exercise: Label
    alike: float  # the share of the shorter solution that is in the other one
    wrong: bool


@dataclass(frozen=True)
class AlikePair:
    """Two students, and what there is to look at."""

    students: tuple[str, str]
    exercises: Sequence[AlikeExercise]


@dataclass(frozen=True)
class Identical:
    """All who have handed in the same, and what that is."""

    students: Sequence[str]
    what: Sequence[str]


@dataclass(frozen=True)
class NotCompared:
    """Solutions that have earned points, and of which nobody can say whether they are alike to others."""

    student: str
    exercises: Sequence[Label]


@dataclass(frozen=True)
class Summary:
    """Everything that the report tells. Names are as they are: whoever shows them must see to that."""

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
    late_rule: str  # what that costs, if the rules of the term say so
    late_without_time: Sequence[str]  # as a platform says; they count as in time
    no_time: Sequence[str]  # where being late costs points; they count as in time
    waiting: Sequence[str]
    empty: Sequence[str]
    no_submission: Sequence[str]
    no_grade: Sequence[str]
    students: Sequence[StudentLine]


def as_json(value: object) -> object:
    """A summary as plain data. Its keys are words, not names of Python's: "no submission", "from"."""
    if is_dataclass(value):
        return {
            field.name.rstrip("_").replace("_", " "): as_json(getattr(value, field.name)) for field in fields(value)
        }
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value
