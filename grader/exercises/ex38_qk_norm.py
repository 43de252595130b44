"""Exercise 38: attention with scores that cannot grow, by norms of queries and keys and by a soft cap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from grader import EXACT, Case, Exercise, Inputs, Misconception, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .ex28_grouped_queries import exercise as grouped
from .head_cases import OF_ANY_LENGTH, OVERLONG, with_a_query_of_zeros
from .mistakes import heads, mistakes_named
from .mistakes.of_pieces import another_type, gradients_lost


def qk_norm_attention(queries, keys, values, q_weight, k_weight, cap=None):
    T, d = queries.shape[-2:]
    S = keys.shape[2]
    q_size = torch.sqrt(queries.square().mean(dim=-1, keepdim=True) + 1e-6)  # (B, H, T, 1)  #: q_size
    k_size = torch.sqrt(keys.square().mean(dim=-1, keepdim=True) + 1e-6)  # (B, H, S, 1)  #: k_size
    queries = queries / q_size * q_weight  # (B, H, T, d)  #: queries
    keys = keys / k_size * k_weight  # (B, H, S, d)  #: keys

    scores = queries @ keys.mT  # (B, H, T, S)  #: scores
    scores = scores / math.sqrt(d)  #: scale
    if cap is not None:  #: if
        scores = cap * torch.tanh(scores / cap)  #: cap
    hidden = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(S - T + 1)  #: later
    scores = scores.masked_fill(hidden, -math.inf)  #: hide
    weights = torch.softmax(scores, dim=-1)  #: normalize
    outputs = weights @ values  # (B, H, T, d)  #: mix
    return outputs  #: result


def sized(
    B: int, H: int, T: int, S: int, d: int, *cap: float, scale: float = 1.0, weight: float = 1.0
) -> Callable[[torch.Generator], Inputs]:
    """Queries and keys of this scale, and weights around this one."""

    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values = scale * randn(rng, B, H, T, d), scale * randn(rng, B, H, S, d), randn(rng, B, H, S, d)
        return queries, keys, values, weight + randn(rng, d) / 2, weight + randn(rng, d) / 2, *cap

    return inputs


def large(*cap: float) -> Callable[[torch.Generator], Inputs]:
    """Scores of ±10⁴, those of the first head all below −10⁴. None is near another."""

    def inputs(rng: torch.Generator) -> Inputs:
        steps = torch.tensor([0.1, math.pi / 7, math.pi / 7])[:, None]
        places = torch.rand(2, 3, 7, generator=rng).argsort(-1)
        angles = (steps * (places + 0.5), steps * (places[:, :, :4] + 0.8))
        keys, queries = (torch.stack([angle.cos(), angle.sin()], dim=-1) for angle in angles)
        signs = torch.tensor([-1.0, 1.0, -1.0])[:, None, None]
        return signs * queries, keys, randn(rng, 2, 3, 7, 2), torch.full((2,), 100.0), torch.full((2,), 110.0), *cap

    return inputs


def divided_by(*sizes: str) -> list[Any]:
    """Ways to write a mistake: queries and keys that are divided by something else."""
    return [{f"{x[0]}_size": f"{x[0]}_size = {size.format(x)}" for x in ("queries", "keys")} for size in sizes]


def of_keys(line: str) -> str:
    """A line for the queries, written for the keys."""
    return line.replace("queries", "keys").replace("q_", "k_")


def in_both(queries: str, **changes: str) -> dict[str, str]:
    """A mistake: another line for the queries, and the same for the keys."""
    return {"queries": queries, "keys": of_keys(queries), **changes}


def before(line: str, **changes: str) -> dict[str, str]:
    """A mistake: queries and keys are changed before their norms."""
    return {"before q_size": f"{line}\n{of_keys(line)}", **changes}


def capped(place: str, name: str = "scores", **changes: str) -> dict[str, str]:
    """A mistake: the cap is used elsewhere."""
    line = f"if cap is not None:\n    {name} = cap * torch.tanh({name} / cap)"
    return {"if": "", place: line, **changes}


def always(mistake: Misconception) -> Misconception:
    """A mistake of a mask, in an exercise where there always is one."""
    says, of_code = (text.replace("With causal=True, y", "Y") for text in (mistake.says, mistake.says_of_code))
    return replace(mistake, says=says, says_of_code=of_code)


MASKS = (
    "mask from the first key", "own key hidden", "next key seen", "past hidden", "mask moved the other way",
    "mask inverted", "mask of T × T", "mask of S × S", "scaled by √T", "scaled by √S",
)  # fmt: skip
PARTNERS = (("queries", "q_weight", "keys", "k_weight"), ("keys", "k_weight", "queries", "q_weight"))
AXES = (
    ("over all heads", "dim=(1, 3), keepdim=True", "all heads of a word are divided by one number"),
    ("over the words", "dim=-2, keepdim=True", "the mean runs over the words"),
    ("over words and entries", "dim=(2, 3), keepdim=True", "all words of a head are divided by one number"),
    ("over the heads", "dim=1, keepdim=True", "the mean runs over the heads"),
    ("over everything", "", "all vectors are divided by one number"),
)
MEAN = "{0}.square().mean(dim=-1, keepdim=True)"


# fmt: off
exercise = Exercise(
    number=38,
    assignment="modern_attention",
    title="Scores that stay small",
    solution=qk_norm_attention,
    form=EXACT,
    cases=[
        Case("no cap", catches="a norm over several heads or words", inputs=sized(2, 3, 4, 4, 5)),
        Case("a cap of 2", catches="a cap in another place", inputs=sized(2, 2, 5, 5, 3, 2.0)),
        Case("more keys than queries", catches="a mask that begins at the first key, instead of ending at the last",
             inputs=sized(1, 2, 3, 7, 4, 1.5)),
        Case("a cap below most scores", catches="a cap that is a limit", inputs=sized(2, 3, 4, 6, 6, 0.7, weight=2.0)),
        Case("a cap of a million", catches="tanh without its cap", inputs=sized(1, 3, 4, 5, 2, 1e6)),
        Case("one word", catches="a word that does not see itself", inputs=sized(3, 2, 1, 1, 6, 3.0)),
        Case("one query", catches="a last query that does not see all keys", inputs=sized(2, 4, 1, 6, 3)),
        Case("one head, one feature", catches="squeezed dimensions", inputs=sized(2, 1, 3, 5, 1, 1.0)),
        Case("everything is four", catches="axes that are exchanged without an error",
             inputs=sized(4, 4, 4, 4, 4, 2.5)),
        Case("tiny vectors", catches="another eps", inputs=sized(2, 2, 3, 5, 4, scale=5e-4)),
        Case("vectors close to zero", catches="eps outside the root, or a limit for it",
             inputs=sized(1, 3, 4, 5, 3, scale=1e-6)),
        Case("a query of zeros", catches="a length of zero", inputs=with_a_query_of_zeros(sized(1, 2, 3, 5, 4, 3.0))),
        Case("large vectors", catches="vectors that are not brought to a common size",
             inputs=sized(2, 2, 4, 4, 3, scale=1e4)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large(), beside=LARGE),
        Case("scores of ±10⁴ and a cap", catches="a softmax that overflows, with a cap", inputs=large(20.0),
             beside=LARGE),
        Case("a text of many words", catches="masks of a fixed size", inputs=sized(1, 1, OVERLONG, OVERLONG, 2, 4.0),
             beside=OF_ANY_LENGTH, once=True),
        *as_pieces(sized(2, 3, 3, 5, 4, 1.5)),
    ],
    mistakes=[
        *at("cap",
            wrong("tanh not multiplied by the cap", "scores = torch.tanh(scores / cap)",
                  "Your scores stay between −1 and 1, whatever the cap is. Multiply tanh by the cap.",
                  kind="missing step"),
            wrong("scores not divided by the cap", "scores = cap * torch.tanh(scores)",
                  "Your small scores become `cap` times as large. Divide by the cap before tanh: a small score must "
                  "stay as it is.", kind="missing step"),
            wrong("tanh alone", "scores = torch.tanh(scores)",
                  "Your scores are plain tanh, without the cap. Divide by the cap before tanh, and multiply by it "
                  "after.", kind="missing step"),
            wrong("cut off at the cap", ["scores = scores.clamp(-cap, cap)", "scores = scores.clamp(max=cap)"],
                  "Your scores are cut off at the cap, as with clamp. Bend them smoothly: cap · tanh(score / cap)."),
            wrong("cap of 50", "scores = 50 * torch.tanh(scores / 50)",
                  "Your scores are capped at 50, whatever the cap is. Use the argument.", kind="hard-coded"),
            wrong("cap without effect", "",
                  "Your results do not depend on the cap. If it is not None, every score must become cap · tanh(score "
                  "/ cap).", kind="missing step", also={"if": ""})),
        wrong("cap after the mask", capped("after hide"),
              "With a cap, the future has weight in your results: hidden scores count as −cap, as when the cap comes "
              "after the mask. Cap first, then hide.", kind="arrangement"),
        wrong("cap before scaling", capped("before scale"),
              "Your cap does not act on the scores that go into the softmax: they are still divided, or multiplied, "
              "after it. Divide by √d first, then cap.", kind="arrangement"),
        wrong("cap after softmax", [capped("after normalize", "weights"), capped("after mix", "outputs")],
              "Your cap acts after the softmax, where nothing is large anymore. Cap the scores, before the mask and "
              "the softmax.", kind="arrangement"),
        wrong("cap on queries and keys",
              [before("queries = queries if cap is None else cap * torch.tanh(queries / cap)", **{"if": ""}),
               in_both("queries = queries / q_size * q_weight\n"
                     "queries = queries if cap is None else cap * torch.tanh(queries / cap)", **{"if": ""}),
               capped("before scores", "queries")],
              "Your cap acts on the entries of queries or keys. Cap the scores: their scaled dot products.",
              kind="mix-up"),
        wrong("mean subtracted",
              [before("queries = queries - queries.mean(dim=-1, keepdim=True)"),
               {**before("queries = queries - queries.mean(dim=-1, keepdim=True)"),
                **divided_by(f"torch.sqrt({MEAN} + 1e-5)")[0]}],
              "In your results, the mean is subtracted first, as in a LayerNorm. An RMS norm only divides by the root "
              "of the mean of the squares.", kind="mix-up"),
        wrong("length for size",
              divided_by("torch.sqrt({}.square().sum(dim=-1, keepdim=True) + 1e-6)",
                         "{}.norm(dim=-1, keepdim=True).clamp(min=1e-12)", "({}.norm(dim=-1, keepdim=True) + 1e-6)",
                         "{}.norm(dim=-1, keepdim=True)"),
              "Your vectors have length 1, up to the weights: they are divided by the root of the sum of the squares. "
              "Take the root of the mean.", kind="mix-up"),
        wrong("root missing", divided_by(f"({MEAN} + 1e-6)"),
              "Your vectors are divided by the mean of their squares. Divide by its root.", kind="missing step"),
        *(wrong(name, divided_by(f"torch.sqrt({{}}.square().mean({dim}) + 1e-6)"),
                f"In your results, {effect}. Each vector of each head has its own size: take the mean over the last "
                "dimension only.", kind="axis") for name, dim, effect in AXES),
        wrong("eps outside the root", divided_by(f"(torch.sqrt({MEAN}) + 1e-6)"),
              "In your results, eps is added to the root. Add it to the mean of the squares, under the root.",
              credit=0.75),
        wrong("no eps", divided_by(f"torch.sqrt({MEAN})"),
              "Your results look as if there were no eps: a vector of zeros becomes 0/0, which is NaN. Add 1e-6 to the "
              "mean of the squares, under the root.", credit=0.75, kind="missing step"),
        wrong("another eps",
              divided_by(f"torch.sqrt({MEAN} + 1e-5)", f"torch.sqrt({MEAN} + 1e-8)",
                         f"torch.sqrt({MEAN} + torch.finfo({{0}}.dtype).eps)", f"torch.sqrt({MEAN} + 1e-6 / d)",
                         f"torch.sqrt({MEAN} + 1e-12)", f"torch.sqrt({MEAN}).clamp(min=1e-12)"),
              "For tiny vectors, your results show a different eps, or none. Add 1e-6 to the mean of the squares, "
              "under the root. F.rms_norm takes about 1e-7 if you give none.", credit=0.75,
              kind="hard-coded"),
        wrong("values normalized, too",
              [{"before mix": f"values = values / torch.sqrt({MEAN.format('values')} + 1e-6)"},
               {"before mix": f"values = values / torch.sqrt({MEAN.format('values')} + 1e-6) * k_weight"}],
              "In your results, values are brought to a common size, too. Only queries and keys are: values do not "
              "enter the scores.", kind="mix-up"),
        *(mistake for x, weight, y, weight_of_y in PARTNERS for mistake in at(x,
            wrong(f"{x} not normalized", ["", f"{x} = {x} * {weight}"],
                  f"Your {y} are normalized, and your {x} are not. Long ones still have large scores: normalize both.",
                  kind="missing step"),
            wrong(f"{x} without their weight", f"{x} = {x} / {x[0]}_size",
                  f"{weight} has no effect in your results. Multiply the normalized {x} by it.", kind="missing step"),
            wrong(f"weight of the {y} for the {x}", f"{x} = {x} / {x[0]}_size * {weight_of_y}",
                  f"In your results, {weight_of_y} counts twice, and {weight} not at all. Multiply the normalized {x} "
                  f"by {weight}.", kind="mix-up"))),
        wrong("queries and keys without weights", in_both("queries = queries / q_size"),
              "The two weights have no effect in your results. Multiply the normalized queries by q_weight, and the "
              "keys by k_weight.", kind="missing step"),
        wrong("nothing normalized", [in_both("queries = queries * q_weight"), in_both("")],
              "Queries and keys keep their sizes in your results, so scores still grow with them. Divide each vector "
              "by the root of the mean of its squares.", credit=0.25, kind="missing step"),
        wrong("one more than the weights", in_both("queries = queries / q_size * (1 + q_weight)"),
              "Your vectors are multiplied by 1 + weight, as in Gemma, whose weights start at 0. Multiply by the "
              "weight itself.", credit=0.75, kind="convention"),
        wrong("weights before the norms",
              {**before("queries = queries * q_weight"), **in_both("queries = queries / q_size")},
              "Your vectors are multiplied by the weights before their sizes are taken. Normalize first, then multiply "
              "by the weight.", kind="arrangement"),
        wrong("scaled before the norms",
              [{"before q_size": "queries = queries / math.sqrt(d)", "scale": ""},
               before("queries = queries / d**0.25", scale="")],
              "Your queries or keys are scaled before the norm, which takes that back: your scores are not divided by "
              "√d. Divide the scores.", kind="arrangement"),
        *at("later",
            wrong("all keys seen", "hidden = torch.zeros(T, S, dtype=torch.bool, device=scores.device)",
                  "All your queries see all keys. Attention is causal here: query i sees the keys up to i + S − T.",
                  kind="missing step")),
        *at("after later",
            wrong("causal only with as many keys as queries", "hidden = hidden & (T == S)",
                  "Your queries see all keys if there are more keys than queries. Query i may see the keys up to i + S "
                  "− T.", kind="missing step")),
        *(always(mistake) for mistake in mistakes_named(grouped.mistakes, *MASKS)),
        *heads.with_lines(),
        heads.BEHIND_WORDS,
        *gradients_lost("outputs"), *another_type("outputs", "after mix"),
    ],
)
# fmt: on
