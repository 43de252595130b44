"""Write down the results of a class: notebooks in autograded/, points and their records in the gradebook.
If a run is interrupted between two steps, the next one makes both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from grader.classroom.graded_folder import GradedFolder
from grader.classroom.intake import AcceptedSubmission
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
    """Writes the results of one assignment. The `course_files` are put beside every notebook."""

    def __init__(self, folder: GradedFolder, attempts: Attempts, course_files: Files) -> None:
        self._folder = folder
        self._gradebook = attempts.gradebook
        self._course_files = course_files
        self._attempts = attempts
        self._batch: list[GradebookEntry] = []
        self._choices: dict[str, Record] = {}  # of students whose grades stay as they are

    def recover(self) -> None:
        """Finish what an earlier run began to write."""
        self._patiently(lambda: self._folder.recover(self._attempts.records))

    def to_grade(self, attempts: Sequence[AcceptedSubmission]) -> list[AcceptedSubmission]:
        """Those of a student's attempts that have no grade for exactly what is there now."""
        student = attempts[-1].submission.student
        record = self._attempts.records.get(student)
        if record is None or record.digest != self._folder.digest(student):
            return list(attempts)
        fingerprints = {accepted.attempt.digest: accepted.fingerprint for accepted in attempts}
        digests = self._attempts.to_grade(student, fingerprints)
        return [accepted for accepted in attempts if accepted.attempt.digest in digests]

    def counting_digest(self, student: str) -> str:
        """The digest of the attempt that counts now; empty if there is none."""
        return self._attempts.counting_digest(student)

    def grade_of(self, student: str) -> Graded:
        """The grade written down for a student."""
        record = self._attempts.records[student]
        return Graded(
            student, verdicts=record.verdicts, blocked=record.blocked, unchanged=True, attempt=record.counting
        )

    def find_problem(self, student: str) -> str:
        """Why nothing can be written for this student; empty if it can."""
        return self._folder.find_problem(student)

    def count(self, attempts: Sequence[AcceptedSubmission], results: Mapping[str, Graded]) -> Graded:
        """Write the attempt that counts, the last or the best, unless the gradebook has it already.

        `attempts` are all that may count, the one in submitted/ last; `results` has those that were graded now.
        """
        newest, student = attempts[-1].attempt.digest, attempts[-1].submission.student
        record = self._attempts.records.get(student)
        entries = self._make_entries(attempts, results)
        counting, choice = newest, record.choice if record else Choice()
        if self._gradebook.rules.best:
            times = {accepted.attempt: accepted.timestamp for accepted in attempts}
            counting, choice = self._attempts.choose(student, times, entries)
        if counting in entries:
            graded = results[counting]
            record = replace(entries[counting].record, choice=choice)
            self._lay_down(attempts, replace(entries[counting], record=record))
        else:
            graded = replace(self.grade_of(student), unchanged=False)
            self._choices[student] = replace(self._attempts.records[student], choice=choice)
        if counting != newest and newest in results:
            graded.newest_verdicts = results[newest].verdicts
        return graded

    def _make_entries(
        self, attempts: Sequence[AcceptedSubmission], results: Mapping[str, Graded]
    ) -> dict[str, GradebookEntry]:
        """What the gradebook would get for each result, by attempt."""
        student = attempts[-1].submission.student
        counting = self.counting_digest(student)
        texts = {attempt: _texts(graded) for attempt, graded in results.items()}
        before = answers_in(self._folder.texts(student) or texts.get(counting, {}))
        entries: dict[str, GradebookEntry] = {}
        for accepted in attempts:
            attempt = accepted.attempt.digest
            if attempt in results:
                is_other = self._gradebook.rules.best and counting not in ("", attempt)
                answers = AnswerChange(before, answers_in(texts[attempt]), is_other)
                record = _make_record(accepted, results[attempt], texts[attempt])
                entries[attempt] = GradebookEntry(results[attempt], record, accepted.timestamp, answers)
        return entries

    def _lay_down(self, attempts: Sequence[AcceptedSubmission], entry: GradebookEntry) -> None:
        """Write a result into its waiting folder, and add it to the batch for the gradebook."""
        (accepted,) = [accepted for accepted in attempts if accepted.attempt == entry.record.attempt]
        files: Files = {**accepted.submission.files, **self._course_files}
        texts = _texts(entry.graded)
        self._patiently(lambda: self._folder.lay_down(entry.student, accepted.fingerprint, texts, files))
        self._batch.append(entry)

    def write_batch(self) -> None:
        """Write the batch into the gradebook, then move its notebooks into place."""
        records = self._gradebook.write(self._batch, self._choices)
        self._patiently(self._put_in_place)
        self._attempts.note(records)
        for entry in self._batch:
            entry.graded.notebooks = {}  # else the notebooks of a whole class would stay in memory
        self._batch, self._choices = [], {}

    def _put_in_place(self) -> None:
        for entry in self._batch:
            self._folder.put_in_place(entry.student, entry.record.fingerprint)

    def close(self) -> None:
        self._folder.tidy()

    def _patiently(self, write: Callable[[], T]) -> T:
        """Write something, and wait while a disk is full. Lasting errors, such as a closed folder, stop the run."""
        try:
            return while_short(write)
        except OSError as error:
            path = f" ({error.filename})" if error.filename else ""
            raise CourseError(
                f"Cannot save the grades: {error.strerror}{path}. Fix that, then run this again."
            ) from error


def _texts(graded: Graded) -> dict[str, str]:
    """The texts of graded notebooks, without those that are missing."""
    return {name: notebook.text for name, notebook in graded.notebooks.items() if notebook.text}


def _make_record(accepted: AcceptedSubmission, graded: Graded, texts: Mapping[str, str]) -> Record:
    digest = digest_of({name: text.encode() for name, text in texts.items()})
    return Record(accepted.fingerprint, digest, graded.verdicts, graded.blocked, accepted.attempt, environment())
