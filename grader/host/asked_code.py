"""Questions about the code in a submission that is right: it runs in sandboxes that are thrown away afterwards."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbformat import NotebookNode

from grader.explaining.case_inputs import inputs_to_ask_about
from grader.explaining.code_questions import questions_about
from grader.explaining.note_writing import ANSWER
from grader.explaining.observed import NotObserved, Observed, read_observed
from grader.explaining.question import CodeQuestion
from grader.explaining.subject import Subject
from grader.facts.definitions import Definitions
from grader.host.grading import new_sandbox
from grader.host.limits import Time
from grader.host.notebook_settings import Settings
from grader.host.replies import AnswersOfEdited
from grader.host.sandbox_process import SandboxProcess
from grader.model.answer import Answer, Returned
from grader.model.edited import EditedSource
from grader.model.exercise import Case, Exercise, SampledCase
from grader.model.submission import Files
from grader.notebooks.cells import demos_of, is_test_cell

SECONDS = 3.0  # of processor time for one request
SECONDS_IN_ALL = 6.0  # of one sandbox, with all cells
PATIENCE = 10  # it may take this many times as long by the clock
OF_A_FUNCTION = 2  # questions, at most, where there are others to ask about
_CASE = Case("questions about the code", "", inputs=lambda _: ())


@dataclass(frozen=True)
class AskedExercise:
    """A right exercise, the code for it, and the questions about that code; none if none could be made."""

    exercise: Exercise
    source: str
    questions: Sequence[CodeQuestion]

    @property
    def heading(self) -> str:
        return f"Exercise {self.exercise.label}: {self.exercise.title}"


def ask_student(
    student: str,
    notebooks: Sequence[NotebookNode],
    files: Files,
    settings: Settings,
    exercises: Sequence[Exercise],
    count: int,
    known_entries: Collection[str] = (),
) -> list[AskedExercise]:
    """At most `count` questions about these exercises, whose code is right: which of them come first is by chance.

    Functions and classes of the `known_entries` are left out.
    """
    shuffled = list(exercises)
    random.Random(student).shuffle(shuffled)
    asked_exercises: list[AskedExercise] = []
    missing = count
    for notebook in notebooks:
        for asked_exercise in ask_about(
            notebook, files, replace(settings, student=student), shuffled, OF_A_FUNCTION, known_entries
        ):
            questions = asked_exercise.questions[:missing]
            asked_exercises.append(replace(asked_exercise, questions=questions))
            missing -= len(questions)
            if not missing:
                return asked_exercises
    return asked_exercises


def ask_about(
    notebook: NotebookNode,
    files: Files,
    settings: Settings,
    exercises: Sequence[Exercise],
    count: int,
    known_entries: Collection[str] = (),
) -> Iterator[AskedExercise]:
    """At most `count` questions for each function of these exercises, whose code in the notebook is right."""
    demos = demos_of(notebook)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code" and not is_test_cell(cell)]
    cells = [cell.source for cell in codes if cell.source not in demos]
    definitions = Definitions(last_counts=True)
    for source in cells:
        definitions.note(source)
    for exercise in exercises:
        for function in exercise.functions:
            if function.entry in known_entries:
                continue
            source = definitions.only_source(function.entry) or ""
            questions = _questions(cells, source, function, files, settings, count) if source else []
            yield AskedExercise(function, source, questions)


def _questions(
    cells: Sequence[str], source: str, function: Exercise, files: Files, settings: Settings, count: int
) -> list[CodeQuestion]:
    """The questions about one function; none if its code hangs, or is not what it seems."""
    cases = inputs_to_ask_about(function)
    if not cases:
        return []
    time = Time(SECONDS_IN_ALL, PATIENCE, waiting=SECONDS)
    with contextlib.closing(new_sandbox(cells, files, settings, time)) as sandbox:
        try:
            for cell in cells:
                sandbox.run_cell(cell, SECONDS_IN_ALL)
            subject = Subject(source, function.entry, cases)
            return questions_about(subject, _SandboxRuns(sandbox), settings.student, count)
        except Exception:  # what comes back may be anything: hostile code has no questions, and harms nobody
            return []


class _SandboxRuns:
    """Runs versions of a cell in a sandbox."""

    def __init__(self, sandbox: SandboxProcess) -> None:
        self._sandbox = sandbox

    def __call__(self, sources: Sequence[str], request: dict[str, Any]) -> list[Sequence[Observed] | None]:
        if self._sandbox.cpu_seconds > SECONDS_IN_ALL:
            return [None] * len(sources)
        case, versions = SampledCase(_CASE, (request,)), list(map(EditedSource, sources))
        answers = self._sandbox.answers_of_edited(ANSWER, case, versions, {}, AnswersOfEdited("function"), SECONDS)
        return list(map(_runs_in, answers))


def _runs_in(answer: Answer) -> Sequence[Observed] | None:
    if not isinstance(answer, Returned) or not isinstance(answer.value, list):
        return None
    try:
        return list(map(read_observed, answer.value))
    except NotObserved:
        return None
