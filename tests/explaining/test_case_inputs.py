"""Which hidden cases are asked about: those whose inputs are the arguments of one call."""

from __future__ import annotations

import pytest

from grader.explaining.case_inputs import inputs_to_ask_about
from support.our_course import EXERCISES


@pytest.mark.parametrize("number", [26, 27, 29])
def test_cases_of_several_calls_are_left_out(number: int) -> None:
    """Texts that go on, steps of training, and runs in chunks."""
    assert not inputs_to_ask_about(EXERCISES[number])


@pytest.mark.parametrize("number", [12, 15, 28, 31])
def test_cases_of_one_call_are_asked_about_with_a_probe_or_without(number: int) -> None:
    cases = inputs_to_ask_about(EXERCISES[number])
    assert len(cases) > 4
    assert not any(isinstance(value, dict) for draws in cases for draw in draws for value in draw.arguments)
