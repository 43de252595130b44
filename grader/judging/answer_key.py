"""What the reference and the misconceptions answer in some cases: computed when it is asked for, and once."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from grader.model.answer import Raised, Returned
from grader.model.exercise import Exercise, Glance, Inputs, Misconception, SampledCase, changes_of

Held = Sequence[Misconception]  # one misconception, or two at once


class AnswerKey:
    """The cases of an exercise with what may be answered to them."""

    def __init__(self, exercise: Exercise, cases: Sequence[SampledCase]) -> None:
        self.exercise = exercise
        self.cases = cases
        self._answers = _ByCase(self._answer)
        self._readings = _ByCase(self._read)
        self._outputs = _ByCase(self._look)
        self._glances: dict[int, Glance] = {}

    @functools.cached_property
    def expected(self) -> list[Any]:
        """What is compared of the reference's answer to each case."""
        values = [self._value((), index) for index in range(len(self.cases))]
        return [self._compared(value, case.inputs) for value, case in zip(values, self.cases, strict=True)]

    @functools.cached_property
    def about_numbers(self) -> list[int]:
        """The cases but those about what is asked for beside right numbers."""
        return [index for index, case in enumerate(self.cases) if not case.case.beside]

    def answer(self, held: Held, index: int) -> Returned | Raised:
        """What a student's code with these misconceptions would answer to a case."""
        return cast(Returned | Raised, self._answers(held, index))

    def wrong(self, held: Held, index: int) -> Returned | Raised:
        """What is compared of it."""
        return cast(Returned | Raised, self._readings(held, index))

    def output(self, held: Held, index: int) -> Any:
        """The output at a glance at a case, of the reference if nothing is held; None where it cannot be computed."""
        return self._outputs(held, index)

    def is_soon_computed(self, index: int) -> bool:
        """Whether nothing in a case takes long."""
        return self._glance(index).whole

    def soon(self, held: Held, index: int) -> Returned | Raised:
        """What is compared of what can soon be computed."""
        glance = self._glance(index)
        try:
            value = _quietly(glance.answer, changes_of(held))
        except Exception as error:
            return Raised(type(error).__name__)
        return Returned(self._compared(value, glance.inputs), [])

    def changed(self, changes: Mapping[str, Any], index: int) -> Any:
        """What is compared of what the reference soon computes with these steps; None if it fails. It is not kept."""
        try:
            if self.exercise.glance:
                glance = self._glance(index)
                return self._compared(_quietly(glance.answer, changes), glance.inputs)
            inputs = self.cases[index].inputs
            return self._compared(self.exercise.changed_answer(changes, inputs), inputs)
        except Exception:
            return None

    def changed_at_first(self, changes: Mapping[str, Any], index: int) -> Any:
        """The same at a glance, if there is one."""
        return self._output(changes, index, once=True) if self.exercise.glance else self.changed(changes, index)

    def _answer(self, held: Held, index: int) -> Returned | Raised:
        try:
            return Returned(self._value(held, index), list(self.cases[index].inputs))
        except Exception as error:  # some mistakes cannot be computed for some sizes
            return Raised(type(error).__name__)

    def _value(self, held: Held, index: int) -> Any:
        if not self.exercise.glance:
            return self.exercise.wrong_answer(held, self.cases[index].inputs)
        return _quietly(self._glance(index).everything, changes_of(held))

    def _read(self, held: Held, index: int) -> Returned | Raised:
        answer = self.answer(held, index)
        if isinstance(answer, Raised):
            return answer
        return replace(answer, value=self._compared(answer.value, self.cases[index].inputs))

    def _compared(self, value: Any, inputs: Inputs) -> Any:
        return self.exercise.form.right_answer(self.exercise.compared(value, inputs))

    def _glance(self, index: int) -> Glance:
        if index not in self._glances:
            assert self.exercise.glance
            self._glances[index] = self.exercise.glance(*self.cases[index].inputs)
        return self._glances[index]

    def _look(self, held: Held, index: int) -> Any:
        return self._output(changes_of(held), index, once=len(held) > 1)

    def _output(self, changes: Mapping[str, Any], index: int, once: bool) -> Any:
        try:
            return _quietly(functools.partial(self._glance(index).output, once=once), changes)
        except Exception:  # such code would have failed, and the student's did not
            return None


def _quietly(compute: Callable[[Mapping[str, Any]], Any], changes: Mapping[str, Any]) -> Any:
    """Wrong code makes torch warn, which is not for who grades."""
    with warnings.catch_warnings(action="ignore"):
        return compute(changes)


class _ByCase:
    """Remembers what one misconception makes of a case. Pairs are thousands, and hardly ever asked for twice."""

    def __init__(self, compute: Callable[[Held, int], Any]) -> None:
        self._compute = compute
        self._known: dict[tuple[str, int], Any] = {}

    def __call__(self, held: Held, index: int) -> Any:
        if len(held) > 1:
            return self._compute(held, index)
        place = (held[0].name if held else "", index)
        if place not in self._known:
            self._known[place] = self._compute(held, index)
        return self._known[place]
