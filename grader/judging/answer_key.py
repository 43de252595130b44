"""What the reference and the misconceptions answer in some cases: computed when it is asked for, and once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from grader.judging.case_key import CaseKey, Held
from grader.model.answer import Raised, Returned, answered
from grader.model.exercise import Exercise, SampledCase


class AnswerKey:
    """The cases of an exercise with what may be answered to them."""

    def __init__(self, exercise: Exercise, cases: Sequence[SampledCase | CaseKey]) -> None:
        self.exercise = exercise
        self._keys = [case if isinstance(case, CaseKey) else CaseKey(exercise, case) for case in cases]
        self.cases = [key.case for key in self._keys]

    def only(self, indices: Iterable[int]) -> AnswerKey:
        """The same for some of the cases, with all that has been computed for them, and will be."""
        return AnswerKey(self.exercise, [self._keys[index] for index in indices])

    def short(self) -> AnswerKey:
        """The same without cases that promise memory, which are long, and show no mistakes that the others do not."""
        short = [index for index, case in enumerate(self.cases) if not case.case.promise]
        return self.only(short) if len(short) < len(self.cases) else self

    def split(self) -> tuple[AnswerKey, AnswerKey]:
        """The first case and all others: hardly any code that is asked again in another way gets beyond the first."""
        return self.only([0]), self.only(range(1, len(self.cases)))

    @functools.cached_property
    def expected(self) -> list[Any]:
        """What is compared of the reference's answer to each case."""
        return [key.expected for key in self._keys]

    @functools.cached_property
    def about_numbers(self) -> list[int]:
        """The cases but those about what is asked for beside right numbers."""
        return [index for index, case in enumerate(self.cases) if not case.case.beside]

    def answer(self, held: Held, index: int) -> Returned | Raised:
        """What a student's code with these misconceptions would answer to a case."""
        return self._keys[index].answer(held)

    def wrong(self, held: Held, index: int) -> Returned | Raised:
        """What is compared of it."""
        return self._keys[index].wrong(held)

    def output(self, held: Held, index: int) -> Any:
        """The output at a glance at a case, of the reference if nothing is held; None where it cannot be computed."""
        return self._keys[index].output(held)

    def seconds(self, index: int) -> float:
        """That computing what is expected took."""
        return self._keys[index].seconds

    def is_soon_computed(self, index: int) -> bool:
        """Whether nothing in a case takes long."""
        return self._keys[index].is_soon_computed

    def soon(self, held: Held, index: int) -> Returned | Raised:
        """What is compared of what can soon be computed."""
        return self._keys[index].soon(held)

    def changed(self, changes: Mapping[str, Any], index: int) -> Any:
        """What is compared of what the reference soon computes with these steps; None if it fails. It is not kept."""
        return self._keys[index].changed(changes)

    def changed_at_first(self, changes: Mapping[str, Any], index: int) -> Any:
        """The same at a glance, if there is one."""
        return self._keys[index].changed_at_first(changes)


def answers_of_code(cases: Sequence[SampledCase], code: Callable[..., Any]) -> list[Returned | Raised]:
    """What code answers to these cases, as if it were a student's."""
    return [answered(functools.partial(code, *case.inputs), case.inputs) for case in cases]
