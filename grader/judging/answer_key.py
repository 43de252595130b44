"""What the reference and the misconceptions answer in some cases: computed when it is asked for, and once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grader.model.answer import Raised, Returned
from grader.model.exercise import Exercise, Glance, Misconception, SampledCase, changes_of

Held = Sequence[Misconception]  # one misconception, or two at once


class AnswerKey:
    """The cases of an exercise with what may be answered to them."""

    def __init__(self, exercise: Exercise, cases: Sequence[SampledCase]) -> None:
        self.exercise = exercise
        self.cases = cases
        self._wrong: dict[tuple[str, int], Returned | Raised] = {}
        self._glances: dict[int, Glance] = {}
        self._outputs: dict[tuple[str, int], Any] = {}

    @functools.cached_property
    def expected(self) -> list[Any]:
        """What is compared of the reference's answer to each case."""
        exercise = self.exercise
        return [exercise.reading(exercise.reference(*case.inputs), case.inputs) for case in self.cases]

    def wrong(self, held: Held, index: int) -> Returned | Raised:
        """What is compared of the answer that these misconceptions give to a case."""
        if len(held) > 1:  # pairs are thousands, and hardly ever asked for twice
            return self._read(held, index)
        place = (held[0].name, index)
        if place not in self._wrong:
            self._wrong[place] = self._read(held, index)
        return self._wrong[place]

    def answer(self, held: Held, index: int) -> Returned | Raised:
        """What a student's code would answer."""
        inputs = self.cases[index].inputs
        try:
            return Returned(self.exercise.wrong_answer(held, inputs), list(inputs))
        except Exception as error:  # some mistakes cannot be computed for some sizes
            return Raised(type(error).__name__)

    def output(self, held: Held, index: int) -> Any:
        """The output at a glance at a case, of the reference if nothing is held; None where it cannot be computed."""
        if len(held) > 1:
            return self._look(held, index)
        place = (held[0].name if held else "", index)
        if place not in self._outputs:
            self._outputs[place] = self._look(held, index)
        return self._outputs[place]

    def _read(self, held: Held, index: int) -> Returned | Raised:
        answer = self.answer(held, index)
        if isinstance(answer, Raised):
            return answer
        return replace(answer, value=self.exercise.reading(answer.value, self.cases[index].inputs))

    def _look(self, held: Held, index: int) -> Any:
        if index not in self._glances:
            assert self.exercise.glance
            self._glances[index] = self.exercise.glance(*self.cases[index].inputs)
        try:
            return self._glances[index](changes_of(held))
        except Exception:  # such code would have failed, and the student's did not
            return None
