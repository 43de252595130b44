"""Which misconceptions explain all of a student's answers: one, or two at once.

There are thousands of pairs. So where looking saves time, a part of one case is computed for all of them, and only
those that give the student's output there are tried on all cases.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey, Held
from grader.model.answer import Answer, Raised, Returned
from grader.model.compare import same
from grader.model.exercise import can_combine


def explaining(key: AnswerKey, answers: Sequence[Answer], wrong: Sequence[bool], tolerance: float) -> Held:
    """The misconceptions that answer as the student's code does in every case; none, if there are none.

    `wrong` says which answers are.
    """
    if not all(isinstance(answer, Returned | Raised) for answer in answers):
        return ()  # no misconception is lost on the way
    telling = sorted(range(len(answers)), key=lambda index: not wrong[index])  # wrong answers before right ones
    glance = _glance(key, answers, telling, tolerance)
    singles: list[Held] = [(one,) for one in key.exercise.misconceptions]
    likely = itertools.chain(glance.explaining(singles) if glance else singles, _likely_pairs(key, glance))
    return next((held for held in likely if _explained_by(held, key, answers, telling, tolerance)), ())


def _explained_by(
    held: Held, key: AnswerKey, answers: Sequence[Answer], telling: Sequence[int], tolerance: float
) -> bool:
    form, evidence = key.exercise.form, False
    for index in telling:
        answer = answers[index]
        if not isinstance(answer, Returned):  # then the misconception must fail, too
            if isinstance(key.answer(held, index), Returned):
                return False
            continue
        wrong = key.wrong(held, index)
        if isinstance(wrong, Raised) or not form.agrees(answer.value, wrong.value, key.expected[index], tolerance):
            return False
        evidence = evidence or form.is_evidence(wrong.value)
    return evidence  # errors alone are none


def _likely_pairs(key: AnswerKey, glance: Glance | None) -> Iterator[Held]:
    """Two that can be held at once."""
    pairs = (pair for pair in itertools.combinations(key.exercise.misconceptions, 2) if can_combine(*pair))
    if not key.exercise.glance:
        yield from pairs
    elif glance:  # without any output there is no evidence for a second one
        yield from glance.explaining(list(glance.possible(pairs)))


def _glance(key: AnswerKey, answers: Sequence[Answer], telling: Sequence[int], tolerance: float) -> Glance | None:
    """At the most telling output; none where the student's code has no output, or looking saves no time."""
    if not key.exercise.glance:
        return None
    for index in telling:
        answer = answers[index]
        value = answer.value if isinstance(answer, Returned) else None
        outputs = value.get("output") if isinstance(value, dict) else None
        if isinstance(outputs, dict) and isinstance(outputs.get("output"), torch.Tensor):
            return Glance(key, index, outputs["output"], tolerance)
    return None


@dataclass(frozen=True)
class Glance:
    """What the student's code gives in a part of one case, which shows that most misconceptions do not explain it."""

    key: AnswerKey
    index: int  # of the case
    output: torch.Tensor
    tolerance: float

    def explaining(self, candidates: Sequence[Held]) -> list[Held]:
        """Those that have the student's output here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # wrong code makes torch warn, which is not for who grades
            outputs = [self.key.output(held, self.index) for held in candidates]
        near = _near(self.output, outputs, self.tolerance)
        return [candidates[i] for i in near if same(self.output, outputs[i], self.tolerance, strict=True)]

    def possible(self, pairs: Iterable[Held]) -> Iterator[Held]:
        """All but the pairs of which one changes nothing here, and the other one does not explain the output."""
        singles = [(one,) for one in self.key.exercise.misconceptions]
        right = Glance(self.key, self.index, self.key.output((), self.index), self.tolerance)
        unseen = {one.name for (one,) in right.explaining(singles)}
        enough = {tuple(one.name for one in held) for held in self.explaining([(), *singles])}
        for pair in pairs:
            seen = tuple(one.name for one in pair if one.name not in unseen)
            if len(seen) == 2 or seen in enough:
                yield pair


def _near(output: torch.Tensor, others: Sequence[Any], tolerance: float) -> list[int]:
    """Which may be the same: quickly said, for many at once, of those whose shape and numbers are not."""
    alike = [i for i, other in enumerate(others) if isinstance(other, torch.Tensor) and other.shape == output.shape]
    if not alike or not output.numel() or output.is_complex():
        return alike
    got = output.detach().cpu().double().reshape(-1)
    want = torch.stack([others[i].detach().reshape(-1) for i in alike]).cpu().double()
    allowed = tolerance * (want.abs() + want.abs().amax(1, keepdim=True))
    maybe = ((got - want).abs() <= allowed).all(1) | ~want.isfinite().all(1)
    return [i for i, near in zip(alike, maybe.tolist(), strict=True) if near]
