"""Exercise 9: how much one word looks at the others, without trained weights. Words are rows from here on."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import as_pieces

from . import notebook_data
from .mistakes.of_pieces import another_type, gradients_lost

SENTENCE = notebook_data.sentence()


def simple_attention_scores(inputs, query):
    scores = inputs @ query  # (T, d) @ (d,) -> (T,)  #: scores
    return scores  #: result


def sized(T: int, d: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        return randn(rng, T, d), randn(rng, d)

    return inputs


def a_word_of_its_own(rng: torch.Generator) -> Inputs:
    X = randn(rng, 8, 3)
    return X, X[4].clone()


# fmt: off
exercise = Exercise(
    number=9,
    assignment="causal_attention",
    title="Scores without weights",
    solution=simple_attention_scores,
    form=EXACT,
    cases=[
        Case("the notebook's sizes", catches="the notebook's words instead of the arguments", inputs=sized(6, 3)),
        Case("more words than dimensions", catches="√T for √d, a sum over words", inputs=sized(9, 4)),
        Case("more dimensions than words", catches="a hard-coded √3 or √8, a hard-coded size", inputs=sized(2, 7)),
        Case("as many words as dimensions", "transposed inputs, whose result has the shape", inputs=sized(5, 5)),
        Case("one word", catches="squeezed dimensions", inputs=sized(1, 4)),
        Case("one of the words", catches="another word as the query, its own score left out", inputs=a_word_of_its_own),
        *as_pieces(sized(5, 4)),
    ],
    mistakes=[
        *at("after scores",
            wrong("scaled by √d", "scores = scores / inputs.shape[1] ** 0.5",
                  "Your scores are divided by √d. Return the plain dot products here; scaling comes in exercise "
                  "12.", kind="scaling"),
            wrong("divided by d", "scores = scores / inputs.shape[1]",
                  "Your scores are divided by the number of dimensions, as in a mean. A dot product is a sum: do not "
                  "divide.", kind="scaling"),
            wrong("divided by √T", "scores = scores / len(inputs) ** 0.5",
                  "Your scores are divided by the root of the number of words. Do not scale them here.",
                  kind="scaling"),
            wrong("divided by T", "scores = scores / len(inputs)",
                  "Your scores are divided by the number of words. Do not scale them here.", kind="scaling"),
            wrong("multiplied by √d", "scores = scores * inputs.shape[1] ** 0.5",
                  "Your scores are multiplied by √d. Do not scale them here.", kind="scaling"),
            wrong("divided by √3", "scores = scores / 3 ** 0.5",
                  "Your scores are divided by √3, whatever the sizes are. Do not scale them here.", kind="hard-coded"),
            wrong("divided by √8", "scores = scores / 8 ** 0.5",
                  "Your scores are divided by √8, whatever the sizes are. Do not scale them here.", kind="hard-coded"),
            wrong("sign flipped", "scores = -scores",
                  "The scores have the wrong sign: a word that points the same way as the query should have the "
                  "largest score.")),
        *at("scores",
            wrong("cosine", "scores = inputs @ query / inputs.norm(dim=1) / query.norm()",
                  "Your scores are cosines: they are divided by the lengths of both vectors. Use the plain dot "
                  "product."),
            wrong("divided by the length of the query", "scores = inputs @ query / query.norm()",
                  "Your scores are divided by the length of the query. Use the plain dot product."),
            wrong("divided by the lengths of the words", "scores = inputs @ query / inputs.norm(dim=1)",
                  "Each of your scores is divided by the length of its word. Use the plain dot product."),
            wrong("distance", "scores = (inputs - query).norm(dim=1)",
                  "Your scores are distances, which are small if words are alike. Use dot products."),
            wrong("squared distance", "scores = (inputs - query).square().sum(dim=1)",
                  "Your scores are squared distances, which are small if words are alike. Use dot products."),
            wrong("minus the distance", "scores = -(inputs - query).norm(dim=1)",
                  "Your scores are distances with a minus sign. Use dot products."),
            wrong("minus the squared distance", "scores = -(inputs - query).square().sum(dim=1)",
                  "Your scores are squared distances with a minus sign. Use dot products."),
            wrong("added instead of multiplied", "scores = (inputs + query).sum(dim=1)",
                  "Your scores look as if word and query were added. A dot product multiplies their entries in pairs, "
                  "then adds up the products."),
            wrong("largest product", "scores = (inputs * query).amax(dim=1)",
                  "Each of your scores is the largest of the products of entries. Add up the products instead."),
            wrong("products not summed", "scores = inputs * query",
                  "Your results are the entry-by-entry products. Add them up for each word: one number per "
                  "word.", kind="missing step"),
            wrong("summed over the words", "scores = (inputs * query).sum(dim=0)",
                  "Your result is a sum over the words, with a number for every dimension. Sum over the dimensions "
                  "instead.", kind="axis"),
            wrong("inputs transposed", "scores = inputs.mT @ query",
                  "Your results look as if words were columns. From this assignment on, words are rows: inputs @ "
                  "query.", kind="convention"),
            wrong("first word as the query", "scores = inputs @ inputs[0]",
                  "Your scores use the first word as the query. Compare with the argument query.", kind="mix-up"),
            wrong("second word as the query", "scores = inputs @ inputs[1]",
                  "Your scores use the second word, inputs[1], as the query. Compare with the argument query.",
                  kind="mix-up"),
            wrong("last word as the query", "scores = inputs @ inputs[-1]",
                  "Your scores use the last word as the query. Compare with the argument query.", kind="mix-up"),
            wrong("every word with itself", "scores = (inputs * inputs).sum(dim=1)",
                  "Your scores compare each word with itself. Compare each word with the query.", kind="mix-up"),
            wrong("every word with every word", "scores = inputs @ inputs.mT",
                  "Your scores compare every word with every word, without the query. Compare each word with the "
                  "query.", kind="mix-up"),
            wrong("the notebook's query", "scores = inputs @ SENTENCE.to(inputs.device)[1]",
                  "Your scores use “journey” from the notebook as the query. Use the argument query.", kind="borrowed"),
            wrong("the notebook's words", "scores = SENTENCE.to(inputs.device) @ query",
                  "Your results are for the six words of the notebook. Use the argument inputs.", kind="borrowed")),
        *at("result",
            wrong("softmax applied", "return torch.softmax(scores, dim=0)",
                  "Your results look like softmax weights. Return the scores themselves; softmax comes in exercise "
                  "10."),
            wrong("divided by the sum", "return scores / scores.sum()",
                  "Your scores are divided by their sum. Return the scores themselves; weights come later."),
            wrong("exponentials", "return torch.exp(scores)",
                  "Your results are exponentials. Return the plain dot products, negative ones included."),
            wrong("absolute values", "return scores.abs()",
                  "Your scores are absolute values. Keep the sign: a negative score says that the vectors point away "
                  "from each other."),
            wrong("negatives cut off", "return torch.relu(scores)",
                  "Your negative scores are zero. Keep them negative: they say that the vectors point away from each "
                  "other."),
            wrong("squares", "return scores ** 2",
                  "Your scores are squares. Return the plain dot products."),
            wrong("scores summed", "return scores.sum()",
                  "Your result is the sum of all scores. Return one number per word."),
            wrong("first score only", "return scores[0]",
                  "You return only the score of the first word. Return one number per word.",
                  credit=0.25, kind="missing step"),
            wrong("last score only", "return scores[-1]",
                  "You return only the score of the last word, perhaps the one left after a loop. Keep one number per "
                  "word.", credit=0.25, kind="missing step"),
            wrong("largest score only", "return scores.max()",
                  "You return only the largest score. Return one number per word.", credit=0.25, kind="missing step"),
            wrong("last score left out", "return torch.cat([scores[:-1], torch.zeros_like(scores[-1:])])",
                  "The score of the last word is zero. Perhaps a loop ends too early: every word needs a score.",
                  kind="missing step"),
            wrong("a list returned", "return scores.tolist()",
                  "Your result is a list. Return one tensor of shape (T,).",
                  credit=0.75, kind="arrangement"),
            wrong("a column returned", "return scores.unsqueeze(-1)",
                  "Your result is a column of shape (T, 1). Return a vector of shape (T,).",
                  credit=0.75, kind="arrangement")),
        *gradients_lost("scores"),
        *another_type("inputs, query", "before scores"),
    ],
)
# fmt: on
