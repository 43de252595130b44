"""Show the progress of tests in one moving line, or in logs, a line for each tenth. Failures are named at once."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest


class OneLine:
    """Replaces a dot for each of thousands of tests."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal
        self._all = self._done = self._failed = 0
        self._tenths = 0
        self._is_over = False

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._all = len(ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, tuple[str, str, object], tuple[str, str, object]]:
        category, letter, word = yield
        return (category, letter, word) if self._is_over else (category, "", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed += 1
            self._say(f"FAILED {report.nodeid}", stays=True)

    def pytest_runtest_logfinish(self) -> None:
        self._done += 1
        far = f"{self._done:,} of {self._all:,} tests" + (f", {self._failed:,} failed" if self._failed else "")
        if self._terminal.isatty:
            self._say(far)
        elif self._done * 10 // max(self._all, 1) > self._tenths:
            self._tenths += 1
            self._say(far, stays=True)

    def pytest_sessionfinish(self) -> None:
        self._is_over = True  # the list of failures follows
        if self._terminal.isatty:
            self._terminal.write_line("")

    def _say(self, line: str, stays: bool = False) -> None:
        if self._terminal.isatty:
            self._terminal.rewrite(line, erase=True)
        else:
            self._terminal.write(line)
        if stays:
            self._terminal.write("\n", flush=True)
