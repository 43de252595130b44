"""The platforms that points can be exported to, with the options of each, and those that run the grader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from grader.course.folder import Course
from grader.errors import CourseError

Platform = Literal["canvas", "moodle"]
PLATFORMS: tuple[Platform, ...] = get_args(Platform)
Target = Literal[Platform, "gradescope-autograder", "jplag"]  # the last two get a grader, and code to compare
TARGETS: tuple[Target, ...] = get_args(Target)
Identifier = Literal["username", "email", "idnumber"]
TARGETS_OF: dict[str, tuple[Target, ...]] = {
    "roster": ("canvas",),
    "column": ("canvas", "moodle"),
    "by": ("moodle",),
    "index": ("gradescope-autograder",),
}


def refuse_options_of_others(target: str, options: Mapping[str, object]) -> None:
    """Refuse options that this platform would ignore: they must be a misunderstanding."""
    for option, value in options.items():
        if value and target not in TARGETS_OF[option]:
            targets = " and ".join(other.title() for other in TARGETS_OF[option])
            raise CourseError(
                f"--{option} is for {targets}, not for {target.title()}. Leave it out, then run this again."
            )


def export_points(
    platform: Platform,
    course: Course,
    assignment: str,
    *,
    roster: Path | None = None,
    column: str = "",
    by: Identifier | None = None,
) -> Path:
    """Write the file that this platform imports."""
    if platform == "canvas":
        from grader.export.canvas import export_canvas

        return export_canvas(course, assignment, roster, column)
    from grader.export.moodle import export_moodle

    return export_moodle(course, assignment, by or "username", column)


def export_code(course: Course, assignment: str) -> Path:
    """Write all submissions for programs that compare code."""
    from grader.export.export_jplag import export_jplag

    return export_jplag(course, assignment)


def export_grader(course: Course, assignment: str, index: str = "") -> Path:
    """Write the file with which Gradescope grades an assignment, with its hidden cases."""
    from grader.autograders.gradescope_files import gradescope_autograder
    from grader.export.points import write_export

    content = gradescope_autograder(course, assignment, index)
    return write_export(course, f"{assignment}-gradescope-autograder.zip", content)
