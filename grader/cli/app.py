"""The command line."""

from __future__ import annotations

import errno
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from grader.cli import autograde, results, serving, submissions
from grader.cli.learning_platforms import lti
from grader.cli.new import new
from grader.cli.options import Assignments
from grader.cli.participants import students
from grader.cli.terminal import busy, console, errors, print_path, print_whatever_it_takes, printable, printed_messages
from grader.course.folder import open_course
from grader.errors import CourseError
from grader.model.exercise_files import describe_error, location_of_error

# In the order of an instructor's work.
ORDER = ["new", "release", "students", "serve", "lti", "submit"]
ORDER += ["collect", "autograde", "publish", "feedback", "report", "talk", "export"]
ORDER += ["try", "validate", "demo", "doctor"]  # less common ones

NAMELESS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # errors while writing to a disk; they name no file


class InOrder(TyperGroup):
    """Lists commands in the order in which people use them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: [*ORDER, name].index(name))

    def get_params(self, ctx: Any) -> list[Any]:
        """Hide the usual options: they would take seven lines of a help that should fit on one screen."""
        options: list[Any] = super().get_params(ctx)
        for option in options:
            # People try these without looking them up, or see them in the help's first lines.
            option.hidden = option.name in ("install_completion", "show_completion", "help", "show_version")
        return options


# Each command imports what it needs, after it has found the course. Regrading an unchanged class need not wait for
# torch, and `doctor` must work even if one of these packages is missing or broken.
app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Run a course, from notebooks to grades. More: `grader COMMAND --help`",
)
app.add_typer(new, name="new")
app.add_typer(students, name="students")
app.add_typer(lti, name="lti")
app.command()(serving.serve)
app.command()(serving.submit)
app.command(hidden=True)(serving.receipt)  # the help has a screen, and no more
students.command()(serving.invite)
students.command()(serving.token)
app.command()(submissions.collect)
app.command("autograde")(autograde.grade)
for command in (results.publish, results.feedback, results.report, results.talk, results.export):
    app.command()(command)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"grader {version('attention-grader')}")
        raise typer.Exit


@app.callback()
def about(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that need no command."""


@app.command()
def release(
    assignments: Assignments = None,
    single_file: Annotated[
        bool, typer.Option("--single-file", help="Also as single files, in release_single/.")
    ] = False,
    marimo: Annotated[bool, typer.Option("--marimo", help="Also for marimo, in release_marimo/.")] = False,
) -> None:
    """Make the students' notebooks, and check for leaked solutions.

    Compiles source/ into release/. Stops if it finds a solution, and lists files that it cannot search.

    Example: `grader release week1 --single-file`
    """
    course = open_course()
    from grader.checks.sound_cases import must_be_releasable
    from grader.release.compiling import compile_release
    from grader.release.marimo import convert_release, need_marimo
    from grader.release.one_file import public_folder, write_single_files

    if marimo:
        need_marimo()
    if marimo or single_file:
        public_folder(course.config())
    for assignment in course.chosen(assignments):
        must_be_releasable(course, assignment)
        searched = compile_release(course, assignment)
        console.print(escape(f"{course.called('release')}/{assignment} is ready. {searched}"), soft_wrap=True)
        if single_file:
            path = printable(write_single_files(course, assignment))
            console.print(f"{path} is ready, too. Its notebooks need no other files.", highlight=False, soft_wrap=True)
        if marimo:
            notebook = convert_release(course, assignment)
            advice = f"{printable(notebook.parent)} is ready, too. Try it: marimo edit {printable(notebook)}"
            console.print(advice, highlight=False, soft_wrap=True)


@app.command("try")
def try_command(
    exercise: Annotated[str, typer.Argument(help="The number or name of the exercise.")],
    file: Annotated[typer.FileText, typer.Argument(help="Code for its solution cell, or - for standard input.")],
    assignment: Annotated[str, typer.Option(help="Needed if several assignments have this exercise.")] = "",
    page: Annotated[bool, typer.Option("--page", help="Also open the feedback page in a browser.")] = False,
) -> None:
    """Grade one piece of code.

    The rest of the notebook is filled in with the reference solutions.

    Example: `grader try 3 softmax.py --page`
    """
    course = open_course()
    from grader.checks.trying import exercise_called, try_code
    from grader.host.notebook_settings import settings_for

    name, exercises, label = exercise_called(course, exercise, assignment)
    tried = try_code(course, name, settings_for(course, exercises), label, file.read())
    console.print(escape(tried.in_words()), highlight=False, soft_wrap=True)
    if page:
        path = Path(tempfile.mkdtemp(prefix="grader-try-"), f"{label}.html")
        path.write_text(tried.page(), encoding="utf-8")
        print_path(path)
        typer.launch(str(path))


@app.command()
def validate(assignments: Assignments = None) -> None:
    """Check that the course grades correctly; CI runs this.

    Checks references, misconceptions, the release, and grading from end to end.

    Example: `grader validate`
    """
    course = open_course()
    course.config()  # an unreadable one is better reported before minutes of checks
    chosen = course.chosen(assignments)
    for assignment in chosen:
        course.rules(assignment)
    from grader.checks.table import CheckedAssignment, show
    from grader.checks.validate import validate as findings

    checked = [CheckedAssignment(assignment) for assignment in chosen]
    try:
        for unchecked in checked:
            with busy(f"{unchecked.assignment} …"):
                unchecked.add(findings(course, unchecked.assignment))
    finally:  # show what was found so far, even after an error or Ctrl-C
        begun = [assignment for assignment in checked if assignment.findings]
        if begun:
            show(begun, console)
    if not all(finding.ok for assignment in checked for finding in assignment.findings):
        raise typer.Exit(1)
    console.print("All checks passed.")


@app.command()
def demo(
    assignment: Annotated[str, typer.Option(help="The assignment to show; the first one by default.")] = "",
) -> None:
    """Try everything on a made-up class of twelve, in demo/.

    Example: `grader demo --assignment transformer`
    """
    from grader.checks.demo import ASSIGNMENT, most_to_read, run_demo
    from grader.classroom import progress

    results, pages, report = run_demo(Path("demo"), console, assignment or ASSIGNMENT)
    console.print(progress.results_table(results))
    student = most_to_read(results)
    console.print(
        "Open these in a browser (the other students' pages are in demo/feedback):\n"
        f"  {printable(report)}  the class report\n"
        f"  {printable(pages[student])}  {student}'s feedback",
        soft_wrap=True,
    )
    console.print("To run your own course, read docs/a_term.md or run: grader --help", highlight=False)


@app.command("doctor")
def doctor_command() -> None:
    """Check whether this machine can grade, and say what is missing.

    Exits with 0 if submissions can run in a sandbox, and with 1 if you need to fix something first.

    Example: `grader doctor`
    """
    from grader.cli import doctor

    lines = list(doctor.examine(Path()))
    console.print(doctor.table(lines))
    console.print(doctor.in_a_sentence(lines))
    if any(line.state == "bad" for line in lines):
        raise typer.Exit(1)


def run() -> None:
    """Run a command. An error that the user can fix is shown as a sentence that says how, without a traceback."""
    if os.getenv("GITHUB_ACTIONS"):
        from typer import rich_utils

        rich_utils.FORCE_TERMINAL = None  # typer would color even files; rich checks for a terminal
    print_whatever_it_takes()
    try:
        with printed_messages():
            app(prog_name="grader")
    except CourseError as error:
        message = str(error)
    except OSError as error:
        if error.filename is None and error.errno not in NAMELESS:
            raise
        message = f"{error.filename or 'Cannot write files'}: {error.strerror}. Fix that, then run this again."
    except Exception as error:
        if not location_of_error(error):
            raise
        message = f"Cannot use an exercise: {describe_error(error)}. Fix that, then run this again."
    else:
        return
    errors.print(escape(message), highlight=False)
    raise SystemExit(1)
