"""`grader publish --send`."""

from __future__ import annotations

from collections.abc import Sequence

from grader.cli.terminal import busy, console
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.platform import PlatformApi
from grader.export.send import SENDERS, plan, plan_table, platform_at, send
from grader.sandbox.plain_text import plural


def receiver(to: Sequence[str], at: str) -> PlatformApi:
    """The platform that will get the points, checked before anything is published."""
    chosen = [name for name in to if name in SENDERS]
    if len(chosen) != 1:
        raise CourseError(f"Name one platform to send the points to: --to {' or --to '.join(SENDERS)}.")
    return platform_at(chosen[0], at)


def send_published(course: Course, assignment: str, platform: PlatformApi, by: str, link: str, yes: bool) -> None:
    """Show the points of the last publication, and send them if they were shown before or `yes` is true."""
    with busy(f"{platform.name} …"):
        grades = plan(course, assignment, platform, by, link)
    if not grades:
        console.print(f"{platform.name} already has all of these points. Nothing was sent.", highlight=False)
        return
    console.print(plan_table(grades, platform))
    with busy(f"{platform.name} …"):
        sent = send(course, assignment, platform, grades, yes)
    if sent:
        console.print(f"Sent {plural(sent, 'grade')}.", highlight=False)
    else:
        console.print("Nothing was sent yet. To send these points, run this again, or add --yes.", highlight=False)
