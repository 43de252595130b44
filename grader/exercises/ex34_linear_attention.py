"""Exercise 34: attention with running sums, so that its work grows with T and not with T²."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import as_pieces

from .head_cases import LONG, NO_TABLE, NOT_FILLED, PRIME
from .mistakes import heads
from .mistakes.of_pieces import another_type, gradients_lost

Tensor = torch.Tensor


def linear_attention(queries, keys, values):
    q = F.elu(queries) + 1  # (B, H, T, d)  #: query
    k = F.elu(keys) + 1  #: key
    products = k[..., :, None] * values[..., None, :]  # (B, H, T, d, d)  #: products
    products = products.cumsum(dim=2)  #: collect
    sums = k.cumsum(dim=2)  # (B, H, T, d)  #: total
    weighed = (q[..., None, :] @ products)[..., 0, :]  # (B, H, T, d)  #: mix
    outputs = weighed / (q * sums).sum(dim=-1, keepdim=True)  #: divide
    return outputs  #: result


def feature_maps(phi: str) -> dict[str, str]:
    """A mistake: another feature map for queries and keys."""
    return {"query": f"q = {phi.format('queries')}", "key": f"k = {phi.format('keys')}"}


def by_table(scores: str, weights: str) -> dict[str, str]:
    """A mistake: outputs from a table of scores (B, H, T, T), as in other kinds of attention."""
    return {"query": f"scores = {scores}", "key": f"weights = {weights}", "products": "", "collect": "", "total": "",
            "mix": "", "divide": "outputs = weights @ values"}  # fmt: skip


CAUSAL_SOFTMAX = "torch.softmax(scores + torch.full_like(scores, -torch.inf).triu(1), dim=-1)"


def between(rng: torch.Generator, least: float, most: float, *shape: int) -> Tensor:
    """Numbers not far below zero, so that no divisor is so small that an ε of 10⁻⁶ matters, which many add to it."""
    return least + (most - least) * torch.rand(*shape, generator=rng)


def sized(
    B: int, H: int, T: int, d: int, least: float = -0.5, most: float = 2.5
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys = (between(rng, least, most, B, H, T, d) for _ in range(2))
        return queries, keys, randn(rng, B, H, T, d)

    return inputs


# fmt: off
exercise = Exercise(
    number=34,
    assignment="fast_attention",
    title="Linear attention",
    solution=linear_attention,
    form=EXACT,
    cases=[
        Case("two sentences of five words", catches="sums over all words", inputs=sized(2, 2, 5, 4)),
        Case("one word", catches="an output that is not its value", inputs=sized(2, 3, 1, 4)),
        Case("two words", catches="a query that does not see its own key", inputs=sized(1, 1, 2, 3)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 4, 1)),
        Case("everything is four", catches="axes that are exchanged without an error", inputs=sized(4, 4, 4, 4)),
        Case("more words than entries", catches="sums over entries", inputs=sized(1, 2, 9, 2)),
        Case("entries from −1 to 4", catches="another feature map", inputs=sized(2, 2, 6, 4, -1.0, 4.0)),
        Case("a text of many words", "blocks that must fill it", sized(1, 1, PRIME, 3), beside=NOT_FILLED, once=True),
        *as_pieces(sized(2, 2, 4, 3)),
        Case("a long text", catches="memory that grows with the square of T", inputs=sized(1, 1, LONG, 4),
             promise=NO_TABLE),
    ],
    mistakes=[
        wrong("divided by the sum of each feature",
              {"mix": "weighed = (q[..., None, :] @ (products / sums[..., None]))[..., 0, :]",
               "divide": "outputs = weighed"},
              "In your results, what each feature of the keys has collected is divided by the sum of this feature "
              "alone. Divide by one number for each query: φ(q_t) · Σ φ(k_s).", kind="scaling"),
        wrong("divided by products of each word's own query",
              {"divide": "outputs = weighed / (q * k).sum(dim=-1, keepdim=True).cumsum(dim=2)"},
              "Your divisors add up φ(q_s) · φ(k_s), each key with the query of its own word. Take the query of word t "
              "for all keys: φ(q_t) · Σ φ(k_s).", kind="mix-up"),
        wrong("not causal",
              {"collect": "products = products.sum(dim=2, keepdim=True)", "total": "sums = k.sum(dim=2, keepdim=True)"},
              "In your results, every query sees all keys. Output t is made of the words 0 … t: sum only up to there.",
              kind="missing step"),
        wrong("only the divisor is causal", {"collect": "products = products.sum(dim=2, keepdim=True)"},
              "In your results, the sum of φ(k) vᵀ goes over all words, and that of φ(k) only up to t. Sum both up to "
              "t.", kind="missing step"),
        wrong("divisor of all words", {"total": "sums = k.sum(dim=2, keepdim=True)"},
              "Your results are divided by a sum over all keys. Divide output t by the sum over the keys up to t only.",
              kind="missing step"),
        wrong("own key hidden",
              {"collect": "products = products.cumsum(dim=2) - products", "total": "sums = k.cumsum(dim=2) - k"},
              "In your results, a query sees only earlier keys, not its own. Sum up to and including t.",
              kind="mix-up"),
        wrong("own key hidden, zeros for the first word",
              {"collect": "products = products.cumsum(dim=2) - products", "total": "sums = k.cumsum(dim=2) - k",
               "divide": "outputs = weighed / ((q * sums).sum(dim=-1, keepdim=True) + 1e-6)"},
              "In your results, a query sees only earlier keys, not its own, so nothing is left for the first word. "
              "Sum up to and including t.", kind="mix-up"),
        wrong("own word only in the divisor", {"collect": "products = products.cumsum(dim=2) - products"},
              "In your results, word t is in the sum of φ(k) that output t is divided by, but not yet in the sum of "
              "φ(k) vᵀ. Add it to both before you read output t.", kind="mix-up"),
        wrong("own word not in the divisor", {"total": "sums = k.cumsum(dim=2) - k"},
              "In your results, word t is in the sum of φ(k) vᵀ, but not yet in the sum of φ(k) that output t is "
              "divided by. Add it to both before you read output t.", kind="mix-up"),
        wrong("past hidden",
              {"collect": "products = products.flip(2).cumsum(dim=2).flip(2)",
               "total": "sums = k.flip(2).cumsum(dim=2).flip(2)"},
              "Your sums go from t to the end. Sum from the beginning to t.", kind="mix-up"),
        *at("divide",
            wrong("not divided", "outputs = weighed",
                  "Your outputs look undivided: their weights do not sum to one. Divide by the sum of φ(q)·φ(k) over "
                  "the keys so far.", kind="missing step"),
            wrong("divided by the number of words",
                  "outputs = weighed / torch.ones_like(weighed[..., :1]).cumsum(dim=2)",
                  "Your outputs are divided by the number of words so far. Divide by the sum of φ(q)·φ(k) over these "
                  "words."),
            wrong("raw queries in the divisor", ("q *", "queries *"),
                  "Your divisor is the dot product of q itself with the sum of φ(k). Use φ(q) there, too.",
                  kind="missing step"),
            wrong("divided entry by entry", "outputs = weighed / (q * sums)",
                  "Your outputs are divided entry by entry, by φ(q) times the sum of φ(k). The divisor is one number: "
                  "add up these products."),
            wrong("divided by the sum of all entries", "outputs = weighed / sums.sum(dim=-1, keepdim=True)",
                  "Your divisor is the sum of the entries of φ(k), without φ(q). Use their dot product."),
            wrong("divided by the sum of keys", "outputs = weighed / sums",
                  "Your outputs are divided by the sum of φ(k), entry by entry. The divisor is one number: use the dot "
                  "product of φ(q) with that sum.")),
        wrong("elu without one", feature_maps("F.elu({})"),
              "Your feature map is elu(x), which is negative for negative x. Use elu(x) + 1.", kind="missing step"),
        wrong("elu without one for queries", {"query": "q = F.elu(queries)"},
              "The feature map of your queries is elu(x). Use elu(x) + 1, as for your keys.", kind="missing step"),
        wrong("elu without one for keys", {"key": "k = F.elu(keys)"},
              "The feature map of your keys is elu(x). Use elu(x) + 1, as for your queries.", kind="missing step"),
        wrong("products transposed", {"products": "products = values[..., :, None] * k[..., None, :]"},
              "In your results, φ(q) is multiplied by the values, and the weighted sums are of φ(k), as if you kept "
              "sums of v φ(k)ᵀ. Keep sums of φ(k) vᵀ.", kind="arrangement"),
        wrong("elu of x + 1", feature_maps("F.elu({} + 1)"),
              "Your feature map is elu(x + 1). Use elu(x) + 1: add the 1 to what elu returns.", kind="mix-up"),
        wrong("relu", feature_maps("torch.relu({})"), "Your feature map is relu(x). Use elu(x) + 1."),
        wrong("relu plus one", feature_maps("torch.relu({}) + 1"),
              "Your feature map is relu(x) + 1. Use elu(x) + 1."),
        wrong("exp", feature_maps("torch.exp({})"),
              "Your feature map is exp(x), even where x is above 0. Use elu(x) + 1, which is x + 1 there."),
        wrong("softmax of entries", feature_maps("torch.softmax({}, dim=-1)"),
              "Your feature map is a softmax over the entries of each query and key. Use elu(x) + 1."),
        wrong("sigmoid", feature_maps("torch.sigmoid({})"), "Your feature map is a sigmoid. Use elu(x) + 1."),
        wrong("no feature map", feature_maps("{}"),
              "In your results, queries and keys have no feature map. Apply φ(x) = elu(x) + 1 to both first.",
              kind="missing step"),
        wrong("feature map of keys alone", {"query": "q = queries"},
              "In your results, φ is applied to the keys only. Apply it to the queries, too.", kind="missing step"),
        wrong("feature map of queries alone", {"key": "k = keys"},
              "In your results, φ is applied to the queries only. Apply it to the keys, too.", kind="missing step"),
        wrong("feature map of values, too", {"before products": "values = F.elu(values) + 1"},
              "In your results, φ is applied to the values, too. Use the values unchanged."),
        wrong("scaled by √d", {"query": "q = F.elu(queries / queries.shape[-1] ** 0.5) + 1"},
              "Your queries are divided by √d before φ. Leave that out: this exercise scales nothing.", kind="scaling"),
        wrong("both scaled by √d", feature_maps("F.elu({} / queries.shape[-1] ** 0.5) + 1"),
              "Your queries and keys are divided by √d before φ. Leave that out: this exercise scales nothing.",
              kind="scaling"),
        wrong("both scaled by the fourth root of d", feature_maps("F.elu({} / queries.shape[-1] ** 0.25) + 1"),
              "Your queries and keys are divided by the fourth root of d before φ. Leave that out: this exercise "
              "scales nothing.", kind="scaling"),
        wrong("feature map of scores",
              by_table("(F.elu(queries @ keys.mT) + 1).tril()", "scores / scores.sum(dim=-1, keepdim=True)"),
              "In your results, φ is applied to the dot products. Apply it to queries and keys, then multiply: only "
              "then can you keep sums."),
        wrong("softmax of φ(q)·φ(k)", by_table("(F.elu(queries) + 1) @ (F.elu(keys) + 1).mT", CAUSAL_SOFTMAX),
              "Your weights are a softmax of φ(q)·φ(k). Use these products themselves, divided by their sum."),
        wrong("plain products over all words", by_table("queries @ keys.mT", "scores"),
              "In your results, queries, keys and values are only multiplied, Q (Kᵀ V), over all words. Apply φ to "
              "queries and keys, sum only up to word t, and divide by φ(q_t) · Σ φ(k_s).", credit=0.25,
              kind="missing step"),
        wrong("scaled products over all words", by_table("queries @ keys.mT / keys.shape[-1] ** 0.5", "scores"),
              "Your values are weighted with Q Kᵀ / √d, over all words. Apply φ to queries and keys, without √d, sum "
              "only up to word t, and divide by φ(q_t) · Σ φ(k_s).", credit=0.25, kind="missing step"),
        wrong("ordinary attention", by_table("queries @ keys.mT / keys.shape[-1] ** 0.5", CAUSAL_SOFTMAX),
              "Your results are those of softmax attention. Use φ(q)·φ(k), divided by their sum, as weights.",
              credit=0.0),
        wrong("softmax of plain scores", by_table("queries @ keys.mT", CAUSAL_SOFTMAX),
              "Your results are those of softmax attention with scores that are not scaled. Use φ(q)·φ(k), divided by "
              "their sum, as weights.", credit=0.0),
        *at("before query",
            wrong("keys as values", "values = keys",
                  "Your results are weighted sums of the keys. Use the weights for the values.", kind="mix-up"),
            wrong("queries and keys exchanged", "queries, keys = keys, queries",
                  "Queries and keys are swapped in your results. Sum up the keys.", kind="mix-up"),
            wrong("keys and values exchanged", "keys, values = values, keys",
                  "Keys and values are swapped in your results: queries are compared with the values, and the weighted "
                  "sums are of the keys. Swap them back.", kind="mix-up")),
        wrong("divisor sums over entries", {"total": "sums = k.cumsum(dim=-1)"},
              "The sums of φ(k) that you divide by go over the entries of a key. Sum over the words so far.",
              kind="axis"),
        wrong("divisor of the own word", {"total": "sums = k"},
              "Your divisor contains φ(k) of the query's own word only. Sum it over the words so far, as you do with "
              "φ(k) vᵀ.", kind="missing step"),
        wrong("sums over entries of keys", {"collect": "products = products.cumsum(dim=-2)"},
              "Your sums of φ(k) vᵀ go over the entries of a key. Sum over the words so far.", kind="axis"),
        wrong("sums over heads", {"collect": "products = products.cumsum(dim=1)", "total": "sums = k.cumsum(dim=1)"},
              "Your sums run over the heads of a sentence. Sum over its words: dim=2.", kind="axis"),
        wrong("no sums", {"collect": "", "total": "sums = k"},
              "Your outputs are the values: each query sees only its own key. Sum over the words up to t.",
              credit=0.0, kind="missing step"),
        heads.BEHIND_WORDS,
        *gradients_lost("outputs"), *another_type("outputs", "after divide"),
    ],
)
# fmt: on
