"""A verdict: points, the reason, and what was compared, for one exercise of one submission."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from grader.model.answer import Loss, Lost, Symptom
from grader.model.label import NAME
from grader.model.located import Located
from grader.model.untrusted import Count, Number, Text, Texts, converted, is_object
from grader.sandbox.plain_text import one_line

# A small picture of what a student's code returned.

MAX_SIDE = 12
_Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
_Number = _Finite | Annotated[str, Meta(pattern=r"^(NaN|∞|−∞)\Z")]
_Rules = Annotated[tuple[Text, ...], Meta(max_length=8)]
_Line = Annotated[tuple[_Number, ...], Meta(min_length=1, max_length=MAX_SIDE)]
_Index = Annotated[int, Meta(ge=0, lt=MAX_SIDE)]


@dataclass(frozen=True)
class Picture:
    """A small table of returned numbers, and which of them break a rule. grader/kit/pictures.py makes it.

    Numbers have two digits, enough to see a pattern; one that is not finite is a word.
    """

    numbers: Annotated[tuple[_Line, ...], Meta(min_length=1, max_length=MAX_SIDE)]  # by row
    title: Text = ""  # what its rows and columns are, in a case made for it
    rows: Text = "row"  # what a row is
    columns: Text = "column"  # what a column is
    first: Annotated[int, Meta(ge=0, le=1)] = 1  # the number of the first row and column, as the notebook counts
    marked: Annotated[tuple[tuple[_Index, _Index], ...], Meta(max_length=MAX_SIDE**2)] = ()  # what breaks a rule
    summed: Annotated[str, Meta(pattern=r"^(row|column|)\Z")] = ""  # what is summed
    sums: tuple[_Number, ...] = ()  # of each row or column
    wrong_sums: Annotated[tuple[_Index, ...], Meta(max_length=MAX_SIDE)] = ()  # which of them break a rule
    wrong: _Rules = ()  # sentences on what is marked
    right: _Rules = ()  # and on the rules that are kept

    def __post_init__(self) -> None:
        height, width = len(self.numbers), len(self.numbers[0])
        sums = {"row": height, "column": width, "": 0}[self.summed]
        marked_rows, marked_columns = [row for row, _ in self.marked], [column for _, column in self.marked]
        if any(len(row) != width for row in self.numbers) or len(self.sums) != sums:
            raise ValueError("not all rows have the same length, or there are not as many sums as rows or columns")
        if any(max(places, default=-1) >= length for places, length in (
            (marked_rows, height), (marked_columns, width), (self.wrong_sums, sums),
        )):  # fmt: skip
            raise ValueError("what is marked is not in the picture")


__all__ = ["Picture", "Reason", "Scored", "Verdict", "about_their_cell"]

MOST = 50  # functions that share an exercise, and what there is for each
_Label = Annotated[int, Meta(ge=1, le=99_999)] | Annotated[str, Meta(pattern=rf"^{NAME}\Z")]
_Name = Annotated[str, Meta(pattern=r"^[\w.]{1,200}\Z")]
_LEFT_OUT_IF_EMPTY = (
    *("explained_in", "pictures", "lost", "located", "functions", "symptom", "heading", "partly_named", "in_process"),
)


class Reason(StrEnum):
    """Why an exercise earns what it earns."""

    RIGHT = "right"  # full marks
    TO_DO = "to do"  # as it was handed out
    MISSING = "missing"  # there is no such function or class
    MISCONCEPTION = "misconception"  # one that has a name, or several
    TEST_FAILED = "test failed"  # an ordinary one, by an error, or by the points it gives
    ERROR = "error"  # the student's code raised one
    NO_ANSWER = "no answer"  # it hung, or took its process down
    WRONG = "wrong"  # and nothing is known that explains it
    CONSTANT = "constant"  # the answer does not depend on the inputs
    ROUNDED = "rounded"  # right, but with too few digits
    HALF_PRECISION = "half precision"  # right, but computed with 16 bits
    LOCATED = "located"  # the mistake has no name, but its lines are known
    ARRANGEMENT = "arrangement"  # the right numbers in another shape or order
    INPUT_MODIFIED = "input modified"  # the code changes what it is given
    WRONG_DEVICE = "wrong device"  # the answer is not where the inputs are
    # The wrong part of code whose output is right.
    TYPE = "type"  # the numbers are right, and of another type
    MEMORY = "memory"  # right, but with more of it than promised
    BESIDE = "beside"  # something besides right numbers
    GRADIENT = "gradient"  # gradients are wrong, or do not flow
    DROPOUT = "dropout"  # in training
    MASK = "mask"  # what a mask should hide
    INPUT = "input"  # unusual inputs
    ARGUMENTS = "arguments"  # those that a class is made with
    INITIAL = "initial"  # weights


@dataclass(frozen=True)
class Verdict:
    """What an exercise of a submission earns, and why."""

    exercise: _Label | None  # its number or name; None for a test that belongs to no exercise
    title: Text  # of the exercise
    credit: Annotated[float, Meta(ge=0, le=1)]  # 0 to 1
    reason: Reason  # why it earns that
    sentences: Texts = ()  # for the student; none holds a hidden input or an expected value
    misconceptions: Texts = ()  # by name
    cases_right: Count = 0  # how many hidden cases came out right
    cases: Count = 0  # how many there were
    explained_in: Text = ""  # the anchor of a section of the notebook that explains it, if not the exercise's own
    pictures: Annotated[tuple[Picture, ...], Meta(max_length=MOST)] = ()  # of what the student's code returned
    lost: Lost | None = None  # how the sandbox was lost, if that is why
    located: Annotated[tuple[Located, ...], Meta(max_length=MOST)] = ()  # where the code has to change, by proof
    functions: Annotated[Mapping[_Name, Verdict], Meta(max_length=MOST)] = field(default_factory=dict)  # by name
    symptom: Symptom | None = None  # what it looks like, if it has no name
    heading: Text = ""  # the sentence above those on several misconceptions, one for each
    partly_named: bool = False  # there are more misconceptions than are named
    in_process: bool = False  # an ordinary test ran in the student's process, which could make up the credit
    holds_nan: bool = field(default=False, compare=False)  # whether NaN came back: for the judge, never written

    @property
    def right(self) -> bool:
        return self.credit == 1.0

    @property
    def loss(self) -> Loss | None:
        return self.lost.loss if self.lost else None

    @property
    def label(self) -> str:
        """The exercise in a word."""
        return self.title if self.exercise is None else str(self.exercise)

    def points(self, max_points: float) -> float:
        """The points that it earns: in quarters, rounded up. Ordinary tests set their own."""
        if self.in_process:
            return round(self.credit * max_points, 9)
        quarters = math.ceil(round(4 * self.credit * max_points, 6)) / 4
        return quarters if quarters < max_points else round(self.credit * max_points, 2)

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON. Rare fields are left out if empty, as in old verdicts without them."""
        return _as_written(asdict(self))

    @classmethod
    def from_json(cls, data: object) -> Verdict | None:
        """Read a verdict from a notebook that anybody may have changed; None if any part of it is wrong."""
        verdict = converted(_renamed(data), cls)
        if verdict is None or any(part.functions for part in verdict.functions.values()):
            return None
        return replace(verdict, title=one_line(verdict.title))


def about_their_cell(functions: Mapping[str, Verdict]) -> tuple[str, ...]:
    """The sentences on a cell that failed, and so defines none of the functions that share an exercise."""
    verdicts = list(functions.values())
    if any(verdict.reason != Reason.MISSING for verdict in verdicts):
        return ()
    return tuple(text for text in verdicts[0].sentences if all(text in verdict.sentences for verdict in verdicts))


def _renamed(data: object) -> object:
    """A verdict in JSON as it is written now: the first versions wrote 0 for no exercise, and `reread`."""
    if not is_object(data):
        return data
    return {"explained_in": data.get("reread", ""), **data, "exercise": data.get("exercise") or None}


def _as_written(data: dict[str, Any]) -> dict[str, Any]:
    full = {name: value for name, value in data.items() if value or name not in _LEFT_OUT_IF_EMPTY}
    del full["holds_nan"]
    for picture in full.get("pictures", ()):
        if picture["first"] == 1:
            del picture["first"]
    if "functions" in full:
        full["functions"] = {name: _as_written(verdict) for name, verdict in full["functions"].items()}
    return full


@dataclass(frozen=True)
class Scored:
    """A verdict and what the exercise is worth, as a graded notebook holds them."""

    verdict: Verdict
    max_points: float

    @property
    def points(self) -> float:
        return self.verdict.points(self.max_points)

    def to_json(self) -> dict[str, Any]:
        return {**self.verdict.to_json(), "points": self.points, "max_points": self.max_points}

    @classmethod
    def from_json(cls, data: object) -> Scored | None:
        worth, verdict = converted(data, _Worth), Verdict.from_json(data)
        return cls(verdict, worth.max_points) if worth and verdict else None


@dataclass(frozen=True)
class _Worth:
    """The part of a scored verdict's JSON that a verdict alone lacks."""

    points: Number
    max_points: Number
