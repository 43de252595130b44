"""What a student may still submit, and how much of a verdict they may read, by the rules in course.toml."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from grader.classroom.attempts import MOST_ATTEMPTS
from grader.serving.arrivals import Arrival, Stage
from grader.term.rules import AssignmentRules, Detail
from grader.term.times import format_time, local


@dataclass(frozen=True)
class Allowance:
    """What is left of a student's attempts, and why there can be none now, if so."""

    left: int | None  # None: no limit
    refusal: str = ""


def allowance(rules: AssignmentRules, earlier: Iterable[Arrival], now: datetime) -> Allowance:
    """For the next submission of an assignment, after these. What we failed to grade does not count."""
    times = sorted(arrival.arrived for arrival in earlier if arrival.state is not Stage.FAILED)
    serving = rules.serving
    attempts = min(serving.attempts or MOST_ATTEMPTS, MOST_ATTEMPTS) if rules.best else serving.attempts
    today = sum(local(time, rules.zone).date() == local(now, rules.zone).date() for time in times)
    limits = ((attempts, len(times)), (serving.a_day, today))
    left = min((max(0, most - used) for most, used in limits if most is not None), default=None)
    if serving.closed:
        return Allowance(0, "This assignment is closed.")
    if left == 0 and attempts is not None and len(times) >= attempts:
        return Allowance(0, f"You have used {_all(len(times))}.")
    if left == 0:
        return Allowance(0, f"You have used {_all(today)} for today. Come back tomorrow.")
    pause = serving.pause_after(len(times))
    next_time = times[-1] + pause if pause else now
    if next_time > now:
        return Allowance(left, f"Your next attempt is possible at {format_time(next_time, rules.zone)}.")
    return Allowance(left)


def _all(attempts: int) -> str:
    return f"all {attempts} attempts" if attempts > 1 else "your only attempt"


def shown_to(rules: AssignmentRules, student: str, now: datetime) -> Detail:
    """How much a student may read now. Without a due date in course.toml, it is never past."""
    due = rules.due_for(student)
    is_past = due is not None and due <= now.astimezone(UTC).replace(tzinfo=None)
    return rules.serving.after if is_past else rules.serving.before
