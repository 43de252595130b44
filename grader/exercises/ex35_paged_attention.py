"""Exercise 35: one query a sentence, whose keys and values lie on pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms.exact import EXACT

from .head_cases import along_a_line, keys_along_a_line
from .mistakes import heads, masks
from .mistakes.pages import ON_PAGES
from .mistakes.pieces import PIECES, unchanged
from .page_picture import in_use, named_slots, slots_read

Tensor = torch.Tensor

NONE = -1  # where a table has no page
WILD = 30.0  # times as large as others are the numbers in slots that nobody uses


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    B: int
    H: int
    d: int
    page_size: int
    M: int  # pages of the longest sentence


def page_of(place: Tensor, page_size: int) -> Tensor:
    return place // page_size


def slot_of(place: Tensor, page_size: int) -> Tensor:
    return place % page_size


def attention(
    query: Tensor,
    key_pages: Tensor,
    value_pages: Tensor,
    page_table: Tensor,
    lengths: Tensor,
    *,
    page: Callable[[Tensor, int], Tensor] = page_of,
    slot: Callable[[Tensor, int], Tensor] = slot_of,
    table: Callable[[Tensor], Tensor] = lambda page_table: page_table,
    used: Callable[[Tensor, Tensor, Sizes], Tensor] = lambda lengths, pages, sizes: lengths,
    laid_out: Callable[[Tensor], Tensor] = unchanged,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda k, v: k,
    score: Callable[[Tensor, Tensor], Tensor] = lambda q, k: torch.einsum("bhd,bshd->bhs", q, k),
    scale: Callable[[Tensor, Sizes], Tensor] = lambda scores, sizes: scores / sizes.d**0.5,
    hidden: Callable[[Tensor, Tensor], Tensor] = lambda place, used: place >= used[:, None],
    hide: Callable[[Tensor, Tensor], Tensor] = lambda scores, hidden: scores.masked_fill(hidden, -torch.inf),
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=-1),
    hide_weights: Callable[[Tensor, Tensor], Tensor] = lambda weights, hidden: weights,
    change_weights: Callable[[Tensor, Sizes], Tensor] = lambda weights, sizes: weights,
    weighed: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda q, k, v: v,
    mix: Callable[[Tensor, Tensor], Tensor] = lambda weights, v: torch.einsum("bhs,bshd->bhd", weights, v),
    after: Callable[[Tensor, Sizes], Any] = lambda outputs, sizes: outputs,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    B, H, d = query.shape
    page_size, M = key_pages.shape[1], page_table.shape[1]
    sizes = Sizes(B, H, d, page_size, M)
    place = torch.arange(M * page_size, device=query.device)  # of a word in its sentence
    pages = table(page_table)  # (B, M)
    where = pages[:, page(place, page_size)], slot(place, page_size)  # (B, S), (S,)
    k, v = (
        laid_out(key_pages[where]),
        laid_out(value_pages[where]),
    )  # (B, S, H, d) each; −1 takes the last page, which is hidden then
    not_used = hidden(place, used(lengths, page_table, sizes))[:, None]  # (B, 1, S)
    scores = hide(scale(score(query, compared(k, v)), sizes), not_used)  # (B, H, S)
    weights = change_weights(hide_weights(normalise(scores), not_used), sizes)
    return dtype(finish(after(mix(weights, weighed(query, k, v)), sizes)))  # (B, H, d)


reference = asked(attention)


def sized(
    lengths: list[int],
    page_size: int,
    H: int,
    d: int,
    *,
    spare: int = 2,
    shared: int = 0,
    longer: int = 0,
) -> Callable[[torch.Generator], Inputs]:
    """Sentences of these lengths, on pages in a random order. `shared` is how many first pages all have in common,
    `spare` how many pages nobody has, and `longer` by how much the table is longer than it need be."""

    def inputs(rng: torch.Generator) -> Inputs:
        counts = [-(-length // page_size) for length in lengths]
        total = shared + sum(max(count - shared, 0) for count in counts)
        free = torch.randperm(total + spare, generator=rng).tolist()
        common = [free.pop() for _ in range(shared)]
        rows = [common[:count] + [free.pop() for _ in range(count - shared)] for count in counts]
        page_table = torch.full((len(lengths), max(counts) + longer), NONE)
        for row, pages in enumerate(rows):
            page_table[row, : len(pages)] = torch.tensor(pages)
        written = in_use(page_table, torch.tensor(lengths), total + spare, page_size)
        sheets = [_written(randn(rng, *written.shape, H, d), written) for _ in range(2)]
        return randn(rng, len(lengths), H, d), *sheets, page_table, torch.tensor(lengths)

    return inputs


def _written(pages: Tensor, written: Tensor) -> Tensor:
    """Pages of which the slots that nobody uses hold far larger numbers."""
    return torch.where(written[..., None, None], pages, WILD * pages)


def large(rng: torch.Generator) -> Inputs:
    """Two sentences whose keys lie along a line: scores reach ±10⁴, and those of slots that nobody uses are larger."""
    _query, _keys, values, page_table, lengths = sized([5, 4], 3, 2, 4)(rng)
    P, size, H, d = values.shape
    lines = keys_along_a_line(rng, H, P * size, d).movedim(0, 1).reshape(values.shape)
    written = in_use(page_table, lengths, P, size)[..., None, None]
    return -along_a_line(rng, 2, H, d), torch.where(written, lines, 400.0), values, page_table, lengths


exercise = Exercise(
    number=35,
    assignment="fast_attention",
    title="A cache in pages",
    entry="paged_attention",
    form=EXACT,
    reference=reference,
    picture=slots_read,
    scales={"scale": "the dot products of the query and the keys"},
    cases=[
        Case(
            "three sentences", catches="lengths that are ignored, −1 taken for a page", inputs=sized([5, 2, 7], 3, 2, 4)
        ),
        Case("full pages", catches="an empty page after a full one", inputs=sized([4, 8], 4, 3, 5)),
        Case("one word", catches="a last page that has a single word", inputs=sized([1, 7, 4], 3, 2, 6)),
        Case("pages of one slot", catches="a fixed page size", inputs=sized([3, 5], 1, 2, 3)),
        Case(
            "shared first pages",
            catches="pages that are taken for one sentence's own",
            inputs=sized([5, 6, 3], 2, 2, 5, shared=1),
        ),
        Case("a longer table", catches="as many pages as the table is wide", inputs=sized([4, 3], 2, 3, 2, longer=2)),
        Case("one sentence, one head", catches="squeezed dimensions", inputs=sized([4], 3, 1, 3)),
        Case("one entry", catches="squeezed dimensions", inputs=sized([3, 2], 2, 2, 1)),
        Case(
            "everything is four",
            catches="axes that are exchanged without an error",
            inputs=sized([4, 3, 2, 1], 4, 4, 4, spare=0),
        ),
        Case(
            "values that name their slots", catches="words of other sentences, shown in a picture", inputs=named_slots
        ),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large, beside=LARGE),
        *as_pieces(sized([3, 5], 2, 2, 3)),
    ],
    misconceptions=[
        *ON_PAGES,
        *(one for one in heads.IN_FUNCTIONS if one.name not in heads.WITH_MANY_QUERIES),
        Misconception(
            "softmax over heads of a sentence",
            kind="axis",
            credit=0.25,
            says="The weights of all heads sum to one for each key. It is over the keys of a sentence that they should "
            "sum to one.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=1), "hide_weights": masks.without},
        ),
        Misconception(
            "scaled by √(H · d)",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √(H · d). Divide by √d, the root of the length of one key.",
            change={"scale": lambda scores, sizes: scores / (sizes.H * sizes.d) ** 0.5},
        ),
        Misconception(
            "scaled by √page_size",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the page size. Divide by √d.",
            change={"scale": lambda scores, sizes: scores / sizes.page_size**0.5},
        ),
        Misconception(
            "heads merged",
            kind="arrangement",
            credit=0.5,
            says="The numbers are right, but the heads are put side by side. Return (B, H, d).",
            change={"after": lambda outputs, sizes: outputs.flatten(1)},
        ),
        Misconception(
            "an axis of words",
            kind="arrangement",
            credit=0.5,
            says="The numbers are right, but of shape (B, H, 1, d). There is one query for each head: return (B, H, "
            "d).",
            change={"after": lambda outputs, sizes: outputs[:, :, None]},
        ),
        *PIECES,
    ],
)
