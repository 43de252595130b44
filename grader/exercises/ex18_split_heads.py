"""Exercise 18: one projection, split into heads of causal attention."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, at, wrong
from grader.kit.module_cases import WORDS, about_minus_ten_thousand, beside_numbers, dropout_trial
from grader.kit.module_readings import picture_of_future, reader

from . import attention_cases
from .ex16_causal_attention import wrong_buffer
from .mistakes import attention

Tensor = torch.Tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:  #: fits
            raise ValueError(f"d_out = {d_out} is not divisible by num_heads = {num_heads}")
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.out_proj = nn.Linear(d_out, d_out)  #: out_proj
        self.dropout = nn.Dropout(dropout)  #: rate
        mask = torch.ones(context_length, context_length).triu(diagonal=1)  #: size
        self.register_buffer("mask", mask)  #: buffer

    def forward(self, x):
        B, T, _ = x.shape  #: sizes
        q = self.W_query(x)  # (B, T, d_out)  #: query
        k = self.W_key(x)  #: key
        v = self.W_value(x)  #: value
        q, k, v = (y.view(B, T, self.num_heads, -1).transpose(1, 2) for y in (q, k, v))  # (B, H, T, d)  #: split

        scores = q @ k.transpose(2, 3)  # (B, H, T, T)  #: scores
        scores = scores / math.sqrt(self.head_dim)  #: scale
        mask = self.mask[:T, :T] == 1  # later words  #: crop
        scores = scores.masked_fill(mask, -math.inf)  #: hide
        weights = torch.softmax(scores, dim=-1)  #: normalize
        weights = self.dropout(weights)  #: drop

        context = weights @ v  # (B, H, T, d)  #: mix
        context = context.transpose(1, 2).reshape(B, T, -1)  # (B, T, d_out)  #: merge
        context = self.out_proj(context)  #: out
        return context  #: result


def shapes(d_in: int, d_out: int, _heads: int, bias: bool) -> dict[str, list[int]]:
    """The shapes of all parameters, by name."""
    of_projections = attention_cases.projection_shapes(d_in, d_out, bias)
    return of_projections | {"out_proj.weight": [d_out, d_out], "out_proj.bias": [d_out]}


sized = attention_cases.texts_for_heads(shapes)


def with_dropout(rng: torch.Generator) -> ClassCase:
    p, heads = attention_cases.some_rate(rng), 2

    def weights(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Tensor]:
        draws = attention_cases.by_name(for_scores, for_values)
        projections = {name: torch.cat([draw() for _ in range(heads)]) for name, draw in draws.items()}
        d_out = len(projections["W_value.weight"])
        return projections | {"out_proj.weight": torch.eye(d_out), "out_proj.bias": torch.zeros(d_out)}

    return dropout_trial(rng, lambda d_in, d_head: [d_in, heads * d_head, WORDS + 2, p, heads], weights)


# fmt: off
exercise = Exercise(
    number=18,
    assignment="multi_head_attention",
    title="Split into heads",
    solution=MultiHeadAttention,
    form=MODULE,
    picture=picture_of_future,
    explained_in=dict.fromkeys(
        ("words mixed up in splitting", "words mixed up in merging", "heads interleaved"), "why-view-alone"
    ),
    read=reader(MultiHeadAttention, causal=True, mask=wrong_buffer),
    cases=[
        Case("one sentence", catches="missing gradients, √d_in or √d_out for √head_dim",
             inputs=sized(1, 5, 3, 8, 2, 5, gradients=1)),
        Case("several sentences", catches="sentences that are mixed, a split without transpose",
             inputs=sized(3, 4, 5, 6, 3, 4, gradients=1)),
        Case("as many sentences as words", catches="a softmax over sentences that has the right shape",
             inputs=sized(4, 4, 2, 6, 2, 4)),
        Case("as many heads as words", catches="words and heads that are exchanged without an error",
             inputs=sized(2, 4, 3, 12, 4, 4)),
        Case("a longer text", catches="a mask for six words", inputs=sized(2, 8, 4, 6, 2, 9)),
        Case("shorter than the context", catches="a mask that is not cut to the text",
             inputs=sized(2, 3, 4, 10, 2, 8, gradients=1)),
        Case("outputs as long as inputs", catches="missing projections", inputs=sized(2, 5, 6, 6, 2, 7)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(2, 1, 3, 6, 3, 4)),
        Case("one feature in each head", catches="squeezed dimensions", inputs=sized(2, 6, 4, 3, 3, 7)),
        Case("one head", catches="a number of heads that is not the argument", inputs=sized(2, 4, 3, 5, 1, 6)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(2, 5, 3, 4, 2, 6, bias=True, gradients=1)),
        Case("in training, with a rate of 0", catches="a rate that is not the argument",
             inputs=sized(2, 4, 3, 6, 2, 4, train=True, gradients=1)),
        Case("not in training", catches="dropout that is always active", inputs=sized(2, 5, 4, 9, 3, 5, dropout=0.5)),
        Case("in training", catches="dropout that is missing, elsewhere, or not scaled", inputs=with_dropout),
        Case("features that cannot be split", catches="a check of d_out and num_heads that is missing",
             inputs=lambda rng: ClassCase([4, 7, 5, 0.0, 2], impossible=True)),
        Case("more heads than features", catches="a check of d_out and num_heads that is missing",
             inputs=lambda rng: ClassCase([6, 3, 5, 0.0, 6], impossible=True)),
        *beside_numbers(sized(2, 5, 3, 6, 2, 6)),
        about_minus_ten_thousand(sized(2, 5, 3, 6, 2, 6), head_dim=3),
    ],
    mistakes=[
        *attention.of_split_heads("before drop", "reshape(B, T, -1)"),
        wrong("sentences mixed up in merging", {"merge": "context = context.transpose(0, 1).reshape(B, T, -1)"},
              "Your results look as if the heads had been merged while they came before the sentences of the batch, "
              "which mixes up sentences and words. Put all heads of a word side by side.", kind="arrangement"),
        wrong("result normalized",
              {"after buffer": "self.norm = nn.LayerNorm(d_out)", "after out": "context = self.norm(context)"},
              "Your results look as if a LayerNorm came after out_proj. That belongs in the block around attention. "
              "Return the output of out_proj.", kind="mix-up"),
        *attention.MASKED,
        *attention.DROPOUT,
        *at("scale",
            wrong("scaled by √d_out", "scores = scores / math.sqrt(self.W_query.out_features)",
                  "The scores that you use are divided by √d_out. The keys of one head have head_dim entries, so "
                  "divide by the root of that.", credit=0.75, kind="scaling"),
            wrong("scaled by √d_in", "scores = scores / math.sqrt(x.shape[-1])",
                  "The scores that you use are divided by √d_in. The keys of one head have head_dim entries, so divide "
                  "by the root of that.", credit=0.75, kind="scaling"),
            wrong("scaled by √num_heads", "scores = scores / math.sqrt(self.num_heads)",
                  "The scores that you use are divided by √num_heads. Divide by √head_dim: after the transpose, "
                  "head_dim is keys.shape[-1].", kind="scaling"),
            wrong("scaled by √T", "scores = scores / math.sqrt(T)",
                  "The scores that you use are divided by the root of the number of words. Divide by √head_dim.",
                  kind="scaling"),
            wrong("divided by T", "scores = scores / T",
                  "The scores that you use are divided by the number of words. Divide by √head_dim.", kind="scaling"),
            wrong("scaled by √context_length", "scores = scores / math.sqrt(len(self.mask))",
                  "The scores that you use are divided by √context_length. Divide by √head_dim.", kind="scaling"),
            wrong("divided by √8", "scores = scores / math.sqrt(8)",
                  "Your scores are divided by √8, whatever the sizes are. Divide by √head_dim: keys.shape[-1] ** 0.5.",
                  kind="hard-coded")),
        wrong("queries and keys exchanged", {"scores": "scores = k @ q.transpose(2, 3)"},
              "Queries and keys are swapped in your results. Row i of the scores should compare query i with every "
              "key.", kind="mix-up"),
        *at("value",
            wrong("keys as values", "v = self.W_key(x)",
                  "Your results are weighted sums of the keys. Apply the weights to the values, W_value(x).",
                  kind="mix-up"),
            wrong("queries as values", "v = self.W_query(x)",
                  "Your results are weighted sums of the queries. Apply the weights to the values, W_value(x).",
                  kind="mix-up")),
        wrong("queries as keys", {"key": "k = self.W_query(x)"},
              "Your results look as if queries were compared with queries. Compare them with the keys, W_key(x).",
              kind="mix-up"),
        wrong("keys and values exchanged", {"key": "k = self.W_value(x)", "value": "v = self.W_key(x)"},
              "Keys and values are swapped in your results. Compare queries with W_key(x), and apply the weights to "
              "W_value(x).", kind="mix-up"),
        wrong("values not projected", {"after value": "v = x"},
              "Your results are weighted sums of x itself. Apply the weights to the values, W_value(x).",
              kind="missing step"),
        wrong("words mixed up in splitting",
              {"split": "q, k, v = (y.view(B, self.num_heads, T, -1) for y in (q, k, v))"},
              "Your results look as if (B, T, d_out) had been viewed as (B, num_heads, T, head_dim), which mixes up "
              "words. View as (B, T, num_heads, head_dim), then use what transpose(1, 2) returns.", kind="arrangement"),
        wrong("words mixed up in merging", {"merge": "context = context.reshape(B, T, -1)"},
              "Your results look as if the heads had been merged while they came before the words, which mixes up "
              "words. Use what transpose(1, 2) returns, and then contiguous().view(B, T, d_out) of that.",
              kind="arrangement"),
        wrong("heads interleaved",
              {"split": "q, k, v = (y.view(B, T, -1, self.num_heads).permute(0, 3, 1, 2) for y in (q, k, v))"},
              "In your results, features are dealt out to the heads in turn. Head 1 should take the first head_dim "
              "features: view as (B, T, num_heads, head_dim), then transpose(1, 2).", kind="arrangement"),
        wrong("features interleaved in merging", {"merge": "context = context.permute(0, 2, 3, 1).reshape(B, T, -1)"},
              "In your result, the features of the heads take turns. All those of head 1 should come first: "
              "transpose(1, 2), then view(B, T, d_out).", kind="arrangement"),
        wrong("features dealt out in splitting and merging",
              {"split": "q, k, v = (y.view(B, T, -1, self.num_heads).permute(0, 3, 1, 2) for y in (q, k, v))",
               "merge": "context = context.permute(0, 2, 3, 1).reshape(B, T, -1)"},
              "In your results, features are dealt out to the heads in turn, and collected the same way. Head 1 should "
              "take the first head_dim features: view as (B, T, num_heads, head_dim), then transpose(1, 2).",
              kind="arrangement"),
        wrong("words and heads exchanged",
              {"split": "q, k, v = (y.view(B, T, self.num_heads, -1) for y in (q, k, v))",
               "merge": "context = context.reshape(B, T, -1)"},
              "In your results, the heads of one word look at each other. Give scores and values the shape (B, "
              "num_heads, T, …), which transpose(1, 2) returns.", kind="axis"),
        wrong("num_heads and head_dim exchanged", {"split": ("self.num_heads", "self.head_dim")},
              "Your results look as if there were head_dim heads with num_heads features each. View as (B, T, "
              "num_heads, head_dim).", kind="mix-up"),
        wrong("one head", {"split": ("self.num_heads", "1"), "scale": "scores = scores / math.sqrt(k.shape[-1])"},
              "Your results look as if one head had all features, scaled by √d_out. Split the features among num_heads "
              "heads.", kind="input"),
        wrong("one head, scaled by √head_dim", {"split": ("self.num_heads", "1")},
              "Your results look as if one head had all features. Split them among num_heads heads.", kind="input"),
        wrong("two heads", {"split": ("self.num_heads", "2"), "scale": "scores = scores / math.sqrt(k.shape[-1])"},
              "Your results look as if there were two heads, whatever num_heads is. Split the features among num_heads "
              "heads.", kind="hard-coded"),
        attention.ONE_LAYER,
        *attention.FUTURE,
        wrong("mask inverted", {"hide": "scores = scores.masked_fill(~mask, -math.inf)"},
              "In your results, the past and the word itself are hidden, although they should be seen. Put −∞ above "
              "the diagonal only.", kind="mix-up"),
        *attention.OWN_WORD,
        *at("hide",
            wrong("zeros for −∞", "scores = scores.masked_fill(mask, 0)",
                  "In your results, hidden scores count as 0, or nearly 0, and softmax turns each into exp(0) = 1. "
                  "Set them to −∞."),
            wrong("−1 for −∞",
                  ["scores = scores.masked_fill(mask, -1 / math.sqrt(self.head_dim))",
                   "scores = scores.masked_fill(mask, -1)"],
                  "In your results, hidden scores count as −1, so softmax still sees them. Set them to −∞.")),
        *attention.HIDDEN_LATE,
        *attention.HIDDEN_BY_VALUE,
        attention.HIDDEN_BY_A_NUMBER,
        wrong("context length 6", {"size": "mask = torch.ones(6, 6).triu(diagonal=1)"},
              "Your module works for at most six words. Its mask should have the size context_length.",
              kind="hard-coded"),
        *at("hide",
            wrong("mask on the first head only",
                  "scores = torch.cat([scores[:, :1].masked_fill(mask, -math.inf), scores[:, 1:]], dim=1)",
                  "The future is hidden from the first head only. Use the same mask for all heads.",
                  kind="missing step"),
            wrong("mask on the first sentence only",
                  "scores = torch.cat([scores[:1].masked_fill(mask, -math.inf), scores[1:]])",
                  "The future is hidden in the first sentence of the batch only. Use the same mask for all sentences.",
                  kind="missing step")),
        *at("normalize",
            wrong("softmax over queries", "weights = torch.softmax(scores, dim=2)",
                  "Your weights are normalized over the queries (dim=2 of the scores). Normalize over the keys: "
                  "dim=-1.", kind="axis"),
            wrong("softmax over heads",
                  ["weights = torch.softmax(scores, dim=1)",
                   {"hide": "scores = scores.masked_fill(mask, -1e9)",
                    "normalize": "weights = torch.softmax(scores, dim=1)"}],
                  "Your weights are normalized over the heads (dim=1 of the scores). Normalize over the keys: dim=-1.",
                  kind="axis")),
        wrong("softmax over the batch",
              [{"normalize": "weights = torch.softmax(scores, dim=0)"},
               {"hide": "scores = scores.masked_fill(mask, -1e9)",
                "normalize": "weights = torch.softmax(scores, dim=0)"}],
              "Your weights are normalized over the sentences of the batch (dim=0 of the scores). Normalize over the "
              "keys: dim=-1.", kind="axis"),
        attention.SOFTMAX_MISSING,
        *at("result",
            wrong("last word only", "return context[:, -1]",
                  "You return only the last word of each sentence. The result should have shape (B, T, d_out).",
                  credit=0.25, kind="missing step"),
            wrong("result transposed", "return context.transpose(1, 2)",
                  "In your result, words and features are swapped. Return shape (B, T, d_out).",
                  kind="convention")),
        wrong("out_proj missing", {"out_proj": "", "out": ""},
              "Your module has no out_proj. Make it in __init__, nn.Linear(d_out, d_out), and apply it last.",
              kind="missing step"),
        *at("out",
            wrong("out_proj without effect", "",
                  "Your result is the merged heads, without out_proj. Return the output of self.out_proj(…).",
                  kind="missing step"),
            wrong("out_proj applied twice", "context = self.out_proj(self.out_proj(context))",
                  "Your result looks as if out_proj had been applied twice. Once is enough.")),
        *at("out_proj",
            wrong("out_proj without its bias", "self.out_proj = nn.Linear(d_out, d_out, bias=False)",
                  "Your out_proj has no bias. It should always have one: nn.Linear(d_out, d_out).",
                  credit=0.75, kind="missing step"),
            wrong("qkv_bias for out_proj", "self.out_proj = nn.Linear(d_out, d_out, bias=qkv_bias)",
                  "Your out_proj has a bias only if qkv_bias is True. It should always have one: nn.Linear(d_out, "
                  "d_out).", credit=0.75, kind="input"),
            wrong("out_proj before merging", "self.out_proj = nn.Linear(self.head_dim, self.head_dim)",
                  "Your out_proj has the size of one head. Merge the heads first, then project d_out features to "
                  "d_out.", kind="arrangement")),
        *at("out",
            wrong("out_proj transposed", "context = context @ self.out_proj.weight + self.out_proj.bias",
                  "Your result looks as if the weight of out_proj had been used without its transpose. Call "
                  "self.out_proj(…).", kind="arrangement"),
            wrong("out_proj detached",
                  "context = nn.functional.linear(context, self.out_proj.weight.data, self.out_proj.bias.data)",
                  "No gradient reaches out_proj. Call self.out_proj(…), without .data or detach.", kind="gradient")),
        *at("projections",
            wrong("projections of head_dim", ("d_out", "self.head_dim"),
                  "Your projections have head_dim features, enough for one head. Make them nn.Linear(d_in, d_out), "
                  "then split.", kind="mix-up"),
            wrong("projections of num_heads · d_out", ("d_out", "num_heads * d_out"),
                  "Your projections have num_heads · d_out features. Here, all heads together should have d_out: use "
                  "nn.Linear(d_in, d_out), then split.", kind="mix-up")),
        wrong("divisibility not enforced", {"fits": ""},
              "Your class accepts a d_out that is not divisible by num_heads. Raise an error in __init__ instead.",
              credit=0.75, kind="missing step"),
        *at("projections",
            wrong("always biased", ("bias=qkv_bias", "bias=True"),
                  "Your projections have a bias although qkv_bias is False. Pass bias=qkv_bias.",
                  credit=0.75, kind="input"),
            wrong("never biased", ("bias=qkv_bias", "bias=False"),
                  "Your projections have no bias when qkv_bias is True. Pass bias=qkv_bias.",
                  credit=0.75, kind="input")),
        wrong("heads detached", {"merge": "context = context.detach().transpose(1, 2).reshape(B, T, -1)"},
              "Gradients reach only out_proj. Leave out detach and .data before it.", kind="gradient"),
        wrong("input detached", {"before sizes": "x = x.detach()"},
              "No gradient reaches the input. Use x unchanged, without detach, .data or a copy.", kind="gradient"),
        attention.VALUES_DETACHED,
        wrong("keys detached", {"after key": "k = k.detach()"},
              "No gradient reaches W_key. Compute the keys without detach and .data.", kind="gradient"),
        attention.WEIGHTS_DETACHED,
        attention.MASK_NOT_KEPT,
        wrong("rate 1 − p", {"rate": "self.dropout = nn.Dropout(1 - dropout)"},
              "Weights are dropped with probability 1 − dropout. Use the argument itself: it is the rate of dropping."),
        *attention.DROPPED_SCORES,
        *attention.of_modules("buffer"),
        attention.RENORMALIZED,
    ],
)
# fmt: on
