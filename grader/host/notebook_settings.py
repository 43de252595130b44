"""The settings for grading one notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.course.exercise_texts import hidden_folders
from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.host.limits import Limits
from grader.judging.judging_time import SECONDS as JUDGING_SECONDS
from grader.model.exercise import DEFAULT_SEED
from grader.model.ordinary import OrdinaryTests


@dataclass(frozen=True)
class Settings:
    """How to grade a notebook. The inputs of cases follow from seed and submission: for a class, the seed holds
    something that no student can know."""

    exercises: Exercises = field(default_factory=dict)  # of the assignment
    hidden: Sequence[str] = ()  # folders that code may not read
    device: str = "cpu"
    confined: bool = True
    seed: str = str(DEFAULT_SEED)
    student: str = ""
    by_user: bool = False  # without Landlock in the kernel, a user of its own is enough
    ordinary: OrdinaryTests = field(default_factory=OrdinaryTests)
    judging: float = JUDGING_SECONDS  # of the grader's own processor time
    limits: Limits = field(default_factory=Limits)


def settings_for(course: Course, exercises: Exercises) -> Settings:
    """Settings with these exercises, and with the whole course hidden."""
    return Settings(exercises, [str(course.root), *hidden_folders(course.exercise_files)])
