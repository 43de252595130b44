"""The corpus of real mistakes: the facts about each piece of code, and how much of them a verdict tells."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from grader.again.arguments import ANOTHER_ORDER
from grader.again.parameter_names import OTHER_NAMES
from grader.checks.student_code import CorpusPiece, read_pieces
from grader.exercises.mistakes.rows import AS_ROWS, FLAT
from grader.judging.with_facts import NOTEBOOK_VARIABLES
from support.our_course import EXERCISES
from support.places import DATA

FOLDER = DATA / "real_mistakes"
# Misconceptions that the engine names in any exercise.
OF_ALL = {NOTEBOOK_VARIABLES, AS_ROWS, FLAT, ANOTHER_ORDER, OTHER_NAMES}
FIELDS = {"causes", "true", "says", "false", "follows"}
MARK = re.compile(r"\s*# <-$")
MAX_LINE = 120  # characters of a line in a sentence
# Sentences about what was seen, which explain nothing, even if they share words with a cause.
OBSERVED = re.compile(
    r"first wrong|is off by about|was expected|Your (function|class) returned"
    r"|hidden cases? are right"
)
RAISED_AT = re.compile(r", at the line `.*`")  # the student's words


class Judgement(Protocol):
    """What was said about a piece: a verdict, or its record."""

    @property
    def sentences(self) -> Sequence[str]: ...

    @property
    def misconceptions(self) -> Sequence[str]: ...


class Explanation(StrEnum):
    """How much a verdict helps the student who wrote the code."""

    NAMED = "named and true"
    LOCATED = "located"
    UNEXPLAINED = "unexplained"
    FALSE = "false"


@dataclass(frozen=True)
class Mistake:
    """A piece of code as a student wrote it, with a mark at each line with a mistake."""

    number: int
    piece: CorpusPiece

    @cached_property
    def marked(self) -> list[str]:
        """The lines of the cell with their marks, as in the file."""
        return self.piece.code.rstrip("\n").split("\n")

    @property
    def cell(self) -> str:
        return "\n".join(MARK.sub("", line) for line in self.marked) + "\n"

    @property
    def causes(self) -> int:
        return int(self.says_of_itself("causes") or 1)

    def says_of_itself(self, field: str) -> str:
        return self.piece.fields.get(field, "")

    @property
    def assignment(self) -> str:
        return EXERCISES[self.number].assignment

    def listed(self, field: str) -> list[str]:
        return [part for part in re.split(r"\s+\|\s+", self.says_of_itself(field)) if part]

    def says_a_cause(self, sentence: str) -> bool:
        says = self.says_of_itself("says")
        statement = RAISED_AT.sub("", sentence)
        is_observation = OBSERVED.search(statement) and not statement.startswith("All numbers are right")
        return bool(says) and not is_observation and re.search(says, statement) is not None

    def __str__(self) -> str:
        return f"{self.number}-{self.piece.name}"


@functools.cache
def mistakes(number: int) -> list[Mistake]:
    """The recorded mistakes in an exercise; none if there is no file."""
    file = FOLDER / f"ex{number:02}.txt"
    pieces = read_pieces(file.read_text(encoding="utf-8")) if file.exists() else []
    return [Mistake(number, piece) for piece in pieces]


def all_mistakes() -> list[Mistake]:
    return [mistake for number in EXERCISES for mistake in mistakes(number)]


def lines_told(mistake: Mistake, verdict: Judgement) -> list[tuple[str, bool, str]]:
    """Each line of code that a sentence quotes, whether it is marked, and the sentence."""
    marks: dict[str, bool] = {}
    for line in mistake.marked:
        text = MARK.sub("", line).strip()[:MAX_LINE]
        marks[text] = marks.get(text, False) or bool(MARK.search(line))
    quoted = [(text.strip(), sentence) for sentence in verdict.sentences for text in re.findall(r"`([^`]+)`", sentence)]
    return [(text, marks[text], sentence) for text, sentence in quoted if text in marks]


def explanation_of(mistake: Mistake, verdict: Judgement) -> Explanation:
    if untrue(mistake, verdict):
        return Explanation.FALSE
    if set(verdict.misconceptions) & set(mistake.listed("true")) or _says_a_cause(mistake, verdict.sentences):
        return Explanation.NAMED
    shows_a_cause = any(marked for _, marked, _ in lines_told(mistake, verdict))
    return Explanation.LOCATED if shows_a_cause else Explanation.UNEXPLAINED


def untrue(mistake: Mistake, verdict: Judgement) -> list[str]:
    """Everything in a verdict that is not true of the code."""
    true = {*mistake.listed("true"), *mistake.listed("follows")}
    problems = [f"named: {name}" for name in verdict.misconceptions if name not in true]
    pattern = mistake.says_of_itself("false")
    problems += [f"said: {sentence}" for sentence in verdict.sentences if pattern and re.search(pattern, sentence)]
    # The line where an error was raised is a fact, not a claim about the mistake.
    for line, is_marked, sentence in lines_told(mistake, verdict):
        if not is_marked and "stopped with" not in sentence:
            problems.append(f"line: {line}")
    return problems


def causes_told(mistake: Mistake, verdict: Judgement) -> int:
    """How many of the true causes the verdict tells, one sentence for each."""
    causes = sum(1 for sentence in verdict.sentences if mistake.says_a_cause(sentence))
    return max(causes, len(set(verdict.misconceptions) & set(mistake.listed("true"))))


def _says_a_cause(mistake: Mistake, sentences: Sequence[str]) -> bool:
    return any(mistake.says_a_cause(sentence) for sentence in sentences)
