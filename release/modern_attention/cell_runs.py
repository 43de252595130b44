"""What IPython knows of the cells that define functions and classes: whether a definition is older than its cell."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple


class CellRun(NamedTuple):
    """The last run of a cell that defined something."""

    cell: str | None  # its id, where the notebook tells it
    code: str
    end: float  # seconds since 1970
    error: BaseException | None  # if it stopped before it came to the definition


class CellRuns:
    """The last run of the cell that defines each of these names. Outside IPython, nothing is known of any."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = [*names]
        self._runs: dict[str, CellRun] = {}
        self._values: dict[str, object] = {}
        self._shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if self._shell is not None:
            self._shell.events.register("pre_run_cell", self._before)
            self._shell.events.register("post_run_cell", self._after)

    def error(self, name: str) -> BaseException | None:
        """What stopped the last run of the cell that defines it, so that its value is the one from before."""
        return self._runs[name].error if name in self._runs else None

    def was_edited(self, name: str) -> bool:
        """Whether the notebook was saved after the last run of the cell, with other code in it."""
        with contextlib.suppress(Exception):  # the notebook may be anywhere, or half written
            run = self._runs[name]
            path = Path(self._shell.user_ns.get("__vsc_ipynb_file__") or os.environ["JPY_SESSION_NAME"])
            if run.cell and path.stat().st_mtime > run.end:
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                saved = next("".join(cell["source"]) for cell in cells if cell.get("id") == run.cell)
                return saved.strip() != run.code.strip()
        return False

    def _before(self, _: object) -> None:
        self._values = {name: self._shell.user_ns.get(name) for name in self._names}

    def _after(self, result: Any) -> None:
        if result is None:  # it was canceled
            return
        error = result.error_before_exec or result.error_in_exec
        cell, code = getattr(result.info, "cell_id", None), result.info.raw_cell
        for name in self._values:
            is_new = self._shell.user_ns.get(name) is not self._values[name]
            if is_new or self._defines(cell, code, name):
                self._runs[name] = CellRun(cell, code, time.time(), None if is_new else error)

    def _defines(self, cell: str | None, code: str, name: str) -> bool:
        """Whether a cell is about this name: it has a definition of it, or is the cell that it came from."""
        is_its_cell = cell is not None and name in self._runs and self._runs[name].cell == cell
        return is_its_cell or bool(re.search(rf"^(?:async[ \t]+)?(?:def|class)[ \t]+{name}\b", code, re.MULTILINE))
