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
    assert out.count("\x1b[32m✓") == out.count("\n")  # a line for each function
    assert err == ""


WRONG: list[tuple[int, str, str, str]] = [
    # wrong 36
    (37, "8 * torch.arange(1, power + 1) / power", "8 * torch.arange(power) / power", NUMBER_IS_WRONG),
    (37, "finer[0::2]", "finer[1::2]", NUMBER_IS_WRONG),
    (37, "slopes = torch.cat([slopes, missing])", "pass", "has shape (8,), but (12,) was expected"),
    (37, "scores - bias", "scores + bias", NUMBER_IS_WRONG),
    (37, "torch.arange(S - T, S, device", "torch.arange(T, device", NUMBER_IS_WRONG),
    (37, "(i - j).abs()", "i - j", NUMBER_IS_WRONG),
    (37, "return outputs", "return outputs.float()", "float64"),
    # wrong 38
    # wrong 39
    # wrong 40
    # wrong 41
    # wrong 42
    (43, "torch.relu(products)", "products", NUMBER_IS_WRONG),
    (43, "index_scores = index_scores.masked_fill(later, -math.inf)", "pass", NUMBER_IS_WRONG),
    (43, "(chosen > t)[:, None]", "(chosen > T)[:, None]", NUMBER_IS_WRONG),
    (43, "min(top_k, T)", "top_k", "sparse_attention stopped with"),
    (43, "math.sqrt(d)", "d", NUMBER_IS_WRONG),
    (43, "return outputs", "(queries @ keys.mT).sum()\n    return outputs", "a table of H × T × T"),
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
    assert out.count("\n") < 2  # another function of the exercise may be right
    assert words in " ".join(err.split())
