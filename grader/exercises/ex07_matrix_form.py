"""Exercise 7: self-attention in matrix form, one word per column."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import Case, Exercise, Inputs, at, randn, wrong

from .mistakes import rows

Tensor = torch.Tensor


def softmax_cols(scores: Tensor) -> Tensor:
    """As in the notebook: each column sums to one."""
    return torch.softmax(scores, dim=0)


def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q  # (D, N)  #: query
    K = W_k @ X + b_k  # (D, N)  #: key
    V = W_v @ X + b_v  # (D, N)  #: value

    scores = K.mT @ Q  # (N, N): row = key, column = query  #: scores
    scores = scores / math.sqrt(K.shape[0])  #: scale
    weights = softmax_cols(scores)  # (N, N): each column sums to one  #: normalize
    outputs = V @ weights  # (D, N)  #: mix
    return outputs  #: result


def projected(query: str, key: str, value: str) -> dict[str, str]:
    return {"query": f"Q = {query}", "key": f"K = {key}", "value": f"V = {value}"}


def sized(D: int, N: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        # Small weights keep the scores near one, where softmax shows every mistake.
        weights = [randn(rng, D, D) / D**0.5 for _ in range(3)]
        biases = [randn(rng, D, 1) for _ in range(3)]
        return (randn(rng, D, N), *weights, *biases)

    return inputs


# fmt: off
exercise = Exercise(
    number=7,
    assignment="self_attention",
    title="Matrix form",
    solution=scaled_dot_product_self_attention,
    columns=rows.IN_A_MATRIX,
    explained_in={"scaling": "exercise-2"},
    cases=[
        Case("the notebook's sizes", catches="the notebook's globals instead of the arguments", inputs=sized(4, 3)),
        Case("more words than dimensions", catches="√N for √D, a wrong softmax axis", inputs=sized(3, 8)),
        Case("more dimensions than words", catches="a hard-coded √4 or √8, D for √D", inputs=sized(7, 2)),
        Case("as many words as dimensions", catches="transposed results, whose shape is right", inputs=sized(5, 5)),
    ],
    mistakes=[
        wrong("without bias", projected("W_q @ X", "W_k @ X", "W_v @ X"),
              "Your results look as if there were no biases. Add them: Q = W_q X + b_q, and the same for K and V.",
              kind="missing step"),
        wrong("bias added before the matrix", projected("W_q @ (X + b_q)", "W_k @ (X + b_k)", "W_v @ (X + b_v)"),
              "Your results look as if the bias were added before the product, as in W (X + b). Add it after the "
              "product: Q = W_q X + b_q."),
        wrong("bias subtracted", projected("W_q @ X - b_q", "W_k @ X - b_k", "W_v @ X - b_v"),
              "In your results, the biases are subtracted. Add them: Q = W_q X + b_q."),
        wrong("matrices transposed", projected("W_q.T @ X + b_q", "W_k.T @ X + b_k", "W_v.T @ X + b_v"),
              "Your results look as if the matrices were transposed. With words as columns, use W @ X, without a "
              "transpose.", kind="convention"),
        # Mistakes the first matrix, W_v, for that of queries, the second, W_q, for keys, and W_k for values.
        wrong("parameters in q, k, v order", projected("W_v @ X + b_v", "W_q @ X + b_q", "W_k @ X + b_k"),
              "Your results look as if the roles were mixed up. The parameters come in the order v, q, k: use W_q and "
              "b_q for the queries.", kind="mix-up"),
        wrong("biases exchanged", projected("W_q @ X + b_v", "W_k @ X + b_q", "W_v @ X + b_k"),
              "In your results, the biases b_q and b_v are swapped. b_q belongs to W_q, and b_v to W_v.",
              kind="mix-up"),
        # A forgotten b_k does not show: it adds the same number to all scores of a query, which softmax cancels.
        wrong("queries with the keys' bias", {"query": "Q = W_q @ X + b_k"},
              "Your queries have the bias of the keys. For queries, use W_q and b_q.", credit=0.75, kind="mix-up"),
        wrong("values without bias", {"value": "V = W_v @ X"},
              "The bias of the values is missing: V = W_v X + b_v.", credit=0.75, kind="missing step"),
        wrong("queries without bias", {"query": "Q = W_q @ X"},
              "The bias of the queries is missing: Q = W_q X + b_q.", credit=0.75, kind="missing step"),
        wrong("query parameters for everything", projected("W_q @ X + b_q", "W_q @ X + b_q", "W_q @ X + b_q"),
              "Your queries, keys and values all come from W_q and b_q. Keys need W_k and b_k, and values need W_v and "
              "b_v.", kind="mix-up"),
        wrong("keys as values", {"value": "V = W_k @ X + b_k"},
              "Your results are weighted sums of keys. Use the values instead: V = W_v X + b_v.", kind="mix-up"),
        wrong("keys with keys", {"query": "Q = W_k @ X + b_k"},
              "Your results look as if keys were compared with keys. The scores are KᵀQ.", kind="mix-up"),
        wrong("queries with queries", {"key": "K = W_q @ X + b_q"},
              "Your results look as if queries were compared with queries. The scores are KᵀQ.", kind="mix-up"),
        wrong("queries and keys exchanged", {"scores": "scores = Q.T @ K"},
              "Queries and keys are swapped in your results, as with QᵀK. The scores are KᵀQ, with a column for every "
              "query.", kind="mix-up"),
        wrong("dimensions compared", {"scores": "scores = K @ Q.T", "mix": "outputs = weights @ V"},
              "Your results look as if the scores compared dimensions. Compare words instead: KᵀQ has shape (N, "
              "N).", kind="convention"),
        wrong("dimensions compared, by the formula for rows",
              {"scores": "scores = Q @ K.T", "normalize": "weights = torch.softmax(scores, dim=1)",
               "mix": "outputs = weights @ V"},
              "Your results follow the formula for words as rows, softmax(QKᵀ)V. With words as columns, it compares "
              "dimensions: use KᵀQ, which has shape (N, N).", kind="convention"),
        wrong("dimensions compared, by PyTorch's own function",
              {"scores": "scores = Q @ K.T", "scale": "scores = scores / math.sqrt(K.shape[1])",
               "normalize": "weights = torch.softmax(scores, dim=1)", "mix": "outputs = weights @ V"},
              "Your results follow the formula for words as rows, as PyTorch's own attention does. With words as "
              "columns, it compares dimensions: use KᵀQ, which has shape (N, N).", kind="convention"),
        wrong("dimensions compared, by the formula for rows, down columns",
              {"scores": "scores = Q @ K.T", "mix": "outputs = weights @ V"},
              "Your results look like QKᵀ, normalized down its columns and multiplied by V. With words as columns, "
              "that compares dimensions: use KᵀQ, which has shape (N, N).", kind="convention"),
        *at("scale",
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide them by √D before softmax.", kind="scaling"),
            wrong("divided by D", "scores = scores / K.shape[0]",
                  "The scores that you use are divided by D. Divide by its square root, √D.", kind="scaling"),
            wrong("divided by √N", "scores = scores / math.sqrt(X.shape[1])",
                  "The scores that you use are divided by √N, where N is the number of words. Divide by √D: X has "
                  "shape (D, N).", kind="scaling"),
            wrong("divided by N", "scores = scores / X.shape[1]",
                  "The scores that you use are divided by the number of words. Divide by √D: X has shape (D, N).",
                  kind="scaling"),
            wrong("divided by √D, rounded",
                  ["scores = scores / math.ceil(math.sqrt(K.shape[0]))",
                   "scores = scores / math.isqrt(K.shape[0])"],
                  "The scores that you use are divided by √D, rounded to a whole number. Divide by √D itself.",
                  credit=0.75, kind="scaling"),
            wrong("divided by √N, rounded",
                  ["scores = scores / math.ceil(math.sqrt(X.shape[1]))",
                   "scores = scores / math.isqrt(X.shape[1])"],
                  "The scores that you use are divided by √N, rounded to a whole number, where N is the number of "
                  "words. Divide by √D itself: X has shape (D, N).", kind="scaling"),
            wrong("multiplied by √D", "scores = scores * math.sqrt(K.shape[0])",
                  "The scores that you use are multiplied by √D. Divide by it instead.", kind="scaling"),
            wrong("divided by 2", "scores = scores / 2",
                  "Your scores are divided by 2, whatever D is. That is √D only if D is 4: take D from the shape of X.",
                  kind="hard-coded", or_borrowed=True),
            wrong("divided by √8", "scores = scores / math.sqrt(8)",
                  "Your scores are divided by √8, whatever the sizes are. Divide by √D, and take D from the shape of "
                  "X.", kind="hard-coded"),
            wrong("sign flipped", "scores = -scores / math.sqrt(K.shape[0])",
                  "The scores have the wrong sign: a query should look most where its dot product is largest."),
            wrong("scaled in the wrong place", "",
                  "Your results look as if the scores were not scaled, and the outputs divided by the root instead. "
                  "Scale the scores, before softmax.", kind="scaling",
                  also={"after mix": "outputs = outputs / math.sqrt(K.shape[0])"})),
        *at("normalize",
            wrong("softmax along rows", "weights = torch.softmax(scores, dim=1)",
                  "Your weights are normalized over the queries for each key. Normalize down each column of KᵀQ: over "
                  "the keys.", kind="axis"),
            wrong("softmax over everything", "weights = torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)",
                  "All your weights together sum to one. The weights of each query should: normalize over its keys, "
                  "which is down each column of KᵀQ (softmax_cols).", kind="axis"),
            wrong("raw scores as weights", "weights = scores",
                  "Your values are weighted by raw scores. Use softmax_cols of the scores instead.",
                  credit=0.25, kind="missing step"),
            wrong("not normalized", "weights = torch.exp(scores)",
                  "Your weights do not sum to one: divide the exponentials by their sum in each column.",
                  kind="missing step"),
            wrong("applied twice", "weights = softmax_cols(softmax_cols(scores))",
                  "Your weights look as if softmax had been applied twice. Once is enough."),
            wrong("sigmoid", "weights = torch.sigmoid(scores)",
                  "Your weights are the sigmoids of the scores. Use the softmax down the columns instead."),
            wrong("hard maximum", "weights = (scores == scores.max(dim=0).values).float()",
                  "Each query takes only its best value. Softmax gives every value some weight.")),
        wrong("future hidden", {"before normalize": "scores = scores + torch.full_like(scores, -math.inf).tril(-1)"},
              "Later words are hidden in your results, as with a causal mask. Here, every word may look at every word.",
              kind="mix-up"),
        *at("mix",
            wrong("weights transposed", "outputs = V @ weights.T",
                  "Your results look as if the weights were transposed. When you compute V @ A, column i must hold the "
                  "weights of query i.", kind="axis"),
            wrong("values without weights", "outputs = V.sum(dim=1, keepdim=True).expand_as(V)",
                  "Each of your results is the sum of all values, whatever the weights. Multiply V by the weights.",
                  credit=0.0, kind="missing step"),
            wrong("plain average", "outputs = V.mean(dim=1, keepdim=True).expand_as(V)",
                  "Your results are the average of the values, whatever the weights. Multiply V by the weights.",
                  credit=0.0, kind="missing step")),
        wrong("words as values", {"after value": "V = X"},
              "Your results are weighted sums of the words X. Use the values instead: V = W_v X + "
              "b_v.", kind="missing step"),
        wrong("words added", {"after mix": "outputs = outputs + X"},
              "Your result has X added to it (a residual connection). Self-attention alone does not add X.",
              kind="mix-up"),
        wrong("mean instead of sum", {"after mix": "outputs = outputs / X.shape[1]"},
              "Your result is divided by the number of words. The weights already sum to one, so do not divide."),
        *at("result",
            wrong("result and weights", "return outputs, weights",
                  "You return the weights as well. Return only the outputs.", credit=0.75, kind="arrangement"),
            wrong("result transposed", "return outputs.T",
                  "Your result is transposed. Words are columns: return shape (D, N).", kind="convention"),
            wrong("list of columns", "return list(outputs.split(1, dim=1))",
                  "Your result is a list of columns. Return one (D, N) tensor.",
                  credit=0.75, kind="arrangement"),
            wrong("first word only", "return outputs[:, :1]",
                  "You return the output of the first word only. Return one column per word.",
                  credit=0.25, kind="missing step"),
            wrong("weights returned", "return weights",
                  "Your results are the attention weights. Multiply the values by them.",
                  credit=0.25, kind="missing step")),
    ],
)
# fmt: on
