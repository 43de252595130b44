"""Try changed versions of a student's definitions, in sandboxes that are thrown away afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.facts.definitions import defined_in
from grader.host.limits import Time
from grader.host.replies import AnswersOfEdited
from grader.host.sandbox_process import SandboxLost, SandboxProcess
from grader.judging.answer_key import AnswerKey
from grader.model.answer import Answer
from grader.model.edited import EditedSource
from grader.model.exercise import SampledCase, Standins
from grader.model.verdict import Verdict
from grader.repair.locating import LineSearch, TrialEnded
from grader.repair.version import Version

MOST_LOST = 2  # sandboxes that changed code may hang or break
SECONDS = 3.0  # of processor time for one request with several versions
SECONDS_IN_ALL = 5.0  # of one sandbox, with all cells
PATIENCE = 10  # all may take this many times as long by the clock


@dataclass
class Trial:
    """Sandboxes that have run all cells, made when needed, with a share of the time that is left."""

    make_sandbox: Callable[[Time], SandboxProcess]
    time_left: Time
    cells: Sequence[str]
    key: AnswerKey
    standins: Standins
    lost: int = 0
    sandbox: SandboxProcess | None = None
    time: Time = field(init=False)
    answers: AnswersOfEdited = field(init=False)

    def __post_init__(self) -> None:
        self.time = Time(SECONDS_IN_ALL * (MOST_LOST + 1), PATIENCE / (MOST_LOST + 1), self.time_left)
        self.answers = AnswersOfEdited(self.key.exercise.form.name)

    def explain(self, source: str, device: str) -> Version | Verdict | None:
        """A change to this cell that makes all answers right, or a verdict that such changes lead to."""
        names = dict.fromkeys(name for cell in self.cells for name in defined_in(cell))
        functions = [name for name in names if name != self.key.exercise.entry]
        try:
            return LineSearch(self.key, self.ask, device, functions).explain(source)
        finally:
            self.close()

    def ask(self, versions: Sequence[EditedSource], case: SampledCase) -> list[Answer]:
        """The answers of versions of the student's definitions to a case. If one breaks the sandbox, all are lost."""
        if self._is_given_up:
            raise TrialEnded
        try:
            sandbox, exercise = self._ready(), self.key.exercise
            if sandbox.cpu_seconds > SECONDS_IN_ALL:
                raise TrialEnded
            return sandbox.answers_of_edited(
                exercise.entry, case, versions, self.standins, self.answers, SECONDS, exercise.probe_text
            )
        except SandboxLost as lost:
            self.lost += 1
            if self._is_given_up:
                raise TrialEnded from lost
            self.close()
            return [lost.lost] * len(versions)

    def close(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None

    @property
    def _is_given_up(self) -> bool:
        return self.lost > MOST_LOST or self.time.is_over

    def _ready(self) -> SandboxProcess:
        if self.sandbox is None:
            self.sandbox = self.make_sandbox(self.time)
            for source in self.cells:
                self.sandbox.run_cell(source, SECONDS_IN_ALL)
        return self.sandbox
