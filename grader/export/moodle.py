"""Moodle: a CSV for its grade import."""

from __future__ import annotations

from pathlib import Path

from grader.course.folder import Course
from grader.export.points import IDENTIFIERS, as_csv, grades_to_export, warn_of_maximum, with_identifiers, write_export
from grader.pages.spreadsheet import defused, number


def export_moodle(course: Course, assignment: str, by: str, title: str) -> Path:
    """Write a CSV for Moodle: a column that identifies students, and one with their points.

    Only students with a grade are in it. Moodle would take a line without an identifier for the student of the line
    before, and an unknown identifier makes it refuse the whole file.
    """
    grades = grades_to_export(course, assignment)
    warn_of_maximum(grades, "the grade item in Moodle")
    heading, identifier = IDENTIFIERS[by]
    rows = [[heading, defused(title or assignment)]]
    for name, standing in with_identifiers(grades.graded, identifier, heading):
        rows.append([name, number(standing.total)])
    return write_export(course, f"{assignment}-moodle.csv", as_csv(rows))
