"""Hidden tests in an instructor's own kernel, called by the test cells of `source/`.

The kernel's own functions answer the cases, and the verdict is the one that a student with this code would get.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import torch
from nbformat import NotebookNode

from grader.course.folder import CONFIG_FILE, Course, open_course
from grader.course.loading import Exercises, earlier_functions, in_order_of
from grader.decide import Code, decide
from grader.errors import CourseError
from grader.facts.definitions import Definitions, defined_in
from grader.host.notebook_settings import settings_for
from grader.host.scratch import files_for_students
from grader.host.zygote_process import ZygoteError
from grader.judging.answer_key import AnswerKey
from grader.judging.best_verdict import combined
from grader.judging.judge import Judge
from grader.model.answer import Answer, Missing, Raised, Returned
from grader.model.exercise import DEFAULT_SEED, Exercise, Inputs, LentClass, SampledCase, Standins
from grader.model.label import Label
from grader.model.verdict import Verdict
from grader.notebooks.cells import tested_exercise
from grader.notebooks.modules_beside import for_students
from grader.notebooks.verdict_cells import verdict_panel
from grader.repair.version import Version
from grader.sandbox.confine import CannotConfineError
from grader.sandbox.forms import put
from grader.sandbox.lent_classes import lent_class
from grader.sandbox.shell import described
from grader.solutions.chance import shared_generators

if TYPE_CHECKING:
    from grader.host.grading import Grading


def hidden_tests(label: Label, points: float) -> float:
    """Judge what the calling notebook defines for an exercise of its assignment, and show the verdict.

    The notebook is in a folder named after the assignment, somewhere in the course folder, such as source/week1.

    Returns the points. nbgrader takes them as the score if it runs the notebook without our parts.
    """
    from IPython.display import display

    variables = sys._getframe(1).f_globals
    course = _course_here()
    cells = _cells_here()
    exercises = in_order_of(course.exercises(Path.cwd().name), map(tested_exercise, cells))
    if label not in exercises:
        raise CourseError(f"There is no exercise {label} in {Path.cwd().name}.")
    with ExitStack() as until_told:
        kernel = _Kernel(course, exercises, cells, variables, until_told)
        verdict = combined({function.entry: kernel.decide(function) for function in exercises[label].functions})
    earned = verdict.points(points)
    display(verdict_panel(verdict, f"{earned:g} of {points:g} points"), raw=True)  # type: ignore[no-untyped-call]
    return earned


def _course_here() -> Course:
    """Open the course afresh each time: a kernel lives for days, while its author edits exercise files."""
    for root in Path.cwd().parents:
        if (root / CONFIG_FILE).is_file():
            return open_course(root)
    raise CourseError(f"{Path.cwd()} is not in a course folder, so it cannot be graded.")


def _cells_here() -> list[NotebookNode]:
    return [cell for path in sorted(Path.cwd().glob("*.ipynb")) for cell in nbformat.read(path, 4).cells]


class _Kernel:
    """Everything that the kernel has defined so far, judged like a student's code."""

    def __init__(
        self,
        course: Course,
        exercises: Exercises,
        cells: Sequence[NotebookNode],
        variables: dict[str, Any],
        until_told: ExitStack,
    ) -> None:
        self._course = course
        self._exercises = exercises
        self._variables = variables
        self._until_told = until_told
        written = {cell.source: cell for cell in cells if cell.cell_type == "code"}
        ran = _still_valid(variables.get("In", []))
        self._cells = [written.get(source) or nbformat.v4.new_code_cell(source) for source in ran]
        self._files = files_for_students(Path.cwd())
        self._definitions = Definitions(last_counts=True)
        for cell in self._cells:
            cell.source = for_students(cell.source)
            self._definitions.note(cell.source)

    def decide(self, exercise: Exercise) -> Verdict:
        code = Code(
            self._definitions,
            ask=functools.partial(self._ask, exercise),
            explain=self._explain,
        )
        return decide(exercise, earlier_functions(self._exercises, exercise), code, Judge(), DEFAULT_SEED)

    def _ask(self, exercise: Exercise, drawn: Sequence[SampledCase], standins: Standins) -> list[Answer]:
        if not exercise.form.has_autograd and self._elsewhere is not None:
            return self._elsewhere.ask(exercise, drawn, standins)
        lent = {name: lent_class(name, one) if isinstance(one, LentClass) else one for name, one in standins.items()}
        return [
            self._with({**lent, **case.lent}, functools.partial(_answer, exercise, self._variables, case.inputs))
            for case in drawn
        ]

    def _with(self, lent: Mapping[str, Any], ask: Callable[[], Answer]) -> Answer:
        """Ask while these replace the kernel's own variables of the same names."""
        own = {name: self._variables[name] for name in lent if name in self._variables}
        self._variables.update(lent)
        try:
            return ask()
        finally:
            for name in lent:
                self._variables.pop(name)
            self._variables.update(own)

    def _explain(self, key: AnswerKey, standins: Standins) -> Version | Verdict | None:
        return self._elsewhere.explain(key, standins) if self._elsewhere is not None else None

    @functools.cached_property
    def _elsewhere(self) -> Grading | None:
        """The same cells in a sandbox, for changed code or without autograd; None if this machine cannot start one."""
        from grader.host.grading import Grading  # imports nbconvert; only needed if something is wrong

        notebook = nbformat.v4.new_notebook(cells=self._cells)
        try:
            grading = Grading(notebook, self._files, settings_for(self._course, self._exercises))
        except (CannotConfineError, ZygoteError):
            return None
        self._until_told.callback(grading.close)
        grading.ran = [cell.source for cell in self._cells]
        grading.definitions = self._definitions
        return grading


def _still_valid(ran: Sequence[str]) -> Iterator[str]:
    """The cells that were run, except those whose definitions were all replaced by later cells."""
    last = {name: place for place, source in enumerate(ran) for name in defined_in(source)}
    for place, source in enumerate(ran):
        names = defined_in(source)
        if source.strip() and (not names or any(last[name] == place for name in names)):
            yield source


def _answer(exercise: Exercise, variables: Mapping[str, Any], inputs: Inputs) -> Answer:
    """Put a case to code in this process. It is trusted, since it is the instructor's own."""
    function = variables.get(exercise.entry)
    if not callable(function):
        return Missing()
    given = _copy(list(inputs))
    try:
        with shared_generators(0):  # as in a sandbox
            value = put(exercise.form.name, function, given)
    except Exception as error:
        told = described(error, variables["get_ipython"]().compile)
        return Raised(told["type"], told["message"], told["line"], told["function"])
    return Returned(value, given)


def _copy(value: object) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value
