"""Exercise 17: several heads of causal attention in a list, side by side."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, ModuleSeen, at, version, wrong
from grader.kit.module_cases import WORDS, beside_numbers, dropout_trial
from grader.kit.module_readings import picture_of_future, reader, wrong_mask

from . import attention_cases
from .ex16_causal_attention import CausalAttention

Tensor = torch.Tensor


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        heads = [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]  #: heads
        self.heads = nn.ModuleList(heads)  #: kept

    def forward(self, x):
        outputs = [head(x) for head in self.heads]  # (B, T, d_out) of each  #: run
        context = torch.cat(outputs, dim=-1)  # (B, T, num_heads * d_out)  #: join
        return context  #: result


Unscaled = version(CausalAttention, {"scale": ""})
Unmasked = version(CausalAttention, {"hide": ""})


def shapes(d_in: int, d_out: int, heads: int, bias: bool) -> dict[str, list[int]]:
    """The shapes of all parameters, by name."""
    of_one = attention_cases.projection_shapes(d_in, d_out, bias)
    return {f"heads.{h}.{name}": shape for h in range(heads) for name, shape in of_one.items()}


sized = attention_cases.texts_for_heads(shapes)


def with_dropout(rng: torch.Generator) -> ClassCase:
    p, heads = attention_cases.some_rate(rng), 2

    def weights(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Tensor]:
        draws = attention_cases.by_name(for_scores, for_values)
        return {f"heads.{h}.{name}": draw() for h in range(heads) for name, draw in draws.items()}

    return dropout_trial(rng, lambda d_in, d_out: [d_in, d_out, WORDS + 2, p, heads], weights)


def wrong_buffers(
    module_seen: ModuleSeen, _d_in: int, _d_out: int, context: int, _dropout: float, heads: int, *_bias: bool
) -> str:
    """A sentence on the first head with a wrong mask; empty if all are right."""
    return next(filter(None, (wrong_mask(module_seen, context, f"heads.{h}.") for h in range(heads))), "")


# fmt: off
exercise = Exercise(
    number=17,
    assignment="multi_head_attention",
    title="A list of heads",
    solution=MultiHeadAttentionWrapper,
    form=MODULE,
    picture=picture_of_future,
    read=reader(MultiHeadAttentionWrapper, causal=True, mask=wrong_buffers),
    cases=[
        Case("one sentence", catches="missing gradients, heads that share",
             inputs=sized(1, 5, 3, 4, 3, 5, gradients=1)),
        Case("several sentences", catches="sentences that are mixed", inputs=sized(3, 4, 5, 2, 2, 4, gradients=1)),
        Case("as many heads as sentences and words", catches="heads joined on another dimension",
             inputs=sized(3, 3, 2, 5, 3, 4)),
        Case("a longer text", catches="a context length that is not the argument", inputs=sized(2, 8, 4, 3, 2, 9)),
        Case("shorter than the context", catches="a mask of another size", inputs=sized(2, 3, 4, 6, 2, 8, gradients=1)),
        Case("outputs as long as inputs", catches="heads in a chain, d_in and d_out exchanged",
             inputs=sized(2, 4, 3, 3, 3, 5)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(2, 1, 3, 5, 2, 4)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(2, 6, 4, 1, 4, 7)),
        Case("one head", catches="a number of heads that is not the argument", inputs=sized(2, 4, 5, 3, 1, 4)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(2, 5, 3, 2, 3, 6, bias=True, gradients=1)),
        Case("in training, with a rate of 0", catches="a rate that is not the argument",
             inputs=sized(2, 4, 3, 5, 2, 4, train=True, gradients=1)),
        Case("not in training", catches="dropout that is always active", inputs=sized(2, 5, 4, 3, 2, 5, dropout=0.5)),
        Case("in training", catches="a rate that is not passed on, dropout elsewhere", inputs=with_dropout),
        *beside_numbers(sized(2, 5, 3, 4, 2, 6)),
    ],
    mistakes=[
        *at("join",
            wrong("heads added", "context = torch.stack(outputs).sum(0)",
                  "Your result is the sum of the heads' outputs. Put them side by side: torch.cat(…, dim=-1)."),
            wrong("heads averaged", "context = torch.stack(outputs).mean(0)",
                  "Your result is the average of the heads' outputs. Put them side by side: torch.cat(…, dim=-1)."),
            wrong("heads multiplied", "context = torch.stack(outputs).prod(0)",
                  "Your result is the product of the heads' outputs. Put them side by side: torch.cat(…, dim=-1)."),
            wrong("largest head only", "context = torch.stack(outputs).amax(0)",
                  "Each entry of your result is the largest among the heads. Put their outputs side by side: "
                  "torch.cat(…, dim=-1)."),
            wrong("joined on the words", "context = torch.cat(outputs, dim=1)",
                  "In your result, the heads are joined along the words (dim=1). Join their features: torch.cat(…, "
                  "dim=-1).", kind="axis"),
            wrong("joined on the batch", "context = torch.cat(outputs, dim=0)",
                  "In your result, the heads are joined along the sentences (dim=0). Join their features: torch.cat(…, "
                  "dim=-1).", kind="axis"),
            wrong("stacked on a new last dimension", "context = torch.stack(outputs, dim=-1)",
                  "Your result has a new dimension for the heads, like the one that torch.stack makes. Join the "
                  "existing features with torch.cat.", kind="axis"),
            wrong("stacked on a new first dimension", "context = torch.stack(outputs)",
                  "Your result has an extra first dimension for the heads. Join their features: torch.cat(…, dim=-1).",
                  kind="axis"),
            wrong("stacked beside the words", "context = torch.stack(outputs, dim=2)",
                  "Your result has shape (B, T, num_heads, d_out). Join the last two dimensions, or use torch.cat.",
                  kind="axis"),
            wrong("stacked before the words", "context = torch.stack(outputs, dim=1)",
                  "Your result has shape (B, num_heads, T, d_out). Join the features: torch.cat(…, dim=-1).",
                  kind="axis"),
            wrong("heads not joined", "context = outputs",
                  "You return a list of the heads' outputs. Join them: torch.cat(…, dim=-1).", kind="missing step"),
            wrong("features interleaved", "context = torch.stack(outputs, dim=-1).flatten(-2)",
                  "In your result, the features of the heads take turns. All those of the first head should come "
                  "first: torch.cat(…, dim=-1).", kind="arrangement"),
            wrong("words mixed up in joining",
                  "context = torch.cat(outputs, dim=1).reshape(*outputs[0].shape[:-1], -1)",
                  "In your result, words are mixed up, as when the heads are joined along the words and then "
                  "reshaped. Use torch.cat(…, dim=-1).", kind="arrangement"),
            wrong("sentences mixed up in joining",
                  "context = torch.cat(outputs, dim=0).reshape(*outputs[0].shape[:-1], -1)",
                  "In your result, sentences are mixed up, as when the heads are joined along the batch and "
                  "then reshaped. Use torch.cat(…, dim=-1).", kind="arrangement"),
            wrong("heads in reverse order", "context = torch.cat(outputs[::-1], dim=-1)",
                  "The last head comes first. Join the outputs in the order of the heads.",
                  credit=0.75, kind="arrangement"),
            wrong("divided by the number of heads", "context = torch.cat(outputs, dim=-1) / len(outputs)",
                  "Your result is divided by the number of heads. Put the heads side by side, without averaging "
                  "anything.", kind="scaling")),
        *at("run",
            wrong("first head only", "outputs = [self.heads[0](x)]",
                  "You return only the output of the first head. Join the outputs of all heads: torch.cat(…, dim=-1).",
                  credit=0.25, kind="missing step"),
            wrong("last head only", "outputs = [self.heads[-1](x)]",
                  "Your result is the output of the last head, as when each one replaces the one before. Collect all "
                  "outputs and join them.", credit=0.25, kind="missing step"),
            wrong("first head's output repeated", "outputs = [self.heads[0](x)] * len(self.heads)",
                  "Your result repeats the output of the first head. Each head should give its own.", kind="mix-up")),
        wrong("the same head repeated", {"heads": (") for _ in range(num_heads)]", ")] * num_heads")},
              "All heads are one and the same, with the same weights: [head] * n does not copy the module. Make a new "
              "CausalAttention for each head.", kind="mix-up"),
        *at("run",
            wrong("heads in a chain", "outputs = []\nfor head in self.heads:\n    x = head(x)\n    outputs.append(x)",
                  "Your result looks as if each head got the output of the one before. Give x to all of them.",
                  kind="mix-up"),
            wrong("end of a chain", "for head in self.heads:\n    x = head(x)\noutputs = [x]",
                  "Your result looks as if the heads came one after the other, as in nn.Sequential. Give x to each "
                  "head, and join their outputs.", kind="mix-up")),
        *at("heads",
            wrong("one head", ("range(num_heads)", "range(1)"),
                  "There is one head, whatever num_heads is. Make num_heads of them.", kind="input"),
            wrong("two heads", ("range(num_heads)", "range(2)"),
                  "There are always two heads. Make num_heads of them.", kind="hard-coded"),
            wrong("one head too many", ("range(num_heads)", "range(num_heads + 1)"),
                  "There is one head more than num_heads. Use range(num_heads).", kind="input"),
            wrong("one head too few", ("range(num_heads)", "range(num_heads - 1)"),
                  "There is one head fewer than num_heads. Use range(num_heads).", kind="input")),
        wrong("heads not registered", {"kept": "self.heads = heads"},
              "Your module has no parameters, so nothing would be trained: modules in a plain list, or made in "
              "forward, do not count. Make the heads in __init__: self.heads = nn.ModuleList([…]).",
              credit=0.25, kind="missing step"),
        *at("heads",
            wrong("d_out split among the heads", ("d_out", "d_out // num_heads"),
                  "Each head has d_out // num_heads features. Nothing is split here: give every head d_out.",
                  kind="mix-up"),
            wrong("one wide head",
                  "heads = [CausalAttention(d_in, num_heads * d_out, context_length, dropout, qkv_bias)]",
                  "There is one head with num_heads · d_out features. Make num_heads heads with d_out each.",
                  kind="mix-up"),
            wrong("wide heads", ("d_out", "num_heads * d_out"),
                  "Each head has num_heads · d_out features. Give each head d_out: only all of them together have "
                  "more.", kind="mix-up"),
            wrong("d_in and d_out exchanged", ("d_in, d_out", "d_out, d_in"),
                  "d_in and d_out are swapped in your heads. It should be CausalAttention(d_in, d_out, …).",
                  kind="mix-up"),
            wrong("d_in passed twice", ("d_out", "d_in"),
                  "Your heads have d_in output features instead of d_out. It should be CausalAttention(d_in, d_out, "
                  "…).", kind="input"),
            wrong("context length 6", ("context_length", "6"),
                  "Your heads take no more than six words. Pass context_length on to them.", kind="hard-coded"),
            wrong("always biased", ("qkv_bias", "True"),
                  "Your heads have a bias although qkv_bias is False. Pass qkv_bias on as the fifth argument of each "
                  "head.", credit=0.75, kind="input"),
            wrong("never biased", ("qkv_bias", "False"),
                  "Your heads have no bias when qkv_bias is True. Pass qkv_bias on as the fifth argument of each head.",
                  credit=0.75, kind="input"),
            wrong("nothing dropped", ("dropout", "0.0"),
                  "In training, nothing is dropped. Pass the argument dropout on to every head, and let the heads be "
                  "in training mode, too.", kind="input"),
            wrong("dropout of 0", ("dropout", "0.5"),
                  "With a dropout of 0, two calls in training still differ, as when the rate is written in the code. "
                  "Pass the argument dropout on to the heads, and use no other rate.", kind="hard-coded")),
        wrong("dropout on the output",
              {"after kept": "self.dropout = nn.Dropout(dropout)", "result": "return self.dropout(context)"},
              "Entries of the output are dropped. Dropout is only for the weights, inside the heads.", kind="mix-up"),
        wrong("dropout always active",
              {"after kept": "self.p = dropout", "result": "return nn.functional.dropout(context, self.p)"},
              "Entries are dropped outside of training, too. Dropout belongs in the heads: do not add any more.",
              kind="mix-up"),
        wrong("an output projection",
              {"after kept": "self.out_proj = nn.Linear(num_heads * d_out, num_heads * d_out)",
               "result": "return self.out_proj(context)"},
              "In your result, the joined heads are projected once more. That comes in exercise 18. Leave it out here.",
              kind="mix-up"),
        *at("result",
            wrong("softmax on the output", "return torch.softmax(context, dim=-1)",
                  "Your result looks as if softmax had been applied to the output. Softmax is only for the weights, "
                  "inside the heads.", kind="mix-up"),
            wrong("first sentence only", "return context[0]",
                  "You return only one sentence of the batch. The result should have shape (B, T, num_heads · d_out).",
                  credit=0.25, kind="missing step"),
            wrong("last word only", "return context[:, -1]",
                  "You return only the last word of each sentence. The result should have shape (B, T, num_heads · "
                  "d_out).", credit=0.25, kind="missing step"),
            wrong("result transposed", "return context.transpose(1, 2)",
                  "In your result, words and features are swapped. Return shape (B, T, num_heads · d_out).",
                  kind="convention"),
            wrong("squeezed", "return context.squeeze()",
                  "Your result has lost its dimensions of size 1, as with squeeze. Keep them: one sentence is a batch, "
                  "too.", credit=0.75, kind="arrangement")),
        wrong("words and sentences exchanged",
              {"before run": "x = x.transpose(0, 1)", "result": "return context.transpose(0, 1)"},
              "Words and sentences are swapped in your results. The heads expect (B, T, d_in).", kind="axis"),
        wrong("sentences joined",
              {"before run": "B, T, _ = x.shape\nx = x.reshape(1, B * T, -1)",
               "result": "return context.reshape(B, T, -1)"},
              "In your results, the sentences of a batch become one long text, whose words see each other. Give x to "
              "the heads unchanged.", kind="mix-up"),
        wrong("everything detached", {"result": "return context.detach()"},
              "No gradient gets through, as when the heads run in no_grad or their results are detached. Leave out "
              "anything of that kind.", kind="gradient"),
        wrong("input detached", {"before run": "x = x.detach()"},
              "No gradient reaches the input. Give x to the heads unchanged, without detach, .data or a copy.",
              kind="gradient"),
        *at("heads",
            wrong("heads that do not scale", ("CausalAttention", "Unscaled"),
                  "Your heads do not scale their scores. Use the given CausalAttention.", kind="scaling"),
            wrong("heads that see the future", ("CausalAttention", "Unmasked"),
                  "In your heads, every word sees all words. Use the given CausalAttention.",
                  credit=0.25, kind="missing step")),
    ],
)
# fmt: on
