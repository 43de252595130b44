"""Exercise 34: attention with running sums, so that its work grows with T and not with T²."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import as_pieces

from .ex30_sliding_window import exercise as of_a_window
from .head_cases import LONG, NO_TABLE, NOT_FILLED, SOME
from .mistakes import named
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


def both(phi: str) -> dict[str, str]:
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
        Case("a text of many words", "blocks that must fill it", sized(1, 1, SOME, 3), beside=NOT_FILLED, once=True),
        *as_pieces(sized(2, 2, 4, 3)),
        Case("a long text", catches="memory that grows with the square of T", inputs=sized(1, 1, LONG, 4),
             promise=NO_TABLE),
    ],
    mistakes=[
        wrong("not causal",
              {"collect": "products = products.sum(dim=2, keepdim=True)", "total": "sums = k.sum(dim=2, keepdim=True)"},
              "Every query sees all keys in your results. Output t is made of the words 0 … t: sum up to there.",
              kind="missing step"),
        wrong("only the divisor is causal", {"collect": "products = products.sum(dim=2, keepdim=True)"},
              "In your results, the sum of φ(k) vᵀ goes over all words, and that of φ(k) up to t only. Both should go "
              "up to t.", kind="missing step"),
        wrong("divisor of all words", {"total": "sums = k.sum(dim=2, keepdim=True)"},
              "Your results are divided by a sum over all keys. Divide output t by the sum over the keys up to t.",
              kind="missing step"),
        wrong("own key hidden",
              {"collect": "products = products.cumsum(dim=2) - products", "total": "sums = k.cumsum(dim=2) - k"},
              "A query does not see its own key in your results, only those before. The sum should go up to and "
              "including t.", kind="mix-up"),
        wrong("own key hidden, zeros for the first word",
              {"collect": "products = products.cumsum(dim=2) - products", "total": "sums = k.cumsum(dim=2) - k",
               "divide": "outputs = weighed / ((q * sums).sum(dim=-1, keepdim=True) + 1e-6)"},
              "A query does not see its own key in your results, only those before, so nothing is left for the first "
              "word. The sum should go up to and including t.", kind="mix-up"),
        wrong("own word only in the divisor", {"collect": "products = products.cumsum(dim=2) - products"},
              "In your results, word t is in the sum of φ(k) that output t is divided by, but not yet in that of "
              "φ(k) vᵀ. Add it to both before output t is read.", kind="mix-up"),
        wrong("own word not in the divisor", {"total": "sums = k.cumsum(dim=2) - k"},
              "In your results, word t is in the sum of φ(k) vᵀ, but not yet in that of φ(k), which output t is "
              "divided by. Add it to both before output t is read.", kind="mix-up"),
        wrong("past hidden",
              {"collect": "products = products.flip(2).cumsum(dim=2).flip(2)",
               "total": "sums = k.flip(2).cumsum(dim=2).flip(2)"},
              "Your sums go from t to the end. They should go from the beginning to t.", kind="mix-up"),
        *at("divide",
            wrong("not divided", "outputs = weighed",
                  "Your outputs are not divided by the sum of φ(q)·φ(k) over the keys so far: their weights do not sum "
                  "to one.", kind="missing step"),
            wrong("divided by the number of words",
                  "outputs = weighed / torch.ones_like(weighed[..., :1]).cumsum(dim=2)",
                  "Your outputs are divided by the number of words so far. Divide by the sum of φ(q)·φ(k) over them."),
            wrong("divided entry by entry", "outputs = weighed / (q * sums)",
                  "Your outputs are divided entry by entry, by φ(q) times the sum of φ(k). The divisor is one number: "
                  "sum these products."),
            wrong("divided by the sum of all entries", "outputs = weighed / sums.sum(dim=-1, keepdim=True)",
                  "Your divisor is the sum of the entries of φ(k), without φ(q). It should be their dot product."),
            wrong("divided by the sum of keys", "outputs = weighed / sums",
                  "Your outputs are divided by the sum of φ(k), entry by entry. The divisor is one number: the dot "
                  "product of φ(q) with that sum.")),
        wrong("elu without one", both("F.elu({})"),
              "Your feature map is elu(x), which is negative for negative x. It should be elu(x) + 1.",
              kind="missing step"),
        wrong("elu without one for queries", {"query": "q = F.elu(queries)"},
              "The feature map of your queries is elu(x). It should be elu(x) + 1, like that of your keys.",
              kind="missing step"),
        wrong("elu without one for keys", {"key": "k = F.elu(keys)"},
              "The feature map of your keys is elu(x). It should be elu(x) + 1, like that of your queries.",
              kind="missing step"),
        wrong("products transposed", {"products": "products = values[..., :, None] * k[..., None, :]"},
              "In your results, φ(q) is multiplied by the values, and it is φ(k) that is weighed, as when sums of v "
              "φ(k)ᵀ are kept. Keep those of φ(k) vᵀ.", kind="arrangement"),
        wrong("elu of x + 1", both("F.elu({} + 1)"),
              "Your feature map is elu(x + 1). It should be elu(x) + 1: the 1 is added to what elu returns.",
              kind="mix-up"),
        wrong("relu", both("torch.relu({})"), "Your feature map is relu(x). It should be elu(x) + 1."),
        wrong("relu plus one", both("torch.relu({}) + 1"),
              "Your feature map is relu(x) + 1. It should be elu(x) + 1."),
        wrong("exp", both("torch.exp({})"),
              "Your feature map is exp(x), even where x is above 0. It should be elu(x) + 1, which is x + 1 there."),
        wrong("softmax of entries", both("torch.softmax({}, dim=-1)"),
              "Your feature map is a softmax over the entries of each query and key. It should be elu(x) + 1."),
        wrong("sigmoid", both("torch.sigmoid({})"), "Your feature map is a sigmoid. It should be elu(x) + 1."),
        wrong("no feature map", both("{}"),
              "Queries and keys are taken as they are in your results. φ(x) = elu(x) + 1 comes first, for both.",
              kind="missing step"),
        wrong("feature map of keys alone", {"query": "q = queries"},
              "In your results, the map φ is applied to the keys alone. The queries need it, too.",
              kind="missing step"),
        wrong("feature map of queries alone", {"key": "k = keys"},
              "In your results, the map φ is applied to the queries alone. The keys need it, too.",
              kind="missing step"),
        wrong("feature map of values, too", {"before products": "values = F.elu(values) + 1"},
              "In your results, the map φ is applied to the values, too. They should be weighed as they are."),
        wrong("scaled by √d", {"query": "q = F.elu(queries / queries.shape[-1] ** 0.5) + 1"},
              "Your queries are divided by √d before φ. This exercise scales nothing.", kind="scaling"),
        wrong("both scaled by √d", both("F.elu({} / queries.shape[-1] ** 0.5) + 1"),
              "Your queries and keys are divided by √d before φ. This exercise scales nothing.", kind="scaling"),
        wrong("both scaled by the fourth root of d", both("F.elu({} / queries.shape[-1] ** 0.25) + 1"),
              "Your queries and keys are divided by the fourth root of d before φ. This exercise scales nothing.",
              kind="scaling"),
        wrong("feature map of scores",
              by_table("(F.elu(queries @ keys.mT) + 1).tril()", "scores / scores.sum(dim=-1, keepdim=True)"),
              "The map φ is applied to the dot products in your results. Apply it to queries and keys, then multiply: "
              "only then can sums be kept."),
        wrong("softmax of φ(q)·φ(k)", by_table("(F.elu(queries) + 1) @ (F.elu(keys) + 1).mT", CAUSAL_SOFTMAX),
              "Your weights are a softmax of φ(q)·φ(k). They should be these products themselves, divided by their "
              "sum."),
        wrong("ordinary attention", by_table("queries @ keys.mT / keys.shape[-1] ** 0.5", CAUSAL_SOFTMAX),
              "Your results are those of softmax attention. Weights are φ(q)·φ(k), divided by their sum.", credit=0.0),
        wrong("softmax of plain scores", by_table("queries @ keys.mT", CAUSAL_SOFTMAX),
              "Your results are those of softmax attention whose scores are not scaled. Weights are φ(q)·φ(k), "
              "divided by their sum.", credit=0.0),
        *at("before query",
            wrong("keys as values", "values = keys",
                  "Your results are weighted keys. It is the values that should be weighed.", kind="mix-up"),
            wrong("queries and keys exchanged", "queries, keys = keys, queries",
                  "Queries and keys change places in your results: it is the keys that should be summed up.",
                  kind="mix-up"),
            wrong("keys and values exchanged", "keys, values = values, keys",
                  "Keys and values change places in your results: queries are compared with values, and keys are "
                  "weighed.", kind="mix-up")),
        wrong("divisor sums over entries", {"total": "sums = k.cumsum(dim=-1)"},
              "The sums of φ(k) that you divide by go over the entries of a key. They should go over the words so far.",
              kind="axis"),
        wrong("divisor of the own word", {"total": "sums = k"},
              "Your divisor has φ(k) of the query's own word alone. Sum it over the words so far, as you do with "
              "φ(k) vᵀ.", kind="missing step"),
        wrong("sums over entries of keys", {"collect": "products = products.cumsum(dim=-2)"},
              "Your sums of φ(k) vᵀ go over the entries of a key. They should go over the words so far.", kind="axis"),
        wrong("sums over heads", {"collect": "products = products.cumsum(dim=1)", "total": "sums = k.cumsum(dim=1)"},
              "Your sums go on over the heads of a sentence. They should go over its words: dim=2.",
              kind="axis"),
        wrong("no sums", {"collect": "", "total": "sums = k"},
              "Your outputs are the values: each query sees its own key alone. Sum over the words up to t.",
              credit=0.0, kind="missing step"),
        *named(of_a_window.mistakes, "heads behind the words"),
        *gradients_lost("outputs"), *another_type("outputs", "after divide"),
    ],
)
# fmt: on
