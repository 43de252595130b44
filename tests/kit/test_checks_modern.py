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
    assert out.startswith("\x1b[32m✓")
    assert out.count("\n") == out.count("✓")  # a line for each function
    assert err == ""


WRONG: list[tuple[int, str, str, str]] = [
    (36, "logits, dim=-1)[..., :S]", "scores, dim=-1)", NUMBER_IS_WRONG),
    (36, "sinks[:, None, None].expand", "sinks.mean().expand", NUMBER_IS_WRONG),
    (36, "triu(S - T + 1)", "triu(1)", NUMBER_IS_WRONG),
    (36, "[scores, sink]", "[scores, sink / d**0.5]", NUMBER_IS_WRONG),
    (36, "torch.softmax(logits, dim=-1)", "(logits.exp() / logits.exp().sum(-1, True))", "is NaN where a number"),
    (36, "return outputs", "return outputs.double()", "float64"),
    (37, "8 * torch.arange(1, power + 1) / power", "8 * torch.arange(power) / power", NUMBER_IS_WRONG),
    (37, "finer[0::2]", "finer[1::2]", NUMBER_IS_WRONG),
    (37, "slopes = torch.cat([slopes, missing])", "pass", "has shape (8,), but (12,) was expected"),
    (37, "scores - bias", "scores + bias", NUMBER_IS_WRONG),
    (37, "torch.arange(S - T, S, device", "torch.arange(T, device", NUMBER_IS_WRONG),
    (37, "(i - j).abs()", "i - j", NUMBER_IS_WRONG),
    (37, "return outputs", "return outputs.float()", "float64"),
    (38, "1e-6) ", "1e-5) ", NUMBER_IS_WRONG),
    (38, "cap * torch.tanh(scores / cap)", "cap * torch.tanh(scores)", NUMBER_IS_WRONG),
    (38, "mean(dim=-1, keepdim=True)", "mean(dim=(1, 3), keepdim=True)", NUMBER_IS_WRONG),
    (38, "keys / k_size * k_weight", "keys / k_size * q_weight", NUMBER_IS_WRONG),
    (38, "scores.masked_fill(hidden, -math.inf)", "scores.masked_fill(hidden, -1e4)", NUMBER_IS_WRONG),
    (38, "return outputs", "return outputs.transpose(1, 2)", "has shape"),
    (38, "triu(S - T + 1)", "triu(1)", NUMBER_IS_WRONG),
    # longer texts
    (39, "theta * (1 - ramp) + theta / factor * ramp", "theta / factor", NUMBER_IS_WRONG),
    (39, "theta * (1 - ramp) + theta / factor * ramp", "theta * ramp + theta / factor * (1 - ramp)", NUMBER_IS_WRONG),
    (39, "math.ceil(ends[1])", "math.floor(ends[1])", NUMBER_IS_WRONG),
    (39, "max(low, 0)", "low", "with texts so short that no pair is fast, result[0][0]"),
    (39, "turns = beta_fast, beta_slow", "turns = 32, 1", "with ten pairs, and other numbers of turns"),
    (39, "0.1 * math.log(factor) + 1", "1.0", "result[1]"),
    (39, "return frequencies, attention_factor", "return frequencies", "a tuple of 2 items"),
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
    # a memory that forgets
    (42, "error = value - key @ state", "error = value", NUMBER_IS_WRONG),
    (42, "state = a * state", "state = state", NUMBER_IS_WRONG),
    (42, "q = F.normalize(queries, dim=-1)", "q = queries", NUMBER_IS_WRONG),
    (42, "torch.cat(outputs, dim=2)", "torch.cat(outputs, dim=2).detach()", "No gradient gets through your function"),
    (42, "decay = (logs", "decay = torch.ones_like(logs[..., None]) * (0 * logs", NUMBER_IS_WRONG),
    (42, "for first in range(0, T, chunk)", "for first in range(0, T - T % chunk, chunk)", "has shape (1, 1, 3, 2)"),
    (42, "blocks = []", "blocks, chunk = [], 1", "goes word by word"),
    (42, "state = a * state", "state *= a", "changes its input"),
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
    assert out == "" or "✓" in out  # another function of the exercise may be right
    assert words in " ".join(err.split())
