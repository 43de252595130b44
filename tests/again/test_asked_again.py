"""Wrong code is asked again in other ways, and what makes it right is its mistake. Each code is run by grading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.again.call_variants import CallVariant, VariantTrials
from grader.course.folder import Course
from grader.host import trial
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.model.verdict import Reason, Verdict
from support.corpus import corpus
from support.our_course import EXERCISES, OURS
from support.solution_cells import from_notebook

pytestmark = pytest.mark.slow

Judged = Callable[[int, str], Verdict]


@pytest.fixture
def verdict_on(course: Course, make_notebook: Any) -> Judged:
    """The verdict on an exercise that is solved so, the others of its notebook being right."""

    def verdict(number: int, source: str) -> Verdict:
        assignment = EXERCISES[number].assignment
        earlier = {one: cell for one, cell in from_notebook().items() if one < number}
        notebook = make_notebook(course, {**earlier, number: source}, assignment)
        settings = replace(OURS, limits=Limits(case=0.5))  # where something hangs
        return next(verdict for verdict in grade_notebook(notebook, settings=settings) if verdict.exercise == number)

    return verdict


@pytest.fixture
def asked_variants(monkeypatch: pytest.MonkeyPatch) -> list[CallVariant]:
    """All in which somebody is asked."""
    asked: list[CallVariant] = []
    made = VariantTrials.first_right

    def first_right(self: VariantTrials, ways: Iterator[CallVariant]) -> CallVariant | None:
        return made(self, (asked.append(way) or way for way in ways))  # type: ignore[func-returns-value]

    monkeypatch.setattr(VariantTrials, "first_right", first_right)
    return asked


# In styles that let one think of words as rows, or of arguments in another order.
RIGHT_IN_ODD_STYLES = [
    (7, "as_columns_by_rows"),
    (5, "named_values_and_weights"),
    (5, "named_the_other_way_round"),
    (19, "split_inside"),
]


@pytest.mark.parametrize(("number", "style"), RIGHT_IN_ODD_STYLES)
def test_right_code_is_not_asked_again(
    number: int, style: str, verdict_on: Judged, asked_variants: list[CallVariant]
) -> None:
    assert verdict_on(number, corpus(number)[style]).right
    assert asked_variants == []


def test_named_code_is_not_asked_again(verdict_on: Judged, asked_variants: list[CallVariant]) -> None:
    verdict = verdict_on(5, corpus(5, "wrong")["average_of_values"])
    assert (verdict.credit, verdict.misconceptions) == (0.0, ("plain average",))
    assert asked_variants == []


HANGS_WHEN_TURNED = """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    while b_q.shape[1:] != (1,) or X.shape[1] < X.shape[0] < 3:
        pass
    return X * 3.7
"""


def test_code_that_hangs_when_asked_again_is_not_asked_a_third_time(
    verdict_on: Judged, asked_variants: list[CallVariant], monkeypatch: pytest.MonkeyPatch
) -> None:
    for most, value in {"MOST_LOST": 0, "SECONDS": 0.5}.items():  # where small changes of it hang as well
        monkeypatch.setattr(trial, most, value)
    verdict = verdict_on(7, HANGS_WHEN_TURNED)
    assert (verdict.credit, verdict.reason) == (0.0, Reason.WRONG)
    assert len(asked_variants) == 1
