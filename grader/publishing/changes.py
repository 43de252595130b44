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
from grader.pages.spreadsheet import number as shortly
from grader.sandbox.plain_text import one_line
from grader.term.times import format_time

NOBODY = "–"  # no points


def told_before(course: Course, assignment: str, rehearsed: bool) -> Publication | None:
    """The last publication. If there is none, a rehearsal is compared with the gradebook instead."""
    last = Publications(course, assignment).last()
    if last or not rehearsed:
        return last
    try:
        told, most = points_to_publish(course, assignment)
    except CourseError:  # the assignment is not in the gradebook yet; any other error stops grading, too
        told, most = {}, 0.0
    return Publication(0, "", "", most, told)


def as_json(before: Publication | None, found: Sequence[PointsChange]) -> dict[str, object]:
    """The changes for programs; empty if there is nothing to compare with."""
    return {"since": before.number, "changes": [asdict(change) for change in found]} if before else {}


def history_table(course: Course, assignment: str) -> Table:
    """A table with a row for each publication."""
    publications, zone = Publications(course, assignment), course.rules(assignment).zone
    table = plain_table("number", "when", "by", "students", "changed", "for")
    for one in map(publications.read, publications.numbers):
        sizes = (str(len(one.students)), str(len(one.changed)))
        table.add_row(str(one.number), day(one, zone), escape(one_line(one.by)), *sizes, ", ".join(one.platforms))
    return table


def changes_table(found: Sequence[PointsChange], since: Publication, zone: str) -> Table:
    """A table with a row for each student whose points have changed."""
    title = f"Changes since {day(since, zone)}" if since.number else "Changes to the gradebook"
    numbers = [Column(name, justify="right") for name in ("published", "now")]
    table = plain_table(Column("student", no_wrap=True), *numbers, "exercises", "why", title=title)
    for change in found:
        named = (one_line(change.student, 60), points(change.before), points(change.now))
        table.add_row(*map(escape, (*named, "\n".join(change.exercises), "\n".join(change.why))))
    return table


def write_changes(course: Course, assignment: str, found: Sequence[PointsChange], since: Publication) -> Path:
    """Write the changes as a page in report/. From then on, they count as seen."""
    when, most = day(since, course.rules(assignment).zone), shortly(since.max_points)
    page = template("changes.html", text=one_line, points=points).render(
        assignment=assignment, found=found, since=since, day=when, max_points=most
    )
    path = course.root / REPORT / f"{assignment}-changes.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page)
    if since.number:
        Publications(course, assignment).note_seen(found)
    return path


def points(value: float | None) -> str:
    return NOBODY if value is None else shortly(value)


def day(publication: Publication, zone: str) -> str:
    """The time of a publication, in words."""
    return format_time(datetime.fromisoformat(publication.at), zone) if publication.number else "in the gradebook"
