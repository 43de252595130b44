"""Exercise 2: attention scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import Case, Exercise, Inputs, at, columns, wrong
from grader.kit.pictures import scores

from .mistakes import numbers_of_words, rows


def attention_scores(all_queries, all_keys):
    D = all_queries[0].shape[0]
    all_scores = []  #: rows
    for query in all_queries:
        scores = []  #: row
        for key in all_keys:
            score = torch.sum(query * key)  # a scalar  #: compare
            scores.append(score / math.sqrt(D))  #: scale
        all_scores.append(scores)
    return all_scores  #: result


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (columns(rng, N, D), columns(rng, N, D))


OWN_KEY = "Your scores compare each query only with the key of its own word. Compare every query with every key."


# fmt: off
exercise = Exercise(
    number=2,
    assignment="self_attention",
    title="Attention scores",
    solution=attention_scores,
    columns=rows.IN_A_LIST,
    picture=scores,
    cases=[
        Case("the notebook's sizes", catches="the notebook's globals instead of the arguments", inputs=sized(3, 4)),
        Case("more words than dimensions", catches="√N for √D, a hard-coded N", inputs=sized(5, 2)),
        Case("more dimensions than words", catches="a hard-coded √4, D for √D", inputs=sized(2, 7)),
        *numbers_of_words.cases(lambda M, N: lambda rng: (columns(rng, M, 4), columns(rng, N, 4))),
    ],
    mistakes=[
        wrong("each score twice", {"after scale": "scores.append(scores[-1])"},
              "Your lists hold each score twice, one after the other. Append it only once.", kind="arrangement"),
        *at("scale",
            wrong("not scaled", "scores.append(score)",
                  "Your scores are not scaled. Divide each dot product by √D, where D is shape[0] of a query.",
                  kind="scaling"),
            wrong("divided by D", "scores.append(score / D)",
                  "Your scores are divided by D, as in a mean. Divide them by its square root, √D.", kind="scaling"),
            wrong("divided by √N", "scores.append(score / math.sqrt(len(all_queries)))",
                  "Your scores are divided by √N, where N is the number of words. Divide by √D, where D is the length "
                  "of a query.", kind="scaling"),
            wrong("divided by N", "scores.append(score / len(all_queries))",
                  "Your scores are divided by the number of words. Divide by √D, where D is the length of a query.",
                  kind="scaling"),
            wrong("multiplied by √D", "scores.append(score * math.sqrt(D))",
                  "Your scores are multiplied by √D. Scaling makes large scores smaller: divide by √D "
                  "instead.", kind="scaling"),
            wrong("divided by D²", "scores.append(score / D**2)",
                  "Your scores are divided by D². Divide by the square root of D instead.", kind="scaling"),
            wrong("scaled twice", "scores.append(score / D / math.sqrt(D))",
                  "Your scores are divided by √D and also by D (a mean is a sum divided by D). Divide by √D "
                  "only.", kind="scaling"),
            wrong("divided by 2", "scores.append(score / 2)",
                  "Your scores are divided by 2, whatever D is. That is √D only if D is 4: take D from the shape of a "
                  "query.", kind="hard-coded", or_borrowed=True),
            wrong("divided by 2 · D", "scores.append(score / D / 2)",
                  "Your scores are divided by 2 · D. That is what dividing by D ** 1 / 2 does, as powers come first. "
                  "Divide by √D, which is D ** 0.5.", kind="scaling"),
            wrong("divided by √3", "scores.append(score / math.sqrt(3))",
                  "Your scores are divided by √3, whatever the sizes are. Divide by √D, and take D from the shape of a "
                  "query.", kind="hard-coded")),
        *at("result",
            wrong("one list per key", "return [list(column) for column in zip(*all_scores)]",
                  "Your outer list runs over keys. Make it run over queries: result[i][j] belongs to query i and key "
                  "j.", kind="axis"),
            wrong("one flat list", "return [score for scores in all_scores for score in scores]",
                  "You return one long list. Return one list per query, with one score per key.", kind="arrangement"),
            wrong("own key only",
                  ["return [scores[n] for n, scores in enumerate(all_scores)]",
                   "return [[scores[n]] for n, scores in enumerate(all_scores[: len(all_keys)])]"],
                  OWN_KEY, credit=0.25, kind="missing step"),
            wrong("first query only", "return [all_scores[0]] * len(all_scores)",
                  "Every row holds the scores of the first query. Row i belongs to query i.",
                  credit=0.25, kind="missing step"),
            wrong("last key left out", "return [scores[:-1] for scores in all_scores]",
                  "The scores of the last key are missing. In a loop, range(N) already ends at N - 1.",
                  kind="missing step"),
            wrong("softmax already applied",
                  "return [list(torch.softmax(torch.stack(scores), dim=0)) for scores in all_scores]",
                  "Your results look like softmax weights. Softmax comes in a later exercise: return the scaled dot "
                  "products here.", kind="mix-up"),
            wrong("future hidden",
                  "hidden = torch.tensor(-math.inf)\n"
                  "return [scores[: n + 1] + [hidden] * len(scores[n + 1 :]) for n, scores in enumerate(all_scores)]",
                  "Later words are hidden in your scores, as with a causal mask. Here, compare every query with every "
                  "key.", kind="mix-up")),
        wrong("rows of all queries", {"row": "", "after rows": "scores = []"},
              "All your rows are the same, and each holds the scores of all queries. Every query needs its own list.",
              kind="missing step"),
        wrong("last query only", {"result": "return [all_scores[-1]] * len(all_scores)"},
              "Every row holds the scores of the last query, as if all rows were the same list. Row i belongs to query "
              "i.", credit=0.25, kind="missing step"),
        *at("compare",
            wrong("sign flipped", "score = -torch.sum(query * key)",
                  "The sign is wrong. A query and a key that point the same way should have a positive score."),
            wrong("absolute value", "score = abs(torch.sum(query * key))",
                  "Your scores are absolute values. Scores may be negative: keep the sign."),
            wrong("cosine similarity", "score = torch.sum(query * key) / (query.norm() * key.norm())",
                  "Your scores are cosines divided by √D. A score is the plain dot product divided by √D."),
            wrong("cosine similarity for the scaled score",
                  "score = torch.sum(query * key) / (query.norm() * key.norm())",
                  "Your scores are the cosines between query and key. A score is the dot product divided by √D.",
                  also={"scale": "scores.append(score)"}),
            wrong("not summed", "score = query * key",
                  "Your scores are entry-by-entry products that are not summed. A dot product is one number: add up "
                  "the products.", credit=0.25, kind="missing step"),
            wrong("outer product", "score = query @ key.T",
                  "Each of your scores is a (D, D) matrix, the outer product. The dot product, q.T @ k, is one "
                  "number."),
            wrong("added instead of multiplied", "score = torch.sum(query + key)",
                  "Your scores look as if query and key were added. A dot product multiplies their entries, then adds "
                  "up the products."),
            wrong("distance", "score = torch.norm(query - key)",
                  "Your scores are distances between query and key. The score is their dot product.")),
        *at("before rows",
            wrong("keys with keys", "all_queries = all_keys",
                  "Your scores compare keys with keys. Use a query as the first vector.", kind="mix-up"),
            wrong("queries with queries", "all_keys = all_queries",
                  "Your scores compare queries with queries. Use a key as the second vector.", kind="mix-up"),
            numbers_of_words.as_many_keys("all_keys = [all_keys[n] for n in range(len(all_queries))]"),
            numbers_of_words.as_many_queries("all_queries = [all_queries[n] for n in range(len(all_keys))]")),
    ],
)
# fmt: on
