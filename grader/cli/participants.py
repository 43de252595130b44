"""`grader students` and `grader students import`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from grader.classroom.terminal_tables import folding, plain_table
from grader.cli.learning_platforms import import_from_platforms
from grader.cli.submissions import WAITING
from grader.cli.terminal import console, errors
from grader.course.folder import open_course
from grader.errors import CourseError
from grader.sandbox.plain_text import listed, one_line

if TYPE_CHECKING:
    from grader.collecting.enrolling import ImportResult

log = logging.getLogger(__name__)

_MAX_LISTED = 20  # students and lines that are listed one by one

students = typer.Typer(
    invoke_without_command=True, rich_markup_mode="markdown", help="List, import and invite students."
)


@students.callback()
def show(context: typer.Context) -> None:
    """List the students of the course: names, email, and what platforms call them.

    Example: `grader students`
    """
    if context.invoked_subcommand:
        return
    course = open_course()
    from grader.collecting.rosters import students_in_gradebook
    from grader.gradebook.roster import COLUMNS, FILE, read_roster

    roster = read_roster(course.root, to_write=True)
    columns = [column for column in COLUMNS if any(getattr(enrolled, column) for enrolled in roster.values())]
    if roster:
        rows = []
        for enrolled in roster.values():
            rows.append([getattr(enrolled, column) for column in columns])
        console.print(_table(columns, rows))
    console.print(f"{FILE} has {len(roster)} student{'s' * (len(roster) != 1)}.", highlight=False)
    students_elsewhere = {student.id for student in students_in_gradebook(course)} | set(course.submitters())
    missing = sorted(students_elsewhere - roster.keys())
    if missing:
        sentence = f"Not on the roster, but in the gradebook or with submissions: {listed(missing, _MAX_LISTED)}."
        console.print(escape(sentence), highlight=False)
    if not roster:
        console.print("To add students, run: grader students import FILE", highlight=False)


@students.command("import")
def import_table(
    file: Annotated[
        Path | None, typer.Argument(help="A table with id, name, email and so on, or an export from Moodle or Canvas.")
    ] = None,
    lti: Annotated[
        bool, typer.Option("--lti", help="Instead of a table: the students of the connected courses.")
    ] = False,
) -> None:
    """Import students from a table, or from a learning platform, into the roster.

    New values replace those in the roster. Everything else stays. Invalid lines are skipped and listed,
    and the command then exits with 3.

    Example: `grader students import participants.csv`
    """
    course = open_course()
    from grader.classroom.run import alone
    from grader.collecting.enrolling import import_students

    if (file is None) == (not lti):
        raise CourseError("Name a table of students, or use --lti.")
    with alone(course):
        results = import_from_platforms(course) if file is None else [import_students(course, file)]
    for result in results:
        _show_result(result, "the learning platform" if file is None else one_line(file))
    if any(result.bad_lines for result in results):
        raise typer.Exit(WAITING)


def _show_result(result: ImportResult, source: str) -> None:
    from grader.gradebook.roster import FILE

    if result.changes:
        rows = [[student, "; ".join(changes)] for student, changes in result.changes.items()]
        console.print(_table(["changed", "what"], rows[:_MAX_LISTED]))
    if result.new_students:
        console.print(escape(f"New: {listed(sorted(result.new_students), _MAX_LISTED)}."), highlight=False)
    counts = f"{len(result.new_students)} new, {len(result.changes)} changed, {result.unchanged} unchanged"
    console.print(f"{FILE}: {counts}.", highlight=False)
    for line, problem in list(result.bad_lines.items())[:_MAX_LISTED]:
        log.warning(f"Skipped line {line}: {problem}.")
    if result.bad_lines:
        count, them = ("1 line", "it") if len(result.bad_lines) == 1 else (f"{len(result.bad_lines)} lines", "them")
        errors.print(f"Skipped {count}. Fix {them} in {escape(source)}, then run this again.", highlight=False)


def _table(columns: Iterable[str], rows: Iterable[list[str]]) -> Table:
    table = plain_table(*folding(*columns))
    for row in rows:
        table.add_row(*(escape(one_line(text, 500)) for text in row))
    return table
