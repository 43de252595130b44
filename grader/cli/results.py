"""`grader publish`, `feedback`, `report` and `export`: results for students, instructors and platforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from grader.cli.autograde import show_changes
from grader.cli.options import Assignment, By, Column, OneOrAll, Platforms, Roster, StaleAnyway, Student
from grader.cli.terminal import console, print_path
from grader.course.folder import Course, open_course
from grader.errors import CourseError
from grader.export.destinations import (
    TARGETS,
    Target,
    export_code,
    export_grader,
    export_points,
    refuse_options_of_others,
)
from grader.sandbox.plain_text import plural


def publish(
    assignment: Assignment,
    to: Platforms = None,
    roster: Roster = None,
    column: Column = "",
    by: By = None,
    yes: Annotated[bool, typer.Option("--yes", help="Publish even if points have changed.")] = False,
    stale_anyway: StaleAnyway = False,
    waiting_anyway: Annotated[
        bool, typer.Option("--waiting-anyway", help="Publish even if answers still need manual grading.")
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="Only show what was published so far.")] = False,
) -> None:
    """Publish points and feedback, and keep a copy.

    Feedback goes to feedback/, exports go to export/, and copies of both to published/. A server that is connected to a
    learning platform sends the points there.

    Example: `grader publish week1 --to moodle`
    """
    course = open_course()
    from grader.export.points import FOLDER as EXPORTS
    from grader.publishing.changes import history_table
    from grader.publishing.publish import UnseenChanges
    from grader.publishing.publish import publish as tell_students

    course.chosen([assignment])
    if history:
        console.print(history_table(course, assignment))
        return
    options: dict[str, Any] = {"roster": roster, "column": column, "by": by}
    try:
        new = tell_students(
            course,
            assignment,
            to or [],
            yes=yes,
            stale_anyway=stale_anyway,
            waiting_anyway=waiting_anyway,
            options=options,
        )
    except UnseenChanges as unseen:
        show_changes(course, assignment, unseen.points_changes, unseen.since)
        raise
    sentence = "Nothing to publish: students already know these points."
    if new:
        count = plural(len(new.students), "student")
        sentence = f"Published {assignment} for {count} (publication {new.number})."
    exports = f", files for platforms in {EXPORTS}/" if to else ""
    console.print(f"{sentence} Pages are in {course.called('feedback')}/{exports}.", highlight=False)


def feedback(assignment: Assignment, student: Student = None) -> None:
    """Write a page for each student: what is right, what to change.

    Pages go to feedback/.

    Example: `grader feedback week1 --student ada`
    """
    course = open_course()
    from grader.pages.feedback import write_feedback

    _write(write_feedback, course, assignment, student or [])


def report(
    assignment: OneOrAll = None,
    student: Student = None,
) -> None:
    """Write a report on the class: what was understood, who needs help.

    It goes to report/, also as CSV and JSON. With --student, it covers only these students. Without an assignment,
    it has the points for all assignments, and the weighted total.

    Example: `grader report week1`
    """
    course = open_course()
    if assignment:
        from grader.pages.report import write_report

        _write(write_report, course, assignment, student or [])
        return
    from grader.publishing.whole_term import write_term_report

    print_path(write_term_report(course, student or []))
    _refuse_stale(course, anyway=True)


def talk(assignment: Assignment, student: Student = None) -> None:
    """Write questions for a talk with each student, about their code.

    They are about exercises that are right. Pages go to talk/, with the answers on a second sheet.

    Example: `grader talk week1 --student ada`
    """
    course = open_course()
    from grader.pages.talk import write_talk

    for path in write_talk(course, assignment, student or []):
        print_path(path)


def _refuse_stale(course: Course, anyway: bool) -> None:
    """Refuse points that are out of date in any graded assignment; or just report them."""
    from grader.publishing.publish import refuse_stale

    for assignment in course.assignments():
        if any(course.folder("autograded").glob(f"*/{assignment}/*.ipynb")):
            refuse_stale(course, assignment, anyway)


def _write(
    write: Callable[[Course, str, Sequence[str]], list[Path]],
    course: Course,
    assignment: str,
    students: Sequence[str],
) -> None:
    """Write pages from the gradebook as it is, then warn if that is out of date."""
    from grader.publishing.publish import refuse_stale

    course.chosen([assignment])
    for path in write(course, assignment, students):
        print_path(path)
    refuse_stale(course, assignment, anyway=True)


def export(
    assignment: OneOrAll = None,
    to: Annotated[Target | None, typer.Option(help="The platform or tool to export for.")] = None,
    roster: Roster = None,
    column: Column = "",
    by: By = None,
    index: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Grading elsewhere: where pip finds PyTorch for CPUs.")
    ] = "",
    stale_anyway: StaleAnyway = False,
) -> None:
    """Export points, or the grader itself, for a platform.

    Files go to export/. gradescope-autograder gets a grader, with the hidden cases, to run there. jplag gets the
    submitted code, to compare it.
    Without an assignment, you get a table of all assignments, with the weighted total.

    Example: `grader export week1 --to canvas --roster grades.csv`
    """
    course = open_course()
    from grader.publishing.publish import refuse_stale

    options: dict[str, Any] = {"roster": roster, "column": column, "by": by}
    if assignment is None:
        if to or index or any(options.values()):
            raise CourseError("Platforms import one assignment at a time. Name it, or leave out --to and its options.")
        _refuse_stale(course, stale_anyway)
        from grader.publishing.whole_term import export_term

        print_path(export_term(course))
        return
    course.chosen([assignment])
    if to is None:
        raise CourseError(f"Name a platform: --to {', --to '.join(TARGETS)}.")
    refuse_options_of_others(to, {**options, "index": index})
    if to == "jplag":
        print_path(export_code(course, assignment))
        return
    if to == "gradescope-autograder":
        print_path(export_grader(course, assignment, index))
        return
    refuse_stale(course, assignment, stale_anyway)
    print_path(export_points(to, course, assignment, **options))
