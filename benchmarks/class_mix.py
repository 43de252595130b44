"""A made-up class with a realistic mix of students."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import nbformat
from nbformat import NotebookNode

from grader.checks.demo import answers_of_all
from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.facts.student_text import StudentText
from grader.host.grading import grade_notebook
from grader.host.notebook_settings import Settings
from grader.model.label import Label
from grader.model.verdict import Reason
from grader.notebooks.cells import demos_of, fill_in, solutions
from grader.repair.edits import edits_of

Answers = Mapping[Label, str]
Notebooks = Mapping[str, list[str]]  # by kind of student

# Of a hundred students: all right; with known mistakes; with an unknown one, so that its line is searched for …
MIX = {"right": 60, "named": 15, "unnamed": 10, "untouched": 5, "plots": 5, "crashes": 3, "hangs": 2}
MISHAPS = ("crashes", "hangs")
RIGHT = ("ada", "alan", "barbara")  # students of the demo
HAS_AN_ENDLESS_LOOP = "henri"
UNNAMED = 3  # notebooks of that kind, each with a mistake in a different exercise
TRIED = 12  # slips to try for each exercise, until one is not a known mistake
PLOT = """
import matplotlib.pyplot as plt

plt.imshow(torch.rand(20, 20))
plt.colorbar()
plt.show()
"""
HANGS = "def {}(*arguments, **named):\n    while True:\n        pass\n"
CRASHES = "import os\n\n\ndef {}(*arguments, **named):\n    os._exit(1)\n"


def notebooks_of_class(course: Course, assignment: str) -> Notebooks:
    """The notebooks that students of each kind submit in turn."""
    release, right = course.read("release", assignment), solutions(course.read("source", assignment))
    exercises = course.exercises(assignment)
    demo = {student: {**right, **own} for student, own in answers_of_all(assignment).items()}
    unlucky = list(exercises)[len(exercises) // 3]  # has exercises before and after it
    entry = exercises[unlucky].entry
    answers: dict[str, list[Answers]] = {
        "right": [demo[student] for student in RIGHT],
        "named": [demo[student] for student in demo if student not in (*RIGHT, HAS_AN_ENDLESS_LOOP)],
        "unnamed": list(itertools.islice(_slips(release, right, exercises), UNNAMED)),
        "untouched": [{}],
        "plots": [right],
        "crashes": [{**right, unlucky: CRASHES.format(entry)}],
        "hangs": [{**right, unlucky: HANGS.format(entry)}],
    }
    filled = {kind: [fill_in(release, each) for each in several] for kind, several in answers.items()}
    for notebook in filled["plots"]:
        notebook.cells.append(nbformat.v4.new_code_cell(PLOT))
    return {kind: list(map(nbformat.writes, several)) for kind, several in filled.items()}


def members(notebooks: Notebooks) -> Iterator[tuple[str, str]]:
    """Endless students, named after their kind, each with a notebook. The first N have about the same mix for any N."""
    places = [
        ((index + 0.5) / count, kind) for kind, count in MIX.items() if kind in notebooks for index in range(count)
    ]
    turns = {kind: itertools.cycle(several) for kind, several in notebooks.items()}
    for number, (_, kind) in enumerate(itertools.cycle(sorted(places)), start=1):
        yield f"s{number:04}-{kind}", next(turns[kind])


def kind(student: str) -> str:
    return student.split("-")[1]


def _slips(release: NotebookNode, right: Answers, exercises: Exercises) -> Iterator[Answers]:
    """Right solutions with one word replaced, if that is no known mistake: at most one for each exercise."""
    demos = demos_of(release)
    for label in right:
        text = StudentText(right[label])
        edits = [edit for edit in edits_of(text) if edit.cost == 1 and not edit.is_fitted]
        for edit in edits[:: max(1, len(edits) // TRIED)]:
            slip = text.with_splices(*edit.splices)
            verdicts = grade_notebook(fill_in(release, {**right, label: slip}), None, Settings(exercises), demos)
            if any(one.exercise == label and one.reason in (Reason.LOCATED, Reason.WRONG) for one in verdicts):
                yield {**right, label: slip}
                break
