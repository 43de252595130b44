"""Read the submissions of a class: whose there are, what each one holds, and a fingerprint that shows whether anything
is new. Nothing is decided or written here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

from nbgrader.api import Notebook
from nbgrader.utils import find_all_files

from grader.classroom.attempts import FOLDER, NoRoom, keep_submitted, kept_attempts
from grader.classroom.submitted_files import NotTakenIn, SubmittedFiles, take_in
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.counting import Attempts
from grader.gradebook.fingerprint import Fingerprint, digest, digest_parts, run_mode
from grader.gradebook.hidden_seed import Attempt, hidden_seed, secret_of
from grader.gradebook.settings import ClassSettings
from grader.model.submission import Assignment, AssignmentNotebook, Submission
from grader.notebooks.cells import demos_of
from grader.notebooks.modules_beside import FILES, given_beside
from grader.notebooks.repair import known_cells
from grader.sandbox.plain_text import listed
from grader.term.times import format_time


def students_to_grade(course: Course, assignment: str, students: Sequence[str] = ()) -> list[str]:
    """The students to grade: these, or all who have a submission."""
    course.chosen([assignment])
    submitters = course.students(assignment)
    _check_students(course, students, submitters, f" of {assignment}")
    if not submitters:
        names = listed(f"{name}.ipynb" for name in course.notebooks("source", assignment))
        raise _nothing_to_grade(course, f"{assignment}/{names}")
    return list(dict.fromkeys(students)) or submitters


def assignments_to_grade(course: Course, students: Sequence[str] = ()) -> dict[str, list[str]]:
    """The assignments with submissions, or with some of these students, who are then listed for each."""
    submitters = {assignment: course.students(assignment) for assignment in course.assignments()}
    all_submitters = set[str]().union(*submitters.values())
    _check_students(course, students, all_submitters)
    if not submitters:
        raise CourseError(f"There is no assignment: nothing is in {course.called('source')}/ASSIGNMENT/.")
    if not all_submitters:
        raise _nothing_to_grade(course, "ASSIGNMENT/")
    if not students:
        return {assignment: [] for assignment in submitters if submitters[assignment]}
    chosen = {}
    for assignment, assignment_submitters in submitters.items():
        chosen_students = [student for student in students if student in assignment_submitters]
        if chosen_students:
            chosen[assignment] = chosen_students
    return chosen


def _check_students(
    course: Course, students: Sequence[str], submitters: Collection[str], of_assignment: str = ""
) -> None:
    unknown = sorted(set(students) - set(submitters))
    if unknown:
        raise CourseError(
            f"There is no submission{of_assignment} by {listed(unknown, last='or')}. Use the names of the folders in "
            f"{course.called('submitted')}/."
        )


def _nothing_to_grade(course: Course, path: str) -> CourseError:
    return CourseError(f"There is nothing to grade. Put submissions into {course.called('submitted')}/STUDENT/{path}.")


def read_assignment(
    course: Course, settings: ClassSettings, gradebook: ClassGradebook, *, device: str, confined: bool
) -> Assignment:
    """Read everything that is the same for all students, once."""
    name = gradebook.assignment
    source_files = {}
    for path in map(Path, find_all_files(str(settings.source), settings.ignored)):
        source_files[str(path.relative_to(settings.source))] = path.read_bytes()
    for file, content in given_beside(settings.source).items():
        if file in FILES or file in source_files:
            source_files[file] = content
    return Assignment(
        name=name,
        db_url=settings.db_url,
        notebooks=[_known_notebook(course, name, notebook) for _, notebook in sorted(gradebook.notebooks.items())],
        provided_files={
            path: content for path, content in source_files.items() if path not in settings.replaceable_files
        },
        settings=course.settings,
        device=device,
        confined=confined,
        exercises=course.exercise_files,
        hidden=sorted({str(course.root), str(course.folder("source").resolve().parent)}),  # a rehearsal has two
    )


def _known_notebook(course: Course, assignment: str, notebook: Notebook) -> AssignmentNotebook:
    """A notebook, from the gradebook and the release."""
    released = course.read("release", assignment, notebook.name)
    return AssignmentNotebook(notebook.name, notebook.kernelspec, known_cells(notebook, released), demos_of(released))


@dataclass(frozen=True)
class AcceptedSubmission:
    """A submission that was taken in, and what is needed when its result arrives."""

    submission: Submission
    fingerprint: str  # of all that its grade depends on, as text
    attempt: Attempt
    timestamp: datetime | None  # when it was submitted, if known
    left_out: Sequence[str]  # continues "tried to"


class Intake:
    """Reads the submissions of one assignment."""

    def __init__(
        self,
        course: Course,
        assignment: Assignment,
        settings: ClassSettings,
        gradebook: ClassGradebook,
        attempts: Attempts,
    ) -> None:
        self._course = course
        self._source = settings.source
        self._companion_files = FILES & assignment.provided_files.keys()
        self._assignment = assignment.name
        self._notebooks = [notebook.name for notebook in assignment.notebooks]
        self._ignored = settings.ignored
        self._replaceable_files = settings.replaceable_files
        self._rules, self._submitted = gradebook.rules, gradebook.submitted()
        self._attempts = attempts
        self._secret = secret_of(course.root)
        self._same_for_all = _fingerprint_for_all(assignment)

    def take_in(self, student: str) -> list[AcceptedSubmission]:
        """All attempts of a student that may count, the one in submitted/ last.

        NotTakenIn is raised if that one cannot be graded.
        """
        newest = self._read(self._course.folder("submitted"), student)
        if not self._rules.best:
            return [self._accept(student, newest, [])]
        earlier = []
        for name in kept_attempts(self._course, student, self._assignment):
            with contextlib.suppress(NotTakenIn):  # an old one that cannot be graded does no harm
                earlier.append(self._read(self._course.root / FOLDER, student, name))
        earlier.sort(key=lambda submitted: submitted.time_text)
        by_digest: dict[str, AcceptedSubmission] = {}
        attempts: list[Attempt] = []
        for submitted in [*earlier, newest]:
            accepted = self._accept(student, submitted, attempts)
            by_digest.pop(accepted.attempt.digest, None)  # a kept copy of the same one
            by_digest[accepted.attempt.digest] = accepted
            attempts.append(accepted.attempt)
        return list(by_digest.values())

    def keep(self, student: str) -> None:
        """Keep a copy of a submission if it may still count after another one has replaced it."""
        if self._rules.best:
            with contextlib.suppress(NoRoom):  # it is graded anyway, and `grader collect` then replaces nothing
                keep_submitted(self._course, student, self._assignment)

    def _read(self, folder: Path, student: str, attempt: str = "") -> SubmittedFiles:
        return take_in(
            folder,
            student,
            self._assignment,
            self._source,
            self._replaceable_files,
            self._notebooks,
            self._companion_files,
            attempt,
        )

    def _accept(self, student: str, submitted: SubmittedFiles, before: Sequence[Attempt]) -> AcceptedSubmission:
        files = {path: content for path, content in submitted.files.items() if not self._is_ignored(path)}
        notebooks = digest_parts(submitted.notebooks)
        if self._notebooks == [self._assignment]:  # as in earlier versions, or all submissions would be new
            notebooks = [submitted.notebooks[self._assignment] or b""]
        left_out = [] if self._rules.best else submitted.left_out  # the copies have nothing to leave out
        content = digest(str(left_out), *notebooks, *digest_parts(files))
        attempt = self._attempts.find_or_number(student, content, before)
        seed = hidden_seed(self._secret, self._assignment, student, attempt.number)
        fingerprint = replace(self._same_for_all, submission=digest(student, content, seed))
        submission = Submission(student, submitted.notebooks, files, seed, content)
        notices = [] if submitted.time or self._rules.best else self._describe_missing_time(student)
        left_out = submitted.left_out + notices
        return AcceptedSubmission(submission, str(fingerprint), attempt, submitted.time, left_out)

    def _describe_missing_time(self, student: str) -> list[str]:
        """A notice that the gradebook keeps an earlier submission's time, as nbgrader does: this one may be late."""
        earlier = self._submitted.get(student)
        if earlier is None or not earlier.timestamp:
            return []
        time = format_time(earlier.timestamp, self._rules.zone)
        return [f"submit without a time (so the time of an earlier submission, {time}, still counts)"]

    def _is_ignored(self, path: str) -> bool:
        segments = Path(path).parts
        return any(fnmatchcase(segment, pattern) for segment in segments for pattern in self._ignored)


def _fingerprint_for_all(assignment: Assignment) -> Fingerprint:
    """The fingerprint of everything that a grade depends on, except the submission."""
    package = Path(__file__).resolve().parent.parent
    # The grader's own exercises count only in courses that use them.
    paths = [path for path in sorted(package.rglob("*.py")) if path.relative_to(package).parts[0] != "exercises"]
    grader = digest(version("torch"), version("nbgrader"), *(path.read_bytes() for path in paths))[:7]
    return Fingerprint(
        grader=grader + run_mode(assignment.device, assignment.confined),
        exercises=assignment.exercises.digest,
        notebook=digest(
            assignment.name, *map(_notebook_text, assignment.notebooks), *digest_parts(assignment.provided_files)
        ),
        settings=digest(assignment.settings),
        submission="",
    )


def _notebook_text(notebook: AssignmentNotebook) -> str:
    return repr((notebook.name, notebook.cells, notebook.kernelspec, sorted(notebook.demos)))
