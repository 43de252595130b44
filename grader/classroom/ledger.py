"""What is written down of a class, and where: the notebook in autograded/, points and what they were given for in the
gradebook. Whatever happens between two steps, the next run makes both agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from grader.classroom.graded_folder import GradedFolder
from grader.classroom.intake import Taken
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook, Entry
from grader.gradebook.records import Record
from grader.model.submission import Files, Graded
from grader.running.patience import patiently

T = TypeVar("T")


class Ledger:
    """The results of one assignment. `given` lies beside every notebook."""

    def __init__(
        self, folder: GradedFolder, gradebook: ClassGradebook, given: Files, tell: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._gradebook = gradebook
        self._given = given
        self._tell = tell
        self._records = gradebook.records()
        self._batch: list[Entry] = []

    def recover(self) -> None:
        """Finish what an earlier run has begun to write."""
        known = {student: record.fingerprint for student, record in self._records.items()}
        self._written(lambda: self._folder.recover(known))

    def grade_for(self, taken: Taken) -> Graded | None:
        """The grade that is written down for just this submission, if its notebook lies where it was put."""
        student = taken.submission.student
        record = self._records.get(student)
        if record and record.fingerprint == taken.fingerprint and record.digest == self._folder.digest(student):
            return Graded(student, verdicts=record.verdicts, blocked=record.blocked, unchanged=True)
        return None

    def why_not(self, student: str) -> str:
        """Why nothing can be written for this student; empty if it can."""
        return self._folder.why_not(student)

    def lay_down(self, taken: Taken, graded: Graded) -> None:
        """Lay a result down beside its place in autograded/, and put it on the list for the gradebook."""
        files: Files = {**taken.submission.files, **self._given}
        texts = {name: notebook.text for name, notebook in graded.notebooks.items() if notebook.text}
        digest = self._written(lambda: self._folder.lay_down(graded.student, taken.fingerprint, texts, files))
        record = Record(taken.fingerprint, digest, graded.verdicts, graded.blocked, taken.hand_in)
        self._batch.append(Entry(graded, record, taken.timestamp))

    def write_batch(self) -> None:
        """Write all that was laid down into the gradebook, then put its notebooks in place."""
        self._gradebook.write(self._batch)
        self._written(self._put_in_place)
        self._batch = []

    def _put_in_place(self) -> None:
        for entry in self._batch:
            self._folder.put_in_place(entry.graded.student, entry.record.fingerprint)

    def close(self) -> None:
        self._folder.tidy()

    def _written(self, write: Callable[[], T]) -> T:
        """A full disk is waited for; what stays so, like a closed folder, concerns the whole class."""
        try:
            return patiently(write, self._tell)
        except OSError as error:
            raise CourseError(
                f"What is graded cannot be written: {error.strerror} ({error.filename}). Mend that, and run this again."
            ) from error
