"""What was collected and what waits, as tables and for programs."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from grader.collecting.collect import Decision
from grader.sandbox.plain_text import one_line

_LONGEST = 500


def collected_table(decisions: Sequence[Decision]) -> Table:
    table = _table("Collected", "student", "what", "from", "told")
    for one in decisions:
        table.add_row(*map(_text, (one.student, one.outcome, one.place)), _said(one))
    return table


def waiting_table(decisions: Sequence[Decision]) -> Table:
    table = _table("Waiting for you", "student", "from", "why")
    for one in decisions:
        table.add_row(*map(_text, (one.student or "?", one.place)), _said(one))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _text(text: str) -> str:
    return escape(one_line(text))


def _said(decision: Decision) -> str:
    return "\n".join(escape(one_line(said, _LONGEST)) for said in decision.said)


def as_json(assignment: str, decisions: Sequence[Decision], dry_run: bool) -> dict[str, object]:
    return {
        "assignment": assignment,
        "dry_run": dry_run,
        "collected": [
            {"student": one.student, "outcome": one.outcome, **_shared(one)} for one in decisions if not one.waits
        ],
        "waiting": [{"student": one.student or None, **_shared(one)} for one in decisions if one.waits],
    }


def _shared(one: Decision) -> dict[str, object]:
    time = one.time.isoformat(timespec="seconds") + "Z" if one.time else None
    return {"from": one.place, "time": time, "told": list(one.said)}
