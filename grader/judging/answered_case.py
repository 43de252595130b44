"""A student's answer in one case, beside those of the solution and of misconceptions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey, CaseKey, Hypothesis
from grader.model.answer import Answer, Raised, Returned
from grader.model.compare import same
from grader.model.exercise import Case, Exercise, Inputs
from grader.model.findings import Finding, part_of
from grader.model.forms.parts import IN_PART, first_output, named


@dataclass(frozen=True, eq=False)
class AnsweredCase:
    """The student's answer in one case, what is wrong with it, and what misconceptions would answer."""

    key: AnswerKey
    index: int  # of the case
    answer: Answer
    finding: Finding | None  # what is wrong with the answer
    tolerance: float

    @property
    def exercise(self) -> Exercise:
        return self.key.exercise

    @property
    def case(self) -> Case:
        return self.key.cases[self.index].case

    @property
    def inputs(self) -> Inputs:
        return self.key.cases[self.index].inputs

    @property
    def expected(self) -> Any:
        return self.key.expected[self.index]

    @property
    def name(self) -> str:
        return self.case.name

    @property
    def requirement(self) -> str:
        """What a student reads if the case asks for something besides right numbers; empty if it does not."""
        return self.case.beside

    @property
    def is_about_numbers(self) -> bool:
        """Whether the case asks for right numbers alone."""
        return not self.requirement

    @property
    def is_long(self) -> bool:
        """Whether misconceptions take long to compute here."""
        return self.case.promise is not None

    @property
    def is_wrong(self) -> bool:
        return self.finding is not None

    @property
    def part(self) -> str:
        """The part of the answer that is wrong; empty if none is, or the whole."""
        return part_of(self.finding) if self.finding else ""

    @property
    def is_returned(self) -> bool:
        """Whether the student's code came to its end."""
        return isinstance(self.answer, Returned)

    @property
    def result(self) -> Any:
        """The computed result; None if there is none."""
        return self.exercise.form.result(self.answer.value) if isinstance(self.answer, Returned) else None

    @property
    def _case_key(self) -> CaseKey:
        return self.key[self.index]

    # What misconceptions would answer.

    def is_explained_by(self, hypothesis: Hypothesis) -> bool:
        """Whether code with these misconceptions gives the student's answer, or fails where the student's does."""
        if not isinstance(self.answer, Returned):
            return self.would_fail(hypothesis)
        return self._is_answered_with(self.answer.value, hypothesis)

    def would_fail(self, hypothesis: Hypothesis) -> bool:
        """Whether code with these misconceptions does not come to its end."""
        return isinstance(self._case_key.answer(hypothesis), Raised)

    def would_be_right(self, hypothesis: Hypothesis) -> bool:
        """Whether code with these misconceptions gives the right answer."""
        return self._is_answered_with(self.expected, hypothesis)

    def is_evidence(self, hypothesis: Hypothesis) -> bool:
        """Whether agreeing with these misconceptions means something; errors do not count."""
        wrong = self._case_key.compared_answer(hypothesis)
        return isinstance(wrong, Returned) and self.exercise.form.is_evidence(wrong.value)

    def _is_answered_with(self, value: object, hypothesis: Hypothesis) -> bool:
        wrong, expected = self._case_key.compared_answer(hypothesis), self.expected
        if isinstance(wrong, Raised):
            return False
        return self.exercise.form.agrees(value, wrong.value, expected, self.tolerance)

    # Modules without the right parameters are called with those that fit.

    @property
    def is_partial_call(self) -> bool:
        """Whether the student's module was called with only some of its parameters."""
        value = self.answer.value if isinstance(self.answer, Returned) else None
        return isinstance(value, dict) and IN_PART in value

    def would_be_partial_call(self, hypothesis: Hypothesis) -> bool:
        """Whether a module with these misconceptions is called with only some of its parameters."""
        return self._partial_outputs(hypothesis) is not None

    def is_partial_call_explained_by(self, hypothesis: Hypothesis) -> bool:
        """Whether the call with some parameters gave what these misconceptions give."""
        wrong_outputs = self._partial_outputs(hypothesis)
        if wrong_outputs is None or not self.is_partial_call or not isinstance(self.answer, Returned):
            return False
        student_outputs = self.answer.value[IN_PART]
        paired_outputs = [student_outputs.get(name) for name in wrong_outputs]
        return same(paired_outputs, list(wrong_outputs.values()), self.tolerance, strict=True)

    def _partial_outputs(self, hypothesis: Hypothesis) -> Mapping[str, Any] | None:
        wrong = self._case_key.compared_answer(hypothesis)
        return named(wrong.value, IN_PART) if isinstance(wrong, Returned) else None

    # There are thousands of pairs: what rules most of them out quickly.

    @property
    def output(self) -> torch.Tensor | None:
        """The student's first output; None if there is none."""
        output = first_output(self.answer.value) if isinstance(self.answer, Returned) else None
        return output if isinstance(output, torch.Tensor) else None

    def select_by_output(self, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The hypotheses that give the student's first output, which is computed for many at once."""
        student_output = self.output
        assert student_output is not None
        outputs = [self._case_key.output(hypothesis) for hypothesis in hypotheses]
        near = find_near(student_output, outputs, self.tolerance)
        return [
            hypotheses[index] for index in near if same(student_output, outputs[index], self.tolerance, strict=True)
        ]

    @property
    def rules_out_quickly(self) -> bool:
        """Whether the quick part can rule pairs out; an error may come later."""
        return isinstance(self.answer, Returned) or self._case_key.is_quick

    def select_possible(self, pairs: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The pairs that may explain this case, as far as its quick part shows."""
        return [pair for pair in pairs if self._may_be_explained_by(pair)]

    def _may_be_explained_by(self, pair: Hypothesis) -> bool:
        if not self.rules_out_quickly:
            return True
        wrong = self._case_key.quick_answer(pair)
        if isinstance(wrong, Raised) or not isinstance(self.answer, Returned):
            return type(wrong) is type(self.answer)
        return self.exercise.form.agrees(self.answer.value, wrong.value, self.expected, self.tolerance)


def find_near(output: torch.Tensor, outputs: Sequence[Any], tolerance: float) -> list[int]:
    """Indices of the outputs that may be the same, by a quick check of many at once."""
    candidates: list[int] = []
    for index, candidate in enumerate(outputs):
        if isinstance(candidate, torch.Tensor) and candidate.shape == output.shape:
            candidates.append(index)
    if not candidates or not output.numel() or output.is_complex():
        return candidates
    numbers = output.detach().cpu().double().reshape(-1)
    rows = torch.stack([outputs[index].detach().reshape(-1) for index in candidates]).cpu().double()
    allowed = tolerance * (rows.abs() + rows.abs().amax(1, keepdim=True))
    are_near = ((numbers - rows).abs() <= allowed).all(1) | ~rows.isfinite().all(1)
    return list(itertools.compress(candidates, are_near.tolist()))
