"""Find the misconceptions, one or two at once, that explain all of a student's answers.

There are thousands of pairs. So where it saves time, a part of some cases is computed first, and only pairs that give
the student's answer there are tried on all cases.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey, Hypothesis
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Answer, Raised, Returned
from grader.model.compare import same
from grader.model.forms.parts import IN_PART, first_output, named
from grader.model.misconception import Misconception, can_combine

FEWEST_IN_COMMON = 2  # of several sets of three: with fewer, nobody can say what is wrong


def explaining(
    key: AnswerKey, answers: Sequence[Answer], wrong: Sequence[bool], tolerance: float, time: JudgingTime
) -> Hypothesis:
    """The misconceptions that give the student's answers in every case; empty if none do.

    `wrong` says which answers are wrong.
    """
    if not all(isinstance(answer, Returned | Raised) for answer in answers):
        return ()  # no misconception loses its answer
    looks = _looks(key, answers, wrong, tolerance)
    for held in _likely(key, looks):
        time.look()
        if _explained_by(held, looks):
            seen = {look.index for look in looks}
            beside = [Look(key, index, answers[index], tolerance) for index in range(len(answers)) if index not in seen]
            return _with_one_beside(_with_another(held, looks, time), looks, beside, time)
    return ()


def common_to_all_explaining(
    key: AnswerKey, answers: Sequence[Answer], wrong: Sequence[bool], tolerance: float, likely: Iterable[Hypothesis]
) -> Hypothesis:
    """The misconceptions common to all `likely` sets that give the student's answers in every case."""
    if not all(isinstance(answer, Returned | Raised) for answer in answers):
        return ()
    looks = _looks(key, answers, wrong, tolerance)
    found = [held for held in likely if _explained_by(held, looks)]
    common = tuple(one for one in found[0] if all(one in held for held in found)) if found else ()
    return common if len(common) >= FEWEST_IN_COMMON else ()


def _looks(key: AnswerKey, answers: Sequence[Answer], wrong: Sequence[bool], tolerance: float) -> list[Look]:
    """Looks in the best order: wrong answers first, long texts last, where mistakes take long to compute.

    Where numbers are wrong, the cases about other things show nothing.
    """
    cases = key.about_numbers if any(wrong[index] for index in key.about_numbers) else range(len(answers))
    long = [bool(case.case.promise) for case in key.cases]
    telling = sorted(cases, key=lambda index: (long[index], not wrong[index], key[index].seconds))
    return [Look(key, index, answers[index], tolerance) for index in telling]


def _with_another(held: Hypothesis, looks: Sequence[Look], time: JudgingTime) -> Hypothesis:
    """Add a second misconception if a class without the right parameters shows one.

    Little is known about parameters that do not fit, so several may seem to explain the outputs: then none is added.
    If none does although the first one alone can be computed, something unknown is wrong, too.
    """
    seen = [look for look in looks if look.has_more or look.would_have_more(held)]
    if len(held) > 1 or not seen or all(look.shows_no_more_than(held) for look in seen):
        return held
    found: list[Hypothesis] = []
    for other in looks[0].key.exercise.mistakes:
        time.look()
        if can_combine(held[0], other):
            both = tuple(sorted((held[0], other), key=looks[0].key.exercise.mistakes.index))
            found += [both] if all(look.shows_no_more_than(both) for look in seen) else []
    found = [both for both in found if _explained_by(both, looks)]
    if not found and any(look.would_have_more(held) for look in seen):
        return ()
    return found[0] if len(found) == 1 else held


def _with_one_beside(held: Hypothesis, looks: Sequence[Look], beside: Sequence[Look], time: JudgingTime) -> Hypothesis:
    """Add a mistake that changes no numbers, such as an error of another type, if only with it the rest is explained.

    Without it, a student would read that everything else is right.
    """
    unexplained = [look for look in beside if not look.is_explained_by(held)]
    if not held or not unexplained:
        return held
    mistakes = looks[0].key.exercise.mistakes
    for other in mistakes:
        time.look()
        fits = all(can_combine(member, other) for member in held)
        if fits and all(look.has_right_answer_with((other,)) for look in looks):
            together = tuple(sorted((*held, other), key=mistakes.index))
            if all(look.is_explained_by(together) for look in beside):
                return together
    return held


def _explained_by(held: Hypothesis, looks: Sequence[Look]) -> bool:
    """Whether misconceptions explain every case, and at least one by more than an error."""
    explained = all(look.is_explained_by(held) for look in looks) and any(look.is_evidence(held) for look in looks)
    if not explained or len(held) == 1:
        return explained
    return all(_shows_in_numbers(one, held, looks) and not _shows_beside_only(one, looks) for one in held)


def _shows_in_numbers(misconception: Misconception, misconceptions: Hypothesis, looks: Sequence[Look]) -> bool:
    """Whether numbers would be others without a misconception, or the code would not stop where it alone stops it.

    Where it takes the whole set to stop the code, as where shapes do not fit, many other sets would do that, too.
    """
    fewer = tuple(member for member in misconceptions if member is not misconception)
    telling = [look for look in looks if not look.is_explained_by(fewer)]
    return any(look.is_returned for look in telling) or all(look.would_stop((misconception,)) for look in telling)


def _shows_beside_only(one: Misconception, looks: Sequence[Look]) -> bool:
    """Whether a misconception is about gradients, and no case asks for them: then it fits by chance."""
    return one.kind == "gradient" and all(look.has_right_answer_with((one,)) for look in looks)


def _likely(key: AnswerKey, looks: Sequence[Look]) -> Iterator[Hypothesis]:
    """Possible explanations: each misconception, and then pairs that can be held at once."""
    misconceptions = key.exercise.mistakes
    singles: list[Hypothesis] = [(misconception,) for misconception in misconceptions]
    pairs = (pair for pair in itertools.combinations(misconceptions, 2) if can_combine(*pair))
    if not key.exercise.glance:
        yield from itertools.chain(singles, pairs)
        return
    glances = [look for look in looks if look.output is not None]
    yield from glances[0].glance().explaining(singles) if glances else singles
    if glances:  # without any output there is no evidence for a second one
        yield from _likely_pairs(list(pairs), glances, looks, few=len(singles))


def _likely_pairs(
    pairs: Sequence[Hypothesis], glances: Sequence[Look], looks: Sequence[Look], few: int
) -> Sequence[Hypothesis]:
    """The pairs left after looking at one case after another, until they are `few` and quick to try."""
    for look in _of_different_cases(glances)[:2]:  # one alone may show little, as a single word does
        if len(pairs) > few:
            pairs = look.glance().possible(pairs)
    for look in _of_different_cases(sorted(looks, key=lambda look: not look.is_soon_told))[:3]:
        if len(pairs) > few:
            pairs = look.possible(pairs)
    return pairs


def _of_different_cases(looks: Sequence[Look]) -> list[Look]:
    """The first look at each case: with other inputs, it shows much the same."""
    first: dict[str, Look] = {}
    for look in looks:
        first.setdefault(look.key.cases[look.index].case.name, look)
    return list(first.values())


@dataclass(frozen=True)
class Look:
    """The student's answer in one case, to compare with misconceptions."""

    key: AnswerKey
    index: int  # of the case
    answer: Answer
    tolerance: float

    @property
    def output(self) -> torch.Tensor | None:
        """The student's first output, for quick comparison; None if there is none."""
        value = self.answer.value if isinstance(self.answer, Returned) else None
        output = first_output(value)
        return output if isinstance(output, torch.Tensor) else None

    @property
    def is_returned(self) -> bool:
        """Whether the student's code came to its end."""
        return isinstance(self.answer, Returned)

    @property
    def has_more(self) -> bool:
        """Whether the student's module was called with only some of its parameters."""
        return (
            isinstance(self.answer, Returned) and isinstance(self.answer.value, dict) and IN_PART in self.answer.value
        )

    def would_stop(self, misconceptions: Hypothesis) -> bool:
        """Whether code with these misconceptions would not come to its end."""
        return isinstance(self.key[self.index].answer(misconceptions), Raised)

    def would_have_more(self, held: Hypothesis) -> bool:
        """Whether a module with these misconceptions would be called with only some parameters."""
        return self._more_of(held) is not None

    def shows_no_more_than(self, held: Hypothesis) -> bool:
        """Whether the call without all parameters gave what these misconceptions give."""
        outputs = self._more_of(held)
        if outputs is None or not self.has_more or not isinstance(self.answer, Returned):
            return False
        given = [self.answer.value[IN_PART].get(name) for name in outputs]
        return same(given, list(outputs.values()), self.tolerance, strict=True)

    def _more_of(self, held: Hypothesis) -> Mapping[str, Any] | None:
        wrong = self.key[self.index].wrong(held)
        return named(wrong.value, IN_PART) if isinstance(wrong, Returned) else None

    def glance(self) -> FirstGlance:
        assert self.output is not None
        return FirstGlance(self.key, self.index, self.output, self.tolerance)

    def is_explained_by(self, held: Hypothesis) -> bool:
        if not isinstance(self.answer, Returned):  # then the misconception must fail, too
            return self.would_stop(held)
        return self._agrees(self.answer.value, held)

    def is_evidence(self, held: Hypothesis) -> bool:
        wrong = self.key[self.index].wrong(held)  # errors do not count
        return isinstance(wrong, Returned) and self.key.exercise.form.is_evidence(wrong.value)

    def possible(self, pairs: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The pairs that may explain this case, as far as its quick part shows."""
        singles = list({misconception.name: (misconception,) for pair in pairs for misconception in pair}.values())
        unseen = [held for held in singles if self.has_right_answer_with(held)]
        return _left(pairs, unseen, self.is_explained_by, self._soon_explaining)

    def has_right_answer_with(self, held: Hypothesis) -> bool:
        return self._agrees(self.key.expected[self.index], held)

    @property
    def is_soon_told(self) -> bool:
        """Whether the quick part can rule pairs out; an error may come later."""
        return isinstance(self.answer, Returned) or self.key[self.index].is_soon_computed

    def _soon_explaining(self, pairs: Sequence[Hypothesis]) -> Sequence[Hypothesis]:
        return [pair for pair in pairs if self._may_be_explained_by(pair)] if self.is_soon_told else pairs

    def _may_be_explained_by(self, held: Hypothesis) -> bool:
        wrong = self.key[self.index].soon(held)
        if isinstance(wrong, Raised) or not isinstance(self.answer, Returned):
            return type(wrong) is type(self.answer)
        expected = self.key.expected[self.index]
        return self.key.exercise.form.agrees(self.answer.value, wrong.value, expected, self.tolerance)

    def _agrees(self, value: object, held: Hypothesis) -> bool:
        wrong, expected = self.key[self.index].wrong(held), self.key.expected[self.index]
        if isinstance(wrong, Raised):
            return False
        return self.key.exercise.form.agrees(value, wrong.value, expected, self.tolerance)


@dataclass(frozen=True)
class FirstGlance:
    """The student's output in a part of one case, which quickly rules out most misconceptions."""

    key: AnswerKey
    index: int  # of the case
    output: torch.Tensor
    tolerance: float

    def explaining(self, candidates: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The candidates that give the student's output here."""
        outputs = [self.key[self.index].output(held) for held in candidates]
        near = _near(self.output, outputs, self.tolerance)
        return [candidates[i] for i in near if same(self.output, outputs[i], self.tolerance, strict=True)]

    def possible(self, pairs: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The pairs that may explain the student's output here."""
        singles = list({misconception.name: (misconception,) for pair in pairs for misconception in pair}.values())
        right = FirstGlance(self.key, self.index, self.key[self.index].output(()), self.tolerance)
        enough = {_names(held) for held in self.explaining([(), *singles])}
        return _left(pairs, right.explaining(singles), lambda held: _names(held) in enough, self.explaining)


def _left(
    pairs: Sequence[Hypothesis],
    unseen: Iterable[Hypothesis],
    explains: Callable[[Hypothesis], bool],
    explaining_both: Callable[[Sequence[Hypothesis]], Sequence[Hypothesis]],
) -> list[Hypothesis]:
    """The pairs that explain a case, if a misconception `unseen` there alone changes nothing."""
    names = {name for held in unseen for name in _names(held)}
    seen = [tuple(misconception for misconception in pair if misconception.name not in names) for pair in pairs]
    enough: dict[tuple[str, ...], bool] = {}
    for held in seen:
        if len(held) < 2 and _names(held) not in enough:
            enough[_names(held)] = explains(held)
    enough |= {_names(pair): True for pair in explaining_both([held for held in seen if len(held) == 2])}
    return [pair for pair, held in zip(pairs, seen, strict=True) if enough.get(_names(held), False)]


def _names(held: Hypothesis) -> tuple[str, ...]:
    return tuple(misconception.name for misconception in held)


def _near(output: torch.Tensor, others: Sequence[Any], tolerance: float) -> list[int]:
    """Indices of outputs that may be the same, by a quick check of many at once."""
    alike = [i for i, other in enumerate(others) if isinstance(other, torch.Tensor) and other.shape == output.shape]
    if not alike or not output.numel() or output.is_complex():
        return alike
    got = output.detach().cpu().double().reshape(-1)
    want = torch.stack([others[i].detach().reshape(-1) for i in alike]).cpu().double()
    allowed = tolerance * (want.abs() + want.abs().amax(1, keepdim=True))
    maybe = ((got - want).abs() <= allowed).all(1) | ~want.isfinite().all(1)
    return [i for i, near in zip(alike, maybe.tolist(), strict=True) if near]
