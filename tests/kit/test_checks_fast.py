"""The visible checks of `fast_attention`: the notebook's own solutions, and wrong ones made from them."""

from __future__ import annotations

from typing import Any

import pytest
from checked_notebook import cells_of, exercises_of, solved_names

ASSIGNMENT = "fast_attention"
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


WRONG = [
    # grouped queries
    (28, "keys.repeat_interleave(Hq // Hkv, dim=1)", "keys.repeat(1, Hq // Hkv, 1, 1)", NUMBER_IS_WRONG),
    (28, "math.sqrt(d)", "math.sqrt(Hq * d)", NUMBER_IS_WRONG),
    (28, "triu(S - T + 1)", "triu(1)", "causal=True, two queries and five keys, result[0, 0, 0, 0]"),
    (28, "if Hq % Hkv != 0:", "if False:", "your function raises some other error. Raise a ValueError"),
    (28, "raise ValueError(", "assert False, (", "your function raises some other error. Raise a ValueError"),
    (28, "@ values", "@ values.detach()", "No gradient reaches argument 3"),
    (28, "torch.softmax(scores, dim=-1)", "(scores.exp() / scores.exp().sum(-1, keepdim=True))", "is NaN where"),
    # a cache
    (29, "triu(1 + S - T)", "triu(1)", "at once, but not in chunks of (2, 1, 1)"),
    (29, "[past_k, k]", "[k, past_k]", "at once, but not in chunks of (2, 1, 1)"),
    (29, "masked_fill(mask,", "masked_fill((S == T) & mask,", "not in chunks of (2, 2)"),
    (29, "return context, cache", "return context, (v, k)", "at once, but not in chunks of (2, 1, 1)"),
    (29, "return context, cache", "return context, (k.detach(), v.detach())", "no gradient gets through the cache"),
    (29, "return context, cache", "return context", "forward must return two things, y and the cache"),
    (29, "return context, cache", "return context, (k.mT, v.mT)", "CachedAttention stopped with"),
    (29, "past_k, past_v = cache", "past_k, past_v = self.kept", "CachedAttention stopped with"),
    (29, "math.sqrt(self.head_dim)", "math.sqrt(x.shape[-1])", NUMBER_IS_WRONG),
    (29, "self.k = nn.Linear(d_model, d_model, bias=False)", "self.k = self.q", "has no parameter k.weight"),
    # softmax in pieces
    (31, "w1, w2 = a1 * l1", "w1, w2 = l1", NUMBER_IS_WRONG),
    (31, " / torch.where(l == 0, 1.0, l)", "", NUMBER_IS_WRONG),
    (31, "torch.where(l == 0, 1.0, l)", "l", "in which the second query is empty"),
    (31, "torch.where(m == -math.inf, 0.0, m)", "m", "in which the second query is empty"),
    (31, "return m, l, o", "return subtracted, l, o", "in which the second query is empty"),
    (31, "return m, l, o", "return m, l, o.detach()", "No gradient gets through your function"),
    # types
    (32, "return output, lse", "return output.float(), lse", "has numbers of type float32, but float64 was expected"),
    (33, "return grad_queries", "return grad_queries.float()", "has numbers of type float32, but float64 was expected"),
    # pages
    (35, "key_pages[page_table].flatten(1, 2)", "key_pages[page_table].flatten(0, 1)", "paged_attention stopped with"),
    (35, ">= lengths[:, None, None]", ">= lengths[:, None, None] // page_size * page_size", NUMBER_IS_WRONG),
    (35, "[page_table]", "[page_table.sort().values]", NUMBER_IS_WRONG),
    (35, "math.sqrt(d)", "d", NUMBER_IS_WRONG),
    (35, "return outputs", "return outputs.flatten(1)", "has shape (2, 6), but (2, 2, 3)"),
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


def test_check_of_cached_attention_finds_kept_or_changed_cache(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """And so is one that changes the cache that it is given."""
    source = CELLS["exercise-29"]
    kept = source.replace("past_k, past_v = cache", "past_k, past_v = self.kept")
    exec(kept.replace("return context, cache", "self.kept = cache\n        return context, cache"), notebook)
    exec("check(29)", notebook)
    assert "if another text continues from the same cache first" in " ".join(capsys.readouterr().err.split())
    writes = "if isinstance(cache, list):\n            cache[:] = [k, v]\n        cache = cache or [k, v]"
    changed = source.replace("cache = k, v", writes)
    exec(changed, notebook)
    exec("check(29)", notebook)
    assert "a cache that was passed in is changed" in " ".join(capsys.readouterr().err.split())


def test_check_of_merge_does_not_call_infinity_rounded(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """A maximum of 0 where −∞ was expected is near it by no measure."""
    exec(CELLS["exercise-31"].replace("return m, l, o", "return subtracted, l, o"), notebook)
    exec("check(31)", notebook)
    said = " ".join(capsys.readouterr().err.split())
    assert "infinity was expected" in said
    assert "16 bits" not in said


WAYS_BACK = {
    "the function API": "return torch.func.vjp(F.scaled_dot_product_attention, queries, keys, values)[1](grad_output)",
    "a ready-made function": "return torch._softmax_backward_data(keys, values, -1, keys.dtype), keys, values",
}


@pytest.mark.parametrize("line", WAYS_BACK.values(), ids=WAYS_BACK)
def test_check_of_attention_backward_asks_for_formulas(
    line: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(f"def attention_backward(queries, keys, values, grad_output):\n    {line}", notebook)
    exec("check(33)", notebook)
    assert "by formulas" in " ".join(capsys.readouterr().err.split())


def test_check_accepts_a_named_tuple_as_cache(notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    keys: torch.Tensor\n    values: torch.Tensor",
        notebook,
    )
    exec(CELLS["exercise-29"].replace("return context, cache", "return context, Pair(k, v)"), notebook)
    exec("check(29)", notebook)
    assert capsys.readouterr().out.startswith("\x1b[32m✓")
