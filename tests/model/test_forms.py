"""The forms of what an exercise asks for: a file on either side, and nothing else that knows them by name."""

from __future__ import annotations

import pkgutil
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.judging.judge import judge
from grader.judging.sentences import WHOLE
from grader.model import forms as trusted
from grader.model.answer import Returned
from grader.model.exercise import Case, Exercise, Misconception, randn
from grader.model.forms.function import Form
from grader.model.forms.parts import InParts
from grader.sandbox import forms

OBSERVE = '''
"""A generator: all that it yields."""
WORDS = False


def put(entry, inputs):
    return list(entry(*inputs))
'''


class Generator(InParts):
    """What it yields is read in parts."""

    name = "generator"
    noun = "generator"


def total_and_parts(x: torch.Tensor, *, sign: float = 1.0) -> list[torch.Tensor]:
    return [sign * x.sum(), x.cumsum(0)]


EXERCISE = Exercise(
    number=99,
    assignment="made_up",
    title="Running sums",
    entry="sums",
    form=Generator(),
    reference=total_and_parts,
    read=lambda yielded, _x: {"output": {"total": yielded[0], "running sum": yielded[1]}},
    cases=[Case("five numbers", catches="nothing", inputs=lambda rng: (randn(rng, 5),))],
    mistakes=[
        Misconception("sign flipped", kind="scaling", credit=0.5, says="Add them.", change={"sign": -1.0}),
    ],
)


@pytest.fixture
def _generators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in a folder of forms, as somebody would add it to grader/sandbox/forms."""
    (tmp_path / "generator.py").write_text(textwrap.dedent(OBSERVE))
    monkeypatch.setattr(forms, "__path__", [*forms.__path__, str(tmp_path)])
    monkeypatch.setattr(forms, "FORMS", forms.load(forms.__path__))
    monkeypatch.delitem(sys.modules, f"{forms.__name__}.generator")


def verdict_on(function: Any) -> Any:
    cases = EXERCISE.sample()
    answers = [Returned(forms.put(EXERCISE.form.name, function, case.inputs), list(case.inputs)) for case in cases]
    return judge(EXERCISE, cases, answers)


@pytest.mark.usefixtures("_generators")
def test_a_new_form_is_a_new_file() -> None:
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
    assert verdict_on(halved).sentences[0].startswith("Entry [0] of the running sum is the first wrong number;")
    same = "Your generator returns the same result for all inputs of the same size."
    assert verdict_on(lambda _x: [torch.zeros(()), torch.zeros(5)]).sentences == (same,)
    assert verdict_on(lambda _x: [torch.ones(()), torch.ones(5)]).sentences == (same, WHOLE)


def test_each_file_of_the_sandbox_has_a_form_on_the_other_side() -> None:
    modules = [import_module(f"{trusted.__name__}.{one.name}") for one in pkgutil.iter_modules(trusted.__path__)]
    named = {one.name for module in modules for one in vars(module).values() if isinstance(one, Form)}
    assert set(forms.FORMS) == named


@pytest.mark.parametrize("name", forms.FORMS)
def test_every_form_says_how_a_case_is_put(name: str) -> None:
    assert callable(forms.FORMS[name].put)
    assert isinstance(forms.has_words(name), bool)
