"""Which of several pictures a student gets to see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from grader.judging import sentences
from grader.model.answer import Answer, Returned
from grader.model.exercise import Exercise, SampledCase
from grader.model.findings import Finding, first_unusable
from grader.model.verdict import Picture


def best_picture(pictures: Iterable[Picture]) -> Picture | None:
    """One where a rule is broken, and of these the smallest in which rows and columns can be told apart."""

    def order(picture: Picture) -> tuple[bool, bool, bool, int]:
        height, width = len(picture.numbers), len(picture.numbers[0])
        return not picture.wrong, max(height, width) < 3, min(height, width) < 2, height * width

    return min(pictures, key=order, default=None)


def pictures_of(exercise: Exercise, returned: Iterable[tuple[SampledCase, Any]]) -> list[Picture]:
    """All that can be drawn of what came back in some cases."""
    drawn = [(case, exercise.picture(value, case.inputs)) for case, value in returned] if exercise.picture else []
    return [
        replace(picture, title=sentences.shown(exercise.entry, case.case.name)) for case, picture in drawn if picture
    ]


def best_of_wrong(
    exercise: Exercise, cases: Sequence[SampledCase], answers: Sequence[Answer], findings: Sequence[Finding | None]
) -> tuple[Picture, ...]:
    """The best of the answers in which something is wrong, if any can be drawn."""
    wrong = [
        (case, answer.value)
        for case, answer, finding in zip(cases, answers, findings, strict=True)
        if finding and isinstance(answer, Returned) and not first_unusable(answer.value)
    ]
    best = best_picture(pictures_of(exercise, wrong))
    return (best,) if best else ()
