"""Grade one submission outside of a class: a folder becomes points, or a sentence that says why not."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grader.autograders.packed import Packed
from grader.classroom.submission_grader import SubmissionGrader
from grader.collecting.choosing import ChosenUpload, WaitingUpload, choose
from grader.collecting.folders import list_folder
from grader.collecting.identifying import Identifier
from grader.collecting.students import StudentReference
from grader.collecting.uploads import Upload
from grader.errors import CourseError
from grader.gradebook.hidden_seed import hidden_seed
from grader.host.scratch import sweep
from grader.model.denied import for_student
from grader.model.submission import Graded, ReleasedCell, Submission
from grader.model.verdict import Reason, Scored, Verdict
from grader.notebooks.cells import exercise_of
from grader.notebooks.verdict_cells import tried_in
from grader.sandbox.confine import why_no_landlock, why_not_even_by_user
from grader.sandbox.plain_text import one_line

MAX_SENTENCE = 1000  # characters
_AGAIN = "Submit again, with exactly one notebook for this assignment."


@dataclass(frozen=True)
class Outcome:
    """The result for one submission."""

    scored: Sequence[Scored]  # of all tests, in order
    notes: Sequence[str]  # about the submission as a whole
    blocked: Sequence[str] = ()  # what its code tried, in full, for the instructor
    draw: str = ""  # the seed of the hidden inputs: useless without the secret

    @property
    def points(self) -> float:
        return round(sum(scored.points for scored in self.scored), 2)

    @property
    def attempts(self) -> list[str]:
        """A sentence for each thing that the code tried."""
        return [f"The code tried to {one_line(attempt)}." for attempt in self.blocked]


def describe_confinement() -> str:
    """What confines submissions here, in words. CourseError is raised if nothing does."""
    reason = why_not_even_by_user()
    if reason:
        raise CourseError(f"Cannot run submissions in a sandbox here: {reason}. Nothing was graded.")
    return "a separate user, without Landlock" if why_no_landlock() else "Landlock"


def grade_folder(packed: Packed, folder: Path, student: str, draw: str = "") -> Outcome:
    """Grade a student's submission. CourseError is raised for errors of our own.

    Hidden inputs are drawn anew each time, since students could repeat anything that can be counted here. With the
    `draw` of an earlier outcome, and the same submission, they are the same again.
    """
    describe_confinement()  # or an error
    sweep()
    chosen = _choose(packed, folder, student)
    if isinstance(chosen, WaitingUpload):
        return _grade_nothing(packed, chosen.reasons)
    name = packed.assignment.name
    draw = draw or secrets.token_hex(8)
    seed = hidden_seed(packed.secret, name, student, draw)
    graded = SubmissionGrader(packed.assignment).grade(Submission(student, chosen.notebooks, chosen.files, seed))
    if graded.error:
        raise CourseError(f"The submission could not be graded, but that is not the student's fault: {graded.error}")
    return Outcome(graded.verdicts, [*chosen.notes, *_notes(packed, graded)], graded.blocked, draw)


def _choose(packed: Packed, folder: Path, student: str) -> ChosenUpload | WaitingUpload:
    upload = Upload(StudentReference.of(student), list_folder(folder).files if folder.is_dir() else (), folder.name)
    (choice,) = choose([upload], Identifier(packed.released, packed.assignment.name))
    return choice


def _grade_nothing(packed: Packed, reasons: Sequence[str]) -> Outcome:
    """The outcome if there is no notebook, or more than one: it earns nothing, and the student can fix it."""
    note = f"Nothing was graded: {'; '.join(reasons).removesuffix('.')}. {_AGAIN}"
    scored_tests = []
    for cell in _cells(packed):
        if cell.grade and not cell.solution:
            exercise = exercise_of(cell.grade_id)
            verdict = Verdict(exercise, "" if exercise else cell.grade_id, 0.0, Reason.MISSING)
            scored_tests.append(Scored(verdict, cell.points))
    return Outcome(scored_tests, [note])


def _notes(packed: Packed, graded: Graded) -> Iterator[str]:
    """Notes about what the code tried, only by kind, and about answers that a person still has to grade."""
    texts = [notebook.text for notebook in graded.notebooks.values() if notebook.text]
    kinds = dict.fromkeys(kind for text in texts for kind in tried_in(nbformat.reads(text, as_version=4)))
    for kind in kinds:
        yield f"The code tried to {for_student(kind)}, which is not allowed during grading."
    points = sum(cell.points for cell in _cells(packed) if cell.task or (cell.grade and cell.solution))
    if points:
        yield f"A person will grade some answers, for up to {points:g} more points."


def _cells(packed: Packed) -> list[ReleasedCell]:
    return [cell for notebook in packed.assignment.notebooks for cell in notebook.cells]
