"""Turn answers into a verdict, and name the mistake when the evidence is complete.

A misconception is named only when it reproduces the student's answers on every case. Otherwise the verdict
says how the first wrong answer differs, and claims nothing more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from grader.judging import wording
from grader.judging.answer_key import AnswerKey, Hypothesis
from grader.judging.identical import all_are_nan, holds_nan, is_constant, is_the_same_for_all, modifies_inputs
from grader.judging.judging_time import JudgingTime
from grader.judging.naming import common_to_all_explaining, explaining
from grader.judging.precision import numbers_of, said_of_whole_numbers, what_is_lost
from grader.judging.wrong_device import is_elsewhere, mixes_devices, tolerance_on
from grader.model import compare
from grader.model.answer import Answer, Loss, Lost, Missing, Raised, Returned, Symptom, symptom_of
from grader.model.broken_rules import INPUT_MODIFIED
from grader.model.exercise import Exercise, SampledCase, is_broken
from grader.model.findings import (
    Differs,
    Failed,
    Finding,
    NothingReturned,
    first_unusable,
    found_unusable,
    is_of_another_form,
    part_of,
)
from grader.model.forms.parts import named
from grader.model.misconception import Misconception
from grader.model.verdict import Picture, Reason, Verdict
from grader.sandbox.decoder import UNREADABLE
from grader.sandbox.values import Unusable

# Credit for answers with just one thing wrong, in any exercise.

ARRANGEMENT_CREDIT = 0.5
MODIFIED_CREDIT = 0.5
DEVICE_CREDIT = 0.5
PRECISION_CREDIT = 0.5
UNKNOWN_CREDIT = 0.5
BESIDE_CREDIT = 0.75
PROMISE_CREDIT = 0.5
ALL_BUT_A_KIND_CREDIT = 0.25
MOST_WRONG = 1 / 4  # of the cases, where all but one kind of input is right
# Credit for classes and pieces of models, by the part that is wrong.
SIDES = {"gradient": 0.5, "dropout": 0.5, "mask": 0.75, "input": 0.5, "arguments": 0.75, "type": 0.75, "initial": 0.75}


@dataclass(frozen=True)
class Judge:
    """Judges answers that were computed on a device, within a time limit."""

    device: str = "cpu"
    time: JudgingTime = field(default_factory=JudgingTime)

    def verdict(self, key: AnswerKey, answers: Sequence[Answer]) -> Verdict:
        """The verdict on the answers to all cases of a key."""
        if (short := key.short()) is not key:
            others = self.verdict(short, without_promises(key.cases, answers))
            if beyond := with_promises(others, key.cases, answers):
                return beyond
        verdict = (judgement := _Judgement(self, key, answers)).verdict()
        return verdict if verdict.right else replace(verdict, pictures=judgement.pictures())

    def naming(self, key: AnswerKey, answers: Sequence[Answer], likely: Iterable[Hypothesis]) -> Verdict | None:
        """The verdict that names those likely misconceptions which give the student's answers in every case.

        If several sets do, it names only what they have in common."""
        judgement = _Judgement(self, key, answers)
        wrong = [bool(finding) for finding in judgement.findings]
        held = common_to_all_explaining(key, judgement.answers, wrong, judgement.tolerance, likely)
        return judgement.without_understanding(judgement.held(held, of=3)) if held else None

    def compared(self, key: AnswerKey, answers: Sequence[Answer]) -> list[Answer]:
        """The answers, reduced to what is compared."""
        return _Judgement(self, key, answers).answers

    def is_right(self, key: AnswerKey, answers: Sequence[Answer]) -> bool:
        """Whether nothing is wrong with any of the answers."""
        return _Judgement(self, key, answers).is_right


def judge(exercise: Exercise, cases: Sequence[SampledCase], answers: Sequence[Answer], device: str = "cpu") -> Verdict:
    """The verdict on the answers to all cases of an exercise."""
    return Judge(device).verdict(AnswerKey(exercise, cases), answers)


class _Judgement:
    """One exercise of one submission, with everything that the rules below look at."""

    def __init__(self, judge: Judge, key: AnswerKey, answers: Sequence[Answer]) -> None:
        self.key = key
        self.time = judge.time
        self.exercise = key.exercise
        self.cases = key.cases
        self.form = key.exercise.form
        self.answers = [self._read(index, answer) for index, answer in enumerate(answers)]
        self.device = judge.device
        self.tolerance = tolerance_on(judge.device)
        self.findings = [self._finding(index, answer) for index, answer in enumerate(self.answers)]

    @property
    def expected(self) -> list[Any]:
        """The expected answers, computed only if something is compared: not where all is still to do."""
        return self.key.expected

    def verdict(self) -> Verdict:
        """The verdict of the first rule that applies."""
        rules = (
            self._no_function,
            self._to_do,
            self._right,
            self._one_thing_wrong,
            self._named,
            self._output_right,
            self._only_beside,
            self._all_nan,
            self._constant,
            self._imprecise,
            self._rearranged,
        )
        verdict = next((verdict for rule in rules if (verdict := rule())), None) or self._unexplained()
        return self.without_understanding(verdict)

    def without_understanding(self, verdict: Verdict) -> Verdict:
        """Give no credit to answers that do not depend on the inputs. A single misconception may still be named."""
        is_explained = bool(verdict.credit) or len(verdict.misconceptions) > 1  # two explain a lot, even without credit
        if verdict.right or not is_explained:
            return verdict
        instead = self._given_back()
        if self.exercise.read is None:  # otherwise several results are read
            instead = instead or self._all_nan() or self._constant()
        if instead and len(verdict.misconceptions) == 1:
            return replace(verdict, credit=0.0)
        return instead or verdict

    def pictures(self) -> tuple[Picture, ...]:
        """A picture of the returned value that shows best what is wrong, if any can be drawn."""
        return best_of_wrong(self.exercise, self.cases, self.answers, self.findings)

    def _read(self, index: int, answer: Answer) -> Answer:
        answer = read(self.exercise, answer, self.cases[index], self.time)
        if not isinstance(answer, Returned) or answer.value is None:
            return answer
        return replace(answer, value=self.form.taken(answer.value, self.expected[index]))

    def _finding(self, index: int, answer: Answer) -> Finding | None:
        self.time.look()
        unusable = found_unusable(answer)
        if isinstance(unusable, NothingReturned) and self.expected[index] is None:
            return None
        if unusable is not None or not isinstance(answer, Returned):
            return unusable
        return self.form.finding(answer.value, self.expected[index], self.tolerance)

    def _result(
        self, credit: float, reason: Reason, *said: str, misconceptions: Iterable[Misconception] = ()
    ) -> Verdict:
        return Verdict(
            exercise=self.exercise.label,
            title=self.exercise.title,
            credit=credit,
            reason=reason,
            sentences=tuple(text[: wording.LONGEST] for text in said),
            misconceptions=tuple(misconception.name for misconception in misconceptions),
            cases_right=self._cases_right,
            cases=len(self.answers),
            holds_nan=any(holds_nan(answer.value) for answer in self.answers if isinstance(answer, Returned)),
        )

    @property
    def _cases_right(self) -> int:
        """The number of right cases; 0 if all of them must fail: they do where nothing works."""
        right = [index for index, finding in enumerate(self.findings) if not finding]
        return len(right) if any(self.form.is_evidence(self.expected[index]) for index in right) else 0

    def _no_function(self) -> Verdict | None:
        if not (missing := next((answer for answer in self.answers if isinstance(answer, Missing)), None)):
            return None
        text = wording.missing(self.form.noun, self.exercise.entry)
        verdict = self._result(0.0, Reason.MISSING, text, *([missing.because] if missing.because else []))
        return replace(verdict, lost=missing.lost, symptom=symptom_of(missing.error))

    def _to_do(self) -> Verdict | None:
        """The verdict on a function as handed out, not on one that stops at an earlier exercise."""
        for answer in self.answers:
            if not isinstance(answer, Raised) or not answer.is_to_do:
                return None
            if not self.form.is_handed_out(answer.function, self.exercise.entry):
                return None
        return self._result(0.0, Reason.TO_DO, wording.STILL_TO_DO)

    @property
    def is_right(self) -> bool:
        return not (any(self.findings) or modifies_inputs(self.answers, self.cases) or self._on_wrong_device())

    def _right(self) -> Verdict | None:
        return self._result(1.0, Reason.RIGHT, wording.RIGHT) if self.is_right else None

    def _one_thing_wrong(self) -> Verdict | None:
        """The verdict on right numbers, if the input was changed or the device is wrong."""
        if any(self.findings):
            return None
        if self._on_wrong_device():
            return self._result(DEVICE_CREDIT, Reason.WRONG_DEVICE, wording.WRONG_DEVICE)
        return self._result(MODIFIED_CREDIT, Reason.INPUT_MODIFIED, INPUT_MODIFIED)

    def _on_wrong_device(self) -> bool:
        pairs = zip(self.answers, self.cases, strict=True)
        return any(is_elsewhere(answer, case.inputs, self.device) for answer, case in pairs)

    def _named(self) -> Verdict | None:
        """The verdict that names one or two misconceptions which explain every answer."""
        wrong = [bool(finding) for finding in self.findings]
        held = explaining(self.key, self.answers, wrong, self.tolerance, self.time)
        return self.held(held) if held else None

    def held(self, held: Hypothesis, of: int = 1) -> Verdict:
        heading = wording.things_at_once(len(held), of, are_all=not self._lacks_results) if len(held) > 1 else ""
        said = [heading] * bool(heading) + [misconception.says for misconception in held]
        credit = math.prod([*(misconception.credit for misconception in held), *[UNKNOWN_CREDIT] * (of - len(held))])
        verdict = self._result(credit, Reason.MISCONCEPTION, *said, misconceptions=held)
        section = self.exercise.section_for(held)
        return replace(verdict, explained_in=section, heading=heading, partly_named=len(held) < of)

    def _output_right(self) -> Verdict | None:
        """The verdict on a class whose output is always right, and only another part wrong."""
        wrong = self._wrong()
        if any(part_of(finding) not in SIDES for finding in wrong):
            return None
        part = min(map(part_of, wrong), key=list(SIDES).index)
        first = next(finding for finding in wrong if part_of(finding) == part)
        return self._result(SIDES[part], Reason(part), wording.COMPUTED_RIGHT, self._about(first))

    def _only_beside(self) -> Verdict | None:
        """The verdict on right results, where something asked for besides is wrong."""
        pairs = [(case.case.beside, found) for case, found in zip(self.cases, self.findings, strict=True) if found]
        if not all(beside for beside, _ in pairs):
            return None
        credit = min(SIDES.get(part_of(found), BESIDE_CREDIT) for _, found in pairs)
        said = list(dict.fromkeys(beside for beside, _ in pairs))
        return self._result(credit, Reason.BESIDE, *said, self._about(pairs[0][1]))

    def _constant(self) -> Verdict | None:
        """The verdict on one result for different inputs of one shape; or for all, if it is not a tensor."""
        about = self.key.about_numbers
        if any(map(self.form.is_in_kind, self.expected)):
            same = is_the_same_for_all([self.expected[index] for index in about], self._results)
            return self._result(0.0, Reason.CONSTANT, wording.constant_for_all(self.form.noun)) if same else None
        if not is_constant([self.cases[index].case.name for index in about], self._results):
            return None
        same = is_the_same_for_all([self.expected[index] for index in about], self._results)
        returned = wording.constant_for_all if same else wording.constant
        whole = said_of_whole_numbers(self._numbers)
        return self._result(0.0, Reason.CONSTANT, returned(self.form.noun), *whole)

    def _given_back(self) -> Verdict | None:
        """The verdict on results that are an argument itself."""
        calls = [call for index in self.key.about_numbers for call in self._calls(index)]
        results = [result for result, _ in calls]
        for arguments in zip(*(arguments for _, arguments in calls), strict=False):
            if all(map(self._is_argument, results, arguments)):
                return self._result(0.0, Reason.CONSTANT, wording.given_back(self.form.noun))
        return None

    def _calls(self, index: int) -> list[tuple[object, Sequence[object]]]:
        """What was returned in a case, with the arguments: of a class, in each of its calls."""
        answer, inputs = self.answers[index], self.cases[index].inputs
        result = answer.value if isinstance(answer, Returned) else None
        outputs, expected = named(result, "output"), named(self.expected[index], "output")
        if not isinstance(expected, dict):
            return [(result, inputs)]
        if not isinstance(outputs, dict):
            return [(None, inputs)]
        calls = next((part for part in inputs if isinstance(part, dict) and part.keys() >= expected.keys()), {})
        return [(outputs.get(name), calls.get(name, ())) for name in expected]

    def _is_argument(self, result: object, argument: object) -> bool:
        if isinstance(result, torch.Tensor):
            return isinstance(argument, torch.Tensor) and compare.same(result, argument, self.tolerance)
        if result is None or isinstance(argument, torch.Tensor) or self.exercise.read is not None:
            return False
        return not self.form.finding(result, self.form.right_answer(argument), self.tolerance)

    def _all_nan(self) -> Verdict | None:
        """The verdict on results that are all NaN."""
        if not all_are_nan([result for result in self._results if result is not None]):
            return None
        return replace(self._result(0.0, Reason.WRONG, wording.all_nan(self.form.noun)), symptom=Symptom.NAN)

    @functools.cached_property
    def _results(self) -> list[Any]:
        """The result in each case about numbers; None where there is none."""
        answers = [self.answers[index] for index in self.key.about_numbers]
        return [self.form.result(answer.value) if isinstance(answer, Returned) else None for answer in answers]

    @property
    def _lacks_results(self) -> bool:
        """Whether a class could not be called with the right weights in some case, where it may hide a mistake."""
        return any(
            result is None
            and isinstance(self.answers[index], Returned)
            and self.form.result(self.expected[index]) is not None
            for index, result in zip(self.key.about_numbers, self._results, strict=True)
        )

    @functools.cached_property
    def _numbers(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """All numbers in cases about them, and the expected ones, if they can be paired."""
        sides = ([side[index] for index in self.key.about_numbers] for side in (self.answers, self.expected))
        return numbers_of(self.form, *sides)

    def _imprecise(self) -> Verdict | None:
        """The verdict on right numbers that have lost digits."""
        if self._numbers is None:
            return None
        got, want = self._numbers
        lost = what_is_lost(got, want, self.tolerance)
        return self._result(PRECISION_CREDIT, *lost) if lost else None

    def _rearranged(self) -> Verdict | None:
        wrong = [finding for finding in self._wrong() if part_of(finding) != "gradient"]
        if not wrong or not all(isinstance(one, Differs) and one.difference.right_numbers for one in wrong):
            return None
        return self._result(ARRANGEMENT_CREDIT, Reason.ARRANGEMENT, wording.arrangement(wrong[0], self.form.noun))

    def _unexplained(self) -> Verdict:
        index, first = next((i, finding) for i, finding in enumerate(self.findings) if finding)
        said = [self._about(first)]
        said += [text for text in self._rules_broken().values() if text not in said]
        wrong_kind = self._only_wrong_kind()
        if wrong_kind:
            said.append(wording.all_but_a_kind(self._cases_right, len(self.findings), wrong_kind))
        elif (right := self._cases_right) and part_of(first) != "parameters":  # right by chance
            said.append(wording.cases_right(right, len(self.findings), self.cases[index].case.name))
        said += said_of_whole_numbers(self._numbers)
        answer = self.answers[index]
        if isinstance(answer, Raised) and not self.form.has_autograd and wording.NEEDS_AUTOGRAD in answer.message:
            said.append(wording.NO_AUTOGRAD)
        if isinstance(answer, Returned) and isinstance(first, Differs) and holds_nan(self.form.result(answer.value)):
            said.append(wording.WHERE_NAN_COMES_FROM)
        if isinstance(answer, Returned) and is_of_another_form(first):
            said.append(wording.returned(self.form.described(answer.value)))
        said += self._failed_elsewhere(first)
        reason = {Raised: Reason.ERROR, Lost: Reason.NO_ANSWER}.get(type(answer), Reason.WRONG)
        if isinstance(answer, Raised) and self.device != "cpu" and mixes_devices(answer):
            reason = Reason.WRONG_DEVICE
        lost, symptom = answer if isinstance(answer, Lost) else None, self._symptom(first, answer)
        credit = ALL_BUT_A_KIND_CREDIT if wrong_kind and reason != Reason.NO_ANSWER else 0.0
        return replace(self._result(credit, reason, *said), lost=lost, symptom=symptom)

    def _only_wrong_kind(self) -> list[str]:
        """The names of all wrong cases, if they are few and of one kind: they catch the same. Else empty."""
        wrong = [case.case for case, finding in zip(self.cases, self.findings, strict=True) if finding]
        kinds = {case.catches for case in wrong}
        are_few = len(wrong) <= MOST_WRONG * len(self.cases)
        return list(dict.fromkeys(case.name for case in wrong)) if are_few and len(kinds) == 1 else []

    def _symptom(self, finding: Finding, answer: Answer) -> Symptom | None:
        match finding, answer:
            case _, Raised(type=kind, message=message):
                return symptom_of(kind, message)
            case NothingReturned(), _:
                return Symptom.NOTHING
            case Differs(difference), _ if difference.kind == compare.Kind.DTYPE:
                return Symptom.DTYPE
            case Differs(), Returned(value) if holds_nan(self.form.result(value)):
                return Symptom.NAN
        return None

    def _rules_broken(self) -> dict[str, str]:
        """A sentence for each rule that any case breaks, whatever else is wrong, about the first such case."""
        said: dict[str, str] = {}
        for answer in self.answers:
            if isinstance(answer, Returned):
                said |= {part: text for part, text in self.form.rules_broken(answer.value).items() if part not in said}
        return said

    def _failed_elsewhere(self, first: Finding) -> list[str]:
        """A sentence on an error, or too long a run, in another case than the one described first, if any."""
        found = zip(self.cases, self.answers, self.findings, strict=True)
        failed = [(case, finding) for case, answer, finding in found if finding and isinstance(answer, Raised | Lost)]
        if isinstance(first, Failed) or not failed:
            return []
        case, finding = failed[0]
        return [wording.in_another_case(case.case.name, self._about(finding))]

    def _wrong(self) -> list[Finding]:
        return list(filter(None, self.findings))

    def _about(self, finding: Finding) -> str:
        return wording.about(finding, self.form.noun)


# Choosing the picture that a student sees.


def best_picture(pictures: Iterable[Picture]) -> Picture | None:
    """The smallest picture that shows a broken rule, yet is large enough to see rows and columns."""

    def order(picture: Picture) -> tuple[bool, bool, bool, int]:
        height, width = len(picture.numbers), len(picture.numbers[0])
        return not picture.wrong, max(height, width) < 3, min(height, width) < 2, height * width

    return min(pictures, key=order, default=None)


def pictures_of(exercise: Exercise, returned: Iterable[tuple[SampledCase, Any]]) -> list[Picture]:
    """All pictures that can be drawn of returned values."""
    drawn = [(case, exercise.picture(value, case.inputs)) for case, value in returned] if exercise.picture else []
    return [
        replace(picture, title=wording.shown(exercise.entry, case.case.name, picture.title))
        for case, picture in drawn
        if picture
    ]


def best_of_wrong(
    exercise: Exercise, cases: Sequence[SampledCase], answers: Sequence[Answer], findings: Sequence[Finding | None]
) -> tuple[Picture, ...]:
    """The best picture of a wrong answer, if any can be drawn."""
    wrong = [
        (case, answer.value)
        for case, answer, finding in zip(cases, answers, findings, strict=True)
        if finding and isinstance(answer, Returned) and not first_unusable(answer.value)
    ]
    best = best_picture(pictures_of(exercise, wrong))
    return (best,) if best else ()


# Reading answers.


def read(exercise: Exercise, answer: Answer, case: SampledCase, time: JudgingTime) -> Answer:
    """Reduce an answer to what is compared, if it can be read."""
    time.look()
    if exercise.read is None or not isinstance(answer, Returned):
        return answer
    if answer.value is None or first_unusable(answer.value):
        return answer
    try:
        seen = exercise.form.observed(answer.value)
        nothing = exercise.form.returned_nothing(seen)
        return replace(answer, value=None if nothing else exercise.read(seen, *case.inputs))
    except Exception:  # our code in the sandbox never sends it
        return replace(answer, value=Unusable(UNREADABLE))


# Answers that break a promise of memory lower the verdict on the others.


def _is_untried(answer: Answer) -> bool:
    """Whether a lent right function cannot take such a large case."""
    if isinstance(answer, Lost):
        return answer.loss is Loss.CALLS
    return isinstance(answer, Raised) and answer.beyond_lent


def without_promises(cases: Sequence[SampledCase], answers: Sequence[Answer]) -> list[Answer]:
    """The answers to all cases except those with a promise."""
    return [answer for case, answer in zip(cases, answers, strict=True) if not case.case.promise]


def with_promises(others: Verdict, cases: Sequence[SampledCase], answers: Sequence[Answer]) -> Verdict | None:
    """The verdict on all cases from that on the others; None if these are right and no promise is broken."""
    long = [(case.case.promise, answer) for case, answer in zip(cases, answers, strict=True) if case.case.promise]
    said = list(dict.fromkeys(promise.broken for promise, answer in long if promise and is_broken(answer)))
    losses = [answer for _, answer in long if isinstance(answer, Lost)]
    verdict = replace(others, cases=len(answers))
    if others.right and said:
        right = (wording.RIGHT_BUT_LARGE, *said)
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.MEMORY, sentences=right)
    if others.right and any(map(_is_untried, (answer for _, answer in long))):
        right = (wording.RIGHT_IN_SHORT, wording.LONG_UNTRIED)
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.BESIDE, sentences=right)
    if others.right and any(answer.loss is Loss.TIME for answer in losses):
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.BESIDE, sentences=(wording.RIGHT_BUT_SLOW,))
    if said:
        return replace(verdict, credit=others.credit * PROMISE_CREDIT, sentences=(*others.sentences, *said))
    return None if others.right else others
