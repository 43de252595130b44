"""Words hidden that may be seen, or seen that must be hidden."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grader import Misconception

Tensor = torch.Tensor


def hide_later(scores: Tensor) -> Tensor:
    """−∞ where a key is later than the query; a row for each query."""
    return scores + torch.full_like(scores, -torch.inf).triu(1)


def without(weights: Tensor, hidden: Tensor) -> Tensor:
    return weights.masked_fill(hidden, 0.0)


def with_diagonal(later: Tensor) -> Tensor:
    return ~later.mT  # what is not below the diagonal


SOFTMAX_TWICE = Misconception(
    "softmax twice",
    kind="wrong formula",
    credit=0.25,
    says="Your results are those of softmax applied twice, where the second gives hidden words weight again. Apply it "
    "once.",
    change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, dim=-1), dim=-1)},
)


def future_hidden(**change: Any) -> Misconception:
    return Misconception(
        "future hidden",
        kind="mix-up",
        credit=0.5,
        says="Later words are hidden in your results, as by a causal mask. Here every word may look at every word.",
        change=change,
    )


FUTURE_NOT_HIDDEN = Misconception(
    "future not hidden",
    kind="missing step",
    credit=0.25,
    says="Every word sees all words: the weights that you use are not masked. Above the diagonal, the scores "
    "must be −∞ "
    "before softmax.",
    change={"hide": lambda scores, later, *_sizes: scores},
)

PAST_HIDDEN = Misconception(
    "past hidden",
    kind="mix-up",
    credit=0.25,
    says="The past is hidden and the future shown in your results. −∞ belongs above the diagonal: later keys are "
    "there.",
    change={"hide": lambda scores, later, *_sizes: scores.masked_fill(later.mT, -torch.inf)},
)

OWN_WORD_HIDDEN = Misconception(
    "own word hidden",
    kind="mix-up",
    credit=0.25,
    says="A word does not see itself, as when the mask includes the diagonal. It should start above it: diagonal=1.",
    change={"hide": lambda scores, later, *_sizes: scores.masked_fill(with_diagonal(later), -torch.inf)},
)

NEXT_WORD_SEEN = Misconception(
    "next word seen",
    kind="mix-up",
    credit=0.25,
    says="A word sees the one after it, as when the mask begins too late. It should start above the diagonal: "
    "diagonal=1.",
    change={"hide": lambda scores, later, *_sizes: scores.masked_fill(later.triu(2), -torch.inf)},
)

MASKED_AFTER_SOFTMAX = Misconception(
    "masked after softmax",
    kind="missing step",
    credit=0.25,
    says="Your results are those of softmax over all words, with zeros put in afterwards: rows no longer sum to one, "
    "and the future was in the sum. Mask the scores before softmax.",
    change={"hide": lambda scores, later, *_sizes: scores, "hide_weights": without},
)


_SAID_OF_NO_NUMBERS = (
    "Your results are NaN or infinite where something is hidden. Set hidden scores to −∞ before softmax: +∞ there, or "
    "−∞ in the weights, leaves no numbers."
)

# After another layer, hardly anything tells which of the two it was: what they say holds for both.
NO_NUMBERS = Misconception(
    "no numbers for what is hidden",
    kind="wrong formula",
    credit=0.25,
    says=_SAID_OF_NO_NUMBERS,
    change={"hide": lambda scores, hidden, *_sizes: scores.masked_fill(hidden, torch.inf)},
)

NO_NUMBERS_AFTER_SOFTMAX = Misconception(
    "no numbers for what is hidden, after softmax",
    kind="wrong formula",
    credit=0.25,
    says=_SAID_OF_NO_NUMBERS,
    change={
        "hide": lambda scores, *_hidden: scores,
        "hide_weights": lambda weights, hidden: weights.masked_fill(hidden, -torch.inf),
    },
)


def shared_anew(weights: Tensor, hidden: Tensor) -> Tensor:
    """Without the hidden ones, and summing to one again."""
    left = without(weights, hidden)
    return left / left.sum(-1, keepdim=True)


def renormalised_after_softmax(**change: Any) -> Misconception:
    return Misconception(
        "renormalised after softmax",
        kind="wrong formula",
        credit=0.75,
        says="Where hidden scores are far above the others, nothing is left of the weights that may be seen, and 0/0 "
        "is NaN. That happens if you mask and renormalise after softmax: set scores to −∞ before it.",
        change=change,
    )


SOFTMAX_MISSING = Misconception(
    "raw scores as weights",
    kind="missing step",
    credit=0.25,
    says="Your values are weighted by raw scores. The weights are the softmax of the masked scores.",
    change={"hide": lambda scores, hidden, *_sizes: without(scores, hidden), "normalise": lambda scores: scores},
)

MASK_NOT_KEPT = Misconception(
    "mask not kept",
    kind="missing step",
    credit=0.75,
    says="No mask is registered. Make it once in __init__ with self.register_buffer, and cut it to the text.",
    change={"keep_mask": lambda module, mask: None},
)


# Of modules with a causal mask: exercises 16 and 18.
IN_MODULES = [
    *(
        Misconception(
            f"words and sentences exchanged{how}",
            kind="axis",
            credit=0.25,
            says="Your results are those of words that look at the words in the same place of other sentences. Texts "
            "come as (B, T, d_in): the words of a sentence are along dimension 1.",
            change={
                "prepare": lambda x: x.transpose(0, 1),
                "finish": lambda outputs: outputs.transpose(0, 1),
                **masked,
            },
        )
        for how, masked in (
            ("", {}),  # stops with more sentences than context_length
            (", masked as they come", {"crop": lambda later, T: later.new_ones(T, T).triu(1)}),
        )
    ),
    Misconception(
        "mask not cut to the text",
        kind="hard-coded",
        credit=0.5,
        says="Texts shorter than context_length stop with an error. The mask must be cut to the text: mask[:T, :T].",
        change={"crop": lambda later, T: later},
    ),
    Misconception(
        "weights transposed",
        kind="axis",
        credit=0.25,
        says="Your results are those of transposed weights, where words see the future. Row i of the weights "
        "belongs to "
        "query i.",
        change={"mix": lambda weights, v: weights.mT @ v},
    ),
    Misconception(
        "first sentence only",
        kind="missing step",
        credit=0.25,
        says="You return one sentence of the batch. The result has shape (B, T, d_out).",
        change={"finish": lambda outputs: outputs[0]},
    ),
    Misconception(
        "mask is a plain attribute",
        kind="missing step",
        credit=0.75,
        says="The mask is a plain attribute: it does not move with the module. Use self.register_buffer.",
        change={"keep_mask": lambda module, mask: setattr(module, "mask", mask)},
    ),
    Misconception(
        "mask is not saved",
        kind="missing step",
        credit=0.75,
        says="The mask is a buffer with persistent=False, so it is not in state_dict. Leave that out.",
        change={"keep_mask": lambda module, mask: module.register_buffer("mask", mask, persistent=False)},
    ),
    Misconception(
        "mask is a parameter",
        kind="mix-up",
        credit=0.75,
        says="The mask is a parameter, so an optimiser would look at it. Register it as a buffer instead.",
        change={"keep_mask": lambda module, mask: setattr(module, "mask", nn.Parameter(mask, requires_grad=False))},
    ),
]
