"""Read what nbgrader_config.py says about grading a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.converters import Autograde
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties

from grader.course.folder import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.term.rules import AssignmentRules

# This imports all of nbgrader's commands, which takes long.
if TYPE_CHECKING:
    from nbgrader.apps.api import NbGraderAPI

RUN_AND_JUDGE = "grader.gradebook.preprocessors.RunAndJudge"


@dataclass(frozen=True)
class ClassSettings:
    """The settings for grading one assignment."""

    db_url: str
    source: Path  # the folder of its source notebook
    autograded: Path  # the folder of all graded notebooks
    permissions: int  # of the files in it
    ignored: Sequence[str]  # patterns for names of files to leave out
    replaceable_files: frozenset[str]  # the course's files that students may replace


def read_settings(course: Course, api: NbGraderAPI, assignment: str) -> ClassSettings:
    """Read the settings of an assignment through `api`, nbgrader's interface to the course."""
    converter = _nbgraders_own(course, api)
    folders = api.coursedir
    return ClassSettings(
        db_url=folders.db_url,
        source=Path(folders.format_path(folders.source_directory, ".", assignment)),
        autograded=Path(folders.format_path(folders.autograded_directory, ".", ".")).resolve(),
        permissions=int(str(converter.permissions), 8),
        ignored=[*folders.ignore, "*.ipynb"],
        replaceable_files=frozenset(converter.exclude_overwriting.get(assignment, [])),
    )


_LATE = """
[late]
per = "day"           # or "hour"
share = 0.1           # of the points, for each day started
cap = 0.5             # at most
grace = "15 minutes"  # this late costs nothing"""


def term_rules(course: Course, assignment: str) -> AssignmentRules:
    """The term's rules for an assignment. A plugin of nbgrader's for late work is an error: rules alone decide that."""
    config = course.config()
    has_plugin = AssignLatePenalties(config=config).plugin_class is not LateSubmissionPlugin
    if has_plugin or LateSubmissionPlugin(config=config).penalty_method != "none":
        raise CourseError(
            f"{CONFIG_FILE} sets an nbgrader plugin that takes points off for late work, which is not used any more. "
            f"Remove it, and write into course.toml what being late costs, for example:\n{_LATE}"
        )
    return course.rules(assignment)


def _nbgraders_own(course: Course, api: NbGraderAPI) -> Autograde:
    """nbgrader's own command with this course's settings, without our exporter: it imports torch."""
    config = course.config()
    config.Autograde.pop("exporter_class", None)
    converter = Autograde(coursedir=api.coursedir, config=config)
    if RUN_AND_JUDGE not in converter.autograde_preprocessors:
        raise CourseError(
            f"c.Autograde.autograde_preprocessors in {CONFIG_FILE} leaves out {RUN_AND_JUDGE}. Add it again, or grade "
            "with nbgrader autograde."
        )
    return converter
