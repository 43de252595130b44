"""Collect submissions from any place: match them with students, recognise their content, put them into submitted/."""

__all__ = [
    "choosing",
    "collect",
    "enrolling",
    "files",
    "folders",
    "placing",
    "recognising",
    "rosters",
    "students",
    "uploads",
]
