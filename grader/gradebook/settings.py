"""Read what nbgrader_config.py says about grading a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.converters import Autograde
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.utils.importstring import import_item

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
    students_own: frozenset[str]  # the course's files that students may replace
    penalties: AssignLatePenalties | None  # the plug-in for late submissions, if there is one


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
        students_own=frozenset(converter.exclude_overwriting.get(assignment, [])),
        penalties=_penalties(converter),
    )


def term_rules(course: Course, assignment: str) -> AssignmentRules:
    """The term's rules for an assignment. A late plug-in beside them is an error: nobody pays twice."""
    rules = course.rules(assignment)
    if (rules.late or rules.best) and takes_points_off(_penalties(_nbgraders_own(course, course.api()))):
        plugin = f"an nbgrader plugin in {CONFIG_FILE} takes points off for late work"
        if rules.late:
            raise CourseError(f"course.toml, late: {plugin}, too. Remove one of the two, then run this again.")
        raise CourseError(
            f"course.toml, counts: {plugin}, so no rule says which attempt is the best. Replace it with [late] in "
            "course.toml, then run this again."
        )
    return rules


def takes_points_off(penalties: AssignLatePenalties | None) -> bool:
    """Whether these penalties do anything: nbgrader's own do not by default."""
    if penalties is None or (type(penalties), penalties.plugin_class) != (AssignLatePenalties, LateSubmissionPlugin):
        return penalties is not None
    return bool(LateSubmissionPlugin(parent=penalties).penalty_method != "none")


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


def _penalties(converter: Autograde) -> AssignLatePenalties | None:
    """The step that assigns penalties for late submissions, if the configuration has one."""
    for kind in converter.autograde_preprocessors:
        if isinstance(kind, str) and kind.startswith("grader."):  # ours, which imports torch
            continue
        kind = import_item(kind) if isinstance(kind, str) else kind
        if issubclass(kind, AssignLatePenalties):
            return kind(parent=converter)
    return None
