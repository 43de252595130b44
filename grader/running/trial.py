"""A sandbox of its own in which a student's definitions are tried with changes. Nothing of that is left afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.model.answer import Answer
from grader.model.edited import EditedSource
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.running.sandbox_process import SandboxLost, SandboxProcess

MOST_LOST = 2  # sandboxes that changed code hangs or breaks
CELL_SECONDS = 5.0
SECONDS = 3.0  # for some versions at once


@dataclass
class Trial:
    """Sandboxes in which all cells have run, made when they are needed."""

    make: Callable[[], SandboxProcess]
    cells: Sequence[str]
    exercise: Exercise
    standins: Standins
    lost: int = 0
    sandbox: SandboxProcess | None = None

    def ask(self, versions: Sequence[EditedSource], case: SampledCase) -> list[Answer]:
        """What versions of the student's definitions answer to a case. If one breaks the sandbox, none has answered."""
        try:
            entry, form = self.exercise.entry, self.exercise.form.name
            return self._ready().answers_of_edited(entry, case, versions, self.standins, form, SECONDS)
        except SandboxLost as lost:
            self.lost += 1
            if self.lost > MOST_LOST:
                raise
            self.close()
            return [lost.lost] * len(versions)

    def close(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None

    def _ready(self) -> SandboxProcess:
        if self.sandbox is None:
            self.sandbox = self.make()
            for source in self.cells:
                self.sandbox.run_cell(source, CELL_SECONDS)
        return self.sandbox
