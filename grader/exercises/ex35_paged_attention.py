"""Exercise 35: one query for each sentence, with keys and values on pages."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .head_cases import along_a_line, far_below_zero
from .mistakes import heads
from .mistakes.of_pieces import another_type, gradients_lost
from .page_picture import in_use, named_slots, slots_read

Tensor = torch.Tensor

NONE = -1  # where a table has no page
WILD = 30.0  # unused slots hold numbers larger by this factor


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    M, page_size, d = page_table.shape[1], key_pages.shape[1], query.shape[-1]
    place = torch.arange(M * page_size, device=query.device)  # (S,): of a word in its sentence
    keys = key_pages[page_table].flatten(1, 2)  # (B, S, H, d); -1 takes the last page: hidden below  #: keys
    values = value_pages[page_table].flatten(1, 2)  #: values

    scores = torch.einsum("bhd,bshd->bhs", query, keys)  #: scores
    scores = scores / math.sqrt(d)  #: scale
    hidden = place >= lengths[:, None, None]  # (B, 1, S)  #: behind
    scores = scores.masked_fill(hidden, -math.inf)  #: hide
    weights = torch.softmax(scores, dim=-1)  #: normalize
    outputs = torch.einsum("bhs,bshd->bhd", weights, values)  #: mix
    return outputs  #: result


def lookups(line: str) -> dict[str, str]:
    """A mistake: keys and values that are looked up like this."""
    return {"keys": f"keys = {line.format('key_pages')}", "values": f"values = {line.format('value_pages')}"}


ZERO_WEIGHTS = {"after normalize": "weights = weights.masked_fill(hidden, 0.0)"}  # even if all keys are hidden


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
    """Sentences of these lengths, on pages in a random order. All share their first `shared` pages, `spare` pages are
    unused, and the table has `longer` more columns than it needs."""

    def inputs(rng: torch.Generator) -> Inputs:
        counts = [-(-length // page_size) for length in lengths]
        total = shared + sum(max(count - shared, 0) for count in counts)
        free = torch.randperm(total + spare, generator=rng).tolist()
        common = [free.pop() for _ in range(shared)]
        rows = [common[:count] + [free.pop() for _ in range(count - shared)] for count in counts]
        page_table = torch.full((len(lengths), max(counts) + longer), NONE)
        for row, pages in enumerate(rows):
            page_table[row, : len(pages)] = torch.tensor(pages)
        occupied = in_use(page_table, torch.tensor(lengths), total + spare, page_size)
        sheets = [_with_wild_gaps(randn(rng, *occupied.shape, H, d), occupied) for _ in range(2)]
        return randn(rng, len(lengths), H, d), *sheets, page_table, torch.tensor(lengths)

    return inputs


def _with_wild_gaps(pages: Tensor, occupied: Tensor) -> Tensor:
    """The pages, with far larger numbers in unused slots."""
    return torch.where(occupied[..., None, None], pages, WILD * pages)


def large(rng: torch.Generator) -> Inputs:
    """Two sentences with keys along a line. Their scores reach ±10⁴, and those of unused slots are larger."""
    _query, _keys, values, page_table, lengths = sized([5, 4], 3, 2, 4)(rng)
    P, size, H, d = values.shape
    queries = -along_a_line(rng, H, 2, d)  # (H, B, d)
    queries, lines = far_below_zero(rng, queries, along_a_line(rng, H, P * size, d))
    keys = lines.movedim(0, 1).reshape(values.shape)
    occupied = in_use(page_table, lengths, P, size)[..., None, None]
    return queries.movedim(0, 1), torch.where(occupied, keys, 400.0), values, page_table, lengths


# fmt: off
exercise = Exercise(
    number=35,
    assignment="fast_attention",
    title="A cache in pages",
    solution=paged_attention,
    form=EXACT,
    picture=slots_read,
    cases=[
        Case("three sentences", catches="lengths that are ignored, −1 taken for a page",
             inputs=sized([5, 2, 7], 3, 2, 4)),
        Case("full pages", catches="an empty page after a full one", inputs=sized([4, 8], 4, 3, 5)),
        Case("one word", catches="a last page that has a single word", inputs=sized([1, 7, 4], 3, 2, 6)),
        Case("pages of one slot", catches="a fixed page size", inputs=sized([3, 5], 1, 2, 3)),
        Case("shared first pages", catches="pages that are taken for one sentence's own",
             inputs=sized([5, 6, 3], 2, 2, 5, shared=1)),
        Case("a longer table", catches="as many pages as the table is wide", inputs=sized([4, 3], 2, 3, 2, longer=2)),
        Case("one sentence, one head", catches="squeezed dimensions", inputs=sized([4], 3, 1, 3)),
        Case("one entry", catches="squeezed dimensions", inputs=sized([3, 2], 2, 2, 1)),
        Case("pages of sixteen slots", catches="a fixed page size", inputs=sized([20, 16, 5], 16, 1, 2)),
        Case("everything is four", catches="axes that are exchanged without an error",
             inputs=sized([4, 3, 2, 1], 4, 4, 4, spare=0)),
        Case("values that name their slots", catches="words of other sentences, shown in a picture",
             inputs=named_slots),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large, beside=LARGE),
        *as_pieces(sized([3, 5], 2, 2, 3)),
    ],
    mistakes=[
        wrong("page table without effect",
              {"before keys": "page_table = torch.arange(M, device=query.device).expand_as(page_table)"},
              "In your results, every sentence uses the pages 0, 1, 2, …. Look up the pages of a sentence, in their "
              "order, in its row of page_table.", credit=0.25, kind="missing step"),
        wrong("softmax of each page",
              {"before mix": """
                   weights = weights.unflatten(-1, (M, page_size))
                   weights = (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num(0.0).flatten(-2)
               """},
              "In your results, the weights of each page sum to one, and the outputs of the pages are added up. Use "
              "one softmax for all words of a sentence, whichever page they are on.", credit=0.25, kind="missing step"),
        *at("before keys",
            wrong("first sentence's pages for all", "page_table = page_table[:1].expand_as(page_table)",
                  "In your results, all sentences use the pages of the first. Sentence b has the pages in row b of "
                  "page_table.", kind="mix-up"),
            wrong("pages in reverse order", "page_table = page_table.flip(1)",
                  "In your results, the last page of the table comes first. Keep the pages in order.",
                  kind="arrangement"),
            wrong("pages sorted", """
                      page_table = torch.where(page_table < 0, len(key_pages), page_table).sort(dim=1).values
                      page_table = page_table.clamp(max=len(key_pages) - 1)
                  """,
                  "In your results, the pages are sorted by their numbers. Keep them in the order of page_table.",
                  kind="arrangement"),
            wrong("pages counted from one", "page_table = page_table - 1",
                  "Your results look as if page numbers began with 1. The first page is page 0.", kind="convention")),
        wrong("page and slot exchanged",
              [{"before keys": "counts = (lengths[:, None] + page_size - 1) // page_size  # of pages",
                **lookups("{}[page_table.gather(1, place % counts), (place // counts).clamp(max=page_size - 1)]")},
               lookups("{}[page_table[:, place % M], place // M]")],
              "In your results, neighboring words are on different pages. Word i is on page i // page_size of its "
              "sentence, in slot i % page_size.", kind="mix-up"),
        wrong("words and heads mixed up, sentence by sentence",
              {"before keys": """
                   slots = (lengths + page_size - 1) // page_size * page_size  # of all pages of a sentence
                   heads = torch.arange(query.shape[1], device=query.device)
                   places = heads * slots[:, None, None] + place[:, None]  # (B, S, H), of all its rows
                   word, head = places // len(heads), places % len(heads)
                   rows = torch.arange(len(query), device=query.device)[:, None, None]
                   page = page_table[rows, (word // page_size).clamp(max=M - 1)]
               """, **lookups("{}[page, word % page_size, head]")},
              "Your results mix up words and heads, as if slots of shape (S, H, d) were viewed as (H, S, d). Swap axes "
              "with transpose or permute instead.", kind="arrangement"),
        *at("before behind",
            wrong("first page alone", "lengths = lengths.clamp(max=page_size)",
                  "In your results, only the words on the first page of each sentence count. Go through all pages that "
                  "its words fill: lengths[b] / page_size, rounded up.", kind="missing step"),
            wrong("pages of four slots", "lengths = torch.minimum(lengths, (lengths + 3) // 4 * page_size)",
                  "Your results have too few pages where page_size is below 4, as if pages had four slots. Take "
                  "page_size from the shape of key_pages.", kind="hard-coded"),
            wrong("error with fewer than four slots",
                  ["if page_size < 4:\n    raise IndexError", "if page_size != 4:\n    raise IndexError"],
                  "Your code stops where pages have fewer than four slots. Take page_size from the shape of key_pages.",
                  kind="hard-coded"),
            wrong("pages of sixteen slots",
                  ["if page_size < 16 and lengths.max() > page_size:\n    raise IndexError",
                   "if page_size < 16:\n    lengths = lengths.clamp(max=page_size)"],
                  "Your code stops or goes wrong where a sentence needs several pages of fewer than 16 slots, as if "
                  "all pages had 16. Take page_size from the shape of key_pages.", kind="hard-coded"),
            wrong("one word too many, within its pages",
                  "lengths = torch.minimum(lengths + 1, (lengths + page_size - 1) // page_size * page_size)",
                  "In your results, one slot too many counts where the last page has a free one. Count the first "
                  "lengths[b] words: the last of them is at position lengths[b] − 1."),
            wrong("one word too many",
                  [{"before keys": "page_table = page_table.clamp(min=0)", "before behind": "lengths = lengths + 1"},
                   "lengths = lengths + 1"],
                  "In your results, one slot too many counts. Count the first lengths[b] words: the last of them is at "
                  "position lengths[b] − 1.")),
        wrong("last page alone",
              {"behind": "first = (lengths - 1) // page_size * page_size  # on the last page\n"
                         "hidden = (place >= lengths[:, None, None]) | (place < first[:, None, None])"},
              "In your results, only the words on the last page of each sentence count, as if each page overwrote the "
              "one before. Use one softmax for the words of all pages.", credit=0.25, kind="missing step"),
        *at("before behind",
            wrong("lengths without effect, −1 taken for the last page",
                  "lengths = torch.full_like(lengths, len(place))",
                  "In your results, all slots count, and where the table has −1, those of the last page do. In "
                  "sentence b, count only the first lengths[b] words.", kind="missing step"),
            wrong("lengths without effect, −1 taken for page 0",
                  "lengths = torch.full_like(lengths, len(place))",
                  "In your results, all slots count, and where the table has −1, those of page 0 do. In sentence b, "
                  "count only the first lengths[b] words.", kind="missing step",
                  also={"before keys": "page_table = page_table.clamp(min=0)"}),
            wrong("lengths without effect", "lengths = (lengths + page_size - 1) // page_size * page_size",
                  "In your results, all slots of a sentence's pages count, even those that nothing was written to. Use "
                  "lengths[b] to see how many count on its last page.", kind="missing step")),
        wrong("free slots set to zero", {"hide": "scores = scores.masked_fill(hidden, 0.0)", **ZERO_WEIGHTS},
              "In your results, slots that a sentence does not use count as keys and values of zeros. Such a key has "
              "the score 0, and exp(0) is 1, so it takes a share of the weights. Set its score to −∞."),
        *at("before behind",
            wrong("last page left out", "lengths = lengths // page_size * page_size",
                  "In your results, only full pages count. The words on a last page with free slots count, too: "
                  "include them.", kind="missing step", also=ZERO_WEIGHTS),
            wrong("last page left out, and NaN if it is the only one", "lengths = lengths // page_size * page_size",
                  "In your results, only full pages count, and a sentence without one gives NaN. The words on a last "
                  "page with free slots count, too: include them.", kind="missing step"),
            wrong("last page left out, unless it is the only one",
                  "lengths = torch.where(lengths < page_size, lengths, lengths // page_size * page_size)",
                  "In your results, the words on the last page are missing if it is not full, unless it is the only "
                  "page. Round the number of pages up.", kind="missing step"),
            wrong("one word too few", "lengths = lengths - 1",
                  "In your results, the last word of each sentence does not count. Count the first lengths[b] words: "
                  "the last of them is at position lengths[b] − 1.", also=ZERO_WEIGHTS),
            wrong("one word too few, and NaN of a single one", "lengths = lengths - 1",
                  "In your results, the last word of each sentence does not count, and a sentence of one word gives "
                  "NaN. Count the first lengths[b] words: the last of them is at position lengths[b] − 1."),
            wrong("longest sentence for all", "lengths = lengths.max().expand_as(lengths)",
                  "In your results, all sentences are as long as the longest one. Sentence b has lengths[b] words.",
                  kind="mix-up"),
            wrong("shortest sentence for all", "lengths = lengths.min().expand_as(lengths)",
                  "In your results, all sentences are as short as the shortest one. Sentence b has lengths[b] words.",
                  kind="mix-up"),
            wrong("first length for all", "lengths = lengths[:1].expand_as(lengths)",
                  "In your results, all sentences are as long as the first one. Sentence b has lengths[b] words.",
                  kind="mix-up")),
        wrong("words and heads mixed up", lookups("{}[page_table].reshape(*query.shape[:2], -1, d).transpose(1, 2)"),
              "Your results mix up words and heads, as if slots of shape (B, S, H, d) were viewed as (B, H, S, d). "
              "Swap axes with transpose or permute instead.", kind="arrangement"),
        wrong("slots in reverse order", lookups("{}[page_table].flip(2).flatten(1, 2)"),
              "In your results, pages are filled from their last slot. Begin with slot 0.", kind="arrangement"),
        wrong("first slot of each page", lookups("{}[page_table[:, place // page_size], 0]"),
              "In your results, every word comes from the first slot of its page. Read word i from slot i % page_size.",
              credit=0.25, kind="missing step"),
        *(one for one in heads.with_lines() if one.name not in heads.WITH_MANY_QUERIES),
        wrong("softmax over heads of a sentence",
              {"normalize": "weights = torch.softmax(scores, dim=1)", **ZERO_WEIGHTS},
              "The weights of all heads sum to one for each key. For each head, the weights over the keys of a "
              "sentence must sum to one.", kind="axis"),
        *at("scale",
            wrong("scaled by √(H · d)", "scores = scores / math.sqrt(query.shape[1] * d)",
                  "Your scores are divided by √(H · d). Divide by √d, the square root of the length of one key.",
                  kind="scaling"),
            wrong("scaled by √H", "scores = scores / math.sqrt(query.shape[1])",
                  "Your scores are divided by the square root of the number of heads. Divide by √d.", kind="scaling"),
            wrong("scaled by the root of the length", "scores = scores / lengths[:, None, None] ** 0.5",
                  "Your scores are divided by the square root of the number of words. Divide by √d.", kind="scaling"),
            wrong("scaled by √page_size", "scores = scores / math.sqrt(page_size)",
                  "Your scores are divided by the square root of the page size. Divide by √d.", kind="scaling")),
        *at("result",
            wrong("heads merged", "return outputs.flatten(1)",
                  "In your result, the heads are joined side by side. Return (B, H, d).",
                  kind="arrangement"),
            wrong("squeezed", "return outputs.squeeze()",
                  "Your result has lost its dimensions of size 1, as with squeeze(). Return (B, H, d), also for one "
                  "sentence or one head.", credit=0.75, kind="arrangement"),
            wrong("an axis of words", "return outputs[:, :, None]",
                  "Your result has the shape (B, H, 1, d). There is one query for each head: return "
                  "(B, H, d).", kind="arrangement")),
        *gradients_lost("outputs"), *another_type("outputs", "after mix"),
    ],
)
# fmt: on
