"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.pages.platforms import Identifier

Roster = Annotated[Path | None, typer.Option(help="Canvas: the gradebook that it has exported.")]
Column = Annotated[str, typer.Option(help="Canvas, Moodle: what the assignment is called there.")]
By = Annotated[Identifier | None, typer.Option(help="Moodle: how it is to find a student; by username if not said.")]
StaleAnyway = Annotated[bool, typer.Option("--stale-anyway", help="Also if something has changed since grading.")]
Device = Annotated[Literal["cpu", "cuda"], typer.Option(help="Where hidden inputs live.")]
Assignment = Annotated[str, typer.Argument(help="The assignment, such as week1.")]
Assignments = Annotated[list[str] | None, typer.Argument(help="Assignments; all of them if none is named.")]
