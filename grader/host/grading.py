"""Grade one submission: run its cells in a sandbox, ask the hidden cases at each test cell, judge the answers."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import nbformat
import torch
from nbformat import NotebookNode

from grader.course.loading import earlier_functions
from grader.decide import Code, decide
from grader.facts.definitions import Definitions, defined_in
from grader.host.limits import Time
from grader.host.notebook_settings import Settings
from grader.host.patience import while_short
from grader.host.replies import CellResult
from grader.host.sandbox_process import SandboxLost, SandboxProcess
from grader.host.trial import Trial
from grader.judging.answer_key import AnswerKey
from grader.judging.best_verdict import combine
from grader.judging.judge import Judge
from grader.judging.judging_time import JudgingTime
from grader.judging.ordinary_scores import Failure, Test, countable_outputs, judge_test, shorten_outputs
from grader.model.answer import Answer, Loss, Lost, Missing, not_run, sentence_of
from grader.model.denied import DeniedCall
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.model.ordinary import OrdinaryTests
from grader.model.submission import Files
from grader.model.verdict import Reason, Verdict
from grader.notebooks.cells import (
    METADATA_KEY,
    STOPPED,
    is_ordinary_test,
    is_test_cell,
    points_of,
    tested_exercise,
)
from grader.notebooks.outputs import size_of
from grader.notebooks.verdict_cells import blocked_output, verdict_output, verdict_outputs
from grader.repair.version import Version

# Modules that are loaded before a sandbox forks, since loading takes long and the notebook will need them.

# The first optimizer loads PyTorch's compiler, which takes a second, and 100 MB that sandboxes would not share.
_BY_WORD = {"optim": "torch._dynamo"}


def worth_loading(sources: Iterable[str]) -> list[str]:
    """The modules to load beforehand, judging by the cells of a notebook. It only saves time."""
    text = "\n".join(sources)
    return [module for word, module in _BY_WORD.items() if word in text]


def new_sandbox(sources: Sequence[str], files: Files, settings: Settings, time: Time) -> SandboxProcess:
    """A sandbox for a notebook with these cells, with files beside it."""
    modules = worth_loading(sources)

    def start() -> SandboxProcess:
        sandbox = SandboxProcess(
            files, settings.limits, settings.device, settings.confined, settings.hidden, modules, settings.by_user, time
        )
        if settings.device != "cpu":  # other sandboxes may hold all its memory
            sandbox.wait_or_close()
        return sandbox

    return while_short(start, until=time.ends_at)


# The seed from which the hidden cases of one submission are drawn.


def seed_of_submission(seed: str, student: str, sources: Sequence[str], files: Files) -> int:
    """A seed for these cells and files: the same each time they are graded.

    Everything that the code can see goes in, with its length: students who write anything that they learned from
    earlier inputs into it get other inputs.
    """
    contents = [text.encode("utf-8", "replace") for text in (seed, student, *sources, "")]
    for path in sorted(files):
        contents += [os.fsencode(path), files[path]]
    digest = hashlib.sha256()
    for content in contents:
        digest.update(b"%d " % len(content) + content)
    return int.from_bytes(digest.digest()[:8], "big")


# Ordinary tests, which run in the sandbox with the student's code.


class RunningTests:
    """The ordinary tests of a notebook: what each uses, and whether the student's process has seen a hidden one."""

    def __init__(self, tests: OrdinaryTests, cells: Sequence[NotebookNode]) -> None:
        self._tests = tests
        self._count = len(cells)
        self._uses: dict[str, dict[str, object]] = {}  # by the source of each test that has begun
        self._had_hidden = False

    def __bool__(self) -> bool:
        return self._count > 0

    def begin(self, cell: NotebookNode) -> str:
        """The source of a test whose turn has come. Until then, the sandbox sees nothing of it."""
        self._had_hidden = self._had_hidden or self._tests.hides(cell.source)
        self._uses[cell.source] = self._tests.what_it_uses(cell.source)
        return str(cell.source)

    def uses(self, source: str) -> dict[str, object] | None:
        """The values that a test must find unchanged, also when it runs again; None for any other cell."""
        return self._uses.get(source)

    def judge(self, cell: NotebookNode, result: CellResult, lost: Lost | None) -> tuple[list[NotebookNode], Verdict]:
        """The outputs of a test, in the form that nbgrader counts, and the verdict."""
        test = Test(
            str(cell.metadata["nbgrader"]["grade_id"]), cell.source, points_of(cell),
            self._tests.visible_lines(cell.source),
        )  # fmt: skip
        failure = None
        if result.error:
            # IPython does not count blank lines at the start of a cell.
            blank_lines = cell.source[: len(cell.source) - len(cell.source.lstrip())].count("\n")
            kind, _, message = result.error.partition(": ")
            line = result.line and result.line + blank_lines
            failure = Failure(result.kind or kind, result.message or message, line)
        if lost:
            text = sentence_of(lost)
            outputs = [nbformat.v4.new_output("error", ename="CellStopped", evalue=text, traceback=[text])]
        else:
            outputs = countable_outputs(result.outputs, failure, self._tests.unheard)
        return judge_test(test, outputs, failure, lost, trusted=not self._had_hidden, changed=result.changed)


AFTER_LOSS = 2.0  # seconds of computing for a cell or a case, once one has hung or crashed
MAX_OUTPUT = 20 * 2**20  # characters, in all outputs of a notebook together


def grade_notebook(
    notebook: NotebookNode,
    files: Files | None = None,
    settings: Settings | None = None,
    demos: frozenset[str] = frozenset(),
) -> list[Verdict]:
    """Run a sanitised notebook, write its outputs into it, and return the verdicts.

    `files` lie beside the notebook, which may import them; cells whose source is in `demos` are not run.
    """
    grading = Grading(notebook, files or {}, settings or Settings(), demos)
    try:
        return grading.run()
    finally:
        grading.close()


class Grading:
    """One submission on its way through a sandbox."""

    def __init__(
        self, notebook: NotebookNode, files: Files, settings: Settings, demos: frozenset[str] = frozenset()
    ) -> None:
        torch.set_num_threads(1)  # tensors are small here: threads would only wait for one another
        self.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.numbers = {id(cell): number for number, cell in enumerate(self.cells, start=1)}
        self.files = files
        self.settings = settings
        self.ordinary = RunningTests(settings.ordinary, [cell for cell in self.cells if self._is_ordinary(cell)])
        self.demos = frozenset() if self.ordinary else demos  # a test may use what they define
        self.seed = seed_of_submission(settings.seed, settings.student, [cell.source for cell in self.cells], files)
        self.limits = settings.limits
        # Searches for a mistake get the same time again, so that cells and answers lose none of theirs; by the clock,
        # both end at once.
        submission, patience, waiting = self.limits.submission, self.limits.patience, self.limits.waiting
        self.time, self.search_time = (Time(submission, patience, waiting=waiting) for _ in range(2))
        self.sandbox = self._new_sandbox(self.time)
        self.without_autograd: SandboxProcess | None = None  # while an exercise is decided that does without
        self.judge = Judge(settings.device, JudgingTime(settings.judging))
        self.skipped: list[NotebookNode] = []  # demos that no other cell has needed so far
        self.finished_sources: list[str] = []  # sources of the cells that finished, to run again after a loss
        self.failed_cells: dict[str, Missing] = {}  # by function: why its cell failed
        self.definitions = Definitions()
        self.lost_functions: set[str] = set()  # functions that hung or crashed
        self.output_left = MAX_OUTPUT
        self.denied: list[DeniedCall] = []  # denied calls that no output shows so far
        self.shown_calls: set[DeniedCall] = set()
        self.verdicts: list[Verdict] = []

    def run(self) -> list[Verdict]:
        for cell in self.cells:
            if self._is_ordinary(cell):
                self.verdicts.append(self._run_test(cell))
            elif is_test_cell(cell):
                verdict = self._verdict(cell)
                cell.outputs = [*self._blocked_outputs(), *verdict_outputs(verdict, points_of(cell))]
                self.verdicts.append(verdict)
            elif cell.source in self.demos:
                cell.outputs = []
                self.skipped.append(cell)
                continue
            else:
                self._run(cell)
            cell.execution_count = self.numbers[id(cell)]
        return [verdict for verdict in self.verdicts if verdict.exercise is not None]

    def close(self) -> None:
        self._close_without_autograd()
        self.sandbox.close()

    def _is_ordinary(self, cell: NotebookNode) -> bool:
        return is_ordinary_test(cell, self.settings.exercises)

    def _new_sandbox(self, time: Time) -> SandboxProcess:
        return new_sandbox(
            [cell.source for cell in self.cells], self.files, replace(self.settings, limits=self.limits), time
        )

    def _new_sandbox_without_autograd(self, time: Time) -> SandboxProcess:
        sandbox = self._new_sandbox(time)
        sandbox.take_autograd_away(self.limits.cell)
        return sandbox

    def _run(self, cell: NotebookNode) -> None:
        """Run a cell, written by the student or given, and keep its outputs."""
        self.definitions.note(cell.source)
        if self.time.is_over:
            cell.outputs = [_error_output("NotRun", not_run("this cell", self.time.waited_too_long))]
            return
        try:
            result = self._run_in(self._alive(), cell.source, self.limits.cell, self.numbers[id(cell)])
        except SandboxLost as error:
            lost = self._attribute(error.lost)
            cell.outputs = [_error_output("CellStopped", sentence_of(lost)), *self._blocked_outputs()]
            cell.metadata[METADATA_KEY] = {STOPPED: asdict(lost)}  # students can raise an error of that name
            self._note_failure(cell.source, Missing(sentence_of(lost), lost))
            return
        if result.kind == "NameError" and self.skipped:
            self._run_again_after_demos(cell)
            return
        cell.outputs = self._fit(result.outputs) + self._blocked_outputs()
        self.finished_sources.append(cell.source)
        if result.error:
            reason = f"The cell with the definition stopped with {result.error}"
            self._note_failure(cell.source, Missing(reason, error=result.kind))

    def _run_in(self, sandbox: SandboxProcess, source: str, seconds: float, number: int | None = None) -> CellResult:
        return sandbox.run_cell(source, seconds, number, self.ordinary.uses(source))

    def _run_test(self, cell: NotebookNode) -> Verdict:
        """Run an ordinary test in the student's sandbox, and judge its outputs."""
        result = CellResult([])
        lost: Lost | None = Lost(Loss.NOT_RUN, self.time.waited_too_long)
        if not self.time.is_over:
            try:
                seconds = self.settings.limits.cell
                result = self._run_in(self._alive(), self.ordinary.begin(cell), seconds, self.numbers[id(cell)])
                lost = None
                self.finished_sources.append(cell.source)
            except SandboxLost as error:
                lost = self._attribute(error.lost)
        outputs, verdict = self.ordinary.judge(cell, result, lost)
        self.output_left -= size_of(outputs)
        if self.output_left <= 0:
            outputs = shorten_outputs(outputs)
        cell.outputs = [*self._blocked_outputs(), verdict_output(verdict, points_of(cell)), *outputs]
        return verdict

    def _attribute(self, lost: Lost) -> Lost:
        """The loss; a timeout is put down to the notebook if that took too long as a whole."""
        is_of_all = lost.loss.is_timeout and lost.loss not in (Loss.IDLE, Loss.ENDLESS) and self.time.is_over
        return Lost(Loss.NOTEBOOK) if is_of_all else lost

    def _fit(self, outputs: list[NotebookNode]) -> list[NotebookNode]:
        self.output_left -= size_of(outputs)
        if self.output_left > 0:
            return outputs
        return [_error_output("TooMuchOutput", "The notebook has too much output in total, so this is left out.")]

    def _blocked_outputs(self) -> list[NotebookNode]:
        denied = list(dict.fromkeys(self.denied + self.sandbox.take_denied()))
        self.denied = []
        self.shown_calls.update(denied)
        return [blocked_output(denied)] if denied else []

    def _run_again_after_demos(self, cell: NotebookNode) -> None:
        """Run the skipped demos, then the cell again: students who use what a demo defines lose no points."""
        skipped, self.skipped = self.skipped, []
        for cell_to_run in [*skipped, cell]:
            self._run(cell_to_run)

    def _alive(self) -> SandboxProcess:
        """A sandbox that has run all cells so far, except those that broke one."""
        if not self.sandbox.alive:
            self._hurry()
            self._start_again()
            self._replay()
        return self.sandbox

    def _hurry(self) -> None:
        """Wait less from now on: running cells again takes milliseconds, and code that hung once is called again."""
        case, cell = min(self.limits.case, AFTER_LOSS), self.limits.cell
        if not self.ordinary:
            cell = min(cell, AFTER_LOSS)
        self.limits = replace(self.limits, case=case, cell=cell)

    def _alive_without_autograd(self) -> SandboxProcess:
        """A sandbox in which autograd was gone before all cells ran. SandboxLost is raised if one breaks it."""
        if self.without_autograd is not None and self.without_autograd.alive:
            return self.without_autograd
        if self.without_autograd is not None:
            self._hurry()
            self._close_without_autograd()
        self.without_autograd = self._new_sandbox_without_autograd(self.time)
        for source in self.finished_sources:
            self._run_in(self.without_autograd, source, self.limits.cell)
        return self.without_autograd

    def _close_without_autograd(self) -> None:
        if self.without_autograd is not None:
            self.without_autograd.close()
            self._note_new_calls(self.without_autograd)
            self.without_autograd = None

    def _start_again(self) -> None:
        self.sandbox.close()
        self.denied += self.sandbox.take_denied()
        self.sandbox = self._new_sandbox(self.time)

    def _replay(self) -> None:
        """Run all cells again, and drop those that break the sandbox this time, on purpose or by chance."""
        while not self.time.is_over:
            breaking_source = self._run_until_one_breaks()
            self._note_new_calls(self.sandbox)
            if breaking_source is None:
                return
            self.finished_sources.remove(breaking_source)
            self._start_again()

    def _run_until_one_breaks(self) -> str | None:
        """Run all cells, up to the first one that breaks the sandbox: its source."""
        for source in self.finished_sources:
            try:
                self._run_in(self.sandbox, source, self.settings.limits.cell)
            except SandboxLost:
                return source
        return None

    def _note_new_calls(self, sandbox: SandboxProcess) -> None:
        """Note calls that were denied only in a second run: code can find out that it is not the first."""
        self.denied += [call for call in sandbox.take_denied() if call not in self.shown_calls]

    def _note_failure(self, source: str, failure: Missing) -> None:
        for name in defined_in(source):
            self.failed_cells[name] = failure

    def _verdict(self, cell: NotebookNode) -> Verdict:
        label = tested_exercise(cell)
        exercise = self.settings.exercises.get(label) if label else None
        if exercise is None:
            sentence = "This test does not belong to an exercise that the grader knows, so nothing was compared."
            return Verdict(None, str(cell.metadata["nbgrader"].get("grade_id")), 0.0, Reason.NO_ANSWER, (sentence,))
        return self.verdict_on(exercise)

    def verdict_on(self, exercise: Exercise) -> Verdict:
        """The verdict on all functions of an exercise, as they are now."""
        return combine({function.entry: self._decide(function) for function in exercise.functions})

    def _decide(self, exercise: Exercise) -> Verdict:
        code = Code(
            self.definitions,
            ask=functools.partial(self.ask, exercise),
            explain=self.explain,
            hung=frozenset(self.lost_functions),
        )
        earlier = earlier_functions(self.settings.exercises, exercise)
        try:
            return decide(exercise, earlier, code, self.judge, self.seed)
        finally:
            self._close_without_autograd()

    def explain(self, key: AnswerKey, standins: Standins) -> Version | Verdict | None:
        """Explain a mistake by small changes to the one cell that defines the function."""
        source = self.definitions.only_source(key.exercise.entry)
        if source is None or self.time.is_over:
            return None
        has_autograd = key.exercise.form.has_autograd
        make_sandbox = self._new_sandbox if has_autograd else self._new_sandbox_without_autograd
        trial = Trial(make_sandbox, self.search_time, self.finished_sources, key, standins)
        return trial.explain(source, self.settings.device)

    def ask(self, exercise: Exercise, cases: Sequence[SampledCase], standins: Standins) -> list[Answer]:
        """Put cases to the student's code for an exercise."""
        if self.time.is_over:
            return [Lost(Loss.NOT_RUN, self.time.waited_too_long)] * len(cases)
        try:
            sandbox = self._alive() if exercise.form.has_autograd else self._alive_without_autograd()
            replies = sandbox.answers(
                exercise.entry, cases, standins, exercise.form.name, self.limits.case, exercise.probe_text
            )
            answers = [self._add_reason(exercise, answer) for answer in replies]
        except SandboxLost as error:
            answers = [self._attribute(error.lost)]
        if isinstance(answers[-1], Lost):
            self.lost_functions.add(exercise.entry)
        # Code that hangs once may hang every time: do not wait again.
        return answers + answers[-1:] * (len(cases) - len(answers))

    def _add_reason(self, exercise: Exercise, answer: Answer) -> Answer:
        """An answer; if it is missing or lost, with the reason that is known here."""
        if isinstance(answer, Missing):
            return self.failed_cells.get(exercise.entry, answer)
        return self._attribute(answer) if isinstance(answer, Lost) else answer


def _error_output(name: str, text: str) -> NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
