"""Compare values of all kinds in kind, and say in words where they differ.

Tensors, and lists of them, are for compare.py. Values compared here came through the channel, or could have: see
grader/sandbox/values.py. No sentence reveals anything that was expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import torch

from grader.model import compare
from grader.model.compare import Difference, Kind
from grader.model.plain_parts import (
    GROUPS,
    NEARLY,
    are_rearranged,
    as_array,
    as_float,
    as_number,
    as_tensor,
    cells_of,
    described,
    differ_by_rounding,
    equal_entries,
    first_true,
    group_of,
    in_keys,
    is_stacked,
    is_whole,
    kind_of,
    lacking_and_extra,
    named,
    paired_columns,
    quoted,
    single,
    tagged,
    text_in_words,
)
from grader.sandbox.decoder import plain
from grader.sandbox.tables import Array, Column, Table, is_table
from grader.sandbox.values import unboxed

Pair = tuple[str, torch.Tensor, torch.Tensor]  # a place, and what is given and expected there


@dataclass(frozen=True)
class InWords(Difference):
    """A difference somewhere in a value of any kind."""

    place: str = ""  # as a student would index it: "['age'][2]"
    words: str = ""  # its own, if any

    def sentence(self, name: str = "") -> str:
        """The difference in words: of the result, or of something with a name."""
        return f"{compare.subject(self.place, name)} {self.words or self._in_words(self.place)}"


class _Found(Exception):
    """The first difference."""

    def __init__(self, difference: InWords) -> None:
        self.difference = difference


def difference(got: object, want: object, tolerance: float, strict: bool = False) -> Difference | None:
    """The first difference between two values, or None.

    Lists and tuples are the same thing; so are arrays, tensors and lists, if the numbers are right. Whole numbers are
    compared exactly, others as in compare.py. `strict` allows no liberties: an array is an array.
    """
    try:
        return _difference(got, want, tolerance, strict)
    except _Found as found:
        return found.difference


def _difference(got: object, want: object, tolerance: float, strict: bool) -> Difference | None:
    walk = _Walk(tolerance, strict)
    walk.compare(got, want, "")
    for place, given, expected in walk.arrays:
        found = compare.difference(given, expected, tolerance, strict)
        if found:
            return _placed(found, place)
    return walk.wrong_number()


def same(got: object, want: object, tolerance: float, strict: bool = False) -> bool:
    """Whether there is no difference."""
    return difference(got, want, tolerance, strict) is None


def paired_numbers(got: object, want: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """All given real numbers with the expected ones, or None where something else is wrong."""
    walk = _Walk(tolerance=0.0, strict=False)
    try:
        walk.compare(got, want, "")
    except _Found:
        return None
    found = [compare.paired_numbers(given, expected) for _, given, expected in walk.arrays]
    if any(pairs is None for pairs in found):
        return None
    numbers = [walk.numbers] if walk.places else []
    return numbers + [pair for pairs in found for pair in pairs or []]


def _placed(found: Difference, place: str) -> InWords:
    """A difference of a tensor or an array, with its place."""
    return InWords(**vars(found), place=place + _entry(found.entry))


def _entry(index: tuple[int, ...]) -> str:
    """An index as students write it: "[3, 0]"; empty for a single number."""
    return f"[{', '.join(map(str, index))}]" if index else ""


class _Walk:
    """Goes through both values, and keeps all real numbers for the end: they have one scale for their errors."""

    def __init__(self, tolerance: float, strict: bool) -> None:
        self.arrays: list[Pair] = []
        self.places: list[str] = []  # of the numbers that follow
        self._given: list[float] = []
        self._expected: list[float] = []
        self._tolerance = tolerance
        self._strict = strict

    @property
    def numbers(self) -> tuple[torch.Tensor, torch.Tensor]:
        given, expected = (torch.tensor(side, dtype=torch.float64) for side in (self._given, self._expected))
        return given, expected

    def wrong_number(self) -> Difference | None:
        """The first wrong number."""
        if not self.places:
            return None
        found = compare.difference(*self.numbers, self._tolerance)
        if found is None:
            return None
        # Nothing is said of rows and columns: these may be anywhere.
        simple = replace(found, kind=Kind.VALUE) if found.kind == Kind.TRANSPOSED else found
        return replace(_placed(simple, ""), place=self.places[found.entry[0]])

    def compare(self, got: object, want: object, place: str) -> None:
        """Compare by what is expected."""
        got, want = (plain(value) if is_table(value) else value for value in (got, want))
        want = unboxed(want)
        if want is None or isinstance(want, (bool, int, float, str, bytes)):
            self._compare_one(got, want, place)
        elif isinstance(want, (list, tuple)):
            self._compare_lists(got, want, place)
        elif isinstance(want, dict):
            self._compare_dicts(got, want, place)
        elif isinstance(want, (set, frozenset)):
            self._compare_sets(got, want, place)
        elif isinstance(want, torch.Tensor):
            self._compare_tensors(got, want, place)
        elif isinstance(want, np.ndarray):
            self._compare_arrays(got, want, place)
        elif isinstance(want, Table):
            self._compare_tables(got, want, place)
        else:
            raise TypeError(f"a value of type {type(want).__name__} cannot be compared")

    def _is_of_another_kind(self, got: object, want: object, place: str) -> NoReturn:
        words = f"is {described(got)}, but {kind_of(want)} was expected."
        raise _Found(InWords(Kind.TYPE, place=place, words=words))

    def _is_wrong(self, place: str, words: str, kind: Kind = Kind.VALUE, right_numbers: bool = False) -> NoReturn:
        raise _Found(InWords(kind, place=place, words=words, right_numbers=right_numbers))

    def _compare_one(self, got: Any, want: Any, place: str) -> None:
        got = single(got)
        if isinstance(want, bool) or want is None or isinstance(want, (str, bytes)):
            if type(got) is not type(want):
                self._is_of_another_kind(got, want, place)
            if isinstance(got, str) and isinstance(want, str) and got != want:
                self._is_wrong(place, text_in_words(got, want))
            if got != want:
                self._is_wrong(place, "is not right.")
            return
        number = as_number(got)
        if number is None:
            self._is_of_another_kind(got, want, place)
        if isinstance(want, int):
            if not is_whole(number, want, self._tolerance):
                self._is_wrong(place, "is not the right number.")
            return
        self.places.append(place)
        self._given.append(as_float(number))
        self._expected.append(want)

    def _compare_lists(self, got: Any, want: Sequence[Any], place: str) -> None:
        stacked = not self._strict and is_stacked(got)
        if not isinstance(got, (list, tuple)) and not stacked:
            self._is_of_another_kind(got, want, place)
        if stacked and isinstance(got, Table):
            got = got.columns[0].cells
        if len(got) != len(want):  # before anything is taken apart: it may be long
            self._is_wrong(place, f"is {described(got)}, but {described(want)} was expected.", Kind.LENGTH)
        got = list(got)
        try:
            for index, (item, expected) in enumerate(zip(got, want, strict=True)):
                self.compare(item, expected, f"{place}[{index}]")
        except _Found:
            if are_rearranged(got, want):
                self._is_wrong(place, "has the right items, but in another order.")
            raise

    def _compare_dicts(self, got: object, want: dict[Any, Any], place: str) -> None:
        if not isinstance(got, dict):
            self._is_of_another_kind(got, want, place)
        missing, extra = lacking_and_extra(got, want)
        if missing or extra:
            self._is_wrong(place, in_keys("key", missing, extra), Kind.LENGTH)
        given = {tagged(key): key for key in got}
        for key, expected in want.items():
            own = given[tagged(key)]
            self.compare(got[own], expected, f"{place}[{quoted(own)}]")

    def _compare_sets(self, got: object, want: set[Any] | frozenset[Any], place: str) -> None:
        if not isinstance(got, (set, frozenset)):
            self._is_of_another_kind(got, want, place)
        missing, extra = lacking_and_extra(got, want)
        if (missing or extra) and not differ_by_rounding(extra, missing, self._tolerance):
            words = f"lacks {named(len(missing), 'item')} that it should have" if missing else ""
            more = f"has {named(len(extra), 'item')} that it should not have" if extra else ""
            self._is_wrong(place, f"{' and '.join(filter(None, (words, more)))}.")

    def _compare_tensors(self, got: object, want: torch.Tensor, place: str) -> None:
        if not self._strict and isinstance(got, np.ndarray) and group_of(got) in ("b", "number"):
            got = as_tensor(got)
        found = compare.difference(got, want, self._tolerance, self._strict)
        if found:
            raise _Found(_placed(found, place))

    def _compare_arrays(self, got: object, want: Array, place: str) -> None:
        if isinstance(got, (list, tuple)) and not self._strict:
            self._compare_lists(got, want.tolist(), place)
            return
        given = as_array(got, self._strict)
        if given is None or (not given.ndim and want.ndim):
            self._is_of_another_kind(got, want, place)
        got = given
        if group_of(got) != group_of(want):
            words = f"holds {GROUPS[group_of(got)]}, but {GROUPS[group_of(want)]} were expected."
            self._is_wrong(place, words, Kind.DTYPE)
        if group_of(want) == "number":
            self._compare_numbers(got, want, place)
        elif got.shape != want.shape:
            self._is_wrong(place, f"has shape {got.shape}, but {want.shape} was expected.", Kind.SHAPE)
        elif wrong := first_true(~equal_entries(got, want)):
            self._is_wrong(place + _entry(wrong), "is the first wrong entry.")

    def _compare_numbers(self, got: Array, want: Array, place: str) -> None:
        given, expected = as_tensor(got), as_tensor(want)
        if want.dtype.kind == "f":
            self.arrays.append((place, given, expected))
            return
        found = compare.difference(given, expected, self._tolerance, self._strict)
        if found and found.kind != Kind.VALUE:
            raise _Found(_placed(found, place))
        got = got.reshape(want.shape)
        # No whole number is nearly right.
        differs = got != want if got.dtype.kind in "iu" else ~(np.abs(got - want) <= min(self._tolerance, NEARLY))
        if wrong := first_true(differs):
            self._is_wrong(place + _entry(wrong), "is the first wrong number.")

    def _compare_tables(self, got: object, want: Table, place: str) -> None:
        if not isinstance(got, Table) or got.is_series != want.is_series:
            self._is_of_another_kind(got, want, place)
        columns = list(zip(got.columns, want.columns, strict=False)) if want.is_series else paired_columns(got, want)
        if columns is None:
            missing, extra = lacking_and_extra(*([column.name for column in table.columns] for table in (got, want)))
            words = in_keys("column", missing, extra) if missing or extra else "has the wrong columns."
            self._is_wrong(place, words, Kind.LENGTH)
        if len(got.index.cells) != len(want.index.cells):
            self._is_wrong(place, f"is {described(got)}, but {described(want)} was expected.", Kind.LENGTH)
        self._compare_columns(got.index, want.index, f"{place}.index")
        for given_column, expected_column in columns:
            name = "" if want.is_series else f"[{quoted(given_column.name)}]"
            self._compare_columns(given_column, expected_column, f"{place}{name}")

    def _compare_columns(self, got: Column, want: Column, place: str) -> None:
        if isinstance(got.cells, np.ndarray) and isinstance(want.cells, np.ndarray):
            self._compare_arrays(got.cells, want.cells, place)
        else:
            self._compare_lists(cells_of(got), cells_of(want), place)
