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
from grader.export.platform import Grade, PlatformApi, PlatformStudent, are_same
from grader.export.points import IDENTIFIERS
from grader.export.rest import Rest
from grader.gradebook.published import FOLDER, Publications, PublishedPoints
from grader.gradebook.standings import read_class
from grader.pages.spreadsheet import number
from grader.sandbox.plain_text import listed, one_line

log = logging.getLogger(__name__)

Owner = TypeVar("Owner")
SENDERS = ("canvas", "moodle")
_IDS = re.compile(r"([0-9]+)/([0-9]+)")
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,2000}")  # only characters that need no escape in a header, a form or an address
_ADDRESS = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~%+-]*)*")


def platform_at(kind: str, ids: str, environment: Mapping[str, str] = os.environ) -> PlatformApi:
    """The interface to the assignment COURSE/ASSIGNMENT, with address and token from the environment."""
    name, prefix = kind.title(), kind.upper()
    match = _IDS.fullmatch(ids)
    if not match:
        raise CourseError(f"Use --at COURSE/ASSIGNMENT with their IDs in {name}, such as --at 101/4711.")
    course, assignment = match.groups()
    variables = (f"{prefix}_URL", f"{prefix}_TOKEN")
    url, token = (environment.get(variable, "").strip() for variable in variables)  # a file ends with a newline
    missing = [variable for variable, text in zip(variables, (url, token), strict=True) if not text]
    if missing:
        raise CourseError(f"The address of {name} and a token come from the environment. Set {' and '.join(missing)}.")
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
        return MoodleApi(Rest(name, url, {}, token), token, course, assignment)
    return CanvasApi(Rest(name, url, {"Authorization": f"Bearer {token}"}, token), course, assignment)


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
        platform.check_assignment(last.max_points)
        people, platform_points = platform.people(), platform.points()
    heading, identifier = IDENTIFIERS[by]
    standings = read_class(course, assignment).standings
    published = [standing for standing in standings if standing.student in last.students]
    matches = _match(people, "canvas_id", {standing.student: standing.person.canvas_id for standing in published})
    matches |= _match(people, by, {standing.student: identifier(standing) for standing in published}, matches)
    if not matches:
        ways = " or ".join(IDENTIFIERS)
        raise CourseError(f"{platform.name} cannot match any student here by {heading}. Try another way: --by {ways}")
    unmatched = [student for student in last.students if student not in matches]
    if unmatched:
        log.warning(
            f"Left out, because {platform.name} has no match, or several, for their {heading}: {listed(unmatched)}."
        )
    excused = [student for student, match in matches.items() if match.id not in platform_points]
    if excused:
        log.warning(f"Left out, because they are excused or not assigned in {platform.name}: {listed(excused)}.")
    grades = []
    for student, match in matches.items():
        published_points = last.students[student]
        points = round(published_points.total, 2)
        if match.id in platform_points:
            before = platform_points[match.id]
            if before is None or not are_same(before, points):
                comment = _comment(published_points, last.max_points, student, link)
                grades.append(Grade(student, match.id, before, points, comment))
    return grades


def _match(
    people: Sequence[PlatformStudent],
    by: str,
    names: Mapping[str, str],
    matches: Mapping[str, PlatformStudent] = MappingProxyType({}),
) -> dict[str, PlatformStudent]:
    """Match students, by their names here, with people of the same name there, if it is unique. Earlier `matches` are
    left out."""
    names_here = _select_unique({student: name.casefold() for student, name in names.items()})
    names_there = _select_unique({person: person.names.get(by, "").casefold() for person in people})
    free = {name: person for person, name in names_there.items() if person not in matches.values()}
    return {student: free[name] for student, name in names_here.items() if student not in matches and name in free}


def _select_unique(names: Mapping[Owner, str]) -> dict[Owner, str]:
    """Those whose name no other has."""
    counts = Counter(names.values())
    return {owner: name for owner, name in names.items() if name and counts[name] == 1}


def _comment(points: PublishedPoints, max_points: float, student: str, link: str) -> str:
    remarks = [f"{label}: {points.describe(label)}" for label in points.points]
    if points.penalty:
        remarks.append(f"late penalty: {number(points.penalty)}")
    sentence = f"{number(points.total)} of {number(max_points)} points ({', '.join(remarks)})."
    return f"{sentence} {link.replace('{student}', quote(student, safe=''))}" if link else sentence


def send(course: Course, assignment: str, platform: PlatformApi, grades: Sequence[Grade], yes: bool) -> int:
    """Send grades, and return how many: all of them, or none if they have not been shown before."""
    file = course.root / FOLDER / assignment / f"shown-{platform.name.lower()}"
    with alone(course):
        lines = [_line(grade) for grade in grades]
        if not yes and not set(lines) <= set(_read_lines(file)):
            file.write_text(json.dumps(lines))
            return 0
        sent = 0
        for start in range(0, len(grades), platform.at_once):
            batch = grades[start : start + platform.at_once]
            try:
                with _in_a_sentence(platform):
                    platform.save(batch)
            except CourseError as error:
                raise CourseError(f"{error} {sent} of {len(grades)} were sent.") from None
            sent += len(batch)
        return sent


def _line(grade: Grade) -> str:
    return json.dumps([grade.id, grade.student, grade.before, grade.points, grade.comment])


def _read_lines(file: Path) -> list[str]:
    """The lines that were shown last; none if nothing was."""
    try:
        return [str(line) for line in json.loads(file.read_text())]
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
        cells = (one_line(grade.student, 60), before, number(grade.points), one_line(grade.comment, 300))
        table.add_row(*map(escape, cells))
    return table
