"""Read the submissions of a class: whose there are, what each one holds, and a fingerprint that shows whether anything
is new. Nothing is decided or written here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

from nbgrader.api import Notebook
from nbgrader.utils import find_all_files

from grader.classroom.attempts import FOLDER, NoRoom, keep, kept
from grader.classroom.submitted_files import NotTakenIn, SubmittedFiles, take_in
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.counting import Attempts
from grader.gradebook.fingerprint import Fingerprint, digest, way
from grader.gradebook.hidden_seed import Attempt, hidden_seed, secret_of
from grader.gradebook.settings import ClassSettings
from grader.model.submission import Assignment, Files, KnownNotebook, Submission
from grader.notebooks.cells import demos_of
from grader.notebooks.modules_beside import FILES, given_beside
from grader.notebooks.repair import known_cells
from grader.sandbox.plain_text import listed
from grader.term.times import said


def who(course: Course, assignment: str, students: Sequence[str] = ()) -> list[str]:
    """The students to grade: these, or all who have a submission."""
    course.chosen([assignment])
    everyone = course.students(assignment)
    _must_be_there(course, students, everyone, f" of {assignment}")
    if not everyone:
        names = listed(f"{name}.ipynb" for name in course.notebooks("source", assignment))
        raise _nothing_in(course, f"{assignment}/{names}")
    return list(dict.fromkeys(students)) or everyone


def all_submitted(course: Course, students: Sequence[str] = ()) -> dict[str, list[str]]:
    """The assignments with submissions, or with some of these students, who are then listed for each."""
    found = {assignment: course.students(assignment) for assignment in course.assignments()}
    there = {student for everyone in found.values() for student in everyone}
    _must_be_there(course, students, there)
    if not found:
        raise CourseError(f"There is no assignment: nothing is in {course.called('source')}/ASSIGNMENT/.")
    if not there:
        raise _nothing_in(course, "ASSIGNMENT/")
    if not students:
        return {assignment: [] for assignment, everyone in found.items() if everyone}
    chosen = {name: [student for student in students if student in everyone] for name, everyone in found.items()}
    return {assignment: some for assignment, some in chosen.items() if some}


def _must_be_there(course: Course, students: Sequence[str], there: Collection[str], what: str = "") -> None:
    if unknown := sorted(set(students) - set(there)):
        raise CourseError(
            f"There is no submission{what} by {listed(unknown, last='or')}. Use the names of the folders in "
            f"{course.called('submitted')}/."
        )


def _nothing_in(course: Course, place: str) -> CourseError:
    return CourseError(f"There is nothing to grade. Put submissions into {course.called('submitted')}/STUDENT/{place}.")


def read_assignment(
    course: Course, settings: ClassSettings, gradebook: ClassGradebook, *, device: str, confined: bool
) -> Assignment:
    """Read everything that is the same for all students, once."""
    name = gradebook.assignment
    found = [Path(path) for path in find_all_files(str(settings.source), settings.ignored)]
    given = {str(path.relative_to(settings.source)): path.read_bytes() for path in found}
    other = given_beside(settings.source)
    given |= {place: content for place, content in other.items() if place in FILES or place in given}
    return Assignment(
        name=name,
        db_url=settings.db_url,
        notebooks=[_known(course, name, notebook) for _, notebook in sorted(gradebook.notebooks.items())],
        given={place: content for place, content in given.items() if place not in settings.students_own},
        settings=course.settings,
        device=device,
        confined=confined,
        exercises=course.exercise_files,
        hidden=sorted({str(course.root), str(course.folder("source").resolve().parent)}),  # a rehearsal has two
    )


def _known(course: Course, assignment: str, notebook: Notebook) -> KnownNotebook:
    """A notebook, from the gradebook and the release."""
    released = course.read("release", assignment, notebook.name)
    return KnownNotebook(notebook.name, notebook.kernelspec, known_cells(notebook, released), demos_of(released))


@dataclass(frozen=True)
class Taken:
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
        known: Attempts,
    ) -> None:
        self._course = course
        self._given = settings.source
        self._beside = FILES & assignment.given.keys()
        self._name = assignment.name
        self._notebooks = [notebook.name for notebook in assignment.notebooks]
        self._ignored = settings.ignored
        self._own = settings.students_own
        self._rules, self._submitted = gradebook.rules, gradebook.submitted()
        self._known = known
        self._secret = secret_of(course.root)
        self._same_for_all = _fingerprint_for_all(assignment)

    def take_in(self, student: str) -> list[Taken]:
        """All attempts of a student that may count, the one in submitted/ last.

        NotTakenIn is raised if that one cannot be graded.
        """
        newest = self._read(self._course.folder("submitted"), student)
        if not self._rules.best:
            return [self._taken(student, newest, [])]
        earlier = []
        for name in kept(self._course, student, self._name):
            with contextlib.suppress(NotTakenIn):  # an old one that cannot be graded does no harm
                earlier.append(self._read(self._course.root / FOLDER, student, name))
        found: dict[str, Taken] = {}
        numbered: list[Attempt] = []
        for submitted in [*sorted(earlier, key=lambda one: one.time_text), newest]:
            taken = self._taken(student, submitted, numbered)
            found.pop(taken.attempt.digest, None)  # a kept copy of the same one
            found[taken.attempt.digest] = taken
            numbered.append(taken.attempt)
        return list(found.values())

    def keep(self, student: str) -> None:
        """Keep a copy of a submission if it may still count after another one has replaced it."""
        if self._rules.best:
            with contextlib.suppress(NoRoom):  # it is graded anyway, and `grader collect` then replaces nothing
                keep(self._course, student, self._name)

    def _read(self, folder: Path, student: str, name: str = "") -> SubmittedFiles:
        return take_in(folder, student, self._name, self._given, self._own, self._notebooks, self._beside, name)

    def _taken(self, student: str, submitted: SubmittedFiles, before: Sequence[Attempt]) -> Taken:
        files = {place: content for place, content in submitted.files.items() if not self._is_ignored(place)}
        time = submitted.time
        left_out = [] if self._rules.best else submitted.left_out  # the copies have nothing to leave out
        content = digest(str(left_out), *self._contents(submitted.notebooks), *_named(files))
        attempt = self._known.numbered(student, content, before)
        seed = hidden_seed(self._secret, self._name, student, attempt.number)
        fingerprint = replace(self._same_for_all, submission=digest(student, content, seed))
        submission = Submission(student, submitted.notebooks, files, seed, content)
        left_out = submitted.left_out + ([] if time or self._rules.best else self._without_time(student))
        return Taken(submission, str(fingerprint), attempt, time, left_out)

    def _contents(self, notebooks: Mapping[str, bytes | None]) -> list[str | bytes]:
        """The notebooks as parts of a digest. A single one counts as in earlier versions, or all would be new."""
        if self._notebooks == [self._name]:
            return [notebooks[self._name] or b""]
        return [part for name, content in notebooks.items() for part in (name, content or b"")]

    def _without_time(self, student: str) -> list[str]:
        """A notice that the gradebook keeps an earlier submission's time, as nbgrader does: this one may be late."""
        if not (known := self._submitted.get(student)) or not known.timestamp:
            return []
        time = said(known.timestamp, self._rules.zone)
        return [f"submit without a time (so the time of an earlier submission, {time}, still counts)"]

    def _is_ignored(self, place: str) -> bool:
        return any(fnmatchcase(part, pattern) for part in Path(place).parts for pattern in self._ignored)


def _fingerprint_for_all(assignment: Assignment) -> Fingerprint:
    """The fingerprint of everything that a grade depends on, except the submission."""
    package = Path(__file__).resolve().parent.parent
    # The grader's own exercises count only in courses that use them.
    own = [path for path in sorted(package.rglob("*.py")) if path.relative_to(package).parts[0] != "exercises"]
    sources = [path.read_bytes() for path in own]
    grader = digest(version("torch"), version("nbgrader"), *sources)[:7]
    return Fingerprint(
        grader=grader + way(assignment.device, assignment.confined),
        exercises=assignment.exercises.digest,
        notebook=digest(assignment.name, *map(_known_text, assignment.notebooks), *_named(assignment.given)),
        settings=digest(assignment.settings),
        submission="",
    )


def _known_text(notebook: KnownNotebook) -> str:
    return repr((notebook.name, notebook.known, notebook.kernelspec, sorted(notebook.demos)))


def _named(files: Files) -> list[str | bytes]:
    return [part for place in sorted(files) for part in (place, files[place])]
