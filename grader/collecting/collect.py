"""Bring uploads into submitted/. Every decision is reported, and anything undecided waits."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from grader.classroom.submitted_files import is_name
from grader.classroom.terminal_tables import folding, plain_table
from grader.collecting.choosing import ChosenUpload, choose
from grader.collecting.contents import list_zip
from grader.collecting.files import Listing
from grader.collecting.folders import list_folder
from grader.collecting.identifying import Identifier, released_notebooks
from grader.collecting.placing import NEW, OLDER, REPLACED, WAITS, SubmissionFolder, recover
from grader.collecting.platforms import check_platform, list_uploads
from grader.collecting.rosters import read_students
from grader.collecting.students import MOODLE, NAME, OWNER, Alias, Roster, StudentReference, normal
from grader.collecting.submission_times import SubmissionTimes
from grader.collecting.uploads import CollectRequest, Upload
from grader.course.folder import Course
from grader.errors import CourseError
from grader.sandbox.plain_text import listed, one_line

log = logging.getLogger(__name__)

# Match uploads with students: never if two students fit, or if something contradicts what is known about one.

_NO_FOLDER = "not a folder name that nbgrader can use"


@dataclass(frozen=True)
class Match:
    """An upload with the id of its student, or with the problem that keeps it unknown."""

    upload: Upload
    student: str
    problem: str


def match_students(uploads: Sequence[Upload], roster: Roster, as_named: bool) -> Iterator[Match]:
    """Find the student of each upload."""
    matcher = _Matcher(roster, as_named)
    matches = [Match(upload, *matcher.find_student(upload.reference)) for upload in uploads]
    students_of_user: dict[Alias, set[str]] = defaultdict(set)  # by user of a platform
    users_of_student: dict[tuple[str, str], set[Alias]] = defaultdict(set)  # by student and kind of platform
    for match in matches:
        user = match.upload.reference.user
        if user and not match.problem:
            students_of_user[user].add(match.student)
            users_of_student[match.student, user[0]].add(user)
    for match in matches:
        user = match.upload.reference.user
        if user and not match.problem and roster.students_of_user(user) != {match.student}:
            users = users_of_student[match.student, user[0]]
            yield replace(match, problem=_find_conflict(user, students_of_user[user], users))
        else:
            yield match


def _find_conflict(user: Alias, students: set[str], users: set[Alias]) -> str:
    """Why a user with a chosen name may not be that student; empty if nothing speaks against it."""
    if len(students) > 1:
        conflict = f"{_describe_user(user)} has submitted for {listed(sorted(students))}"
    elif len(users) > 1:
        conflict = f"{listed(map(_describe_user, sorted(users)))} have submitted for {one_line(next(iter(students)))}"
    else:
        return ""
    if user[0] == OWNER:
        return f"{conflict}. If one user put them all there, copy the folder and collect from the copy"
    return f"{conflict}. Use --students with a table that has their numbers"


def _describe_user(user: Alias) -> str:
    kind, text = user
    if kind == OWNER:
        return f"the user “{one_line(text, 60)}” of this machine"
    return f"user {one_line(text, 60)} of {'Moodle' if kind == MOODLE else 'Canvas'}"


class _Matcher:
    """Finds students by references. Each method returns the student's id, or else the problem."""

    def __init__(self, roster: Roster, as_named: bool) -> None:
        self._roster = roster
        self._as_named = as_named
        self._new_students: dict[str, StudentReference] = {}  # by the platform's name for them

    def find_student(self, reference: StudentReference) -> tuple[str, str]:
        if reference.doubt:
            return "", f"{_quote(reference)}: {reference.doubt}"
        students = self._roster.students_meant(reference)
        if len(students) > 1:
            return "", f"{_quote(reference)} could be {listed(sorted(students), last='or')}"
        student, problem = (students.pop(), "") if students else self._add_student(reference)
        return (student, problem) if problem else self._check_student(student, reference)

    def _check_student(self, student: str, reference: StudentReference) -> tuple[str, str]:
        """The student, unless something else in the reference speaks against it."""
        contradictions = self._roster.find_contradictions(student, reference)
        if contradictions:
            hint = ". Is this the table for this assignment?" if MOODLE in contradictions else ""
            difference = f"who has another {' and another '.join(contradictions)}"
            return "", f"{_quote(reference)} could be {one_line(student)}, {difference}{hint}"
        owners = self._roster.students_of_user(reference.user)
        if owners - {student}:
            owner = listed(sorted(owners), last="or")
            return "", f"it claims to be from {student}, but belongs to {owner} on this machine"
        if not is_name(student):
            return "", f"{_quote(reference)} is {_NO_FOLDER}: {one_line(student)}"
        return student, ""

    def _add_student(self, reference: StudentReference) -> tuple[str, str]:
        """A new student with the platform's name, if the user wants that."""
        problem, name = f"no student is known as {_quote(reference)}", reference.platform_name
        if not self._as_named or not name:
            return "", problem
        if not is_name(name):
            return "", f"{problem}, which is {_NO_FOLDER}"
        namesakes = self._roster.students_meant(StudentReference.of("", (NAME, name)))
        if namesakes or self._new_students.setdefault(normal(name), reference) != reference:
            return "", f"{problem}, and another student is called {name}"
        return name, ""


def _quote(reference: StudentReference) -> str:
    return f"“{one_line(reference.label, 100)}”"


@dataclass(frozen=True)
class Decision:
    """What was done with one upload."""

    student: str  # empty if unknown
    source: str  # where it came from
    outcome: str
    notes: Sequence[str] = ()
    time: datetime | None = None

    @classmethod
    def on(cls, upload: Upload, student: str, outcome: str, notes: Sequence[str]) -> Decision:
        return cls(student, one_line(upload.source), outcome, notes, upload.time)

    @property
    def waits(self) -> bool:
        return self.outcome == WAITS


@dataclass(frozen=True)
class CollectOptions:
    """The options of `grader collect`."""

    students: Path | None = None  # a table of students
    times: Path | None = None  # a file of times
    platform: str = ""
    as_named: bool = False
    newer: bool = False
    dry_run: bool = False


def collect(course: Course, assignment: str, sources: Sequence[Path], options: CollectOptions) -> Iterator[Decision]:
    """Yield the decision about each upload as soon as it is made."""
    course.chosen([assignment])
    released = course.notebooks("release", assignment)
    if not released:
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    check_platform(options.platform)
    rules = course.rules(assignment)
    identifier = Identifier(released_notebooks(course), assignment)
    roster = read_students(course, options.students)
    times = SubmissionTimes(options.times, rules.zone, roster) if options.times else None
    request = CollectRequest(assignment, identifier.all_names, roster, options.as_named)
    if not options.dry_run:
        recover(course, assignment)
    with ExitStack() as stack:
        listings = [list_folder(source) if source.is_dir() else list_zip(source, stack) for source in sources]
        uploads: list[Upload] = []
        for listing in listings:
            uploads += _list_uploads(listing, request, options.platform)
        uploads_by_student: dict[str, list[Upload]] = {}
        for match in match_students(uploads, roster, options.as_named):
            if match.problem:
                yield Decision.on(match.upload, "", WAITS, [match.problem])
            else:
                upload = _add_time(match.upload, match.student, times)
                uploads_by_student.setdefault(match.student, []).append(upload)
        for student, student_uploads in sorted(uploads_by_student.items()):
            is_newest = True
            for choice in choose(student_uploads, identifier, every=rules.best):
                if isinstance(choice, ChosenUpload):
                    folder = SubmissionFolder(course, student, assignment, keeps_older=rules.best)
                    missing = [name for name in released if name not in choice.notebooks]
                    yield _place_upload(folder, choice, missing, options, is_newest)
                    is_newest = False
                else:
                    yield Decision.on(choice.upload, student, WAITS, choice.reasons)


def _list_uploads(listing: Listing, request: CollectRequest, platform_name: str) -> list[Upload]:
    platform, uploads, doubt = list_uploads(listing, request, platform_name)
    count = "1 submission" if len(uploads) == 1 else f"{len(uploads)} submissions"
    log.info(f"Reading {listing.name} as {platform.label}: {count} for {request.assignment}.{doubt}")
    return uploads


def _add_time(upload: Upload, student: str, times: SubmissionTimes | None) -> Upload:
    """The upload, with the time in the user's file if it has none of its own."""
    if times is None or upload.time:
        return upload
    time, problem = times.find_time(upload, student)
    return replace(upload, time=time, notes=[*upload.notes, problem] if problem else upload.notes)


def _place_upload(
    folder: SubmissionFolder, chosen: ChosenUpload, missing: Sequence[str], options: CollectOptions, is_newest: bool
) -> Decision:
    """Put an upload into place, and report it, with the notebooks that it lacks."""
    try:
        outcome, reason = folder.decide(chosen, options.newer) if is_newest else (OLDER, "")
        if outcome == OLDER and folder.keeps_older:
            outcome, reason = folder.keep(chosen, options.dry_run)
        if outcome in (NEW, REPLACED) and not options.dry_run:
            folder.put(chosen)
    except OSError as error:
        outcome, reason = WAITS, f"cannot write {error.filename or folder.path}: {error.strerror}"
    notes = [reason] if reason else []
    if outcome != WAITS:
        notes += [f"without {name}.ipynb" for name in missing]
    return Decision.on(chosen.upload, folder.student, outcome, [*notes, *chosen.notes])


# The results: tables for people, JSON for programs.

_LONGEST = 500


def collected_table(decisions: Sequence[Decision]) -> Table:
    table = plain_table(*folding("student", "what", "from", "notes"), title="Collected")
    for decision in decisions:
        texts = (decision.student, decision.outcome, decision.source)
        table.add_row(*map(_escape, texts), _join_notes(decision))
    return table


def waiting_table(decisions: Sequence[Decision]) -> Table:
    table = plain_table(*folding("student", "from", "why"), title="Not collected yet")
    for decision in decisions:
        table.add_row(_escape(decision.student or "?"), _escape(decision.source), _join_notes(decision))
    return table


def _escape(text: str) -> str:
    return escape(one_line(text))


def _join_notes(decision: Decision) -> str:
    return "\n".join(escape(one_line(note, _LONGEST)) for note in decision.notes)


def as_json(assignment: str, decisions: Sequence[Decision], dry_run: bool) -> dict[str, object]:
    collected: list[dict[str, object]] = []
    waiting: list[dict[str, object]] = []
    for decision in decisions:
        time = decision.time.isoformat(timespec="seconds") + "Z" if decision.time else None
        upload = {"from": decision.source, "time": time, "told": list(decision.notes)}
        if decision.waits:
            waiting.append({"student": decision.student or None, **upload})
        else:
            collected.append({"student": decision.student, "outcome": decision.outcome, **upload})
    return {"assignment": assignment, "dry_run": dry_run, "collected": collected, "waiting": waiting}
