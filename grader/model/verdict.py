"""A verdict: points, the reason, and what was compared, for one exercise of one submission."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why an exercise earns what it earns."""

    RIGHT = "right"
    TO_DO = "to do"  # as it was handed out
    MISSING = "missing"  # there is no such function or class
    MISCONCEPTION = "misconception"
    ERROR = "error"  # the student's code raised one
    NO_ANSWER = "no answer"  # it hung, or took its process down
    WRONG = "wrong"  # and nothing is known that explains it
    CONSTANT = "constant"
    ROUNDED = "rounded"
    HALF_PRECISION = "half precision"
    ARRANGEMENT = "arrangement"
    INPUT_MODIFIED = "input modified"
    WRONG_DEVICE = "wrong device"
    # Of a class whose output is right: the part that is not.
    GRADIENT = "gradient"
    DROPOUT = "dropout"
    MASK = "mask"
    INPUT = "input"
    ARGUMENTS = "arguments"


@dataclass(frozen=True)
class Picture:
    """Small numbers that the student's code returned, and which of them break a rule. grader/kit/pictures.py makes it.

    Numbers have two digits, enough to see a pattern; one that is not finite is a word.
    """

    numbers: tuple[tuple[float | str, ...], ...]
    title: str = ""
    rows: str = "row"  # what a row stands for
    columns: str = "column"
    marked: tuple[tuple[int, int], ...] = ()
    summed: str = ""  # what the sums are of: "row", "column", or nothing
    sums: tuple[float | str, ...] = ()
    wrong_sums: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()  # sentences on what is marked
    right: tuple[str, ...] = ()  # and on the rules that are kept


@dataclass(frozen=True)
class Verdict:
    exercise: int
    title: str
    credit: float  # 0 to 1
    reason: Reason
    sentences: tuple[str, ...] = ()  # for the student; none holds a hidden input or an expected value
    misconceptions: tuple[str, ...] = ()
    cases_right: int = 0
    cases: int = 0
    reread: str = ""  # the anchor of a section of the notebook that explains it, if not the exercise's own
    pictures: tuple[Picture, ...] = ()  # of what the student's code returned, for feedback

    @property
    def right(self) -> bool:
        return self.credit == 1.0

    def points(self, max_points: float) -> float:
        return round(self.credit * max_points, 2)

    def to_json(self) -> dict[str, Any]:
        """What is empty in most verdicts is left out, as in those that were written before it was known."""
        return {name: value for name, value in asdict(self).items() if value or name not in ("reread", "pictures")}
