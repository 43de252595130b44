"""Mistakes with a cache of keys and values: steps of exercise 29."""

from __future__ import annotations

import torch

from grader import Misconception

from . import heads

Tensor = torch.Tensor

# For how long a module itself keeps the past.
NEVER, UNTIL_A_NEW_TEXT, FOR_EVER = "never", "until a new text", "for ever"


def later_than(T: int, S: int, last_sees: int) -> Tensor:
    """True where the key comes after what query i sees: the keys up to i + last_sees."""
    return torch.ones(T, S, dtype=torch.bool).triu(1 + last_sees)


OWN_WORD_HIDDEN = Misconception(
    "own word hidden",
    kind="mix-up",
    credit=0.25,
    says="In your results, a word does not see itself. It should see the cached words, and those of its chunk up to "
    "and including its own.",
    change={"hidden": lambda T, S, is_first: later_than(T, S, S - T - 1)},
)
MASK_INVERTED = Misconception(
    "mask inverted",
    kind="mix-up",
    credit=0.25,
    says="What should be seen is hidden in your results, and vice versa: a word sees only the later words of its "
    "chunk. In masks of PyTorch's own kernel, True is what is seen; masked_fill fills where True is.",
    change={"hidden": lambda T, S, is_first: ~later_than(T, S, S - T)},
)


IN_CACHES = [
    Misconception(
        "mask from the first key",
        kind="mix-up",
        credit=0.5,
        says="Where there is a cache, query i of a chunk sees the keys 0 … i, as if the text began there. It comes "
        "after all cached words: it should see these, and the words of the chunk up to its own.",
        change={"hidden": lambda T, S, is_first: later_than(T, S, 0)},
    ),
    Misconception(
        "mask from the first key, except for single words",
        kind="mix-up",
        credit=0.5,
        says="Single words see what they should, but where there is a cache, query i of a longer chunk sees the keys "
        "0 … i, as if the text began there. It comes after all cached words: it should see these, and the words of "
        "the chunk up to its own.",
        change={"hidden": lambda T, S, is_first: later_than(T, S, 0 if T > 1 else S)},
    ),
    Misconception(
        "no mask with a cache",
        kind="missing step",
        credit=0.5,
        says="Where there is a cache, the words of a chunk see each other's future. That is right for single words "
        "only: hide the later words of the chunk.",
        change={"hidden": lambda T, S, is_first: later_than(T, S, 0 if is_first else S)},
    ),
    Misconception(
        "no mask",
        kind="missing step",
        credit=0.25,
        says="Every word of a chunk sees all words of it. No word may see a later one.",
        change={"hidden": lambda T, S, is_first: later_than(T, S, S)},
    ),
    OWN_WORD_HIDDEN,
    heads.with_zeros(OWN_WORD_HIDDEN),
    MASK_INVERTED,
    heads.with_zeros(MASK_INVERTED),
    Misconception(
        "next word seen",
        kind="mix-up",
        credit=0.25,
        says="A word sees the one after it. It should see the cached words, and those of its chunk up to its own.",
        change={"hidden": lambda T, S, is_first: later_than(T, S, S - T + 1)},
    ),
    Misconception(
        "cache without effect",
        kind="missing step",
        credit=0.25,
        says="What came before is ignored in your results: each chunk is a text of its own. Put the cached keys and "
        "values before the new ones.",
        change={"join": lambda past, new: new},
    ),
    Misconception(
        "new words before old ones",
        kind="arrangement",
        credit=0.5,
        says="New keys and values stand before the cached ones in your results. They should come after them.",
        change={"join": lambda past, new: torch.cat([new, past], dim=2)},
    ),
    Misconception(
        "new words alone handed on",
        kind="missing step",
        credit=0.5,
        says="The cache that you return holds the words of the last chunk alone. It must hold all, for the chunks to "
        "come.",
        change={"hand_on": lambda joined, new: new},
    ),
    Misconception(
        "cache kept by the module",
        kind="mix-up",
        credit=0.25,
        says="Called twice with the same text and no cache, your module gives two different outputs: something is kept "
        "between the calls. All that it knows of the past must be in the cache that it is given.",
        change={"keeps": FOR_EVER},
    ),
    Misconception(
        "cache kept by the module, until a new text",
        kind="mix-up",
        credit=0.5,
        says="Your module goes on where its last call ended, whatever cache it is given. Two texts that are continued "
        "in turns get mixed up. All that it knows of the past must be in the cache that it is given.",
        change={"keeps": UNTIL_A_NEW_TEXT},
    ),
    Misconception(
        "given cache changed",
        kind="input",
        credit=0.5,
        says="A cache that was passed in is no longer the same afterwards, so no second text can go on from it. Make "
        "new tensors and a new pair.",
        change={"overwrites": True},
    ),
    Misconception(
        "cache detached",
        kind="gradient",
        credit=0.5,
        says="No gradient comes through the cache. Neither detach nor .data belongs on what you pass on.",
        change={"kept_as": lambda tensor: tensor.detach()},
    ),
    Misconception(
        "no cache returned",
        kind="missing step",
        credit=0.25,
        says="What your forward returns is not y and a pair of keys and values, so each chunk is a text of its own.",
        change={"returns": lambda y, cache: (y, None)},
    ),
    Misconception(
        "keys and values apart",
        kind="arrangement",
        credit=0.5,
        says="Your forward returns three things: y, keys and values. It should be two: y, and the pair of the others.",
        change={"returns": lambda y, cache: (y, *cache)},
    ),
    Misconception(
        "cache first",
        kind="arrangement",
        credit=0.5,
        says="You return the cache and y. The order is y, cache.",
        change={"returns": lambda y, cache: (cache, y)},
    ),
    Misconception(
        "values first in the cache",
        kind="arrangement",
        credit=0.5,
        says="Your cache holds values and keys. The order is keys, values.",
        change={"order": (1, 0)},
    ),
    Misconception(
        "heads merged in the cache",
        kind="arrangement",
        credit=0.5,
        says="The outputs are right where the cache is your own, but your cache has shape (B, S, d_model). Keep the "
        "keys and values of each head: (B, H, S, d).",
        change={
            "kept_as": lambda tensor: tensor.transpose(1, 2).flatten(2),
            "taken_as": lambda tensor, heads: tensor.reshape(*tensor.shape[:-1], heads, -1).transpose(1, 2),
        },
    ),
    Misconception(
        "words before heads in the cache",
        kind="arrangement",
        credit=0.5,
        says="The outputs are right where the cache is your own, but your cache has shape (B, S, H, d). Keep keys and "
        "values as (B, H, S, d).",
        change={
            "kept_as": lambda tensor: tensor.transpose(1, 2),
            "taken_as": lambda tensor, heads: tensor.transpose(1, 2),
        },
    ),
]
