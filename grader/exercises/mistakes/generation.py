"""What goes wrong in writing with a model: exercise 26. Draws are judged by how they are distributed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from grader import Misconception

Tensor = torch.Tensor

CHANGED = "Your function changes the tokens that it is given. Make a longer tensor with torch.cat."
KEEPS = "Gradients are kept while your function writes, which fills the memory. Write under torch.no_grad()."
LEFT_OFF = (
    "After your function, gradients are off for all that comes, and nothing learns any more. Write under "
    "torch.no_grad(), which ends with its block."
)
TRAINS = "A model that comes in training mode writes in training mode. Call model.eval() first."
NEVER_GREEDY = "At temperature 0, your tokens are drawn by chance. It should be the most likely token each time."
MODE = "The model is not left in the mode in which it came. Note model.training first, and set it again at the end."
MODULES = (
    "The model has its own mode again, but not the modules in it: what is assigned to model.training stays with the "
    "model. Call model.train(was_training), which reaches them all."
)
FROZEN = (
    "After your function, parameters of the model have requires_grad off, and it learns no more. Write under "
    "torch.no_grad() and leave the parameters alone."
)
TRUNCATED = (
    "The least likely tokens never come, as if top_k or something like it had a value when none is given. By default, "
    "draw from the whole vocabulary."
)
NO_AXIS = (
    "With top_k, your function works for one text only. Each text has a smallest of its best logits, which keeps its "
    "axis beside (B, V), as in values[:, -1:]; and it is tokens that are left out, the last axis, not texts."
)
SEEDS = "With generators of the same seed, your function writes different texts. Draw with the generator."
NO_CHANCE = "Your texts are the same whatever the random numbers are. Draw each token by its probability."
ALL_ALIKE = "Texts that begin alike all go on alike. Draw each token by its probability, for each text on its own."
ONLY_NEW = "Only the new tokens are returned. Return the whole texts, with the tokens that were there before."
OTHER = (
    "Your tokens are not drawn by the probabilities asked for: the softmax of logits / temperature, of the best top_k."
)

Shape = Callable[[Tensor, float, int | None], Tensor]


def wrong_form(text: Any, tokens: Tensor, count: int) -> str:
    """A sentence on texts that are not built as they should be."""
    B, T = tokens.shape
    if not isinstance(text, Tensor) or text.dtype != tokens.dtype:
        return "Your function does not return a tensor of whole numbers."
    if count and tuple(text.shape) == (B, count) and not torch.equal(text[:, :T], tokens[:, :count]):
        return ONLY_NEW
    if tuple(text.shape) != (B, T + count):
        return f"Your result has shape {tuple(text.shape)}, but {(B, T + count)} is expected."
    return "" if torch.equal(text[:, :T], tokens) else "Your texts do not begin with the tokens that were given."


def wrong_greedy(few: Any, again: Any, other: Any) -> str:
    """A sentence on chance that has a part in it."""
    texts = [one for one in (again, other) if isinstance(one, Tensor) and isinstance(few, Tensor)]
    return "" if all(torch.equal(few, one) for one in texts) else NEVER_GREEDY


def wrong_chance(text: Tensor, few: Any, again: Any, other: Any, *, given: bool) -> str:
    """A sentence on chance that has no part in it, or too much: in a text, and in fewer that were written anew."""
    if not all(isinstance(one, Tensor) and one.shape[1:] == text.shape[1:] for one in (few, again, other)):
        return OTHER
    if bool((text == text[:1]).all()):
        return ALL_ALIKE
    if torch.equal(few, other):
        return NO_CHANCE
    return SEEDS if given and not torch.equal(few, again) else ""


def best(logits: Tensor, top_k: int | None, *, largest: bool = True) -> Tensor:
    """−∞ for all but the k best, or worst."""
    if top_k is None:
        return logits
    kept = logits.topk(top_k, largest=largest).indices
    return torch.full_like(logits, -torch.inf).scatter(-1, kept, logits.gather(-1, kept))


def no_temperature(logits: Tensor, _temperature: float, top_k: int | None) -> Tensor:
    return best(logits, top_k).softmax(-1)


def multiplied(logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    return (best(logits, top_k) * temperature).softmax(-1)


def no_top_k(logits: Tensor, temperature: float, _top_k: int | None) -> Tensor:
    return (logits / temperature).softmax(-1)


def neither(logits: Tensor, _temperature: float, _top_k: int | None) -> Tensor:
    return logits.softmax(-1)


def one_more(logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    return (best(logits, top_k and min(top_k + 1, logits.shape[-1])) / temperature).softmax(-1)


def worst(logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    return (best(logits, top_k, largest=False) / temperature).softmax(-1)


def alike(logits: Tensor, _temperature: float, top_k: int | None) -> Tensor:
    return best(torch.zeros_like(logits) + 1e-9 * logits, top_k).softmax(-1)


def places(logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    """The best has the place 0."""
    p = (best(logits, top_k) / temperature).softmax(-1)
    return p if top_k is None else p.sort(-1, descending=True).values


def only_the_best(logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    return (best(logits, top_k and 1) / temperature).softmax(-1)


def softmax_twice(logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    kept = (best(logits, top_k) / temperature).softmax(-1)
    return kept.softmax(-1)


# How tokens may be distributed by mistake: the sentence, and the probabilities.
WAYS: dict[str, Shape] = {
    "Your tokens are drawn as if temperature were 1. Divide the logits by it before the softmax.": no_temperature,
    "Your tokens are drawn as if logits were multiplied by temperature. Divide them by it.": multiplied,
    "Your tokens are drawn from the whole vocabulary, whatever top_k is. Keep only the best top_k.": no_top_k,
    "Your tokens are drawn as if there were neither temperature nor top_k.": neither,
    "Your tokens are drawn from one token more than top_k.": one_more,
    "Your tokens are drawn from the top_k least likely ones. Keep the most likely.": worst,
    "Your tokens are drawn as if all that may come were equally likely. Draw them by their probability.": alike,
    "Your tokens are drawn by the softmax of a softmax. Take it once, of the logits.": softmax_twice,
    "With top_k, your tokens are places among the best: 0 for the best one, whichever token it is. topk returns the "
    "tokens, too, as indices: take the one that stands at the place drawn.": places,
}
_NAMES = (
    ("temperature without effect", "missing step", 0.5),
    ("temperature multiplied", "wrong formula", 0.75),
    ("top_k without effect", "missing step", 0.5),
    ("neither temperature nor top_k", "missing step", 0.25),
    ("one token more", "mix-up", 0.75),
    ("the least likely", "axis", 0.5),
    ("all equally likely", "missing step", 0.25),
    ("softmax twice", "wrong formula", 0.5),
    ("places for tokens", "mix-up", 0.5),
)


def without_gradients(model: Any, before: bool) -> None:
    model.train(before)
    torch.set_grad_enabled(False)


def first_row(p: Tensor, generator: Any) -> Tensor:
    return torch.multinomial(p[:1], 1, generator=generator).expand(len(p), 1)


def only_its_own(model: Any, before: bool) -> None:
    model.training = before


def freeze(model: Any) -> None:
    model.eval().requires_grad_(False)


def by_default(k: int, logits: Tensor, temperature: float, top_k: int | None) -> Tensor:
    return (best(logits, top_k or min(k, logits.shape[-1])) / temperature).softmax(-1)


def without_its_axis(logits: Tensor, top_k: int | None) -> Tensor:
    """(B, V) beside (B,), which fits a single text only."""
    if top_k is None:
        return logits
    return logits.masked_fill(logits < logits.topk(top_k).values[:, -1], -torch.inf)


ALL = [
    *(
        Misconception(name, kind=kind, credit=credit, says=sentence, change={"shaped": shaped})
        for (name, kind, credit), (sentence, shaped) in zip(_NAMES, WAYS.items(), strict=True)
    ),
    Misconception(
        "texts go on alike, always greedy",
        kind="missing step",
        credit=0.5,
        says=ALL_ALIKE,
        change={"is_greedy": lambda temperature: True},
    ),
    Misconception(
        "texts go on alike with top_k",
        kind="mix-up",
        credit=0.5,
        says="With top_k, texts that begin alike all go on alike, as if only one token could come. Any of the best "
        "top_k may: what is less than the smallest of them is left out.",
        change={"shaped": only_the_best},
    ),
    Misconception(
        "never greedy",
        kind="missing step",
        credit=0.5,
        says=NEVER_GREEDY,
        change={
            "is_greedy": lambda temperature: False,
            "shaped": lambda logits, temperature, top_k: (
                no_temperature(logits, 1.0, top_k)
                if temperature == 0
                else (best(logits, top_k) / temperature).softmax(-1)
            ),
        },
    ),
    Misconception(
        "divided by a temperature of 0",
        kind="missing step",
        credit=0.5,
        says="At temperature 0, your function divides by zero, and nothing is left to draw by. Take the most "
        "likely token there: argmax.",
        change={"is_greedy": lambda temperature: False},
    ),
    Misconception(
        "the least likely at temperature 0",
        kind="axis",
        credit=0.5,
        says="At temperature 0, your function takes the least likely token. It should be the most likely one: argmax.",
        change={"best": lambda logits: logits.argmin(-1, keepdim=True)},
    ),
    Misconception(
        "generator without effect",
        kind="missing step",
        credit=0.75,
        says=SEEDS,
        change={"draw": lambda p, generator: torch.multinomial(p, 1)},
    ),
    Misconception(
        "texts go on alike, drawn once",
        kind="mix-up",
        credit=0.5,
        says=ALL_ALIKE,
        change={"draw": first_row},
    ),
    Misconception(
        "not in evaluation mode",
        kind="missing step",
        credit=0.75,
        says=TRAINS,
        change={"enter": lambda model: None},
    ),
    Misconception(
        "mode not set again, evaluation",
        kind="missing step",
        credit=0.75,
        says=MODE,
        change={"leave": lambda model, before: None},
    ),
    Misconception(
        "mode not set again, training",
        kind="mix-up",
        credit=0.75,
        says=MODE,
        change={"leave": lambda model, before: model.train()},
    ),
    Misconception(
        "mode of the modules not set again",
        kind="mix-up",
        credit=0.75,
        says=MODULES,
        change={"leave": only_its_own},
    ),
    Misconception("parameters left frozen", kind="gradient", credit=0.75, says=FROZEN, change={"enter": freeze}),
    *(
        Misconception(
            name, kind="convention", credit=0.75, says=TRUNCATED, change={"shaped": functools.partial(by_default, k)}
        )
        for name, k in (("top_k has a default", 20), ("top_k has a default, a small one", 5))
    ),
    *(
        Misconception(name, kind="axis", credit=0.5, says=NO_AXIS, change=change)
        for name, change in (
            ("smallest of the best without its axis", {"among": without_its_axis}),
            (
                "smallest of the best without its axis, drawn",
                {
                    "shaped": lambda logits, temperature, top_k: (
                        without_its_axis(logits, top_k) / temperature
                    ).softmax(-1)
                },
            ),
        )
    ),
    Misconception(
        "gradients left off", kind="gradient", credit=0.75, says=LEFT_OFF, change={"leave": without_gradients}
    ),
    Misconception("gradients kept", kind="gradient", credit=0.75, says=KEEPS, change={"grad": True}),
    Misconception(
        "not cropped",
        kind="missing step",
        credit=0.5,
        says="Texts longer than context_length reach the model whole, and it has no positions for them. Give it the "
        "last context_length tokens.",
        change={"crop": lambda tokens, longest: tokens},
    ),
    Misconception(
        "the text itself cropped",
        kind="mix-up",
        credit=0.75,
        says="Of texts longer than context_length, the beginning is gone from your result. It is what the model gets "
        "that is cropped; the text itself keeps all of its tokens, so give what is cropped a name of its own.",
        change={"keep": lambda tokens, longest: tokens[:, -longest:]},
    ),
    Misconception(
        "cropped to the first words",
        kind="axis",
        credit=0.5,
        says="Of long texts, the model gets the first context_length tokens. It should get the last ones.",
        change={"crop": lambda tokens, longest: tokens[:, :longest]},
    ),
    Misconception(
        "cropped too much",
        kind="mix-up",
        credit=0.75,
        says="Of long texts, the model gets one token fewer than context_length.",
        change={"crop": lambda tokens, longest: tokens[:, -(longest - 1) :]},
    ),
    Misconception(
        "the last word only",
        kind="missing step",
        credit=0.5,
        says="The model gets only the last token in your results. It should get the whole text, up to context_length.",
        change={"crop": lambda tokens, longest: tokens[:, -1:]},
    ),
    Misconception(
        "logits of the first word",
        kind="axis",
        credit=0.25,
        says="Your tokens come from the logits at the first position. Those at the last one say what comes next.",
        change={"last": lambda logits: logits[:, 0]},
    ),
    Misconception(
        "only new tokens returned",
        kind="convention",
        credit=0.75,
        says=ONLY_NEW,
        change={"returned": lambda tokens, count: tokens[:, tokens.shape[1] - count :]},
    ),
]
