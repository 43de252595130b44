"""Mistakes in functions of queries, keys and values with several heads, as lines."""

from __future__ import annotations

from functools import partial

import grader
from grader import Misconception, Needs, at

wrong = partial(
    grader.wrong,
    needs=Needs("scores scale hide normalize mix", "queries keys values scores hidden weights d"),
)


def and_with_zeros(*mistakes: Misconception) -> list[Misconception]:
    """The mistakes, also in code that gives zeros if a softmax has nothing left, like loops or PyTorch's own kernel."""
    usual = "weights = torch.softmax(scores, dim=-1)"
    lines = [mistake.change.get("normalize", usual) for mistake in mistakes]
    zeros = [{"normalize": f"{line}.nan_to_num(0.0)"} for line in lines]
    return [mistake.add_way({**mistake.change, **line}) for mistake, line in zip(mistakes, zeros, strict=True)]


# Mistakes that make no sense if each head has one query.
WITH_MANY_QUERIES = ("softmax over queries",)


# fmt: off
def with_lines(masked: str = "") -> list[Misconception]:
    """Mistakes in scores, weights and outputs.

    `masked` comes before lines that are only for hidden scores, such as `if causal: `.
    """
    return [
        *at("scale",
            wrong("not scaled", "",
                  "The scores you use are not scaled. Divide them by √d, the square root of the length of a key.",
                  kind="scaling"),
            wrong("divided by d", "scores = scores / d",
                  "Your scores are divided by d, or by √d twice. Divide them by √d once.", kind="scaling"),
            wrong("multiplied by √d", "scores = scores * d**0.5",
                  "Your scores are multiplied by √d. Divide by it.", kind="scaling"),
            wrong("divided by √8", "scores = scores / 8**0.5",
                  "Your scores are divided by √8, whatever the sizes are. Divide by √d, taking d from the shape of the "
                  "keys.", kind="hard-coded"),
            wrong("divided by 2", "scores = scores / 2",
                  "Your scores are divided by 2, whatever the sizes are. Divide by √d, taking d from the shape of the "
                  "keys.", kind="hard-coded"),
            wrong("sign flipped", "scores = -scores / d**0.5",
                  "Your scores have the wrong sign. The larger the dot product of a query and a key, the larger the "
                  "weight must be."),
            wrong("scaled in the wrong place", "",
                  "Your results look as if the scores were not scaled, and √d divided the result at the end. Scale the "
                  "scores, before softmax.", kind="scaling", also={"before mix": "weights = weights / d**0.5"})),
        *at("mix",
            wrong("keys as values", ("values", "keys"),
                  "Your results are weighted sums of the keys. Use the weights for the values.", kind="mix-up"),
            wrong("keys and values exchanged", ("values", "keys"),
                  "Keys and values are swapped in your results: queries are compared with the values, and the weighted "
                  "sums are of the keys. Swap them back.", kind="mix-up", also={"scores": ("keys", "values")})),
        *at("normalize",
            wrong("raw scores as weights", "weights = scores",
                  "Your values are weighted with raw scores. Use the softmax of the scores as weights.",
                  credit=0.25, kind="missing step", also={"hide": "scores = scores.masked_fill(hidden, 0.0)"}),
            wrong("exponentials not divided", "weights = torch.exp(scores)",
                  "Your values are weighted with exponentials that do not sum to one. Divide them by their sum over "
                  "the keys.", kind="missing step"),
            wrong("sigmoid for softmax", "weights = torch.sigmoid(scores)",
                  "Your weights are the sigmoids of the scores, so they do not sum to one. Use the softmax."),
            wrong("softmax twice", "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
                  "Your results look as if softmax were applied twice. Apply it once, to the scores."),
            wrong("softmax over heads", "weights = torch.softmax(scores, dim=1)",
                  "Your weights sum to one over the heads, for each pair of query and key. The weights of each query "
                  "must sum to one over the keys: dim=-1.", kind="axis"),
            wrong("softmax over queries", "weights = torch.softmax(scores, dim=-2)",
                  "Your weights sum to one over the queries. The weights of each query must sum to one "
                  "over the keys: dim=-1.", kind="axis")),
        *at("hide",
            wrong("masked after softmax",
                  "",
                  "Your weights no longer sum to one, as if zeros were put in after a softmax over hidden keys, too. "
                  "Set hidden scores to −∞ before softmax.", kind="missing step",
                  also={"after normalize": f"{masked}weights = weights.masked_fill(hidden, 0.0)"}),
            wrong("zeros for −∞", "scores = scores.masked_fill(hidden, 0.0)",
                  "Hidden keys still get a share of the weights, as with scores of 0: exp(0) is 1. Set their scores to "
                  "−∞."),
            wrong("hidden by −10⁴", "scores = scores.masked_fill(hidden, -1e4)",
                  "In your results, hidden scores count as a number such as −10⁴, but other scores may be as low. Set "
                  "them to −∞.", credit=0.75),
            wrong("renormalized after softmax",
                  "",
                  "Where hidden scores are far above the others, all weights that should remain are 0, and 0/0 is NaN. "
                  "That happens if you mask after softmax and divide by the sum again: set hidden scores to −∞ before "
                  "softmax.", credit=0.75,
                  also={"after normalize": f"{masked}weights = weights.masked_fill(hidden, 0.0)\n"
                                      f"{masked}weights = weights / weights.sum(dim=-1, keepdim=True)"}),
            wrong("renormalized after softmax, with a limit",
                  "",
                  "Where hidden scores are far above the others, almost nothing is left of the weights that should "
                  "remain. That happens if you mask after softmax and divide by the sum again: set hidden scores to −∞ "
                  "before softmax.", credit=0.75,
                  also={"after normalize":
                        f"{masked}weights = weights.masked_fill(hidden, 0.0)\n"
                        f"{masked}weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)"})),
        wrong("softmax not shifted", {"normalize": "weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"},
              "Where scores are large, exp overflows, or is 0 for all keys: ∞/∞ and 0/0 are NaN. Use torch.softmax, or "
              "subtract each query's maximum over the keys before exp.", credit=0.75, kind="missing step"),
        *at("before mix",
            wrong("first sentence for all", "weights = weights[:1].expand_as(weights)",
                  "In your results, all sentences of a batch have the weights of the first one. Each sentence needs "
                  "its own.", kind="mix-up"),
            wrong("first head for all", "weights = weights[:, :1].expand_as(weights)",
                  "In your results, all heads have the weights of the first one. Each query head needs its own.",
                  kind="mix-up"),
            wrong("values averaged", "weights = torch.ones_like(weights) / weights.shape[-1]",
                  "Your results are plain averages of the values, whatever the weights are. Multiply each value by its "
                  "weight, then sum.", credit=0.0, kind="missing step"),
            wrong("mean instead of sum", "weights = weights / weights.shape[-1]",
                  "Your results are divided by the number of keys. Leave that out: the weights already sum to one.")),
        wrong("weights alone", {"mix": "outputs = weights"},
              "Your results are the attention weights. Multiply them by the values.", credit=0.25, kind="missing step"),
    ]


# fmt: on

BEHIND_WORDS = grader.wrong(
    "heads behind the words",
    {"result": "return outputs.transpose(1, 2)"},
    "Your result has the shape (B, T, H, d). Return (B, H, T, d).",
    kind="arrangement",
)
