"""Mistakes in writing with a model: exercise 26. Draws are judged by their distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor

CHANGED = "Your function changes the tokens that it gets. Make a longer tensor with torch.cat."
KEEPS = "Your function keeps gradients while it writes, which fills up memory. Write under torch.no_grad()."
LEFT_OFF = (
    "After your function, gradients stay off, so nothing can learn anymore. Write under torch.no_grad(), which ends "
    "with its block."
)
TRAINS = "If the model is in training mode, it writes in training mode. Call model.eval() first."
NEVER_GREEDY = "At temperature 0, your tokens are drawn at random. Take the most likely token each time."
MODE = (
    "Your function does not leave the model in the mode it was in. Save model.training first, and restore it at the "
    "end."
)
MODULES = (
    "The model itself is back in its old mode, but the modules in it are not: setting model.training changes only the "
    "model. Call model.train(was_training), which reaches them all."
)
FROZEN = (
    "After your function, parameters of the model have requires_grad off, so it cannot learn anymore. Write under "
    "torch.no_grad(), and leave the parameters alone."
)
TRUNCATED = (
    "The least likely tokens never come, as if top_k, or something like it, had a value even when none is given. By "
    "default, draw from the whole vocabulary."
)
NO_AXIS = (
    "With top_k, your function works for only one text. Each text has its own smallest logit among the best. Keep "
    "these as a column, as in values[:, -1:], so that they fit (B, V). Then leave out tokens (the last axis), not "
    "texts."
)
SEEDS = "With generators that have the same seed, your function writes different texts. Draw with the generator."
NO_CHANCE = (
    "Your texts are the same, whatever the random numbers are: no token is drawn, or a single token has all the "
    "probability. Draw from the softmax of logits / temperature, over the best top_k."
)
ALL_ALIKE = "Texts that begin alike stay alike. Draw the next token separately for each text."
ONE_FOR_ALL = "One draw decides the next token of all texts. Draw one for each text, by that text's own probabilities."
ONLY_NEW = "Only the new tokens are returned. Return the whole texts, including the tokens from before."
WRONG_CHANCES = (
    "Your tokens are not drawn with the right probabilities: the softmax of logits / temperature, over the best top_k."
)

# For tokens with a different distribution.
NO_TEMPERATURE = "Your tokens are drawn as if temperature were 1. Divide the logits by it before the softmax."
MULTIPLIED = "Your tokens are drawn as if the logits were multiplied by temperature. Divide them by it."
NO_TOP_K = "Your tokens are drawn from the whole vocabulary, whatever top_k is. Keep only the best top_k."
NEITHER = "Your tokens are drawn as if there were neither temperature nor top_k. Use both."
ONE_MORE = "Your tokens are drawn from one token more than top_k. Keep only the best top_k."
ONE_FEWER = (
    "Your tokens are drawn from one token fewer than top_k, so none is left if top_k is 1. The smallest of the best "
    "may come, too: leave out only smaller ones."
)
WORST = "Your tokens are drawn from the top_k least likely ones. Keep the most likely."
ALIKE = "Your tokens are drawn as if all possible tokens were equally likely. Draw them by their probabilities."
TWICE = "Your tokens are drawn as if softmax had been applied twice. Apply it once, to the logits."
PLACES = (
    "With top_k, your tokens are ranks: 0 is the best token, whichever token that is. topk also returns the tokens "
    "themselves, as indices: use the rank that you drew to look up the token there."
)


def wrong_form(text: Any, tokens: Tensor, count: int) -> str:
    """A sentence on texts of the wrong form; empty if it is right."""
    B, T = tokens.shape
    if not isinstance(text, Tensor) or text.dtype != tokens.dtype:
        return "Your function does not return a tensor of integers."
    if count and tuple(text.shape) == (B, count) and not torch.equal(text[:, :T], tokens[:, :count]):
        return ONLY_NEW
    if tuple(text.shape) != (B, T + count):
        return f"Your result has shape {tuple(text.shape)}. It should have shape {(B, T + count)}."
    return "" if torch.equal(text[:, :T], tokens) else "Your texts do not begin with the given tokens."


def wrong_greedy(sample: Any, repeated: Any, other_seed: Any) -> str:
    """A sentence if greedy texts depend on chance; else empty."""
    texts = [one for one in (repeated, other_seed) if isinstance(one, Tensor) and isinstance(sample, Tensor)]
    return "" if all(torch.equal(sample, one) for one in texts) else NEVER_GREEDY


def wrong_chance(text: Tensor, sample: Any, repeated: Any, other_seed: Any, *, has_seed: bool) -> str:
    """A sentence if texts, and fewer that were written anew, depend too little or too much on chance; else empty."""
    if not all(isinstance(one, Tensor) and one.shape[1:] == text.shape[1:] for one in (sample, repeated, other_seed)):
        return WRONG_CHANCES
    if bool((text == text[:1]).all()):
        return ALL_ALIKE if torch.equal(sample, other_seed) else ONE_FOR_ALL
    if torch.equal(sample, other_seed):
        return NO_CHANCE
    return SEEDS if has_seed and not torch.equal(sample, repeated) else ""


def best(logits: Tensor, top_k: int | None, *, largest: bool = True) -> Tensor:
    """The logits, with −∞ for all but the k largest, or smallest."""
    if top_k is None:
        return logits
    indices = logits.topk(top_k, largest=largest).indices
    return torch.full_like(logits, -torch.inf).scatter(-1, indices, logits.gather(-1, indices))


def by_rank(logits: Tensor, top_k: int | None) -> Tensor:
    """Logits by rank, for code that draws places among the best, of which the best is 0."""
    return logits if top_k is None else logits.sort(-1, descending=True).values


# Ways to draw tokens, by the sentence on each: logits whose softmax is their distribution. The right way comes first.
WAYS: dict[str, Callable[[Tensor, float, int | None], Tensor]] = {
    "": lambda logits, temperature, top_k: best(logits, top_k) / temperature,
    NO_TEMPERATURE: lambda logits, temperature, top_k: best(logits, top_k),
    MULTIPLIED: lambda logits, temperature, top_k: best(logits, top_k) * temperature,
    NO_TOP_K: lambda logits, temperature, top_k: logits / temperature,
    NEITHER: lambda logits, temperature, top_k: logits,
    ONE_MORE: lambda logits, temperature, top_k: best(logits, top_k and min(top_k + 1, logits.shape[-1])) / temperature,
    ONE_FEWER: lambda logits, temperature, top_k: best(logits, top_k and max(top_k - 1, 1)) / temperature,
    WORST: lambda logits, temperature, top_k: best(logits, top_k, largest=False) / temperature,
    ALIKE: lambda logits, temperature, top_k: best(1e-9 * logits, top_k),
    TWICE: lambda logits, temperature, top_k: (best(logits, top_k) / temperature).softmax(-1),
    PLACES: lambda logits, temperature, top_k: by_rank(best(logits, top_k) / temperature, top_k),
}
