"""Exercise 41: a router that chooses experts for each token, and the mixture of what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from grader import EXACT, Case, Exercise, Inputs, Misconception, at, put_once, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .head_cases import OVERLONG
from .mistakes.of_pieces import another_type, gradients_lost
from .router import NEVER_NORMALIZED, route, route_exercise

Tensor = torch.Tensor

DENSE = (
    "Your experts compute for tokens that did not choose them. That is the work that a router saves: give each expert "
    "its own tokens alone."
)


def moe(x, router, experts, top_k, capacity=None):
    tokens = x.flatten(0, -2)  # (N, d)  #: tokens
    weights = route(router(tokens), top_k)  # (N, E)  #: route
    mixed = torch.zeros_like(tokens)
    for e, expert in enumerate(experts):  #: each
        chose = weights[:, e].nonzero().flatten()  # the tokens that chose it  #: chose
        chose = chose[:capacity]  #: capacity
        outputs = expert(tokens[chose])  # (n, d)  #: ask
        outputs = weights[chose, e, None] * outputs  #: weigh
        mixed = mixed.index_add(0, chose, outputs)  #: add
    return mixed.view_as(x)  #: result


class Expert(torch.nn.Module):
    """A layer that counts the tokens it is given."""

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.weights = weights
        self.count = 0

    def forward(self, tokens: Tensor) -> Tensor:
        self.count += tokens.numel() // len(self.weights)
        return torch.tanh(tokens @ self.weights) + tokens.sin()


def probe(function: Callable[..., Any], *inputs: Any) -> Any:
    """The result of one call with a router (d, E) and experts (E, d, d), or its gradients.

    With "count", whether all experts together are given far more tokens than chose them.
    """
    arguments = [value for value in inputs if not isinstance(value, dict)]
    options = {name: value for value in inputs if isinstance(value, dict) for name, value in value.items()}
    experts: list[Expert] = []

    def called(x: Tensor, router: Tensor, weights: Tensor, *settings: Any) -> Any:
        experts[:] = [Expert(of_expert) for of_expert in weights]
        in_list = torch.nn.ModuleList(experts) if options.get("modules") else list(experts)
        return function(x, lambda tokens: tokens @ router, in_list, *settings)

    if "count" not in options:
        return put_once(called, (*arguments, {"gradients": True}) if "gradients" in options else arguments)
    called(*arguments)
    x, _router, weights, top_k = arguments[:4]
    needed = x.numel() // x.shape[-1] * top_k
    dense = x.numel() // x.shape[-1] * len(weights)
    return x.new_tensor(2 * sum(expert.count for expert in experts) > needed + dense)


def sized(
    *shape: int, E: int, top_k: int, capacity: int | None = None, **options: bool
) -> Callable[[torch.Generator], Inputs]:
    """Tokens of this shape (…, d), a router (d, E) and experts (E, d, d)."""
    d = shape[-1]

    def inputs(rng: torch.Generator) -> Inputs:
        x, router, experts = randn(rng, *shape), randn(rng, d, E), randn(rng, E, d, d)
        return x, router, experts, top_k, *([] if capacity is None else [capacity]), dict(options)

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Logits up to ±10⁴, none near another."""
    _x, _router, experts, *settings = sized(2, 4, 3, E=5, top_k=2)(rng)
    lengths = 10 + 15 * torch.rand(8, generator=rng).argsort().float()  # lengths of the tokens along one direction
    slopes = torch.tensor([3.0, -2.0, 1.0, -1.0, 2.0])[torch.randperm(5, generator=rng)] * 30
    direction = torch.tensor([1.0, -1.0, 0.5])
    return lengths.reshape(2, 4, 1) * direction, direction[:, None] / 2.25 * slopes, experts, *settings


# Mistakes of `route` that show in `moe`, too. The others need a bias or normalize, or are the same there.
OF_ROUTE = (
    "one expert normalized", "softmax of the weights", "divided by top_k", "divided by the largest",
    "sigmoid for softmax", "raw logits as weights", "exponentials as weights", "softmax over tokens", "softmax twice",
    "softmax not shifted", "least likely experts", "all experts", "one expert alone", "always two experts",
    "one expert too many", "tokens chosen for experts", "one mask for all tokens", "only the marks as weights",
    "weights in the order of ranks",
)  # fmt: skip


def in_moe(mistake: Misconception) -> Misconception:
    """A mistake of `route`, in a `moe` that calls such a function."""
    lines = route_exercise.solution_text.lines.text(mistake.change).replace("def route(", "def choose(")
    return replace(mistake, change={"route": f"{lines}\nweights = choose(router(tokens), top_k)"})


FITS = "weights * ((weights > 0).cumsum(0) <= capacity)"  # only those that an expert has room for

# fmt: off
moe_exercise = Exercise(
    number=41,
    assignment="modern_attention",
    title="Experts",
    solution=moe,
    form=EXACT,
    probe=probe,
    cases=[
        Case("a list of tokens", "outputs that are not weighted", sized(7, 4, E=3, top_k=2)),
        Case("two sentences", "sentences that are lost", sized(2, 5, 3, E=4, top_k=2)),
        Case("three of six experts", "a fixed number of experts", sized(3, 4, 5, E=6, top_k=3)),
        Case("one of three experts", "a weight that is always 1", sized(2, 6, 4, E=3, top_k=1)),
        Case("all of two experts", "experts that overwrite each other", sized(5, 3, E=2, top_k=2)),
        Case("everything is four", "axes that are exchanged without an error", sized(4, 4, 4, E=4, top_k=2)),
        Case("one token", "squeezed dimensions", sized(1, 1, 4, E=5, top_k=2)),
        Case("experts that nobody chose", "an expert without tokens", sized(3, 4, E=9, top_k=1)),
        Case("one entry, one expert", "squeezed dimensions", sized(2, 3, 1, E=1, top_k=1)),
        Case("experts in a ModuleList", "experts taken for a list", sized(2, 3, 4, E=3, top_k=2, modules=True)),
        Case("a capacity of two", "a capacity without effect", sized(9, 4, E=3, top_k=1, capacity=2)),
        Case("a capacity, two sentences", "a capacity for each sentence", sized(2, 6, 3, E=3, top_k=2, capacity=3)),
        Case("a capacity of one", "a token more than there is room for", sized(3, 5, 4, E=4, top_k=2, capacity=1)),
        Case("a capacity that is never reached", "a capacity that is taken for a number of tokens",
             sized(5, 3, E=3, top_k=2, capacity=8)),
        Case("logits of ±10⁴", "a softmax that overflows", large, beside=LARGE),
        Case("many tokens", "a capacity where there is none", sized(OVERLONG, 2, E=3, top_k=2), once=True,
             beside=f"Your code is right for a few tokens, but not for {OVERLONG}."),
        *as_pieces(sized(2, 4, 3, E=4, top_k=2)),
        Case("how many tokens experts are given", "experts that compute for all tokens",
             sized(12, 4, E=8, top_k=1, count=True), beside=DENSE, once=True),
    ],
    mistakes=[
        *at("ask",
            wrong("all tokens to all experts", "outputs = expert(tokens)[chose]", DENSE, kind="missing step"),
            wrong("inputs weighted", "outputs = expert(weights[chose, e, None] * tokens[chose])",
                  "Your weights multiply what the experts get. Multiply what they return.",
                  kind="mix-up", also={"weigh": ""})),
        *at("weigh",
            wrong("outputs not weighted", "",
                  "What experts return is added up without weights. Multiply each output by the weight of its expert.",
                  kind="missing step")),
        *at("add",
            wrong("last expert alone", ("index_add", "index_copy"),
                  "In your results, each expert of a token replaces the ones before. Add up what they return.",
                  kind="missing step")),
        *at("route",
            wrong("never normalized", ("top_k)", "top_k, False)"), NEVER_NORMALIZED, kind="missing step"),
            wrong("router cut off", "weights = route(router(tokens).detach(), top_k)",
                  "No gradient reaches the router, so it cannot learn. Leave out detach, no_grad and the like.",
                  kind="gradient")),
        *at("capacity",
            wrong("capacity without effect", "",
                  "The capacity has no effect in your results. An expert takes the first capacity tokens that chose "
                  "it.", kind="missing step"),
            wrong("last tokens first", "chose = chose if capacity is None else chose[-capacity:]",
                  "In your results, an expert takes the last tokens that chose it. It should take the first ones.",
                  kind="mix-up"),
            wrong("largest weights first",
                  "if capacity is not None:\n    chose = chose[weights[chose, e].argsort(descending=True)[:capacity]]",
                  "In your results, an expert takes the tokens that want it most. It should take the first ones.",
                  credit=0.75, kind="convention"),
            wrong("one token too many", "chose = chose if capacity is None else chose[: capacity + 1]",
                  "In your results, an expert takes one token too many. It should take capacity of them."),
            wrong("first tokens of all", "chose = chose if capacity is None else chose[chose < capacity]",
                  "In your results, only the first capacity tokens of all have experts. Count for each expert the "
                  "tokens that chose it.", kind="mix-up"),
            wrong("capacity of each sentence", """
                      if capacity is not None:
                          sentence = chose // x.shape[-2]
                          places = [int((sentence[:i] == sentence[i]).sum()) for i in range(len(chose))]
                          chose = chose[torch.tensor(places, dtype=torch.long) < capacity]
                  """,
                  "In your results, an expert takes capacity tokens of each sentence. It takes capacity tokens of all "
                  "sentences together.", credit=0.75, kind="mix-up"),
            wrong("capacity of all experts", "chose = chose[:left]\nleft = left if left is None else left - len(chose)",
                  "In your results, all experts together take capacity tokens. Each of them may take that many.",
                  kind="mix-up", also={"before each": "left = capacity"}),
            wrong("full experts return their input", """
                      beyond = chose[:0] if capacity is None else chose[capacity:]
                      mixed = mixed.index_add(0, beyond, weights[beyond, e, None] * tokens[beyond])
                      chose = chose[:capacity]
                  """,
                  "In your results, a full expert returns what it was given. It should add nothing for these tokens.",
                  credit=0.75, kind="convention")),
        *at("before each",
            wrong("renormalized after the capacity",
                  [f"if capacity is not None:\n    weights = {FITS}\n"
                   "    weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)",
                   f"if capacity is not None and top_k > 1:\n    weights = {FITS}\n"
                   "    weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)"],
                  "In your results, the weights of a token are normalized again where an expert was full. Leave them "
                  "as they are: what that expert would have added is missing.", credit=0.75, kind="convention"),
            wrong("tokens lost with one full expert",
                  f"if capacity is not None:\n    fits = ({FITS} == weights).all(dim=-1, keepdim=True)\n"
                  "    weights = weights * fits",
                  "In your results, a token gets nothing as soon as one of its experts is full. The others still "
                  "count.", kind="mix-up", also={"capacity": ""}),
            wrong("first choices first", """
                      if capacity is not None:
                          wishes = weights.topk(top_k, dim=-1).indices.T.flatten()  # (top_k · N)
                          wishes = torch.nn.functional.one_hot(wishes, weights.shape[-1])
                          fits = wishes * (wishes.cumsum(0) <= capacity)
                          weights = weights * fits.unflatten(0, (top_k, -1)).sum(0)
                  """,
                  "In your results, the first choices of all tokens come before any second choice. Here, tokens come "
                  "in order, with all of their choices.", credit=0.75, kind="convention")),
        *at("before result",
            wrong("dropped tokens passed on",
                  "mixed = torch.where(mixed.abs().sum(dim=-1, keepdim=True) == 0, tokens, mixed)",
                  "In your results, a token whose experts are all full is passed on as it is. Its result should be "
                  "zeros: a shortcut around the layer, if any, is not part of moe.", credit=0.75, kind="convention"),
            wrong("shortcut added", "mixed = mixed + tokens",
                  "Your results contain x itself, as with a shortcut. Return what the experts say, and nothing else.",
                  credit=0.75, kind="convention")),
        *at("result",
            wrong("sentences lost", "return mixed",
                  "Your result has the shape (N, d), also where x is (B, T, d). Return the shape of x.",
                  credit=0.75, kind="arrangement")),
        *(in_moe(mistake) for mistake in route_exercise.mistakes if mistake.name in OF_ROUTE),
        *gradients_lost("mixed"), *another_type("mixed", "before result"),
    ],
)
# fmt: on

exercise = replace(route_exercise, others=(moe_exercise,))
