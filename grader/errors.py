"""Errors that users see as a sentence, never as a traceback."""

from __future__ import annotations


class CourseError(Exception):
    """The user can fix this; the text says how."""


class CrewGone(CourseError):
    """Grading cannot go on. Results so far are right, and are kept."""


class CourseBusy(CourseError):
    """Another process is grading or publishing this course."""
