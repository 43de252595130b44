"""All graded attempts of students, and which attempt of a student counts: the last or the best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.hidden_seed import Attempt
from grader.gradebook.items import within_reach
from grader.gradebook.records import Record
from grader.gradebook.set_aside import Marks, SetAside


class Attempts:
    """All graded attempts in the gradebook, by student: `records` has those that count, `aside` the others."""

    def __init__(self, gradebook: ClassGradebook) -> None:
        self.gradebook = gradebook
        self.records = gradebook.records()
        self.aside: dict[str, dict[str, SetAside]] = defaultdict(dict)
        self.marks: Mapping[str, Marks] = {}  # of those that count
        if gradebook.rules.best:
            self.marks, self._submitted = gradebook.marks(), gradebook.submitted()
            for student, one in gradebook.set_aside():
                self.aside[student][one.attempt] = one

    def counting(self, student: str) -> str:
        """The digest of the attempt that counts now; empty if there is none, or it is unknown."""
        record = self.records.get(student)
        return record.attempt.digest if record and record.attempt else ""

    def attempt(self, student: str, digest: str, before: Sequence[Attempt] = ()) -> Attempt:
        """The attempt with its number: the one that it has, or the next after all others and those `before` it."""
        record = self.records.get(student)
        aside = [one.record.attempt for one in self.aside[student].values()]
        known = [one for one in (record and record.attempt, *aside, *before) if one]
        same = [one for one in known if one.digest == digest] if self.gradebook.rules.best else []
        return same[0] if same else Attempt.after(max(known, key=lambda one: one.number, default=None), digest)

    def record(self, student: str, digest: str) -> Record | None:
        """The record of what an attempt's grade was given for, if it has one."""
        if self.counting(student) == digest:
            return self.records[student]
        one = self.aside[student].get(digest)
        return one.record if one else None

    def best(self, student: str, times: Mapping[str, datetime | None], new: Mapping[str, Marks] | None = None) -> str:
        """The attempt with the most points by the rules of the term; of equal ones, the newer.

        `times` has all attempts that may count, the one in submitted/ last; `new` has the marks of those just graded.
        """

        def worth(place_and_digest: tuple[int, str]) -> tuple[float, datetime, int]:
            place, digest = place_and_digest
            return self._points(student, times[digest], marks[digest]), times[digest] or datetime.min, place

        marks = {digest: self.known_marks(student, digest, new or {}) for digest in times}
        return max(enumerate(times), key=worth)[1]

    def known_marks(self, student: str, digest: str, new: Mapping[str, Marks]) -> Marks:
        """The marks of an attempt. If it was graded again, they keep points and comments from a person."""
        if self.counting(student) == digest:
            old = self.marks.get(student)
        else:
            one = self.aside[student].get(digest)
            old = one.marks if one else None
        if digest in new:
            return new[digest].by_person(old) if old else new[digest]
        return old or Marks({}, {})

    def _points(self, student: str, time: datetime | None, marks: Marks) -> float:
        rules = self.gradebook.rules
        known = self._submitted.get(student)
        late = rules.late_by(student, time, self.gradebook.duedate, known.extension if known else None)
        return within_reach(self.gradebook.items, marks.points, marks.open, rules.late, late)
