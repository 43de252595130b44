"""A CSV for Moodle's grade import."""

from __future__ import annotations

from pathlib import Path

from grader.course.folder import Course
from grader.export.export import IDENTIFIERS, Tell, as_csv, grades_to_export, identified, tell_of_maximum, write_export
from grader.pages.spreadsheet import defused, number


def export_moodle(course: Course, assignment: str, by: str, title: str, tell: Tell) -> Path:
    """One column that tells who it is, and one with the points.

    Only those who have a grade are in it. A line without an identifier would be taken for the student of the line
    before, and an unknown one makes Moodle refuse the whole file.
    """
    grades = grades_to_export(course, assignment, tell)
    tell_of_maximum(grades, "the grade item in Moodle", tell)
    heading, identifier = IDENTIFIERS[by]
    rows = [[heading, defused(title or assignment)]]
    rows += [[name, number(standing.total)] for name, standing in identified(grades.graded, identifier, heading, tell)]
    return write_export(course, f"{assignment}-moodle.csv", as_csv(rows))
