"""What the last submissions say of each exercise: how hard it is, what goes wrong, and whose code stopped."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grader.model.answer import Lost, sentence_of
from grader.serving.arrivals import Arrival

MOST_NAMES = 3  # mistakes of an exercise
ENOUGH = 10  # submissions, for a correlation


@dataclass
class ExerciseNow:
    """An exercise, in the last submissions of all students until now."""

    assignment: str
    label: str
    most: float  # points
    full: int = 0  # with full marks
    points: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)  # the points of the same submissions for all else
    mistakes: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Of the points, how many are earned: the lower, the harder it is."""
        return statistics.mean(self.points) / self.most if self.most else 0.0

    @property
    def discrimination(self) -> float | None:
        """How its points go with those for all else, from -1 to 1; None if there are too few, or all are equal."""
        if len(self.points) < ENOUGH or min(len(set(self.points)), len(set(self.others))) < 2:
            return None
        return statistics.correlation(self.points, self.others)

    @property
    def most_common(self) -> str:
        return ", ".join(f"{name} ({count})" for name, count in self.mistakes.most_common(MOST_NAMES))


def exercises_now(arrivals: Iterable[Arrival]) -> list[ExerciseNow]:
    found: dict[tuple[str, str], ExerciseNow] = {}
    for arrival in arrivals:
        for one in arrival.result.get("exercises", ()):
            label = _label(one)
            exercise = found.setdefault(
                (arrival.assignment, label), ExerciseNow(arrival.assignment, label, one["max_points"])
            )
            exercise.full += one["credit"] == 1
            exercise.points.append(one["points"])
            exercise.others.append(arrival.result["points"] - one["points"])
            exercise.mistakes.update(one["misconceptions"])
    return list(found.values())


def _label(exercise: dict[str, Any]) -> str:
    number, title = exercise["exercise"], str(exercise["title"])
    return title if number is None else f"{number}: {title}"


class StoppedNow(NamedTuple):
    """Code of a submission that hung or crashed."""

    arrival: Arrival
    label: str
    said: str


def stopped_now(arrivals: Iterable[Arrival]) -> Iterator[StoppedNow]:
    for arrival in arrivals:
        for one in arrival.result.get("exercises", ()):
            verdicts = [one, *one.get("functions", {}).values()]
            if lost := next(filter(None, (Lost.from_json(verdict.get("lost")) for verdict in verdicts)), None):
                yield StoppedNow(arrival, _label(one), sentence_of(lost))
