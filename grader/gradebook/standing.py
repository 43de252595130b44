"""Where a student stands in an assignment: the one value that console, pages, exports, publications and server read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from grader.gradebook.asked_questions import OwnCode
from grader.gradebook.graded import GradingResult, Stopped
from grader.gradebook.items import Counted, Item
from grader.gradebook.marks import Marks
from grader.gradebook.records import Record
from grader.model.label import Label
from grader.model.verdict import Scored
from grader.term.rules import Rule


@dataclass(frozen=True)
class Remark:
    """A comment that a person has written about a cell of a submission."""

    cell: str  # its id in the gradebook
    text: str


@dataclass(frozen=True)
class Person:
    """A student, as the gradebook knows them."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    username: str = ""  # on the course's platform, if it differs from the id
    canvas_id: str = ""


class Submitted(NamedTuple):
    """What nbgrader knows about a submission. One without a grade may be nothing but an extension."""

    student_id: str  # who submitted it
    id: str
    timestamp: datetime | None
    extension: timedelta | None


@dataclass(frozen=True)
class Standing:
    """Where one student stands: submitted or not, graded or not, and with what result."""

    person: Person
    items: Sequence[Item] = ()  # what earns points in the assignment
    submission: Submitted | None = None  # the graded one that counts, of any member of the group
    attempt: str = ""  # which attempt counts, in words, if the best of several does
    marks: Marks = field(default_factory=Marks)  # from grading and from people
    counted: Counted = field(default_factory=lambda: Counted({}, {}))  # the points that count
    late_by: timedelta = timedelta()
    rules: Sequence[str] = ()  # of the term, behind these points, in words
    remarks: Sequence[Remark] = ()  # of people
    record: Record | None = None  # what the grade was given for
    own_code: OwnCode | None = None  # what the student was asked about the code
    has_submitted: bool = False
    is_called_late: bool = False  # by a platform, without a time
    result: GradingResult = field(default_factory=GradingResult)  # what grading found

    @property
    def student(self) -> str:
        return self.person.id

    @property
    def is_graded(self) -> bool:
        return self.submission is not None

    @property
    def by(self) -> str:
        """The member of a group who submitted; empty if nothing is graded."""
        return self.submission.student_id if self.submission else ""

    @property
    def has_time(self) -> bool:
        """Whether the time of submission is known."""
        return self.submission is not None and self.submission.timestamp is not None

    @property
    def raw(self) -> Mapping[str, float]:
        """The points from grading and people, by cell."""
        return self.marks.points

    @property
    def waits(self) -> set[str]:
        """The cells that wait for points from a person, if those would count."""
        settled = {item.cell for item in self.items if item.rule in (Rule.VOID, Rule.FULL)}
        return self.marks.waiting - settled

    @property
    def waiting(self) -> list[str]:
        """The labels of the exercises that wait for points from a person."""
        waits = self.waits
        return [item.label for item in self.items if item.cell in waits]

    @property
    def points(self) -> dict[str, float]:
        """The points that count, by label of the exercise."""
        return {item.label: self.counted.points[item.cell] for item in self.items if item.cell in self.counted.points}

    @property
    def by_hand(self) -> list[str]:
        """The labels of the exercises that have points from a person that count."""
        cells = self.marks.by_hand & self.counted.points.keys()
        return [item.label for item in self.items if item.cell in cells]

    @property
    def penalty(self) -> float:
        return self.counted.penalty

    @property
    def total(self) -> float:
        return self.counted.total

    @property
    def verdicts(self) -> Sequence[Scored]:
        return self.result.verdicts

    @property
    def blocked(self) -> Sequence[str]:
        return self.result.blocked

    @property
    def stopped(self) -> Sequence[Stopped]:
        return self.result.stopped

    @property
    def solutions(self) -> Mapping[Label, str]:
        return self.result.solutions
