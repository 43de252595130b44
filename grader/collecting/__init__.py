"""Collect submissions from any place: match them with students, recognize their content, put them into submitted/."""

__all__ = [
    "choosing",
    "collect",
    "enrolling",
    "files",
    "folders",
    "identifying",
    "placing",
    "rosters",
    "students",
    "uploads",
]
