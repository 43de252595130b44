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
    assert out.count("\n") == out.count("✓")  # a line for each function
    assert err == ""


WRONG: list[tuple[int, str, str, str]] = [
    # wrong 36
    # wrong 37
    # wrong 38
    # longer texts
    (39, "theta * (1 - ramp) + theta / factor * ramp", "theta / factor", NUMBER_IS_WRONG),
    (39, "theta * (1 - ramp) + theta / factor * ramp", "theta * ramp + theta / factor * (1 - ramp)", NUMBER_IS_WRONG),
    (39, "math.ceil(ends[1])", "math.floor(ends[1])", NUMBER_IS_WRONG),
    (39, "max(low, 0)", "low", "with texts so short that no pair is fast, result[0][0]"),
    (39, "turns = beta_fast, beta_slow", "turns = 32, 1", "with ten pairs, and other numbers of turns"),
    (39, "0.1 * math.log(factor) + 1", "1.0", "result[1]"),
    (39, "return frequencies, attention_factor", "return frequencies", "a tuple of 2 items"),
    # wrong 40
    # experts
    (41, "if normalize and top_k > 1:", "if normalize:", "with one of five experts, result[0, 0]"),
    (41, "if normalize and top_k > 1:", "if top_k > 1:", "with a bias, and normalize=False"),
    (41, "weights = probabilities * is_chosen", "weights = ranks * is_chosen", "with a bias, and normalize=False"),
    (41, "torch.softmax(logits, dim=-1)", "torch.softmax(logits, dim=0)", NUMBER_IS_WRONG),
    (41, "chose = chose[:capacity]", "", "with a capacity of three"),
    (41, "expert(tokens[chose])", "expert(tokens)[chose]", "your experts are given tokens that did not choose them"),
    (41, "mixed.index_add(", "mixed.index_copy(", NUMBER_IS_WRONG),
    (41, "return mixed.view_as(x)", "return mixed", "has shape (6, 4), but (2, 3, 4)"),
    (41, "router(tokens)", "router(tokens).detach()", "No gradient reaches argument 2"),
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
    assert out == "" or "✓" in out  # another function of the exercise may be right
    assert words in " ".join(err.split())
