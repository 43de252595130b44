"""Run a notebook in the student's own repository, and say which of its visible checks pass.

`grader export --to github` gives this file to students. It knows nothing hidden, and grades nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from grader.autograders.on_github import annotation, lines_of_cells, summarize, table

CELL_SECONDS = 120
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


class Check(NamedTuple):
    """The result of one test cell."""

    name: str
    passed: bool
    said: str


def checks_of(path: Path) -> list[Check]:
    """Run a notebook as Jupyter would, past all errors in cells, and return the results of its tests."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        interrupt_on_timeout=True,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except DeadKernelError:
        return [Check(path.name, False, "Python stopped while it ran the notebook. It may have run out of memory.")]
    tests = [cell for cell in notebook.cells if cell.cell_type == "code" and _is_test(cell)]
    return [_check(cell) for cell in tests]


def _is_test(cell: NotebookNode) -> bool:
    known = cell.metadata.get("nbgrader", {})
    return bool(known.get("grade")) and not known.get("solution")


def _check(cell: NotebookNode) -> Check:
    """The result of a cell, as in `nbgrader validate`: an error, or any output on stderr, is a failure."""
    wrong = list(_wrong(cell.outputs))
    said = _COLORS.sub("", "".join(wrong)).strip()
    return Check(str(cell.metadata["nbgrader"]["grade_id"]), not wrong, said or "✓")


def _wrong(outputs: list[NotebookNode]) -> Iterator[str]:
    for output in outputs:
        if output.output_type == "error":
            yield f"{output.ename}: {output.evalue}"
        elif output.output_type == "stream" and output.name == "stderr":
            yield output.text


def main(paths: list[str]) -> int:
    failed = 0
    for path in paths:
        checks = checks_of(Path(path))
        lines = lines_of_cells(Path(path).read_text(encoding="utf-8"))
        for check in checks:
            if not check.passed:
                failed += 1
                cell = check.name.removeprefix("test-")  # the student's cell, if it has this name
                line = lines.get(cell, lines.get(check.name, 1))
                print(annotation(path, line, check.name, check.said))  # noqa: T201
        rows = [(check.name, check.said) for check in checks]
        summarize(f"## Visible checks of {path}\n\n{table(('check', 'what it says'), rows)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
