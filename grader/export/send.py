"""Send published points to a platform. They are shown first, and only those that differ there are sent.

The platform itself knows how far we are, so a run that is cut off can simply be repeated.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import quote

from rich.markup import escape
from rich.table import Table

from grader.classroom.run import alone
from grader.classroom.terminal_tables import plain_table
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.canvas import CanvasApi
from grader.export.moodle import MoodleApi
from grader.export.platform import Grade, PlatformApi, There, same
from grader.export.points import IDENTIFIERS
from grader.export.rest import Rest
from grader.gradebook.published import FOLDER, Publications, PublishedPoints
from grader.gradebook.standings import read_class
from grader.pages.spreadsheet import number
from grader.sandbox.plain_text import listed, one_line

log = logging.getLogger(__name__)

Key = TypeVar("Key")
SENDERS = ("canvas", "moodle")
_PLACE = re.compile(r"([0-9]+)/([0-9]+)")
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,2000}")  # only characters that need no escape in a header, a form or an address
_ADDRESS = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~%+-]*)*")


def platform_at(kind: str, place: str, environment: Mapping[str, str] = os.environ) -> PlatformApi:
    """The interface to the assignment at COURSE/ASSIGNMENT, with address and token from the environment."""
    name, prefix = kind.title(), kind.upper()
    if not (found := _PLACE.fullmatch(place)):
        raise CourseError(f"Use --at COURSE/ASSIGNMENT with their IDs in {name}, such as --at 101/4711.")
    # A value read from a file ends with a newline.
    given = {each: environment.get(each, "").strip() for each in (f"{prefix}_URL", f"{prefix}_TOKEN")}
    if missing := " and ".join(each for each, text in given.items() if not text):
        raise CourseError(f"The address of {name} and a token come from the environment. Set {missing}.")
    url, token = given.values()
    if not _ADDRESS.fullmatch(url):
        raise CourseError(
            f"{prefix}_URL is not a valid address for {name}. Set it to one like https://{kind}.example.edu, without "
            "a user, a password or a question mark."
        )
    if not _TOKEN.fullmatch(token):
        raise CourseError(
            f"{prefix}_TOKEN is not a valid token for {name}: tokens only have letters, digits and . _ ~ - in them. "
            "Copy just the token."
        )
    if kind == "moodle":
        return MoodleApi(Rest(name, url, {}, token), token, found[1], found[2])
    return CanvasApi(Rest(name, url, {"Authorization": f"Bearer {token}"}, token), found[1], found[2])


@contextlib.contextmanager
def _in_a_sentence(platform: PlatformApi) -> Iterator[None]:
    """Turn any error over a platform's answer into a sentence: a traceback would show too much."""
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        raise CourseError(
            f"{platform.name} sent an unexpected answer ({type(error).__name__}). Check its address."
        ) from None


def plan(course: Course, assignment: str, platform: PlatformApi, by: str, link: str) -> list[Grade]:
    """The grades to send: of students whose points there differ from those last published."""
    last = Publications(course, assignment).last()
    assert last is not None  # something has just been published
    with _in_a_sentence(platform):
        platform.look(last.max_points)
        people, points = platform.people(), platform.points()
    heading, identifier = IDENTIFIERS[by]
    ours = [one for one in read_class(course, assignment).standings if one.student in last.students]
    found = _paired(people, "canvas_id", {one.student: one.person.canvas_id for one in ours})
    found |= _paired(people, by, {one.student: identifier(one) for one in ours}, found)
    if not found:
        ways = " or ".join(IDENTIFIERS)
        raise CourseError(f"{platform.name} cannot match any student here by {heading}. Try another way: --by {ways}")
    if unknown := [student for student in last.students if student not in found]:
        log.warning(
            f"Left out, because {platform.name} has no match, or several, for their {heading}: {listed(unknown)}."
        )
    if excused := [student for student, one in found.items() if one.id not in points]:
        log.warning(f"Left out, because they are excused or not assigned in {platform.name}: {listed(excused)}.")
    return [
        Grade(student, one.id, points[one.id], round(told.total, 2), _comment(told, last.max_points, student, link))
        for student, one in found.items()
        if one.id in points and not _same(points[one.id], (told := last.students[student]).total)
    ]


def _paired(
    people: Sequence[There], by: str, ours: Mapping[str, str], known: Mapping[str, There] = MappingProxyType({})
) -> dict[str, There]:
    """Pair `ours` with people of the same name there, if it is unique. Those already `known` are left out."""
    here = _once({student: name.casefold() for student, name in ours.items()})
    there = _once({one: one.names.get(by, "").casefold() for one in people})
    free = {name: one for one, name in there.items() if one not in known.values()}
    return {student: free[name] for student, name in here.items() if student not in known and name in free}


def _once(names: Mapping[Key, str]) -> dict[Key, str]:
    """The entries whose name no other has."""
    counts = Counter(names.values())
    return {one: name for one, name in names.items() if name and counts[name] == 1}


def _same(there: float | None, here: float) -> bool:
    return there is not None and same(there, round(here, 2))


def _comment(told: PublishedPoints, max_points: float, student: str, link: str) -> str:
    parts = [f"{label}: {told.describe(label)}" for label in told.points]
    parts += [f"late penalty: {number(told.penalty)}"] if told.penalty else []
    said = f"{number(told.total)} of {number(max_points)} points ({', '.join(parts)})."
    return f"{said} {link.replace('{student}', quote(student, safe=''))}" if link else said


def send(course: Course, assignment: str, platform: PlatformApi, grades: Sequence[Grade], yes: bool) -> int:
    """Send grades, and return how many: all of them, or none if they have not been shown before."""
    shown = course.root / FOLDER / assignment / f"shown-{platform.name.lower()}"
    with alone(course):
        lines = [_line(grade) for grade in grades]
        if not yes and not set(lines) <= set(_shown(shown)):
            shown.write_text(json.dumps(lines))
            return 0
        sent = 0
        for first in range(0, len(grades), platform.at_once):
            some = grades[first : first + platform.at_once]
            try:
                with _in_a_sentence(platform):
                    platform.save(some)
            except CourseError as error:
                raise CourseError(f"{error} {sent} of {len(grades)} were sent.") from None
            sent += len(some)
        return sent


def _line(grade: Grade) -> str:
    return json.dumps([grade.id, grade.student, grade.before, grade.points, grade.comment])


def _shown(path: Path) -> list[str]:
    try:
        return [str(line) for line in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError):
        return []


def plan_table(grades: Sequence[Grade], platform: PlatformApi) -> Table:
    table = plain_table(title=f"To send to {platform.name}")
    table.add_column("student", no_wrap=True)
    for name in ("there", "now"):
        table.add_column(name, justify="right")
    table.add_column("comment")
    for grade in grades:
        before = "–" if grade.before is None else number(grade.before)
        named = (one_line(grade.student, 60), before, number(grade.points), one_line(grade.comment, 300))
        table.add_row(*map(escape, named))
    return table
