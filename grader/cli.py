"""The command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from grader.autograde import Graded, autograde
from grader.bench import bench as measure
from grader.bench import in_words, seconds_table
from grader.course import Course, CourseError
from grader.demo import run_demo
from grader.feedback import write_feedback
from grader.release import compile_release
from grader.sandbox.printable import printable
from grader.validate import validate as validate_assignment

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    help="Release, grade and check the notebooks of a course on attention. Run it in the course folder.",
)
# A table of points needs some width; in a log or a pipe there is no terminal that would set a limit.
console = Console() if Console().is_terminal else Console(width=150)

Assignment = Annotated[str, typer.Argument(help="The assignment, such as self_attention.")]
Assignments = Annotated[list[str] | None, typer.Argument(help="Assignments; all of them if none is named.")]
Device = Annotated[str, typer.Option(help="Where hidden inputs live: cpu or cuda.")]


@app.command()
def release(assignments: Assignments = None) -> None:
    """Compile source/ into release/, and prove that no solution is left in it.

    Example: `grader release self_attention`
    """
    course = Course(Path())
    for assignment in course.chosen(assignments):
        compile_release(course, assignment)
        console.print(f"release/{assignment} is ready: no solution, hidden test or misconception in it.")


@app.command("autograde")
def autograde_command(
    assignment: Assignment,
    student: Annotated[list[str] | None, typer.Option(help="Only this student; may be given several times.")] = None,
    device: Device = "cpu",
    force: Annotated[bool, typer.Option(help="Grade again what has a grade already.")] = False,
    unconfined: Annotated[bool, typer.Option(help="Run submissions without confinement by the kernel.")] = False,
) -> None:
    """Grade what is in submitted/ into the gradebook.

    Example: `grader autograde self_attention --student ada --student emmy`
    """
    course = Course(Path())
    results = list(
        track(
            autograde(course, assignment, student or [], device, force, confined=not unconfined),
            total=len(student or course.students(assignment)),
            description="Grading",
            console=console,
        )
    )
    console.print(results_table(results))
    failed = [result for result in results if result.error]
    for result in failed:
        console.print(
            f"[red]{escape(printable(result.student))} has no grade: {escape(result.error)}[/red]", highlight=False
        )
    if failed:
        raise typer.Exit(1)


@app.command()
def feedback(assignment: Assignment) -> None:
    """Write an HTML page for each graded student into feedback/.

    Example: `grader feedback self_attention`
    """
    for path in write_feedback(Course(Path()), assignment):
        console.print(str(path), highlight=False)


@app.command()
def validate(assignments: Assignments = None) -> None:
    """Check what CI relies on: references, misconceptions, the release, and grading from end to end.

    Example: `grader validate`
    """
    course = Course(Path())
    problems = 0
    for assignment in course.chosen(assignments):
        for finding in validate_assignment(course, assignment):
            console.print(f"{'[green]✓' if finding.ok else '[red]✗'}[/] {assignment}: {finding.text}", highlight=False)
            problems += not finding.ok
    if problems:
        raise typer.Exit(1)


@app.command()
def demo() -> None:
    """Make up a class of twelve, grade it in demo/, and show the result.

    Example: `grader demo`
    """
    results, pages = run_demo(Course(Path()), Path("demo"), console)
    console.print(results_table(results, pages))


@app.command()
def bench(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as self_attention.")] = "self_attention",
    runs: Annotated[int, typer.Option(min=1, help="How often nbgrader's own Execute runs the notebook.")] = 5,
) -> None:
    """Measure what grading a solved notebook costs, beside nbgrader's own way to run it.

    Example: `grader bench self_attention --runs 5`
    """
    measured = measure(Course(Path()), assignment, runs)
    console.print(seconds_table(measured))
    console.print(in_words(measured), highlight=False)


def results_table(results: list[Graded], pages: dict[str, Path] | None = None) -> Table:
    """One line for each student: points for each exercise, and what went wrong."""
    count = max((len(result.verdicts) for result in results), default=0)
    table = Table(title="Points", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("student", no_wrap=True)
    for number in range(1, count + 1):
        table.add_column(str(number), justify="right")
    table.add_column("total", justify="right")
    table.add_column("what went wrong")
    if pages is not None:
        table.add_column("feedback", overflow="fold")
    for result in results:
        row = [escape(printable(result.student))]
        row += [f"{verdict['points']:g}" for verdict in result.verdicts] or ["–"] * count
        row += [f"{result.points:g}/{result.max_points:g}", escape(_mistakes(result))]
        if pages is not None:
            row.append(str(pages.get(result.student, "–")))
        table.add_row(*row)
    return table


def _mistakes(result: Graded) -> str:
    """The named misconceptions, and the kind of every other mistake."""
    if result.error:
        return result.error
    found = [
        f"{verdict['exercise']}: {' + '.join(verdict['misconceptions']) or verdict['reason']}"
        for verdict in result.verdicts
        if verdict["credit"] < 1
    ]
    reasons = {line.split(": ", 1)[1] for line in found}
    if len(reasons) == 1 and len(found) == len(result.verdicts):
        found = [f"all: {reasons.pop()}"]
    return "\n".join(found + [f"⚑ tried to {attempt}" for attempt in result.blocked])


def main() -> None:
    """Errors that a user can mend are one line, without a traceback."""
    try:
        app()
    except CourseError as error:
        Console(stderr=True).print(f"[red]{error}[/red]", highlight=False)
        raise SystemExit(1) from None
