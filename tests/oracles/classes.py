"""Whether a class does what its exercise asks for, by definitions in float64 that are independent of the grader.

Cases are put to a class as in the sandbox: answers hold the parameters, buffers, outputs and gradients of a module.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from grader.model.exercise import Inputs
from oracles import latent_attention, transformer_classes

Tensor = torch.Tensor
Weights = dict[str, Tensor]

PROJECTIONS = ("W_query", "W_key", "W_value")
PRODUCTS = ("query.weight", "key.weight", "queries.weight", "keys.weight", "q.weight", "k.weight", "W_query", "W_key")
GRADIENTS = 1e-4  # relative to the largest number in all gradients


def attend(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """One head: each query looks at the keys that are not hidden from it."""
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    scores = torch.where(hidden, -torch.inf, scores)
    exp = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.einsum("...qk,...kd->...qd", exp / exp.sum(-1, keepdim=True), v)


def heads_of(parts: Sequence[Tensor], count: int) -> Iterator[tuple[Tensor, ...]]:
    """Queries, keys and values of each head, which are consecutive features."""
    size = parts[0].shape[-1] // count
    for h in range(count):
        yield tuple(part[..., h * size : (h + 1) * size] for part in parts)


def linear(x: Tensor, weights: Weights, name: str) -> Tensor:
    y = torch.einsum("...i,oi->...o", x, weights[f"{name}.weight"])
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def in_the_future(T: int) -> Tensor:
    return torch.tensor([[key > query for key in range(T)] for query in range(T)])


def nothing_hidden(T: int) -> Tensor:
    return torch.zeros(T, T, dtype=torch.bool)


def with_matrices(_arguments: Sequence[Any], weights: Weights, x: Tensor) -> Tensor:
    q, k, v = (torch.einsum("ti,io->to", x, weights[name]) for name in PROJECTIONS)
    return attend(q, k, v, nothing_hidden(len(x)))


def with_layers(_arguments: Sequence[Any], weights: Weights, x: Tensor) -> Tensor:
    q, k, v = (linear(x, weights, name) for name in PROJECTIONS)
    return attend(q, k, v, nothing_hidden(len(x)))


def causal(_arguments: Sequence[Any], weights: Weights, x: Tensor) -> Tensor:
    q, k, v = (linear(x, weights, name) for name in PROJECTIONS)
    return attend(q, k, v, in_the_future(x.shape[1]))


def listed(arguments: Sequence[Any], weights: Weights, x: Tensor) -> Tensor:
    outputs = []
    for h in range(arguments[4]):
        prefix = f"heads.{h}."
        own = {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}
        outputs.append(causal(arguments, own, x))
    return torch.cat(outputs, dim=-1)


def split(arguments: Sequence[Any], weights: Weights, x: Tensor) -> Tensor:
    parts = [linear(x, weights, name) for name in PROJECTIONS]
    outputs = [attend(q, k, v, in_the_future(x.shape[1])) for q, k, v in heads_of(parts, arguments[4])]
    return linear(torch.cat(outputs, dim=-1), weights, "out_proj")


def between(
    arguments: Sequence[Any], weights: Weights, values: Tensor, keys: Tensor, query: Tensor, mask: Tensor | None = None
) -> Tensor:
    N, heads, Q, K = len(query), arguments[1], query.shape[1], keys.shape[1]
    hidden = (torch.ones(()) if mask is None else mask).expand(N, heads, Q, K) == 0
    parts = [linear(query, weights, "queries"), linear(keys, weights, "keys"), linear(values, weights, "values")]
    outputs = [attend(q, k, v, hidden[:, h]) for h, (q, k, v) in enumerate(heads_of(parts, heads))]
    return linear(torch.cat(outputs, dim=-1), weights, "fc_out")


def cached(
    arguments: Sequence[Any],
    weights: Weights,
    x: Tensor,
    _sizes: Sequence[int],
    wanted: str = "outputs",
    keys: Tensor | None = None,
    values: Tensor | None = None,
    _aside: Tensor | None = None,
) -> Tensor:
    """The same for all chunks: as if the text came at once, after the given keys and values."""
    q, k, v = (torch.stack(linear(x, weights, name).chunk(arguments[1], dim=-1), dim=1) for name in "qkv")
    if keys is not None and values is not None:
        k, v = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
    if wanted == "cache":
        return torch.stack([k, v])
    T, S = q.shape[2], k.shape[2]
    hidden = torch.tensor([[key > query + S - T for key in range(S)] for query in range(T)])
    return linear(torch.cat(list(attend(q, k, v, hidden).unbind(1)), dim=-1), weights, "out")


MODULES: dict[int, Callable[..., Tensor]] = {
    12: with_matrices,
    13: with_layers,
    16: causal,
    17: listed,
    18: split,
    19: between,
    29: cached,
    40: latent_attention.with_latents,
    **transformer_classes.MODULES,
}
CASES = {40: latent_attention.case_40, **transformer_classes.CASES}


# --- what must be right about what a module did ----------------------------------------------------------------------


class Wanted:
    """Checks what was seen of a class in a case. The right numbers are computed once."""

    def __init__(self, number: int, inputs: Inputs) -> None:
        self._number = number
        self._inputs = inputs

    def __call__(self, seen: Any) -> bool:
        """Whether the class is right."""
        arguments, weights, calls, how = self._inputs
        if how.get("impossible"):
            return bool(seen == {"built": False})
        if how.get("new"):  # exercise 23, whose weights start as ones
            return bool(list(seen["new"]) == ["weight"] and (seen["new"]["weight"] == 1).all())
        if "numbers" in how and seen["numbers"] != {"context_length": arguments[4]}:  # exercise 25
            return False
        if not has_parameters(seen, weights) or not has_masks(self._number, seen, arguments):
            return False
        if seen.get("changes_input", True) or list(seen["outputs"]) != list(calls):
            return False
        if not all(map(self._of_right_type, seen["outputs"].values(), calls.values())):
            return False
        if "dropped" in how:
            return drops_well(list(seen["outputs"].values()), self._inputs, self._whole)
        outputs, gradients = self._numbers
        if not all(map(close, seen["outputs"].values(), outputs)):
            return False
        # There are no gradients if code changed something in place that the backward pass needs.
        return not gradients or (seen["gradients"] is not None and has_gradients(seen["gradients"], gradients))

    def _of_right_type(self, output: Any, call: Sequence[Any]) -> bool:
        """Whether an output has the type of the input or, if that holds tokens, of the weights."""
        numbers = call[0] if is_real(call[0]) else next(iter(self._inputs[1].values()))
        return isinstance(output, Tensor) and output.dtype == numbers.dtype

    @functools.cached_property
    def _whole(self) -> Tensor:
        """The output if nothing is dropped."""
        arguments, weights, calls, _ = self._inputs
        exact = {name: one.double() for name, one in weights.items()}
        return MODULES[self._number](arguments, exact, calls["first"][0].double())

    @functools.cached_property
    def _numbers(self) -> tuple[list[Tensor], dict[str, Tensor]]:
        """The outputs, and the gradients by name."""
        arguments, weights, calls, how = self._inputs
        exact = {name: one.double().requires_grad_() for name, one in weights.items()}
        given = [[one.double() if is_real(one) else one for one in call] for call in calls.values()]
        leaves = [one.requires_grad_() for one in given[0][: how["gradients"]] if is_real(one)]
        outputs = [MODULES[self._number](arguments, exact, *call) for call in given]
        named = {**exact, **dict(zip(map(str, range(len(leaves))), leaves, strict=True))}
        return [one.detach() for one in outputs], gradients_of(outputs[0], named) if how["gradients"] else {}


def has_parameters(seen: Any, weights: Weights) -> bool:
    held = seen["parameters"]
    there = all(held.get(name) == list(one.shape) for name, one in weights.items())
    unasked = [name.replace("weight", "bias") for name in weights if name.endswith("weight")]
    extra = [name for name in unasked if name in held and name not in weights]
    extra += [name for name in held if name.startswith("blocks.") and name not in weights]
    return there and not extra and not {*seen["frozen"], *seen["even"]} & set(weights)


def has_masks(number: int, seen: Any, arguments: Sequence[Any]) -> bool:
    """Whether each head has a buffer for the longest text that is saved with the module."""
    if number not in (16, 17, 18):
        return True
    prefixes = [f"heads.{h}." for h in range(arguments[4])] if number == 17 else [""]
    square = [arguments[2]] * 2
    buffers = [(name, shape) for name, shape in seen["buffers"].items() if name not in seen["unsaved"]]
    return all(any(name.startswith(one) and shape[-2:] == square for name, shape in buffers) for one in prefixes)


def gradients_of(output: Tensor, leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    factors = torch.arange(output.numel(), dtype=torch.float64).cos().reshape(output.shape)
    found = torch.autograd.grad((output * factors).sum(), list(leaves.values()))
    return dict(zip(leaves, found, strict=True))


def has_gradients(found: dict[str, Any], wanted: dict[str, Tensor]) -> bool:
    scale = max(float(one.abs().max()) for one in wanted.values())
    pairs = [(found.get(name), one) for name, one in wanted.items()]
    return all(
        isinstance(got, Tensor) and got.shape == want.shape and float((got - want).abs().max()) <= GRADIENTS * scale
        for got, want in pairs
    )


def close(got: Any, want: Tensor) -> bool:
    if not isinstance(got, Tensor) or got.shape != want.shape or got.is_complex():
        return False
    rough = 2e-2 if got.dtype is torch.float16 else 1e-4
    return bool((got.double() - want).abs().max() <= rough * want.abs().max())


def is_real(one: Any) -> bool:
    return isinstance(one, Tensor) and one.is_floating_point()


def drops_well(outputs: list[Any], inputs: Inputs, whole: Tensor) -> bool:
    """Whether weights were dropped by chance alone. Each head returns its weights and, after them, weights @ extra."""
    arguments, _, _, how = inputs
    extra, p = how["extra"], arguments[3]
    T = len(extra)
    if not all(isinstance(one, Tensor) and one.shape == whole.shape for one in outputs):
        return False
    seen = [torch.stack(one.double().split(sum(extra.shape), dim=-1)) for one in (whole, *outputs)]  # (heads, B, T, …)
    hidden = in_the_future(T)
    for one in seen:
        if bool(one[..., :T][..., hidden].any()) or not close(one[..., T:], one[..., :T] @ extra.double()):
            return False
    before, *after = (one[..., :T][..., ~hidden] for one in seen)  # (heads, B, entries)
    return not torch.equal(after[0], after[1]) and all(dropped_well(before, p, one) for one in after)


def dropped_well(before: Tensor, p: float, after: Tensor) -> bool:
    """Whether, to six standard deviations, the rate is p, and does not depend on a weight's size or its neighbors."""
    gone = after == 0
    if not torch.allclose(after, torch.where(gone, 0.0, before / (1 - p)), rtol=1e-4, atol=1e-7):
        return False
    surprise = (gone.double() - p) / math.sqrt(p * (1 - p))  # mean 0 and variance 1, like products of two
    beside = [surprise.roll(1, dim) * surprise for dim in range(3) if surprise.shape[dim] > 1]
    by_size = surprise * (before - before.mean()) / before.std()
    return all(abs(float(one.sum())) <= 6 * math.sqrt(one.numel()) for one in (surprise, by_size, *beside))


# --- inputs of many sizes --------------------------------------------------------------------------------------------


def shapes(number: int, arguments: Sequence[Any], bias: bool) -> dict[str, tuple[int, ...]]:
    if number == 29:
        return {f"{name}.weight": (arguments[0],) * 2 for name in ("q", "k", "v", "out")}
    if number == 19:
        E = arguments[0]
        return {f"{name}.weight": (E, E) for name in ("values", "keys", "queries", "fc_out")}
    d_in, d_out = arguments[:2]
    if number == 12:
        return dict.fromkeys(PROJECTIONS, (d_in, d_out))
    prefixes = [f"heads.{h}." for h in range(arguments[4])] if number == 17 else [""]
    made: dict[str, tuple[int, ...]] = {}
    for prefix, name in itertools.product(prefixes, PROJECTIONS):
        made[f"{prefix}{name}.weight"] = (d_out, d_in)
        if bias:
            made[f"{prefix}{name}.bias"] = (d_out,)
    if number == 18:
        made |= {"out_proj.weight": (d_out, d_out), "out_proj.bias": (d_out,)}
    return made


def chunks(T: int, choose: random.Random) -> list[int]:
    """Random chunk sizes that sum up to T."""
    first = choose.randint(1, T)
    return [first, *([1] * (T - first))]


def case(number: int, choose: random.Random) -> Inputs:
    if number in CASES:
        return CASES[number](choose)
    B, T, d_in, size, heads = (choose.randint(1, 5) for _ in range(5))
    bias, context = choose.random() < 0.4, T + choose.choice([0, 0, 1, 3])
    gradients = 3 if number == 19 else 1
    if number == 29:
        D = size * heads
        x, aside, sizes = torch.randn(B, T, D), torch.randn(B, 2, D), chunks(T, choose)
        keys, values = (torch.randn(B, heads, context, size) for _ in range(2))
        return (
            [D, heads],
            {name: torch.randn(shape) / shape[-1] ** 0.5 for name, shape in shapes(29, [D], False).items()},
            {
                "first": [x, sizes],
                "second": [x, [1] * T, "outputs", keys, values, aside],
                "third": [x, sizes, "cache"],
                "fourth": [x, sizes, "cache", keys, values],
                "fifth": [torch.randn(B, T, D), [T]],
            },
            {"train": False, "gradients": gradients},
        )
    if number == 19:
        arguments: list[Any] = [size * heads, heads]
        K = choose.randint(1, 6)
        call = [torch.randn(B, length, size * heads) for length in (K, K, T)]
        mask = torch.rand(choose.choice([1, B]), choose.choice([1, heads]), choose.choice([1, T]), K) < 0.6
        mask[..., choose.randrange(K)] = True  # at least one visible key
        kind = choose.choice([torch.bool, torch.int64, torch.float32])
        calls = {"first": [*call, mask.to(kind)], "second": [*call, None], "third": call}
    elif number in (12, 13):
        arguments = [d_in, size, *([bias] if number == 13 and choose.random() < 0.7 else [])]
        bias = bias and len(arguments) == 3
        calls = {"first": [torch.randn(T, d_in)], "second": [torch.randn(T + 2, d_in)]}
        calls["third"] = [torch.randn(T, d_in)]
    else:
        named = [heads] if number > 16 else []
        arguments = [d_in, size * (heads if number == 18 else 1), context, choose.choice([0.0, 0.7]), *named, bias]
        if not bias and choose.random() < 0.5:
            arguments.pop()
        calls = {"first": [torch.randn(B, T, d_in)], "second": [torch.randn(B + 1, context, d_in)]}
        calls["third"] = [torch.randn(B, T, d_in)]
    weights = {name: torch.randn(shape) / shape[-1] ** 0.5 for name, shape in shapes(number, arguments, bias).items()}
    trains = number in (16, 17, 18) and arguments[3] == 0  # then nothing is dropped, and gradients can be compared
    return (arguments, weights, calls, {"train": trains, "gradients": gradients})


def case_of_dropout(number: int, p: float) -> Inputs:
    """A case whose outputs show the weights: the last features of a word name it, and values are these and `extra`."""
    B, T, heads, extra = 12, 7, 1 if number == 16 else 3, torch.randn(7, 2)
    size = (heads if number == 18 else 1) * sum(extra.shape)
    arguments = [2 + T, size, T + 1, p, *([heads] if number > 16 else [])]

    def weight(name: str) -> Tensor:
        if name.endswith("W_value.weight"):
            head = torch.cat([torch.zeros(sum(extra.shape), 2), torch.cat([torch.eye(T), extra.mT])], dim=1)
            return head.repeat(size // len(head), 1)
        return torch.cat([torch.randn(size, 2), torch.zeros(size, T)], dim=1)

    weights = {name: weight(name) for name in shapes(number, arguments, bias=False) if "out_proj" not in name}
    if number == 18:
        weights |= {"out_proj.weight": torch.eye(size), "out_proj.bias": torch.zeros(size)}
    x = torch.cat([torch.randn(B, T, 2), torch.eye(T).expand(B, T, T)], dim=-1)
    how = {"train": True, "gradients": 0, "dropped": number, "extra": extra}
    return (arguments, weights, {"first": [x], "second": [x]}, how)


def in_float64(inputs: Inputs) -> Inputs:
    arguments, weights, calls, how = inputs
    double = {name: list(map(as_double, call)) for name, call in calls.items()}
    return (arguments, {name: one.double() for name, one in weights.items()}, double, how | {"gradients": 0})


def as_double(value: Any) -> Any:
    return value.double() if is_real(value) else value


def far_apart(inputs: Inputs) -> Inputs:
    """Words along a line, so far apart that scores are in the thousands and never near each other."""
    arguments, weights, calls, how = inputs
    direction = torch.rand(arguments[0]) + 1
    apart = {
        name: [on_the_line(one, direction) if is_real(one) else one for one in call[:3]] for name, call in calls.items()
    }
    positive = {name: one.abs() if name.endswith(PRODUCTS) else one for name, one in weights.items()}
    return (arguments, positive, apart, how | {"gradients": 0})


def on_the_line(x: Tensor, direction: Tensor) -> Tensor:
    return lengths(x.shape[-2])[:, None] * direction.expand(*x.shape[:-2], 1, -1)


def lengths(words: int) -> Tensor:
    """Distinct lengths of both signs in random order, none near zero."""
    return (torch.randperm(words) * 20.0 + 30) * (1 - 2 * (torch.arange(words) % 2))


def two_lines(words: int) -> list[Tensor]:
    """Queries and keys along two lines, so far apart that scores are in the thousands: (words, 3)."""
    return [lengths(words)[:, None] * (torch.rand(3) + 1) for _ in range(2)]


def draw(number: int) -> list[Inputs]:
    choose = random.Random(number)
    inputs = [case(number, choose) for _ in range(8)]
    inputs += [in_float64(case(number, choose)) for _ in range(2)]
    if number not in CASES:  # norms keep their scores small
        inputs += [far_apart(case(number, choose)) for _ in range(2)]
    if number in (16, 17, 18):
        inputs += [case_of_dropout(number, p) for p in (0.2, 0.7)]
    if number == 18:
        inputs.append(([3, 5, 4, 0.0, 2], {}, {}, {"impossible": True}))
    if number == 19:
        inputs.append(([8, 3], {}, {}, {"impossible": True}))
    return inputs
