"""Show how points would change for students who have already seen theirs: a table for the terminal, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from rich.markup import escape
from rich.table import Column, Table

from grader.classroom.terminal_tables import plain_table
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.published import PointsChange, Publication, Publications, points_to_publish
from grader.pages.page_parts import REPORT, template
from grader.pages.spreadsheet import number
from grader.sandbox.plain_text import one_line
from grader.term.times import format_time

NO_POINTS = "–"


def last_publication(course: Course, assignment: str, is_rehearsal: bool) -> Publication | None:
    """The last publication. If there is none, a rehearsal is compared with the gradebook instead."""
    last = Publications(course, assignment).last()
    if last or not is_rehearsal:
        return last
    try:
        students, max_points = points_to_publish(course, assignment)
    except CourseError:  # the assignment is not in the gradebook yet; any other error stops grading, too
        students, max_points = {}, 0.0
    return Publication(0, "", "", max_points, students)


def as_json(since: Publication | None, changes: Sequence[PointsChange]) -> dict[str, object]:
    """The changes for programs; empty if there is nothing to compare with."""
    return {"since": since.number, "changes": [asdict(change) for change in changes]} if since else {}


def history_table(course: Course, assignment: str) -> Table:
    """A table with a row for each publication."""
    publications, zone = Publications(course, assignment), course.rules(assignment).zone
    table = plain_table("number", "when", "by", "students", "changed", "for")
    for publication in map(publications.read, publications.numbers):
        table.add_row(
            str(publication.number),
            describe_time(publication, zone),
            escape(one_line(publication.by)),
            str(len(publication.students)),
            str(len(publication.changed)),
            ", ".join(publication.platforms),
        )
    return table


def changes_table(changes: Sequence[PointsChange], since: Publication, zone: str) -> Table:
    """A table with a row for each student whose points have changed."""
    title = f"Changes since {describe_time(since, zone)}" if since.number else "Changes to the gradebook"
    before, now = Column("published", justify="right"), Column("now", justify="right")
    table = plain_table(Column("student", no_wrap=True), before, now, "exercises", "why", title=title)
    for change in changes:
        student, exercises, reasons = one_line(change.student, 60), "\n".join(change.exercises), "\n".join(change.why)
        cells = (student, format_points(change.before), format_points(change.now), exercises, reasons)
        table.add_row(*map(escape, cells))
    return table


def write_changes(course: Course, assignment: str, changes: Sequence[PointsChange], since: Publication) -> Path:
    """Write the changes as a page in report/. From then on, they count as seen."""
    page = template("changes.html", text=one_line, points=format_points).render(
        assignment=assignment,
        changes=changes,
        since=since,
        time=describe_time(since, course.rules(assignment).zone),
        max_points=number(since.max_points),
    )
    path = course.root / REPORT / f"{assignment}-changes.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page)
    if since.number:
        Publications(course, assignment).note_seen(changes)
    return path


def format_points(points: float | None) -> str:
    return NO_POINTS if points is None else number(points)


def describe_time(publication: Publication, zone: str) -> str:
    """The time of a publication, in words."""
    return format_time(datetime.fromisoformat(publication.at), zone) if publication.number else "in the gradebook"
