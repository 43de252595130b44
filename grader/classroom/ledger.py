"""Write down the results of a class: notebooks in autograded/, points and their records in the gradebook.
If a run is interrupted between two steps, the next one makes both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from grader.classroom.graded_folder import GradedFolder
from grader.classroom.intake import Taken
from grader.errors import CourseError
from grader.gradebook.class_gradebook import GradebookEntry
from grader.gradebook.counting import Attempts
from grader.gradebook.fingerprint import answers_in
from grader.gradebook.marks import AnswerChange
from grader.gradebook.records import Choice, Record, digest_of
from grader.host.machine import environment
from grader.host.patience import while_short
from grader.model.submission import Files, Graded

T = TypeVar("T")


class Ledger:
    """Writes the results of one assignment. The files `given` are put beside every notebook."""

    def __init__(self, folder: GradedFolder, known: Attempts, given: Files) -> None:
        self._folder = folder
        self._gradebook = known.gradebook
        self._given = given
        self._known = known
        self._batch: list[GradebookEntry] = []
        self._choices: dict[str, Record] = {}  # of students whose grades stay as they are

    def recover(self) -> None:
        """Finish what an earlier run began to write."""
        self._written(lambda: self._folder.recover(self._known.records))

    def to_grade(self, attempts: Sequence[Taken]) -> list[Taken]:
        """Those of a student's attempts that have no grade for exactly what is there now."""
        student = attempts[-1].submission.student
        record = self._known.records.get(student)
        if record is None or record.digest != self._folder.digest(student):
            return list(attempts)
        fingerprints = {taken.attempt.digest: taken.fingerprint for taken in attempts}
        digests = self._known.to_grade(student, fingerprints)
        return [taken for taken in attempts if taken.attempt.digest in digests]

    def counting(self, student: str) -> str:
        """The digest of the attempt that counts now; empty if there is none."""
        return self._known.counting(student)

    def grade_of(self, student: str) -> Graded:
        """The grade written down for a student."""
        record = self._known.records[student]
        return Graded(
            student, verdicts=record.verdicts, blocked=record.blocked, unchanged=True, attempt=record.counting
        )

    def why_not(self, student: str) -> str:
        """Why nothing can be written for this student; empty if it can."""
        return self._folder.why_not(student)

    def count(self, attempts: Sequence[Taken], results: Mapping[str, Graded]) -> Graded:
        """Write the attempt that counts, the last or the best, unless the gradebook has it already.

        `attempts` are all that may count, the one in submitted/ last; `results` has those that were graded now.
        """
        newest, student = attempts[-1].attempt.digest, attempts[-1].submission.student
        record = self._known.records.get(student)
        entries = self._entries(attempts, results)
        counting, choice = newest, record.choice if record else Choice()
        if self._gradebook.rules.best:
            times = {taken.attempt: taken.timestamp for taken in attempts}
            counting, choice = self._known.choose(student, times, entries)
        if counting in entries:
            graded = results[counting]
            record = replace(entries[counting].record, choice=choice)
            self._lay_down(attempts, replace(entries[counting], record=record))
        else:
            graded = replace(self.grade_of(student), unchanged=False)
            self._choices[student] = replace(self._known.records[student], choice=choice)
        if counting != newest and newest in results:
            graded.newest_verdicts = results[newest].verdicts
        return graded

    def _entries(self, attempts: Sequence[Taken], results: Mapping[str, Graded]) -> dict[str, GradebookEntry]:
        """What the gradebook would get for each result, by attempt."""
        student = attempts[-1].submission.student
        counting = self.counting(student)
        texts = {attempt: _texts(graded) for attempt, graded in results.items()}
        before = answers_in(self._folder.texts(student) or texts.get(counting, {}))
        entries: dict[str, GradebookEntry] = {}
        for taken in attempts:
            attempt = taken.attempt.digest
            if attempt in results:
                is_other = self._gradebook.rules.best and counting not in ("", attempt)
                answers = AnswerChange(before, answers_in(texts[attempt]), is_other)
                record = _record(taken, results[attempt], texts[attempt])
                entries[attempt] = GradebookEntry(results[attempt], record, taken.timestamp, answers)
        return entries

    def _lay_down(self, attempts: Sequence[Taken], entry: GradebookEntry) -> None:
        """Write a result into its waiting folder, and add it to the batch for the gradebook."""
        (taken,) = [taken for taken in attempts if taken.attempt == entry.record.attempt]
        files: Files = {**taken.submission.files, **self._given}
        texts = _texts(entry.graded)
        self._written(lambda: self._folder.lay_down(entry.student, taken.fingerprint, texts, files))
        self._batch.append(entry)

    def write_batch(self) -> None:
        """Write the batch into the gradebook, then move its notebooks into place."""
        records = self._gradebook.write(self._batch, self._choices)
        self._written(self._put_in_place)
        self._known.note(records)
        for entry in self._batch:
            entry.graded.notebooks = {}  # else the notebooks of a whole class would stay in memory
        self._batch, self._choices = [], {}

    def _put_in_place(self) -> None:
        for entry in self._batch:
            self._folder.put_in_place(entry.student, entry.record.fingerprint)

    def close(self) -> None:
        self._folder.tidy()

    def _written(self, write: Callable[[], T]) -> T:
        """Write something, and wait while a disk is full. Lasting errors, such as a closed folder, stop the run."""
        try:
            return while_short(write)
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise CourseError(
                f"Cannot save the grades: {error.strerror}{where}. Fix that, then run this again."
            ) from error


def _texts(graded: Graded) -> dict[str, str]:
    """The texts of graded notebooks, without those that are missing."""
    return {name: notebook.text for name, notebook in graded.notebooks.items() if notebook.text}


def _record(taken: Taken, graded: Graded, texts: Mapping[str, str]) -> Record:
    digest = digest_of({name: text.encode() for name, text in texts.items()})
    return Record(taken.fingerprint, digest, graded.verdicts, graded.blocked, taken.attempt, environment())
