"""Turn answers into a verdict, and name the mistake when the evidence is complete.

A misconception is named only when it reproduces the student's answers on every case. Otherwise the verdict
says how the first wrong answer differs, and claims nothing more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.naming import explaining
from grader.model.answer import Answer, Lost, Missing, Raised, Returned, sentence_of
from grader.model.compare import Difference, describe_form, difference, paired_numbers
from grader.model.exercise import Exercise, Misconception, SampledCase
from grader.model.verdict import Picture, Reason, Verdict
from grader.sandbox.values import Unusable

# Right float32 implementations differ from the float64 result by at most 3e-7 on the hidden cases, relative to the
# expected number plus the largest one of the answer (tests/test_tolerance.py measures it). Thirty times that is
# still rounding; a hundred times the tolerance is a part in a thousand, two decimals, or half precision, whose
# spacing is 1e-3. The matrix products of a GPU add up in another order, for which we allow three times as much.
TOLERANCE = {"cpu": 1e-5, "cuda": 3e-5}

# Credit for answers that are right but for one thing, whatever the exercise.
ARRANGEMENT_CREDIT = 0.5
MODIFIED_CREDIT = 0.5
DEVICE_CREDIT = 0.5
PRECISION_CREDIT = 0.5
# The same for classes, by the part that is not right.
SIDES = {"gradient": 0.5, "dropout": 0.5, "mask": 0.75, "input": 0.5, "arguments": 0.75}


def judge(exercise: Exercise, cases: Sequence[SampledCase], answers: Sequence[Answer], device: str = "cpu") -> Verdict:
    """The verdict on the answers to all cases of an exercise."""
    return judge_by(AnswerKey(exercise, cases), answers, device)


def judge_by(key: AnswerKey, answers: Sequence[Answer], device: str = "cpu") -> Verdict:
    """The same with an answer key, which is worth keeping for other answers to the same cases."""
    judgement = _Judgement(key, answers, device)
    verdict = judgement.verdict()
    return verdict if verdict.right else replace(verdict, pictures=judgement.pictures())


def combined(verdicts: Mapping[str, Verdict]) -> Verdict:
    """One verdict for the functions of an exercise, by name, which share its points."""
    first, *others = verdicts.values()
    if not others:
        return first
    said = [verdict.sentences for verdict in verdicts.values()]
    named = [f"`{name}`: {text}" for name, verdict in verdicts.items() for text in verdict.sentences]
    return replace(
        first,
        credit=sum(verdict.credit for verdict in verdicts.values()) / len(verdicts),
        reason=min(verdicts.values(), key=lambda verdict: verdict.credit).reason,
        sentences=first.sentences if all(sentences == first.sentences for sentences in said) else tuple(named),
        misconceptions=tuple(name for verdict in verdicts.values() for name in verdict.misconceptions),
        cases_right=sum(verdict.cases_right for verdict in verdicts.values()),
        cases=sum(verdict.cases for verdict in verdicts.values()),
        explained_in=next((verdict.explained_in for verdict in verdicts.values() if verdict.explained_in), ""),
        pictures=tuple(picture for verdict in verdicts.values() for picture in verdict.pictures),
        lost=next((verdict.lost for verdict in verdicts.values() if verdict.lost), None),
        functions={name: replace(verdict, pictures=()) for name, verdict in verdicts.items()},
    )


class _Judgement:
    """One exercise of one submission, with everything that the rules below look at."""

    def __init__(self, key: AnswerKey, answers: Sequence[Answer], device: str) -> None:
        self.key = key
        self.exercise = key.exercise
        self.cases = key.cases
        self.answers = [self._read(*pair) for pair in zip(answers, self.cases, strict=True)]
        self.device = device
        self.tolerance = TOLERANCE[device]
        self.expected = key.expected
        self.differences = [self._difference(*pair) for pair in zip(self.answers, self.expected, strict=True)]

    def _read(self, answer: Answer, case: SampledCase) -> Answer:
        """What is compared of an answer, if it can be read."""
        if self.exercise.read is None or not isinstance(answer, Returned):
            return answer
        if answer.value is None or _first_unusable(answer.value):
            return answer
        try:
            return replace(answer, value=self.exercise.reading(answer.value, case.inputs))
        except Exception:  # not what our code in the sandbox sends
            return replace(answer, value=Unusable("something that cannot be read"))

    def verdict(self) -> Verdict:
        """The first rule that applies decides."""
        rules = (
            self._no_function,
            self._to_do,
            self._right,
            self._one_thing_wrong,
            self._named,
            self._output_right,
            self._constant,
            self._imprecise,
            self._rearranged,
        )
        return next((verdict for rule in rules if (verdict := rule())), None) or self._unexplained()

    def pictures(self) -> tuple[Picture, ...]:
        """What the student's code returned in the wrong case that shows best what is wrong, if any can be drawn."""
        found = []
        for case, answer, wrong in zip(self.cases, self.answers, self.differences, strict=True):
            if self.exercise.picture and wrong and isinstance(answer, Returned) and not _first_unusable(answer.value):
                picture = self.exercise.picture(answer.value, case.inputs)
                title = f"What your `{self.exercise.entry}` returned in the hidden case “{case.case.name}”"
                found += [replace(picture, title=title)] if picture else []
        best = best_picture(found)
        return (best,) if best else ()

    def _difference(self, answer: Answer, expected: Any) -> Difference | None:
        if not isinstance(answer, Returned):
            return Difference("error", _explain_failure(answer, self.noun))
        unusable = _first_unusable(answer.value)
        if unusable is not None:
            return Difference("type", f"Your {self.noun} returned {unusable.reason}.")
        if answer.value is None:
            return Difference("type", "Your function returned None: does it end with a return statement?")
        if isinstance(expected, dict):
            return difference_in_parts(answer.value, expected, self.tolerance)
        return difference(answer.value, expected, self.tolerance)

    @property
    def noun(self) -> str:
        return "class" if self.exercise.form == "module" else "function"

    def _result(
        self, credit: float, reason: Reason, *sentences: str, misconceptions: Iterable[Misconception] = ()
    ) -> Verdict:
        return Verdict(
            exercise=self.exercise.number,
            title=self.exercise.title,
            credit=credit,
            reason=reason,
            sentences=sentences,
            misconceptions=tuple(one.name for one in misconceptions),
            cases_right=sum(difference is None for difference in self.differences),
            cases=len(self.answers),
        )

    def _no_function(self) -> Verdict | None:
        missing = next((answer for answer in self.answers if isinstance(answer, Missing)), None)
        if missing is None:
            return None
        text = f"There is no {self.noun} called {self.exercise.entry}."
        verdict = self._result(0.0, Reason.MISSING, text, *([missing.because] if missing.because else []))
        return replace(verdict, lost=missing.lost)

    def _to_do(self) -> Verdict | None:
        """The function as it was handed out. One that stops because an earlier exercise is to do is another matter."""
        for answer in self.answers:
            if not isinstance(answer, Raised) or answer.type != "NotImplementedError":
                return None
            if answer.function not in (self.exercise.entry, "__init__", "forward"):
                return None
        return self._result(0.0, Reason.TO_DO, "This exercise is still to do.")

    def _right(self) -> Verdict | None:
        if any(self.differences) or self._modifies_inputs() or self._on_wrong_device():
            return None
        return self._result(1.0, Reason.RIGHT, "Right.")

    def _one_thing_wrong(self) -> Verdict | None:
        """All numbers are right, but not the manners."""
        if any(self.differences):
            return None
        if self._on_wrong_device():
            text = (
                "The numbers are right, but your result is not on the device of the input. "
                "Make new tensors with device=x.device, or with functions such as torch.zeros_like(x)."
            )
            return self._result(DEVICE_CREDIT, Reason.WRONG_DEVICE, text)
        text = (
            "The result is right, but your function changes its input. "
            "Avoid operations in place such as x -= … or x[i] = … on an argument; compute a new tensor."
        )
        return self._result(MODIFIED_CREDIT, Reason.INPUT_MODIFIED, text)

    def _modifies_inputs(self) -> bool:
        return any(
            isinstance(answer, Returned) and not _identical(answer.inputs_after, list(case.inputs))
            for answer, case in zip(self.answers, self.cases, strict=True)
        )

    def _on_wrong_device(self) -> bool:
        return any(isinstance(answer, Returned) and answer.devices - {self.device} for answer in self.answers)

    def _named(self) -> Verdict | None:
        """One misconception, or two at once, that answer as the student's code does on every case."""
        wrong = [bool(difference) for difference in self.differences]
        held = explaining(self.key, self.answers, wrong, self.tolerance)
        if not held:
            return None
        sentences = ["Two things at once:"] if len(held) == 2 else []
        sentences += [misconception.says for misconception in held]
        credit = math.prod(misconception.credit for misconception in held)
        verdict = self._result(credit, Reason.MISCONCEPTION, *sentences, misconceptions=held)
        return replace(verdict, explained_in=self._explained_in(held))

    def _explained_in(self, misconceptions: Sequence[Misconception]) -> str:
        """The section that explains the first of these that another section than the exercise's own explains."""
        names = [name for one in misconceptions for name in (one.name, one.kind)]
        return next((self.exercise.explained_in[name] for name in names if name in self.exercise.explained_in), "")

    def _output_right(self) -> Verdict | None:
        """What a class computes is right in every case, and something else is not."""
        wrong = [found for found in self.differences if found]
        if any(found.kind not in SIDES for found in wrong):
            return None
        kind = min((found.kind for found in wrong), key=list(SIDES).index)
        texts = list(dict.fromkeys(found.text for found in wrong if found.kind == kind))
        return self._result(SIDES[kind], Reason(kind), "What you compute is right.", texts[0])

    def _constant(self) -> Verdict | None:
        """The same result for different inputs of the same shape."""
        values: dict[str, list[Any]] = {}
        for case, answer in zip(self.cases, self.answers, strict=True):
            if not isinstance(answer, Returned):
                return None
            value = answer.value.get("output") if isinstance(answer.value, dict) else answer.value
            if value is None:
                return None
            values.setdefault(case.case.name, []).append(value)
        if all(len(pair) > 1 and _identical(*pair[:2]) for pair in values.values()):
            return self._result(
                0.0, Reason.CONSTANT, f"Your {self.noun} returns the same result whatever its input is."
            )
        return None

    def _imprecise(self) -> Verdict | None:
        """Right numbers, of which digits were thrown away."""
        pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        for answer, expected in zip(self.answers, self.expected, strict=True):
            paired = _paired_numbers(answer.value, expected) if isinstance(answer, Returned) else None
            if paired is None:
                return None
            pairs += paired
        if not pairs:
            return None
        got = torch.cat([pair[0].reshape(-1) for pair in pairs])
        want = torch.cat([pair[1].reshape(-1) for pair in pairs])
        scale = want.abs().max()
        for decimals in range(5):
            if 10.0**-decimals > scale / 2:  # hardly anything is left of the numbers
                continue
            if torch.allclose(got, got.round(decimals=decimals), rtol=1e-6, atol=0) and bool(
                ((got - want).abs() <= 0.51 * 10.0**-decimals + self.tolerance * scale).all()
            ):
                text = f"Your result is rounded to {decimals} decimals. Return it as it is; round only to print."
                return self._result(PRECISION_CREDIT, Reason.ROUNDED, text)
        for dtype in (torch.float16, torch.bfloat16):
            rounded = got.to(dtype).double()
            if torch.equal(rounded, got) and bool(((got - want).abs() <= 0.05 * scale).all()):
                text = "Your result has the precision of 16-bit numbers only. Compute with float32 throughout."
                return self._result(PRECISION_CREDIT, Reason.HALF_PRECISION, text)
        return None

    def _rearranged(self) -> Verdict | None:
        wrong = [difference for difference in self.differences if difference]
        if all(difference.right_numbers for difference in wrong):
            text = f"All numbers are right, but not their arrangement: {wrong[0].text}"
            return self._result(ARRANGEMENT_CREDIT, Reason.ARRANGEMENT, text)
        return None

    def _unexplained(self) -> Verdict:
        index, first = next((i, found) for i, found in enumerate(self.differences) if found)
        right = sum(found is None for found in self.differences)
        sentences = [first.text]
        if right:
            sentences.append(
                f"{right} of {len(self.differences)} hidden cases are right; "
                f"the first wrong one is “{self.cases[index].case.name}”."
            )
        answer = self.answers[index]
        if isinstance(answer, Returned) and first.kind in ("length", "type") and not first.text.startswith("Your"):
            sentences.append(f"Your function returned {describe_form(answer.value)}.")
        reason = {Raised: Reason.ERROR, Lost: Reason.NO_ANSWER}.get(type(answer), Reason.WRONG)
        return replace(self._result(0.0, reason, *sentences), lost=answer if isinstance(answer, Lost) else None)


def best_picture(pictures: Iterable[Picture]) -> Picture | None:
    """One where a rule is broken, and of these the smallest in which rows and columns can be told apart."""

    def order(picture: Picture) -> tuple[bool, bool, bool, int]:
        height, width = len(picture.numbers), len(picture.numbers[0])
        return not picture.wrong, max(height, width) < 3, min(height, width) < 2, height * width

    return min(pictures, key=order, default=None)


def difference_in_parts(got: Any, want: dict[str, Any], tolerance: float) -> Difference | None:
    """The first part with a difference, in the order of the parts. A difference is of the kind of its part."""
    for part, wanted in want.items():
        given = got.get(part) if isinstance(got, dict) else None
        if isinstance(given, str) or isinstance(wanted, str):
            if given != wanted:
                return Difference(
                    part, given if isinstance(given, str) and given else f"The {part} cannot be compared."
                )
            continue
        found = _difference_of_part(part, given, wanted, tolerance)
        if found:
            return found
    return None


def _difference_of_part(part: str, given: Any, wanted: Any, tolerance: float) -> Difference | None:
    """The difference of a tensor, or of tensors by name, which have one scale for their errors."""
    if not isinstance(wanted, dict):
        found = difference(given, wanted, tolerance)
        return found and replace(found, kind=part, text=_about(part, found.text))
    values = [given.get(name) if isinstance(given, dict) else None for name in wanted]
    found = difference(values, list(wanted.values()), tolerance)
    if not found:
        return None
    index = re.match(r"result\[(\d+)\]", found.text)
    label, text = (list(wanted)[int(index[1])], f"result{found.text[index.end() :]}") if index else (part, found.text)
    return replace(found, kind=part, text=_about(label, text))


def _about(label: str, text: str) -> str:
    """The text of a difference with a name for what it calls result."""
    place = re.match(r"result((?:\[[\d, ]*\])*) ", text)
    if not place:
        return text
    subject = f"Entry {place[1]} of the {label}" if place[1] else f"The {label}"
    return f"{subject} {text[place.end() :]}"


def _paired_numbers(got: Any, want: Any) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """All given numbers with the expected ones; of a class, those that it computes."""
    if not isinstance(want, dict):
        return paired_numbers(got, want)
    if "output" not in want:
        return []
    got = got.get("output") if isinstance(got, dict) else None
    return paired_numbers(*(list(one.values()) if isinstance(one, dict) else one for one in (got, want["output"])))


def _explain_failure(answer: Answer, noun: str) -> str:
    match answer:
        case Raised(type=kind, message=message, line=line):
            text = f"Your {noun} stopped with {_word(kind)}"
            text += f": {_safe_message(message)}" if message else ""
            return f"{text}, at the line `{line.strip()}`." if line else f"{text.rstrip('.')}."
        case Lost():
            return sentence_of(answer)
        case _:
            return f"There is no such {noun}."


def _word(name: str) -> str:
    return re.sub(r"\W", "", name)[:60] or "an error"


def _safe_message(message: str) -> str:
    """An error message without anything that could be a hidden number: sizes may stay, decimals may not."""
    text = re.sub(r"[-+]?(\d+\.\d*|\.\d+|\d+e[-+]?\d+|\d{4,})(e[-+]?\d+)?", "…", message, flags=re.IGNORECASE)
    text = " ".join(text.split())
    return text[:160] + ("…" if len(text) > 160 else "")


def _first_unusable(value: Any) -> Unusable | None:
    if isinstance(value, Unusable):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return next((found for item in value if (found := _first_unusable(item))), None)
    return None


def _identical(one: Any, other: Any) -> bool:
    """Equal to the last bit, NaN included."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        same = one.shape == other.shape and one.dtype == other.dtype
        return same and (torch.equal(one, other) or torch.allclose(one, other, 0, 0, equal_nan=True))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_identical, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_identical(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and (one is None or (isinstance(one, (bool, int, str)) and one == other))
