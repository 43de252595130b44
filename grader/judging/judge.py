"""Turn answers into a verdict, and name the mistake when the evidence is complete.

A misconception is named only when it reproduces the student's answers on every case. Otherwise the verdict
says how the first wrong answer differs, and claims nothing more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import torch

from grader.judging import wording
from grader.judging.answer_key import AnswerKey, Hypothesis
from grader.judging.answered_case import AnsweredCase
from grader.judging.constant_answers import are_same_for_all, are_same_for_each_draw, is_argument_returned
from grader.judging.identical import all_are_nan, holds_nan, modifies_inputs
from grader.judging.judging_time import JudgingTime
from grader.judging.memory_promises import answers_without_promises, lower_for_promises
from grader.judging.naming import find_common_misconceptions, find_explanation
from grader.judging.precision import describe_whole_numbers, find_lost_digits, numbers_of
from grader.judging.wrong_device import is_elsewhere, mixes_devices, tolerance_on
from grader.model import compare
from grader.model.answer import Answer, Lost, Missing, Raised, Returned, Symptom, symptom_of
from grader.model.broken_rules import INPUT_MODIFIED
from grader.model.exercise import Exercise, SampledCase
from grader.model.findings import (
    Differs,
    Failed,
    Finding,
    NothingReturned,
    first_unusable,
    found_unusable,
    is_of_another_form,
)
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
REQUIREMENT_CREDIT = 0.75
ALL_BUT_A_KIND_CREDIT = 0.25
MOST_WRONG = 1 / 4  # of the cases, where all but one kind of input is right
# Credit for classes and pieces of models, by the part that is wrong; the part that matters most comes first.
PART_CREDITS = {
    "gradient": 0.5,
    "dropout": 0.5,
    "mask": 0.75,
    "input": 0.5,
    "arguments": 0.75,
    "type": 0.75,
    "initial": 0.75,
}


@dataclass(frozen=True)
class Judge:
    """Judges answers that were computed on a device, within a time limit."""

    device: str = "cpu"
    time: JudgingTime = field(default_factory=JudgingTime)

    def verdict(self, key: AnswerKey, answers: Sequence[Answer]) -> Verdict:
        """The verdict on the answers to all cases of a key."""
        short_key = key.without_promises()
        if short_key is not key:
            short_verdict = self.verdict(short_key, answers_without_promises(key.cases, answers))
            lowered = lower_for_promises(short_verdict, key.cases, answers)
            if lowered:
                return lowered
        judgement = _Judgement(self, key, answers)
        verdict = judgement.verdict()
        return verdict if verdict.right else replace(verdict, pictures=judgement.pictures())

    def verdict_among(
        self, key: AnswerKey, answers: Sequence[Answer], hypotheses: Iterable[Hypothesis]
    ) -> Verdict | None:
        """The verdict that names the misconceptions of the hypothesis which gives the student's answers in every case.

        If several hypotheses do, it names only what they have in common."""
        judgement = _Judgement(self, key, answers)
        common = find_common_misconceptions(judgement.cases, hypotheses)
        return judgement.deny_credit_for_constants(judgement.name(common, total=3)) if common else None

    def compared_answers(self, key: AnswerKey, answers: Sequence[Answer]) -> list[Answer]:
        """The answers, reduced to what is compared."""
        return [case.answer for case in _Judgement(self, key, answers).cases]

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
        self.device = judge.device
        self.tolerance = tolerance_on(judge.device)
        self.exercise = key.exercise
        self.form = key.exercise.form
        self.cases = [self._answered_case(index, answer) for index, answer in enumerate(answers)]
        self.number_cases = [case for case in self.cases if case.is_about_numbers]
        self.wrong_cases = [case for case in self.cases if case.is_wrong]

    def verdict(self) -> Verdict:
        """The verdict of the first rule that applies."""
        rules = (
            self._judge_missing,
            self._judge_to_do,
            self._judge_right,
            self._judge_side_effects,
            self._judge_misconceptions,
            self._judge_misconceptions_in_time,
            self._judge_right_output,
            self._judge_requirements,
            self._judge_all_nan,
            self._judge_constant,
            self._judge_imprecise,
            self._judge_rearranged,
        )
        for rule in rules:
            verdict = rule()
            if verdict:
                return self.deny_credit_for_constants(verdict)
        return self.deny_credit_for_constants(self._judge_unexplained())

    def deny_credit_for_constants(self, verdict: Verdict) -> Verdict:
        """Give no credit to answers that do not depend on the inputs. A single misconception may still be named."""
        is_explained = bool(verdict.credit) or len(verdict.misconceptions) > 1  # two explain a lot, even without credit
        if verdict.right or not is_explained:
            return verdict
        constant_verdict = self._judge_argument_returned()
        if self.exercise.read is None:  # otherwise several results are read
            constant_verdict = constant_verdict or self._judge_all_nan() or self._judge_constant()
        if constant_verdict and len(verdict.misconceptions) == 1:
            return replace(verdict, credit=0.0)
        return constant_verdict or verdict

    def pictures(self) -> tuple[Picture, ...]:
        """The picture of a wrong answer that shows best what is wrong, if any can be drawn."""
        if not self.exercise.picture:
            return ()
        pictures: list[Picture] = []
        for case in self.wrong_cases:
            if isinstance(case.answer, Returned) and not first_unusable(case.answer.value):
                picture = self.exercise.picture(case.answer.value, case.inputs)
                if picture:
                    title = wording.picture_title(self.exercise.entry, case.name, picture.title)
                    pictures.append(replace(picture, title=title))
        best = best_picture(pictures)
        return (best,) if best else ()

    def _answered_case(self, index: int, answer: Answer) -> AnsweredCase:
        answer = read_answer(self.exercise, answer, self.key.cases[index], self.time)
        if isinstance(answer, Returned) and answer.value is not None:
            answer = replace(answer, value=self.form.compared_part(answer.value, self.key.expected[index]))
        return AnsweredCase(self.key, index, answer, self._compare(index, answer), self.tolerance)

    def _compare(self, index: int, answer: Answer) -> Finding | None:
        """What is wrong with the answer to a case, if anything. Where all is still to do, nothing is computed."""
        self.time.check()
        unusable = found_unusable(answer)
        if isinstance(unusable, NothingReturned) and self.key.expected[index] is None:
            return None
        if unusable is not None or not isinstance(answer, Returned):
            return unusable
        return self.form.finding(answer.value, self.key.expected[index], self.tolerance)

    def _make_verdict(
        self, credit: float, reason: Reason, *sentences: str, misconceptions: Iterable[Misconception] = ()
    ) -> Verdict:
        return Verdict(
            exercise=self.exercise.label,
            title=self.exercise.title,
            credit=credit,
            reason=reason,
            sentences=tuple(sentence[: wording.LONGEST] for sentence in sentences),
            misconceptions=tuple(misconception.name for misconception in misconceptions),
            cases_right=self._cases_right,
            cases=len(self.cases),
            holds_nan=any(holds_nan(case.answer.value) for case in self.cases if isinstance(case.answer, Returned)),
        )

    @property
    def _cases_right(self) -> int:
        """The number of right cases; 0 if all of them must fail: they do where nothing works."""
        right_cases = [case for case in self.cases if not case.is_wrong]
        has_evidence = any(self.form.is_evidence(case.expected) for case in right_cases)
        return len(right_cases) if has_evidence else 0

    # The rules: each gives its verdict if it applies.

    def _judge_missing(self) -> Verdict | None:
        for case in self.cases:
            if isinstance(case.answer, Missing):
                sentences = [wording.missing(self.form.noun, self.exercise.entry)]
                if case.answer.because:
                    sentences.append(case.answer.because)
                verdict = self._make_verdict(0.0, Reason.MISSING, *sentences)
                return replace(verdict, lost=case.answer.lost, symptom=symptom_of(case.answer.error))
        return None

    def _judge_to_do(self) -> Verdict | None:
        """The verdict on a function as handed out, not on one that stops at an earlier exercise."""
        for case in self.cases:
            if not isinstance(case.answer, Raised) or not case.answer.is_to_do:
                return None
            if not self.form.is_handed_out(case.answer.function, self.exercise.entry):
                return None
        return self._make_verdict(0.0, Reason.TO_DO, wording.STILL_TO_DO)

    @property
    def is_right(self) -> bool:
        if self.wrong_cases or self._is_on_wrong_device:
            return False
        return not any(modifies_inputs(case.answer, case.inputs) for case in self.cases)

    def _judge_right(self) -> Verdict | None:
        return self._make_verdict(1.0, Reason.RIGHT, wording.RIGHT) if self.is_right else None

    def _judge_side_effects(self) -> Verdict | None:
        """The verdict on right numbers, if the input was changed or the device is wrong."""
        if self.wrong_cases:
            return None
        if self._is_on_wrong_device:
            return self._make_verdict(DEVICE_CREDIT, Reason.WRONG_DEVICE, wording.WRONG_DEVICE)
        return self._make_verdict(MODIFIED_CREDIT, Reason.INPUT_MODIFIED, INPUT_MODIFIED)

    @property
    def _is_on_wrong_device(self) -> bool:
        return any(is_elsewhere(case.answer, case.inputs, self.device) for case in self.cases)

    def _judge_misconceptions(self) -> Verdict | None:
        """The verdict that names one or two misconceptions which explain every answer."""
        explanation = find_explanation(self.cases, self.time)
        return self.name(explanation) if explanation else None

    def _judge_misconceptions_in_time(self) -> Verdict | None:
        """The verdict that names what explains all answers but a few that took too long, which earn nothing."""
        late_cases = [case for case in self.cases if isinstance(case.answer, Lost) and case.answer.loss.is_timeout]
        if not 0 < len(late_cases) <= len(self.cases) / 2:
            return None
        explanation = find_explanation([case for case in self.cases if case not in late_cases], self.time)
        if not explanation:
            return None
        verdict = self.name(explanation)
        too_long = wording.in_another_case(late_cases[0].name, self._describe(late_cases[0]))
        return replace(verdict, credit=0.0, sentences=(*verdict.sentences, too_long))

    def name(self, misconceptions: Sequence[Misconception], total: int = 1) -> Verdict:
        """The verdict that names these misconceptions. If there are more in total, the others are unknown."""
        sentences = [misconception.says for misconception in misconceptions]
        heading = ""
        if len(misconceptions) > 1:
            heading = wording.several_mistakes(len(misconceptions), total, are_all=not self._lacks_results)
            sentences.insert(0, heading)
        credits = [misconception.credit for misconception in misconceptions]
        credits += [UNKNOWN_CREDIT] * (total - len(misconceptions))
        verdict = self._make_verdict(
            math.prod(credits), Reason.MISCONCEPTION, *sentences, misconceptions=misconceptions
        )
        section, is_partial = self.exercise.section_for(misconceptions), len(misconceptions) < total
        return replace(verdict, explained_in=section, heading=heading, partly_named=is_partial)

    @property
    def _lacks_results(self) -> bool:
        """Whether a class could not be called with the right weights in some case, where it may hide a mistake."""
        for case in self.number_cases:
            if case.is_returned and case.result is None and self.form.result(case.expected) is not None:
                return True
        return False

    def _judge_right_output(self) -> Verdict | None:
        """The verdict on a class whose output is always right, and only another part wrong."""
        if any(case.part not in PART_CREDITS for case in self.wrong_cases):
            return None
        order = list(PART_CREDITS)
        main = min(self.wrong_cases, key=lambda case: order.index(case.part))
        sentences = (wording.COMPUTED_RIGHT, self._describe(main))
        return self._make_verdict(PART_CREDITS[main.part], Reason(main.part), *sentences)

    def _judge_requirements(self) -> Verdict | None:
        """The verdict on right results that do not meet another requirement."""
        if any(case.is_about_numbers for case in self.wrong_cases):
            return None
        requirements = dict.fromkeys(case.requirement for case in self.wrong_cases)
        credit = min(PART_CREDITS.get(case.part, REQUIREMENT_CREDIT) for case in self.wrong_cases)
        return self._make_verdict(credit, Reason.BESIDE, *requirements, self._describe(self.wrong_cases[0]))

    def _judge_all_nan(self) -> Verdict | None:
        """The verdict on results that are all NaN."""
        results = [case.result for case in self.number_cases if case.result is not None]
        if not all_are_nan(results):
            return None
        return replace(self._make_verdict(0.0, Reason.WRONG, wording.all_nan(self.form.noun)), symptom=Symptom.NAN)

    def _judge_constant(self) -> Verdict | None:
        """The verdict on one result for different inputs of one shape; or for all, if it is not a tensor."""
        is_in_kind = any(map(self.form.is_in_kind, self.key.expected))
        is_same_for_all = are_same_for_all(self.number_cases)
        is_constant = is_same_for_all if is_in_kind else are_same_for_each_draw(self.number_cases)
        if not is_constant:
            return None
        sentence = wording.constant_for_all if is_same_for_all else wording.constant
        about_whole_numbers = [] if is_in_kind else describe_whole_numbers(self._numbers)
        return self._make_verdict(0.0, Reason.CONSTANT, sentence(self.form.noun), *about_whole_numbers)

    def _judge_argument_returned(self) -> Verdict | None:
        """The verdict on results that are an argument itself."""
        if not is_argument_returned(self.number_cases):
            return None
        return self._make_verdict(0.0, Reason.CONSTANT, wording.argument_returned(self.form.noun))

    @functools.cached_property
    def _numbers(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """All numbers in cases about them, and the expected ones, if they can be paired."""
        answers = [case.answer for case in self.number_cases]
        expected = [case.expected for case in self.number_cases]
        return numbers_of(self.form, answers, expected)

    def _judge_imprecise(self) -> Verdict | None:
        """The verdict on right numbers that have lost digits."""
        if self._numbers is None:
            return None
        loss = find_lost_digits(*self._numbers, self.tolerance)
        return self._make_verdict(PRECISION_CREDIT, *loss) if loss else None

    def _judge_rearranged(self) -> Verdict | None:
        """The verdict on right numbers in another shape or order."""
        findings = [case.finding for case in self.wrong_cases if case.finding and case.part != "gradient"]
        if not findings:
            return None
        if not all(isinstance(finding, Differs) and finding.difference.right_numbers for finding in findings):
            return None
        sentence = wording.arrangement(findings[0], self.form.noun)
        return self._make_verdict(ARRANGEMENT_CREDIT, Reason.ARRANGEMENT, sentence)

    def _judge_unexplained(self) -> Verdict:
        """The verdict that says how the first wrong answer differs, and what else is certain."""
        first = self.wrong_cases[0]
        answer = first.answer
        wrong_kind = self._only_wrong_kind
        sentences = [self._describe(first)]
        sentences += [sentence for sentence in self._describe_broken_rules() if sentence not in sentences]
        cases_right = self._cases_right
        if wrong_kind:
            sentences.append(wording.all_but_a_kind(cases_right, len(self.cases), wrong_kind))
        elif cases_right and first.part != "parameters":  # right by chance
            sentences.append(wording.cases_right(cases_right, len(self.cases), first.name))
        sentences += describe_whole_numbers(self._numbers)
        if isinstance(answer, Raised) and not self.form.has_autograd and wording.NEEDS_AUTOGRAD in answer.message:
            sentences.append(wording.NO_AUTOGRAD)
        if isinstance(first.finding, Differs) and isinstance(answer, Returned):
            if holds_nan(first.result):
                sentences.append(wording.WHERE_NAN_COMES_FROM)
            if is_of_another_form(first.finding):
                sentences.append(wording.returned(self.form.describe(answer.value)))
        failed_cases = [case for case in self.wrong_cases if isinstance(case.answer, Raised | Lost)]
        if failed_cases and not isinstance(first.finding, Failed):
            failure = self._describe(failed_cases[0])
            sentences.append(wording.in_another_case(failed_cases[0].name, failure))

        reason = {Raised: Reason.ERROR, Lost: Reason.NO_ANSWER}.get(type(answer), Reason.WRONG)
        if isinstance(answer, Raised) and self.device != "cpu" and mixes_devices(answer):
            reason = Reason.WRONG_DEVICE
        credit = ALL_BUT_A_KIND_CREDIT if wrong_kind and reason != Reason.NO_ANSWER else 0.0
        verdict = self._make_verdict(credit, reason, *sentences)
        lost = answer if isinstance(answer, Lost) else None
        return replace(verdict, lost=lost, symptom=_find_symptom(first))

    @property
    def _only_wrong_kind(self) -> list[str]:
        """The names of all wrong cases, if they are few and of one kind: they catch the same. Else empty."""
        kinds = {case.case.catches for case in self.wrong_cases}
        if len(kinds) != 1 or len(self.wrong_cases) > MOST_WRONG * len(self.cases):
            return []
        return list(dict.fromkeys(case.name for case in self.wrong_cases))

    def _describe(self, case: AnsweredCase) -> str:
        """What is wrong with the answer to a case."""
        assert case.finding is not None
        return wording.about(case.finding, self.form.noun)

    def _describe_broken_rules(self) -> Iterable[str]:
        """A sentence for each rule that any case breaks, whatever else is wrong, about the first such case."""
        sentences: dict[str, str] = {}
        for case in self.cases:
            if isinstance(case.answer, Returned):
                for rule, sentence in self.form.rules_broken(case.answer.value).items():
                    sentences.setdefault(rule, sentence)
        return sentences.values()


def _find_symptom(case: AnsweredCase) -> Symptom | None:
    match case.finding, case.answer:
        case _, Raised(type=error_type, message=message):
            return symptom_of(error_type, message)
        case NothingReturned(), _:
            return Symptom.NOTHING
        case Differs(difference), _ if difference.kind == compare.Kind.DTYPE:
            return Symptom.DTYPE
        case Differs(), Returned() if holds_nan(case.result):
            return Symptom.NAN
    return None


def read_answer(exercise: Exercise, answer: Answer, case: SampledCase, time: JudgingTime) -> Answer:
    """Reduce an answer to what is compared, if it can be read."""
    time.check()
    if exercise.read is None or not isinstance(answer, Returned):
        return answer
    if answer.value is None or first_unusable(answer.value):
        return answer
    try:
        observation = exercise.form.observed(answer.value)
        if exercise.form.returned_nothing(observation):
            return replace(answer, value=None)
        return replace(answer, value=exercise.read(observation, *case.inputs))
    except Exception:  # our code in the sandbox never sends it
        return replace(answer, value=Unusable(UNREADABLE))


def best_picture(pictures: Iterable[Picture]) -> Picture | None:
    """The smallest picture that shows a broken rule, yet is large enough to see rows and columns."""

    def order(picture: Picture) -> tuple[bool, bool, bool, int]:
        height, width = len(picture.numbers), len(picture.numbers[0])
        return not picture.wrong, max(height, width) < 3, min(height, width) < 2, height * width

    return min(pictures, key=order, default=None)
