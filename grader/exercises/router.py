"""The first function of exercise 41: which experts a token goes to, and with which weights."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .mistakes.of_pieces import another_type, gradients_lost

ONE_EXPERT = (
    "With top_k = 1, your weights are normalized to 1, whatever the logits are, and then the router has no gradient "
    "to learn from. Do not normalize there: the weight is the probability."
)
NEVER_NORMALIZED = (
    "The weights of a token do not sum to 1. Where they are to be normalized and top_k is above 1, divide them by "
    "their sum."
)


def route(logits, top_k, normalize=True, bias=None):
    probabilities = torch.softmax(logits, dim=-1)  # (N, E)  #: probabilities
    ranks = probabilities if bias is None else probabilities + bias  # for the choice alone  #: ranks
    chosen = ranks.topk(top_k, dim=-1).indices  # (N, top_k)  #: choose
    is_chosen = torch.zeros_like(probabilities).scatter(-1, chosen, 1.0)  # (N, E)  #: mark
    weights = probabilities * is_chosen  #: keep
    if normalize and top_k > 1:  #: normalize
        weights = weights / weights.sum(dim=-1, keepdim=True)  #: divide
    return weights  #: result


def sized(N: int, E: int, top_k: int, normalize: bool = True, biased: bool = False) -> Callable[..., Inputs]:
    """Logits (N, E). A bias is so large that it changes which experts are chosen, and below −1 for some experts."""

    def inputs(rng: torch.Generator) -> Inputs:
        logits = 1.5 * randn(rng, N, E)
        settings = [] if normalize and not biased else [normalize]
        return (logits, top_k, *settings, *([0.4 * randn(rng, E)] if biased else []))

    return inputs


def large(top_k: int) -> Callable[[torch.Generator], Inputs]:
    """Logits up to ±10⁴, of which the first row has only some far below zero."""

    def inputs(rng: torch.Generator) -> Inputs:
        logits = torch.stack([torch.randperm(5, generator=rng) for _ in range(6)]) * 4500.0 - 9000
        return torch.cat([logits[:1] / 8 - 9000, logits[1:]]), top_k

    return inputs


# fmt: off
route_exercise = Exercise(
    number=41,
    assignment="modern_attention",
    title="Experts",
    solution=route,
    form=EXACT,
    cases=[
        Case("two of four experts", "weights that are not normalized", sized(5, 4, 2)),
        Case("three of eight experts", "a fixed number of experts", sized(6, 8, 3)),
        Case("as many tokens as experts", "a softmax over tokens", sized(4, 4, 2)),
        Case("one of five experts", "a weight that is always 1", sized(7, 5, 1)),
        Case("all of three experts", "one expert too few", sized(4, 3, 3)),
        Case("not normalized", "a softmax over the chosen experts alone", sized(5, 6, 2, False)),
        Case("not normalized, one expert", "a softmax over the chosen expert alone", sized(6, 3, 1, False)),
        Case("with a bias", "a bias that is in the weights, or without effect", sized(9, 6, 2, biased=True)),
        Case("with a bias, not normalized", "a bias in the weights", sized(8, 5, 3, False, biased=True)),
        Case("with a bias, one expert", "a bias in the weights", sized(8, 4, 1, biased=True)),
        Case("one token", "squeezed dimensions", sized(1, 5, 2)),
        Case("one expert in all", "squeezed dimensions", sized(3, 1, 1)),
        Case("logits of ±10⁴", "a softmax that overflows", large(2), beside=LARGE),
        Case("logits of ±10⁴, one expert", "a softmax that overflows", large(1), beside=LARGE),
        *as_pieces(sized(5, 6, 3)),
    ],
    mistakes=[
        *at("normalize",
            wrong("one expert normalized", "if normalize:", ONE_EXPERT, credit=0.75, kind="convention"),
            wrong("always normalized", "if True:",
                  "The weights of a token always sum to 1, also where normalize is False or top_k is 1, as with a "
                  "softmax over the chosen logits alone. There, return the probabilities among all experts.",
                  kind="missing step"),
            wrong("normalize without effect", "if top_k > 1:",
                  "Your weights are normalized even where normalize is False. Return the probabilities there.",
                  credit=0.75, kind="missing step"),
            wrong("never normalized", "", NEVER_NORMALIZED, kind="missing step"),
            wrong("normalized where it should not be", "if not normalize and top_k > 1:",
                  "Your weights are normalized where normalize is False, and not where it is True. It is the other way "
                  "around.", kind="mix-up")),
        *at("divide",
            wrong("softmax of the weights",
                  "weights = torch.softmax(weights.masked_fill(is_chosen == 0, -torch.inf), dim=-1)",
                  "Your weights look like a softmax of probabilities. Divide the chosen probabilities by their sum."),
            wrong("divided by top_k", "weights = weights / top_k",
                  "Your weights are divided by top_k. Divide the weights of each token by their sum."),
            wrong("divided by the largest", "weights = weights / weights.max(dim=-1, keepdim=True).values",
                  "Your largest weight is always 1. Divide the weights of each token by their sum."),
            wrong("divided by the length", "weights = weights / weights.norm(dim=-1, keepdim=True)",
                  "The squares of your weights sum to 1. Divide the weights of each token by their sum."),
            wrong("divided by sums over tokens",
                  ["weights = weights / weights.sum(dim=0, keepdim=True)",
                   "weights = (weights / weights.sum(dim=0, keepdim=True)).nan_to_num(0.0)"],
                  "Your weights sum to 1 for each expert. They should sum to 1 for each token.", kind="axis")),
        *at("probabilities",
            wrong("sigmoid for softmax", "probabilities = torch.sigmoid(logits)",
                  "Your probabilities are sigmoids of the logits, as in DeepSeek-V3. Here, take the softmax over all "
                  "experts.", kind="convention"),
            wrong("raw logits as weights", "probabilities = logits",
                  "Your weights are made of raw logits, which may be negative. Take the softmax over all experts "
                  "first.", credit=0.25, kind="missing step"),
            wrong("exponentials as weights", "probabilities = torch.exp(logits)",
                  "Your probabilities do not sum to 1, as with exp(logits) alone. Take the softmax over all experts.",
                  kind="missing step"),
            wrong("softmax over tokens", ("dim=-1", "dim=0"),
                  "Your probabilities sum to 1 over the tokens, for each expert. They should sum to 1 over the "
                  "experts, for each token.", kind="axis"),
            wrong("softmax twice", "probabilities = torch.softmax(torch.softmax(logits, dim=-1), dim=-1)",
                  "Your weights look as if softmax were applied twice to the logits. Apply it once."),
            wrong("softmax not shifted", "probabilities = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)",
                  "Where logits are large, exp overflows, or is 0 for all experts: ∞/∞ and 0/0 are NaN. Use "
                  "torch.softmax.", credit=0.75, kind="missing step")),
        *at("ranks",
            wrong("bias without effect", "ranks = probabilities",
                  "The bias has no effect in your results. Add it to the probabilities before you choose.",
                  kind="missing step"),
            wrong("bias against experts", ("+ bias", "- bias"),
                  "Your bias keeps tokens away from an expert where it should attract them. Add it.",
                  credit=0.75),
            wrong("bias added to the logits", ("probabilities + bias", "logits + bias"),
                  "Your choice is that of logits + bias. Add the bias to the probabilities.", kind="mix-up")),
        *at("before choose",
            wrong("bias in the weights", "probabilities = ranks",
                  "Your weights contain the bias. It counts for the choice alone: the weights are the probabilities "
                  "without it.", kind="mix-up")),
        wrong("bias in the logits, and in the weights",
              {"probabilities": "probabilities = torch.softmax(logits if bias is None else logits + bias, dim=-1)",
               "ranks": "ranks = probabilities"},
              "Your weights are the softmax of logits + bias. The bias counts for the choice alone: add it to the "
              "probabilities there, and to nothing else.", kind="mix-up"),
        *at("choose",
            wrong("least likely experts", ("dim=-1", "dim=-1, largest=False"),
                  "Your weights are at the experts with the smallest probabilities. Choose the largest.",
                  kind="mix-up"),
            wrong("all experts", "chosen = ranks.argsort(dim=-1)",
                  "All experts have a weight in your results. Only the top_k with the largest probabilities should.",
                  credit=0.25, kind="missing step"),
            wrong("one expert alone", ("(top_k", "(1"),
                  "Each token has one expert in your results, whatever top_k is. Choose top_k of them.",
                  kind="hard-coded"),
            wrong("always two experts", "chosen = ranks.topk(min(2, logits.shape[-1]), dim=-1).indices",
                  "Each token has two experts in your results, whatever top_k is. Choose top_k of them.",
                  kind="hard-coded"),
            wrong("one expert too many", "chosen = ranks.topk(min(top_k + 1, logits.shape[-1]), dim=-1).indices",
                  "Each token has one expert too many in your results. Choose top_k of them.", kind="mix-up"),
            wrong("tokens chosen for experts", "chosen = ranks.topk(min(top_k, len(ranks)), dim=0).indices",
                  "Each expert has top_k tokens in your results. It is the other way around: each token has top_k "
                  "experts.", kind="axis", also={"mark": ("-1", "0")})),
        wrong("one mask for all tokens",
              {"mark": "is_chosen = torch.zeros_like(probabilities)\nis_chosen[:, chosen.flatten()] = 1.0"},
              "An expert that one token chose has a weight for all tokens in your results. Each token has its own "
              "top_k experts.", kind="mix-up"),
        wrong("only the marks as weights", {"keep": "weights = is_chosen"},
              "All chosen experts have the same weight. Each should have its probability.", kind="missing step"),
        *at("result",
            wrong("weights in the order of ranks",
                  "E = logits.shape[-1]\n"
                  "return torch.nn.functional.pad(weights.gather(-1, chosen), (0, E - top_k))",
                  "Your weights stand in the first top_k columns, in the order in which they were chosen. Column e "
                  "belongs to expert e: put each weight into the column of its expert.", kind="arrangement"),
            wrong("the chosen weights alone",
                  ["return weights.gather(-1, chosen)", "return weights.gather(-1, chosen), chosen"],
                  "You return the weights of the chosen experts alone. Return (N, E): a column for each expert, with "
                  "zeros where it was not chosen.", kind="arrangement"),
            wrong("weights and choice", "return weights, chosen",
                  "You return two things. Return the weights alone, (N, E).", credit=0.75, kind="arrangement"),
            wrong("transposed", "return weights.mT",
                  "Your result has the shape (E, N). Tokens are rows: return (N, E).", kind="arrangement"),
            wrong("squeezed", "return weights.squeeze()",
                  "Your result has lost its dimensions of size 1, as with squeeze(). Return (N, E), also for one token "
                  "or one expert.", credit=0.75, kind="arrangement")),
        *gradients_lost("weights"), *another_type("weights", "before result"),
    ],
)
# fmt: on
