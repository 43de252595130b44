"""Write down the results of a class: notebooks in autograded/, points and their records in the gradebook.
If a run is interrupted between two steps, the next one makes both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.classroom.graded_folder import GradedFolder
from grader.classroom.intake import Taken
from grader.errors import CourseError
from grader.gradebook.class_gradebook import GradebookEntry
from grader.gradebook.counting import Attempts
from grader.gradebook.fingerprint import same_answers
from grader.gradebook.records import Record, digest_of
from grader.gradebook.set_aside import Aside, Marks, SetAside
from grader.host.machine import environment
from grader.host.patience import while_short
from grader.model.submission import Files, Graded

T = TypeVar("T")


@dataclass(frozen=True)
class GradedAttempt:
    """An attempt that was taken in, and its grade."""

    taken: Taken
    graded: Graded

    @property
    def attempt(self) -> str:
        return self.taken.attempt.digest


class Ledger:
    """Writes the results of one assignment. The files `given` are put beside every notebook."""

    def __init__(self, folder: GradedFolder, known: Attempts, given: Files) -> None:
        self._folder = folder
        self._gradebook = known.gradebook
        self._given = given
        self._known = known
        self._batch: list[GradebookEntry] = []
        self._aside: list[Aside] = []

    def recover(self) -> None:
        """Finish what an earlier run began to write."""
        known = {student: record.fingerprint for student, record in self._known.records.items()}
        self._written(lambda: self._folder.recover(known))

    def grade_for(self, taken: Taken) -> Graded | None:
        """The grade written down for exactly this submission, if its notebooks are still in place."""
        student, attempt = taken.submission.student, taken.attempt.digest
        record = self._known.record(student, attempt)
        if not record or record.fingerprint != taken.fingerprint:
            return None
        if attempt == self._known.counting(student) and record.digest != self._folder.digest(student):
            return None
        return Graded(student, verdicts=record.verdicts, blocked=record.blocked, unchanged=True, attempt=attempt)

    def why_not(self, student: str) -> str:
        """Why nothing can be written for this student; empty if it can."""
        return self._folder.why_not(student)

    def count(self, results: Sequence[GradedAttempt]) -> Graded:
        """Decide which of a student's attempts counts, the last or the best, and set the others aside."""
        best = results[-1] if len(results) == 1 else self._best(results)
        student = best.graded.student
        counting = self._known.counting(student)
        is_other = counting != best.attempt and counting in {one.attempt for one in results}
        marks = self._marks(best) if is_other or best.attempt in self._known.aside[student] else None
        if not best.graded.unchanged or counting != best.attempt:
            self._lay_down(best, marks)
        for one in results:
            if one is not best and (not one.graded.unchanged or one.attempt == counting):
                self._set_aside(one, counted=one.attempt == counting)
        best.graded.unchanged = all(one.graded.unchanged for one in results)
        if best is not results[-1]:
            best.graded.newest_verdicts = results[-1].graded.verdicts
        return best.graded

    def _best(self, results: Sequence[GradedAttempt]) -> GradedAttempt:
        times = {one.attempt: one.taken.timestamp for one in results}
        new = {one.attempt: self._fresh(one) for one in results if not one.graded.unchanged}
        best = self._known.best(results[0].graded.student, times, new)
        return next(one for one in results if one.attempt == best)

    def _marks(self, result: GradedAttempt) -> Marks:
        """The marks of an attempt, with points that a person has given for it."""
        new = {} if result.graded.unchanged else {result.attempt: self._fresh(result)}
        return self._known.known_marks(result.graded.student, result.attempt, new)

    def _fresh(self, result: GradedAttempt) -> Marks:
        return self._gradebook.fresh_marks(result.graded, self._same(result))

    def _same(self, result: GradedAttempt) -> frozenset[tuple[str, str]]:
        """The graded cells whose answer is still the one that a person may have seen; none if nothing is new."""
        return frozenset() if result.graded.unchanged else same_answers(self._before(result), self._texts(result))

    def _texts(self, result: GradedAttempt) -> dict[str, str]:
        """The texts of an attempt's graded notebooks, new or already stored."""
        if result.graded.unchanged:
            return self._before(result)
        return {name: notebook.text for name, notebook in result.graded.notebooks.items() if notebook.text}

    def _before(self, result: GradedAttempt) -> dict[str, str]:
        """The graded notebooks of an attempt from earlier, or those of the attempt that it replaces."""
        student, attempt = result.graded.student, result.attempt
        if attempt in self._known.aside[student]:
            return self._gradebook.notebooks_aside(student, attempt)
        return self._folder.texts(student)

    def _lay_down(self, result: GradedAttempt, marks: Marks | None) -> None:
        """Write a result into its waiting folder, and add it to the batch for the gradebook."""
        taken, texts = result.taken, self._texts(result)
        files: Files = {**taken.submission.files, **self._given}
        self._written(lambda: self._folder.lay_down(result.graded.student, taken.fingerprint, texts, files))
        record = _record(result, texts)
        self._batch.append(GradebookEntry(result.graded, record, taken.timestamp, marks, self._same(result)))

    def _set_aside(self, result: GradedAttempt, counted: bool) -> None:
        texts = self._texts(result)
        known = counted and result.graded.unchanged  # its marks are in the gradebook, and can still change there
        marks = Marks({}, {}) if known else self._marks(result)
        one = SetAside(result.attempt, result.taken.timestamp, _record(result, texts), marks, texts)
        self._aside.append(Aside(result.graded.student, one, counted))

    def write_batch(self) -> None:
        """Write the batch into the gradebook, then move its notebooks into place."""
        self._gradebook.write(self._batch, self._aside)
        self._written(self._put_in_place)
        for entry in self._batch:
            entry.graded.notebooks = {}  # else the notebooks of a whole class would stay in memory
        self._batch, self._aside = [], []

    def _put_in_place(self) -> None:
        for entry in self._batch:
            self._folder.put_in_place(entry.graded.student, entry.record.fingerprint)

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


def _record(result: GradedAttempt, texts: Mapping[str, str]) -> Record:
    digest = digest_of({name: text.encode() for name, text in texts.items()})
    taken, graded = result.taken, result.graded
    return Record(taken.fingerprint, digest, graded.verdicts, graded.blocked, taken.attempt, environment())
