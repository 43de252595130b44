"""What a student may still submit, and what they may read, by rules and moments."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.classroom import attempts
from grader.serving.allowance import allowance, shown_to
from grader.serving.arrivals import Arrival, Stage
from grader.term.reading import COURSE_FILE, read_rules
from grader.term.rules import AssignmentRules, Detail, Serving
from support.places import ROOT

NOON = datetime(2026, 10, 12, 12, tzinfo=UTC)


def arrival_at(minutes: float, state: Stage = Stage.GRADED) -> Arrival:
    """A submission so many minutes after noon."""
    return Arrival(1, "ada", "a", 1, NOON + timedelta(minutes=minutes), "", state, {})


def rules(zone: str = "", **serving: object) -> AssignmentRules:
    return AssignmentRules(serving=Serving(**serving), zone=zone)  # type: ignore[arg-type]


def test_rules_example_of_the_docs_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/serving.md").read_text(), re.DOTALL)
    (tmp_path / COURSE_FILE).write_text(example)
    found = read_rules(tmp_path)
    of_all = Serving(10, 5, timedelta(minutes=5), Detail.MISTAKES, Detail.EVERYTHING)
    assert found.of("another").serving == of_all
    assert found.of("self_attention").serving == replace(of_all, attempts=20)
    before = datetime(2026, 10, 12, 7, 59, tzinfo=UTC)
    assert shown_to(found.of("self_attention"), "ada", before) is Detail.MISTAKES
    assert shown_to(found.of("self_attention"), "ada", before + timedelta(minutes=1)) is Detail.EVERYTHING


def test_allowance_without_rules_is_fifty_attempts() -> None:
    assert allowance(AssignmentRules(), [arrival_at(minute) for minute in range(49)], NOON).left == 1
    assert allowance(AssignmentRules(), [arrival_at(minute) for minute in range(50)], NOON).refusal.startswith(
        "You have used"
    )


def test_allowance_when_best_counts_is_what_can_be_kept() -> None:
    best = replace(rules(attempts=1000), best=True)
    assert allowance(best, [arrival_at(0)], NOON).left == attempts.MOST_ATTEMPTS - 1
    assert allowance(rules(attempts=1000), [arrival_at(0)], NOON).left == 999


def test_allowance_does_not_count_failed_grading() -> None:
    arrivals = [arrival_at(0), arrival_at(1, Stage.FAILED), arrival_at(2, Stage.WAITING)]
    assert allowance(rules(attempts=3), arrivals, NOON).left == 1
    allowed = allowance(rules(attempts=2), arrivals, NOON)
    assert (allowed.left, allowed.refusal) == (0, "You have used all 2 attempts.")
    assert allowance(rules(attempts=1), [arrival_at(0)], NOON).refusal == "You have used your only attempt."


def test_allowance_a_day_follows_the_time_zone_of_the_course() -> None:
    late, early = (
        arrival_at(60 * 9),
        arrival_at(60 * 11),
    )  # 21:00 and 23:00 in UTC; 23:00 and, a day later, 1:00 in Berlin
    now = early.arrived
    assert allowance(rules(a_day=2), [late, early], now).left == 0
    assert allowance(rules("Europe/Berlin", a_day=2), [late, early], now).left == 1
    refusal = allowance(rules(a_day=1), [late], now).refusal
    assert refusal == "You have used your only attempt for today. Come back tomorrow."


@pytest.mark.parametrize(
    ("attempts", "minutes"), [(0, 0), (1, 0), (2, 10), (3, 20), (4, 40), (5, 60), (40, 60), (3000, 60)]
)
def test_pause_after_grows_up_to_an_hour(attempts: int, minutes: int) -> None:
    serving = Serving(pause=timedelta(minutes=10))
    assert serving.pause_after(attempts) == timedelta(minutes=minutes)
    assert Serving(pause=timedelta(hours=3)).pause_after(5) == timedelta(hours=3)


def test_allowance_during_a_pause_says_when_it_ends() -> None:
    of_berlin = rules("Europe/Berlin", pause=timedelta(minutes=10), attempts=5)
    arrivals = [arrival_at(0), arrival_at(5)]
    allowed = allowance(of_berlin, arrivals, arrival_at(14).arrived)
    assert (allowed.left, allowed.refusal) == (3, "Your next attempt is possible at 2026-10-12 14:15 CEST.")
    assert allowance(of_berlin, arrivals, arrival_at(15).arrived).refusal == ""


def test_shown_to_depends_on_the_due_date_of_each_student() -> None:
    due = datetime(2026, 10, 12, 12)
    of_all = AssignmentRules(
        due=due, extensions={"emmy": timedelta(days=1)}, serving=Serving(before=Detail.POINTS, after=Detail.MISTAKES)
    )
    assert shown_to(of_all, "ada", arrival_at(-1).arrived) is Detail.POINTS
    assert shown_to(of_all, "ada", arrival_at(1).arrived) is Detail.MISTAKES
    assert shown_to(of_all, "emmy", arrival_at(1).arrived) is Detail.POINTS
    assert shown_to(rules(before=Detail.NOTHING), "ada", arrival_at(1).arrived) is Detail.NOTHING
