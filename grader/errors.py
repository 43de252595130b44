"""What can go wrong for a user, who is told so in a sentence and never sees a traceback."""

from __future__ import annotations


class CourseError(Exception):
    """Something that the user can mend; the text says how."""
