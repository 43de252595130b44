"""Mistakes with pages, tables of pages, and lengths: steps of exercise 35."""

from __future__ import annotations

from typing import Any

import torch

from grader import Misconception

from . import masks

Tensor = torch.Tensor


def by_number(page_table: Tensor) -> Tensor:
    """Sorted, with −1 behind."""
    found = torch.where(page_table < 0, torch.iinfo(page_table.dtype).max, page_table).sort(dim=1).values
    return torch.where(found == torch.iinfo(page_table.dtype).max, -1, found)


def one_less(lengths: Tensor, _page_table: Tensor, _sizes: Any) -> Tensor:
    return lengths - 1


def zero_of_nothing(weights: Tensor, hidden: Tensor) -> Tensor:
    """As of a sum over no words; a softmax of nothing but −∞ is NaN."""
    return weights.masked_fill(hidden, 0.0)


def spread(place: Tensor, page_size: int) -> Tensor:
    """One word on each page, then the next slot."""
    return place // (len(place) // page_size)


def heads_first(slots: Tensor) -> Tensor:
    """(B, S, H, d) viewed as if it were (B, H, S, d)."""
    B, S, H, d = slots.shape
    return slots.reshape(B, H, S, d).transpose(1, 2)


def from_the_first(page_table: Tensor) -> Tensor:
    """Each sentence has the pages 0, 1, 2, …"""
    return torch.arange(page_table.shape[1], device=page_table.device).expand_as(page_table)


def whole_pages(lengths: Tensor, _page_table: Tensor, sizes: Any) -> Tensor:
    size: int = sizes.page_size
    return -(-lengths // size) * size


def full_pages(lengths: Tensor, _page_table: Tensor, sizes: Any) -> Tensor:
    size: int = sizes.page_size
    return lengths // size * size


def each_page_by_itself(weights: Tensor, sizes: Any) -> Tensor:
    """Weights (B, H, S) that sum to one on each page that has any."""
    of_pages = weights.reshape(*weights.shape[:-1], -1, sizes.page_size)
    shared: Tensor = (of_pages / of_pages.sum(-1, keepdim=True)).nan_to_num(0.0).flatten(-2)
    return shared


ON_PAGES = [
    Misconception(
        "page table without effect",
        kind="missing step",
        credit=0.25,
        says="Your results are those of the pages 0, 1, 2, … for each sentence. Which pages a sentence has, and in "
        "which order, is in its row of page_table.",
        change={"table": from_the_first},
    ),
    Misconception(
        "softmax of each page",
        kind="missing step",
        credit=0.25,
        says="In your results, the weights of each page sum to one, and the outputs of the pages are added up. All "
        "words of a sentence share one softmax, whichever page they are on.",
        change={"change_weights": each_page_by_itself},
    ),
    Misconception(
        "first sentence's pages for all",
        kind="mix-up",
        credit=0.25,
        says="In your results, all sentences have the pages of the first. Sentence b has those in row b of page_table.",
        change={"table": lambda page_table: page_table[:1].expand_as(page_table)},
    ),
    Misconception(
        "pages in reverse order",
        kind="arrangement",
        credit=0.5,
        says="The last page of the table comes first in your results. The pages should come in order.",
        change={"table": lambda page_table: page_table.flip(1)},
    ),
    Misconception(
        "pages sorted",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of pages in the order of their numbers. A sentence goes through its pages as they "
        "stand in page_table.",
        change={"table": by_number},
    ),
    Misconception(
        "pages counted from one",
        kind="convention",
        credit=0.5,
        says="Your results are those of page numbers that begin with 1. The first page is page 0.",
        change={"table": lambda page_table: torch.where(page_table >= 0, page_table - 1, page_table)},
    ),
    Misconception(
        "lengths without effect, −1 taken for the last page",
        kind="missing step",
        credit=0.25,
        says="All slots count in your results, and where the table has −1, those of the last page count. Of sentence "
        "b, only the first lengths[b] words count.",
        change={"used": lambda lengths, page_table, sizes: torch.full_like(lengths, sizes.M * sizes.page_size)},
    ),
    Misconception(
        "lengths without effect, −1 taken for page 0",
        kind="missing step",
        credit=0.25,
        says="All slots count in your results, and where the table has −1, those of page 0 count. Of sentence b, only "
        "the first lengths[b] words count.",
        change={
            "table": lambda page_table: page_table.clamp(min=0),
            "used": lambda lengths, page_table, sizes: torch.full_like(lengths, sizes.M * sizes.page_size),
        },
    ),
    Misconception(
        "lengths without effect",
        kind="missing step",
        credit=0.25,
        says="All slots of a sentence's pages count in your results, even those that nobody has written to. For its "
        "last page, only lengths[b] tells how many should count.",
        change={"used": whole_pages},
    ),
    Misconception(
        "free slots set to zero",
        kind="wrong formula",
        credit=0.5,
        says="In your results, slots that a sentence does not use count as keys and values of zeros: the score of such "
        "a key is 0, and exp(0) is 1, so it takes its share of the weights. Set its score to −∞.",
        change={"hide": masks.without, "hide_weights": masks.without},
    ),
    Misconception(
        "last page left out",
        kind="missing step",
        credit=0.5,
        says="Only full pages count in your results. The last page may have free slots, and its words count, too.",
        change={"used": full_pages, "hide_weights": zero_of_nothing},
    ),
    Misconception(
        "one word too few",
        kind="wrong formula",
        credit=0.5,
        says="The last word of each sentence does not count in your results. The first lengths[b] should count, and "
        "the last of these is at place lengths[b] − 1.",
        change={"used": one_less, "hide_weights": zero_of_nothing},
    ),
    Misconception(
        "one word too few, and NaN of a single one",
        kind="wrong formula",
        credit=0.5,
        says="The last word of each sentence does not count in your results, and where there is only one, your results "
        "are NaN. The first lengths[b] should count, and the last of these is at place lengths[b] − 1.",
        change={"used": one_less},
    ),
    Misconception(
        "one word too many",
        kind="wrong formula",
        credit=0.5,
        says="One slot too many counts in your results. The first lengths[b] should count, and the last of these is at "
        "place lengths[b] − 1.",
        change={"used": lambda lengths, page_table, sizes: lengths + 1},
    ),
    Misconception(
        "longest sentence for all",
        kind="mix-up",
        credit=0.25,
        says="In your results, all sentences are as long as the longest. Sentence b has lengths[b] words.",
        change={"used": lambda lengths, page_table, sizes: lengths.max().expand_as(lengths)},
    ),
    Misconception(
        "shortest sentence for all",
        kind="mix-up",
        credit=0.25,
        says="In your results, all sentences are as short as the shortest. Sentence b has lengths[b] words.",
        change={"used": lambda lengths, page_table, sizes: lengths.min().expand_as(lengths)},
    ),
    Misconception(
        "first length for all",
        kind="mix-up",
        credit=0.25,
        says="In your results, all sentences are as long as the first. Sentence b has lengths[b] words.",
        change={"used": lambda lengths, page_table, sizes: lengths[:1].expand_as(lengths)},
    ),
    Misconception(
        "page and slot exchanged",
        kind="mix-up",
        credit=0.5,
        says="Neighbouring words lie on different pages in your results. Word i is on page i // page_size of its "
        "sentence, in slot i % page_size.",
        change={"page": lambda place, page_size: place % (len(place) // page_size), "slot": spread},
    ),
    Misconception(
        "words and heads mixed up",
        kind="arrangement",
        credit=0.25,
        says="Your results are those of slots of shape (B, S, H, d) that are viewed as (B, H, S, d), which mixes words "
        "and heads up. Exchange axes with transpose or permute.",
        change={"laid_out": heads_first},
    ),
    Misconception(
        "slots in reverse order",
        kind="arrangement",
        credit=0.5,
        says="In your results, a page is filled from its last slot. It should be filled from slot 0.",
        change={"slot": lambda place, page_size: page_size - 1 - place % page_size},
    ),
    Misconception(
        "first slot of each page",
        kind="missing step",
        credit=0.25,
        says="In your results, all words of a page are its first. Word i is in slot i % page_size.",
        change={"slot": lambda place, page_size: torch.zeros_like(place)},
    ),
]
