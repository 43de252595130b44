"""The contents of a class report: plain data that is also written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

from grader.model.label import Label


@dataclass(frozen=True)
class Counts:
    """How large the class is."""

    students: int  # in the roster, or with a submission
    graded: int  # with a grade


@dataclass(frozen=True)
class Bin:
    """How many students have points in this range."""

    from_: float  # these points
    to: float  # up to these
    students: int  # with final points
    waiting: int  # others, who have these points so far


@dataclass(frozen=True)
class Points:
    """The points of students who wait for none. If there are no such students, there is no mean."""

    max: float  # what can be reached
    max_without_rules: float  # ignoring the rules of the term, which may void exercises
    final: int  # students with final points
    mean: float | None  # of final points
    median: float | None  # half of the students have less
    middle_half: tuple[float, float] | None  # a quarter has less, and a quarter has more
    full_marks: int  # students with all points
    distribution: Sequence[Bin]  # how many students have how much


@dataclass(frozen=True)
class ExercisePoints:
    """What the class reached in an exercise."""

    exercise: str  # its number or name
    title: str  # in words
    max_points: float  # what can be reached
    full_marks: int  # students with all points
    some_points: int  # students with some
    no_points: int  # students with none
    waiting: int  # students who wait for points from a person
    share_of_full_marks: float | None  # of students with final points
    mean_points: float | None  # of the same
    rule: str  # of the term, in words; empty if there is none


@dataclass(frozen=True)
class MistakeLine:
    """A mistake and who made it."""

    name: str  # of the mistake
    count: int  # how many made it
    students: Sequence[str]  # who
    example: str  # the shortest code with it, without a name
    first_line: str  # of that, as far as it is the student's


@dataclass(frozen=True)
class MisconceptionLine(MistakeLine):
    """A misconception."""

    says: str  # what they read


@dataclass(frozen=True)
class Mistakes:
    """What went wrong in an exercise: misconceptions by name, and everything else by kind."""

    exercise: Label | None  # its number or name
    title: str  # in words
    misconceptions: Sequence[MisconceptionLine]  # those that have a name
    other_mistakes: Sequence[MistakeLine]  # the others, by kind


@dataclass(frozen=True)
class StudentMistake:
    """A misconception of an exercise."""

    exercise: Label | None  # its number or name
    name: str  # of the misconception


@dataclass(frozen=True)
class StoppedCode:
    """Code that hung or crashed its process."""

    student: str  # whose it is
    exercise: Label | None  # its number or name
    kind: str  # timeout or crash
    said: str  # what happened, in words


@dataclass(frozen=True)
class Denied:
    """What a student's code tried to do, and was not allowed to."""

    student: str  # whose code it is
    attempts: Sequence[str]  # in words


@dataclass(frozen=True)
class LateStudent:
    """A student who was late."""

    student: str  # who
    seconds: int  # how late
    penalty: float  # points that this costs


@dataclass(frozen=True)
class StudentLine:
    """A student's line of the table."""

    student: str  # as in the folder names
    last_name: str  # if the roster has it
    first_name: str  # the same
    status: str  # "graded", "waiting", "no grade" or "no submission"
    points: float | None  # so far, if something waits
    penalty: float  # points taken off for being late
    seconds_late: int  # 0 if it was in time
    exercises: Mapping[str, float | None]  # None if it does not count, or waits
    waiting: Sequence[str]  # exercises that wait for points from a person
    misconceptions: Sequence[StudentMistake]  # that were named
    hand_in: str  # which attempt counts, if the best of several does
    own_code: str  # how many questions about their own code they answered right; empty if there were none


@dataclass(frozen=True)
class OwnCodeLine:
    """What came of questions about their own code, and for whom."""

    answers: str  # how many are right, in words
    students: Sequence[str]  # who


@dataclass(frozen=True)
class Identical:
    """Students who submitted the same, and what that is."""

    students: Sequence[str]  # who
    what: Sequence[str]  # exercises, in words


@dataclass(frozen=True)
class Summary:
    """Everything in the report. Names are not escaped: that is up to the code that shows them."""

    assignment: str  # its name
    written: str  # when this was written
    due: str | None  # when it was due, if that is known
    zone: str  # of these times; UTC if there is none
    environments: Sequence[str]  # the versions that graded: one, unless some were graded before an upgrade
    counts: Counts  # of students
    points: Points  # of the class
    exercises: Sequence[ExercisePoints]  # in the notebook's order
    mistakes: Sequence[Mistakes]  # by exercise
    stopped: Sequence[StoppedCode]  # code that did not end well
    denied: Sequence[Denied]  # what code was not allowed to do
    identical: Sequence[Identical]  # the same work, more than once
    own_code: Sequence[OwnCodeLine]  # answers to questions about students' own code
    in_process: Sequence[str]  # tests that ran in the students' processes, and can be fooled
    late: Sequence[LateStudent]  # who was
    late_rule: str  # what being late costs, if the rules of the term say so
    late_without_time: Sequence[str]  # according to a platform; they count as on time
    no_time: Sequence[str]  # only if being late costs points; they count as on time
    waiting: Sequence[str]  # students who wait for points from a person
    empty: Sequence[str]  # students who submitted the notebook as they got it
    no_submission: Sequence[str]  # students who submitted nothing
    no_grade: Sequence[str]  # students whose submission could not be graded
    students: Sequence[StudentLine]  # all of them


def key_of(name: str) -> str:
    """The key of a field as it is written: words instead of a Python name, such as "no submission", or "from"."""
    return name.rstrip("_").replace("_", " ")


def as_json(value: object) -> object:
    """A summary as plain data."""
    if is_dataclass(value):
        return {key_of(field.name): as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]
    return value
