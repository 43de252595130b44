"""What is compared of an answer."""

from __future__ import annotations

from dataclasses import replace

from grader.judging.judging_time import JudgingTime
from grader.model.answer import Answer, Returned
from grader.model.exercise import Exercise, SampledCase
from grader.model.findings import first_unusable
from grader.sandbox.values import UNREADABLE, Unusable


def read(exercise: Exercise, answer: Answer, case: SampledCase, time: JudgingTime) -> Answer:
    """What is compared of an answer, if it can be read."""
    time.look()
    if exercise.read is None or not isinstance(answer, Returned):
        return answer
    if answer.value is None or first_unusable(answer.value):
        return answer
    if exercise.form.returned_nothing(answer.value):
        return replace(answer, value=None)
    unreadable = replace(answer, value=Unusable(UNREADABLE))
    if not exercise.form.is_well_formed(answer.value):  # not what our code in the sandbox sends
        return unreadable
    try:
        return replace(answer, value=exercise.compared(answer.value, case.inputs))
    except Exception:  # nor is this
        return unreadable
