"""Exercise 19: attention from one sequence to another, with a mask for padding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, Misconception, at, randn, wrong
from grader.kit.module_cases import (
    OTHERS_CHANGED,
    SECOND_CALL,
    about_minus_ten_thousand,
    beside_numbers,
    draw_weights,
)
from grader.kit.module_readings import reader

from .attention_cases import MakeMask, for_all, padding, scattered, unmasked
from .ex18_split_heads import exercise as one_text
from .mistakes import attention, given_masks, mistakes_named

Tensor = torch.Tensor

LAYERS = ("values", "keys", "queries", "fc_out")


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        if embed_size % heads != 0:  #: fits
            raise ValueError(f"embed_size = {embed_size} is not divisible by heads = {heads}")
        self.heads = heads
        self.head_dim = embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)  #: projections
        self.keys = nn.Linear(embed_size, embed_size, bias=False)  #: projections
        self.queries = nn.Linear(embed_size, embed_size, bias=False)  #: projections
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)  #: fc_out

    def forward(self, values, keys, query, mask=None):
        v = self.values(values)  # (N, S, E)  #: value
        k = self.keys(keys)  # (N, S, E)  #: key
        q = self.queries(query)  # (N, T, E)  #: query
        v, k, q = (y.reshape(*y.shape[:2], self.heads, -1).transpose(1, 2) for y in (v, k, q))  # (N, H, …, d)  #: split

        scores = q @ k.transpose(2, 3)  # (N, H, T, S)  #: scores
        scores = scores / math.sqrt(self.head_dim)  #: scale
        if mask is not None:  #: given
            scores = scores.masked_fill(mask == 0, -math.inf)  #: hide
        weights = torch.softmax(scores, dim=-1)  # (N, H, T, S)  #: normalize

        context = torch.einsum("nhqk,nhkd->nhqd", weights, v)  # (N, H, T, d)  #: mix
        context = context.transpose(1, 2).flatten(2)  # (N, T, E)  #: merge
        context = self.fc_out(context)  #: out
        return context  #: result


def sized(
    N: int, T: int, S: int, embed_size: int, heads: int, make_mask: MakeMask, **options: Any
) -> Callable[[torch.Generator], ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        weights = draw_weights(rng, {f"{name}.weight": [embed_size, embed_size] for name in LAYERS})
        sequences = [randn(rng, N, length, embed_size) for length in (S, S, T)]
        mask = make_mask(rng, N, heads, T, S)
        if N > 2:
            sequences[1][:, 0] = 0  # a word whose scores are 0; code must not treat these as hidden
        calls: dict[str, list[Any]] = {"output": [*sequences, mask], SECOND_CALL: [*sequences, mask]}
        if N > 1:
            other_sequences = [torch.cat([sequence[:1], randn(rng, *sequence[1:].shape)]) for sequence in sequences]
            calls[OTHERS_CHANGED] = [*other_sequences, mask]
        if mask is not None:
            calls["output for one more sentence, without a mask"] = [torch.cat([each, each[:1]]) for each in sequences]
        return ClassCase([embed_size, heads], weights, calls, **options)

    return inputs


def with_large_padding(rng: torch.Generator) -> ClassCase:
    """Hidden words whose scores would be by far the largest for about half of the queries."""
    case = sized(2, 4, 5, 6, 3, padding(torch.bool))(rng)
    values, keys, query, mask = case.calls["output"]
    keys = torch.where(mask[:, 0, 0, :, None], keys, 300 * keys)  # (N, S, embed_size)
    return replace(case, calls={"output": [values, keys, query, mask]})


# Splits each sequence by the length that it should have, so that wrong sequences of other lengths raise an error.
LENGTHS_KEPT = (
    "v, k, q = (y.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)"
    " for x, y in ((values, v), (keys, k), (query, q)))"
)


def also_with_lengths_kept(*mistakes: Misconception) -> list[Misconception]:
    return [mistake.add_way({**mistake.change, "split": LENGTHS_KEPT}) for mistake in mistakes]


whole, boolean = torch.int64, torch.bool
# fmt: off
exercise = Exercise(
    number=19,
    assignment="multi_head_attention",
    title="Encoder and decoder",
    solution=SelfAttention,
    form=MODULE,
    read=reader(SelfAttention, like=2),
    cases=[
        Case("one sentence", catches="missing gradients, √embed_size for √head_dim",
             inputs=sized(1, 5, 3, 8, 2, unmasked, gradients=3)),
        Case("several sentences", catches="sentences that are mixed, sequences that are mixed up",
             inputs=sized(3, 4, 5, 6, 3, unmasked, gradients=3)),
        Case("padded sentences", catches="a mask that is ignored, inverted, or applied after softmax",
             inputs=sized(3, 2, 6, 10, 2, padding(whole), gradients=3)),
        Case("a mask of true and false", catches="masks that are used as numbers",
             inputs=sized(2, 3, 7, 6, 2, padding(boolean))),
        Case("a mask for each query", catches="a mask that hides queries",
             inputs=sized(2, 4, 6, 9, 3, scattered(whole), gradients=3)),
        Case("a mask of true and false for each query", catches="masks that are used as numbers",
             inputs=sized(2, 5, 3, 4, 2, scattered(boolean))),
        Case("a mask for each head", catches="a mask that is cut or viewed",
             inputs=sized(2, 2, 4, 12, 3, scattered(whole, for_heads=True))),
        Case("one mask for all sentences", catches="a mask that is cut up by sentences",
             inputs=sized(3, 4, 5, 6, 2, for_all),
             beside="Your code is right, except for a mask of shape (1, 1, T, S), which is the same for all sentences. "
             "Accept any shape that broadcasts to (N, H, T, S)."),
        Case("one length for all", catches="lengths that are mixed up without an error",
             inputs=sized(2, 5, 5, 6, 2, scattered(whole), gradients=3)),
        Case("as many sentences, heads and words",
             catches="a softmax over the wrong dimension that has the right shape",
             inputs=sized(3, 3, 3, 12, 3, padding(whole))),
        Case("a single query", catches="squeezed dimensions", inputs=sized(2, 1, 4, 6, 3, padding(whole))),
        Case("a single key", catches="squeezed dimensions", inputs=sized(2, 3, 1, 4, 2, unmasked)),
        Case("one feature in each head", catches="squeezed dimensions", inputs=sized(2, 3, 4, 5, 5, scattered(whole))),
        Case("one head", catches="a number of heads that is not the argument",
             inputs=sized(2, 4, 3, 7, 1, padding(whole))),
        Case("in training", catches="dropout that is active all the time",
             inputs=sized(2, 3, 5, 8, 4, padding(whole), train=True)),
        Case("features that cannot be split", catches="a check of embed_size and heads that is missing",
             inputs=lambda rng: ClassCase([7, 2], impossible=True)),
        Case("more heads than features", catches="a check of embed_size and heads that is missing",
             inputs=lambda rng: ClassCase([3, 6], impossible=True)),
        Case("what stands under padding", catches="words that are hidden after the softmax only, and then renormalized",
             inputs=with_large_padding,
             beside="Your code is right unless a hidden word would have by far the largest score. Then no weight is "
             "left for the visible words. Hide words before the softmax, so that its largest number is a "
             "visible one."),
        *beside_numbers(sized(2, 4, 5, 6, 3, padding(boolean))),
        about_minus_ten_thousand(sized(2, 4, 5, 6, 3, padding(boolean)), head_dim=2),
    ],
    mistakes=[
        *attention.of_split_heads("before mix", "flatten(2)"),
        wrong("sentences mixed up in merging",
              {"merge": "context = context.transpose(0, 1).reshape(len(context), context.shape[2], -1)"},
              "Your results look as if the heads had been merged while they came before the sentences of the batch, "
              "which mixes up sentences and words. Put all heads of a word side by side.", kind="arrangement"),
        wrong("result normalized",
              {"after fc_out": "self.norm = nn.LayerNorm(embed_size)", "after out": "context = self.norm(context)"},
              "Your results look as if a LayerNorm came after fc_out. That belongs in the block around attention. "
              "Return the output of fc_out.", kind="mix-up"),
        *at("scale",
            wrong("scaled by √embed_size", "scores = scores / math.sqrt(self.heads * self.head_dim)",
                  "The scores that you use are divided by √embed_size. The keys of one head have head_dim entries, so "
                  "divide by the root of that.", credit=0.75, kind="scaling"),
            wrong("scaled by √heads", "scores = scores / math.sqrt(self.heads)",
                  "The scores that you use are divided by the root of the number of heads. Divide by √head_dim.",
                  kind="scaling"),
            wrong("scaled by √S", "scores = scores / math.sqrt(k.shape[2])",
                  "The scores that you use are divided by the root of the number of keys. Divide by √head_dim.",
                  kind="scaling"),
            wrong("scaled by √T", "scores = scores / math.sqrt(q.shape[2])",
                  "The scores that you use are divided by the root of the number of queries. Divide by √head_dim.",
                  kind="scaling"),
            wrong("divided by T", "scores = scores / q.shape[2]",
                  "The scores that you use are divided by the number of queries. Divide by √head_dim.", kind="scaling"),
            wrong("divided by √8", "scores = scores / math.sqrt(8)",
                  "Your scores are divided by √8, whatever the sizes are. Divide by √head_dim.", kind="hard-coded")),
        *mistakes_named(one_text.mistakes, "queries and keys exchanged"),
        *at("value",
            wrong("keys weighed", "v = self.keys(keys)",
                  "Your results are weighted sums of the keys. Apply the weights to the projected values.",
                  kind="mix-up"),
            wrong("values made of the keys", ("(values)", "(keys)"),
                  "Your values are made by self.values, but from keys. Apply it to values.", kind="mix-up")),
        wrong("keys made of the values", {"key": ("(keys)", "(values)")},
              "Your keys are made by self.keys, but from values. Apply it to keys.", kind="mix-up"),
        *also_with_lengths_kept(
            wrong("values made of the query", {"value": ("(values)", "(query)")},
                  "Your values are made by self.values, but from query. Apply it to values.", kind="mix-up"),
            wrong("keys made of the query", {"key": ("(keys)", "(query)")},
                  "Your keys are made by self.keys, but from query. Apply it to keys.", kind="mix-up"),
            wrong("queries made of the keys", {"query": ("(query)", "(keys)")},
                  "Your queries are made by self.queries, but from keys. Apply it to query.", kind="mix-up"),
            wrong("keys and query exchanged", {"key": ("(keys)", "(query)"), "query": ("(query)", "(keys)")},
                  "Your keys are made from query, and your queries from keys. Swap the two.", kind="mix-up"),
            wrong("everything made of the query", {"value": ("(values)", "(query)"), "key": ("(keys)", "(query)")},
                  "In your results, values and keys are made from query. They come from the other sequence: use the "
                  "arguments values and keys.", kind="mix-up"),
            wrong("everything made of the values", {"key": ("(keys)", "(values)"), "query": ("(query)", "(values)")},
                  "In your results, keys and queries are made from values. Use the arguments keys and query.",
                  kind="mix-up")),
        wrong("values and keys exchanged", {"value": ("(values)", "(keys)"), "key": ("(keys)", "(values)")},
              "Values and keys are swapped in your results. The order is forward(values, keys, query, mask).",
              kind="mix-up"),
        wrong("queries from the layer of keys", {"query": ("self.queries", "self.keys")},
              "Your queries come from self.keys. Use self.queries.", kind="mix-up"),
        wrong("keys from the layer of queries", {"key": ("self.keys", "self.queries")},
              "Your keys come from self.queries. Use self.keys.", kind="mix-up"),
        wrong("layers of values and keys exchanged",
              {"value": ("self.values", "self.keys"), "key": ("self.keys", "self.values")},
              "In your results, the keys come from self.values, and the values from self.keys. Swap the two layers.",
              kind="mix-up"),
        wrong("layers of keys and queries exchanged",
              {"key": ("self.keys", "self.queries"), "query": ("self.queries", "self.keys")},
              "In your results, the queries come from self.keys, and the keys from self.queries. Swap the two layers.",
              kind="mix-up"),
        wrong("keys and values both weighed as keys", {"value": ("self.values", "self.keys")},
              "Your keys and values both come from self.keys. Use self.values for the values.", kind="mix-up"),
        wrong("self.values for all", {"key": ("self.keys", "self.values"), "query": ("self.queries", "self.values")},
              "Your keys, values and queries all come from self.values. Keys and queries have their own layers: use "
              "those.", kind="mix-up"),
        wrong("arguments in the order query, keys, values", {"before value": "values, query = query, values"},
              "Your results look as if query were the first argument of forward. The arguments are (values, keys, "
              "query, mask), in this order.", kind="mix-up"),
        wrong("one length for all", {"before value": "T = query.shape[1]", "split": ("*y.shape[:2]", "len(y), T")},
              "Your code works only if there are as many keys as queries. Somewhere, it uses a length or an axis of "
              "one where it needs the other's. Check the shape after each step.", kind="input"),
        wrong("values not projected", {"after value": "v = values"},
              "Your results use the values without projecting them. Apply the weights to self.values(values).",
              kind="missing step"),
        wrong("nothing projected", {"after value": "v = values", "after key": "k = keys", "after query": "q = query"},
              "Your results use values, keys and query without projecting them. Project each with its own layer first.",
              credit=0.25, kind="missing step"),
        wrong("words mixed up in splitting",
              {"split": "v, k, q = (y.reshape(len(y), self.heads, y.shape[1], -1) for y in (v, k, q))"},
              "Your results look as if (N, length, embed_size) had been reshaped to (N, heads, length, head_dim), "
              "which mixes up words. Reshape to (N, length, heads, head_dim), then swap the two dimensions in the "
              "middle.", kind="arrangement"),
        wrong("words mixed up in merging", {"merge": "context = context.reshape(len(context), context.shape[2], -1)"},
              "Your results look as if the heads had been merged while they came before the words, which mixes up "
              "words. First turn (N, heads, T, head_dim) into (N, T, heads, head_dim).", kind="arrangement"),
        wrong("heads interleaved",
              {"split": "v, k, q = (y.reshape(*y.shape[:2], -1, self.heads).permute(0, 3, 1, 2) for y in (v, k, q))"},
              "In your results, features are dealt out to the heads in turn. Head 1 should take the first head_dim "
              "features: reshape to (N, length, heads, head_dim), in this order.", kind="arrangement"),
        wrong("features interleaved in merging", {"merge": "context = context.permute(0, 2, 3, 1).flatten(2)"},
              "In your result, the features of the heads take turns. All those of head 1 should come first: nqhd, then "
              "reshape.", kind="arrangement"),
        wrong("features dealt out in splitting and merging",
              {"split": "v, k, q = (y.reshape(*y.shape[:2], -1, self.heads).permute(0, 3, 1, 2) for y in (v, k, q))",
               "merge": "context = context.permute(0, 2, 3, 1).flatten(2)"},
              "In your results, features are dealt out to the heads in turn, and collected the same way. Head 1 should "
              "take the first head_dim features: reshape to (N, length, heads, head_dim), in this order.",
              kind="arrangement"),
        wrong("words and heads exchanged",
              {"split": "v, k, q = (y.reshape(*y.shape[:2], self.heads, -1) for y in (v, k, q))",
               "merge": "context = context.flatten(2)"},
              "In your results, the heads of one word look at each other. Give the scores the shape (N, heads, T, S): "
              "nqhd,nkhd->nhqk.", kind="axis"),
        wrong("words and heads exchanged twice",
              {"split": "v, k, q = (y.reshape(*y.shape[:2], self.heads, -1) for y in (v, k, q))",
               "merge": "context = context.transpose(1, 2).reshape(*context.shape[:2], -1)"},
              "In your results, the heads of one word look at each other, as when queries and keys are turned to (N, "
              "heads, length, d), and an einsum for (N, length, heads, d) follows. Leave out the turn, or write "
              "nhqd,nhkd in the einsum.", kind="axis"),
        wrong("heads and head_dim exchanged", {"split": ("self.heads", "self.head_dim")},
              "Your results look as if there were head_dim heads with `heads` features each. Reshape to (N, length, "
              "heads, head_dim).", kind="mix-up"),
        wrong("one head", {"split": ("self.heads", "1"), "scale": "scores = scores / math.sqrt(k.shape[-1])"},
              "Your results look as if one head had all features, scaled by √embed_size. Split the features among the "
              "heads.", kind="input"),
        wrong("one head, scaled by √head_dim", {"split": ("self.heads", "1")},
              "Your results look as if scores had been summed over all features, as in a single head. Keep the heads "
              "apart: nqhd,nkhd->nhqk.", kind="input"),
        wrong("eight heads", {"split": ("self.heads", "8"), "scale": "scores = scores / math.sqrt(k.shape[-1])"},
              "Your results look as if there were eight heads, whatever heads is. Take their number from the argument.",
              kind="hard-coded"),
        wrong("weights transposed", {"mix": "context = weights.transpose(2, 3) @ v"},
              "Your results look as if the weights were transposed. Row i belongs to query i: nhqk,nkhd->nqhd.",
              kind="axis"),
        wrong("one layer for all",
              {"projections": "self.values = self.keys = self.queries = nn.Linear(embed_size, embed_size, bias=False)"},
              "values, keys and queries are one and the same layer. Make three separate layers.", kind="mix-up"),
        wrong("weights and values summed", {"mix": "context = weights.sum(-1, keepdim=True) * v.sum(2, keepdim=True)"},
              "Your results look as if the weights had been summed before they meet the values. In einsum, give keys "
              "and values the same letter: nhqk,nkhd->nqhd."),
        wrong("products of sums", {"scores": "scores = q.sum(-1)[..., :, None] * k.sum(-1)[..., None, :]"},
              "Your results look as if features had been summed before queries and keys meet. In einsum, give the "
              "features the same letter in both: nqhd,nkhd->nhqk."),
        *given_masks.MISTAKES,
        *at("result",
            wrong("first sentence only", "return context[0]",
                  "You return only one sentence of the batch. The result should have shape (N, T, embed_size).",
                  credit=0.25, kind="missing step"),
            wrong("result transposed", "return context.transpose(1, 2)",
                  "In your result, words and features are swapped. Return shape (N, T, embed_size).",
                  kind="convention")),
        wrong("query added", {"out": "context = self.fc_out(context) + query"},
              "The query is added to your result (a residual connection). That belongs in the block around attention. "
              "Return the output of fc_out.", kind="mix-up"),
        wrong("fc_out missing", {"fc_out": "", "out": ""},
              "Your module has no fc_out. Make it in __init__, without bias, and apply it last.", kind="missing step"),
        *at("out",
            wrong("fc_out without effect", "",
                  "Your result is the merged heads, without fc_out. Return the output of self.fc_out(…).",
                  kind="missing step"),
            wrong("fc_out applied twice", "context = self.fc_out(self.fc_out(context))",
                  "Your result looks as if fc_out had been applied twice. Once is enough."),
            wrong("fc_out transposed", "context = context @ self.fc_out.weight",
                  "Your result looks as if the weight of fc_out had been used without its transpose. Call "
                  "self.fc_out(…).", kind="arrangement")),
        wrong("fc_out before merging", {"fc_out": ("embed_size, embed_size", "self.head_dim, self.head_dim")},
              "Your fc_out has the size of one head. Merge the heads first, then project embed_size features.",
              kind="arrangement"),
        wrong("fc_out detached", {"out": "context = context @ self.fc_out.weight.data.T"},
              "No gradient reaches fc_out. Call self.fc_out(…), without .data or detach.", kind="gradient"),
        *at("projections",
            wrong("layers of one head", ("embed_size, embed_size", "self.head_dim, self.head_dim"),
                  "At least one of your layers projects head_dim features, in the same way for each head. Make every "
                  "layer embed_size to embed_size, apply it first, and then split.", kind="mix-up"),
            wrong("embed_size features in each head", ("embed_size, embed_size", "embed_size, heads * embed_size"),
                  "Your layers make embed_size features for each head. All heads together should have embed_size.",
                  kind="mix-up")),
        wrong("divisibility not enforced", {"fits": ""},
              "Your class accepts an embed_size that is not divisible by heads. Raise an error in __init__ instead.",
              credit=0.75, kind="missing step"),
        wrong("biased projections", {"projections": ("False", "True")},
              "Your projections have a bias. Leave it out here: nn.Linear(…, bias=False).", credit=0.75, kind="input"),
        wrong("fc_out with a bias", {"fc_out": ("False", "True")},
              "Your fc_out has a bias. Leave it out here: nn.Linear(…, bias=False).", credit=0.75, kind="input"),
        wrong("bias everywhere", {"projections": ("False", "True"), "fc_out": ("False", "True")},
              "Your layers have a bias. Leave it out here: nn.Linear(…, bias=False).", credit=0.75, kind="input"),
        wrong("values detached", {"after value": "v = v.detach()"},
              "No gradient reaches values. Use them without detach and .data.", kind="gradient"),
        wrong("keys detached", {"after key": "k = k.detach()"},
              "No gradient reaches keys. Use them without detach and .data.", kind="gradient"),
        wrong("queries detached", {"after query": "q = q.detach()"},
              "No gradient reaches query. Compute the queries without detach and .data.", kind="gradient"),
        wrong("weights detached", {"after query": "q = q.detach()", "after key": "k = k.detach()"},
              "No gradient reaches keys and query. Compute scores and weights without detach and .data.",
              kind="gradient"),
        *attention.of_modules("fc_out"),
    ],
)
# fmt: on
