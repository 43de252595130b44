"""Tell students their points: feedback and exports are made, and it is written down what was told, when and by whom."""

from __future__ import annotations

import getpass
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.classroom.run import alone
from grader.classroom.stale import stale, told_of_stale
from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.names import Names
from grader.gradebook.published import Change, Publication, Publications, changes, told_now
from grader.gradebook.settling import write_rules
from grader.pages.export import FOLDER as EXPORTS
from grader.pages.feedback import write_feedback
from grader.pages.platforms import OPTION_OF, PLATFORMS, export_points
from grader.sandbox.plain_text import one_line

_PAGES = "feedback.zip"

Tell = Callable[[str], None]


class UnseenChanges(CourseError):
    """Students would be told other points than before, and nobody has looked at that."""

    def __init__(self, found: Sequence[Change], since: Publication) -> None:
        super().__init__(
            "Nothing is published: these changes have not been shown before. Look at them, and run this again; or add "
            "--yes."
        )
        self.found = found
        self.since = since


def refuse_stale(course: Course, assignment: str, anyway: bool, tell: Tell) -> None:
    """What is told to students or platforms must be what was handed in, graded as it is graded now."""
    names = Names(course, assignment)
    found = {names(student): reasons for student, reasons in stale(course, assignment, tell).items()}
    if said := told_of_stale(dict(sorted(found.items())), assignment):
        if not anyway:
            raise CourseError(f"{said} To go on all the same, add --stale-anyway.")
        tell(said)


def refuse_names(course: Course, assignment: str, what: str) -> None:
    """What is made for students or platforms says who they are, and graders are not to know yet."""
    if Names(course, assignment).hidden:
        raise CourseError(
            f"{assignment} is anonymous until it is published, and {what} names students. Run: "
            f"grader publish {assignment}"
        )


def publish(
    course: Course,
    assignment: str,
    platforms: Sequence[str],
    tell: Tell,
    *,
    yes: bool = False,
    stale_anyway: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Publication | None:
    """Make feedback, and exports for these platforms or else for those of the last time, and keep what was told.

    None if nobody would be told anything new. UnseenChanges is raised if some are told something else now, and nobody
    has seen that, unless `yes` is true.
    """
    course.chosen([assignment])
    if unknown := sorted(set(platforms) - set(PLATFORMS)):
        raise CourseError(f"There is no platform “{one_line(unknown[0])}”. There are: {', '.join(PLATFORMS)}.")
    with alone(course):
        refuse_stale(course, assignment, stale_anyway, tell)
        write_rules(course, assignment, tell)
        publications = Publications(course, assignment)
        last, (told, most) = publications.last(), told_now(course, assignment, tell)
        found = changes(last.students, told) if last else []
        if last and found and not yes and not publications.were_seen(found):
            raise UnseenChanges(found, last)
        asked = platforms or (last.platforms if last else ())
        wanted = [platform for platform in PLATFORMS if platform in asked]
        if last and last.students == told and set(wanted) <= set(last.platforms):
            return None
        folder = publications.begin()
        _pack(write_feedback(course, assignment, tell), course.folder("feedback"), folder / _PAGES)
        for platform in wanted:
            own = {name: value for name, value in (options or {}).items() if platform in OPTION_OF[name]}
            _keep(export_points(platform, course, assignment, tell, **own), folder / EXPORTS)
        new = Publication(_next(publications), _now(), _user(), most, told, wanted, changed=found)
        publications.keep(new)
        return new


def restore(course: Course, assignment: str, number: int) -> Publication:
    """Hand out again what an earlier publication has told. The gradebook stays as it is."""
    course.chosen([assignment])
    with alone(course):
        publications = Publications(course, assignment)
        old, last = publications.read(number), publications.last()
        assert last is not None  # at least the old one
        folder = publications.begin()
        shutil.copytree(publications.folder(number), folder, dirs_exist_ok=True)
        with zipfile.ZipFile(folder / _PAGES) as pages:
            pages.extractall(course.folder("feedback"))
        for path in (folder / EXPORTS).glob("*"):
            _keep(path, course.root / EXPORTS)
        new = replace(
            old, number=_next(publications), at=_now(), by=_user(), restores=number,
            changed=changes(last.students, old.students),
        )  # fmt: skip
        publications.keep(new)
        return new


def _pack(paths: Sequence[Path], root: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as pages:
        for path in paths:
            pages.write(path, path.relative_to(root))


def _keep(path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, folder / path.name)


def _next(publications: Publications) -> int:
    return max(publications.numbers, default=0) + 1


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "somebody"
