"""Mistakes in functions of queries, keys and values with several heads, as lines."""

from __future__ import annotations

from dataclasses import replace

from grader import Misconception, at, wrong


def zeros_of_nothing(one: Misconception) -> Misconception:
    """The same mistake in code that gives zeros if a softmax has nothing left, like loops or PyTorch's own kernel."""
    normalise = one.change.get("normalise", "weights = torch.softmax(scores, dim=-1)")
    zeros = {"normalise": f"{normalise}.nan_to_num(0.0)"}
    return replace(one, name=f"{one.name}, zeros of nothing", change={**one.change, **zeros})


def and_with_zeros(*mistakes: Misconception) -> list[Misconception]:
    """Each of the mistakes, alone and with `zeros_of_nothing`."""
    return [each for one in mistakes for each in (one, zeros_of_nothing(one))]


# Mistakes that make no sense if each head has one query.
WITH_MANY_QUERIES = ("softmax over queries",)


# fmt: off
def with_lines(masked: str = "") -> list[Misconception]:
    """Mistakes for a solution whose lines have the marks `scores`, `scale`, `hide`, `normalise` and `mix`.

    `masked` comes before lines that are only for hidden scores, such as `if causal: `.
    """
    return [
        *at("scale",
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide them by √d, the root of the length of a key.",
                  kind="scaling"),
            wrong("divided by d", "scores = scores / d",
                  "Your scores are divided by d, or twice by its root. Divide them by √d once.", kind="scaling"),
            wrong("multiplied by √d", "scores = scores * d**0.5",
                  "The scores that you use are multiplied by √d. They should be divided by it.", kind="scaling"),
            wrong("divided by √8", "scores = scores / 8**0.5",
                  "Your scores are divided by √8 whatever the sizes are. Divide by √d, from the shape of the keys.",
                  kind="hard-coded"),
            wrong("divided by 2", "scores = scores / 2",
                  "Your scores are divided by 2 whatever the sizes are. Divide by √d, from the shape of the keys.",
                  kind="hard-coded"),
            wrong("sign flipped", "scores = -scores / d**0.5",
                  "The scores have the wrong sign: a query should look most where its dot product is largest."),
            wrong("scaled in the wrong place", {"": "", "before mix": "weights = weights / d**0.5"},
                  "Your results are those of scores that are not scaled, divided by √d at the end. Scale the scores, "
                  "before softmax.", kind="scaling")),
        *at("mix",
            wrong("keys as values", ("values", "keys"),
                  "Your results are weighted keys. It is the values that should be weighed.", kind="mix-up"),
            wrong("keys and values exchanged", {"scores": ("keys", "values"), "": ("values", "keys")},
                  "Keys and values change places in your results: queries are compared with values, and keys are "
                  "weighed.", kind="mix-up")),
        *at("normalise",
            wrong("raw scores as weights", {"hide": "scores = scores.masked_fill(hidden, 0.0)", "": "weights = scores"},
                  "Your values are weighted by raw scores. The weights should be the softmax of the scores.",
                  credit=0.25, kind="missing step"),
            wrong("exponentials not divided", "weights = torch.exp(scores)",
                  "Your values are weighted by the exponentials as they are. Divide these by their sum over the keys.",
                  kind="missing step"),
            wrong("sigmoid for softmax", "weights = torch.sigmoid(scores)",
                  "Your weights are the sigmoids of the scores, so they do not sum to one. They should be the "
                  "softmax."),
            wrong("softmax twice", "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
                  "Your results are those of softmax applied twice. Apply it once, to the scores."),
            wrong("softmax over heads", "weights = torch.softmax(scores, dim=1)",
                  "The weights of all heads sum to one for each pair of query and key. It is over the keys that those "
                  "of a query should sum to one: dim=-1.", kind="axis"),
            wrong("softmax over queries", "weights = torch.softmax(scores, dim=-2)",
                  "The weights of all queries sum to one for each key. It is over the keys that those of a query "
                  "should sum to one: dim=-1.", kind="axis")),
        *at("hide",
            wrong("masked after softmax",
                  {"": "", "after normalise": f"{masked}weights = weights.masked_fill(hidden, 0.0)"},
                  "Your results are those of softmax over all keys, with zeros put in afterwards: weights no longer "
                  "sum to one. Set hidden scores to −∞ before softmax.", kind="missing step"),
            wrong("zeros for −∞", "scores = scores.masked_fill(hidden, 0.0)",
                  "What is hidden still gets a share, as with scores of 0, since exp(0) is 1. Set its scores to −∞."),
            wrong("hidden by −10⁴", "scores = scores.masked_fill(hidden, -1e4)",
                  "Hidden scores count as a number in your results, such as −10⁴, and other scores may be as low. Set "
                  "them to −∞.", credit=0.75),
            wrong("renormalised after softmax",
                  {"": "",
                   "after normalise": f"{masked}weights = weights.masked_fill(hidden, 0.0)\n"
                                      f"{masked}weights = weights / weights.sum(dim=-1, keepdim=True)"},
                  "Where hidden scores are far above the others, nothing is left of the weights that may be seen, and "
                  "0/0 is NaN. That happens if you mask and renormalise after softmax: set scores to −∞ before it.",
                  credit=0.75)),
        wrong("softmax not shifted", {"normalise": "weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"},
              "Where scores are large, exp overflows, or is 0 for all keys: ∞/∞ and 0/0 are NaN. Use torch.softmax, or "
              "subtract each query's maximum over the keys before exp.", credit=0.75, kind="missing step"),
        *at("before mix",
            wrong("first sentence for all", "weights = weights[:1].expand_as(weights)",
                  "In your results, all sentences of a batch have the weights of the first. Each of them should have "
                  "weights of its own.", kind="mix-up"),
            wrong("first head for all", "weights = weights[:, :1].expand_as(weights)",
                  "In your results, all heads have the weights of the first. Each head of queries should have its own.",
                  kind="mix-up"),
            wrong("values averaged", "weights = torch.ones_like(weights) / weights.shape[-1]",
                  "Your results are the averages of the values, whatever the weights. Multiply each value by its "
                  "weight, then sum.", credit=0.0, kind="missing step"),
            wrong("mean instead of sum", "weights = weights / weights.shape[-1]",
                  "Your results are divided by the number of keys. The weights already sum to one.")),
        wrong("weights alone", {"mix": "outputs = weights"},
              "Your results are the attention weights. Multiply them by the values.", credit=0.25, kind="missing step"),
    ]


# fmt: on
