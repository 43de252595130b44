"""A verdict: points, the reason, and what was compared, for one exercise of one submission."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    exercise: int
    title: str
    credit: float  # 0 to 1
    reason: str  # in a word or two, such as "right", "misconception", "input modified", "error", "to do"
    sentences: tuple[str, ...] = ()  # for the student; none holds a hidden input or an expected value
    misconceptions: tuple[str, ...] = ()
    cases_right: int = 0
    cases: int = 0

    @property
    def right(self) -> bool:
        return self.credit == 1.0

    def points(self, max_points: float) -> float:
        return round(self.credit * max_points, 2)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
