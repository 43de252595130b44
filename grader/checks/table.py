"""What `grader validate` has found, as a table: what was checked, with ✓ or ✗. Whatever is to be said in words stands
below it, whole, and what is wrong comes last.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.model.label import Label
from grader.sandbox.plain_text import one_line

State = Literal["good", "note", "bad"]
SIGNS = {"good": "[green]✓[/]", "note": "[yellow]note[/]", "bad": "[red]✗[/]"}
ALL_OF_IT = 1_000_000  # letters of a text, which is never cut off


@dataclass(frozen=True)
class Finding:
    """Something that was checked, and what came of it."""

    checked: str  # in a few words, as it should be
    state: State = "good"
    text: str = ""  # whatever is to be said: the place, what is wrong, and the way out
    exercise: Label | None = None  # if it is about a single one
    count: int | None = None  # of what was looked at, if that can be counted

    @property
    def ok(self) -> bool:
        return self.state != "bad"


@dataclass
class Checked:
    """An assignment and what was found in it."""

    assignment: str
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    def take(self, findings: Iterable[Finding]) -> None:
        """All of them. If one cannot be had, those before it are there."""
        began = time.perf_counter()
        try:
            self.findings.extend(findings)
        finally:
            self.seconds = time.perf_counter() - began

    def told(self, state: State) -> Iterator[str]:
        """Findings of a kind that are more than a sign in the table, in words."""
        for finding in self.findings:
            if finding.state == state and finding.text:
                yield f"{self.assignment}: {one_line(finding.text, ALL_OF_IT)}"


def show(checked: Sequence[Checked], console: Console) -> None:
    """The table, then what is worth knowing, then what is wrong."""
    console.print(_table(checked))
    console.print()
    for state in ("note", "bad"):
        for one in checked:
            for text in one.told(state):
                console.print(_fitted(SIGNS[state], text, console), highlight=False, soft_wrap=True)


def _table(checked: Sequence[Checked]) -> Table:
    """A line for each check, and one for each exercise in which it found something.

    Each names its assignment: who searches for a line sees what it belongs to.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("assignment", overflow="fold")
    table.add_column("exercise", overflow="fold")
    table.add_column("checked", overflow="fold")
    table.add_column("result", justify="right", no_wrap=True)
    for one in checked:
        for (exercise, what, state), found in _alike(one.findings).items():
            count = len(found) if state == "bad" else found[0].count
            result = SIGNS[state] if count is None else f"{count} {SIGNS[state]}"
            place = "all" if exercise is None else str(exercise)
            table.add_row(escape(one.assignment), place, escape(what), result)
        table.add_row(escape(one.assignment), "", "all of it, in seconds", f"{one.seconds:.1f}", end_section=True)
    return table


def _alike(findings: Iterable[Finding]) -> dict[tuple[Label | None, str, State], list[Finding]]:
    """In the order in which they were found."""
    found: dict[tuple[Label | None, str, State], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.exercise, finding.checked, finding.state), []).append(finding)
    return found


def _fitted(sign: str, text: str, console: Console) -> str:
    """On a terminal, broken between words. In a pipe it is one line: what searches there takes a line for a finding."""
    if console.is_terminal:
        text = textwrap.fill(
            text, console.width - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    return f"{sign} {escape(text)}"
