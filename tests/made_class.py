"""A class made by hand: what is in the gradebook and in autograded/, without grading anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import nbformat

from grader.course import Course
from grader.gradebook.class_gradebook import ClassGradebook, Entry
from grader.gradebook.records import Record
from grader.model.submission import Graded
from grader.notebooks.solutions import fill_in

ASSIGNMENT = "self_attention"
MAX_POINTS = {1: 3, 2: 3, 3: 2, 4: 2, 5: 3, 6: 4, 7: 5, 8: 8}
TITLES = {
    1: "Queries, keys, values",
    2: "Attention scores",
    3: "Softmax",
    4: "Attention weights",
    5: "Weighted sums",
    6: "Self-attention, all steps together",
    7: "Matrix form",
    8: "Two heads",
}


@dataclass
class Made:
    """A graded submission. What is not said is right, and earns full marks."""

    student: str
    credit: Mapping[int, float] = field(default_factory=dict)
    named: Mapping[int, Sequence[str]] = field(default_factory=dict)  # misconceptions
    reason: Mapping[int, str] = field(default_factory=dict)
    says: Mapping[int, Sequence[str]] = field(default_factory=dict)
    blocked: Sequence[str] = ()
    cells: Mapping[int, str] = field(default_factory=dict)
    timestamp: datetime | None = None

    def verdicts(self) -> list[dict[str, Any]]:
        return [self._verdict(number, points) for number, points in MAX_POINTS.items()]

    def _verdict(self, number: int, most: int) -> dict[str, Any]:
        credit = self.credit.get(number, 1.0)
        names = self.named.get(number, ())
        reason = self.reason.get(number, "misconception" if names else "right" if credit == 1 else "wrong")
        return {
            "exercise": number, "title": TITLES[number], "credit": credit, "reason": reason,
            "sentences": list(self.says.get(number, ["Right."] if credit == 1 else ["Something differs."])),
            "misconceptions": list(names), "cases_right": 0, "cases": 4,
            "points": credit * most, "max_points": float(most),
        }  # fmt: skip


def grade(course: Course, *made: Made) -> None:
    """Write them as `grader autograde` does."""
    release = course.read("release", ASSIGNMENT)
    entries = []
    for one in made:
        verdicts = one.verdicts()
        content = nbformat.writes(fill_in(release, one.cells))
        path = course.notebook(f"autograded/{one.student}", ASSIGNMENT)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        scores = {f"test-exercise-{verdict['exercise']}": verdict["points"] for verdict in verdicts}
        record = Record("", hashlib.sha256(content.encode()).hexdigest(), verdicts, one.blocked)
        entries.append(Entry(Graded(one.student, scores=scores), record, one.timestamp))
    with course.api().gradebook as gradebook:
        ClassGradebook(gradebook, ASSIGNMENT, None, print).write(entries)
