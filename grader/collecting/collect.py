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
from grader.collecting.arrival import Times
from grader.collecting.choosing import Chosen, choose
from grader.collecting.contents import list_zip
from grader.collecting.files import Listing
from grader.collecting.folders import list_folder
from grader.collecting.identifying import Identifier, released_by
from grader.collecting.placing import NEW, OLDER, REPLACED, WAITS, Place, recover
from grader.collecting.platforms import must_be_known, uploads_of
from grader.collecting.rosters import known_students
from grader.collecting.students import MOODLE, NAME, OWNER, Form, Key, Roster, normal
from grader.collecting.uploads import Asked, Upload
from grader.course.folder import Course
from grader.errors import CourseError
from grader.sandbox.plain_text import listed, one_line

log = logging.getLogger(__name__)

# Match uploads with students: never if two students fit, or if something contradicts what is known about one.

_NO_FOLDER = "not a folder name that nbgrader can use"


def matched(uploads: Sequence[Upload], roster: Roster, as_named: bool) -> Iterator[tuple[Upload, str, str]]:
    """Yield each upload with the id of its student, or with the reason why that is unknown."""
    matching = _Matching(roster, as_named)
    found = [(one, *matching.student_of(one.key)) for one in uploads]
    students: dict[Form, set[str]] = defaultdict(set)  # by user of a platform
    users: dict[tuple[str, str], set[Form]] = defaultdict(set)  # by student and kind of platform
    for one, student, why in found:
        if one.key.user and not why:
            students[one.key.user].add(student)
            users[student, one.key.user[0]].add(one.key.user)
    for one, student, why in found:
        user = one.key.user
        if user and not why and roster.is_user(user) != {student}:
            why = _several(user, students[user], users[student, user[0]])
        yield one, student, why


def _several(user: Form, students: set[str], users: set[Form]) -> str:
    """Why a user with a chosen name may not be that student; empty if nothing speaks against it."""
    if len(students) > 1:
        why = f"{_shown(user)} has submitted for {listed(sorted(students))}"
    elif len(users) > 1:
        why = f"{listed(map(_shown, sorted(users)))} have submitted for {one_line(next(iter(students)))}"
    else:
        return ""
    if user[0] == OWNER:
        return f"{why}. If one user put them all there, copy the folder and collect from the copy"
    return f"{why}. Use --students with a table that has their numbers"


def _shown(user: Form) -> str:
    kind, text = user
    if kind == OWNER:
        return f"the user “{one_line(text, 60)}” of this machine"
    return f"user {one_line(text, 60)} of {'Moodle' if kind == MOODLE else 'Canvas'}"


class _Matching:
    def __init__(self, roster: Roster, as_named: bool) -> None:
        self._roster = roster
        self._as_named = as_named
        self._named: dict[str, Key] = {}  # unknown students, by the platform's own name

    def student_of(self, key: Key) -> tuple[str, str]:
        """The student's id, or why it is unknown."""
        if key.doubt:
            return "", f"{_quoted(key)}: {key.doubt}"
        found = self._roster.called(key)
        if len(found) > 1:
            return "", f"{_quoted(key)} could be {listed(sorted(found), last='or')}"
        student, why = (found.pop(), "") if found else self._not_known(key)
        return (student, why) if why else self._checked(student, key)

    def _checked(self, student: str, key: Key) -> tuple[str, str]:
        """The student, unless something else in the key speaks against it; then the reason."""
        if differs := self._roster.differs(student, key):
            of_another = ". Is this the table for this assignment?" if MOODLE in differs else ""
            other = f"who has another {' and another '.join(differs)}"
            return "", f"{_quoted(key)} could be {one_line(student)}, {other}{of_another}"
        user = self._roster.is_user(key.user)
        if user - {student}:
            return (
                "",
                f"it claims to be from {student}, but belongs to {listed(sorted(user), last='or')} on this machine",
            )
        return (student, "") if is_name(student) else ("", f"{_quoted(key)} is {_NO_FOLDER}: {one_line(student)}")

    def _not_known(self, key: Key) -> tuple[str, str]:
        unknown = f"no student is known as {_quoted(key)}"
        if not self._as_named or not key.own:
            return "", unknown
        if not is_name(key.own):
            return "", f"{unknown}, which is {_NO_FOLDER}"
        if self._roster.called(Key.of("", (NAME, key.own))) or self._named.setdefault(normal(key.own), key) != key:
            return "", f"{unknown}, and another student is called {key.own}"
        return key.own, ""


def _quoted(key: Key) -> str:
    return f"“{one_line(key.shown, 100)}”"


@dataclass(frozen=True)
class Decision:
    """What was done with one upload."""

    student: str  # empty if unknown
    place: str  # where it came from
    outcome: str
    said: Sequence[str] = ()
    time: datetime | None = None

    @property
    def waits(self) -> bool:
        return self.outcome == WAITS


@dataclass(frozen=True)
class Wanted:
    """The options of `grader collect`."""

    students: Path | None = None  # a table of students
    times: Path | None = None  # a file of times
    platform: str = ""
    as_named: bool = False
    newer: bool = False
    dry_run: bool = False


def collect(course: Course, assignment: str, sources: Sequence[Path], wanted: Wanted) -> Iterator[Decision]:
    """Yield the decision about each upload as soon as it is made."""
    course.chosen([assignment])
    if not course.notebooks("release", assignment):
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    must_be_known(wanted.platform)
    rules = course.rules(assignment)
    identifier = Identifier(released_by(course), assignment)
    roster = known_students(course, wanted.students)
    times = Times(wanted.times, rules.zone, roster) if wanted.times else None
    asked = Asked(assignment, identifier.all_names, roster, wanted.as_named)
    if not wanted.dry_run:
        recover(course, assignment)
    with ExitStack() as stack:
        listings = [list_folder(source) if source.is_dir() else list_zip(source, stack) for source in sources]
        found = [upload for one in listings for upload in _uploads(one, asked, wanted.platform)]
        by_student: dict[str, list[Upload]] = {}
        for upload, student, why in matched(found, roster, wanted.as_named):
            if why:
                yield Decision("", one_line(upload.place), WAITS, [why], upload.time)
            else:
                by_student.setdefault(student, []).append(_timed(upload, student, times))
        for student, uploads in sorted(by_student.items()):
            is_newest = True
            for chosen in choose(uploads, identifier, every=rules.best):
                if isinstance(chosen, Chosen):
                    place = Place(course, student, assignment, keeps=rules.best)
                    missing = _missing(course, assignment, chosen)
                    yield _placed(place, chosen, missing, wanted, is_newest)
                    is_newest = False
                else:
                    upload = chosen.upload
                    yield Decision(student, one_line(upload.place), WAITS, chosen.why, upload.time)


def _uploads(listing: Listing, asked: Asked, named: str) -> list[Upload]:
    platform, found, doubt = uploads_of(listing, asked, named)
    number = "1 submission" if len(found) == 1 else f"{len(found)} submissions"
    log.info(f"Reading {listing.called} as {platform.called}: {number} for {asked.assignment}.{doubt}")
    return found


def _timed(upload: Upload, student: str, times: Times | None) -> Upload:
    """The upload, with the time in the user's file if it has none of its own."""
    if times is None or upload.time:
        return upload
    time, why = times.of(upload, student)
    return replace(upload, time=time, notes=[*upload.notes, *([why] if why else [])])


def _placed(place: Place, chosen: Chosen, without: Sequence[str], wanted: Wanted, is_newest: bool) -> Decision:
    """Put an upload into place, and report it; notebooks `without` are missing from it."""
    try:
        outcome, why = place.decide(chosen, wanted.newer) if is_newest else (OLDER, "")
        if outcome == OLDER and place.keeps:
            outcome, why = place.keep(chosen, wanted.dry_run)
        if outcome in (NEW, REPLACED) and not wanted.dry_run:
            place.put(chosen)
    except OSError as error:
        outcome, why = WAITS, f"cannot write {error.filename or place.path}: {error.strerror}"
    said = [why] if why else []
    missing = [] if outcome == WAITS else [f"without {name}.ipynb" for name in without]
    upload = chosen.upload
    return Decision(place.student, one_line(upload.place), outcome, [*said, *missing, *chosen.notes], upload.time)


def _missing(course: Course, assignment: str, chosen: Chosen) -> list[str]:
    return [name for name in course.notebooks("release", assignment) if name not in chosen.notebooks]


# The results: tables for people, JSON for programs.

_LONGEST = 500


def collected_table(decisions: Sequence[Decision]) -> Table:
    table = plain_table(*folding("student", "what", "from", "notes"), title="Collected")
    for one in decisions:
        table.add_row(*map(_text, (one.student, one.outcome, one.place)), _said(one))
    return table


def waiting_table(decisions: Sequence[Decision]) -> Table:
    table = plain_table(*folding("student", "from", "why"), title="Not collected yet")
    for one in decisions:
        table.add_row(*map(_text, (one.student or "?", one.place)), _said(one))
    return table


def _text(text: str) -> str:
    return escape(one_line(text))


def _said(decision: Decision) -> str:
    return "\n".join(escape(one_line(said, _LONGEST)) for said in decision.said)


def as_json(assignment: str, decisions: Sequence[Decision], dry_run: bool) -> dict[str, object]:
    return {
        "assignment": assignment,
        "dry_run": dry_run,
        "collected": [
            {"student": one.student, "outcome": one.outcome, **_shared(one)} for one in decisions if not one.waits
        ],
        "waiting": [{"student": one.student or None, **_shared(one)} for one in decisions if one.waits],
    }


def _shared(one: Decision) -> dict[str, object]:
    time = one.time.isoformat(timespec="seconds") + "Z" if one.time else None
    return {"from": one.place, "time": time, "told": list(one.said)}
