"""Which attempt of a student counts, the last or the best, and which ones have to be graded to know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from grader.gradebook.class_gradebook import ClassGradebook, GradebookEntry
from grader.gradebook.fingerprint import NEW_SUBMISSION, changes_between, digest
from grader.gradebook.hidden_seed import Attempt
from grader.gradebook.items import points_within_reach
from grader.gradebook.marks import Marks
from grader.gradebook.records import Choice, Record

UNGRADED, RULES, ANOTHER_ATTEMPT = "not graded yet", "the rules of the term", "another attempt is now the best"


class Attempts:
    """What the gradebook knows about the attempts of each student."""

    def __init__(self, gradebook: ClassGradebook) -> None:
        self.gradebook = gradebook
        self.rules = gradebook.rules
        self.records = gradebook.records()
        self._submitted = gradebook.submitted()
        self.marks = gradebook.marks() if self.rules.best else {}

    def note(self, records: Mapping[str, Record]) -> None:
        """Note what was written: a server may get the next attempt of a student in the same run."""
        self.records |= records
        if self.rules.best and records:
            self._submitted |= self.gradebook.submitted(list(records))
            self.marks |= self.gradebook.marks(list(records))

    def counting_digest(self, student: str) -> str:
        """The digest of the attempt that counts now; empty if there is none, or it is unknown."""
        record = self.records.get(student)
        return record.counting if record else ""

    def find_or_number(self, student: str, digest: str, before: Sequence[Attempt] = ()) -> Attempt:
        """The attempt with its number: the one that it has, or the next after all others and those `before` it."""
        record = self.records.get(student)
        graded = record.attempts if record else []
        attempts = [*before, *graded]
        for attempt in attempts:
            if attempt.digest == digest:
                return attempt
        newest = max(attempts, key=lambda attempt: attempt.number, default=None)
        return Attempt.after(newest, digest)

    def uncompared(self, student: str, attempts: Collection[str]) -> list[str]:
        """Those of the attempts that have not been compared with the one that counts."""
        record = self.records.get(student)
        compared = {record.counting, *record.choice.points} if record else set()
        return [attempt for attempt in attempts if attempt not in compared]

    def changes(self, student: str, fingerprints: Mapping[str, str]) -> Sequence[str]:
        """What has changed since a student was graded, in words; `fingerprints` are those of the attempts now."""
        record = self.records.get(student)
        if record is None:
            return (UNGRADED,)
        if not self.rules.best:
            (fingerprint,) = fingerprints.values()
            return changes_between(record.fingerprint, fingerprint)
        if record.counting not in fingerprints or self.uncompared(student, fingerprints):
            return (NEW_SUBMISSION,)
        changes = changes_between(record.fingerprint, fingerprints[record.counting])
        return changes or self._doubts(student, fingerprints)

    def to_grade(self, student: str, fingerprints: Mapping[str, str]) -> Collection[str]:
        """The attempts that have to be graded: all of them, unless the one that counts is still what it was."""
        record = self.records.get(student)
        if record is None or fingerprints.get(record.counting) != record.fingerprint:
            return fingerprints.keys()
        return fingerprints.keys() if self._doubts(student, fingerprints) else self.uncompared(student, fingerprints)

    def _doubts(self, student: str, attempts: Collection[str]) -> Sequence[str]:
        """Why another of these attempts may be better than the one that counts; nothing if none can be."""
        record = self.records[student]
        if not self.rules.best or len(attempts) == 1:
            return ()
        if record.choice.rules != self.rules_for(student):
            return (RULES,)
        submitted = self._submitted.get(student)
        points = self.points(student, self.marks[student], submitted.timestamp if submitted else None)
        other_points = [record.choice.points.get(attempt, 0.0) for attempt in attempts if attempt != record.counting]
        return (ANOTHER_ATTEMPT,) if max(other_points, default=0.0) > points else ()

    def choose(
        self, student: str, times: Mapping[Attempt, datetime | None], entries: Mapping[str, GradebookEntry]
    ) -> tuple[str, Choice]:
        """The best attempt, of equal ones the newer, and what it was chosen from.

        `times` has all attempts that may count, the one in submitted/ last, and `entries` those that were graded now.
        """
        record, old_marks = self.records.get(student), self.marks.get(student, Marks())
        old_choice = record.choice if record else Choice()
        numbers = dict(old_choice.numbers)
        points: dict[str, float] = {}
        ranks: dict[str, tuple[float, datetime, int]] = {}
        for position, (attempt, time) in enumerate(times.items()):
            key, marks, entry = attempt.digest, old_marks, entries.get(attempt.digest)
            numbers[key] = attempt.number
            points[key] = old_choice.points.get(key, 0.0)
            if entry:
                marks = self.gradebook.marks_after(entry, old_marks, old_choice.by_hand)
            if entry or key == self.counting_digest(student):
                points[key] = self.points(student, marks, time)
                ranks[key] = (points[key], time or datetime.min, position)
        choice = Choice(self.rules_for(student), numbers, points, old_choice.by_hand)
        return max(ranks, key=lambda key: ranks[key]), choice

    def rules_for(self, student: str) -> str:
        """A digest of the rules that decide how many points a student's attempts have."""
        rules, submitted = self.rules, self._submitted.get(student)
        items = [(item.cell, item.max_points, item.rule) for item in self.gradebook.items]
        extension = rules.extension(student) if rules.due else submitted and submitted.extension
        return digest(repr((items, rules.late, self.gradebook.duedate, extension)))

    def points(self, student: str, marks: Marks, time: datetime | None) -> float:
        """The points of an attempt by the rules of the term. An answer that nobody has looked at counts as right."""
        submitted = self._submitted.get(student)
        extension = submitted.extension if submitted else None
        late = self.rules.late_by(student, time, self.gradebook.duedate, extension)
        return points_within_reach(self.gradebook.items, marks, self.rules.late, late)
