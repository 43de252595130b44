"""Print what `grader validate` found: a table of checks with ✓ or ✗, then all details in full, errors last."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from grader.classroom.terminal_tables import folding, plain_table
from grader.model.label import Label
from grader.sandbox.plain_text import one_line

State = Literal["good", "note", "bad"]
SIGNS = {"good": "[green]✓[/]", "note": "[yellow]note[/]", "bad": "[red]✗[/]"}
ALL_OF_IT = 1_000_000  # characters: texts are never cut off


@dataclass(frozen=True)
class Finding:
    """A check and its result."""

    checked: str  # what should be true, in a few words
    state: State = "good"
    text: str = ""  # details: where, what is wrong, and how to fix it
    exercise: Label | None = None  # if it is about a single exercise
    count: int | None = None  # how many things were checked, if they can be counted

    @property
    def ok(self) -> bool:
        return self.state != "bad"


@dataclass
class CheckedAssignment:
    """An assignment and its findings."""

    assignment: str
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings, and note how long they took. If one raises an error, those before it are kept."""
        start = time.perf_counter()
        try:
            self.findings.extend(findings)
        finally:
            self.seconds = time.perf_counter() - start

    def lines(self, state: State) -> Iterator[str]:
        """The texts of the findings in this state that have more to say than the table."""
        for finding in self.findings:
            if finding.state == state and finding.text:
                yield f"{self.assignment}: {one_line(finding.text, ALL_OF_IT)}"


def show(assignments: Sequence[CheckedAssignment], console: Console) -> None:
    """Print the table, then the notes, then the errors."""
    console.print(_table(assignments))
    console.print()
    for state in ("note", "bad"):
        for assignment in assignments:
            for line in assignment.lines(state):
                console.print(_wrapped(SIGNS[state], line, console), highlight=False, soft_wrap=True)


def _table(assignments: Sequence[CheckedAssignment]) -> Table:
    """A row for each check, and one for each exercise in which it found something.

    Each row names its assignment, so that a search hit shows where it belongs.
    """
    result_column = Column("result", justify="right", no_wrap=True)
    table = plain_table(*folding("assignment", "exercise", "checked"), result_column)
    table.show_edge = table.pad_edge = False
    for assignment in assignments:
        name = escape(assignment.assignment)
        for (exercise, check, state), findings in _group(assignment.findings).items():
            count = len(findings) if state == "bad" else findings[0].count
            result = SIGNS[state] if count is None else f"{count} {SIGNS[state]}"
            table.add_row(name, "all" if exercise is None else str(exercise), escape(check), result)
        table.add_row(name, "", "all of it, in seconds", f"{assignment.seconds:.1f}", end_section=True)
    return table


def _group(findings: Iterable[Finding]) -> dict[tuple[Label | None, str, State], list[Finding]]:
    """Group findings that differ in their texts alone, in the order in which they were found."""
    groups: dict[tuple[Label | None, str, State], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.exercise, finding.checked, finding.state), []).append(finding)
    return groups


def _wrapped(sign: str, text: str, console: Console) -> str:
    """Wrap a text on a terminal. In a pipe it stays on one line, so that grep finds it whole."""
    if console.is_terminal:
        text = textwrap.fill(
            text, console.width - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    return f"{sign} {escape(text)}"
