"""The ordinary tests of one notebook on its way through a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nbformat

from grader.host.replies import CellResult
from grader.judging.ordinary_scores import Failure, Test, countable, judge_test
from grader.model.answer import Lost, sentence_of
from grader.model.ordinary import OrdinaryTests
from grader.model.verdict import Verdict
from grader.notebooks.cells import points_of


class RunningTests:
    """Which cells are tests, what each uses, and whether the student's process has had a hidden one."""

    def __init__(self, tests: OrdinaryTests, cells: Sequence[Any]) -> None:
        self._tests = tests
        self._count = len(cells)
        self._uses: dict[str, dict[str, object]] = {}  # by the source of a test that was begun
        self._had_hidden = False

    def __bool__(self) -> bool:
        return self._count > 0

    def begin(self, cell: Any) -> str:
        """The source of a test whose turn it is. Before, nothing of it goes to the sandbox."""
        self._had_hidden = self._had_hidden or self._tests.hides(cell.source)
        self._uses[cell.source] = self._tests.what_it_uses(cell.source)
        return str(cell.source)

    def uses(self, source: str) -> dict[str, object] | None:
        """What a test is to find as it was, also when it is run again; None for any other cell."""
        return self._uses.get(source)

    def judge(self, cell: Any, result: CellResult, lost: Lost | None) -> tuple[list[Any], Verdict]:
        """The outputs of a test as nbgrader counts them, and the verdict."""
        test = Test(
            str(cell.metadata["nbgrader"]["grade_id"]), cell.source, points_of(cell),
            self._tests.visible_lines(cell.source),
        )  # fmt: skip
        failure = None
        if result.error:
            # IPython does not count the blank lines that a cell begins with.
            blank = cell.source[: len(cell.source) - len(cell.source.lstrip())].count("\n")
            kind, _, message = result.error.partition(": ")
            failure = Failure(result.kind or kind, result.message or message, result.line and result.line + blank)
        if lost:
            text = sentence_of(lost)
            outputs = [nbformat.v4.new_output("error", ename="CellStopped", evalue=text, traceback=[text])]
        else:
            outputs = countable(result.outputs, failure, self._tests.unheard)
        return judge_test(test, outputs, failure, lost, trusted=not self._had_hidden, changed=result.changed)
