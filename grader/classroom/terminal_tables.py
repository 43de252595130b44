"""Tables on a terminal: all of them look alike."""

from __future__ import annotations

from rich import box
from rich.table import Column, Table


def plain_table(*columns: Column | str, title: str | None = None, show_header: bool = True) -> Table:
    """A table with a line below its headings, and no others."""
    return Table(
        *columns,
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_header=show_header,
    )


def folding(*names: str) -> list[Column]:
    """Columns in which a long word goes on in the next line."""
    return [Column(name, overflow="fold") for name in names]
