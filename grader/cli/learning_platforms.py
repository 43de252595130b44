"""`grader lti`: what has not arrived on learning platforms, their courses' students, and our keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from grader.classroom.terminal_tables import folding, plain_table
from grader.cli.submissions import WAITING
from grader.cli.terminal import console
from grader.course.folder import Course, open_course
from grader.errors import CourseError
from grader.sandbox.plain_text import listed, one_line

if TYPE_CHECKING:
    from grader.collecting.enrolling import ImportResult
    from grader.serving.lti.outbox import Outbox

lti = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown", help="List what a platform has not got.")


@contextlib.contextmanager
def open_outbox(course: Course) -> Iterator[Outbox]:
    """The points for learning platforms, which a server may be sending meanwhile."""
    from grader.serving.arrivals import Arrivals

    try:
        from grader.serving.lti.outbox import Outbox
        from grader.serving.lti.registrations import read_settings
        from grader.serving.lti.tool import Tool
    except ImportError:
        raise CourseError("LTI needs more packages. Run: pip install 'attention-grader[lti]'") from None
    with contextlib.closing(Arrivals(course)) as arrivals:
        yield Outbox(Tool(course, arrivals.engine, read_settings(course.root)), arrivals)


@lti.callback()
def show(context: typer.Context) -> None:
    """List the points that have not arrived on a learning platform, and who is not known yet.

    It exits with 3 if there are any.

    Example: `grader lti`
    """
    if context.invoked_subcommand:
        return
    course = open_course()
    with open_outbox(course) as outbox:
        missing = outbox.missing()
        unknown = [person.name or person.email or person.sub for person in outbox.tool.people.unknown()]
    table = plain_table(*folding("assignment", "student", "tries", "why"))
    for score in missing:
        problem = score.problem or "on its way: is the server running?"
        cells = (score.assignment, score.student, str(score.tries), problem)
        table.add_row(*(escape(one_line(cell, 300)) for cell in cells))
    if missing:
        console.print(table)
    else:
        console.print("All points have arrived.", highlight=False)
    if unknown:
        names = escape(listed(sorted(one_line(name, 60) for name in unknown)))
        console.print(f"Not known yet: {names}. Say who they are on the page “Platforms”.", highlight=False)
    if missing or unknown:
        raise typer.Exit(WAITING)


@lti.command()
def rotate() -> None:
    """Make a new key for learning platforms. It signs after a day; the old one is valid for a week.

    Example: `grader lti rotate`
    """
    course = open_course()
    from grader.serving.lti.keys import GRACE, NOTICE, ToolKeys

    key = ToolKeys(course.root).add()
    schedule = f"It signs in {NOTICE.days} day; earlier ones are published for {GRACE.days} more days"
    console.print(f"The new key is {key.kid}. {schedule}.", highlight=False, soft_wrap=True)


def import_from_platforms(course: Course) -> list[ImportResult]:
    """Merge the students of all confirmed courses into the roster, and say who is no longer there."""
    from grader.serving.lti.members import import_members
    from grader.serving.lti.platform_requests import PlatformError

    async def import_all(outbox: Outbox) -> list[ImportResult]:
        results = []
        for row in outbox.tool.confirmed_courses().values():
            title = escape(one_line(row.title, 60))
            try:
                imported, removed = await import_members(outbox.tool, row)
            except PlatformError as error:
                raise CourseError(f"The platform does not tell who is in {title}. {error}") from None
            results.append(imported)
            if removed:
                names = escape(listed([one_line(name, 60) for name in removed]))
                console.print(f"No longer in {title}: {names}.", highlight=False)
        return results

    with open_outbox(course) as outbox:
        results = asyncio.run(import_all(outbox))
    if not results:
        raise CourseError("No course on a learning platform is connected yet. Open a link there as an instructor.")
    return results
