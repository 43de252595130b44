"""The whole term on one page and in one table: a row for each student, with points and weighted totals."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.points import as_csv, write_export
from grader.gradebook.term_grades import TermGrades, read_term
from grader.pages.page_parts import REPORT, template
from grader.pages.report import names_of
from grader.pages.spreadsheet import defused, number
from grader.sandbox.plain_text import listed, one_line
from grader.term.times import format_time

log = logging.getLogger(__name__)

NAME = "all-assignments"


def write_term_report(course: Course, students: Sequence[str] = ()) -> Path:
    """Write the page into report/; only for `students`, if some are named."""
    grades = select_students(read_term(course), students)
    folder = course.root / REPORT
    folder.mkdir(exist_ok=True)
    names = [assignment.name for assignment in grades.assignments]
    reports = {name for name in names if (folder / f"{name}.html").is_file()}
    path = folder / f"{NAME}.html"
    path.write_text(page(grades, reports), encoding="utf-8")
    return path


def export_term(course: Course) -> Path:
    """Write the table into export/."""
    grades = read_term(course)
    if grades.not_final:
        log.warning(
            f"Not final: {listed(grades.not_final)} (some submissions are not graded, or wait for manual grading)."
        )
    return write_export(course, f"{NAME}.csv", as_csv(table(grades)))


def select_students(grades: TermGrades, students: Sequence[str]) -> TermGrades:
    unknown = sorted(set(students) - {person.id for person in grades.people})
    if unknown:
        raise CourseError(f"There is no student called {', '.join(map(one_line, unknown))}.")
    chosen = [person for person in grades.people if not students or person.id in students]
    return replace(grades, people=chosen)


def table(grades: TermGrades) -> list[list[str]]:
    """The table, with a row for each student. A missing grade is empty, and counts as no points."""
    head = ["student", "last name", "first name"]
    for assignment in grades.assignments:
        head += [assignment.name, f"{assignment.name}: of", f"{assignment.name}: weight"]
    rows = [[*head, "total in percent", "not final"]]
    for person in grades.people:
        row = [person.id, person.last_name, person.first_name]
        not_final = []
        for assignment in grades.assignments:
            standing = assignment.standings.get(person.id)
            points = "" if standing is None else number(standing.total)
            row += [points, number(assignment.max_points), number(assignment.weight)]
            if person.id in assignment.not_final:
                not_final.append(assignment.name)
        rows.append([*row, percent(grades.total(person.id)), "; ".join(not_final)])
    return [[*map(defused, row)] for row in rows]


def percent(share: float | None) -> str:
    return "" if share is None else number(100 * share)


def page(grades: TermGrades, reports: set[str]) -> str:
    names = names_of({person.id: (person.first_name, person.last_name) for person in grades.people})
    return template("whole_term.html", text=one_line, number=number, percent=percent).render(
        grades=grades, names=names, reports=reports, written=format_time(datetime.now(UTC), grades.zone)
    )
