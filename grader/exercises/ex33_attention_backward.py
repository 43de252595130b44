"""Exercise 33: the gradients of attention, by formulas."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import BY_FORMULAS, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import in_float64

from .mistakes import heads, mistakes_named
from .mistakes.of_pieces import another_type

Tensor = torch.Tensor

LARGE = "Your code is right for ordinary scores, but not for large ones: softmax must not overflow."


def attention_backward(queries, keys, values, grad_output):
    d = queries.shape[-1]
    scores = queries @ keys.mT  # (B, H, T, T)
    scores = scores / math.sqrt(d)  #: scale
    weights = torch.softmax(scores, dim=-1)  #: normalize

    grad_weights = grad_output @ values.mT  # (B, H, T, T)  #: back_to_weights
    wished = (weights * grad_weights).sum(dim=-1, keepdim=True)  # (B, H, T, 1)  #: wished
    grad_scores = weights * (grad_weights - wished)  # (B, H, T, T)  #: back_to_scores
    grad_queries = grad_scores @ keys  # (B, H, T, d)  #: back_to_queries
    grad_keys = grad_scores.mT @ queries  #: back_to_keys
    grad_queries, grad_keys = grad_queries / math.sqrt(d), grad_keys / math.sqrt(d)  #: scale_back
    grad_values = weights.mT @ grad_output  #: back_to_values
    return grad_queries, grad_keys, grad_values  #: result


def sized(B: int, H: int, T: int, d: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: tuple(randn(rng, B, H, T, d) for _ in range(4))


def large(rng: torch.Generator) -> Inputs:
    """Scores near 112 and near −112: all exponentials overflow, or vanish.

    In one sentence they alternate by query, so that no single number can be subtracted for all; in the other by key, so
    that the mean of a query's scores is too far below the largest.

    They are multiples of 1/32, so that float32 holds them and their differences exactly, and no further from zero than
    necessary, since their logsumexp is rounded.
    """
    queries, keys = (torch.randint(-8, 9, (2, 2, 5, 4), generator=rng) / 4 for _ in range(2))
    queries[..., 0::2, 0], queries[..., 1::2, 0], keys[..., 0] = 112.0, -112.0, 2.0
    keys[1, :, 1::2, 0] = -2.0
    return queries, keys, randn(rng, 2, 2, 5, 4), randn(rng, 2, 2, 5, 4)


# fmt: off
exercise = Exercise(
    number=33,
    assignment="fast_attention",
    title="The way back",
    solution=attention_backward,
    form=BY_FORMULAS,
    cases=[
        Case("two sentences", catches="a softmax that is not differentiated", inputs=sized(2, 2, 5, 4)),
        Case("more entries than words", catches="√T for √d", inputs=sized(1, 2, 3, 6)),
        Case("one word", catches="a gradient of a weight that is always 1", inputs=sized(2, 1, 1, 3)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 3, 4, 1)),
        Case("everything is four", catches="tables that are not transposed", inputs=sized(4, 4, 4, 4)),
        Case("one head", catches="sums over heads or sentences", inputs=sized(3, 1, 4, 2)),
        Case("many entries", catches="finite differences, which take minutes", inputs=sized(1, 1, 5, 8192)),
        Case("scores of ±112", catches="a softmax that overflows", inputs=large, beside=LARGE),
        in_float64(sized(2, 2, 4, 3)),
    ],
    mistakes=[
        *at("back_to_scores",
            wrong("weights differentiated one by one", "grad_scores = weights * grad_weights",
                  "Your gradients of the scores are P times dP. A score changes all weights of its row: first subtract "
                  "the sum of P · dP over the row from dP.", kind="missing step"),
            wrong("only the diagonal of softmax", "grad_scores = weights * (1 - weights) * grad_weights",
                  "Your gradients of the scores are P (1 − P) dP: only what a score does to its own weight. It changes "
                  "all weights of its row: use P (dP − the sum of P · dP over the row)."),
            wrong("softmax not differentiated", "grad_scores = grad_weights",
                  "In your results, the gradients of the weights are used as those of the scores. Go back through "
                  "softmax: P (dP − the sum of P · dP over the row).", credit=0.25, kind="missing step"),
            wrong("sum subtracted from the product", "grad_scores = weights * grad_weights - wished",
                  "Your gradients of the scores are P · dP − the sum of P · dP over the row. Subtract the sum from dP, "
                  "and multiply the difference by P."),
            wrong("only what subtracts in softmax", "grad_scores = weights * wished",
                  "Your gradients of the scores are P times the sum of P · dP over the row. Use P (dP − that sum).",
                  kind="missing step"),
            wrong("not multiplied by the weights", "grad_scores = grad_weights - wished",
                  "Your gradients of the scores are dP − the sum of P · dP. Multiply the difference by P.",
                  kind="missing step")),
        *at("wished",
            wrong("sum of dP alone", "wished = grad_weights.sum(dim=-1, keepdim=True)",
                  "In your gradients of the scores, the sum of dP over the row is subtracted. Subtract the sum of P · "
                  "dP."),
            wrong("mean of dP alone", "wished = grad_weights.mean(dim=-1, keepdim=True)",
                  "In your gradients of the scores, the mean of dP over the row is subtracted. Subtract the sum of P · "
                  "dP."),
            wrong("mean of P · dP", "wished = (weights * grad_weights).mean(dim=-1, keepdim=True)",
                  "In your gradients of the scores, the mean of P · dP over the row is subtracted. Subtract the sum."),
            wrong("mean of dO · O", "wished = (grad_output * (weights @ values)).mean(dim=-1, keepdim=True)",
                  "In your gradients of the scores, the mean of dO · O over the entries is subtracted. Subtract the "
                  "sum: it is also the sum of P · dP.", kind="mix-up"),
            wrong("dO · V", "wished = (grad_output * values).sum(dim=-1, keepdim=True)",
                  "In your gradients of the scores, the dot product of dO and V is subtracted. Subtract the sum of P · "
                  "dP, which is also dO · O: that of the outputs.", kind="mix-up"),
            wrong("sum over queries", "wished = (weights * grad_weights).sum(dim=-2, keepdim=True)",
                  "In your results, P · dP is summed over the queries of a key. Sum over the keys of a query: dim=-1.",
                  kind="axis"),
            wrong("sum over the table", "wished = (weights * grad_weights).sum(dim=(-2, -1), keepdim=True)",
                  "In your results, P · dP is summed over the whole table. Each query needs its own sum: dim=-1, "
                  "keepdim=True.", kind="axis")),
        *at("back_to_scores",
            wrong("added, not subtracted", "grad_scores = weights * (grad_weights + wished)",
                  "In your results, the sum of P · dP is added to dP. Subtract it."),
            wrong("the other sign", "grad_scores = weights * (wished - grad_weights)",
                  "Your gradients of queries and keys have the wrong sign. Use P (dP − the sum of P · dP), in this "
                  "order.")),
        *at("scale_back",
            wrong("gradients not scaled", "",
                  "The scores are divided by √d, but your gradients of queries and keys are not. Divide them, too.",
                  kind="scaling"),
            wrong("gradient of the queries not scaled", "grad_keys = grad_keys / math.sqrt(d)",
                  "Your gradient of the queries is not divided by √d. Divide it, like that of the keys.",
                  kind="scaling"),
            wrong("gradient of the keys not scaled", "grad_queries = grad_queries / math.sqrt(d)",
                  "Your gradient of the keys is not divided by √d. Divide it, like that of the queries.",
                  kind="scaling"),
            wrong("gradients divided by d", "grad_queries, grad_keys = grad_queries / d, grad_keys / d",
                  "Your gradients of queries and keys are divided by d, or by √d twice. Divide them by √d once.",
                  kind="scaling"),
            wrong("gradient of the queries divided by d",
                  "grad_queries, grad_keys = grad_queries / d, grad_keys / math.sqrt(d)",
                  "Your gradient of the queries is divided by d, or by √d twice. Divide it by √d once.",
                  kind="scaling"),
            wrong("gradient of the keys divided by d",
                  "grad_queries, grad_keys = grad_queries / math.sqrt(d), grad_keys / d",
                  "Your gradient of the keys is divided by d, or by √d twice, as if computed from queries that are "
                  "scaled already. Divide it by √d once.", kind="scaling"),
            wrong("everything divided by d",
                  "grad_queries, grad_keys = grad_queries / d, grad_keys / d",
                  "Your scores are divided by d, and so are the gradients of queries and keys. Divide by √d.",
                  kind="scaling", also={"scale": "scores = scores / d"}),
            wrong("gradients multiplied by √d",
                  "grad_queries, grad_keys = grad_queries * math.sqrt(d), grad_keys * math.sqrt(d)",
                  "Your gradients of queries and keys are multiplied by √d. A score's factor of 1/√d multiplies its "
                  "gradient, too: divide them by √d.", kind="scaling"),
            wrong("nothing scaled", "",
                  "Your gradients are those of attention without scaling. Divide the scores by √d, and the gradients "
                  "of queries and keys, too.", kind="scaling", also={"scale": ""})),
        *at("scale",
            wrong("scores not scaled", "",
                  "Your weights come from scores that are not scaled. Divide the scores by √d before softmax.",
                  kind="scaling"),
            wrong("scores divided by d", "scores = scores / d",
                  "Your weights come from scores that are divided by d, or by √d twice. Divide them by √d once.",
                  kind="scaling"),
            wrong("scaled by √T",
                  "T = queries.shape[-2]\nscores = scores / math.sqrt(T)",
                  "Your scores and gradients are divided by the square root of the number of words. Divide by √d.",
                  kind="scaling",
                  also={"scale_back":
                        "grad_queries, grad_keys = grad_queries / math.sqrt(T), grad_keys / math.sqrt(T)"})),
        *at("back_to_values",
            wrong("gradient of the values scaled", "grad_values = weights.mT @ grad_output / math.sqrt(d)",
                  "Your gradient of the values is divided by √d. Values are not scaled: use Pᵀ · dO.", kind="scaling"),
            wrong("weights not transposed for values", "grad_values = weights @ grad_output",
                  "Your gradient of the values is P · dO. Use Pᵀ · dO: a value gets something from every query that "
                  "gives it weight.", kind="mix-up"),
            wrong("gradients of scores for values", "grad_values = grad_scores.mT @ grad_output",
                  "Your gradient of the values is dSᵀ · dO, with the gradients of the scores. Use Pᵀ · dO, with the "
                  "weights as they were before anything overwrote them.", kind="mix-up")),
        wrong("not transposed for keys", {"back_to_keys": "grad_keys = grad_scores @ queries"},
              "Your gradient of the keys is dS · Q. Use dSᵀ · Q: a key gets something from every query.",
              kind="mix-up"),
        *at("back_to_queries",
            wrong("transposed for queries", "grad_queries = grad_scores.mT @ keys",
                  "Your gradient of the queries is dSᵀ · K. Use dS · K.", kind="mix-up"),
            wrong("queries for keys", "grad_queries = grad_scores @ queries",
                  "Your gradient of the queries is computed from the queries themselves. Use dS · K.", kind="mix-up")),
        *at("back_to_keys",
            wrong("keys for queries", "grad_keys = grad_scores.mT @ keys",
                  "Your gradient of the keys is computed from the keys themselves. Use dSᵀ · Q.", kind="mix-up"),
            wrong("each with itself",
                  "grad_keys = grad_scores.mT @ keys",
                  "Your gradient of the queries is computed from the queries, and that of the keys from the keys. Use "
                  "dS · K and dSᵀ · Q.", kind="mix-up",
                  also={"back_to_queries": "grad_queries = grad_scores @ queries"})),
        wrong("values for keys", {"back_to_queries": "grad_queries = grad_scores @ values"},
              "Your gradient of the queries is dS · V. Queries are multiplied by keys: use dS · K.", kind="mix-up"),
        wrong("values for grad_output", {"back_to_values": "grad_values = weights.mT @ values"},
              "Your gradient of the values is Pᵀ · V. Use Pᵀ · dO, with the gradient that comes in.", kind="mix-up"),
        *at("back_to_weights",
            wrong("keys for values", "grad_weights = grad_output @ keys.mT",
                  "Your gradient of the weights is dO · Kᵀ. The weights are multiplied by the values: use dO · Vᵀ.",
                  kind="mix-up"),
            wrong("gradient of the weights transposed", "grad_weights = values @ grad_output.mT",
                  "Your gradient of the weights is V · dOᵀ. Use dO · Vᵀ, with a row for each query.", kind="mix-up")),
        wrong("grad_output without effect", {"before back_to_weights": "grad_output = torch.ones_like(grad_output)"},
              "Your gradients do not depend on grad_output: they are those of the sum of all outputs. Start from "
              "grad_output.", credit=0.25, kind="missing step"),
        *at("normalize",
            wrong("softmax over queries", "weights = torch.softmax(scores, dim=-2)",
                  "Your weights come from a softmax over the queries. Take it over the keys: dim=-1.", kind="axis"),
            wrong("softmax over heads", "weights = torch.softmax(scores, dim=1)",
                  "Your weights come from a softmax over the heads. Take it over the keys: dim=-1.", kind="axis")),
        wrong("future hidden", {"before normalize": "scores = scores + torch.full_like(scores, -math.inf).triu(1)"},
              "In your results, later words are hidden, as if by a causal mask. Here every word may look at every "
              "word: leave the mask out.", kind="mix-up"),
        wrong("future hidden in the gradients of the scores",
              {"after back_to_scores": "grad_scores = grad_scores.tril()"},
              "In your results, the gradients of the scores of later words are zeros, as with a causal mask. Here "
              "every word may look at every word: leave the mask out.", kind="mix-up"),
        *mistakes_named(heads.with_lines(), "softmax not shifted"),
        *at("result",
            wrong("inputs returned", "return queries, keys, values",
                  "You return queries, keys and values themselves. Return their gradients.", credit=0.0, kind="mix-up"),
            wrong("zeros returned", "return tuple(map(torch.zeros_like, (queries, keys, values)))",
                  "In all hidden cases, your gradients are zeros, as if nothing were written to them. If you go by "
                  "blocks, T may be smaller than a block. torch.func gives zeros, too, where autograd is gone.",
                  credit=0.0, kind="missing step"),
            wrong("squeezed", "return grad_queries.squeeze(), grad_keys.squeeze(), grad_values.squeeze()",
                  "Your gradients have lost their dimensions of size 1, as with squeeze(). Keep (B, H, T, d).",
                  credit=0.75, kind="arrangement"),
            wrong("queries and keys exchanged", "return grad_keys, grad_queries, grad_values",
                  "You return the gradient of the keys first. Return them in the order of the arguments: queries, "
                  "keys, values.", kind="arrangement"),
            wrong("values first", "return grad_values, grad_keys, grad_queries",
                  "You return the gradients in the order values, keys, queries. Use the order of the arguments: "
                  "queries, keys, values.", kind="arrangement"),
            wrong("values before queries", "return grad_values, grad_queries, grad_keys",
                  "You return the gradient of the values first, then those of queries and keys. Use the order of the "
                  "arguments: queries, keys, values.", kind="arrangement")),
        *another_type("grad_queries, grad_keys, grad_values", "before result"),
    ],
)
# fmt: on
