"""Exercise 28: several query heads share a head of keys and values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from grader import (
    ACCEPTED,
    ANOTHER_ERROR,
    Broken,
    Case,
    Exact,
    Exercise,
    Finding,
    Inputs,
    at,
    put_once,
    randn,
    refusal,
    wrong,
)
from grader.kit.pieces import LARGE, as_pieces

from .head_cases import OF_ANY_LENGTH, OVERLONG, of_large_scores, with_a_query_of_zeros
from .mistakes import heads
from .mistakes.of_pieces import another_type, gradients_lost


def grouped_query_attention(queries, keys, values, causal=False):
    Hq, T, d = queries.shape[1:]
    Hkv, S = keys.shape[1:3]
    if Hq % Hkv != 0:  #: check
        raise ValueError(f"{Hq} heads of queries cannot share {Hkv} heads of keys evenly")
    keys = keys.repeat_interleave(Hq // Hkv, dim=1)  # (B, Hq, S, d)  #: keys
    values = values.repeat_interleave(Hq // Hkv, dim=1)  #: values

    scores = queries @ keys.mT  # (B, Hq, T, S)  #: scores
    scores = scores / math.sqrt(d)  #: scale
    if causal:  #: causal
        hidden = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(S - T + 1)  #: later
        scores = scores.masked_fill(hidden, -math.inf)  #: hide
    weights = torch.softmax(scores, dim=-1)  #: normalize
    outputs = weights @ values  # (B, Hq, T, d)  #: mix
    return outputs  #: result


def probe(function: Callable[..., Any], *inputs: Any) -> Any:
    """The result of one call, its gradients, or how it refuses its arguments."""
    *arguments, options = inputs
    if isinstance(options, dict) and "refuses" in options:
        return {"error": refusal(function, arguments)}
    return put_once(function, inputs)


class Refusing(Exact):
    """A function whose exact result and gradients count, and so does what it refuses."""

    def finding(self, actual: Any, expected: Any, tolerance: float) -> Finding | None:
        """What is wrong with a result, with gradients, or with a refusal."""
        if not is_refusal(expected):
            return super().finding(actual, expected, tolerance)
        if is_refusal(actual) and actual["error"] == expected["error"]:
            return None
        return Broken("arguments", ANOTHER_ERROR if is_refusal(actual) and actual["error"] else ACCEPTED)

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is that of a misconception."""
        if not is_refusal(expected):
            return super().agrees(answer, wrong, expected, tolerance)
        return is_refusal(answer) and bool(answer["error"] == wrong["error"])

    def is_evidence(self, wrong: object) -> bool:
        """Whether a wrong answer is not a refusal, which shows nothing of what is computed."""
        return not is_refusal(wrong)

    def paired_numbers(self, actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All computed numbers with the expected ones: a refusal has none."""
        return [] if is_refusal(expected) else super().paired_numbers(actual, expected)


def is_refusal(answer: object) -> bool:
    """Whether this is the probe's note on how a call ended."""
    return isinstance(answer, dict) and isinstance(answer.get("error"), str)


def shared_by(shared: str) -> dict[str, str]:
    """A mistake: keys and values that are shared like this."""
    return {"keys": f"keys = {shared.format('keys')}", "values": f"values = {shared.format('values')}"}


def sized(
    B: int, Hq: int, Hkv: int, T: int, S: int, d: int, *, causal: bool = False
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values = randn(rng, B, Hq, T, d), randn(rng, B, Hkv, S, d), randn(rng, B, Hkv, S, d)
        return (queries, keys, values, *([True] if causal else []))

    return inputs


def large(*causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 2, 4, 2, 4, 6), *causal)


def refused(Hq: int, Hkv: int) -> Case:
    return Case(
        f"{Hq} heads of queries, {Hkv} of keys",
        catches="a check of the numbers of heads that is missing",
        inputs=lambda rng: (*sized(2, Hq, Hkv, 3, 3, 4)(rng), {"refuses": True}),
        beside="If Hq is not a multiple of Hkv, your function must raise a ValueError.",
    )


# fmt: off
exercise = Exercise(
    number=28,
    assignment="fast_attention",
    title="Grouped queries",
    solution=grouped_query_attention,
    form=Refusing(),
    probe=probe,
    cases=[
        Case("two queries share a key", catches="head h % Hkv for h // group", inputs=sized(2, 4, 2, 3, 5, 6)),
        Case("three queries share a key", catches="a fixed group of two, √Hq, √T or √S for √d",
             inputs=sized(1, 6, 2, 4, 4, 5, causal=True)),
        Case("one head of keys", catches="a group that is not Hq // Hkv", inputs=sized(2, 3, 1, 5, 5, 2)),
        Case("as many heads of keys as of queries", catches="something else than ordinary heads",
             inputs=sized(2, 3, 3, 2, 4, 3, causal=True)),
        Case("more keys than queries",
             catches="a mask that begins at the first key, instead of ending at the last; scores of 0 that are hidden",
             inputs=with_a_query_of_zeros(sized(2, 4, 2, 3, 7, 4, causal=True))),
        Case("one query", catches="a last query that does not see all keys",
             inputs=sized(3, 4, 2, 1, 6, 3, causal=True)),
        Case("everything is four", catches="axes that are exchanged without an error",
             inputs=sized(4, 4, 2, 4, 4, 4, causal=True)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 1, 3, 4, 1)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large(True), beside=LARGE),
        Case("scores of ±10⁴, none hidden", "another softmax where nothing is hidden", large(), beside=LARGE),
        Case("a text of many words", catches="masks of a fixed size",
             inputs=sized(1, 2, 1, OVERLONG, OVERLONG, 2, causal=True),
             beside=OF_ANY_LENGTH, once=True),
        *as_pieces(sized(2, 4, 2, 3, 4, 3, causal=True)),
        refused(6, 4),
        refused(3, 2),
        refused(2, 4),
    ],
    mistakes=[
        wrong("keys and values over and over",
              {"keys": "keys = keys.repeat(1, Hq // Hkv, 1, 1)",
               "values": "values = values.repeat(1, Hq // Hkv, 1, 1)"},
              "Query head h uses key head h % Hkv in your results, as if all key heads were repeated one after the "
              "other. Neighbors share a head: use key head h // (Hq // Hkv).", kind="mix-up",
              in_code=("_.repeat(_, _, _, _)",),
              says_of_code="repeat puts all key heads one after another, so query head h gets key head h % Hkv. "
                           "Neighbors should share a head: torch.repeat_interleave repeats each head in its place."),
        wrong("values over and over", {"values": "values = values.repeat(1, Hq // Hkv, 1, 1)"},
              "Query head h uses the values of head h % Hkv, but not its keys. Use head h // (Hq // Hkv) for both.",
              kind="mix-up"),
        wrong("keys over and over", {"keys": "keys = keys.repeat(1, Hq // Hkv, 1, 1)"},
              "Query head h uses the keys of head h % Hkv, but not its values. Use head h // (Hq // Hkv) for both.",
              kind="mix-up"),
        wrong("first key head for all", {"keys": "keys = keys[:, :1]", "values": "values = values[:, :1]"},
              "All query heads use the first head of keys and values. Each group should have its own: head h // (Hq // "
              "Hkv).", kind="mix-up"),
        wrong("key heads backwards",
              {"keys": "keys = keys.repeat_interleave(Hq // Hkv, dim=1).flip(1)",
               "values": "values = values.repeat_interleave(Hq // Hkv, dim=1).flip(1)"},
              "The first query heads use the last head of keys and values. Keep the groups in order: head h // (Hq // "
              "Hkv).", kind="arrangement"),
        wrong("head h // Hkv",
              shared_by("{}[:, torch.arange(Hq, device=queries.device) // Hkv]"),
              "Query head h uses key head h // Hkv in your code, which may be another one, or none at all. Use head h "
              "// (Hq // Hkv).", kind="mix-up"),
        wrong("groups of two",
              shared_by("{}.repeat_interleave(2, dim=1)"),
              "Your code works only if two query heads share a key head. Repeat each key head Hq // Hkv times.",
              kind="hard-coded"),
        wrong("keys repeated behind the words",
              shared_by("{}[:, :, :, None].expand(-1, -1, -1, Hq // Hkv, -1).reshape(-1, Hq, S, d)"),
              "In your results, words and heads are mixed up, as if keys were repeated along a new axis behind the "
              "words, and then reshaped. Put that axis right behind the heads.", kind="arrangement"),
        wrong("queries of several groups together",
              {**shared_by("{}.repeat(1, Hq // Hkv, 1, 1)"),
               "result": "return outputs.unflatten(1, (-1, Hkv)).transpose(1, 2).flatten(1, 2)"},
              "In your results, query heads are grouped as if neighbors belonged to different groups, and then put "
              "together as if they belonged to the same one. View the queries as (B, Hkv, Hq // Hkv, T, d).",
              kind="arrangement"),
        wrong("scores of a group added up",
              {"scale": "scores = scores.unflatten(1, (Hkv, -1)).sum(dim=2).repeat_interleave(Hq // Hkv, dim=1)\n"
                        "scores = scores / math.sqrt(d)"},
              "In your results, all query heads of a group have the same weights, as if their scores were added up. "
              "They share keys and values, but each needs its own scores.", kind="axis"),
        wrong("queries of a group averaged",
              {"scale": "scores = scores.unflatten(1, (Hkv, -1)).mean(dim=2).repeat_interleave(Hq // Hkv, dim=1)\n"
                        "scores = scores / math.sqrt(d)"},
              "In your results, all query heads of a group have the same weights: those of their average query. They "
              "share keys and values, but not queries.", kind="mix-up"),
        *at("check",
            wrong("heads that do not fit accepted", "queries = queries[:, : Hq // Hkv * Hkv]",
                  ACCEPTED, credit=0.75, kind="missing step"),
            wrong("another error than ValueError", "", ANOTHER_ERROR, credit=0.75, kind="missing step")),
        wrong("mask from the first key", {"later": ("S - T + 1", "1")},
              "With causal=True, your query i sees the keys 0 … i. The last query belongs to the last key, so query i "
              "should see the keys up to i + S − T.",
              kind="mix-up", in_code=("F.scaled_dot_product_attention(is_causal=_)",),
              says_of_code="is_causal=True lets query i see the keys 0 … i, even where there are more keys than "
                           "queries. Here query i sees the keys up to i + S − T: pass a mask."),
        *heads.and_with_zeros(
            wrong("own key hidden", {"later": ("S - T + 1", "S - T")},
                  "With causal=True, your queries do not see the key at their own position. Query i should see the "
                  "keys up to and including i + S − T.", kind="mix-up")),
        *at("later",
            wrong("next key seen", ("S - T + 1", "S - T + 2"),
                  "With causal=True, your queries see one key too many. Query i should see the keys up to i + S − T "
                  "and no later ones.", kind="mix-up"),
            wrong("past hidden", ("triu(S - T + 1)", "tril(S - T - 1)"),
                  "With causal=True, your queries see the future, and the past is hidden. Hide the keys after i + S − "
                  "T.", kind="mix-up")),
        *heads.and_with_zeros(
            wrong("mask moved the other way", {"later": ("S - T", "T - S")},
                  "With causal=True, your mask is moved to the wrong side, by T − S. Query i should see the keys up to "
                  "i + S − T.", kind="mix-up"),
            wrong("mask inverted", {"later": ("triu(S - T + 1)", "tril(S - T)")},
                  "With causal=True, your queries see just the keys that should be hidden: query i sees only the keys "
                  "after i + S − T. Hide those. In a mask for PyTorch's own kernel, True means “seen”; masked_fill "
                  "fills where the mask is True.", kind="mix-up")),
        *at("later",
            wrong("mask of T × T", "hidden = torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1)",
                  "With causal=True, your code works only if there are as many keys as queries, or a single query: its "
                  "mask is T × T. It needs T rows and S columns.", kind="mix-up"),
            wrong("mask of S × S", "hidden = torch.ones(S, S, dtype=torch.bool, device=scores.device).triu(1)",
                  "With causal=True, your code works only if there are as many keys as queries: its mask is S × S. It "
                  "needs T rows and S columns.", kind="mix-up")),
        *at("before causal",
            wrong("causal only with as many keys as queries", "causal = causal and T == S",
                  "With causal=True, your queries see all keys if there are more keys than queries. Query i may see "
                  "the keys up to i + S − T.", kind="missing step"),
            wrong("causal has no effect", "causal = False",
                  "With causal=True, all queries still see all keys in your results. Query i may see the keys up to i "
                  "+ S − T.", kind="missing step"),
            wrong("always causal", "causal = True",
                  "In your results, keys are hidden even without causal=True. Hide them only if causal is True.",
                  kind="mix-up")),
        *at("scale",
            wrong("scaled by √Hq·d", "scores = scores / math.sqrt(Hq * d)",
                  "Your scores are divided by √(Hq · d). Divide by √d, the square root of the length of one key.",
                  kind="scaling"),
            wrong("scaled by √T", "scores = scores / math.sqrt(T)",
                  "Your scores are divided by the square root of the number of queries. Divide by √d.", kind="scaling"),
            wrong("scaled by √S", "scores = scores / math.sqrt(S)",
                  "Your scores are divided by the square root of the number of keys. Divide by √d.", kind="scaling"),
            wrong("scaled by √Hq", "scores = scores / math.sqrt(Hq)",
                  "Your scores are divided by the square root of the number of heads. Divide by √d.", kind="scaling")),
        *heads.with_lines(masked="if causal: "),
        *at("result",
            wrong("one head of each group", "return outputs[:, :: Hq // Hkv]",
                  "Your result has only as many heads as the keys. Each query head has its own output: return (B, Hq, "
                  "T, d).", kind="mix-up"),
            wrong("heads of a group added up", "return outputs.unflatten(1, (Hkv, -1)).sum(dim=2)",
                  "Your result has the sum of the outputs of each group. Each query head has its own output: return "
                  "(B, Hq, T, d).", kind="axis"),
            wrong("heads of a group averaged", "return outputs.unflatten(1, (Hkv, -1)).mean(dim=2)",
                  "Your result has the mean of the outputs of each group. Each query head has its own output: return "
                  "(B, Hq, T, d).", kind="axis"),
            wrong("groups not merged", "return outputs.unflatten(1, (Hkv, -1))",
                  "Your result has the shape (B, Hkv, Hq // Hkv, T, d). Return (B, Hq, T, d).", kind="arrangement"),
            wrong("heads in another order", "return outputs.unflatten(1, (Hkv, -1)).transpose(1, 2).flatten(1, 2)",
                  "Your outputs are in the wrong places: the heads of a group should be neighbors, and they "
                  "are apart. Put the output of query head h at place h.", kind="arrangement"),
            wrong("heads behind the words", "return outputs.transpose(1, 2)",
                  "Your result has the shape (B, T, Hq, d). Return (B, Hq, T, d).", kind="arrangement"),
            wrong("heads merged", "return outputs.transpose(1, 2).flatten(2)",
                  "In your result, the heads are joined side by side. Return (B, Hq, T, d).",
                  kind="arrangement")),
        *gradients_lost("outputs"), *another_type("outputs", "after mix"),
    ],
)
# fmt: on
