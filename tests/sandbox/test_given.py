"""What a case gives to a student's code: a copy, and whether that is as it was is seen where it was changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import torch

from grader.sandbox import child
from grader.sandbox.child import CaseInputs
from grader.sandbox.forms import encode_value

INPUTS = [torch.arange(4.0), [torch.ones(2), torch.zeros(2)], {"name": [1, 2.5, "word", None, True]}, (3,)]


def given_as(inputs: list[Any]) -> CaseInputs:
    return CaseInputs("function", *encode_value("function", inputs), "cpu")


def change_kind(inputs: Any) -> None:
    inputs[0].data = inputs[0].double()


CHANGES: dict[str, Callable[[Any], object]] = {
    "a number in a tensor": lambda inputs: inputs[0].add_(1),
    "a number in a tensor of a list": lambda inputs: inputs[1][1].fill_(2),
    "one tensor of a list more": lambda inputs: inputs[1].append(torch.ones(2)),
    "the order of a list": lambda inputs: inputs[1].reverse(),
    "the shape of a tensor": lambda inputs: inputs[0].resize_(2, 2),
    "the kind of numbers": change_kind,
    "a word in a dict": lambda inputs: inputs[2]["name"].__setitem__(2, "other"),
    "a name in a dict": lambda inputs: inputs[2].update(more=1),
    "a truth value that is a number now": lambda inputs: inputs[2]["name"].__setitem__(4, 1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_is_unchanged_when_inputs_change_is_false_and_next_call_is_fresh(what: str) -> None:
    case = given_as(INPUTS)
    inputs = case.inputs(again=True)
    assert case.is_unchanged(inputs)
    CHANGES[what](inputs)
    assert not case.is_unchanged(inputs)
    assert case.is_unchanged(case.inputs(again=True))


def test_inputs_when_large_are_not_copied_for_a_single_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MOST_COPIED", 8)
    case = given_as([torch.arange(4.0)])
    inputs = case.inputs(again=False)
    assert inputs is case.inputs(again=False)
    assert not case.is_unchanged(inputs)  # of which nobody knows any more


@pytest.mark.parametrize("value", [float("nan"), torch.tensor([float("nan")]), {1, 2}, pd.DataFrame({"a": [1, 2]})])
def test_is_unchanged_when_it_cannot_be_told_is_false(value: Any) -> None:
    case = given_as([value])
    assert not case.is_unchanged(case.inputs(again=True))
