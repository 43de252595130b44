"""Run over a class: new submissions go to a crew, and its results are written down in batches."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import itertools
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from grader.classroom.graded_folder import GradedFolder
from grader.classroom.intake import AcceptedSubmission, Intake, read_assignment, students_to_grade
from grader.classroom.ledger import Ledger
from grader.classroom.local_crew import InThisProcess, LocalCrew
from grader.classroom.submitted_files import NotTakenIn
from grader.course.folder import CONFIG_FILE, Course
from grader.errors import CourseBusy, CourseError, CrewGone
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import is_emptied, open_gradebook
from grader.gradebook.counting import Attempts
from grader.gradebook.settings import read_settings, term_rules
from grader.gradebook.settling import settle, warn_of_unknown_lateness, warn_of_unknown_students
from grader.host.scratch import sweep
from grader.model.submission import Assignment, Graded, Submission
from grader.release.entering import enter
from grader.sandbox.confine import why_not
from grader.sandbox.plain_text import one_line

log = logging.getLogger(__name__)

# A crew grades a class: it takes submissions as its members become free, and never waits for one of them.


class Crew(Protocol):
    """Grades submissions in any order; knows neither the course's folder nor the gradebook."""

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        """Yield the results as they come, and None if there is none for some time."""

    def running(self) -> dict[str, float]:
        """The students being graded, and for how many seconds."""

    def close(self) -> None: ...


def crew_for(assignment: Assignment, jobs: int, dask: str) -> Crew:
    """A crew of `jobs` processes on this machine, or of the workers of the Dask scheduler at the address `dask`."""
    if not dask:
        return InThisProcess(assignment) if jobs == 1 else LocalCrew(assignment, jobs)
    try:
        from grader.classroom.dask_crew import DaskCrew
    except ModuleNotFoundError as error:
        raise CourseError(f"{error}. Run: pip install 'attention-grader[dask]'") from error
    return DaskCrew(assignment, dask)


BATCH = 32  # submissions that are written at once …
BATCH_SECONDS = 1.0  # … or after this time, as many as there are


# Called now and then during a run, with the students being graded, and for how many seconds.
Watch = Callable[[Mapping[str, float]], None]


def autograde(
    course: Course,
    assignment: str,
    students: Sequence[str] = (),
    *,
    device: str = "cpu",
    force: bool = False,
    confined: bool = True,
    jobs: int = 1,
    dask: str = "",
    watch: Watch = lambda _running: None,
) -> Generator[Graded]:
    """Yield the result of each submission as soon as it is written down. If one fails, the others go on.

    Unless `force` is true, a submission is not run again if nothing that its grade depends on has changed. The crew is
    `jobs` processes on this machine, or the workers of the Dask scheduler at the address `dask`.
    """
    chosen = students_to_grade(course, assignment, students)
    _check_readiness(course, assignment, must_confine=confined and not dask)
    for name in [] if students else course.strays():
        log.warning(f"{course.called('submitted')}/{one_line(name)} is not a student's folder, so it was skipped.")
    if dask and not dask.startswith("tls://"):
        log.warning(f"Without TLS, anyone who can reach {dask} can set any grade, and run commands on this machine.")
    sweep()
    opened = open_run(course, assignment, device=device, force=force, confined=confined, watch=watch)
    with alone(course), opened as run:
        crew = functools.partial(crew_for, run.assignment, dask=dask)
        yield from run.grade(chosen, crew, jobs)


@contextlib.contextmanager
def open_run(
    course: Course,
    assignment: str,
    *,
    device: str,
    force: bool,
    confined: bool,
    watch: Watch = lambda _running: None,
) -> Iterator[Run]:
    """A run over an assignment. Whoever opens it is alone in the course until it ends."""
    api = course.api()
    settings = read_settings(course, api, assignment)
    rules = term_rules(course, assignment)
    gradebook_is_emptied = is_emptied(api)
    with contextlib.closing(open_gradebook(api)) as opened:
        if not gradebook_is_emptied:
            enter(course, assignment, opened)
        gradebook = ClassGradebook(opened, assignment, rules)
        settle(opened, assignment, rules)
        assignment_for_all = read_assignment(course, settings, gradebook, device=device, confined=confined)
        attempts = Attempts(gradebook)
        intake = Intake(course, assignment_for_all, settings, gradebook, attempts)
        folder = GradedFolder(settings.autograded, assignment, list(gradebook.notebooks), settings.permissions)
        with contextlib.closing(Ledger(folder, attempts, assignment_for_all.provided_files)) as ledger:
            yield Run(assignment_for_all, intake, ledger, watch, force)
        settle(opened, assignment, rules)
        warn_of_unknown_students(opened, rules)
    warn_of_unknown_lateness(course, assignment)


def _check_readiness(course: Course, assignment: str, must_confine: bool) -> None:
    if not course.notebooks("release", assignment):
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    problem = why_not() if must_confine else None
    if problem:
        raise CourseError(
            f"Cannot run submissions in a sandbox here: {problem}. To find out more, run: grader doctor. "
            "To run them without a sandbox (unsafe), add --unconfined."
        )


@contextlib.contextmanager
def alone(course: Course) -> Iterator[None]:
    """Lock the course: two runs that grade or publish it at once would undo each other's work."""
    with (course.root / CONFIG_FILE).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseBusy("This course is already being graded. Wait until that is done, or stop it.") from None
        yield


@dataclass(frozen=True)
class _StudentAttempts:
    """All attempts of a student that may count, and the results of those that are graded now, by digest."""

    submissions: Sequence[AcceptedSubmission]
    ungraded: set[str]  # those without a result so far
    results: dict[str, Graded] = field(default_factory=dict)

    @property
    def failed(self) -> Graded | None:
        return next((graded for graded in self.results.values() if graded.error), None)

    def add(self, graded: Graded) -> None:
        (accepted,) = [accepted for accepted in self.submissions if accepted.attempt.digest == graded.attempt]
        graded.blocked = (*accepted.left_out, *graded.blocked)
        self.results[graded.attempt] = graded
        self.ungraded.remove(graded.attempt)


class Run:
    """Decides what to grade, and when to write. The intake reads, and the ledger writes."""

    def __init__(self, assignment: Assignment, intake: Intake, ledger: Ledger, watch: Watch, force: bool) -> None:
        self.assignment = assignment
        self._intake = intake
        self._ledger = ledger
        self._watch = watch
        self._force = force
        self._attempts: dict[str, _StudentAttempts] = {}  # by student, while they are being graded
        self._ready: list[Graded] = []  # to be yielded with the next batch, in this order
        self._batch_began = time.monotonic()

    def grade(self, students: Sequence[str], crew_of: Callable[[int], Crew], jobs: int) -> Iterator[Graded]:
        """Grade these students, and yield the result of each as soon as it is written down."""
        self._ledger.recover()
        submissions = itertools.chain.from_iterable(map(self._take_in, students))
        first_two = list(itertools.islice(submissions, 2))
        if not first_two:
            yield from self._write_down()
            return
        with contextlib.closing(crew_of(1 if len(first_two) == 1 else jobs)) as crew:
            try:
                for batch in self._follow(crew, itertools.chain(first_two, submissions)):
                    yield from batch
            except CrewGone:
                yield from self._write_down()
                raise
            yield from self._write_down()

    def grade_whoever_comes(self, next_student: Callable[[], str | None], crew: Crew) -> Iterator[list[Graded]]:
        """The same with a crew that is there already, for students who come while others are graded.

        It yields an empty list when there is nothing to do but wait, and ends when nobody is left.
        """
        self._ledger.recover()
        yield from self._follow(crew, _ComingSubmissions(next_student, functools.partial(self._take_in, anew=True)))
        yield self._write_down()

    def _take_in(self, student: str, anew: bool = False) -> Iterable[Submission]:
        """The submissions of a student to grade. All others already have a result, or cannot be taken in.

        With `anew`, the one in submitted/ is graded if another one counts, since the gradebook has no verdicts on it.
        """
        try:
            attempts = self._intake.take_in(student)
        except NotTakenIn as reason:
            self._ready.append(Graded(student, error=str(reason)))
            return ()
        to_grade = list(attempts) if self._force else self._ledger.to_grade(attempts)
        if anew and not to_grade and self._ledger.counting_digest(student) != attempts[-1].attempt.digest:
            to_grade = [attempts[-1]]
        self._intake.keep(student)
        if not to_grade:
            self._ready.append(self._ledger.grade_of(student))
            return []
        problem = self._ledger.find_problem(student)
        if problem:
            self._ready.append(Graded(student, error=problem))
            return []
        self._attempts[student] = _StudentAttempts(attempts, {accepted.attempt.digest for accepted in to_grade})
        return [accepted.submission for accepted in to_grade]

    def _follow(self, crew: Crew, submissions: Iterable[Submission]) -> Iterator[list[Graded]]:
        """Yield the results of a crew as soon as they are written down, and an empty list while it has none."""
        for graded in crew.grade(submissions):
            if graded is not None:
                self._add_result(graded)
            self._watch(crew.running())
            if len(self._ready) >= BATCH or time.monotonic() > self._batch_began + BATCH_SECONDS:
                yield self._write_down()
            elif graded is None:
                yield []

    def _add_result(self, graded: Graded) -> None:
        attempts = self._attempts[graded.student]
        attempts.add(graded)
        if not attempts.ungraded:
            del self._attempts[graded.student]
            self._ready.append(attempts.failed or self._ledger.count(attempts.submissions, attempts.results))

    def _write_down(self) -> list[Graded]:
        """Write down all results so far, and return them."""
        self._ledger.write_batch()
        ready, self._ready = self._ready, []
        self._batch_began = time.monotonic()
        return ready


class _ComingSubmissions:
    """The submissions of whoever comes: it ends when nobody is there, and goes on when somebody is."""

    def __init__(self, next_student: Callable[[], str | None], take_in: Callable[[str], Iterable[Submission]]) -> None:
        self._next_student = next_student
        self._take_in = take_in
        self._submissions: Iterator[Submission] = iter(())  # of the student who came last

    def __iter__(self) -> _ComingSubmissions:
        return self

    def __next__(self) -> Submission:
        while True:
            submission = next(self._submissions, None)
            if submission is not None:
                return submission
            student = self._next_student()
            if student is None:
                raise StopIteration
            self._submissions = iter(self._take_in(student))
