"""`grader autograde`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from grader.cli.options import Device, Student, SubmittedAssignments
from grader.cli.terminal import console, errors, print_path
from grader.course.folder import Course, open_course
from grader.errors import CourseError
from grader.host.machine import cores
from grader.sandbox.plain_text import one_line

if TYPE_CHECKING:
    from grader.gradebook.published import PointsChange, Publication

MAX_ROWS = 30  # students whose points fit on a page


def grade(
    assignments: SubmittedAssignments = None,
    student: Student = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help=f"How many to grade at once; default: {cores()}, or what fits on the GPUs."),
    ] = None,
    device: Device = "cpu",
    dask: Annotated[str, typer.Option(metavar="ADDRESS", help="Grade on the workers of this Dask scheduler.")] = "",
    force: Annotated[bool, typer.Option(help="Regrade even what has not changed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Go on even if all right answers would now be wrong.")] = False,
    unconfined: Annotated[bool, typer.Option(help="Run submissions without the sandbox. Unsafe.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")] = False,
    quiet: Annotated[bool, typer.Option(help="Only list students without a grade.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Grade all submissions and save the points.

    Reads submitted/, and writes gradebook.db and autograded/. If you published points before, it lists whose
    points have changed, and why.

    Example: `grader autograde week1 --student ada --student emmy`
    """
    course = open_course()
    from grader.classroom.intake import assignments_to_grade

    if device == "cuda" and not dask:
        jobs = _jobs_on_gpus(jobs, confined=not unconfined)
    students = student or []
    chosen = (
        dict.fromkeys(course.chosen(assignments), students) if assignments else assignments_to_grade(course, students)
    )
    options: dict[str, Any] = {
        "device": device,
        "force": force,
        "confined": not unconfined,
        "jobs": jobs or cores(),
        "dask": dask,
    }
    if quiet:
        logging.getLogger("grader").setLevel(logging.ERROR)
    silent = quiet or as_json
    results: dict[str, dict[str, Any]] = {}
    for assignment, submitters in chosen.items():
        if len(chosen) > 1 and not silent:
            console.print(f"\n[bold]{escape(assignment)}[/]", highlight=False)
        try:
            results[assignment] = _grade(
                course, assignment, submitters, options, yes=yes, dry_run=dry_run, silent=silent
            )
        except CourseError as error:
            if len(chosen) == 1:
                raise
            errors.print(escape(str(error)), highlight=False)
            results[assignment] = {"error": str(error)}  # the other assignments are still graded
    if as_json:
        shown = next(iter(results.values())) if len(assignments or ()) == 1 else results
        text = json.dumps(shown, indent=2, ensure_ascii=False)
        typer.echo(text.encode(errors="backslashreplace"))  # file names may not be UTF-8
    if any("error" in result or result["failed"] for result in results.values()):
        raise typer.Exit(1)


def _jobs_on_gpus(jobs: int | None, confined: bool) -> int:
    """These jobs, or as many as the GPUs have room for. Fails early if no GPU can be used."""
    from grader.host import devices

    devices.need_device("cuda")
    try:
        return jobs or devices.jobs_on_gpus(devices.free_on_gpus(confined), cores())
    except devices.NoSandboxError as error:
        raise devices.cannot_start(error) from error


def _grade(
    course: Course,
    assignment: str,
    students: Sequence[str],
    options: Mapping[str, Any],
    *,
    yes: bool,
    dry_run: bool,
    silent: bool,
) -> dict[str, Any]:
    """Grade one assignment, print the results, and return them as data for JSON."""
    from grader.checks.sound_cases import must_be_sound
    from grader.classroom import progress
    from grader.classroom.intake import students_to_grade
    from grader.classroom.rehearsal import rehearsal
    from grader.classroom.run import autograde
    from grader.gradebook.published import changes, points_to_publish
    from grader.publishing.changes import as_json, changes_table, last_publication

    chosen = students_to_grade(course, assignment, students)
    must_be_sound(course, assignment, options, anyway=yes, remember=not dry_run)
    onlooker = progress.Onlooker(console, len(chosen), silent)
    with rehearsal(course) if dry_run else nullcontext(course) as graded_course:
        run = autograde(graded_course, assignment, students, **options, watch=onlooker.show_running)
        before = last_publication(graded_course, assignment, is_rehearsal=dry_run)
        try:
            results = sorted(onlooker.follow(run), key=lambda result: result.student)
        except KeyboardInterrupt:
            run.close()
            graded = sum(bool(graded_course.notebooks(f"autograded/{name}", assignment)) for name in chosen)
            errors.print(
                f"Stopped with {graded} of {len(chosen)} graded. To grade the rest, run this again.", highlight=False
            )
            raise typer.Exit(130) from None
        points, max_points = points_to_publish(graded_course, assignment)
    points_changes = changes(before.students, points) if before else []
    if not silent:
        if len(results) <= MAX_ROWS:
            console.print(progress.results_table(results, points, max_points))
        console.print(progress.summary_table(results, points))
        if before and dry_run and points_changes:
            console.print(changes_table(points_changes, before, course.rules(assignment).zone))
        elif before and not dry_run:
            show_changes(course, assignment, points_changes, before)
    for result in results:
        if result.error:
            reason = escape(result.error.removesuffix("."))
            errors.print(f"{escape(one_line(result.student))} has no grade: {reason}.", highlight=False)
    return progress.as_json(results, points) | {"max_points": max_points} | as_json(before, points_changes)


def show_changes(course: Course, assignment: str, changes: Sequence[PointsChange], before: Publication) -> None:
    """Show changes in a table and on a page. From then on, they count as seen."""
    from grader.publishing.changes import changes_table, write_changes

    path = write_changes(course, assignment, changes, before)
    if changes:
        console.print(changes_table(changes, before, course.rules(assignment).zone))
        print_path(path)
