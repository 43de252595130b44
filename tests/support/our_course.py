"""The exercises of the attention course, loaded as those of any course are."""

from __future__ import annotations

from grader.course.folder import Course
from grader.host.notebook_settings import Settings
from grader.model.exercise import Exercise
from support.places import ROOT

CATALOGUE = Course(ROOT).catalogue()
# Those of all assignments by number: in this course, no two have the same.
EXERCISES: dict[int, Exercise] = {
    exercise.number: exercise for exercises in CATALOGUE.assignments.values() for exercise in exercises.values()
}
ASSIGNMENTS = tuple(CATALOGUE.assignments)
# To grade a notebook that may have cells of all.
OURS = Settings(exercises={exercise.label: exercise for exercise in EXERCISES.values()})


def of_assignment(assignment: str) -> list[Exercise]:
    return list(CATALOGUE.of(assignment).values())
