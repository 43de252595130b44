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
    # wrong 36
    # wrong 37
    # wrong 38
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
