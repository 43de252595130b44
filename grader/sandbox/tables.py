"""Tables of pandas without pandas: their columns and labels.

pandas is imported only for those who use it: there can be no table where nobody has imported it.
Outside of the sandbox, a student's table never becomes a pandas table again.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Array: TypeAlias = np.ndarray[Any, Any]
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


def is_table(value: object) -> bool:
    """Whether it is a pandas frame or series. A subclass may be anything."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) in (pandas.DataFrame, pandas.Series)


def table_of(value: Any) -> Table:
    """What a frame or a series holds."""
    index = value.index
    labels = _column(tuple(index.names) if index.nlevels > 1 else index.name, index)
    if value.ndim == 1:
        return Table((_column(value.name, value),), labels, is_series=True)
    return Table(tuple(_column(name, value.iloc[:, i]) for i, name in enumerate(value.columns)), labels)


def _column(name: Hashable, values: pd.Series | pd.Index) -> Column:
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in ARRAY_KINDS:
        return Column(name, values.to_numpy())
    return Column(name, [_cell(cell) for cell in values.tolist()], str(values.dtype))


def _cell(cell: object) -> object:
    pandas = sys.modules["pandas"]
    is_missing = cell is pandas.NA or cell is pandas.NaT or (isinstance(cell, float) and cell != cell)
    return None if is_missing else cell


def real(table: Table) -> pd.DataFrame | pd.Series:
    """A pandas table with this content, made from the grader's own tables, for a student's function."""
    import pandas as pd

    index = _index(table.index)
    columns = [
        pd.Series(column.cells, index=index, name=column.name, dtype=column.dtype or None) for column in table.columns
    ]
    if table.is_series:
        return columns[0]
    if not columns:
        return pd.DataFrame(index=index)
    frame = pd.concat(columns, axis=1)
    frame.columns = _names([column.name for column in table.columns])
    return frame


def _names(names: Sequence[Hashable]) -> pd.Index:
    import pandas as pd

    has_levels = bool(names) and all(isinstance(name, tuple) for name in names)
    return pd.MultiIndex.from_tuples(names) if has_levels else pd.Index(names)


def _index(labels: Column) -> pd.Index:
    import pandas as pd

    cells = labels.cells
    if isinstance(labels.name, tuple):
        return pd.MultiIndex.from_tuples(cells, names=labels.name)
    if isinstance(cells, np.ndarray) and cells.dtype == np.int64 and bool((cells == np.arange(len(cells))).all()):
        return pd.RangeIndex(len(cells), name=labels.name)  # the numbers that rows have by themselves
    return pd.Index(cells, name=labels.name, dtype=labels.dtype or None)
