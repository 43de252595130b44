"""Publish points to students: make feedback and exports, and record what was shown, when and by whom."""

from __future__ import annotations

import getpass
import logging
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.classroom.run import alone
from grader.classroom.stale import describe_stale, stale
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.destinations import PLATFORMS, TARGETS_OF, export_points
from grader.export.points import FOLDER as EXPORTS
from grader.export.points import GRADE_THEM, describe_waiting
from grader.gradebook.published import (
    PointsChange,
    Publication,
    Publications,
    PublishedPoints,
    changes,
    points_to_publish,
)
from grader.gradebook.settling import write_rules
from grader.pages.feedback import write_feedback
from grader.sandbox.plain_text import one_line

log = logging.getLogger(__name__)

_PAGES = "feedback.zip"


class UnseenChanges(CourseError):
    """Students would see different points than before, and nobody has looked at the changes."""

    def __init__(self, points_changes: Sequence[PointsChange], since: Publication) -> None:
        super().__init__(
            "Nothing was published yet. Check these changes first. To publish them, run this again, or add --yes."
        )
        self.points_changes = points_changes
        self.since = since


def refuse_stale(course: Course, assignment: str, anyway: bool) -> None:
    """Refuse grades that are out of date, which nobody should be shown; with `anyway`, only report them."""
    message = describe_stale(stale(course, assignment), assignment)
    if message and not anyway:
        raise CourseError(f"{message} To go on anyway, add --stale-anyway.")
    if message:
        log.warning(message)


def publish(
    course: Course,
    assignment: str,
    platforms: Sequence[str],
    *,
    yes: bool = False,
    stale_anyway: bool = False,
    waiting_anyway: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Publication | None:
    """Make feedback, and exports for these platforms or else last time's, and record what students are shown.

    None if nothing has changed. UnseenChanges is raised if points have changed and nobody has looked at that,
    unless `yes` is true. Answers that wait for points from a person are an error unless `waiting_anyway` is true.
    """
    course.chosen([assignment])
    unknown = sorted(set(platforms) - set(PLATFORMS))
    if unknown:
        raise CourseError(f"There is no platform “{one_line(unknown[0])}”. Choose one of: {', '.join(PLATFORMS)}.")
    with alone(course):
        refuse_stale(course, assignment, stale_anyway)
        write_rules(course, assignment)
        publications = Publications(course, assignment)
        last, (students, max_points) = publications.last(), points_to_publish(course, assignment)
        _refuse_waiting(students, waiting_anyway)
        points_changes = changes(last.students, students) if last else []
        if last and points_changes and not yes and not publications.were_seen(points_changes):
            raise UnseenChanges(points_changes, last)
        names = platforms or (last.platforms if last else ())
        chosen = [platform for platform in PLATFORMS if platform in names]
        pages = {
            str(path.relative_to(course.folder("feedback"))): path.read_bytes()
            for path in write_feedback(course, assignment)
        }
        is_same = last and last.students == students and set(chosen) <= set(last.platforms)
        if last and is_same and pages == _read_pages(publications.folder(last.number) / _PAGES):
            return None
        folder = publications.begin()
        with zipfile.ZipFile(folder / _PAGES, "w", zipfile.ZIP_DEFLATED) as file:
            for name, page in pages.items():
                file.writestr(name, page)
        for platform in chosen:
            accepted = {name: value for name, value in (options or {}).items() if platform in TARGETS_OF[name]}
            path = export_points(platform, course, assignment, **accepted)
            (folder / EXPORTS).mkdir(exist_ok=True)
            shutil.copyfile(path, folder / EXPORTS / path.name)
        number = max(publications.numbers, default=0) + 1
        now = datetime.now(UTC).isoformat(timespec="seconds")
        new = Publication(number, now, _user(), max_points, students, chosen, changed=points_changes)
        publications.keep(new)
        return new


def _refuse_waiting(students: Mapping[str, PublishedPoints], anyway: bool) -> None:
    """Refuse to publish while answers wait for points, unless somebody has said that they may."""
    waiting = describe_waiting({student: points.waits for student, points in students.items()})
    if waiting and not anyway:
        raise CourseError(
            f"Nothing was published. {waiting} {GRADE_THEM}, then run this again. Or add --waiting-anyway, and pages "
            "will show these answers as waiting."
        )
    if waiting:
        log.warning(f"{waiting} Pages say so. {GRADE_THEM}, then publish again.")


def published_pages(course: Course, assignment: str, publication: Publication, student: str) -> list[str]:
    """The feedback pages that a student got with a publication, one for each notebook."""
    pages = _read_pages(Publications(course, assignment).folder(publication.number) / _PAGES) or {}
    names = sorted(name for name in pages if name.startswith(f"{student}/{assignment}/"))
    return [pages[name].decode() for name in names]


def _read_pages(path: Path) -> dict[str, bytes] | None:
    """The published pages; None if they cannot be read."""
    try:
        with zipfile.ZipFile(path) as file:
            return {name: file.read(name) for name in file.namelist()}
    except (OSError, zipfile.BadZipFile):
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, which some containers have
        return "somebody"
