"""The transformer: a model is judged with its author's block, and with a right one that the sandbox does not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.course.folder import Course
from grader.host import stand_ins
from grader.host.grading import grade_notebook
from grader.model.exercise import LentClass
from grader.model.verdict import Verdict
from grader.sandbox import child, wire
from grader.sandbox.decoder import decode
from grader.sandbox.standin_classes import standin_class
from grader.sandbox.values import encode
from support.answer_keys import verdict
from support.our_course import EXERCISES, OURS
from support.solution_cells import from_notebook

ASSIGNMENT = "transformer"
Judged = Callable[..., dict[int, Verdict]]

BLOCK = """
class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.ff_in, self.ff_out = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))
"""
WRONG_BLOCKS = {
    "not normalized": BLOCK.replace("self.norm1(x)", "x"),
    "other names": BLOCK.replace("ff_in", "fc1").replace("ff_out", "fc2"),
    "to do": "class TransformerBlock(nn.Module):\n    def __init__(self, *_):\n        raise NotImplementedError",
}


FILLED = """
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, device=x.device) / d)
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    out = torch.empty_like(x)
    out[..., : d // 2] = a * cos - b * sin
    out[..., d // 2 :] = a * sin + 2 * b * cos
    return out
"""


@pytest.mark.slow
def test_sentences_do_not_ask_for_what_the_code_does(judged: Judged) -> None:
    solved = from_notebook()
    drawn = solved[26].replace("logits < smallest", "logits <= smallest").replace("logits / temp", "logits * temp")
    step = solved[27].replace("optimizer.zero_grad()", "pass").replace("loss.backward()", "loss.backward(); @")
    verdicts = judged(ex21=FILLED, ex26=drawn, ex27=step.replace("@", "optimizer.zero_grad()"))
    assert not any("whatever was in memory" in text for text in verdicts[21].sentences)
    assert verdicts[26].misconceptions == ("temperature multiplied", "one token fewer")
    assert verdicts[27].misconceptions == ("nothing learned",)
    assert "or has no gradients when it does" in verdicts[27].sentences[0]


@pytest.fixture
def judged(course: Course, make_notebook: Any) -> Judged:
    """The verdicts on a notebook where some exercises are solved so, and the others of it are right."""

    def verdicts(**sources: str) -> dict[int, Verdict]:
        numbered = {int(name.removeprefix("ex")): source for name, source in sources.items()}
        notebook = make_notebook(course, {**from_notebook(), **numbered}, ASSIGNMENT)
        return {int(str(verdict.exercise)): verdict for verdict in grade_notebook(notebook, settings=OURS)}

    return verdicts


@pytest.mark.slow
@pytest.mark.parametrize("block", WRONG_BLOCKS.values(), ids=WRONG_BLOCKS)
def test_model_when_block_is_wrong_is_right(block: str, judged: Judged) -> None:
    verdicts = judged(ex24=block)
    assert not verdicts[24].right
    assert verdicts[25].right, verdicts[25].sentences


@pytest.mark.slow
def test_model_when_wrong_with_standin_block_is_named(judged: Judged) -> None:
    model = from_notebook()[25].replace("        x = self.norm(x)\n", "")
    verdicts = judged(ex24=WRONG_BLOCKS["not normalized"], ex25=model)
    assert "last norm missing" in verdicts[25].misconceptions


# --- a class that is lent --------------------------------------------------------------------------------------------


def lent() -> LentClass:
    found = EXERCISES[24].lent
    assert isinstance(found, LentClass)
    return found


def test_standin_class_computes_and_learns_as_the_right_one() -> None:
    """Its parameters have the right names, take part in training, and get the same gradients."""
    asked = stand_ins_asked()
    own, real = standin_class("TransformerBlock", asked)(4, 2, d_ff=6, dropout=0.0), lent().module_class(4, 2, 6, 0.0)
    real.load_state_dict({name: torch.randn_like(parameter) for name, parameter in real.named_parameters()})
    own.load_state_dict(real.state_dict())
    x = torch.randn(2, 3, 4)
    for module in (own, real):
        module(x).square().sum().backward()
    assert torch.allclose(own(x), real(x), atol=1e-6)
    for name, parameter in real.named_parameters():
        of_own = own.get_parameter(name).grad
        assert of_own is not None
        assert parameter.grad is not None
        assert torch.allclose(of_own, parameter.grad, rtol=1e-4, atol=1e-4), name


def stand_ins_asked() -> Callable[..., Any]:
    """Calls as a sandbox makes them, computed as the judge does."""

    @torch.enable_grad()  # the judge is another process, which knows nothing of our way back
    def ask(positional: list[Any], named: list[Any], names: list[str], gradient: torch.Tensor | None = None) -> Any:
        tree, tensors = encode([positional, named, gradient])
        frame = wire.Frame({"call": "TransformerBlock", "arguments": tree, "names": names}, tensors)
        header, found = stand_ins.compute(frame, {"TransformerBlock": lent()})
        assert "value" in header, header
        return decode(header["value"], found)

    def standin(*values: Any) -> Any:
        if any(isinstance(value, torch.Tensor) and value.requires_grad for value in values):
            return child._Differentiable.apply(ask, len(values), [], *values)  # type: ignore[no-untyped-call]
        return ask(list(values), [], [])

    return standin


@pytest.mark.parametrize("sizes", [[5000, 1, 8, 0.0], [4, 2, 10**9, 0.0], ["x", 2, 6, 0.0], [4, 2, 6], []])
def test_standin_class_when_sizes_are_large_or_odd_is_refused(sizes: list[Any]) -> None:
    tree, tensors = encode([[[sizes, {}]], [], None])
    frame = wire.Frame({"call": "TransformerBlock", "arguments": tree, "names": []}, tensors)
    assert "refused" in stand_ins.compute(frame, {"TransformerBlock": lent()})[0]


def test_apply_rope_with_table_of_2048_positions_earns_nothing() -> None:
    """It is wrong for float32 inputs, too."""
    short_table = "angles = positions.clamp(max=2047)[:, None] * rates"
    assert verdict(21, ("angles = positions[:, None] * rates", short_table)).credit == 0
