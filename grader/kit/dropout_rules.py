"""What dropout did, seen by comparing numbers with and without it: a sentence, empty if all is well.

Which entries are dropped is chance; what follows from the rules of dropout is not. Right dropout is refused with a
probability below 3e-8: 2 · TAIL for the number of dropped entries, SURPRISE for each of up to eight regularities. The
numbers of up to thirty answers may be looked at, and a false alarm is still rarer than one in a million submissions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import torch

from grader.model.compare import describe_form

Tensor = torch.Tensor

TAIL = 1e-8  # so few dropped entries, or so many, are never seen
SURPRISE = 1e-9  # a regularity that chance produces less often is not due to chance
SMALL = 1e-3  # of the largest number: what is smaller may be rounding, and shows nothing

DROPPED_IN_VAIN = "Entries are dropped where none should be."
NOTHING_DROPPED = "Nothing, or next to nothing, is dropped."
ALL_SCALED = "Nothing, or next to nothing, is dropped, but everything is scaled."
ALL_CHANGED = "Nothing, or next to nothing, is dropped, but the numbers are changed."
ALL_OTHER = "Nothing, or next to nothing, is dropped, and the numbers are not those that were given."
OTHER_THAN_ZERO = "Dropped entries are set to a number other than 0, as F.alpha_dropout does. Set them to 0."
EVERYTHING_DROPPED = "Everything is dropped."
NOT_FINITE = "There are NaN or infinite numbers. Set dropped entries to 0."
NONE_FINITE = "All numbers are NaN or infinite."
NOT_FINITE_AT_ALL = "There are NaN or infinite numbers, and too many or too few of them to be the dropped entries."
WHOLE_ROWS = "Whole rows are dropped or kept. Decide for each entry separately."
WHOLE_COLUMNS = "Whole columns are dropped or kept. Decide for each entry separately."
SAME_IN_BATCH = "The same entries are dropped everywhere in a batch. Decide for each entry separately."
SHARED = (
    "Several entries share one random draw, such as those of different queries, or heads. Decide for each entry "
    "separately."
)
SMALLEST = "The smallest entries are dropped. Chance should decide, not the numbers."
LARGEST = "The largest entries are dropped. Chance should decide, not the numbers."
ROWS_SUM_AGAIN = "Each row is divided by its new sum. Multiply all survivors by 1/(1 − p) instead."
MASK_ALONE = "All survivors are the same number. Multiply the mask by the numbers."
NOT_UNIFORM = "The survivors are changed, but not all by the same factor."
OTHER_RATE = "Entries are dropped at a rate other than the given one."
OTHER_FACTOR = "Survivors are scaled, but not by 1/(1 − p)."


def finding(
    dropped: object, undropped: Tensor, p: float, tolerance: float = 1e-3, *, shared_is_wrong: bool = True
) -> str:
    """What is wrong with `dropped`, which should be `undropped` after dropout at rate p; empty if nothing is.

    `tolerance` is for the rounding of numbers not far from the largest one, relative to themselves. Draws that entries
    share need not be wrong; all else is.
    """
    if not isinstance(dropped, torch.Tensor) or dropped.shape != undropped.shape:
        form = describe_form(dropped)
        return f"The result is {form}, but dropout keeps the form: {describe_form(undropped)}."
    after, before = dropped.detach().cpu().double(), undropped.detach().cpu().double()
    telling = before.abs() > SMALL * before.abs().max()
    broken = int((~after[telling].isfinite()).sum())
    if broken and broken == int(telling.sum()):
        return NONE_FINITE
    if broken and finding(after.nan_to_num(0, 0, 0), before, p, tolerance) == ROWS_SUM_AGAIN:
        return ROWS_SUM_AGAIN  # 0/0 where nothing is left
    if broken:
        return NOT_FINITE if p == 0 or fits(broken, int(telling.sum()), p) else NOT_FINITE_AT_ALL
    factors = torch.where(telling, after / before, 1.0)
    gone = telling & (factors.abs() < tolerance)
    survivors = factors[telling & ~gone]
    if p == 0:
        return _nothing_to_drop(gone, survivors, tolerance)
    if not gone.any() or not len(survivors):
        right = not len(survivors) or _factor(float(survivors.mean()), p, tolerance) == ""
        by_chance = fits(int(gone.sum()), int(telling.sum()), p)  # there may be very few
        if right and by_chance:
            return ""
        return OTHER_THAN_ZERO if _one_number(after[telling], p) else _all_or_nothing(survivors, p, tolerance)
    uneven = "" if _constant(survivors, tolerance) else _uneven(after, before, telling & ~gone, tolerance)
    is_shared = False
    for regular in _regularities(gone, telling, before):
        is_shared = regular == SHARED and not shared_is_wrong
        if not is_shared:
            return f"{regular} {uneven}".strip()
    if uneven and uneven != MASK_ALONE:
        return uneven
    # Of draws that entries share there are fewer than entries, and nobody knows how many.
    rate = "" if is_shared else _rate(int(gone.sum()), int(telling.sum()), p)
    return " ".join(filter(None, [uneven, rate, "" if uneven else _factor(float(survivors.mean()), p, tolerance)]))


def _constant(numbers: Tensor, tolerance: float) -> bool:
    return bool((numbers - numbers.mean()).abs().max() <= tolerance * numbers.mean().abs())


def _nothing_to_drop(gone: Tensor, survivors: Tensor, tolerance: float) -> str:
    if gone.any():
        return DROPPED_IN_VAIN if len(survivors) else EVERYTHING_DROPPED
    return "" if bool(((survivors - 1).abs() <= tolerance).all()) else _all_or_nothing(survivors, 0.0, tolerance)


def _one_number(after: Tensor, p: float) -> bool:
    """Whether as many entries as would be dropped are one and the same number, and the others are not."""
    most = int((after == after.mode().values).sum())
    return most < len(after) and fits(most, len(after), p)


def _all_or_nothing(survivors: Tensor, p: float, tolerance: float) -> str:
    if not len(survivors):
        return EVERYTHING_DROPPED
    if not _constant(survivors, tolerance):
        is_part = survivors.min() >= 0 and survivors.max() <= (1 + tolerance) / (1 - p)
        return ALL_CHANGED if is_part else ALL_OTHER
    return NOTHING_DROPPED if abs(float(survivors.mean()) - 1) <= tolerance else ALL_SCALED


def _regularities(gone: Tensor, telling: Tensor, before: Tensor) -> Iterator[str]:
    """The ways in which an entry's fate depends on others, or on its number, if chance hardly ever looks like that."""
    if gone.dim() >= 2:
        rows, telling_rows = gone.reshape(-1, gone.shape[-1]), telling.reshape(-1, gone.shape[-1])
        if _shared_fates(rows, telling_rows):
            yield WHOLE_ROWS
        if _shared_fates(rows.mT, telling_rows.mT):
            yield WHOLE_COLUMNS
    if gone.dim() >= 3 and _shared_fates(gone.reshape(len(gone), -1).mT, telling.reshape(len(gone), -1).mT):
        yield SAME_IN_BATCH
    for axis in range(1, gone.dim() - 1):
        if _shared_fates(*(table.movedim(axis, -1).flatten(0, -2) for table in (gone, telling))):
            yield SHARED
    lost_sizes, kept_sizes = before.abs()[gone], before.abs()[telling & ~gone]
    if _log_choices(len(lost_sizes) + len(kept_sizes), len(lost_sizes)) > -math.log(SURPRISE):
        if lost_sizes.max() < kept_sizes.min():
            yield SMALLEST
        if lost_sizes.min() > kept_sizes.max():
            yield LARGEST


def _shared_fates(gone: Tensor, telling: Tensor) -> bool:
    """Whether each row is dropped or kept as a whole, and not by chance."""
    members, lost_sizes = telling.sum(1).double(), gone.sum(1).double()
    if bool(((lost_sizes > 0) & (lost_sizes < members)).any()):
        return False
    rate = float(lost_sizes.sum() / members.sum())
    chances = rate**members + (1 - rate) ** members  # a row without members is whole for sure: 1 or 2
    return float(chances.clamp(max=1).log().sum()) < math.log(SURPRISE)


def _uneven(after: Tensor, before: Tensor, survives: Tensor, tolerance: float) -> str:
    if _constant(after[survives], tolerance):
        return MASK_ALONE
    if after.dim() >= 2:
        has_survivors = survives.any(-1)
        factors = torch.where(survives, after / before, torch.nan)
        spread = (factors / factors.nanmean(-1, keepdim=True) - 1).abs()[survives]
        sums = (after.sum(-1) / before.sum(-1) - 1).abs()[has_survivors]
        if bool((spread <= tolerance).all()) and bool((sums <= tolerance).all()):
            return ROWS_SUM_AGAIN
    return NOT_UNIFORM


def _rate(gone: int, entries: int, p: float) -> str:
    """What the number of dropped entries says about the rate: nothing if it fits p, or else the rate that it fits.

    Several mistakes may lead to the same rate, so the sentence does not say which it was.
    """
    if fits(gone, entries, p):
        return ""
    normal = (1 + math.erf(p / math.sqrt(2))) / 2
    usual = {
        1 - p: "About as many entries are dropped as should be kept: a share of 1 − p instead of p.",
        0.5: "About half of the entries are dropped here, which is not the given rate.",
        normal: "About as many entries are dropped as with torch.randn < p. Use torch.rand, which is uniform between "
        "0 and 1.",
    }
    likeliest = max(usual, key=lambda rate: _log_chance(gone, entries, rate))
    return usual[likeliest] if fits(gone, entries, likeliest) else OTHER_RATE


@functools.cache  # the same numbers are asked for again for every misconception that is tried
def fits(gone: int, entries: int, rate: float) -> bool:
    """Whether this many dropped entries are nothing unusual: the exact binomial test, on both sides."""
    further_out = range(gone + 1) if gone < entries * rate else range(gone, entries + 1)
    return sum(math.exp(_log_chance(k, entries, rate)) for k in further_out) > TAIL


def _log_chance(gone: int, entries: int, rate: float) -> float:
    return _log_choices(entries, gone) + gone * math.log(rate) + (entries - gone) * math.log1p(-rate)


def _log_choices(entries: int, gone: int) -> float:
    """The logarithm of the binomial coefficient, which itself is too large for a float."""
    return math.lgamma(entries + 1) - math.lgamma(gone + 1) - math.lgamma(entries - gone + 1)


def _factor(factor: float, p: float, tolerance: float) -> str:
    factors = [  # the first that fits: for p = 0.5 several are the same
        (1 / (1 - p), ""),
        (1.0, "Survivors are not scaled. Multiply them by 1/(1 − p), so that the expectation stays the same."),
        (1 / p, "Survivors are multiplied by 1/p. Multiply them by 1/(1 − p)."),
        (1 - p, "Survivors are multiplied by 1 − p. Divide them by it."),
        (p, "Survivors are multiplied by p. Multiply them by 1/(1 − p)."),
        ((1 - p) ** -2, "Survivors are scaled twice. Multiply them by 1/(1 − p) once."),
        (2.0, "Survivors are multiplied by 2, which is right for p = 0.5 only. Multiply them by 1/(1 − p)."),
    ]
    return next((text for usual, text in factors if abs(factor - usual) <= tolerance * usual), OTHER_FACTOR)
