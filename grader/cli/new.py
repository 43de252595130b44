"""`grader new course`, `grader new assignment`, `grader new exercise` and `grader new mistake`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.terminal import console, printable
from grader.course.folder import open_course

new = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Start a course, an assignment, an exercise or a mistake."
)


@new.command()
def course(name: Annotated[str, typer.Argument(help="The folder to create.")]) -> None:
    """Make a folder for a course.

    Example: `grader new course statistics`
    """
    from grader.authoring.beginnings import new_course

    _print_files(new_course(Path(name)), f"Next, run: cd {name} && grader new assignment week1")


@new.command()
def assignment(name: Annotated[str, typer.Argument(help="Its name, such as week1.")]) -> None:
    """Make an assignment without exercises.

    Example: `grader new assignment week1`
    """
    from grader.authoring.beginnings import new_assignment

    _print_files(new_assignment(open_course(), name), f"Next, run: grader new exercise mean --assignment {name}")


@new.command()
def exercise(
    name: Annotated[str, typer.Argument(help="A number or a name, such as 1 or mean.")],
    assignment: Annotated[str, typer.Option(help="The assignment to add it to.")],
) -> None:
    """Make an exercise from the notebook's solution cell.

    If there is none, a working example is added at the end for you to replace.

    Example: `grader new exercise mean --assignment week1`
    """
    from grader.authoring.beginnings import new_exercise

    beginning = new_exercise(open_course(), name, assignment)
    advice = "It asks for the mean, as an example. Replace that"
    if beginning.from_cell:
        advice = "Write its hidden cases and mistakes"
    _print_files(beginning.files, f"{advice}, then run: grader validate {assignment}")


@new.command()
def mistake(
    exercise: Annotated[str, typer.Argument(help="The number or name of the exercise.")],
    name: Annotated[str, typer.Argument(help="What reports call the mistake.")],
    at: Annotated[
        str, typer.Option("--at", metavar="MARK", prompt="Mark of the line", help="The mark of the line that differs.")
    ],
    line: Annotated[str, typer.Option(prompt="What students write there", help="What students write there.")],
    says: Annotated[str, typer.Option(prompt="What they read then", help="The sentence that they read.")],
    assignment: Annotated[str, typer.Option(help="Needed if several assignments have this exercise.")] = "",
) -> None:
    """Add a mistake to an exercise, and code that has it to the corpus.

    Asks for what is not given.

    Example: `grader new mistake mean "not divided" --at mean`
    """
    from grader.authoring.new_mistake import NewMistake, new_mistake

    files = new_mistake(open_course(), exercise, NewMistake(name, at, line, says), assignment)
    _print_files(files, "Next, run: grader validate")


def _print_files(paths: Sequence[Path], advice: str) -> None:
    for path in paths:
        console.print(printable(path), highlight=False, soft_wrap=True)
    console.print(advice, highlight=False, soft_wrap=True)
