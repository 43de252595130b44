"""The corpus of real mistakes: what each file says about its code, and what a verdict told of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from our_course import EXERCISES

from grader.judging.arguments import ANOTHER_ORDER
from grader.judging.rows import FLAT_WORDS, WORDS_AS_ROWS
from grader.judging.with_facts import NAME as BORROWED
from grader.model.verdict import Verdict

FOLDER = Path(__file__).parent / "real_mistakes"
# What the engine says of any exercise.
OF_ALL = {BORROWED, WORDS_AS_ROWS, FLAT_WORDS, ANOTHER_ORDER}
FIELDS = ("what", "pattern", "causes", "true", "says", "false")
MARK = re.compile(r"\s*# <-$")
MAX_LINE = 120  # characters of a line that is shown
# What was seen, which is no cause: it explains nothing, whatever words it has in common with one.
SEEN = re.compile(
    r"first wrong|was expected|Your (function|class) returned"
    r"|hidden cases? are right"
)
RAISED_AT = re.compile(r", at the line `.*`")  # its words are the student's


class Told(StrEnum):
    """What a verdict is to the student who wrote the code."""

    NAMED = "named and true"
    LOCATED = "located"
    UNEXPLAINED = "unexplained"
    FALSE = "false"


@dataclass(frozen=True)
class Mistake:
    """A file: a header, then the cell as the student wrote it, with a mark at each line in which a mistake lies."""

    number: int
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def header(self) -> dict[str, str]:
        pairs = re.findall(r"^# (\w+):[ ]?(.*)$", self.text, re.MULTILINE)
        return {key: value.strip() for key, value in pairs}

    @cached_property
    def marked(self) -> list[str]:
        """The lines of the cell, as they stand in the file."""
        lines = self.text.splitlines()
        first = next(index for index, line in enumerate(lines) if not line.startswith("#"))
        return lines[first:]

    @property
    def cell(self) -> str:
        return "\n".join(MARK.sub("", line) for line in self.marked) + "\n"

    @property
    def causes(self) -> int:
        return int(self.header["causes"])

    @property
    def assignment(self) -> str:
        return EXERCISES[self.number].assignment

    def listed(self, field: str) -> list[str]:
        return [part for part in re.split(r"\s+\|\s+", self.header.get(field, "")) if part]

    def says_a_cause(self, sentence: str) -> bool:
        says = self.header["says"]
        told = RAISED_AT.sub("", sentence)
        seen = SEEN.search(told) and not told.startswith("All numbers are right")
        return bool(says) and not seen and re.search(says, told) is not None

    def __str__(self) -> str:
        return f"{self.number}-{self.path.stem}"


def all_mistakes() -> list[Mistake]:
    return [Mistake(number, path) for number in EXERCISES for path in sorted(FOLDER.glob(f"ex{number:02}/*.py"))]


def lines_told(mistake: Mistake, verdict: Verdict) -> list[tuple[str, bool, str]]:
    """Each line of the code that a sentence shows, whether it is marked, and the sentence."""
    marks: dict[str, bool] = {}
    for line in mistake.marked:
        shown = MARK.sub("", line).strip()[:MAX_LINE]
        marks[shown] = marks.get(shown, False) or bool(MARK.search(line))
    quoted = [(text.strip(), said) for said in verdict.sentences for text in re.findall(r"`([^`]+)`", said)]
    return [(text, marks[text], said) for text, said in quoted if text in marks]


def told(mistake: Mistake, verdict: Verdict) -> Told:
    if untrue(mistake, verdict):
        return Told.FALSE
    if set(verdict.misconceptions) & set(mistake.listed("true")) or _said(mistake, verdict.sentences):
        return Told.NAMED
    return Told.LOCATED if any(marked for _, marked, _ in lines_told(mistake, verdict)) else Told.UNEXPLAINED


def untrue(mistake: Mistake, verdict: Verdict) -> list[str]:
    """All that a verdict says and that is not true of the code."""
    true = {*mistake.listed("true"), *mistake.listed("follows")}
    found = [f"named: {name}" for name in verdict.misconceptions if name not in true]
    pattern = mistake.header["false"]
    found += [f"said: {said}" for said in verdict.sentences if pattern and re.search(pattern, said)]
    # Where an error was raised is a fact, not a claim about where the mistake lies.
    shown = [line for line, marked, said in lines_told(mistake, verdict) if not marked and "stopped with" not in said]
    return found + [f"line: {line}" for line in shown]


def causes_told(mistake: Mistake, verdict: Verdict) -> int:
    """How many of the true causes are told, one sentence for each."""
    said = sum(1 for sentence in verdict.sentences if mistake.says_a_cause(sentence))
    return max(said, len(set(verdict.misconceptions) & set(mistake.listed("true"))))


def _said(mistake: Mistake, sentences: Sequence[str]) -> bool:
    return any(mistake.says_a_cause(said) for said in sentences)
