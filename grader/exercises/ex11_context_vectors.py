"""Exercise 11: all context vectors at once, one word per row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms.exact import EXACT

from . import notebook_data
from .mistakes import masks, softmax, weighing
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor


def reference(
    inputs: Tensor,
    *,
    score: Callable[[Tensor], Tensor] = lambda X: X @ X.mT,
    scale: Callable[[Tensor, int, int], Tensor] = lambda scores, d, T: scores,
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=1),
    combine: Callable[[Tensor, Tensor], Tensor] = lambda A, X: A @ X,
    after: Callable[[Tensor, Tensor], Any] = lambda context, X: context,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    T, d = inputs.shape
    A = normalise(scale(score(inputs), d, T))  # (T, d) @ (d, T) -> (T queries, T keys): a row for every query
    return dtype(finish(after(combine(A, inputs), inputs)))  # (T, T) @ (T, d) -> (T, d)


def without_diagonal(scores: Tensor) -> Tensor:
    own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    return torch.softmax(scores.masked_fill(own, -torch.inf), dim=1)


def dimensions_mixed(X: Tensor) -> Tensor:
    return X @ torch.softmax(X.mT @ X, dim=1)


def sized(T: int, d: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        # Scores near one, where softmax shows every mistake: a word's score with itself is about √d.
        return (randn(rng, T, d) / d**0.25,)

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Words along a line, far from each other: float32 has hardly a digit of scores of ±10⁴ behind the point."""
    T, d = 6, 4
    lengths = (20 + 15 * torch.randperm(T, generator=rng)) * (1 - 2 * (torch.arange(T) % 2))
    return (lengths[:, None] * (0.8 + 0.4 * torch.rand(d, generator=rng)),)


exercise = Exercise(
    number=11,
    assignment="causal_attention",
    title="All context vectors",
    entry="all_context_vectors",
    form=EXACT,
    reference=asked(reference),
    scales={"scale": "the dot products"},
    cases=[
        Case("the notebook's sizes", catches="the notebook's words instead of the argument", inputs=sized(6, 3)),
        Case("more words than dimensions", catches="√T for √d, a wrong softmax axis", inputs=sized(9, 4)),
        Case("more dimensions than words", catches="a hard-coded √3 or √8, a hard-coded size", inputs=sized(2, 7)),
        Case("as many words as dimensions", catches="transposed results, whose shape is right", inputs=sized(5, 5)),
        Case("one word", catches="squeezed dimensions", inputs=sized(1, 4)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large, beside=LARGE),
        *as_pieces(sized(4, 3)),
    ],
    misconceptions=[
        Misconception(
            "scaled by √d",
            kind="scaling",
            credit=0.5,
            says="Your results are those of scores divided by √d. Here they are not scaled; that comes with exercise "
            "12.",
            change={"scale": lambda scores, d, T: scores / d**0.5},
        ),
        Misconception(
            "divided by d",
            kind="scaling",
            credit=0.5,
            says="Your results are those of scores divided by the number of dimensions. Here they are not scaled.",
            change={"scale": lambda scores, d, T: scores / d},
        ),
        Misconception(
            "divided by √T",
            kind="scaling",
            credit=0.5,
            says="Your results are those of scores divided by the root of the number of words. Here they are not "
            "scaled.",
            change={"scale": lambda scores, d, T: scores / T**0.5},
        ),
        Misconception(
            "divided by T",
            kind="scaling",
            credit=0.5,
            says="Your results are those of scores divided by the number of words. Here they are not scaled.",
            change={"scale": lambda scores, d, T: scores / T},
        ),
        Misconception(
            "multiplied by √d",
            kind="scaling",
            credit=0.5,
            says="Your results are those of scores multiplied by √d. Here they are not scaled.",
            change={"scale": lambda scores, d, T: scores * d**0.5},
        ),
        Misconception(
            "divided by √3",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √3 whatever the sizes are. Here they are not scaled.",
            change={"scale": lambda scores, d, T: scores / 3**0.5},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Here they are not scaled.",
            change={"scale": lambda scores, d, T: scores / 8**0.5},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="The scores have the wrong sign: a word should look most where the dot product is largest.",
            change={"scale": lambda scores, d, T: -scores},
        ),
        Misconception(
            "cosine",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of scores divided by the lengths of both words. Use the dot products as they "
            "are.",
            change={"score": lambda X: (X / X.norm(dim=1, keepdim=True)) @ (X / X.norm(dim=1, keepdim=True)).mT},
        ),
        Misconception(
            "distance",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of distances, which are small where words are alike. Use dot products.",
            change={"score": lambda X: (X[:, None] - X).norm(dim=2)},
        ),
        # XXᵀ is symmetric: a softmax down its columns is the transpose of the one along its rows.
        Misconception(
            "softmax down the columns",
            kind="axis",
            credit=0.5,
            says="The weights that you use for a word do not sum to one: softmax runs down the columns, or the weights "
            "are transposed. Words are rows from here on: softmax is along each row of the scores, and the context "
            "is weights @ inputs.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
        ),
        softmax.OVER_EVERYTHING,
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.25,
            says="The words are weighted by raw scores in your results. The weights are the softmax of each row of the "
            "scores.",
            change={"normalise": lambda scores: scores},
        ),
        Misconception(
            "divided by the sum",
            kind="wrong formula",
            credit=0.5,
            says="Your weights are scores divided by their sum, which fails for negative ones. They should be the "
            "softmax.",
            change={"normalise": lambda scores: scores / scores.sum(1, keepdim=True)},
        ),
        softmax.ROWS_NOT_NORMALISED,
        softmax.applied_twice(normalise=lambda scores: torch.softmax(torch.softmax(scores, 1), 1)),
        softmax.SIGMOID,
        Misconception(
            "hard maximum",
            kind="wrong formula",
            credit=0.25,
            says="Each word takes only its best match. Softmax gives every word some weight.",
            change={"normalise": lambda scores: (scores == scores.amax(1, keepdim=True)).float()},
        ),
        Misconception(
            "future hidden",
            kind="mix-up",
            credit=0.5,
            says="Later words are hidden in your results. Here every word may look at every word; the mask is exercise "
            "14.",
            change={"normalise": lambda scores: torch.softmax(masks.hide_later(scores), dim=1)},
        ),
        Misconception(
            "own word left out",
            kind="mix-up",
            credit=0.5,
            says="The word itself is left out in your results. Every word looks at all words, itself included.",
            change={"normalise": without_diagonal},
        ),
        Misconception(
            "plain average",
            kind="missing step",
            credit=0.0,
            says="Your results are the average of the words, whatever the weights. Multiply the weights by the words.",
            change={"combine": lambda A, X: X.mean(dim=0, keepdim=True).expand_as(X)},
        ),
        Misconception(
            "weights entry by entry",
            kind="wrong formula",
            credit=0.25,
            says="Your results are each word times its own weight only. Sum over all words: weights @ inputs.",
            change={"combine": lambda A, X: A.diagonal()[:, None] * X},
        ),
        Misconception(
            "one query for all",
            kind="mix-up",
            credit=0.25,
            says="Every row holds the context of the first word. Each word has weights of its own.",
            change={"combine": lambda A, X: (A[0] @ X).expand_as(X)},
        ),
        Misconception(
            "dimensions compared",
            kind="convention",
            credit=0.25,
            says="Your results are those of (d, d) scores, which compare dimensions. Words are rows: inputs @ inputs.T "
            "is (T, T).",
            answers=asked(dimensions_mixed),
        ),
        Misconception(
            "dimensions compared, down columns",
            kind="convention",
            credit=0.25,
            says="Your results are those of the formula for words as columns: (d, d) scores, softmax down columns. "
            "Words are rows here: inputs @ inputs.T is (T, T).",
            answers=lambda X: X @ torch.softmax(X.mT @ X, dim=0),
        ),
        # It is always the same, so it earns nothing.
        notebook_data.six_words_read(lambda X: reference(notebook_data.sentence().to(X.device)), credit=0.0),
        Misconception(
            "words added",
            kind="mix-up",
            credit=0.5,
            says="Your result has the words added to it (a residual connection). The context vectors are the sums "
            "alone.",
            change={"after": lambda context, X: context + X},
        ),
        weighing.mean_instead_of_sum(after=lambda context, X: context / len(X)),
        Misconception(
            "result divided by √d",
            kind="scaling",
            credit=0.5,
            says="Your result is divided by √d. Here nothing is scaled.",
            change={"after": lambda context, X: context / X.shape[1] ** 0.5},
        ),
        Misconception(
            "summed over the words",
            kind="wrong formula",
            credit=0.25,
            says="Your result is the sum of the context vectors of all words. Return a row for every word.",
            change={"after": lambda context, X: context.sum(0)},
        ),
        Misconception(
            "result transposed",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but transposed. Words are rows from here on: return shape (T, d).",
            change={"after": lambda context, X: context.mT},
        ),
        Misconception(
            "list of rows",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but in a list of vectors. Return one (T, d) tensor: torch.stack.",
            change={"after": lambda context, X: list(context)},
        ),
        Misconception(
            "first word only",
            kind="missing step",
            credit=0.25,
            says="You return the context vector of the first word only. Return a row for every word.",
            change={"after": lambda context, X: context[0]},
        ),
        Misconception(
            "second word only",
            kind="missing step",
            credit=0.25,
            says="You return the context vector of the second word only. Return a row for every word.",
            change={"after": lambda context, X: context[1]},
        ),
        Misconception(
            "last word only",
            kind="missing step",
            credit=0.25,
            says="You return the context vector of the last word only, perhaps from inside the loop. "
            "Return a row for every word.",
            change={"after": lambda context, X: context[-1]},
        ),
        Misconception(
            "result and weights",
            kind="arrangement",
            credit=0.75,
            says="You return the weights as well. Return the context vectors only.",
            answers=asked(lambda X: (reference(X), torch.softmax(X @ X.mT, dim=1))),
        ),
        Misconception(
            "weights returned",
            kind="missing step",
            credit=0.25,
            says="Your results are the attention weights. Multiply them by the words.",
            change={"combine": lambda A, X: A},
        ),
        softmax.not_shifted(normalise=lambda scores: scores.exp() / scores.exp().sum(1, keepdim=True)),
        *PIECES,
    ],
)
