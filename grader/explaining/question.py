"""A question about a student's own code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class QuestionKind(StrEnum):
    CHANGE = "change"
    SHAPE = "shape"
    SUMS = "sums"
    TIMES = "times"


@dataclass(frozen=True)
class CodeQuestion:
    """A question with its options, of which one is right for all inputs that were tried, and the others for none."""

    kind: QuestionKind
    line: int
    text: str
    inputs: str  # in words
    options: tuple[str, ...]
    right: int
    explanation: str  # what a run gave
