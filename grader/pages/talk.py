"""Pages for a talk with each student: their own code, questions about it, and the answers on a second sheet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from markupsafe import Markup

from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.explaining.code_questions import CodeQuestion
from grader.gradebook.standing import Standing
from grader.gradebook.standings import read_class
from grader.host.asked_code import AskedExercise, ask_about
from grader.host.notebook_settings import settings_for
from grader.host.scratch import files_for_students, write_whole
from grader.model.exercise import Exercise
from grader.pages.page_parts import template
from grader.pages.report import select_class
from grader.pages.text_html import highlighted, sentence_html

TALK = "talk"  # the folder, in the course folder
QUESTIONS = 5
LETTERS = "ABCD"


@dataclass(frozen=True)
class TalkExercise:
    """The code for an exercise, and what is asked_exercises about it."""

    heading: str
    code: Sequence[tuple[int, Markup]]  # its lines as HTML, with their numbers
    questions: Sequence[tuple[int, CodeQuestion]]  # with their numbers


def write_talk(course: Course, assignment: str, students: Sequence[str] = ()) -> list[Path]:
    """Write a page for each student with a graded submission, or just for these; returns their paths."""
    grades = select_class(read_class(course, assignment), students)
    exercises = course.exercises(assignment)
    folder = course.root / TALK / assignment
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for standing in grades.submissions:
        asked_exercises = _ask(course, assignment, exercises, standing)
        path = folder / f"{standing.student}.html"
        write_whole(path, _page(assignment, standing, asked_exercises).encode())
        paths.append(path)
    return paths


def _ask(course: Course, assignment: str, exercises: Exercises, standing: Standing) -> list[AskedExercise]:
    """Questions about exercises that have full marks, in an order by chance, until there are enough."""
    right = {scored.verdict.exercise for scored in standing.verdicts if scored.verdict.right}
    chosen = [exercise for label, exercise in exercises.items() if label in right]
    random.Random(f"{standing.student}/{assignment}").shuffle(chosen)
    asked_exercises: list[AskedExercise] = []
    for exercise in chosen:
        missing = QUESTIONS - sum(len(asked_exercise.questions) for asked_exercise in asked_exercises)
        if missing > 0:
            asked_exercises += _ask_about(course, assignment, standing, exercise, min(missing, 2))
    return asked_exercises


def _ask_about(
    course: Course, assignment: str, standing: Standing, exercise: Exercise, count: int
) -> list[AskedExercise]:
    exercises = course.exercises(assignment)
    for name in course.notebooks("release", assignment):
        path = course.notebook(f"autograded/{standing.student}", assignment, name)
        if path.exists():
            notebook = nbformat.read(path, as_version=4)
            files = files_for_students(course.folder("source") / assignment)
            asked_exercises = list(ask_about(notebook, files, settings_for(course, exercises), [exercise], count))
            if any(asked_exercise.source for asked_exercise in asked_exercises):
                return asked_exercises
    return []


def _numbered_lines(source: str) -> list[tuple[int, Markup]]:
    """The lines, counted as questions count them: with blank ones at the beginning, which are not shown."""
    blank = len(source) - len(source.lstrip("\n"))
    return [(number, Markup(line)) for number, line in enumerate(highlighted(source).split("\n"), start=blank + 1)]


def _page(assignment: str, standing: Standing, asked_exercises: Sequence[AskedExercise]) -> str:
    exercises, number = [], 0
    for asked_exercise in asked_exercises:
        numbered = list(enumerate(asked_exercise.questions, start=number + 1))
        number += len(numbered)
        if numbered:
            heading = f"Exercise {asked_exercise.exercise.label}: {asked_exercise.exercise.title}"
            exercises.append(TalkExercise(heading, _numbered_lines(asked_exercise.source), numbered))
    page = template("talk.html", code=sentence_html)
    name = f"{standing.person.first_name} {standing.person.last_name}".strip() or standing.student
    return str(
        page.render(
            title=f"{assignment}: {name}", assignment=assignment, name=name, exercises=exercises, letters=LETTERS
        )
    )
