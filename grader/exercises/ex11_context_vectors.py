"""Exercise 11: all context vectors at once, one word per row."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from . import notebook_data
from .mistakes.of_pieces import another_type, gradients_lost

SENTENCE = notebook_data.sentence()


def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.mT  # (T, T): row = query, column = key  #: scores
    attn_weights = torch.softmax(attn_scores, dim=-1)  # (T, T): each row sums to one  #: normalize
    context = attn_weights @ inputs  # (T, T) @ (T, d) -> (T, d)  #: mix
    return context  #: result


def sized(T: int, d: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        # Scores near one, where softmax shows every mistake: a word's score with itself is about √d.
        return (randn(rng, T, d) / d**0.25,)

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Words along a line, far from each other, since float32 has few decimal places for scores of ±10⁴."""
    T, d = 6, 4
    lengths = (20 + 15 * torch.randperm(T, generator=rng)) * (1 - 2 * (torch.arange(T) % 2))
    return (lengths[:, None] * (0.8 + 0.4 * torch.rand(d, generator=rng)),)


# fmt: off
exercise = Exercise(
    number=11,
    assignment="causal_attention",
    title="All context vectors",
    solution=all_context_vectors,
    form=EXACT,
    cases=[
        Case("the notebook's sizes", catches="the notebook's words instead of the argument", inputs=sized(6, 3)),
        Case("more words than dimensions", catches="√T for √d, a wrong softmax axis", inputs=sized(9, 4)),
        Case("more dimensions than words", catches="a hard-coded √3 or √8, a hard-coded size", inputs=sized(2, 7)),
        Case("as many words as dimensions", catches="transposed results, whose shape is right", inputs=sized(5, 5)),
        Case("one word", catches="squeezed dimensions", inputs=sized(1, 4)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large, beside=LARGE),
        *as_pieces(sized(4, 3)),
    ],
    mistakes=[
        *at("after scores",
            wrong("scaled by √d", "attn_scores = attn_scores / inputs.shape[1] ** 0.5",
                  "Your results look as if the scores were divided by √d. Do not scale them here; that comes in "
                  "exercise 12.", kind="scaling"),
            wrong("divided by d", "attn_scores = attn_scores / inputs.shape[1]",
                  "Your results look as if the scores were divided by the number of dimensions. Do not scale them "
                  "here.", kind="scaling"),
            wrong("divided by √T", "attn_scores = attn_scores / len(inputs) ** 0.5",
                  "Your results look as if the scores were divided by the root of the number of words. Do not scale "
                  "them here.", kind="scaling"),
            wrong("divided by T", "attn_scores = attn_scores / len(inputs)",
                  "Your results look as if the scores were divided by the number of words. Do not scale them here.",
                  kind="scaling"),
            wrong("multiplied by √d", "attn_scores = attn_scores * inputs.shape[1] ** 0.5",
                  "Your results look as if the scores were multiplied by √d. Do not scale them here.", kind="scaling"),
            wrong("divided by √3", "attn_scores = attn_scores / 3 ** 0.5",
                  "Your scores are divided by √3, whatever the sizes are. Do not scale them here.", kind="hard-coded"),
            wrong("divided by √8", "attn_scores = attn_scores / 8 ** 0.5",
                  "Your scores are divided by √8, whatever the sizes are. Do not scale them here.", kind="hard-coded"),
            wrong("sign flipped", "attn_scores = -attn_scores",
                  "The scores have the wrong sign: a word should look most where the dot product is largest.")),
        *at("scores",
            wrong("cosine", "unit = inputs / inputs.norm(dim=1, keepdim=True)\nattn_scores = unit @ unit.mT",
                  "Your results look as if the scores were divided by the lengths of both words. Use the plain dot "
                  "products."),
            wrong("distance", "attn_scores = (inputs[:, None] - inputs).norm(dim=2)",
                  "Your results look as if the scores were distances, which are small if words are alike. Use dot "
                  "products.")),
        *at("normalize",
            # XXᵀ is symmetric: a softmax down its columns is the transpose of the one along its rows.
            wrong("softmax down the columns", "attn_weights = torch.softmax(attn_scores, dim=0)",
                  "The weights that you use for a word do not sum to one: softmax runs down the columns, or the "
                  "weights are transposed. Words are now rows: take the softmax along each row of the scores, and "
                  "compute weights @ inputs.", kind="axis"),
            wrong("softmax over everything",
                  "attn_weights = torch.softmax(attn_scores.flatten(), dim=0).reshape(attn_scores.shape)",
                  "All your weights together sum to one. Take the softmax of each row instead, with "
                  "dim=-1.", kind="axis"),
            wrong("raw scores as weights", "attn_weights = attn_scores",
                  "In your results, the words are weighted by raw scores. Take the softmax of each row of the scores "
                  "first.", credit=0.25, kind="missing step"),
            wrong("divided by the sum", "attn_weights = attn_scores / attn_scores.sum(dim=1, keepdim=True)",
                  "Your weights are scores divided by their sum, which fails for negative ones. Use the softmax "
                  "instead."),
            wrong("not normalized", "attn_weights = torch.exp(attn_scores)",
                  "Your weights do not sum to one: divide the exponentials by their sum in each row.",
                  kind="missing step"),
            wrong("applied twice", "attn_weights = torch.softmax(torch.softmax(attn_scores, dim=1), dim=1)",
                  "Your weights look as if softmax had been applied twice. Once is enough."),
            wrong("sigmoid", "attn_weights = torch.sigmoid(attn_scores)",
                  "Your weights are the sigmoids of the scores. Use the softmax instead."),
            wrong("hard maximum", "attn_weights = (attn_scores == attn_scores.amax(dim=1, keepdim=True)).float()",
                  "Each word takes only its best match. Softmax gives every word some weight.")),
        *at("before normalize",
            wrong("future hidden", "attn_scores = attn_scores + torch.full_like(attn_scores, -torch.inf).triu(1)",
                  "Later words are hidden in your results. Here, every word may look at every word; the mask comes in "
                  "exercise 14.", kind="mix-up"),
            wrong("own word left out",
                  "own = torch.eye(len(inputs), device=inputs.device).bool()\n"
                  "attn_scores = attn_scores.masked_fill(own, -torch.inf)",
                  "In your results, each word leaves itself out. Let every word look at all words, including itself.",
                  kind="mix-up")),
        *at("mix",
            wrong("words without weights", "context = inputs.sum(dim=0, keepdim=True).expand_as(inputs)",
                  "Each of your results is the sum of all words, whatever the weights. Multiply the weights by the "
                  "words.", credit=0.0, kind="missing step"),
            wrong("plain average", "context = inputs.mean(dim=0, keepdim=True).expand_as(inputs)",
                  "Your results are the average of the words, whatever the weights. Multiply the weights by the words.",
                  credit=0.0, kind="missing step"),
            wrong("weights entry by entry", "context = attn_weights.diagonal()[:, None] * inputs",
                  "Your results are each word times its own weight only. Sum over all words: weights @ inputs."),
            wrong("weights applied twice", "context = attn_weights @ attn_weights @ inputs",
                  "In your results, the weights are applied twice. Once is enough: weights @ inputs."),
            wrong("one query for all", "context = (attn_weights[0] @ inputs).expand_as(inputs)",
                  "Every row holds the context of the first word. Each word needs its own weights.", kind="mix-up")),
        wrong("dimensions compared",
              {"scores": "attn_scores = inputs.mT @ inputs", "mix": "context = inputs @ attn_weights"},
              "Your results look as if (d, d) scores compared dimensions. Words are rows: inputs @ inputs.T is (T, "
              "T).", kind="convention"),
        wrong("dimensions compared, down columns",
              {"scores": "attn_scores = inputs.mT @ inputs",
               "normalize": "attn_weights = torch.softmax(attn_scores, dim=0)",
               "mix": "context = inputs @ attn_weights"},
              "Your results follow the formula for words as columns: (d, d) scores, softmax down the columns. Words "
              "are rows here: inputs @ inputs.T is (T, T).", kind="convention"),
        # The result is always the same, so it earns nothing.
        wrong("the notebook's words", {"before scores": "inputs = SENTENCE.to(inputs.device)"},
              "Your results are for the six words of the notebook. Use the argument inputs.",
              credit=0.0, kind="borrowed"),
        *at("after mix",
            wrong("words added", "context = context + inputs",
                  "Your result has the words added to it (a residual connection). Return the weighted sums "
                  "alone.", kind="mix-up"),
            wrong("mean instead of sum", "context = context / len(inputs)",
                  "Your result is divided by the number of words. The weights already sum to one, so do not divide."),
            wrong("result divided by √d", "context = context / inputs.shape[1] ** 0.5",
                  "Your result is divided by √d. Do not scale anything here.", kind="scaling")),
        *at("result",
            wrong("summed over the words", "return context.sum(dim=0)",
                  "Your result is the sum of the context vectors of all words. Return a row for every word."),
            wrong("result transposed", "return context.mT",
                  "Your result is transposed. Words are rows from here on: return shape (T, d).",
                  kind="convention"),
            wrong("list of rows", "return list(context)",
                  "Your result is a list of vectors. Return one (T, d) tensor, as torch.stack makes it.",
                  credit=0.75, kind="arrangement"),
            wrong("first word only", "return context[0]",
                  "You return only the context vector of the first word. Return a row for every word.",
                  credit=0.25, kind="missing step"),
            wrong("second word only", "return context[1]",
                  "You return only the context vector of the second word. Return a row for every word.",
                  credit=0.25, kind="missing step"),
            wrong("last word only", "return context[-1]",
                  "You return only the context vector of the last word, perhaps the one left after a loop. Return a "
                  "row for every word.", credit=0.25, kind="missing step"),
            wrong("result and weights", "return context, attn_weights",
                  "You return the weights as well. Return only the context vectors.", credit=0.75, kind="arrangement")),
        wrong("weights returned", {"mix": "context = attn_weights"},
              "Your results are the attention weights. Multiply them by the words.", credit=0.25, kind="missing step"),
        wrong("softmax not shifted",
              {"normalize": "exp = attn_scores.exp()\nattn_weights = exp / exp.sum(dim=1, keepdim=True)"},
              "If scores are large, exp overflows, or is 0 in a whole row: ∞/∞ and 0/0 are NaN. Use torch.softmax, or "
              "subtract the maximum of each row before exp.", credit=0.75, kind="missing step"),
        *gradients_lost("context"),
        *another_type("inputs", "before scores"),
    ],
)
# fmt: on
