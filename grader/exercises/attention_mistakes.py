"""Mistakes that students make in several of the modules, and so belong to several exercises.

They change steps of the references there, which have the same names.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from grader.model.exercise import Misconception

Tensor = torch.Tensor


def later(scores: Tensor) -> Tensor:
    """−∞ where a key is later than the query, else 0."""
    return torch.full_like(scores, -torch.inf).triu(1)


def detached(*roles: str) -> Callable[[Tensor, str, Tensor], Tensor]:
    return lambda projected, role, _x: projected.detach() if role in roles else projected


def averaged(outputs: Tensor) -> Tensor:
    return outputs.mean(1).repeat(1, 1, outputs.shape[1])


def first_of(dim: int) -> Callable[..., Tensor]:
    """What belongs to the first head (dim 1) or sentence (dim 0), for all."""
    return lambda weights, *_sizes: weights.narrow(dim, 0, 1).expand_as(weights)


def unscaled(dropout: nn.Dropout, weights: Tensor) -> Tensor:
    return weights * (torch.rand_like(weights) >= dropout.p) if dropout.training else weights


# One head: exercises 12, 13 and 16.
SCALING_ROLES_AND_GRADIENTS = [
    Misconception(
        "not scaled",
        kind="scaling",
        credit=0.5,
        says="You do not scale. Divide the scores by √d_out, the root of the length of a key.",
        change={"scale": lambda scores, *_sizes: scores},
    ),
    Misconception(
        "scaled by √d_in",
        kind="scaling",
        credit=0.75,
        says="You divide by √d_in. Keys have d_out entries: divide by the root of that, keys.shape[-1] ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_in**0.5},
    ),
    Misconception(
        "scaled by √T",
        kind="scaling",
        credit=0.5,
        says="You divide by the root of the number of words. Divide by √d_out, the root of the length of a key.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / T**0.5},
    ),
    Misconception(
        "divided by T",
        kind="scaling",
        credit=0.5,
        says="You divide by the number of words. Divide by √d_out, the root of the length of a key.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / T},
    ),
    Misconception(
        "divided by d_out",
        kind="scaling",
        credit=0.5,
        says="You divide by d_out. Divide by its square root.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_out},
    ),
    Misconception(
        "√2 hard-coded",
        kind="hard-coded",
        credit=0.5,
        says="You always divide by √2, which fits the notebook's d_out only. Take it from keys.shape[-1].",
        change={"scale": lambda scores, *_sizes: scores / 2**0.5},
    ),
    Misconception(
        "multiplied by √d_out",
        kind="scaling",
        credit=0.5,
        says="You multiply the scores by √d_out. Divide by it.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores * d_out**0.5},
    ),
    Misconception(
        "sign flipped",
        kind="wrong formula",
        credit=0.25,
        says="The scores have the wrong sign: a query looks most where its dot product is largest.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: -scores / d_out**0.5},
    ),
    Misconception(
        "queries and keys exchanged",
        kind="mix-up",
        credit=0.5,
        says="Queries and keys change places. Row i of the scores is query i with every key: queries @ keys.T.",
        change={"score": lambda q, k: k @ q.mT},
    ),
    Misconception(
        "keys as values",
        kind="mix-up",
        credit=0.5,
        says="You weigh the keys. The weights belong to the values, which come from W_value.",
        change={"roles": ("query", "key", "key")},
    ),
    Misconception(
        "queries as values",
        kind="mix-up",
        credit=0.5,
        says="You weigh the queries. The weights belong to the values, which come from W_value.",
        change={"roles": ("query", "key", "query")},
    ),
    Misconception(
        "queries as keys",
        kind="mix-up",
        credit=0.5,
        says="You compare queries with queries. Compare them with the keys, which come from W_key.",
        change={"roles": ("query", "query", "value")},
    ),
    Misconception(
        "keys and values exchanged",
        kind="mix-up",
        credit=0.5,
        says="W_key and W_value change places: keys are what queries are compared with, values are what is mixed.",
        change={"roles": ("query", "value", "key")},
    ),
    Misconception(
        "weights returned",
        kind="missing step",
        credit=0.25,
        says="You return the attention weights. Multiply them with the values.",
        change={"mix": lambda weights, v: weights},
    ),
    Misconception(
        "result transposed",
        kind="convention",
        credit=0.5,
        says="The numbers are right, but transposed. Words are rows: the result has shape (…, T, d_out).",
        change={"finish": lambda outputs: outputs.mT},
    ),
    Misconception(
        "everything detached",
        kind="gradient",
        credit=0.5,
        says="No gradient comes through: something like no_grad or detach is around the computation. Remove it.",
        change={"finish": lambda outputs: outputs.detach()},
    ),
    Misconception(
        "values detached",
        kind="gradient",
        credit=0.5,
        says="No gradient reaches W_value. Leave out detach and .data on the way of the values.",
        change={"pass_on": detached("v")},
    ),
    Misconception(
        "weights detached",
        kind="gradient",
        credit=0.5,
        says="No gradient reaches W_query and W_key. Leave out detach and .data on the way of scores and weights.",
        change={"pass_on": detached("q", "k")},
    ),
    Misconception(
        "√8 hard-coded",
        kind="hard-coded",
        credit=0.5,
        says="You always divide by √8. Take the length of a key from keys.shape[-1].",
        change={"scale": lambda scores, *_sizes: scores / 8**0.5},
    ),
    Misconception(
        "half the length",
        kind="wrong formula",
        credit=0.5,
        says="You divide by half the length of a key. Perhaps you wrote ** 1 / 2, which is (… ** 1) / 2: write ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / (d_out / 2)},
    ),
    Misconception(
        "divided twice by half",
        kind="wrong formula",
        credit=0.5,
        says="You divide by the length of a key, and by 2: that is what ** 1 / 2 means. Write ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_out / 2},
    ),
    Misconception(
        "scaled after softmax",
        kind="scaling",
        credit=0.5,
        says="You divide by √d_out after the softmax. Divide the scores, before it.",
        change={
            "scale": lambda scores, *_sizes: scores,
            "mix": lambda weights, v: weights @ v / v.shape[-1] ** 0.5,
        },
    ),
    Misconception(
        "keys as queries",
        kind="mix-up",
        credit=0.5,
        says="You compare keys with keys. The queries come from W_query.",
        change={"roles": ("key", "key", "value")},
    ),
    Misconception(
        "queries in all roles",
        kind="mix-up",
        credit=0.25,
        says="You use W_query for keys and values, too. Keys come from W_key, values from W_value.",
        change={"roles": ("query", "query", "query")},
    ),
    Misconception(
        "values not projected",
        kind="missing step",
        credit=0.5,
        says="You weigh the inputs themselves. Weigh the values, which come from W_value.",
        change={"pass_on": lambda projected, role, x: x if role == "v" else projected},
    ),
]

# One head, where every word may look at every word: exercises 12 and 13.
WEIGHTS_WITHOUT_MASK = [
    Misconception(
        "softmax twice",
        kind="wrong formula",
        credit=0.5,
        says="You apply softmax twice. Once makes the weights of a query sum to one.",
        change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, dim=-1), dim=-1)},
    ),
    Misconception(
        "softmax over queries",
        kind="axis",
        credit=0.5,
        says="Your softmax runs over the queries (dim=0). It must run over the keys: dim=-1.",
        change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
    ),
    Misconception(
        "softmax over everything",
        kind="axis",
        credit=0.5,
        says="Your softmax runs over all scores at once. Each row must sum to one: dim=-1.",
        change={"normalise": lambda scores: torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)},
    ),
    Misconception(
        "softmax missing",
        kind="missing step",
        credit=0.25,
        says="You weigh the values with raw scores. Apply softmax to the scores first.",
        change={"normalise": lambda scores: scores},
    ),
    Misconception(
        "divided by the sum",
        kind="wrong formula",
        credit=0.25,
        says="You divide the scores by their sum, as in exercise 9. Use softmax.",
        change={"normalise": lambda scores: scores / scores.sum(dim=-1, keepdim=True)},
    ),
    Misconception(
        "future hidden",
        kind="mix-up",
        credit=0.5,
        says="You hide later words. That comes in exercise 14; here every word may look at every word.",
        change={"normalise": lambda scores: torch.softmax(scores + later(scores), dim=-1)},
    ),
    Misconception(
        "weights transposed",
        kind="axis",
        credit=0.5,
        says="The weights are transposed when they meet the values. Compute weights @ values.",
        change={"mix": lambda weights, v: weights.mT @ v},
    ),
    Misconception(
        "first word only",
        kind="missing step",
        credit=0.25,
        says="You return the context vector of one word. There is one for every word: shape (T, d_out).",
        change={"finish": lambda outputs: outputs[0]},
    ),
    Misconception(
        "words summed",
        kind="wrong formula",
        credit=0.25,
        says="You add up the context vectors of all words. Return one for every word: shape (T, d_out).",
        change={"finish": lambda outputs: outputs.sum(dim=0)},
    ),
]

# Where the heads of one projection are split: exercises 18 and 19.
SPLIT_HEADS = [
    Misconception(
        "not scaled",
        kind="scaling",
        credit=0.5,
        says="You do not scale. Divide the scores by √head_dim, the root of the length of a key of one head.",
        change={"scale": lambda scores, sizes: scores},
    ),
    Misconception(
        "divided by head_dim",
        kind="scaling",
        credit=0.5,
        says="Your scores are divided by head_dim, or twice by its root. Divide them by √head_dim once.",
        change={"scale": lambda scores, sizes: scores / sizes.head_dim},
    ),
    Misconception(
        "divided by head_dim and 2",
        kind="wrong formula",
        credit=0.5,
        says="** 1 / 2 is (** 1) / 2, so you divide by head_dim and by 2. Write ** 0.5.",
        change={"scale": lambda scores, sizes: scores / sizes.head_dim / 2},
    ),
    Misconception(
        "divided by head_dim / 2",
        kind="wrong formula",
        credit=0.5,
        says="** 1 / 2 is (** 1) / 2, so you divide by half of head_dim. Write ** 0.5.",
        change={"scale": lambda scores, sizes: scores / (sizes.head_dim / 2)},
    ),
    Misconception(
        "multiplied by √head_dim",
        kind="scaling",
        credit=0.5,
        says="You multiply the scores by √head_dim. Divide by it.",
        change={"scale": lambda scores, sizes: scores * sizes.head_dim**0.5},
    ),
    Misconception(
        "scaled after softmax",
        kind="scaling",
        credit=0.5,
        says="You divide the weights by √head_dim, so these do not sum to one. Divide the scores, before softmax.",
        change={
            "scale": lambda scores, sizes: scores,
            "change_weights": lambda weights, sizes: weights / sizes.head_dim**0.5,
        },
    ),
    Misconception(
        "sign flipped",
        kind="wrong formula",
        credit=0.25,
        says="The scores have the wrong sign: a query looks most where its dot product is largest.",
        change={"scale": lambda scores, sizes: -scores / sizes.head_dim**0.5},
    ),
    Misconception(
        "heads in reverse order",
        kind="arrangement",
        credit=0.5,
        says="The last head comes first. Merge the heads in their order.",
        change={"merge": lambda outputs: outputs.flip(1).transpose(1, 2).flatten(2)},
    ),
    Misconception(
        "first head's weights for all",
        kind="mix-up",
        credit=0.25,
        says="All heads use the weights of the first. Each head computes its own.",
        change={"change_weights": first_of(1)},
    ),
    Misconception(
        "weights averaged over heads",
        kind="mix-up",
        credit=0.25,
        says="All heads use the mean of their weights. Each head uses its own.",
        change={"change_weights": lambda weights, sizes: weights.mean(1, keepdim=True).expand_as(weights)},
    ),
    Misconception(
        "first head only",
        kind="mix-up",
        credit=0.25,
        says="The output of the first head stands in the places of all heads. Merge all of them.",
        change={"merge": lambda outputs: outputs[:, 0].repeat(1, 1, outputs.shape[1])},
    ),
    Misconception(
        "heads averaged",
        kind="wrong formula",
        credit=0.25,
        says="The mean of the heads stands in the places of all heads. Put them side by side.",
        change={"merge": averaged},
    ),
    Misconception(
        "softmax twice",
        kind="wrong formula",
        credit=0.25,
        says="You apply softmax twice, and the second gives hidden words weight again. Apply it once.",
        change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, dim=-1), dim=-1)},
    ),
    Misconception(
        "exponentials not divided",
        kind="missing step",
        credit=0.25,
        says="You weigh the values with exponentials that are not divided by their sum. Use softmax.",
        change={"normalise": torch.exp},
    ),
    Misconception(
        "sigmoid for softmax",
        kind="wrong formula",
        credit=0.25,
        says="You use sigmoid, so that weights do not sum to one. Use softmax over the keys.",
        change={"normalise": torch.sigmoid},
    ),
    Misconception(
        "first sentence's weights for all",
        kind="mix-up",
        credit=0.25,
        says="All sentences of a batch use the weights of the first. Compute weights for each of them.",
        change={"change_weights": first_of(0)},
    ),
    Misconception(
        "squeezed",
        kind="arrangement",
        credit=0.5,
        says="Your result loses the dimensions of size 1. Leave out squeeze: one sentence is a batch, too.",
        change={"finish": lambda outputs: outputs.squeeze()},
    ),
    Misconception(
        "everything detached",
        kind="gradient",
        credit=0.5,
        says="No gradient comes through: something like no_grad or detach is around the computation. Remove it.",
        change={"finish": lambda outputs: outputs.detach()},
    ),
]

# Of modules with a causal mask and dropout: exercises 16 and 18.
MASK_AND_DROPOUT = [
    Misconception(
        "mask not cut to the text",
        kind="hard-coded",
        credit=0.5,
        says="Texts shorter than context_length stop with an error. Cut the mask to the text: mask[:T, :T].",
        change={"crop": lambda later, T: later},
    ),
    Misconception(
        "weights transposed",
        kind="axis",
        credit=0.25,
        says="The weights are transposed when they meet the values, so words see the future.",
        change={"mix": lambda weights, v: weights.mT @ v},
    ),
    Misconception(
        "first sentence only",
        kind="missing step",
        credit=0.25,
        says="You return one sentence of the batch. The result has shape (B, T, d_out).",
        change={"finish": lambda outputs: outputs[0]},
    ),
    Misconception(
        "mask is a plain attribute",
        kind="missing step",
        credit=0.75,
        says="The mask is a plain attribute: it does not move with the module. Use self.register_buffer.",
        change={"keep_mask": lambda module, mask: setattr(module, "mask", mask)},
    ),
    Misconception(
        "mask is a parameter",
        kind="mix-up",
        credit=0.75,
        says="The mask is a parameter, so an optimiser would look at it. Register it as a buffer instead.",
        change={"keep_mask": lambda module, mask: setattr(module, "mask", nn.Parameter(mask, requires_grad=False))},
    ),
    Misconception(
        "dropout forgotten",
        kind="missing step",
        credit=0.5,
        says="In training, nothing is dropped. Apply dropout to the attention weights.",
        change={"drop_weights": lambda dropout, weights: weights},
    ),
    Misconception(
        "rate 0.5 hard-coded",
        kind="hard-coded",
        credit=0.5,
        says="You always drop at a rate of 0.5. Take the rate from the argument dropout.",
        change={"rate": lambda _p: 0.5},
    ),
    Misconception(
        "dropout always active",
        kind="missing step",
        credit=0.5,
        says="You drop weights outside of training, too. Use nn.Dropout, or F.dropout with training=self.training.",
        change={"drop_weights": lambda dropout, weights: nn.functional.dropout(weights, dropout.p, True)},
    ),
    Misconception(
        "dropout on the output",
        kind="mix-up",
        credit=0.5,
        says="You drop entries of the output. Drop attention weights, before they meet the values.",
        change={
            "drop_weights": lambda dropout, weights: weights,
            "drop_outputs": lambda dropout, out: dropout(out),
        },
    ),
    Misconception(
        "survivors not scaled",
        kind="missing step",
        credit=0.5,
        says="Weights that survive dropout must be divided by 1 − p, as nn.Dropout does.",
        change={"drop_weights": unscaled},
    ),
]
