"""What can go wrong for a user, who is told so in a sentence and never sees a traceback."""

from __future__ import annotations


class CourseError(Exception):
    """Something that the user can fix; the text says how."""


class CrewGone(CourseError):
    """Nobody can grade any longer. What is graded so far is right, and is to be kept."""
