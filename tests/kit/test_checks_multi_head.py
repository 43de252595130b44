"""The visible checks of the third assignment: the notebook's own solutions, and wrong ones made from them."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import nbformat
import pytest
import torch

from support.places import ROOT

FOLDER = ROOT / "source" / "multi_head_attention"
CELLS = {cell.id: cell.source for cell in nbformat.read(FOLDER / "multi_head_attention.ipynb", as_version=4).cells}
NUMBERS = (17, 18, 19)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("checks_of_multi_head_attention", FOLDER / "checks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def notebook(checks: Any) -> dict[str, Any]:
    """The notebook's namespace once all exercises are solved."""
    namespace = {"check": checks.check, "solved": checks.solved}
    exec("import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn", namespace)
    for cell in ("given-data", "given-causal-attention", *(f"exercise-{number}" for number in NUMBERS)):
        exec(CELLS[cell], namespace)
    return namespace


@pytest.mark.parametrize("number", NUMBERS)
def test_check_of_solution_is_one_green_line(
    number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert out.startswith("\x1b[32m✓")
    assert out.count("\n") == 1
    assert err == ""


HEAD = "CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)"
VIEW = "y.view(B, T, self.num_heads, -1).transpose(1, 2)"
NUMBER_IS_WRONG = "is the first wrong number"

WRONG = [
    # a list of heads
    (
        17,
        "nn.ModuleList(heads)",
        "heads[:1]",
        "It has none at all. Modules in a plain list or dict, or made in forward, do not count.",
    ),
    (
        17,
        f"[{HEAD} for _ in range(num_heads)]",
        f"[{HEAD}] * num_heads",
        "are one and the same parameter.",
    ),
    (17, "range(num_heads)", "range(2)", "heads holds 2 modules, but 3 were asked for."),
    (17, "range(num_heads)", "range(1)", "heads holds 1 module, but 2 were asked for."),
    (17, "dropout, qkv_bias) for", "dropout) for", "has no parameter heads.0.W_query.bias"),
    (17, "context_length, dropout, qkv_bias) for", "context_length, 0.5, qkv_bias) for", "should be about 0.20"),
    (
        17,
        "context_length, dropout, qkv_bias) for",
        "context_length, 0.0, qkv_bias) for",
        "no attention weight is dropped",
    ),
    (17, "context_length, dropout, qkv_bias) for", "6, dropout, qkv_bias) for", "seven words where eight would fit"),
    (17, "dim=-1", "dim=1", "has shape (2, 12, 2), but (2, 6, 4) was expected"),
    (17, "for head in self.heads]", "for head in reversed(self.heads)]", NUMBER_IS_WRONG),
    (17, "[head(x) for", "[head(x).detach() for", "No gradient reaches heads.0.W_query.weight"),
    (17, "[head(x) for", "[self.heads[0](x) for", NUMBER_IS_WRONG),
    # split heads
    (18, VIEW, "y.view(B, self.num_heads, T, -1)", NUMBER_IS_WRONG),
    (18, "math.sqrt(self.head_dim)", "math.sqrt(self.head_dim * self.num_heads)", NUMBER_IS_WRONG),
    (18, "math.sqrt(self.head_dim)", "1", NUMBER_IS_WRONG),
    (
        18,
        "math.sqrt(self.head_dim)",
        "math.sqrt(2)",
        f"seven words where eight would fit, in eval mode, result[0, 1, 0] {NUMBER_IS_WRONG}",
    ),
    (
        18,
        "if d_out % num_heads != 0:",
        "if False:",
        "with d_out=4 and num_heads=3, MultiHeadAttention is not what",
    ),
    (18, 'self.register_buffer("mask", ', "self.mask = (", "The mask is a plain attribute"),
    (18, "self.mask[:T, :T]", "self.mask", "where eight would fit, in eval mode, MultiHeadAttention stopped with"),
    (
        18,
        "self.mask[:T, :T] == 1",
        "self.mask[:T, :T] == 2",
        "your module looks into the future.",
    ),
    (
        18,
        "weights = torch.softmax(scores, dim=-1)\n        weights = self.dropout(weights)",
        "scores = self.dropout(scores)\n        weights = torch.softmax(scores, dim=-1)",
        "no attention weight is dropped",
    ),
    (18, "nn.Dropout(dropout)", "nn.Dropout(0.5)", "the share of dropped weights should be about 0.20"),
    (18, "self.dropout(weights)", "weights", "no attention weight is dropped. Dropout belongs on the weights, after"),
    (
        18,
        "self.dropout(weights)",
        "self.dropout(weights); weights = weights / weights.sum(-1, keepdim=True)",
        "in training, some outputs are NaN. If you divide the weights by their sum after dropout, leave that out",
    ),
    (18, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-2)", NUMBER_IS_WRONG),
    (18, "weights @ v", "self.dropout(torch.softmax(scores, -1) @ v)", "Dropout belongs on the attention"),
    (18, "context.transpose(1, 2)", "context", NUMBER_IS_WRONG),
    (18, "self.out_proj(context)", "context", NUMBER_IS_WRONG),
    (18, "nn.Linear(d_out, d_out)", "nn.Linear(d_out, d_out, bias=False)", "has no parameter out_proj.bias"),
    (18, "self.out_proj", "self.W_out", "has no parameter out_proj.weight"),
    (
        18,
        "q = self.W_query(x)  # (B, T, d_out)\n        k = self.W_key(x)",
        "q = self.W_key(x)  # (B, T, d_out)\n        k = self.W_query(x)",
        NUMBER_IS_WRONG,
    ),
    # encoder and decoder
    (19, "math.sqrt(self.head_dim)", "math.sqrt(self.head_dim * self.heads)", NUMBER_IS_WRONG),
    (
        19,
        "if mask is not None",
        "if False",
        f"with a batch of two and a padding mask, result[1, 0, 0] {NUMBER_IS_WRONG}",
    ),
    (19, "if mask is not None", "if True", "with three keys, two queries and no mask, SelfAttention stopped with"),
    (19, "mask == 0", "mask == 1", "with a batch of two and a padding mask, result[0, 0, 0] is NaN"),
    (
        19,
        "if embed_size % heads != 0:",
        "if False:",
        "with embed_size=6 and heads=4, SelfAttention is not what",
    ),
    (19, "forward(self, values, keys, query", "forward(self, keys, values, query", NUMBER_IS_WRONG),
    (19, "forward(self, values, keys, query", "forward(self, query, keys, values", "stopped with"),
    (19, "self.values(values)", "values", NUMBER_IS_WRONG),
    (
        19,
        "weights = torch.softmax(scores, dim=-1)",
        "weights = F.dropout(torch.softmax(scores, dim=-1), 0.9, self.training)",
        NUMBER_IS_WRONG,
    ),
    (19, "self.fc_out(context", "(context", NUMBER_IS_WRONG),
    (19, "context.transpose(1, 2).flatten(2)", "context.reshape(query.shape)", NUMBER_IS_WRONG),
    (19, "self.queries", "self.query", "has no parameter queries.weight"),
    (19, "bias=False", "bias=True", "There is a parameter values.bias where no bias was asked for."),
    (19, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=1)", NUMBER_IS_WRONG),
]


@pytest.mark.parametrize(("number", "right", "wrong", "words"), WRONG)
def test_check_of_wrong_code_says_what_is_wrong(
    number: int, right: str, wrong: str, words: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    source = CELLS[f"exercise-{number}"]
    assert right in source
    exec(source.replace(right, wrong), notebook)
    capsys.readouterr()
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert words in " ".join(err.split())
    assert max(map(len, err.splitlines())) <= 88, "it would be broken in the middle of a word"
    assert "Traceback" not in err
    assert out == ""


def test_check_of_wrongly_shaped_heads_says_nothing_of_later_words(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Heads one below the other: the last word of the first head is no earlier output."""
    exec(CELLS["exercise-17"].replace("dim=-1", "dim=1"), notebook)
    capsys.readouterr()
    exec("check(17)", notebook)
    said = " ".join(capsys.readouterr().err.split())
    assert said.endswith("result has shape (2, 12, 2), but (2, 6, 4) was expected.")


@pytest.mark.parametrize("number", NUMBERS)
def test_check_of_unwritten_class_says_still_to_do(
    number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    released = re.sub(
        r"### BEGIN SOLUTION.*?### END SOLUTION", "raise NotImplementedError()", CELLS[f"exercise-{number}"], flags=re.S
    )
    exec(released, notebook)
    capsys.readouterr()
    exec(f"check({number})", notebook)
    assert "still to do. Write __init__ of " in capsys.readouterr().err
    assert not eval(f"solved({number})", notebook)
    assert f"exercise {number}" in capsys.readouterr().out


@pytest.mark.parametrize("number", [17, 18])
def test_multi_head_attention_known_values_equal_what_is_printed(
    number: int, notebook: dict[str, Any], checks: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(CELLS[f"ex{number}-print"], notebook)
    printed = notebook["outputs"][0]
    text = CELLS[f"ex{number}-known"].replace("−", "-")
    shown = re.findall(r"^\| (?:Your|journey|starts|with|one|step) \|(.*)\|$", text, flags=re.MULTILINE)
    table = torch.tensor([[float(entry) for entry in row.split("|")] for row in shown])
    torch.testing.assert_close(printed, table, rtol=0, atol=1e-4)
    if number == 17:  # its check loads weights as nn.Linear draws them: its example is the batch of the notebook
        torch.testing.assert_close(printed, torch.tensor(checks.LIST_123[:6]), rtol=0, atol=1e-5)
    assert "shape (2, 6, 4)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("math.sqrt(self.head_dim)", "1"),
        ("math.sqrt(self.head_dim)", "math.sqrt(self.head_dim * self.num_heads)"),
        ("math.sqrt(self.head_dim)", "math.sqrt(x.shape[-1])"),
        ("math.sqrt(self.head_dim)", "math.sqrt(T)"),
        ("math.sqrt(self.head_dim)", "self.head_dim"),
        ("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-1).softmax(-1)"),
        ("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-1).mean(1, True)"),
        ("masked_fill(mask, -math.inf)", "masked_fill(mask, 0)"),
        (VIEW, "y.view(B, self.num_heads, T, -1)"),
        (VIEW, "y.view(B, T, -1, self.num_heads).permute(0, 3, 1, 2)"),
    ],
)
def test_check_of_usual_head_mistakes_shows_clearly_wrong_numbers(
    right: str, wrong: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Not in the third digit, which students take for rounding."""
    assert right in CELLS["exercise-18"]
    exec(CELLS["exercise-18"].replace(right, wrong), notebook)
    capsys.readouterr()
    exec("check(18)", notebook)
    told = re.search(r"expected (\S+), your code gave (\S+)\.", " ".join(capsys.readouterr().err.split()))
    assert told
    assert abs(float(told[1]) - float(told[2])) > 0.1


def test_multi_head_classes_and_fused_kernel_agree(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """What the notebook says of exercise 17, exercise 18 and F.scaled_dot_product_attention."""
    exec(CELLS["ex18-compare"], notebook)
    assert notebook["largest"] < 1e-6
    assert "largest difference" in capsys.readouterr().out
    listed, split_heads, batch = (notebook[name] for name in ("listed", "split_heads", "batch"))
    drawing = CELLS["ex18-speed-plot"]
    exec(drawing[drawing.index("def with_fused_kernel") : drawing.index("if solved")], notebook)
    weight = torch.cat([getattr(split_heads, name).weight for name in ("W_query", "W_key", "W_value")])
    torch.testing.assert_close(notebook["with_fused_kernel"](split_heads, weight, 2, batch), listed(batch))


def test_check_leaves_the_random_state_unchanged(notebook: dict[str, Any]) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    for number in NUMBERS:
        exec(f"check({number})", notebook)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_multi_head_attention_points_add_up_to_the_stated_total() -> None:
    table = re.findall(r"^\| (\d+) \|.*\| (\d+) \| \d+ \|$", CELLS["contents"], flags=re.MULTILINE)
    cells = nbformat.read(FOLDER / "multi_head_attention.ipynb", as_version=4).cells
    given = {cell.id: cell.metadata.get("nbgrader", {}).get("points") for cell in cells}
    assert [(int(number), given[f"test-exercise-{number}"]) for number, _ in table] == [(17, 6), (18, 10), (19, 9)]
    assert [int(points) for _, points in table] == [6, 10, 9]
    assert "**25 points**" in CELLS["intro"]
    assert "| **25** |" in CELLS["contents"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("triu(diagonal=1)", "triu(diagonal=0)"),
        ("self.dropout(weights)", "F.dropout(weights, 0.5)"),
    ],
    ids=["NaN in the first row", "chance"],
)
def test_check_when_outputs_vary_by_chance_says_nothing_of_later_words(
    old: str, new: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert old in CELLS["exercise-18"]
    exec(CELLS["exercise-18"].replace(old, new), notebook)
    exec("check(18)", notebook)
    said = capsys.readouterr().err
    assert "✗" in said
    assert "later ones" not in said
