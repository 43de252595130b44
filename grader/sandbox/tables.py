"""Tables of pandas without pandas: their columns and labels.

pandas is imported for nobody who has not used it: a table can only be there where somebody has imported it before.
Outside of the sandbox, a table of a student's is never made a pandas table again.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ARRAY_KINDS = "biufmM"  # of numbers, truth values and times, which stay an array


@dataclass(frozen=True)
class Column:
    """A column with its name, or the labels of the rows."""

    name: Hashable
    cells: Any  # a numpy array, or a list of words, numbers and None, which stands for all that is missing
    dtype: str = ""  # of a list, in the words of pandas


@dataclass(frozen=True)
class Table:
    """A frame, or a series, which has one column."""

    columns: tuple[Column, ...]
    index: Column
    is_series: bool = False


def is_table(value: Any) -> bool:
    """Whether it is a frame or a series of pandas. A class derived from them may be anything."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) in (pandas.DataFrame, pandas.Series)


def table_of(value: Any) -> Table:
    """What a frame or a series holds."""
    index = _labels(value.index)
    if value.ndim == 1:
        return Table((_column(value.name, value),), index, is_series=True)
    return Table(tuple(_column(name, value.iloc[:, i]) for i, name in enumerate(value.columns)), index)


def _labels(index: Any) -> Column:
    name = tuple(index.names) if index.nlevels > 1 else index.name
    return _column(name, index)


def _column(name: Any, values: Any) -> Column:
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in ARRAY_KINDS:
        return Column(name, values.to_numpy())
    return Column(name, [_cell(cell) for cell in values.tolist()], str(values.dtype))


def _cell(cell: Any) -> Any:
    pandas = sys.modules["pandas"]
    if cell is pandas.NA or cell is pandas.NaT or (isinstance(cell, float) and cell != cell):
        return None
    return cell


def real(table: Table) -> Any:
    """The same for pandas. Of tables that the grader has written, for a student's function."""
    import pandas as pd

    index = _index(pd, table.index)
    made = [_series(pd, column, index) for column in table.columns]
    if table.is_series:
        return made[0]
    if not made:
        return pd.DataFrame(index=index)
    frame = pd.concat(made, axis=1)
    frame.columns = _names(pd, [column.name for column in table.columns])
    return frame


def _names(pd: Any, names: Sequence[Any]) -> Any:
    many = bool(names) and all(isinstance(name, tuple) for name in names)
    return pd.MultiIndex.from_tuples(names) if many else pd.Index(names)


def _index(pd: Any, labels: Column) -> Any:
    if isinstance(labels.name, tuple):
        return pd.MultiIndex.from_tuples(labels.cells, names=labels.name)
    if isinstance(labels.cells, np.ndarray) and labels.cells.dtype == np.int64 and _counts(labels.cells):
        return pd.RangeIndex(len(labels.cells), name=labels.name)
    return pd.Index(labels.cells, name=labels.name, dtype=labels.dtype or None)


def _counts(cells: Any) -> bool:
    """Whether they are the numbers that rows have by themselves."""
    return bool((cells == np.arange(len(cells))).all())


def _series(pd: Any, column: Column, index: Any) -> Any:
    return pd.Series(column.cells, index=index, name=column.name, dtype=column.dtype or None)
