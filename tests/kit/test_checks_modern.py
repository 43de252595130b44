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
    return solved_names(ASSIGNMENT, CELLS["given-rotation"], monkeypatch)


@pytest.mark.parametrize("number", NUMBERS)
def test_check_of_solution_prints_only_green_lines(
    number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert all(line.startswith("\x1b[32m✓") for line in out.splitlines())
    assert out
    assert err == ""


WRONG: list[tuple[int, str, str, str]] = [
    # wrong 36
    # wrong 37
    # wrong 38
    # wrong 39
    # a cache of latents
    (40, "math.sqrt(self.head_dim + self.rope_dim)", "math.sqrt(self.head_dim)", NUMBER_IS_WRONG),
    (40, "triu(1 + S - T)", "triu(1)", "forward is wrong in chunks of [1, 1, 1, 1]"),
    (40, "torch.arange(before, before + T", "torch.arange(T", "forward is wrong in chunks of [1, 1, 1, 1]"),
    (40, "[latent, key_rope]", "[key_rope, latent]", NUMBER_IS_WRONG),
    (40, "absorb=True)", "absorb=False)", "it makes keys or values of all cached words"),
    (40, "self.up.weight.view", "self.up.weight.flip(0).view", "absorbed is wrong in chunks of [4]"),
    (40, "self.up.weight.view", "self.up.weight.data.view", "no gradient of absorbed reaches up.weight"),
    (40, "return context, cache", "return context, cache.detach()", "no gradient gets through the cache of forward"),
    (40, "return context, cache", "return context, cache + 1 - 0.5", "are right, but not its cache"),
    # wrong 41
    # a memory that forgets
    (42, "error = value - key @ state", "error = value", NUMBER_IS_WRONG),
    (42, "state = a * state", "state = state", NUMBER_IS_WRONG),
    (42, "q = F.normalize(queries, dim=-1)", "q = queries", NUMBER_IS_WRONG),
    (42, "torch.cat(outputs, dim=2)", "torch.cat(outputs, dim=2).detach()", "No gradient gets through your function"),
    (42, "decay = (logs", "decay = torch.ones_like(logs[..., None]) * (0 * logs", NUMBER_IS_WRONG),
    (42, "for first in range(0, T, chunk)", "for first in range(0, T - T % chunk, chunk)", "has shape (1, 1, 3, 2)"),
    (42, "blocks = []", "blocks, chunk = [], 1", "goes word by word"),
    (42, "state = a * state", "state *= a", "changes its input"),
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
    assert words in " ".join(capsys.readouterr().err.split())
