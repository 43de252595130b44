"""Turn answers into a verdict, and name the mistake when the evidence is complete.

A misconception is named only when it reproduces the student's answers on every case. Otherwise the verdict
says how the first wrong answer differs, and claims nothing more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from grader.answer import Answer, Lost, Missing, Raised, Returned
from grader.compare import Difference, describe_form, difference, paired_numbers, same
from grader.exercise import DrawnCase, Exercise, Misconception, can_combine
from grader.sandbox.wire import Unusable
from grader.verdict import Verdict

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


def judge(exercise: Exercise, drawn: Sequence[DrawnCase], answers: Sequence[Answer], device: str = "cpu") -> Verdict:
    """The verdict on the answers to all cases of an exercise."""
    return _Judgement(exercise, drawn, answers, device).verdict()


class _Judgement:
    """One exercise of one submission, with everything that the rules below look at."""

    def __init__(self, exercise: Exercise, drawn: Sequence[DrawnCase], answers: Sequence[Answer], device: str) -> None:
        self.exercise = exercise
        self.drawn = drawn
        self.answers = answers
        self.device = device
        self.tolerance = TOLERANCE[device]
        self.expected = [exercise.reference(*case.inputs) for case in drawn]
        self.differences = [self._difference(*pair) for pair in zip(answers, self.expected, strict=True)]

    def verdict(self) -> Verdict:
        """The first rule that applies decides."""
        rules = (
            self._no_function,
            self._to_do,
            self._right,
            self._one_thing_wrong,
            self._named,
            self._constant,
            self._imprecise,
            self._rearranged,
        )
        return next((verdict for rule in rules if (verdict := rule())), None) or self._unexplained()

    def _difference(self, answer: Answer, expected: Any) -> Difference | None:
        if not isinstance(answer, Returned):
            return Difference("error", _explain_failure(answer))
        unusable = _first_unusable(answer.value)
        if unusable is not None:
            return Difference("type", f"Your function returned {unusable.reason}.")
        if answer.value is None:
            return Difference("type", "Your function returned None: does it end with a return statement?")
        return difference(answer.value, expected, self.tolerance)

    def _result(
        self, credit: float, reason: str, *sentences: str, misconceptions: Iterable[Misconception] = ()
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
        text = f"There is no function called {self.exercise.entry}."
        return self._result(0.0, "missing", text, *([missing.because] if missing.because else []))

    def _to_do(self) -> Verdict | None:
        """The function as it was handed out. One that stops because an earlier exercise is to do is another matter."""
        for answer in self.answers:
            if not isinstance(answer, Raised) or answer.type != "NotImplementedError":
                return None
            if answer.function != self.exercise.entry:
                return None
        return self._result(0.0, "to do", "This exercise is still to do.")

    def _right(self) -> Verdict | None:
        if any(self.differences) or self._modifies_inputs() or self._on_wrong_device():
            return None
        return self._result(1.0, "right", "Right.")

    def _one_thing_wrong(self) -> Verdict | None:
        """All numbers are right, but not the manners."""
        if any(self.differences):
            return None
        if self._on_wrong_device():
            text = (
                "The numbers are right, but your result is not on the device of the input. "
                "Make new tensors with device=x.device, or with functions such as torch.zeros_like(x)."
            )
            return self._result(DEVICE_CREDIT, "wrong device", text)
        text = (
            "The result is right, but your function changes its input. "
            "Avoid operations in place such as x -= … or x[i] = … on an argument; compute a new tensor."
        )
        return self._result(MODIFIED_CREDIT, "input modified", text)

    def _modifies_inputs(self) -> bool:
        return any(
            isinstance(answer, Returned) and not _identical(answer.inputs_after, list(case.inputs))
            for answer, case in zip(self.answers, self.drawn, strict=True)
        )

    def _on_wrong_device(self) -> bool:
        return any(isinstance(answer, Returned) and answer.devices - {self.device} for answer in self.answers)

    def _named(self) -> Verdict | None:
        """One misconception, or two at once, that answer as the student's code does on every case."""
        singles = [(one,) for one in self.exercise.misconceptions]
        pairs = (pair for pair in itertools.combinations(self.exercise.misconceptions, 2) if can_combine(*pair))
        for found in itertools.chain(singles, pairs):
            if self._explained_by(found):
                credit = 1.0
                for one in found:
                    credit *= one.credit
                sentences = [one.says for one in found]
                if len(found) == 2:
                    sentences.insert(0, "Two things at once:")
                return self._result(credit, "misconception", *sentences, misconceptions=found)
        return None

    def _explained_by(self, misconceptions: Sequence[Misconception]) -> bool:
        returned = False
        for case, answer, expected in zip(self.drawn, self.answers, self.expected, strict=True):
            try:
                wrong = self.exercise.wrong_answer(misconceptions, case.inputs)
            except Exception:  # some mistakes cannot be computed for some sizes: then the student's code fails too
                if not isinstance(answer, Raised):
                    return False
                continue
            if not isinstance(answer, Returned) or not agrees(answer.value, wrong, expected, self.tolerance):
                return False
            returned = True
        return returned  # errors alone are no evidence

    def _constant(self) -> Verdict | None:
        """The same result for different inputs of the same shape."""
        values: dict[str, list[Any]] = {}
        for case, answer in zip(self.drawn, self.answers, strict=True):
            if not isinstance(answer, Returned) or answer.value is None:
                return None
            values.setdefault(case.case.name, []).append(answer.value)
        if all(len(pair) > 1 and _identical(*pair[:2]) for pair in values.values()):
            return self._result(0.0, "constant", "Your function returns the same result whatever its input is.")
        return None

    def _imprecise(self) -> Verdict | None:
        """Right numbers, of which digits were thrown away."""
        pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        for answer, expected in zip(self.answers, self.expected, strict=True):
            paired = paired_numbers(answer.value, expected) if isinstance(answer, Returned) else None
            if not paired:
                return None
            pairs += paired
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
                return self._result(PRECISION_CREDIT, "rounded", text)
        for dtype in (torch.float16, torch.bfloat16):
            rounded = got.to(dtype).double()
            if torch.equal(rounded, got) and bool(((got - want).abs() <= 0.05 * scale).all()):
                text = "Your result has the precision of 16-bit numbers only. Compute with float32 throughout."
                return self._result(PRECISION_CREDIT, "half precision", text)
        return None

    def _rearranged(self) -> Verdict | None:
        wrong = [difference for difference in self.differences if difference]
        if all(difference.right_numbers for difference in wrong):
            text = f"All numbers are right, but not their arrangement: {wrong[0].text}"
            return self._result(ARRANGEMENT_CREDIT, "arrangement", text)
        return None

    def _unexplained(self) -> Verdict:
        index, first = next((i, found) for i, found in enumerate(self.differences) if found)
        right = sum(found is None for found in self.differences)
        sentences = [first.text]
        if right:
            sentences.append(
                f"{right} of {len(self.differences)} hidden cases are right; "
                f"the first wrong one is “{self.drawn[index].case.name}”."
            )
        answer = self.answers[index]
        if isinstance(answer, Returned) and first.kind in ("length", "type") and not first.text.startswith("Your"):
            sentences.append(f"Your function returned {describe_form(answer.value)}.")
        reason = {Raised: "error", Lost: "no answer"}.get(type(answer), "wrong")
        return self._result(0.0, reason, *sentences)


def agrees(answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
    """Whether an answer is what a misconception answers.

    Where the misconception returns the form that is asked for, the same liberties are taken as with right
    answers; where its form is the mistake, the answer must have just this form.
    """
    strict = describe_form(wrong) != describe_form(expected)
    return same(answer, wrong, tolerance, strict=strict)


def _explain_failure(answer: Answer) -> str:
    match answer:
        case Raised(type=kind, message=message, line=line):
            text = f"Your function stopped with {_word(kind)}"
            text += f": {_safe_message(message)}" if message else ""
            return f"{text}, at the line `{line.strip()}`." if line else f"{text}."
        case Lost(reason=reason):
            return reason
        case _:
            return "There is no such function."


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
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and one is None
