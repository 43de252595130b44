"""Whether a function writes and learns as it should, for exercises 26 and 27, decided without the grader.

The small model is computed here with numpy, as are the lengths of gradients and the optimizers' steps, from autograd's
gradients in float64.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.exercises.ex26_generate import FEW
from grader.exercises.small_model import SmallModel, small_shapes
from grader.model.exercise import Inputs

Array = np.ndarray
Weights = Mapping[str, torch.Tensor]

TEXTS = 2000  # with the same beginning
SIGMAS = 6  # allowed distance of counts from expected ones
TOLERANCE = 1e-4


# --- writing ---------------------------------------------------------------------------------------------------------


def logits_after(weights: Mapping[str, Array], text: Array) -> Array:
    """The logits for the token after a text (T,), from a model that is not in training."""
    text = text[-len(weights["positions.weight"]) :]
    x = weights["tokens.weight"][text] * np.cos(1 + weights["positions.weight"][: len(text)])
    x = x + x.cumsum(0) / np.arange(1, len(text) + 1)[:, None]
    x = x + np.sin(x @ weights["quiet.weight"].T + weights["quiet.bias"])
    return np.asarray(np.tanh(x[-1]) @ weights["head.weight"].T)


def shares_after(weights: Mapping[str, Array], text: Array, temperature: float, top_k: int | None) -> Array:
    """The probability of each token to come next."""
    logits = logits_after(weights, text)
    if temperature == 0 or top_k == 1:
        return np.asarray(np.arange(len(logits)) == logits.argmax(), dtype=float)
    kept = np.argsort(-logits)[:top_k]
    exp = np.zeros_like(logits)
    exp[kept] = np.exp((logits[kept] - logits.max()) / temperature)
    return np.asarray(exp / exp.sum())


def writes_well(weights: Weights, tokens: torch.Tensor, count: int, how: Mapping[str, Any], seen: Any) -> bool:
    """Whether all texts are as they should be, and nothing else has changed."""
    if seen["changes_input"] or seen["train"] != how["train"] or seen["keeps"]:
        return False
    text, few, again, other = seen["outputs"].values()
    if not is_continued(text, tokens, count):
        return False
    if not all(is_continued(one, tokens[:FEW], count) for one in (few, again, other)):
        return False
    exact = {name: one.double().numpy() for name, one in weights.items()}
    given = how["named"].get("temperature", 1.0), how["named"].get("top_k")
    if given[0] == 0 or given[1] == 1:
        return all(follows(exact, row, count, *given) for one in (text, few, again, other) for row in one.numpy())
    if "seed" in how and not torch.equal(few, again):
        return False
    return not torch.equal(few, other) and is_distributed(exact, text.numpy(), count, *given)


def is_continued(text: Any, tokens: torch.Tensor, count: int) -> bool:
    if not isinstance(text, torch.Tensor) or text.dtype != torch.int64:
        return False
    return tuple(text.shape) == (len(tokens), tokens.shape[1] + count) and torch.equal(
        text[:, : -count or None], tokens
    )


def follows(weights: Mapping[str, Array], row: Array, count: int, *how: Any) -> bool:
    """Whether each new token is the only possible one."""
    places = range(len(row) - count, len(row))
    return all(shares_after(weights, row[:place], *how)[row[place]] == 1 for place in places)


def is_distributed(weights: Mapping[str, Array], texts: Array, count: int, *how: Any) -> bool:
    """Whether texts with the same beginning have each continuation as often as they should."""
    start = texts[0, :-count]
    vocabulary = range(len(weights["tokens.weight"]))
    for new in itertools.product(vocabulary, repeat=count):
        known = [np.array([*start, *new[:place]], dtype=int) for place in range(count)]
        share = math.prod(shares_after(weights, text, *how)[token] for text, token in zip(known, new, strict=True))
        found = int((texts[:, -count:] == new).all(1).sum())
        spread = math.sqrt(len(texts) * share * (1 - share))
        if abs(found - len(texts) * share) > SIGMAS * spread + (0 if share == 0 else 3):
            return False
    return True


def texts_to_write() -> list[Inputs]:
    """Cases greedy and drawn, hot and cold, with and without top_k, within and beyond the context."""
    choose = random.Random(26)
    ways: list[dict[str, Any]] = [{"temperature": 0.0}, {"top_k": 1}, {"temperature": 0.0, "top_k": 3}]
    drawn: list[dict[str, Any]] = [
        {}, {"temperature": 0.5}, {"temperature": 2.5}, {"top_k": 2}, {"top_k": 4, "temperature": 1.5},
        {"top_k": 5}, {"top_k": 3, "temperature": 0.7},
    ]  # fmt: skip
    sure = [
        written(choose, choose.randint(1, 4), T, count, way) for way in ways for T, count in ((2, 4), (4, 7), (9, 0))
    ]
    return sure + [written(choose, TEXTS, T, 1 + T % 2, way, alike=True) for way in drawn for T in (2, 7)]


def written(choose: random.Random, B: int, T: int, count: int, way: dict[str, Any], *, alike: bool = False) -> Inputs:
    weights = {name: torch.randn(shape) for name, shape in small_shapes(5, 3 + T % 2, 6).items()}
    tokens = torch.randint(5, (B, T))
    seeded = {"seed": choose.randrange(1000)} if choose.random() < 0.7 else {}
    how = {"train": choose.random() < 0.5, "named": way, **seeded}
    return weights, tokens[:1].expand(B, T).clone() if alike else tokens, count, how


# --- learning --------------------------------------------------------------------------------------------------------


def learns_well(wanted: tuple[list[float], Mapping[str, Array]], seen: Any) -> bool:
    """Whether losses are these, as floats, and weights after all steps are these."""
    losses, weights = wanted
    if seen["changes_input"] or not seen["floats"] or not np.allclose(seen["losses"], losses, rtol=TOLERANCE):
        return False
    return all(
        np.abs(seen["outputs"][name].double().numpy() - one).max() <= TOLERANCE * np.abs(one).max()
        for name, one in weights.items()
    )


def learned(weights: Weights, batches: list[torch.Tensor], how: Mapping[str, Any]) -> Any:
    """The loss before each step, and the weights after all."""
    exact = {name: one.double().numpy() for name, one in weights.items()}
    moments = {name: (np.zeros_like(one), np.zeros_like(one)) for name, one in exact.items()}
    losses = []
    for number, tokens in enumerate(batches, start=1):
        loss, slopes = loss_and_slopes(exact, tokens)
        losses.append(loss)
        length = math.sqrt(sum(float((slope**2).sum()) for slope in slopes.values()))
        factor = min(1.0, how.get("max_norm", 1.0) / length)
        for name, slope in slopes.items():
            exact[name], moments[name] = stepped(exact[name], factor * slope, moments[name], number, how)
    return losses, exact


def loss_and_slopes(weights: Mapping[str, Array], tokens: torch.Tensor) -> tuple[float, dict[str, Array]]:
    """The loss and its gradients in training mode, where the model leaves out a part."""
    model = SmallModel({name: torch.from_numpy(one) for name, one in weights.items()}).train()
    chances = model(tokens).log_softmax(-1)  # (B, T, V)
    B, T = tokens.shape
    told = [chances[b, t, tokens[b, t + 1]] for b in range(B) for t in range(T - 1)]
    loss = -torch.stack(told).mean()
    named = dict(model.named_parameters())
    slopes = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    pairs = zip(named.items(), slopes, strict=True)
    return loss.item(), {name: np.zeros(one.shape) if got is None else got.numpy() for (name, one), got in pairs}


def stepped(
    weight: Array, slope: Array, moments: tuple[Array, Array], number: int, how: Mapping[str, Any]
) -> tuple[Array, tuple[Array, Array]]:
    """A step of plain descent with momentum, or of AdamW, by their papers."""
    first, second = moments
    if how["optimizer"] == "SGD":
        first = how.get("momentum", 0.0) * first + slope
        return weight - how["lr"] * first, (first, second)
    first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
    mean, spread = first / (1 - 0.9**number), np.sqrt(second / (1 - 0.999**number)) + 1e-8
    return weight * (1 - how["lr"] * how["weight_decay"]) - how["lr"] * mean / spread, (first, second)


def steps_to_take() -> list[Inputs]:
    choose = random.Random(27)
    ways: list[dict[str, Any]] = [
        {"lr": 0.1, "max_norm": 20.0}, {"lr": 0.3}, {"lr": 2.0, "max_norm": 0.1},
        {"lr": 0.1, "momentum": 0.7, "max_norm": 2.0},
        {"optimizer": "AdamW", "lr": 0.03, "weight_decay": 0.2, "max_norm": 0.5},
    ]  # fmt: skip
    found = []
    for way, number in itertools.product(ways, range(4)):
        shapes = small_shapes(5 + number, 4, 6)
        weights = {name: torch.randn(shape) for name, shape in shapes.items()}
        before = {name: torch.randn(shape) for name, shape in shapes.items()} if number % 2 else {}
        batches = [torch.randint(5, (choose.randint(1, 3), choose.randint(2, 6))) for _ in range(3)]
        found.append((weights, before, batches, {"optimizer": "SGD", "train": number < 2, **way}))
    return found


def draw(number: int) -> list[Inputs]:
    return texts_to_write() if number == 26 else steps_to_take()


def wanted_of(number: int, given: Inputs) -> Any:
    """A function that recognizes right answers."""
    if number == 26:
        return functools.partial(writes_well, *given)
    weights, _, batches, how = given
    return functools.partial(learns_well, learned(weights, batches, how))


NUMBERS = (26, 27)
