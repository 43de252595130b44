"""The visible checks of `transformer`: the notebook's own solutions, and wrong ones made from them."""

from __future__ import annotations

from typing import Any

import pytest
from checked_notebook import cells_of, exercises_of, solved_names

ASSIGNMENT = "transformer"
CELLS, NUMBERS = cells_of(ASSIGNMENT), exercises_of(ASSIGNMENT)
NUMBER_IS_WRONG = "is the first wrong number"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return solved_names(ASSIGNMENT, CELLS["given-attention"], monkeypatch)


@pytest.mark.parametrize("number", NUMBERS)
def test_check_of_solution_prints_only_green_lines(
    number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert all(line.startswith("\x1b[32m✓") for line in out.splitlines())
    assert out
    assert err == ""


AFTERWARDS = """weights = torch.softmax(queries @ keys.mT / d**0.5, dim=-1) * ~hidden
    weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)"""

WRONG = [
    # positions, added and turned by
    (20, "base**", "10000**", "base 100"),
    (20, ".flatten(1)", ".flatten(1)[None]", "Axis 0, of length 1, is one too many"),
    (20, ".flatten(1)", ".flatten(1).double()", "should be a float32 tensor"),
    (21, "positions[:, None]", "torch.arange(len(positions))[:, None]", "one pair at position 1"),
    (
        21,
        "positions[:, None] * rates",
        "positions[:, None].to(x.dtype) * rates.to(x.dtype)",
        "16-bit floats cannot represent 3001",
    ),
    (21, ".to(x.dtype)", "", "should be a tensor of float16"),
    # padding
    (22, "hidden & ~empty", "hidden & False", NUMBER_IS_WRONG),
    (22, ".masked_fill(empty, 0.0)", "", "lengths 2 and 0"),
    (22, "if causal:", "if False:", NUMBER_IS_WRONG),
    (22, "weights = weights.masked_fill(empty, 0.0)", AFTERWARDS, "scores far below zero, length 2"),
    # a norm
    (23, "self.eps = eps", "self.eps = 1e-6", "eps=0.5"),
    (23, "x.float()", "x", "large numbers of float16"),
    (23, "torch.sqrt(mean + self.eps)", "torch.sqrt(mean + self.eps).detach()", "counts as a constant on the way back"),
    (23, "torch.ones(d_model))", "torch.randn(d_model))", "is not made of ones"),
    # a block
    (24, "x + self.dropout(self.ff", "self.norm2(x) + self.dropout(self.ff", NUMBER_IS_WRONG),
    (24, "self.dropout(self.ff_out(hidden))", "self.ff_out(hidden)", "all that is added is dropped"),
    (24, "F.gelu(hidden)", "F.gelu(hidden, approximate='tanh')", "−2.2 everywhere before GELU"),
    (24, "x = x + self", "x += self", "a tensor on the way is changed in place"),
    # a model and its loss
    (25, "x = self.norm(x)", "x = x + 0", NUMBER_IS_WRONG),
    (25, "if pad is None else pad", "if not pad else pad", "pad=0, which is a token like any other"),
    (25, "[:, :-1]", "[:, 1:]", "the result is off by about 1"),
    (25, "F.cross_entropy(rows,", "F.nll_loss(rows.softmax(-1).log(),", "It must work up to ±10⁴, without NaN."),
    (25, "return loss", "return loss.item()", "No gradient gets through your function"),
    # writing and learning
    (26, "model.eval()", "pass", "was expected"),
    (26, "model.train(before)", "pass", "not left in the mode it was in"),
    (26, ", generator=generator)", ")", "the same tokens should be drawn"),
    (26, "-model.context_length :", ": model.context_length", "was expected"),
    (26, "logits.topk(top_k)", "logits[:1].topk(top_k)", "temperature=0 and top_k=3"),
    (26, "if top_k is not None:", "top_k = top_k or min(20, logits.shape[-1])\n        if top_k:", "20 of 40 tokens"),
    (27, "optimizer.zero_grad()", "pass", "the weights of the last layer are off"),
    (27, "return loss.item()", "return loss", "float"),
]


@pytest.mark.parametrize(("number", "old", "new", "words"), WRONG)
def test_check_of_wrong_code_says_what_is_wrong(
    number: int, old: str, new: str, words: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    source = CELLS[f"exercise-{number}"]
    assert old in source
    exec(source.replace(old, new, 1), notebook)
    exec(f"check({number})", notebook)
    assert words in " ".join(capsys.readouterr().err.split())


FILLED = """
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, device=x.device) / d)
    a, b = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = a * angles.cos() - b * angles.sin()
    out[..., 1::2] = 2 * a * angles.sin() + b * angles.cos()
    return out
"""
LEFT_OUT_TOO_MANY = (("logits < smallest", "logits <= smallest"), ("logits / temperature", "logits * temperature"))
CLEARED_BEFORE_STEP = (
    ("optimizer.zero_grad()", "pass"),
    ("optimizer.step()", "optimizer.zero_grad(); optimizer.step()"),
)


def edited(number: int, edits: tuple[tuple[str, str], ...]) -> str:
    source = CELLS[f"exercise-{number}"]
    for old, new in edits:
        assert old in source
        source = source.replace(old, new, 1)
    return source


@pytest.mark.parametrize(
    ("number", "source", "said", "untrue"),
    [
        (21, FILLED, "There: expected 0.8415, your code gave 1.6829.", "memory"),
        (26, edited(26, LEFT_OUT_TOO_MANY), "with top_k of 1, generate stopped with RuntimeError", "Draw"),
        (26, edited(26, LEFT_OUT_TOO_MANY[1:]), "are drawn in shares of 0.26, 0.11, 0.45, 0.17, but", "Draw"),
        (27, edited(27, CLEARED_BEFORE_STEP), "the weights are unchanged: nothing was learned.", "step."),
    ],
)
def test_check_does_not_ask_for_what_the_code_does(
    number: int, source: str, said: str, untrue: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(f"{source}\ncheck({number})", notebook)
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert untrue not in told


def test_check_of_model_with_dropout_on_embeddings_is_green(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    right = (("super().__init__()", "super().__init__()\n        self.dropout = nn.Dropout(dropout)"),
             ("for block in self.blocks:", "x = self.dropout(x)\n        for block in self.blocks:"))  # fmt: skip
    code = CELLS["exercise-25"].replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    for old, new in right:
        assert old in code
        code = code.replace(old, new)
    exec(f"{code}\ncheck(25)", notebook)
    assert capsys.readouterr().err == ""


def test_check_of_norm_with_a_bias_says_so(notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    source = CELLS["exercise-23"].replace("y = y * self.weight", "y = y * self.weight + self.bias")
    begun = "self.eps = eps"
    exec(source.replace(begun, f"{begun}\n        self.bias = nn.Parameter(torch.zeros(d_model))"), notebook)
    exec("check(23)", notebook)
    assert "There is a parameter bias where no bias was asked for." in " ".join(capsys.readouterr().err.split())
