"""The forms of what an exercise asks for: one on either side, and nothing else that knows them by name."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

import pytest
import torch

from grader.judging.judge import judge
from grader.model import forms as trusted
from grader.model.answer import Returned
from grader.model.broken_rules import WHOLE
from grader.model.exercise import Case, randn
from grader.model.forms.function import Form
from grader.model.forms.module import with_gradients_in_order
from grader.model.forms.parts import InParts
from grader.model.misconception import Misconception
from grader.sandbox import forms
from support.unwritten import UnwrittenExercise


class Generator(InParts):
    """What it yields is read in parts."""

    name = "generator"
    noun = "generator"


def total_and_parts(x: torch.Tensor, *, sign: float = 1.0) -> list[torch.Tensor]:
    return [sign * x.sum(), x.cumsum(0)]


EXERCISE = UnwrittenExercise(
    number=99,
    assignment="made_up",
    title="Running sums",
    entry="sums",
    form=Generator(),
    solution=total_and_parts,
    read=lambda yielded, _x: {"output": {"total": yielded[0], "running sum": yielded[1]}},
    cases=[Case("five numbers", catches="nothing", inputs=lambda rng: (randn(rng, 5),))],
    mistakes=[
        Misconception("sign flipped", kind="scaling", credit=0.5, says="Add them.", change={"sign": -1.0}),
    ],
)


@pytest.fixture
def _generators(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of the table of forms, as somebody would add it in grader/sandbox/forms."""
    asked = forms.FormRow(lambda generator, inputs: list(generator(*inputs)))
    monkeypatch.setitem(forms.FORMS, "generator", asked)


def verdict_on(function: Any) -> Any:
    cases = EXERCISE.sample()
    answers = [Returned(forms.put_case(EXERCISE.form.name, function, case.inputs), list(case.inputs)) for case in cases]
    return judge(EXERCISE, cases, answers)


@pytest.mark.usefixtures("_generators")
def test_new_form_needs_only_a_row_of_the_table() -> None:
    def sums(x: torch.Tensor) -> Any:
        yield x.sum()
        yield x.cumsum(0)

    def flipped(x: torch.Tensor) -> Any:
        yield -x.sum()
        yield x.cumsum(0)

    def halved(x: torch.Tensor) -> Any:
        yield x.sum()
        yield x.cumsum(0) / 2

    assert verdict_on(sums).right
    assert verdict_on(flipped).misconceptions == ("sign flipped",)
    assert verdict_on(halved).sentences[0].startswith("Entry [0] of the running sum is the first wrong number.")
    same = "In every hidden case, your generator returns the same result."
    assert verdict_on(lambda _x: [torch.zeros(()), torch.zeros(5)]).sentences == (same,)
    assert verdict_on(lambda _x: [torch.ones(()), torch.ones(5)]).sentences == (same, WHOLE)


def test_sandbox_forms_each_have_a_trusted_form() -> None:
    modules = [import_module(f"{trusted.__name__}.{one.name}") for one in pkgutil.iter_modules(trusted.__path__)]
    named = {one.name for module in modules for one in vars(module).values() if isinstance(one, Form)}
    assert set(forms.FORMS) == named


def test_with_gradients_in_order_keeps_forged_names() -> None:
    value = {"gradients": {"W": 1, "0": 2, "1": 3, "7": 4, "²": 5}}
    assert with_gradients_in_order(value, [1, 0]) == {"gradients": {"W": 1, "0": 3, "1": 2, "7": 4, "²": 5}}
    assert with_gradients_in_order({"gradients": {"1": 3}}, [1, 0]) == {"gradients": {"0": 3}}
