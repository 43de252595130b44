"""A verdict: points, the reason, and what was compared, for one exercise of one submission."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from grader.model import untrusted
from grader.model.answer import Loss, Lost, Symptom
from grader.model.label import Label, label_of
from grader.model.located import Located
from grader.sandbox.plain_text import one_line

# A small picture of what a student's code returned.

MAX_SIDE = 12
MAX_NOTES = 8
MAX_NOTE = 400  # characters
_WORDS = ("NaN", "∞", "−∞")


@dataclass(frozen=True)
class Picture:
    """A small table of returned numbers, and which of them break a rule. grader/kit/pictures.py makes it.

    Numbers have two digits, enough to see a pattern; one that is not finite is a word.
    """

    numbers: tuple[tuple[float | str, ...], ...]  # by row
    title: str = ""  # what its rows and columns are, in a case made for it
    rows: str = "row"  # what a row is
    columns: str = "column"  # what a column is
    first: int = 1  # the number of the first row and column: 0 where the notebook counts from 0
    marked: tuple[tuple[int, int], ...] = ()  # row and column of what breaks a rule
    summed: str = ""  # what is summed: "row", "column", or nothing
    sums: tuple[float | str, ...] = ()  # of each row or column
    wrong_sums: tuple[int, ...] = ()  # which of them break a rule
    wrong: tuple[str, ...] = ()  # sentences on what is marked
    right: tuple[str, ...] = ()  # and on the rules that are kept

    @classmethod
    def from_json(cls, data: object) -> Picture | None:
        """The picture in a verdict's JSON; None if it is not one of ours."""
        try:
            return _picture(data) if untrusted.is_object(data) else None
        except (IndexError, KeyError, OverflowError, TypeError, ValueError):
            return None


def _picture(data: Mapping[str, Any]) -> Picture | None:
    """Read a picture; raises some error where a value is wrong."""
    numbers = tuple(tuple(map(_number, row)) for row in _few(data["numbers"], MAX_SIDE))
    height, width = len(numbers), len(numbers[0])
    if not 0 < width <= MAX_SIDE or any(len(row) != width for row in numbers):
        return None
    summed = data.get("summed", "")
    lines = {"row": height, "column": width}.get(summed, 0)
    sums = tuple(map(_number, _few(data.get("sums", ()), MAX_SIDE)))
    return Picture(
        numbers=numbers,
        title=_text(data.get("title", "")),
        rows=_text(data.get("rows", "row"))[:12],
        columns=_text(data.get("columns", "column"))[:12],
        first=0 if data.get("first") == 0 else 1,
        marked=tuple((_index(i, height), _index(j, width)) for i, j in _few(data.get("marked", ()), MAX_SIDE**2)),
        summed=summed if lines and len(sums) == lines else "",
        sums=sums if len(sums) == lines else (),
        wrong_sums=tuple(_index(i, lines) for i in _few(data.get("wrong_sums", ()), MAX_SIDE)) if lines else (),
        wrong=tuple(map(_text, _few(data.get("wrong", ()), MAX_NOTES))),
        right=tuple(map(_text, _few(data.get("right", ()), MAX_NOTES))),
    )


def _number(value: object) -> float | str:
    if isinstance(value, str) and value in _WORDS:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _index(value: object, length: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < length:
        raise ValueError
    return value


def _few(values: object, most: int) -> Sequence[Any]:
    if not isinstance(values, (list, tuple)) or len(values) > most:
        raise ValueError
    return values


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value[:MAX_NOTE]


__all__ = ["Picture", "Reason", "Scored", "Verdict", "about_their_cell"]

MAX_PICTURES = 4
MAX_LINES = 4  # in which mistakes are located
MAX_FUNCTIONS = 8  # that share an exercise
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

    exercise: Label | None  # its number or name; None for a test that belongs to no exercise
    title: str  # of the exercise
    credit: float  # 0 to 1
    reason: Reason  # why it earns that
    sentences: tuple[str, ...] = ()  # for the student; none holds a hidden input or an expected value
    misconceptions: tuple[str, ...] = ()  # by name
    cases_right: int = 0  # how many hidden cases came out right
    cases: int = 0  # how many there were
    explained_in: str = ""  # the anchor of a section of the notebook that explains it, if not the exercise's own
    pictures: tuple[Picture, ...] = ()  # of what the student's code returned, for feedback
    lost: Lost | None = None  # how the sandbox was lost, if that is why
    located: tuple[Located, ...] = ()  # where the code has to change, by proof
    functions: Mapping[str, Verdict] = field(default_factory=dict)  # by name, where several share an exercise
    symptom: Symptom | None = None  # what it looks like, if it has no name
    heading: str = ""  # the sentence above those on several misconceptions, one for each
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
        """Read a verdict from a notebook, every value of the right kind; None if it is not one.

        Anybody may have changed the notebook.
        """
        if not untrusted.is_object(data):
            return None
        functions = data.get("functions")
        named = list(functions.items())[:MAX_FUNCTIONS] if untrusted.is_object(functions) else []
        found = {one_line(name): _verdict(said) for name, said in named if untrusted.is_object(said)}
        return replace(_verdict(data), functions=found)


def about_their_cell(functions: Mapping[str, Verdict]) -> tuple[str, ...]:
    """The sentences on a cell that failed, and so defines none of the functions that share an exercise."""
    first, *others = functions.values()
    if any(verdict.reason != Reason.MISSING for verdict in (first, *others)):
        return ()
    return tuple(text for text in first.sentences if all(text in other.sentences for other in others))


def _verdict(data: Mapping[str, object]) -> Verdict:
    """A verdict, without those on functions that share the exercise."""
    credit = min(1.0, max(0.0, untrusted.number(data.get("credit")) or 0.0))
    reason = data.get("reason")
    pictures = data.get("pictures")
    few = pictures[:MAX_PICTURES] if isinstance(pictures, (list, tuple)) else ()
    located = data.get("located")
    some = located if isinstance(located, (list, tuple)) else ()
    return Verdict(
        exercise=label_of(data.get("exercise")),
        title=one_line(data.get("title", "")),
        credit=credit,
        reason=Reason(str(reason)) if reason in list(Reason) else Reason.RIGHT if credit == 1 else Reason.WRONG,
        sentences=untrusted.texts(data.get("sentences")),
        misconceptions=untrusted.texts(data.get("misconceptions")),
        cases_right=untrusted.count(data.get("cases_right")),
        cases=untrusted.count(data.get("cases")),
        explained_in=str(data.get("explained_in", data.get("reread", ""))),  # the old name
        pictures=tuple(picture for said in few if (picture := Picture.from_json(said))),
        lost=Lost.from_json(data.get("lost")),
        located=tuple(place for said in some[:MAX_LINES] if (place := Located.from_json(said))),
        symptom=Symptom(str(symptom)) if (symptom := data.get("symptom")) in list(Symptom) else None,
        heading=str(data.get("heading", "")),
        partly_named=data.get("partly_named") is True,
        in_process=data.get("in_process") is True,
    )


def _as_written(data: dict[str, Any]) -> dict[str, Any]:
    full = {name: value for name, value in data.items() if value or name not in _LEFT_OUT_IF_EMPTY}
    del full["holds_nan"]
    if pictures := full.get("pictures"):
        full["pictures"] = [
            {name: value for name, value in one.items() if (name, value) != ("first", 1)} for one in pictures
        ]
    if functions := full.get("functions"):
        full["functions"] = {name: _as_written(verdict) for name, verdict in functions.items()}
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
        verdict = Verdict.from_json(data) if untrusted.is_object(data) and "points" in data else None
        if verdict is None or not untrusted.is_object(data):
            return None
        return cls(verdict, untrusted.number(data.get("max_points")) or 0.0)
