"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.course.folder import open_course
from grader.errors import CourseError
from grader.export.destinations import PLATFORMS, Identifier


def _assignments(incomplete: str) -> list[str]:
    """Shell completions for the name of an assignment."""
    try:
        return [name for name in open_course().assignments() if name.startswith(incomplete)]
    except CourseError:  # not in a course folder
        return []


def _students(incomplete: str) -> list[str]:
    try:
        return [name for name in open_course().submitters() if name.startswith(incomplete)]
    except CourseError:
        return []


def _platforms(incomplete: str) -> list[str]:
    return [name for name in PLATFORMS if name.startswith(incomplete)]


Platforms = Annotated[
    list[str] | None,
    typer.Option(
        metavar="|".join(PLATFORMS),
        help="Also for this platform; the same as last time if none is named.",
        autocompletion=_platforms,
    ),
]
Roster = Annotated[Path | None, typer.Option(help="Canvas: the gradebook that it has exported.")]
Column = Annotated[str, typer.Option(help="Canvas, Moodle: what the assignment is called there.")]
By = Annotated[Identifier | None, typer.Option(help="Moodle, --send: how students are found; username if not given.")]
StaleAnyway = Annotated[bool, typer.Option("--stale-anyway", help="Even if something has changed since grading.")]
Device = Annotated[Literal["cpu", "cuda"], typer.Option(help="Where hidden inputs live.")]
Assignment = Annotated[str, typer.Argument(help="The assignment, such as week1.", autocompletion=_assignments)]
OneOrAll = Annotated[
    str | None,
    typer.Argument(help="The assignment, such as week1; the whole term if none is named.", autocompletion=_assignments),
]
Assignments = Annotated[
    list[str] | None,
    typer.Argument(help="Assignments; all of them if none is named.", autocompletion=_assignments),
]
SubmittedAssignments = Annotated[
    list[str] | None,
    typer.Argument(
        help="Assignments, such as week1; all with submissions if none is named.", autocompletion=_assignments
    ),
]
Student = Annotated[
    list[str] | None,
    typer.Option(help="Only this student; may be given several times.", autocompletion=_students),
]
