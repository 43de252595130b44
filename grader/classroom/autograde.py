"""Grade a class: take in what is new, have workers grade it, and write the results down in batches."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import find_all_files, parse_utc
from traitlets.utils.importstring import import_item

from grader.classroom.graded_folder import Autograded
from grader.classroom.handed_in import NotTakenIn, take_in
from grader.classroom.local_crew import InThisProcess, LocalWorkers, Workers, WorkersGone
from grader.course import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook, Entry, Record, open_gradebook
from grader.model.submission import Assignment, Files, Graded, Submission
from grader.notebooks.cells import demos_of
from grader.notebooks.repair import known_cells
from grader.running.scratch import sweep
from grader.sandbox.confine import why_not
from grader.sandbox.plain_text import one_line

BATCH = 32  # submissions that are written at once …
RUN_AND_JUDGE = "grader.gradebook.preprocessors.RunAndJudge"
BATCH_SECONDS = 1.0  # … or those of this time


class Watcher(Protocol):
    """Somebody who looks on."""

    def tell(self, text: str) -> None:
        """Something that the user should know."""

    def look(self, running: Mapping[str, float]) -> None:
        """Called now and then: who is being graded, and for how many seconds."""


class Nobody:
    def tell(self, text: str) -> None: ...

    def look(self, running: Mapping[str, float]) -> None: ...


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
    watcher: Watcher | None = None,
) -> Generator[Graded]:
    """Yield what became of each submission as soon as it is written down. Whatever happens to one, the others go on.

    What has a grade for the same submission, release, grader and settings is not run again, unless `force` is true.
    Submissions go to `jobs` workers on this machine, or to those of the Dask scheduler at the address `dask`.
    """
    watcher = watcher or Nobody()
    chosen = who(course, assignment, students)
    if not course.notebook("release", assignment).is_file():
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    if confined and not dask and (reason := why_not()):
        raise CourseError(
            f"Submissions cannot be confined here: {reason}. `grader doctor` says more. "
            "To run them unconfined, add --unconfined."
        )
    for name in [] if students else course.strays():
        watcher.tell(f"submitted/{one_line(name)} is no folder of a student, and is left out.")
    sweep()
    with _alone(course):
        run = _Run(course, assignment, device, confined, watcher)
        try:
            yield from run.grade(chosen, force, jobs, dask)
        finally:
            run.close()


def who(course: Course, assignment: str, students: Sequence[str] = ()) -> list[str]:
    """Whose submissions there are to grade: these students', or everyone's."""
    course.chosen([assignment])
    everyone = course.students(assignment)
    unknown = sorted(set(students) - set(everyone))
    if unknown:
        raise CourseError(
            f"There is no submission of {assignment} by {', '.join(unknown)}. Students are called as their folders in "
            "submitted/ are."
        )
    if not everyone:
        raise CourseError(
            f"There is nothing to grade. Put what was handed in into submitted/STUDENT/{assignment}/{assignment}.ipynb."
        )
    return list(dict.fromkeys(students)) or everyone


@contextlib.contextmanager
def _alone(course: Course) -> Iterator[None]:
    """Two that grade the same course at once would undo each other's work."""
    with (course.root / CONFIG_FILE).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError("This course is being graded already. Wait for that, or stop it.") from None
        yield


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """A full disk or a closed folder concerns the whole class."""
    try:
        yield
    except OSError as error:
        raise CourseError(
            f"What is graded cannot be written: {error.strerror} ({error.filename}). Mend that, and run this again."
        ) from error


@dataclass(frozen=True)
class _Taken:
    """A submission on its way: what must be known when its result comes."""

    submission: Submission
    fingerprint: str
    timestamp: datetime | None
    left_out: Sequence[str]


class _Run:
    """One run over a class: the head, which alone reads submissions and writes results."""

    def __init__(self, course: Course, assignment: str, device: str, confined: bool, watcher: Watcher) -> None:
        self._course = course
        self._name = assignment
        self._watcher = watcher
        api = course.api()
        converter = _settings_of_autograde(course, api)
        self._ignored = [*api.coursedir.ignore, "*.ipynb"]
        self._gradebook = open_gradebook(api, watcher.tell)
        self._book = ClassGradebook(self._gradebook, assignment, _penalties(converter), watcher.tell)
        self._assignment = self._read_assignment(api, converter, device, confined)
        self._digest = _digest_of_all(self._assignment, self._book.duedate)
        self._folder = Autograded(
            Path(api.coursedir.format_path(api.coursedir.autograded_directory, ".", ".")).resolve(),
            assignment,
            int(str(converter.permissions), 8),
        )
        self._workers: Workers | None = None
        self._taken: dict[str, _Taken] = {}
        self._batch: list[Entry] = []
        self._ready: list[Graded] = []  # to be told of with the next batch, in this order
        self._batch_began = time.monotonic()

    def _read_assignment(self, api: Any, converter: Any, device: str, confined: bool) -> Assignment:
        source = Path(api.coursedir.format_path(api.coursedir.source_directory, ".", self._name))
        places = [Path(path).relative_to(source) for path in find_all_files(str(source), self._ignored)]
        released = self._course.read("release", self._name)
        students_own = converter.exclude_overwriting.get(self._name, [])
        return Assignment(
            name=self._name,
            db_url=api.coursedir.db_url,
            kernelspec=self._book.notebook.kernelspec,
            known=known_cells(self._book.notebook, released),
            given={str(place): (source / place).read_bytes() for place in places if str(place) not in students_own},
            demos=demos_of(released),
            settings=self._course.settings,
            device=device,
            confined=confined,
        )

    def grade(self, students: Sequence[str], force: bool, jobs: int, dask: str) -> Iterator[Graded]:
        self._records = self._book.records()
        self._extensions = self._book.extensions()
        with _writing():
            self._folder.recover({student: record.fingerprint for student, record in self._records.items()})
        new = self._new(students, force)
        first = list(itertools.islice(new, 2))
        if first:
            self._workers = _workers(self._assignment, 1 if len(first) == 1 else jobs, dask)
            try:
                for graded in self._workers.grade(itertools.chain(first, new)):
                    if graded is not None:
                        self._keep(graded)
                    self._watcher.look(self._workers.running())
                    if len(self._ready) >= BATCH or time.monotonic() > self._batch_began + BATCH_SECONDS:
                        yield from self._write_down()
            except WorkersGone:
                yield from self._write_down()
                raise
        yield from self._write_down()

    def _new(self, students: Sequence[str], force: bool) -> Iterator[Submission]:
        """What is to be graded. What is not has its result already, or cannot be taken in."""
        for student in students:
            try:
                taken = self._take_in(student)
            except NotTakenIn as reason:
                self._ready.append(Graded(student, error=str(reason)))
                continue
            record = self._records.get(student)
            if not force and record and self._is_current(student, record, taken.fingerprint):
                self._ready.append(Graded(student, verdicts=record.verdicts, blocked=record.blocked, unchanged=True))
                continue
            if no_room := self._folder.why_not(student):
                self._ready.append(Graded(student, error=no_room))
                continue
            self._taken[student] = taken
            yield taken.submission

    def _is_current(self, student: str, record: Record, fingerprint: str) -> bool:
        return record.fingerprint == fingerprint and record.digest == self._folder.digest(student)

    def _take_in(self, student: str) -> _Taken:
        given = self._course.root / "source" / self._name
        handed_in = take_in(self._course.root / "submitted", student, self._name, given)
        files = {place: content for place, content in handed_in.files.items() if not self._is_ignored(place)}
        submission = Submission(student, handed_in.notebook, files)
        text = files.get("timestamp.txt", b"").decode().strip()
        fingerprint = _digest(
            self._digest, student, str(self._extensions.get(student)), str(handed_in.left_out),
            handed_in.notebook or b"", *_named(files),
        )  # fmt: skip
        return _Taken(submission, fingerprint, parse_utc(text) if text else None, handed_in.left_out)

    def _is_ignored(self, place: str) -> bool:
        return any(fnmatchcase(part, pattern) for part in Path(place).parts for pattern in self._ignored)

    def _keep(self, graded: Graded) -> None:
        """Lay a result down beside the autograded folder, and put it on the list for the gradebook."""
        taken = self._taken.pop(graded.student)
        graded.blocked = (*taken.left_out, *graded.blocked)
        if not graded.error:
            files: Files = {**taken.submission.files, **self._assignment.given}
            with _writing():
                digest = self._folder.lay_down(graded.student, taken.fingerprint, graded.notebook, files)
            record = Record(taken.fingerprint, digest, graded.verdicts, graded.blocked)
            self._batch.append(Entry(graded, record, taken.timestamp))
        self._ready.append(graded)

    def _write_down(self) -> list[Graded]:
        """Write the batch into the gradebook, then put its notebooks in place. Returns who has a result now."""
        self._book.write(self._batch)
        with _writing():
            for entry in self._batch:
                self._folder.put_in_place(entry.graded.student, entry.record.fingerprint)
        self._batch = []
        ready, self._ready = self._ready, []
        self._batch_began = time.monotonic()
        return ready

    def close(self) -> None:
        """End all that is still running."""
        if self._workers is not None:
            self._workers.close()
        self._folder.tidy()
        self._gradebook.close()


def _workers(assignment: Assignment, jobs: int, dask: str) -> Workers:
    if not dask:
        return InThisProcess(assignment) if jobs == 1 else LocalWorkers(assignment, jobs)
    try:
        from grader.classroom.dask_crew import DaskWorkers
    except ModuleNotFoundError as error:
        raise CourseError(f"{error}. Run: pip install 'attention-grader[dask]'") from error
    return DaskWorkers(assignment, dask)


def _settings_of_autograde(course: Course, api: Any) -> Any:
    """nbgrader's own command with this course's settings, without our parts in it: they bring torch."""
    config = course.config()
    config.Autograde.pop("exporter_class", None)
    converter = Autograde(coursedir=api.coursedir, config=config)
    if RUN_AND_JUDGE not in converter.autograde_preprocessors:
        raise CourseError(
            f"c.Autograde.autograde_preprocessors in {CONFIG_FILE} leaves out {RUN_AND_JUDGE}. Put it back, or grade "
            "with nbgrader autograde."
        )
    return converter


def _penalties(converter: Any) -> Any:
    """What assigns penalties for late submissions, if the configuration wants them."""
    for kind in converter.autograde_preprocessors:
        if isinstance(kind, str) and kind.startswith("grader."):  # ours, which brings torch
            continue
        kind = import_item(kind) if isinstance(kind, str) else kind
        if issubclass(kind, AssignLatePenalties):
            return kind(parent=converter)
    return None


def _digest_of_all(assignment: Assignment, duedate: datetime | None) -> str:
    """Of everything but the submission that a grade depends on."""
    package = Path(__file__).resolve().parent.parent
    sources = [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    return _digest(
        version("torch"), version("nbgrader"), *sources,
        assignment.name, repr(assignment.known), str(assignment.kernelspec), str(duedate),
        *_named(assignment.given), *sorted(assignment.demos),
        assignment.settings, assignment.device, str(assignment.confined),
    )  # fmt: skip


def _named(files: Files) -> list[str | bytes]:
    return [part for place in sorted(files) for part in (place, files[place])]


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "replace") if isinstance(part, str) else part
        digest.update(b"%d " % len(content) + content)
    return digest.hexdigest()
