"""Exercise 9: how much one word looks at the others, without weights. Words are rows from here on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import as_pieces, asked
from grader.model.forms.exact import EXACT

from . import notebook_data
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor


def reference(
    inputs: Tensor,
    query: Tensor,
    *,
    compare: Callable[[Tensor, Tensor], Tensor] = lambda X, q: X @ q,
    scale: Callable[[Tensor, int, int], Tensor] = lambda scores, d, T: scores,
    after: Callable[[Tensor], Any] = lambda scores: scores,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    T, d = inputs.shape
    return dtype(finish(after(scale(compare(inputs, query), d, T))))  # (T, d) @ (d,) -> (T,)


def sized(T: int, d: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        return randn(rng, T, d), randn(rng, d)

    return inputs


def a_word_of_its_own(rng: torch.Generator) -> Inputs:
    X = randn(rng, 8, 3)
    return X, X[4].clone()


exercise = Exercise(
    number=9,
    assignment="causal_attention",
    title="Scores without weights",
    entry="simple_attention_scores",
    form=EXACT,
    reference=asked(reference),
    cases=[
        Case("the notebook's sizes", catches="the notebook's words instead of the arguments", inputs=sized(6, 3)),
        Case("more words than dimensions", catches="√T for √d, a sum over words", inputs=sized(9, 4)),
        Case("more dimensions than words", catches="a hard-coded √3 or √8, a hard-coded size", inputs=sized(2, 7)),
        Case(
            "as many words as dimensions", catches="transposed inputs, whose result has the shape", inputs=sized(5, 5)
        ),
        Case("one word", catches="squeezed dimensions", inputs=sized(1, 4)),
        Case("one of the words", catches="another word as the query, its own score left out", inputs=a_word_of_its_own),
        *as_pieces(sized(5, 4)),
    ],
    misconceptions=[
        Misconception(
            "scaled by √d",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by √d. Here they are the plain dot products; scaling comes with exercise 12.",
            change={"scale": lambda scores, d, T: scores / d**0.5},
        ),
        Misconception(
            "divided by d",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by the number of dimensions, as in a mean. A dot product is a sum.",
            change={"scale": lambda scores, d, T: scores / d},
        ),
        Misconception(
            "divided by √T",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by the root of the number of words. Here they are not scaled at all.",
            change={"scale": lambda scores, d, T: scores / T**0.5},
        ),
        Misconception(
            "divided by T",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by the number of words. Here they are not scaled at all.",
            change={"scale": lambda scores, d, T: scores / T},
        ),
        Misconception(
            "multiplied by √d",
            kind="scaling",
            credit=0.5,
            says="Your scores are multiplied by √d. Here they are not scaled at all.",
            change={"scale": lambda scores, d, T: scores * d**0.5},
        ),
        Misconception(
            "divided by √3",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √3 whatever the sizes are. Here the scores are not scaled at all.",
            change={"scale": lambda scores, d, T: scores / 3**0.5},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Here the scores are not scaled at all.",
            change={"scale": lambda scores, d, T: scores / 8**0.5},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="The scores have the wrong sign: a word that points the same way as the query should have the largest "
            "score.",
            change={"scale": lambda scores, d, T: -scores},
        ),
        Misconception(
            "cosine",
            kind="wrong formula",
            credit=0.5,
            says="Your scores are the cosines, divided by the lengths of both vectors. Use the dot product as it is.",
            change={"compare": lambda X, q: X @ q / X.norm(dim=1) / q.norm()},
        ),
        Misconception(
            "divided by the length of the query",
            kind="wrong formula",
            credit=0.5,
            says="Your scores are divided by the length of the query. Use the dot product as it is.",
            change={"compare": lambda X, q: X @ q / q.norm()},
        ),
        Misconception(
            "divided by the lengths of the words",
            kind="wrong formula",
            credit=0.5,
            says="Each of your scores is divided by the length of its word. Use the dot product as it is.",
            change={"compare": lambda X, q: X @ q / X.norm(dim=1)},
        ),
        Misconception(
            "distance",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are distances, which are small where words are alike. Use dot products.",
            change={"compare": lambda X, q: (X - q).norm(dim=1)},
        ),
        Misconception(
            "squared distance",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are squared distances, which are small where words are alike. Use dot products.",
            change={"compare": lambda X, q: (X - q).square().sum(1)},
        ),
        Misconception(
            "added instead of multiplied",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are those of adding word and query. A dot product multiplies their entries in pairs, "
            "then sums.",
            change={"compare": lambda X, q: (X + q).sum(1)},
        ),
        Misconception(
            "largest product",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are the largest of the products of entries. A dot product is their sum.",
            change={"compare": lambda X, q: (X * q).amax(1)},
        ),
        Misconception(
            "products not summed",
            kind="missing step",
            credit=0.5,
            says="Your results are the products entry by entry. Sum the products of each word: one number for every "
            "word.",
            change={"compare": lambda X, q: X * q},
        ),
        Misconception(
            "summed over the words",
            kind="axis",
            credit=0.5,
            says="Your result is a sum over the words, with a number for every dimension. Sum over the dimensions.",
            change={"compare": lambda X, q: (X * q).sum(0)},
        ),
        Misconception(
            "inputs transposed",
            kind="convention",
            credit=0.5,
            says="Your results are those of columns as words. From this assignment on words are rows: inputs @ query.",
            change={"compare": lambda X, q: X.mT @ q},
        ),
        Misconception(
            "first word as the query",
            kind="mix-up",
            credit=0.5,
            says="Your scores are those of the first word as the query. Compare with the argument query.",
            change={"compare": lambda X, q: X @ X[0]},
        ),
        Misconception(
            "second word as the query",
            kind="mix-up",
            credit=0.5,
            says="Your scores are those of the second word, inputs[1], as the query. Compare with the argument query.",
            change={"compare": lambda X, q: X @ X[1]},
        ),
        Misconception(
            "last word as the query",
            kind="mix-up",
            credit=0.5,
            says="Your scores are those of the last word as the query. Compare with the argument query.",
            change={"compare": lambda X, q: X @ X[-1]},
        ),
        Misconception(
            "every word with itself",
            kind="mix-up",
            credit=0.25,
            says="Your scores are those of each word with itself. Multiply each word by the query.",
            change={"compare": lambda X, q: (X * X).sum(1)},
        ),
        Misconception(
            "every word with every word",
            kind="mix-up",
            credit=0.25,
            says="Your scores are those of every word with every word, without the query. Compare each word with the "
            "query.",
            change={"compare": lambda X, q: X @ X.mT},
        ),
        Misconception(
            "the notebook's query",
            kind="borrowed",
            credit=0.25,
            says="Your scores are those of “journey” from the notebook. Use the argument query.",
            change={"compare": lambda X, q: X @ notebook_data.sentence().to(X.device)[1]},
        ),
        notebook_data.six_words_read(compare=lambda X, q: notebook_data.sentence().to(X.device) @ q),
        Misconception(
            "softmax applied",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of softmax. Return the scores before it; softmax is exercise 10.",
            change={"after": lambda scores: torch.softmax(scores, dim=0)},
        ),
        Misconception(
            "divided by the sum",
            kind="wrong formula",
            credit=0.5,
            says="Your scores are divided by their sum. Return the scores themselves; weights come later.",
            change={"after": lambda scores: scores / scores.sum()},
        ),
        Misconception(
            "exponentials",
            kind="wrong formula",
            credit=0.5,
            says="Your results are exponentials. Return the dot products as they are, negative ones included.",
            change={"after": torch.exp},
        ),
        Misconception(
            "absolute values",
            kind="wrong formula",
            credit=0.5,
            says="Your scores are absolute values. A negative score is right: the vectors point away from each other.",
            change={"after": torch.abs},
        ),
        Misconception(
            "negatives cut off",
            kind="wrong formula",
            credit=0.5,
            says="Your negative scores are zero. They must stay negative: the vectors point away from each other.",
            change={"after": torch.relu},
        ),
        Misconception(
            "squares",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are squares. Return the dot products as they are.",
            change={"after": torch.square},
        ),
        Misconception(
            "scores summed",
            kind="wrong formula",
            credit=0.25,
            says="Your result is the sum of all scores. Return a number for every word.",
            change={"after": lambda scores: scores.sum()},
        ),
        Misconception(
            "first score only",
            kind="missing step",
            credit=0.25,
            says="You return the score of the first word only. Return a number for every word.",
            change={"after": lambda scores: scores[0]},
        ),
        Misconception(
            "last score only",
            kind="missing step",
            credit=0.25,
            says="You return the score of the last word only, perhaps from inside the loop. Keep one for every word.",
            change={"after": lambda scores: scores[-1]},
        ),
        Misconception(
            "largest score only",
            kind="missing step",
            credit=0.25,
            says="You return only the largest score. Return a number for every word.",
            change={"after": lambda scores: scores.max()},
        ),
        Misconception(
            "last score left out",
            kind="missing step",
            credit=0.5,
            says="The score of the last word is zero, as when a loop ends too early. Every word has a score.",
            change={"after": lambda scores: torch.cat([scores[:-1], torch.zeros_like(scores[-1:])])},
        ),
        Misconception(
            "a list returned",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but in a list. Return one tensor of shape (T,).",
            change={"after": lambda scores: scores.tolist()},
        ),
        Misconception(
            "a column returned",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but as a column of shape (T, 1). Return a vector of shape (T,).",
            change={"after": lambda scores: scores.unsqueeze(-1)},
        ),
        *PIECES,
    ],
)
