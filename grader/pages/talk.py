"""Pages for a talk with each student: their own code, questions about it, and the answers on a second sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from markupsafe import Markup
from nbformat import NotebookNode

from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.explaining.question import CodeQuestion
from grader.gradebook.standing import Standing
from grader.gradebook.standings import read_class
from grader.host.asked_code import AskedExercise, ask_student
from grader.host.notebook_settings import settings_for
from grader.host.scratch import files_for_students, write_whole
from grader.model.exercise import Exercise
from grader.pages.page_parts import template
from grader.pages.report import select_class
from grader.pages.text_html import numbered_lines, sentence_html

TALK = "talk"  # the folder, in the course folder
QUESTIONS = 5
LETTERS = "ABCD"


@dataclass(frozen=True)
class TalkExercise:
    """The code for an exercise, and what is asked about it."""

    heading: str
    code: Sequence[tuple[int, Markup]]  # its lines as HTML, with their numbers
    questions: Sequence[tuple[int, CodeQuestion]]  # with their numbers


def write_talk(course: Course, assignment: str, students: Sequence[str] = ()) -> list[Path]:
    """Write a page for each student with a graded submission, or just for these; returns their paths."""
    grades = select_class(read_class(course, assignment), students)
    settings = settings_for(course, course.exercises(assignment))
    files = files_for_students(course.folder("source") / assignment)
    folder = course.root / TALK / assignment
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for standing in grades.submissions:
        notebooks = _notebooks(course, assignment, standing.student)
        right = _right_exercises(standing, settings.exercises)
        asked_exercises = ask_student(standing.student, notebooks, files, settings, right, QUESTIONS)
        path = folder / f"{standing.student}.html"
        write_whole(path, _page(assignment, standing, asked_exercises).encode())
        paths.append(path)
    return paths


def _notebooks(course: Course, assignment: str, student: str) -> list[NotebookNode]:
    """The graded notebooks of a student."""
    names = course.notebooks("release", assignment)
    paths = [course.notebook(f"autograded/{student}", assignment, name) for name in names]
    return [nbformat.read(path, as_version=4) for path in paths if path.exists()]


def _right_exercises(standing: Standing, exercises: Exercises) -> list[Exercise]:
    """The exercises with full marks."""
    right = {scored.verdict.exercise for scored in standing.verdicts if scored.verdict.right}
    return [exercise for label, exercise in exercises.items() if label in right]


def _page(assignment: str, standing: Standing, asked_exercises: Sequence[AskedExercise]) -> str:
    exercises, number = [], 0
    for asked_exercise in asked_exercises:
        numbered = list(enumerate(asked_exercise.questions, start=number + 1))
        number += len(numbered)
        if numbered:
            exercises.append(TalkExercise(asked_exercise.heading, numbered_lines(asked_exercise.source), numbered))
    page = template("talk.html", code=sentence_html)
    name = f"{standing.person.first_name} {standing.person.last_name}".strip() or standing.student
    return str(
        page.render(
            title=f"{assignment}: {name}", assignment=assignment, name=name, exercises=exercises, letters=LETTERS
        )
    )
