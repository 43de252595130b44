"""The exercises of the attention course, loaded like those of any course."""

from __future__ import annotations

from grader.course.folder import Course
from grader.host.notebook_settings import Settings
from grader.model.exercise import Exercise
from support.places import ROOT

CATALOGUE = Course(ROOT).catalogue()
# All exercises by number, which are unique in this course.
EXERCISES: dict[int, Exercise] = {
    exercise.number: exercise for exercises in CATALOGUE.assignments.values() for exercise in exercises.values()
}
ASSIGNMENTS = tuple(CATALOGUE.assignments)  # in the course's order; the first takes least time
# For notebooks with cells from any of the exercises.
OURS = Settings(exercises={exercise.label: exercise for exercise in EXERCISES.values()})


def of_assignment(assignment: str) -> list[Exercise]:
    return list(CATALOGUE.of(assignment).values())
