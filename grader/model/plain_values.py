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
    counted,
    describe,
    describe_keys,
    differ_by_rounding,
    equal_entries,
    first_true,
    group_of,
    is_stacked,
    is_whole,
    kind_of,
    lacking_and_extra,
    paired_columns,
    quoted,
    single,
    tagged,
    text_in_words,
)
from grader.sandbox.decoder import plain
from grader.sandbox.tables import Array, Column, Table, is_table
from grader.sandbox.values import unboxed

Pair = tuple[str, torch.Tensor, torch.Tensor]  # a place, and the actual and expected numbers there


@dataclass(frozen=True)
class InWords(Difference):
    """A difference somewhere in a value of any kind."""

    place: str = ""  # as a student would index it: "['age'][2]"
    words: str = ""  # its own, if any

    def sentence(self, name: str = "") -> str:
        """The difference in words: of the result, or of something with a name."""
        return f"{compare.subject(self.place, name)} {self.words or self._in_words(self.place)}"


class _DiffersError(Exception):
    """Stops at the first difference."""

    def __init__(self, difference: InWords) -> None:
        self.difference = difference


def difference(actual: object, expected: object, tolerance: float, strict: bool = False) -> Difference | None:
    """The first difference between two values, or None.

    Lists and tuples are the same thing; so are arrays, tensors and lists, if the numbers are right. Whole numbers are
    compared exactly, others as in compare.py. `strict` allows no liberties: an array is an array.
    """
    try:
        return _difference(actual, expected, tolerance, strict)
    except _DiffersError as error:
        return error.difference


def _difference(actual: object, expected: object, tolerance: float, strict: bool) -> Difference | None:
    walk = _Walk(tolerance, strict)
    walk.compare(actual, expected, "")
    for place, array, expected_array in walk.arrays:
        in_array = compare.difference(array, expected_array, tolerance, strict)
        if in_array:
            return _placed(in_array, place)
    return walk.wrong_number()


def same(actual: object, expected: object, tolerance: float, strict: bool = False) -> bool:
    """Whether there is no difference."""
    return difference(actual, expected, tolerance, strict) is None


def paired_numbers(actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """All given real numbers with the expected ones, or None where something else is wrong."""
    walk = _Walk(tolerance=0.0, strict=False)
    try:
        walk.compare(actual, expected, "")
    except _DiffersError:
        return None
    pairs = [walk.numbers] if walk.places else []
    for _, array, expected_array in walk.arrays:
        pairs_of_array = compare.paired_numbers(array, expected_array)
        if pairs_of_array is None:
            return None
        pairs += pairs_of_array
    return pairs


def _placed(difference: Difference, place: str) -> InWords:
    """A difference of a tensor or an array, with its place."""
    return InWords(**vars(difference), place=place + _entry(difference.entry))


def _entry(index: tuple[int, ...]) -> str:
    """An index as students write it: "[3, 0]"; empty for a single number."""
    return f"[{', '.join(map(str, index))}]" if index else ""


class _Walk:
    """Goes through both values, and keeps all real numbers for the end: they have one scale for their errors."""

    def __init__(self, tolerance: float, strict: bool) -> None:
        self.arrays: list[Pair] = []
        self.places: list[str] = []  # of the numbers that follow
        self._actual: list[float] = []
        self._expected: list[float] = []
        self._tolerance = tolerance
        self._strict = strict

    @property
    def numbers(self) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor(self._actual, dtype=torch.float64), torch.tensor(self._expected, dtype=torch.float64)

    def wrong_number(self) -> Difference | None:
        """The first wrong number."""
        if not self.places:
            return None
        wrong = compare.difference(*self.numbers, self._tolerance)
        if wrong is None:
            return None
        if wrong.kind == Kind.TRANSPOSED:  # nothing is said of rows and columns: these may be anywhere
            wrong = replace(wrong, kind=Kind.VALUE)
        return replace(_placed(wrong, ""), place=self.places[wrong.entry[0]])

    def compare(self, actual: object, expected: object, place: str) -> None:
        """Compare by what is expected."""
        actual, expected = (plain(value) if is_table(value) else value for value in (actual, expected))
        expected = unboxed(expected)
        if expected is None or isinstance(expected, (bool, int, float, str, bytes)):
            self._compare_one(actual, expected, place)
        elif isinstance(expected, (list, tuple)):
            self._compare_lists(actual, expected, place)
        elif isinstance(expected, dict):
            self._compare_dicts(actual, expected, place)
        elif isinstance(expected, (set, frozenset)):
            self._compare_sets(actual, expected, place)
        elif isinstance(expected, torch.Tensor):
            self._compare_tensors(actual, expected, place)
        elif isinstance(expected, np.ndarray):
            self._compare_arrays(actual, expected, place)
        elif isinstance(expected, Table):
            self._compare_tables(actual, expected, place)
        else:
            raise TypeError(f"a value of type {type(expected).__name__} cannot be compared")

    def _is_of_another_kind(self, actual: object, expected: object, place: str) -> NoReturn:
        words = f"is {describe(actual)}, but {kind_of(expected)} was expected."
        raise _DiffersError(InWords(Kind.TYPE, place=place, words=words))

    def _is_wrong(self, place: str, words: str, kind: Kind = Kind.VALUE, right_numbers: bool = False) -> NoReturn:
        raise _DiffersError(InWords(kind, place=place, words=words, right_numbers=right_numbers))

    def _compare_one(self, actual: Any, expected: Any, place: str) -> None:
        actual = single(actual)
        if isinstance(expected, bool) or expected is None or isinstance(expected, (str, bytes)):
            if type(actual) is not type(expected):
                self._is_of_another_kind(actual, expected, place)
            if isinstance(actual, str) and isinstance(expected, str) and actual != expected:
                self._is_wrong(place, text_in_words(actual, expected))
            if actual != expected:
                self._is_wrong(place, "is not right.")
            return
        number = as_number(actual)
        if number is None:
            self._is_of_another_kind(actual, expected, place)
        if isinstance(expected, int):
            if not is_whole(number, expected, self._tolerance):
                self._is_wrong(place, "is not the right number.")
            return
        self.places.append(place)
        self._actual.append(as_float(number))
        self._expected.append(expected)

    def _compare_lists(self, actual: Any, expected: Sequence[Any], place: str) -> None:
        stacked = not self._strict and is_stacked(actual)
        if not isinstance(actual, (list, tuple)) and not stacked:
            self._is_of_another_kind(actual, expected, place)
        if stacked and isinstance(actual, Table):
            actual = actual.columns[0].cells
        if len(actual) != len(expected):  # before anything is taken apart: it may be long
            self._is_wrong(place, f"is {describe(actual)}, but {describe(expected)} was expected.", Kind.LENGTH)
        actual = list(actual)
        try:
            for index, (item, expected_item) in enumerate(zip(actual, expected, strict=True)):
                self.compare(item, expected_item, f"{place}[{index}]")
        except _DiffersError:
            if are_rearranged(actual, expected):
                self._is_wrong(place, "has the right items, but in another order.")
            raise

    def _compare_dicts(self, actual: object, expected: dict[Any, Any], place: str) -> None:
        if not isinstance(actual, dict):
            self._is_of_another_kind(actual, expected, place)
        missing, extra = lacking_and_extra(actual, expected)
        if missing or extra:
            self._is_wrong(place, describe_keys("key", missing, extra), Kind.LENGTH)
        student_keys = {tagged(key): key for key in actual}
        for key, value in expected.items():
            student_key = student_keys[tagged(key)]
            self.compare(actual[student_key], value, f"{place}[{quoted(student_key)}]")

    def _compare_sets(self, actual: object, expected: set[Any] | frozenset[Any], place: str) -> None:
        if not isinstance(actual, (set, frozenset)):
            self._is_of_another_kind(actual, expected, place)
        missing, extra = lacking_and_extra(actual, expected)
        if (missing or extra) and not differ_by_rounding(extra, missing, self._tolerance):
            lacks = f"lacks {counted(len(missing), 'item')} that it should have" if missing else ""
            has = f"has {counted(len(extra), 'item')} that it should not have" if extra else ""
            self._is_wrong(place, f"{' and '.join(filter(None, (lacks, has)))}.")

    def _compare_tensors(self, actual: object, expected: torch.Tensor, place: str) -> None:
        if not self._strict and isinstance(actual, np.ndarray) and group_of(actual) in ("b", "number"):
            actual = as_tensor(actual)
        wrong = compare.difference(actual, expected, self._tolerance, self._strict)
        if wrong:
            raise _DiffersError(_placed(wrong, place))

    def _compare_arrays(self, actual: object, expected: Array, place: str) -> None:
        if isinstance(actual, (list, tuple)) and not self._strict:
            self._compare_lists(actual, expected.tolist(), place)
            return
        array = as_array(actual, self._strict)
        if array is None or (not array.ndim and expected.ndim):
            self._is_of_another_kind(actual, expected, place)
        group, expected_group = group_of(array), group_of(expected)
        if group != expected_group:
            self._is_wrong(place, f"holds {GROUPS[group]}, but {GROUPS[expected_group]} were expected.", Kind.DTYPE)
        if group == "number":
            self._compare_numbers(array, expected, place)
            return
        if array.shape != expected.shape:
            self._is_wrong(place, f"has shape {array.shape}, but {expected.shape} was expected.", Kind.SHAPE)
        wrong_entry = first_true(~equal_entries(array, expected))
        if wrong_entry:
            self._is_wrong(place + _entry(wrong_entry), "is the first wrong entry.")

    def _compare_numbers(self, actual: Array, expected: Array, place: str) -> None:
        tensor, expected_tensor = as_tensor(actual), as_tensor(expected)
        if expected.dtype.kind == "f":
            self.arrays.append((place, tensor, expected_tensor))
            return
        wrong = compare.difference(tensor, expected_tensor, self._tolerance, self._strict)
        if wrong and wrong.kind != Kind.VALUE:
            raise _DiffersError(_placed(wrong, place))
        actual = actual.reshape(expected.shape)
        # No whole number is nearly right.
        differs = (
            actual != expected
            if actual.dtype.kind in "iu"
            else ~(np.abs(actual - expected) <= min(self._tolerance, NEARLY))
        )
        wrong_entry = first_true(differs)
        if wrong_entry:
            self._is_wrong(place + _entry(wrong_entry), "is the first wrong number.")

    def _compare_tables(self, actual: object, expected: Table, place: str) -> None:
        if not isinstance(actual, Table) or actual.is_series != expected.is_series:
            self._is_of_another_kind(actual, expected, place)
        columns = (
            list(zip(actual.columns, expected.columns, strict=False))
            if expected.is_series
            else paired_columns(actual, expected)
        )
        if columns is None:
            names = [column.name for column in actual.columns]
            missing, extra = lacking_and_extra(names, [column.name for column in expected.columns])
            words = describe_keys("column", missing, extra) if missing or extra else "has the wrong columns."
            self._is_wrong(place, words, Kind.LENGTH)
        if len(actual.index.cells) != len(expected.index.cells):
            self._is_wrong(place, f"is {describe(actual)}, but {describe(expected)} was expected.", Kind.LENGTH)
        self._compare_columns(actual.index, expected.index, f"{place}.index")
        for column, expected_column in columns:
            name = "" if expected.is_series else f"[{quoted(column.name)}]"
            self._compare_columns(column, expected_column, f"{place}{name}")

    def _compare_columns(self, actual: Column, expected: Column, place: str) -> None:
        if isinstance(actual.cells, np.ndarray) and isinstance(expected.cells, np.ndarray):
            self._compare_arrays(actual.cells, expected.cells, place)
        else:
            self._compare_lists(cells_of(actual), cells_of(expected), place)
