"""The visible checks of `modern_attention`: the notebook's own solutions, and wrong ones made from them."""

from __future__ import annotations

from typing import Any

import pytest
from checked_notebook import cells_of, exercises_of, solved_names

ASSIGNMENT = "modern_attention"
CELLS, NUMBERS = cells_of(ASSIGNMENT), exercises_of(ASSIGNMENT)
NUMBER_IS_WRONG = "is the first wrong number"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return solved_names(ASSIGNMENT, "", monkeypatch)


@pytest.mark.parametrize("number", NUMBERS)
def test_check_of_solution_is_one_green_line(
    number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert out.startswith("\x1b[32m✓")
    assert out.count("\n") == 1
    assert err == ""


WRONG: list[tuple[int, str, str, str]] = [
    (36, "logits, dim=-1)[..., :S]", "scores, dim=-1)", NUMBER_IS_WRONG),
    (36, "sinks[:, None, None].expand", "sinks.mean().expand", NUMBER_IS_WRONG),
    (36, "triu(S - T + 1)", "triu(1)", NUMBER_IS_WRONG),
    (36, "[scores, sink]", "[scores, sink / d**0.5]", NUMBER_IS_WRONG),
    (36, "torch.softmax(logits, dim=-1)", "(logits.exp() / logits.exp().sum(-1, True))", "is NaN where a number"),
    (36, "return outputs", "return outputs.double()", "float64"),
    # wrong 37
    (38, "1e-6) ", "1e-5) ", NUMBER_IS_WRONG),
    (38, "cap * torch.tanh(scores / cap)", "cap * torch.tanh(scores)", NUMBER_IS_WRONG),
    (38, "mean(dim=-1, keepdim=True)", "mean(dim=(1, 3), keepdim=True)", NUMBER_IS_WRONG),
    (38, "keys / k_size * k_weight", "keys / k_size * q_weight", NUMBER_IS_WRONG),
    (38, "scores.masked_fill(hidden, -math.inf)", "scores.masked_fill(hidden, -1e4)", NUMBER_IS_WRONG),
    (38, "return outputs", "return outputs.transpose(1, 2)", "has shape"),
    (38, "triu(S - T + 1)", "triu(1)", NUMBER_IS_WRONG),
    # wrong 39
    # wrong 40
    # wrong 41
    # wrong 42
    # wrong 43
]  # fmt: skip


@pytest.mark.parametrize(("number", "old", "new", "words"), WRONG)
def test_check_of_wrong_code_says_what_is_wrong(
    number: int, old: str, new: str, words: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    source = CELLS[f"exercise-{number}"]
    assert old in source
    exec(source.replace(old, new), notebook)
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert out == ""
    assert words in " ".join(err.split())
