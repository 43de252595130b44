"""Exercise 36: attention in which a head may look at nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .ex28_grouped_queries import exercise as grouped
from .head_cases import OF_ANY_LENGTH, OVERLONG, of_large_scores, with_a_query_of_zeros
from .mistakes import heads, mistakes_named
from .mistakes.of_pieces import another_type, gradients_lost

NO_WEIGHT = -math.inf  # a sink that takes no weight
NO_GRADIENT = (
    "The numbers are right, but with sinks of ±10⁴ or −∞, gradients are wrong or NaN. See that exp(sink − …) does not "
    "overflow, and that there is no ∞ − ∞."
)
LARGE_SINKS = "Your code is right for small sinks, but not for large ones. It must work up to ±10⁴, without NaN."
NO_SINK = "With sinks of −∞, the result must be that of attention without sinks. Yours is wrong there, or NaN."


def attention_with_sinks(queries, keys, values, sinks, causal=False):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    scores = queries @ keys.mT  # (B, H, T, S)  #: scores
    scores = scores / math.sqrt(d)  #: scale
    if causal:  #: causal
        hidden = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(S - T + 1)  #: later
        scores = scores.masked_fill(hidden, -math.inf)  #: hide
    sink = sinks[:, None, None].expand(B, H, T, 1)  # the same for all queries of a head  #: sink
    logits = torch.cat([scores, sink], dim=-1)  # (B, H, T, S + 1)  #: logits
    weights = torch.softmax(logits, dim=-1)[..., :S]  # without the sink's  #: normalize
    outputs = weights @ values  # (B, H, T, d)  #: mix
    return outputs  #: result


def sized(B: int, H: int, T: int, S: int, d: int, *causal: bool) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        return randn(rng, B, H, T, d), randn(rng, B, H, S, d), randn(rng, B, H, S, d), 1.5 * randn(rng, H), *causal

    return inputs


def with_sinks(sample: Callable[[torch.Generator], Inputs], *sinks: float) -> Callable[[torch.Generator], Inputs]:
    """These queries, keys and values, with other sinks."""

    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values, _, *causal = sample(rng)
        return queries, keys, values, torch.tensor(sinks), *causal

    return inputs


def large(first: float) -> Callable[[torch.Generator], Inputs]:
    """Scores of ±10⁴, those of the first head all near −11,000."""
    return lambda rng: (*of_large_scores(rng, 2, 3, 3, 4, 6), torch.cat([torch.tensor([first]), randn(rng, 2)]), True)


of_large_sinks = with_sinks(sized(1, 4, 3, 4, 3), 1e4, NO_WEIGHT, 0.4, -1e4)


def by_hand(denominator: str, maximum: str = "") -> dict[str, str]:
    """A mistake in a softmax that is written out: the maximum of a row, and what its exponentials are divided by."""
    m = maximum or "torch.maximum(scores.amax(dim=-1, keepdim=True), sink)"
    return {"normalize": f"m = {m}\nexp = torch.exp(scores - m)\ntotal = exp.sum(dim=-1, keepdim=True)\n"
                         f"weights = exp / ({denominator})"}  # fmt: skip


MAXIMA = (
    "amax(dim=-1, keepdim=True)", "max(dim=-1, keepdim=True).values", "amax(dim=-1, keepdim=True).detach()",
)  # fmt: skip
MASKS = (
    "mask from the first key", "own key hidden", "next key seen", "past hidden", "mask moved the other way",
    "mask inverted", "mask of T × T", "mask of S × S", "causal only with as many keys as queries",
    "causal has no effect", "always causal", "scaled by √T", "scaled by √S",
)  # fmt: skip
# What the shared sentences say of weights that sum to one is not true here, or their lines leave out the sink.
WITHOUT_SINKS = (
    "softmax twice", "softmax over heads", "softmax over queries", "softmax not shifted", "exponentials not divided",
    "sigmoid for softmax", "masked after softmax", "renormalized after softmax",
    "renormalized after softmax, with a limit", "mean instead of sum", "raw scores as weights",
)  # fmt: skip


# fmt: off
exercise = Exercise(
    number=36,
    assignment="modern_attention",
    title="Sinks",
    solution=attention_with_sinks,
    form=EXACT,
    cases=[
        Case("two sentences, three heads", catches="one sink for all heads", inputs=sized(2, 3, 4, 4, 5)),
        Case("causal", catches="a sink that the mask hides", inputs=sized(1, 2, 5, 5, 3, True)),
        Case("more keys than queries",
             catches="a mask that begins at the first key, instead of ending at the last; scores of 0 that are hidden",
             inputs=with_a_query_of_zeros(sized(2, 2, 3, 7, 4, True))),
        Case("one word", catches="a sink that takes no weight", inputs=sized(3, 2, 1, 1, 6, True)),
        Case("one query", catches="a last query that does not see all keys", inputs=sized(2, 4, 1, 6, 3, True)),
        Case("one head, one feature", catches="squeezed dimensions", inputs=sized(2, 1, 3, 5, 1)),
        Case("everything is four", catches="axes that are exchanged without an error",
             inputs=sized(4, 4, 4, 4, 4, True)),
        Case("no head has a sink", catches="∞ − ∞",
             inputs=with_sinks(sized(2, 2, 3, 4, 3, True), NO_WEIGHT, NO_WEIGHT), beside=NO_SINK),
        Case("some heads have no sink", catches="∞ − ∞", inputs=with_sinks(sized(1, 3, 3, 5, 2), 0.5, NO_WEIGHT, -0.5),
             beside=NO_SINK),
        Case("scores of ±10⁴, a sink below", catches="a maximum that begins with 0", inputs=large(-13e3), beside=LARGE),
        Case("scores of ±10⁴, a sink above", catches="a maximum that begins with 0", inputs=large(-9e3), beside=LARGE),
        Case("sinks of ±10⁴", catches="exp of a sink",
             inputs=with_sinks(sized(2, 4, 3, 5, 4, True), 1e4, -0.7, -1e4, 0.6), beside=LARGE_SINKS),
        Case("gradients with sinks of ±10⁴ and −∞", catches="a maximum without the sink",
             inputs=lambda rng: (*of_large_sinks(rng), {"gradients": True}), beside=NO_GRADIENT),
        Case("a text of many words", catches="masks of a fixed size", inputs=sized(1, 2, OVERLONG, OVERLONG, 2, True),
             beside=OF_ANY_LENGTH, once=True),
        *as_pieces(sized(2, 3, 3, 5, 4, True)),
    ],
    mistakes=[
        wrong("sinks without effect", {"normalize": "weights = torch.softmax(scores, dim=-1)"},
              "Your results are those of attention without sinks: the weights of the keys sum to one. A sink that is "
              "added to all scores, or divided out again, changes nothing. Let it take part in the softmax as one more "
              "logit, and leave out its weight afterwards.", credit=0.0, kind="missing step"),
        wrong("sinks hidden by the mask",
              {"before normalize": "if causal:\n    logits = torch.cat([scores, sink - math.inf], dim=-1)"},
              "With causal=True, sinks have no effect in your results, as when the mask hides them. Append the sink "
              "only after masking, or leave its column out of the mask.", kind="mix-up"),
        wrong("sinks of 0",
              {"sink": "sink = torch.zeros_like(scores[..., :1])"},
              "Your results look as if all sinks were 0, as when 1 is added to the sum of the exponentials. Use the "
              "logit of each head.", credit=0.25, kind="missing step"),
        wrong("sinks of the largest score", by_hand("total + 1", f"scores.{MAXIMA[0]}"),
              "In your results, the sink always counts as much as the largest score of its row, as when 1 is added "
              "after the maximum was subtracted. Use the logit of each head, less the same maximum.", credit=0.25,
              kind="missing step"),
        *at("sink",
            wrong("sinks divided by √d", "sink = (sinks / math.sqrt(d))[:, None, None].expand(B, H, T, 1)",
                  "Your sinks are divided by √d, like the scores. A sink is a logit by itself: append it after "
                  "scaling.", kind="scaling"),
            wrong("sign of the sinks", "sink = -sinks[:, None, None].expand(B, H, T, 1)",
                  "Your sinks have the wrong sign: the larger the sink of a head, the less weight must be left for its "
                  "keys."),
            wrong("first sink for all heads", "sink = sinks[0].expand(B, H, T, 1)",
                  "In your results, all heads have the sink of the first one. Head h has sinks[h].", kind="mix-up"),
            wrong("mean of the sinks for all heads", "sink = sinks.mean().expand(B, H, T, 1)",
                  "In your results, all heads have the mean of the sinks. Head h has sinks[h].", kind="mix-up"),
            wrong("sum of the sinks for all heads", "sink = sinks.sum().expand(B, H, T, 1)",
                  "In your results, all heads have the sum of the sinks. Head h has sinks[h].", kind="mix-up"),
            wrong("all sinks in every head", "sink = sinks.expand(B, H, T, H)",
                  "In your results, every head has the sinks of all heads. Head h has only sinks[h].", kind="axis"),
            wrong("sinks along the queries", "sink = sinks[:, None].expand(B, H, T, 1)",
                  "In your results, sinks run along the queries: query t has sinks[t], in all heads. Head h has "
                  "sinks[h], for all its queries.", kind="axis"),
            wrong("sinks along the sentences", "sink = sinks[:, None, None, None].expand(B, H, T, 1)",
                  "In your results, sinks run along the batch: sentence b has sinks[b]. Head h has sinks[h], in all "
                  "sentences.", kind="axis"),
            wrong("sinks in reverse order", "sink = sinks.flip(0)[:, None, None].expand(B, H, T, 1)",
                  "In your results, the first head has the last sink. Head h has sinks[h].", kind="arrangement")),
        *at("scores",
            wrong("a sink for each key", "scores = queries @ keys.mT - math.sqrt(d) * sinks[:, None, None]",
                  "Your weights are the sigmoids of score − sink, as if each key had a sink of its own. All keys and "
                  "the sink share one softmax.", also={"normalize": "weights = torch.sigmoid(scores)"})),
        *at("normalize",
            wrong("sink taken for the first key", "weights = torch.softmax(logits.roll(1, -1), dim=-1)[..., :S]",
                  "In your results, the sink is first and the last column is left out, so each value has the weight of "
                  "the key before it, and the first has that of the sink. Leave out the sink's column.", kind="mix-up"),
            wrong("first key dropped", "weights = torch.softmax(logits, dim=-1)[..., 1:]",
                  "In your results, the sink is last and the first column is left out, so each value has the weight of "
                  "the key after it. Leave out the last column.", kind="mix-up"),
            wrong("sink in place of its exponential", "weights = torch.exp(scores) / (torch.exp(scores).sum(dim=-1, "
                  "keepdim=True) + sink)",
                  "In your results, the sink itself is added to the sum of the exponentials. It is a logit like the "
                  "scores: add its exponential.", kind="missing step")),
        wrong("sink in place of its exponential, with a maximum",
              [by_hand("total + sink", "scores.amax(dim=-1, keepdim=True)"), by_hand("total + sink - m"),
               by_hand("total + sink")],
              "In your results, the sink itself is added to the sum of the exponentials. It is a logit like the "
              "scores: add exp of it, with the same maximum subtracted.", kind="missing step"),
        wrong("sink not shifted",
              [by_hand("total + torch.exp(sink)", "scores.amax(dim=-1, keepdim=True)"),
               by_hand("total + torch.exp(sink)")],
              "Your sum of exponentials has exp(sink), while the scores come with their maximum subtracted. Subtract "
              "the same number from the sink, too.", kind="missing step"),
        wrong("sink beside weights that sum to one",
              {"normalize": "weights = torch.softmax(scores, dim=-1)\nweights = weights / (1 + torch.exp(sink))"},
              "In your results, a head keeps the same part of its weights for every query, whatever the scores are. "
              "Compare the sink with the scores: one softmax over both.", credit=0.25, kind="missing step"),
        wrong("weights times the sink",
              [{"normalize": "weights = torch.softmax(scores, dim=-1) * sink"},
               {"normalize": "weights = torch.softmax(scores, dim=-1) * torch.sigmoid(sink)"},
               {"normalize": "weights = torch.softmax(scores, dim=-1) + sink"}],
              "In your results, a head's sink changes its weights after the softmax, in the same way for every query. "
              "Append it to the scores, before the softmax.", credit=0.25, kind="missing step"),
        wrong("the sink's share kept",
              {"normalize": "weights = torch.softmax(scores, dim=-1) * torch.softmax(logits, dim=-1)[..., S:]"},
              "Your outputs are multiplied by the weight of the sink. They should keep what the sink leaves: 1 minus "
              "that weight.", kind="mix-up"),
        *at("after normalize",
            wrong("sink's weight to the first key",
                  "weights = torch.cat([weights[..., :1] + 1 - weights.sum(dim=-1, keepdim=True), weights[..., 1:]], "
                  "dim=-1)",
                  "In your results, the weight of the sink goes to the first value. It must go nowhere.",
                  kind="mix-up"),
            wrong("sink's weight to the last key",
                  "weights = torch.cat([weights[..., :-1], weights[..., -1:] + 1 - weights.sum(dim=-1, "
                  "keepdim=True)], dim=-1)",
                  "In your results, the weight of the sink goes to the last value. It must go nowhere.",
                  kind="mix-up"),
            wrong("sink's weight shared out", "weights = weights + (1 - weights.sum(dim=-1, keepdim=True)) / S",
                  "In your results, all values share the weight of the sink. It must go nowhere.", kind="mix-up")),
        wrong("sink's weight added to the outputs",
              {"after mix": "outputs = outputs + 1 - weights.sum(dim=-1, keepdim=True)"},
              "In your results, the weight of the sink is added to every entry of the output, as with a value of ones. "
              "It must go nowhere: its value is 0.", kind="mix-up"),
        wrong("maximum without the sink",
              [by_hand("total + torch.exp(sink - m)", f"scores.{maximum}") for maximum in MAXIMA],
              "Where a sink is far above all scores, gradients are NaN, as when exp overflows. Use torch.softmax or "
              "torch.sigmoid; if you subtract a maximum, it must include the sink.", credit=0.75, kind="missing step"),
        wrong("softmax not shifted",
              by_hand("total + torch.exp(sink)", "torch.zeros_like(sink)"),
              "Where scores or sinks are large, exp overflows, or is 0 for all of them: ∞/∞ and 0/0 are NaN. Subtract "
              "the maximum over scores and sink before exp, or use torch.softmax.", credit=0.75, kind="missing step"),
        wrong("softmax twice", {"normalize": "weights = torch.softmax(torch.softmax(logits, dim=-1), dim=-1)[..., :S]"},
              "Your results look as if softmax were applied twice. Apply it once, to scores and sink."),
        *at("normalize",
            wrong("softmax over heads", "weights = torch.softmax(scores, dim=1)",
                  "Your weights sum to one over the heads, for each pair of query and key. Take the softmax over the "
                  "keys and the sink: dim=-1.", kind="axis"),
            wrong("softmax over queries", "weights = torch.softmax(scores, dim=-2)",
                  "Your weights sum to one over the queries, for each key. Take the softmax over the keys and the "
                  "sink: dim=-1.", kind="axis"),
            wrong("exponentials not divided", "weights = torch.exp(scores)",
                  "Your values are weighted with exponentials. Divide them by the sum over the keys and the sink.",
                  kind="missing step"),
            wrong("raw scores as weights", "weights = scores",
                  "Your values are weighted with raw scores. Use the softmax of scores and sink.", credit=0.25,
                  kind="missing step", also={"hide": "scores = scores.masked_fill(hidden, 0.0)"})),
        wrong("masked after softmax",
              {"hide": "", "after normalize": "if causal:\n    weights = weights.masked_fill(hidden, 0.0)"},
              "With causal=True, hidden keys take weight away from the others, as if zeros were put in after the "
              "softmax. Set hidden scores to −∞ before softmax.", kind="missing step"),
        *(mistake for mistake in heads.with_lines(masked="if causal: ") if mistake.name not in WITHOUT_SINKS),
        *(mistake for mistake in mistakes_named(grouped.mistakes, *MASKS) if mistake.way == 0),
        heads.BEHIND_WORDS,
        *gradients_lost("outputs"), *another_type("outputs", "after mix"),
    ],
)
# fmt: on
