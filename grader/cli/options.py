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
        help="Also write files for this platform; the same as last time by default.",
        autocompletion=_platforms,
    ),
]
Roster = Annotated[Path | None, typer.Option(help="Canvas: the gradebook exported from there.")]
Column = Annotated[str, typer.Option(help="Canvas, Moodle: the assignment's name there.")]
By = Annotated[Identifier | None, typer.Option(help="Moodle: how to match students; username by default.")]
StaleAnyway = Annotated[bool, typer.Option("--stale-anyway", help="Go on even if something changed since grading.")]
Device = Annotated[Literal["cpu", "cuda"], typer.Option(help="The device to test code on.")]
Assignment = Annotated[str, typer.Argument(help="The assignment, such as week1.", autocompletion=_assignments)]
OneOrAll = Annotated[
    str | None,
    typer.Argument(help="The assignment, such as week1; the whole term by default.", autocompletion=_assignments),
]
Assignments = Annotated[
    list[str] | None,
    typer.Argument(help="Assignments; all by default.", autocompletion=_assignments),
]
SubmittedAssignments = Annotated[
    list[str] | None,
    typer.Argument(help="Assignments, such as week1; all with submissions by default.", autocompletion=_assignments),
]
Student = Annotated[
    list[str] | None,
    typer.Option(help="Only this student (repeatable).", autocompletion=_students),
]
