"""A picture of what a student's own code returned in one small case, with the entries marked that break a rule.

A rule holds for every right answer: weights of a query sum to one, none lies in the future. So a picture says nothing
about the numbers that were expected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch

from grader.model.broken_rules import nearly
from grader.model.verdict import Picture
from grader.sandbox.plain_text import listed
from grader.sandbox.tables import Table

Tensor = torch.Tensor
Lines = Literal["row", "column"]

MAX_SIDE = 12  # more is too small to be read on a phone
ROUNDING = 1e-3  # of sums; a mistake is larger


def weights(value: object, _inputs: Sequence[object]) -> Picture | None:
    """Attention weights: a row for every query."""
    matrix = as_matrix(value)
    return None if matrix is None or len(matrix) == 1 else _weights(matrix, "row", "query", "key")


def causal_weights(value: object, _inputs: Sequence[object]) -> Picture | None:
    """Attention weights, none of which may lie in the future."""
    matrix = as_matrix(value)
    if matrix is None or len(matrix) != matrix.shape[1]:
        return None
    return _weights(matrix, "row", "query", "key", hidden=torch.ones_like(matrix).triu(1) > 0)


def softmax_along(value: object, inputs: Sequence[object]) -> Picture | None:
    """A softmax of a vector or matrix along the dimension that is the second input, if there is one."""
    matrix = as_matrix(value)
    if matrix is None or not isinstance(value, Tensor) or value.dim() > 2:
        return None
    if matrix.shape[1] == 1:  # a vector may be a column
        return _weights(matrix.mT, "row", "row", "column")
    dim = inputs[1] if len(inputs) > 1 else -1
    return _weights(matrix, "column" if value.dim() == 2 and dim in (0, -2) else "row", "row", "column")


def scores(value: object, _inputs: Sequence[object]) -> Picture | None:
    """Scores. Few rules hold for them: they are finite, differ from query to query, and are not weights."""
    matrix = as_matrix(value)
    if matrix is None:
        return None
    broken = ~matrix.isfinite()
    wrong = _not_finite(broken)
    repeated = [row for row in range(1, len(matrix)) if torch.equal(matrix[row], matrix[0])]
    if torch.equal(matrix, matrix.round()) and bool((matrix != matrix[0, 0]).any()):
        broken[:] = True
        wrong.append("All of them are whole numbers, as if from //. A division with / keeps the decimals.")
    elif repeated:
        broken[repeated] = True
        repeat = "repeats" if len(repeated) == 1 else "repeat"
        wrong.append(f"{_describe_lines('row', repeated)} {repeat} row 1: each query needs its own scores.")
    total = matrix.sum(1)
    if matrix.shape[1] > 1 and bool((matrix >= 0).all() & ((total - 1).abs() < ROUNDING).all()):
        wrong.append("Each row sums to one: these are weights, after a softmax. Scores come before it.")
        return _picture(matrix, broken, "query", "key", wrong, summed="row", sums=total)
    return _picture(matrix, broken, "query", "key", wrong) if wrong else None


def numbers(value: object, _inputs: Sequence[object]) -> Picture | None:
    """A small matrix of numbers, an array, or the numeric columns of a table, with nothing marked."""
    if isinstance(value, Table):
        cells = [column.cells for column in value.columns]
        if not cells or not all(isinstance(column, np.ndarray) and column.dtype.kind in "iufb" for column in cells):
            return None
        value = np.stack(cells, axis=1)  # (rows, columns)
    matrix = as_matrix(value)
    if matrix is None:
        return None
    missing = ~matrix.isfinite()
    return _picture(matrix, missing, "row", "column", _not_finite(missing))


def looks_ahead(first: object, later_changed: object, count_from: int = 1) -> Picture | None:
    """The output of a module for the first text of a batch, with the entries marked that changed with its last word.

    Both are of shape (B, T, d). None if nothing looks ahead. Words are counted as the notebook does.
    """
    matrix, changed_matrix = _first_text(first), _first_text(later_changed)
    if matrix is None or changed_matrix is None or matrix.shape != changed_matrix.shape:
        return None
    ahead = ~nearly(matrix, changed_matrix)
    ahead[-1] = False  # the last word may look at itself
    missing = ~matrix.isfinite()
    wrong = _not_finite(missing, count_from)
    if bool(ahead.any()):
        rows = _describe_lines("row", _true_indices(ahead.any(1)), count_from)
        wrong.append(
            f"Only the last word was changed, and {rows.lower()} changed with it: earlier words see a later one."
        )
    return _picture(matrix, ahead | missing, "word", "feature", wrong, first=count_from) if wrong else None


def _first_text(output: object) -> Tensor | None:
    return as_matrix(output[0]) if isinstance(output, Tensor) and output.dim() == 3 and output.numel() else None


def as_matrix(value: object) -> Tensor | None:
    """A value as a small matrix of float64, where a vector is a row; None if it cannot be one."""
    if isinstance(value, (list, tuple)) and 0 < len(value) <= MAX_SIDE:
        rows = [_as_row(item) for item in value]
        if any(row is None or len(row) != len(rows[0] or ()) for row in rows):
            return None
        matrix = torch.tensor(rows, dtype=torch.float64)
        return matrix.mT if matrix.shape[1] == 1 else matrix  # a list of numbers
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb" and 0 < value.size <= MAX_SIDE**2:
        value = torch.from_numpy(value.astype(np.float64))
    if not isinstance(value, Tensor) or value.is_complex() or not 0 < value.numel() <= MAX_SIDE**2:
        return None
    matrix = value.detach().cpu().double()
    if matrix.dim() != 2:
        matrix = matrix.squeeze()
    if matrix.dim() == 1:
        matrix = matrix[None]
    return matrix if matrix.dim() == 2 and max(matrix.shape) <= MAX_SIDE else None


def _as_row(value: object) -> list[float] | None:
    if isinstance(value, (int, float)):
        value = [value]
    elif isinstance(value, Tensor) and not value.is_complex() and value.numel() <= MAX_SIDE:
        value = value.detach().cpu().double().reshape(-1).tolist()
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= MAX_SIDE:
        return None
    try:
        return [float(number) for number in value]
    except (TypeError, ValueError, RuntimeError, OverflowError):  # lists of lists, words, enormous numbers
        return None


def _weights(matrix: Tensor, lines: Lines, rows: str, columns: str, hidden: Tensor | None = None) -> Picture:
    """A picture of the rules that hold for all weights."""
    along = {"row": 1, "column": 0}
    missing, negative = ~matrix.isfinite(), matrix < -1e-6
    future = torch.zeros_like(missing) if hidden is None else hidden & (matrix.abs() > 1e-6) & ~missing
    sums = matrix.sum(along[lines])
    off = _true_indices(sums.isfinite() & ((sums - 1).abs() >= ROUNDING))
    wrong, right = _not_finite(missing), []
    if bool(future.any()):
        lines_ahead = _describe_lines("row", _true_indices(future.any(1)))
        wrong.append(f"{lines_ahead}: weight above the diagonal, on words that come later.")
    elif hidden is not None:
        right.append("No weight lies in the future.")
    if len(sums) == 1 and not bool(missing.any()):
        (wrong if off else right).append("The weights do not sum to one." if off else "The weights sum to one.")
    elif off:
        wrong.append(
            f"{_describe_lines(lines, off)} {'does' if len(off) == 1 else 'do'} not sum to one.{_turned(matrix, lines)}"
        )
    elif not bool(missing.any()):
        right.append(f"Each {lines} sums to one.")
    if bool(negative.any()):
        wrong.append(f"{_describe_lines('row', _true_indices(negative.any(1)))}: a weight below zero.")
    elif not bool(missing.any()):
        right.append("No weight is negative.")
    marked = missing | negative | future
    return _picture(matrix, marked, rows, columns, wrong, right=right, summed=lines, sums=sums, wrong_sums=off)


def _turned(matrix: Tensor, lines: Lines) -> str:
    """A sentence if weights sum to one along the other axis."""
    crosswise = matrix.sum(0 if lines == "row" else 1)
    if min(matrix.shape) < 2 or not bool(((crosswise - 1).abs() < ROUNDING).all()):
        return ""
    return f" Each {'column' if lines == 'row' else 'row'} does instead."


def _not_finite(missing: Tensor, count_from: int = 1) -> list[str]:
    rows = _true_indices(missing.any(1))
    return [f"{_describe_lines('row', rows, count_from)}: NaN or infinite."] if rows else []


def _picture(
    matrix: Tensor, marked: Tensor, rows: str, columns: str, wrong: Sequence[str], *, right: Sequence[str] = (),
    summed: str = "", sums: Tensor | None = None, wrong_sums: Sequence[int] = (), first: int = 1,
) -> Picture:  # fmt: skip
    return Picture(
        numbers=numbers_in(matrix),
        rows=rows,
        columns=columns,
        first=first,
        marked=places_in(marked),
        summed=summed,
        sums=() if sums is None else tuple(_sum(total, i in wrong_sums) for i, total in enumerate(sums.tolist())),
        wrong_sums=tuple(wrong_sums),
        wrong=tuple(wrong),
        right=tuple(right),
    )


def _sum(total: float, wrong: bool) -> float | str:
    """With two digits, but never one where it is not one."""
    return round(total, 3) if wrong and abs(total - 1) < 0.05 else _two_digits(total)


def numbers_in(matrix: Tensor) -> tuple[tuple[float | str, ...], ...]:
    """The numbers of a picture of this matrix."""
    return tuple(tuple(map(_two_digits, row)) for row in matrix.tolist())


def places_in(mask: Tensor) -> tuple[tuple[int, int], ...]:
    """The places to be marked."""
    return tuple((int(row), int(column)) for row, column in mask.nonzero())


def _two_digits(number: float) -> float | str:
    if math.isnan(number):
        return "NaN"
    rounded = round(number, 2) if abs(number) < 1 else float(f"{number:.1e}")  # the very largest become infinite
    if math.isinf(rounded):
        return "∞" if rounded > 0 else "−∞"
    return rounded


def _describe_lines(noun: str, indices: Sequence[int], count_from: int = 1) -> str:
    """Such as "Row 2", "Rows 1, 2 and 4"."""
    numbers = (index + count_from for index in indices)
    return f"{noun.capitalize()}{'s' * (len(indices) > 1)} {listed(numbers, len(indices))}"


def _true_indices(mask: Tensor) -> list[int]:
    return [int(index) for index in mask.nonzero()]
