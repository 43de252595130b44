"""An author's own probes: what they see of a student's code is judged, in the sandbox as outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from grader import (
    PARTS,
    Case,
    ClassCase,
    Exercise,
    InParts,
    Module,
    Observation,
    at,
    draw_weights,
    randn,
    reader,
    wrong,
)
from grader.host.limits import Limits
from grader.host.replies import AnswersOfEdited
from grader.host.sandbox_process import SandboxProcess
from grader.judging.judge import judge
from grader.model.edited import EditedSource
from grader.model.forms.function import Malformed
from grader.model.verdict import Reason, Verdict


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxProcess]:
    process = SandboxProcess({}, Limits(cell=20, case=20))
    yield process
    process.close()


def verdict_on(sandbox: SandboxProcess, exercise: Exercise, text: str) -> Verdict:
    assert not sandbox.run_cell(text, 20).error
    cases = exercise.sample()
    answers = sandbox.answers(exercise.entry, cases, {}, exercise.form.name, probe=exercise.probe_text)
    return judge(exercise, cases, list(answers))


# --- a function that is given a function, and returns one ------------------------------------------------------------


def remembered(function):  # type: ignore[no-untyped-def]
    results = {}

    def remember(x):  # type: ignore[no-untyped-def]
        if x not in results:  #: new
            results[x] = function(x)
        return results[x]  #: result

    return remember


STEP = 10


def count_calls(function: Callable[..., Any], numbers: list[int]) -> dict[str, Any]:
    """The results of a function that is remembered, and how often it was called for them."""
    calls = []

    def shifted(x: int) -> int:
        calls.append(x)
        return shift(x)

    quick = function(shifted)
    return {"results": list(map(quick, numbers)), "calls": len(calls)}


def shift(x: int) -> int:
    return x + STEP


REMEMBERED = Exercise(
    name="remembered",
    assignment="made_up",
    title="A memory",
    solution=remembered,
    probe=count_calls,
    cases=[
        Case("a number that comes again", catches="no memory", inputs=lambda _: ([3, 5, 3, 3],)),
        Case("others", catches="a memory of one number", inputs=lambda _: ([1, 2, 1, 2, 7],)),
    ],
    mistakes=[
        wrong("computed each time", {"new": "if True:"}, "Your function computes each result again. Keep them."),
        *at("result", wrong("one more", "return results[x] + 1", "Your results are one too large.")),
    ],
)
EACH_TIME = "def remembered(function):\n    return lambda x: function(x)"
OF_ONE = """
def remembered(function):
    last = []
    def remember(x):
        if last[:1] != [x]:
            last[:] = x, function(x)
        return last[1]
    return remember
"""


def test_code_is_right_if_the_probe_sees_what_it_sees_of_the_solution(sandbox: SandboxProcess) -> None:
    assert verdict_on(sandbox, REMEMBERED, "import functools\nremembered = functools.cache").right


def test_mistakes_are_named_by_what_the_probe_sees(sandbox: SandboxProcess) -> None:
    assert verdict_on(sandbox, REMEMBERED, EACH_TIME).misconceptions == ("computed each time",)


def test_mistake_without_a_name_is_described_by_what_the_probe_sees(sandbox: SandboxProcess) -> None:
    verdict = verdict_on(sandbox, REMEMBERED, OF_ONE)
    assert (verdict.right, verdict.reason, verdict.misconceptions) == (False, Reason.WRONG, ())
    assert "calls" in verdict.sentences[0]


MORE = {
    "the probe": "def count_calls(function, numbers):\n    return {'results': [n + 10 for n in numbers], 'calls': 2}",
    "the name at its end": "__probe__ = lambda function, numbers: {'results': [n + 10 for n in numbers], 'calls': 2}",
    "its parts": "def shift(x):\n    return 0\nSTEP = 3\nlist = map = len = torch = None",
}


@pytest.mark.parametrize("more", MORE.values(), ids=MORE)
def test_names_of_the_notebook_are_not_those_of_the_probe(more: str) -> None:
    process = SandboxProcess({}, Limits(cell=20, case=20))
    try:
        assert verdict_on(process, REMEMBERED, f"{EACH_TIME}\n{more}").misconceptions == ("computed each time",)
        assert verdict_on(process, REMEMBERED, "import functools\nremembered = functools.cache").right
    finally:
        process.close()


def test_probe_runs_with_new_variables_in_each_case(sandbox: SandboxProcess) -> None:
    """Code can reach those of the probe that calls it, as it can reach the engine's, but nothing is left of that."""
    text = """
import functools, sys

def remembered(function):
    variables = sys._getframe(1).f_globals
    is_left = "left" in variables
    variables["left"] = True
    return (lambda x: 0) if is_left else functools.cache(function)
"""
    assert verdict_on(sandbox, REMEMBERED, text).right


def test_versions_of_code_are_looked_at_by_the_probe(sandbox: SandboxProcess) -> None:
    versions = [EditedSource(EACH_TIME), EditedSource("import functools\nremembered = functools.cache")]
    case, replies = REMEMBERED.sample()[0], AnswersOfEdited(REMEMBERED.form.name)
    answers = sandbox.answers_of_edited("remembered", case, versions, {}, replies, 5, REMEMBERED.probe_text)
    assert [getattr(answer, "value", {}).get("calls") for answer in answers] == [4, 2]


# --- what was seen, as a class of its fields --------------------------------------------------------------------------


class SumsSeen(Observation, frozen=True):
    """What a function yields."""

    total: torch.Tensor
    running: torch.Tensor


def take_both(function: Callable[..., Any], x: torch.Tensor) -> dict[str, Any]:
    total, running = function(x)
    return {"total": total, "running": running}


def sums(x):  # type: ignore[no-untyped-def]
    return [x.sum(), x.cumsum(0)]  #: result


SUMS = Exercise(
    name="sums",
    assignment="made_up",
    title="Running sums",
    solution=sums,
    form=InParts(SumsSeen),
    probe=take_both,
    read=lambda seen, _x: {"output": {"total": seen.total, "running sum": seen.running}},
    cases=[Case("five numbers", catches="nothing", inputs=lambda rng: (randn(rng, 5),))],
    mistakes=[wrong("sign flipped", {"result": "return [-x.sum(), x.cumsum(0)]"}, "Add them.")],
)


def test_observation_is_read_in_parts(sandbox: SandboxProcess) -> None:
    text = "import torch\ndef sums(x):\n    yield {}x.sum()\n    yield x.cumsum(0){}"
    assert verdict_on(sandbox, SUMS, text.format("", "")).right
    assert verdict_on(sandbox, SUMS, text.format("-", "")).misconceptions == ("sign flipped",)
    verdict = verdict_on(sandbox, SUMS, text.format("", " / 2"))
    assert verdict.sentences[0].startswith("Entry [0] of the running sum is the first wrong number.")


def test_observation_with_another_field_is_malformed() -> None:
    seen = {"total": torch.ones(()), "running": torch.ones(5)}
    assert SUMS.form.observed(seen) == SumsSeen(**seen)
    for forged in ({**seen, "more": 1}, {**seen, "total": "none"}, {"total": torch.ones(())}, None):
        with pytest.raises(Malformed):
            SUMS.form.observed(forged)
    assert PARTS.observed(seen) is seen


# --- a module, with a method besides forward -------------------------------------------------------------------------


class Scale(nn.Module):
    def __init__(self, d):  # type: ignore[no-untyped-def]
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d))

    def forward(self, x):  # type: ignore[no-untyped-def]
        return x * self.weight  #: forward

    def twice(self, x):  # type: ignore[no-untyped-def]
        return self(self(x))  #: twice


def call_method(module: nn.Module, x: torch.Tensor, method: str) -> Any:
    return module(x=x) if method == "forward" else getattr(module, method)(x)


def drawn(rng: torch.Generator) -> ClassCase:
    x, weights = randn(rng, 2, 3), draw_weights(rng, {"weight": [3]})
    calls = {"output": [x, "forward"], "output again": [x, "forward"], "output of twice": [x, "twice"]}
    return ClassCase([3], weights, calls, gradients=1, gradients_of="output of twice")


class TwoMethods(Module):
    """A module whose method `twice` is handed out empty, too."""

    methods = (*Module.methods, "twice")


SCALE = Exercise(
    name="scale",
    assignment="made_up",
    title="Two methods",
    solution=Scale,
    form=TwoMethods(),
    probe=call_method,
    read=reader(Scale),
    cases=[Case("both methods", "methods that are mixed up", drawn)],
    mistakes=[
        wrong("added", {"forward": "return x + self.weight"}, "Multiply."),
        wrong("once", {"twice": "return self(x)"}, "Do it twice."),
    ],
)
SCALE_TEXT = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d))

    def forward(self, x):
        return self.weight {} x

    def twice(self, x):
        return x * {}
"""


@pytest.mark.parametrize(
    ("sign", "factor", "names"),
    [
        ("*", "self.weight ** 2", ()),
        ("*", "self.weight", ("once",)),
        ("+", "self.weight", None),
    ],
)
def test_calls_of_a_module_are_put_by_the_probe(
    sandbox: SandboxProcess, sign: str, factor: str, names: tuple[str, ...] | None
) -> None:
    verdict = verdict_on(sandbox, SCALE, SCALE_TEXT.format(sign, factor))
    assert verdict.right == (names == ())
    assert names is None or verdict.misconceptions == names


def test_method_that_is_still_to_do_is_no_mistake(sandbox: SandboxProcess) -> None:
    text = SCALE_TEXT.format("*", "0").replace("return x * 0", "raise NotImplementedError")
    assert verdict_on(sandbox, SCALE, text).reason is Reason.TO_DO


def test_gradients_of_a_module_are_those_of_what_the_probe_returns(sandbox: SandboxProcess) -> None:
    detached = SCALE_TEXT.format("*", "(self.weight ** 2).detach()")
    verdict = verdict_on(sandbox, SCALE, detached)
    assert not verdict.right
    assert any("gradient" in sentence for sentence in verdict.sentences)
