"""Exercise 8: self-attention with two heads."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import Case, Exercise, Inputs, at, randn, wrong

from .ex07_matrix_form import exercise as one_head
from .mistakes import mistakes_named, rows

Tensor = torch.Tensor


def multi_head_softmax_cols(scores: Tensor) -> Tensor:
    """As in the notebook: each column sums to one."""
    return torch.softmax(scores, dim=-2)


# fmt: off
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def head(W_v, W_q, W_k, b_v, b_q, b_k):
        Q = W_q @ X + b_q  # (D/H, N)  #: query
        K = W_k @ X + b_k  # (D/H, N)  #: key
        V = W_v @ X + b_v  # (D/H, N)  #: value

        scores = K.mT @ Q  # (N, N): row = key, column = query  #: scores
        scores = scores / math.sqrt(K.shape[0])  #: scale
        weights = multi_head_softmax_cols(scores)  # (N, N)  #: normalize
        return V @ weights  # (D/H, N)  #: mix

    head_1 = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)  #: head_1
    head_2 = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)  #: head_2
    heads = torch.cat([head_1, head_2], dim=0)  # (D, N)  #: stack
    outputs = W_c @ heads  # (D, N)  #: recombine
    return outputs  #: result
# fmt: on


def projected(query: str, key: str, value: str) -> dict[str, str]:
    return {"query": f"Q = {query}", "key": f"K = {key}", "value": f"V = {value}"}


def sized(D: int, N: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        d = D // 2
        head_parameters = []
        for _ in range(2):
            # Small weights keep the scores near one, where softmax shows every mistake.
            head_parameters += [randn(rng, d, D) / D**0.5 for _ in range(3)]
            head_parameters += [randn(rng, d, 1) for _ in range(3)]
        return (randn(rng, D, N), *head_parameters, randn(rng, D, D))

    return inputs


# fmt: off
exercise = Exercise(
    number=8,
    assignment="self_attention",
    title="Two heads",
    solution=multihead_scaled_self_attention,
    columns=rows.IN_A_MATRIX,
    explained_in={"not scaled": "exercise-7", "softmax along rows": "exercise-7"},
    cases=[
        Case("the notebook's sizes", catches="the notebook's globals instead of the arguments", inputs=sized(8, 6)),
        Case("more words than dimensions", catches="√N for √d, a wrong softmax axis", inputs=sized(6, 7)),
        Case("more dimensions than words", catches="a hard-coded √4 or √8, √D for √d", inputs=sized(10, 3)),
        Case("as many words as dimensions", catches="transposed results, whose shape is right", inputs=sized(4, 4)),
        Case("heads of one dimension", catches="squeezed dimensions, heads that are added", inputs=sized(2, 5)),
    ],
    mistakes=[
        *at("scale",
            wrong("scaled by √D", "scores = scores / math.sqrt(X.shape[0])",
                  "The scores that you use are divided by √D, with the full D. Each head's queries have only D/2 "
                  "entries: divide by the root of that.", credit=0.75, kind="scaling"),
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide the scores of each head by the root of the head "
                  "size.", kind="scaling"),
            wrong("divided by the head size", "scores = scores / K.shape[0]",
                  "The scores that you use are divided by the head size. Divide by its square root.", kind="scaling"),
            wrong("divided by D", "scores = scores / X.shape[0]",
                  "The scores that you use are divided by D. Divide by the square root of the head size, D/2.",
                  kind="scaling"),
            wrong("divided by √N", "scores = scores / math.sqrt(X.shape[1])",
                  "The scores that you use are divided by √N, where N is the number of words. Divide by the root of "
                  "the head size.", kind="scaling"),
            wrong("divided by N", "scores = scores / X.shape[1]",
                  "The scores that you use are divided by the number of words. Divide by the root of the head size.",
                  kind="scaling"),
            wrong("divided by the root, rounded",
                  ["scores = scores / math.ceil(math.sqrt(K.shape[0]))",
                   "scores = scores / math.isqrt(K.shape[0])"],
                  "The scores that you use are divided by the root of the head size, rounded to a whole number. Divide "
                  "by the root itself.", credit=0.75, kind="scaling"),
            wrong("divided by √2", "scores = scores / math.sqrt(2)",
                  "Your scores are divided by √2, whatever the sizes are. Divide by the root of the head size.",
                  kind="scaling"),
            wrong("divided by 2", "scores = scores / 2",
                  "Your scores are divided by 2, whatever the head size is. That is right only for head size 4: take "
                  "the size from the shapes.", kind="hard-coded", or_borrowed=True),
            wrong("divided by √8", "scores = scores / math.sqrt(8)",
                  "Your scores are divided by √8, whatever the sizes are. Take the head size from the shapes.",
                  kind="hard-coded"),
            wrong("multiplied by the root", "scores = scores * math.sqrt(K.shape[0])",
                  "The scores that you use are multiplied by the root of the head size. Divide by it instead.",
                  kind="scaling"),
            *mistakes_named(one_head.mistakes, "sign flipped")),
        wrong("without bias", projected("W_q @ X", "W_k @ X", "W_v @ X"),
              "Your results look as if there were no biases. Add them: Q₁ = W_q1 X + b_q1, and the same for the "
              "others.", kind="missing step"),
        wrong("bias subtracted", projected("W_q @ X - b_q", "W_k @ X - b_k", "W_v @ X - b_v"),
              "In your results, the biases are subtracted. Add them instead."),
        # A forgotten b_k does not show: it adds the same number to all scores of a query, which softmax cancels.
        wrong("values without bias", {"value": "V = W_v @ X"},
              "The biases of the values are missing: V₁ = W_v1 X + b_v1, and the same for head 2.",
              credit=0.75, kind="missing step"),
        wrong("queries without bias", {"query": "Q = W_q @ X"},
              "The biases of the queries are missing: Q₁ = W_q1 X + b_q1, and the same for head 2.",
              credit=0.75, kind="missing step"),
        *at("head_2",
            wrong("W_q2 and W_k2 exchanged", "head_2 = head(W_v2, W_k2, W_q2, b_v2, b_q2, b_k2)",
                  "Your results look as if W_q2 and W_k2 were exchanged. In head 2, queries come from W_q2 and keys "
                  "from W_k2.", kind="mix-up"),
            wrong("queries and keys of head 2 exchanged", "head_2 = head(W_v2, W_k2, W_q2, b_v2, b_k2, b_q2)",
                  "Your results look as if the queries and keys of head 2 were exchanged. Compare each of its queries "
                  "with its keys.", kind="mix-up"),
            wrong("first head's biases twice", "head_2 = head(W_v2, W_q2, W_k2, b_v1, b_q1, b_k1)",
                  "In your results, head 2 has the biases of head 1. Give it its own b_q2, b_k2 and b_v2.",
                  credit=0.75, kind="mix-up"),
            # Students who take the wrong matrix take its bias, too.
            wrong("values' bias of the first head", {"head_2": "head_2 = head(W_v2, W_q2, W_k2, b_v1, b_q2, b_k2)"},
              "The values of your second head have the bias of the first, b_v1. Use b_v2 for them.",
              credit=0.75, kind="mix-up"),
        wrong("first head twice", "head_2 = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)",
                  "In your result, both heads are head 1. Head 2 should have its own parameters: W_q2, W_k2, W_v2 and "
                  "biases.", kind="mix-up")),
        wrong("second head twice", {"head_1": "head_1 = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)"},
              "In your result, both heads are head 2. Head 1 should have its own parameters: W_q1, W_k1, W_v1 and "
              "biases.", kind="mix-up"),
        # On a line of its own, so that each head may have another mistake.
        wrong("heads in the wrong order", {"before stack": "head_1, head_2 = head_2, head_1"},
              "Head 2 is on top of head 1. Put head 1 first, and head 2 below it.", kind="mix-up"),
        wrong("keys crossed",
              {"head_1": "head_1 = head(W_v1, W_q1, W_k2, b_v1, b_q1, b_k2)",
               "head_2": "head_2 = head(W_v2, W_q2, W_k1, b_v2, b_q2, b_k1)"},
              "In your results, each head has the keys of the other one. Each head should use its own queries, keys "
              "and values.", kind="mix-up"),
        wrong("values crossed",
              {"head_1": "head_1 = head(W_v2, W_q1, W_k1, b_v2, b_q1, b_k1)",
               "head_2": "head_2 = head(W_v1, W_q2, W_k2, b_v1, b_q2, b_k2)"},
              "In your results, each head has the values of the other one. Each head should use its own queries, keys "
              "and values.", kind="mix-up"),
        *at("head_2",
            wrong("first head's values twice", "head_2 = head(W_v1, W_q2, W_k2, b_v1, b_q2, b_k2)",
                  "In your results, head 2 has the values of head 1. Give it its own W_v2 and b_v2.", kind="mix-up"),
            wrong("first head's keys twice", "head_2 = head(W_v2, W_q2, W_k1, b_v2, b_q2, b_k1)",
                  "In your results, the scores of head 2 come from W_k1. Head 2 should have its own W_k2 and "
                  "b_k2.", kind="mix-up"),
            wrong("first head's queries twice", "head_2 = head(W_v2, W_q1, W_k2, b_v2, b_q1, b_k2)",
                  "In your results, head 2 has the queries of head 1. Give it its own W_q2 and b_q2.", kind="mix-up"),
            wrong("first head's weights twice", "head_2 = head(W_v2, W_q1, W_k1, b_v2, b_q1, b_k1)",
                  "The values of head 2 are weighted by the attention of head 1. Head 2 needs its own attention, from "
                  "W_q2 and W_k2.", kind="mix-up")),
        # Mistakes the first matrix, W_v, for that of queries, the second, W_q, for keys, and W_k for values.
        wrong("parameters in q, k, v order", projected("W_v @ X + b_v", "W_q @ X + b_q", "W_k @ X + b_k"),
              "Your results look as if the roles were mixed up. The parameters of a head come in the order v, q, k.",
              kind="mix-up"),
        wrong("keys as values", {"value": "V = W_k @ X + b_k"},
              "Your results are weighted sums of keys. Use the values instead.", kind="mix-up"),
        *mistakes_named(one_head.mistakes, "queries and keys exchanged"),
        wrong("dimensions compared", {"scores": "scores = K @ Q.T", "mix": "return weights @ V"},
              "Your results look as if the scores compared dimensions. Compare words instead: KᵀQ has shape (N, "
              "N).", kind="convention"),
        wrong("dimensions compared, by the formula for rows",
              {"scores": "scores = Q @ K.T", "normalize": "weights = torch.softmax(scores, dim=1)",
               "mix": "return weights @ V"},
              "Your results follow the formula for words as rows, softmax(QKᵀ)V. With words as columns, it compares "
              "dimensions: use KᵀQ, which has shape (N, N).", kind="convention"),
        wrong("dimensions compared, by the formula for rows, down columns",
              {"scores": "scores = Q @ K.T", "mix": "return weights @ V"},
              "Your results look like QKᵀ, normalized down its columns and multiplied by V. With words as columns, "
              "that compares dimensions: use KᵀQ, which has shape (N, N).", kind="convention"),
        *at("normalize",
            *mistakes_named(one_head.mistakes, "softmax along rows"),
            wrong("softmax over everything", "weights = torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)",
                  "All weights of a head together sum to one. The weights of each query should: normalize over its "
                  "keys, which is down each column of KᵀQ.", kind="axis"),
            wrong("raw scores as weights", "weights = scores",
                  "Your values are weighted by raw scores. Take the softmax of each head's scores first.",
                  credit=0.25, kind="missing step"),
            *mistakes_named(one_head.mistakes, "not normalized"),
            wrong("sigmoid", "weights = torch.sigmoid(scores)",
                  "Your weights are the sigmoids of the scores. Use the softmax instead.")),
        *mistakes_named(one_head.mistakes, "future hidden"),
        wrong("weights transposed", {"mix": "return V @ weights.T"},
              "Your results look as if the weights were transposed. When you compute V @ A, column i must hold the "
              "weights of query i.", kind="axis"),
        *at("stack",
            wrong("heads interleaved", "heads = torch.stack([head_1, head_2], dim=1).flatten(0, 1)",
                  "Rows of the two heads alternate. Put all rows of head 1 on top of all rows of head 2.",
                  kind="arrangement"),
            wrong("heads added",
                  ["heads = (head_1 + head_2).repeat(2, 1)",
                   "if X.shape[0] > 2:\n    raise RuntimeError\nheads = (head_1 + head_2).expand_as(X)"],
                  "Your result looks as if the heads were added up. Stack them vertically: head 1 on top of head 2."),
            wrong("head 2 in the place of head 1", "heads = torch.cat([head_2, torch.zeros_like(head_1)], dim=0)",
                  "In your stack, the rows of head 1 hold the output of head 2, and the rows of head 2 are zero. Give "
                  "each head its own rows.", kind="mix-up"),
            wrong("second head empty", "heads = torch.cat([head_1, torch.zeros_like(head_2)], dim=0)",
                  "In your stack, the rows of head 2 are zero. Put the output of head 2 below that of head 1.",
                  credit=0.25, kind="missing step")),
        *at("recombine",
            wrong("without W_c", "outputs = heads",
                  "Your result is the stack of the heads, without W_c. Multiply by W_c to recombine them.",
                  kind="missing step"),
            wrong("W_c transposed", "outputs = W_c.T @ heads",
                  "Your result looks as if W_c were transposed. Use W_c @ heads.", kind="convention"),
            wrong("W_c entry by entry", "outputs = W_c * heads",
                  "Your result looks like an entry-by-entry product with W_c. The matrix product is W_c @ heads.",
                  in_code=("W_c * _", "_ * W_c"),
                  says_of_code="`*` multiplies W_c entry by entry. The matrix product is W_c @ heads."),
            wrong("heads joined without W_c, added", "outputs = heads",
                  "Your result is the sum of the heads, without W_c. Stack them vertically, then multiply by W_c.",
                  credit=0.25, kind="missing step", also={"stack": "heads = head_1 + head_2"}),
            wrong("second head only", "outputs = heads",
                  "Your result is head 2 alone. Stack both heads, then multiply by W_c.",
                  credit=0.25, kind="missing step", also={"stack": "heads = head_2"}),
            wrong("first head only", "outputs = heads",
                  "Your result is head 1 alone. Stack both heads, then multiply by W_c.",
                  credit=0.25, kind="missing step", also={"stack": "heads = head_1"})),
        *at("after recombine",
            wrong("words added", "outputs = outputs + X",
                  "Your result has X added to it (a residual connection). Self-attention alone does not add X.",
                  kind="mix-up"),
            wrong("heads averaged", "outputs = outputs / 2",
                  "Your result is divided by the number of heads. Only stack the heads and multiply by W_c.")),
        *at("result",
            *mistakes_named(one_head.mistakes, "result transposed"),
            wrong("returned per head", "return list(outputs.chunk(2, dim=0))",
                  "You return the halves of the result in a list. Return one (D, N) tensor.", kind="arrangement")),
    ],
)
# fmt: on
