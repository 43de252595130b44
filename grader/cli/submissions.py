"""`grader collect`."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import Assignment
from grader.cli.terminal import console, errors
from grader.course.folder import open_course
from grader.sandbox.plain_text import plural

WAITING = 3  # the exit code if something waits for a person


def collect(
    assignment: Assignment,
    sources: Annotated[list[Path], typer.Argument(help="Zips and folders with submissions.")],
    students: Annotated[
        Path | None,
        typer.Option(help="A table of students with id, name and email, or an export from Moodle or Canvas."),
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(help="Submission times: Moodle's grading worksheet, or Canvas's submissions as JSON."),
    ] = None,
    platform: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="PLATFORM",
            help="exchange, moodle, canvas, clones or folder; detected by default.",
        ),
    ] = "",
    as_named: Annotated[
        bool, typer.Option("--as-named", help="For unknown students, use the names on the platform.")
    ] = False,
    newer: Annotated[
        bool, typer.Option("--newer", help="If times are missing, treat these as newer than those in submitted/.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would be done.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the decisions as JSON.")] = False,
) -> None:
    """Collect submissions into submitted/, wherever they come from.

    Notebooks are recognized by what they contain, whatever their names. Unclear ones are listed but not collected,
    and the command then exits with 3.

    Example: `grader collect week1 moodle.zip --students participants.csv`
    """
    course = open_course()
    from grader.classroom.run import alone
    from grader.collecting.collect import CollectOptions, collected_table, waiting_table
    from grader.collecting.collect import as_json as decisions_as_json
    from grader.collecting.collect import collect as collect_submissions

    options = CollectOptions(students, times, platform, as_named, newer, dry_run)
    with nullcontext() if dry_run else alone(course):
        decisions = list(collect_submissions(course, assignment, sources, options))
    waiting = [decision for decision in decisions if decision.waits]
    collected = [decision for decision in decisions if not decision.waits]
    if as_json:
        typer.echo(json.dumps(decisions_as_json(assignment, decisions, dry_run), indent=2, ensure_ascii=False))
    else:
        if collected:
            console.print(collected_table(collected))
        if waiting:
            console.print(waiting_table(waiting))
        outcome = "would be collected" if dry_run else "collected"
        console.print(f"{len(collected)} {outcome}, {len(waiting)} not collected.", highlight=False)
    if waiting:
        folder = f"{course.called('submitted')}/STUDENT/{assignment}/"
        errors.print(
            f"{plural(len(waiting), 'submission')} not collected. Try --students, --times, --as-named or --newer, or "
            f"put notebooks into {folder} yourself."
        )
        raise typer.Exit(WAITING)
