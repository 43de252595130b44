"""Student code in tests/data/corpus, right and wrong, and the names that grading must give it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from grader.checks.student_code import CorpusPiece, read_pieces
from support.our_course import EXERCISES
from support.places import DATA


@functools.cache
def pieces(number: int) -> list[CorpusPiece]:
    """Student code for an exercise, right and wrong."""
    file = DATA / f"corpus/{EXERCISES[number].assignment}/ex{number:02}.txt"
    return read_pieces(file.read_text(encoding="utf-8"))


def corpus(number: int, kind: str = "right") -> dict[str, str]:
    """The corpus's solutions for an exercise, by style."""
    return {piece.name: piece.code for piece in pieces(number) if piece.kind == kind}


@dataclass(frozen=True)
class Entry:
    """A piece of the corpus, and the misconceptions that the grader must name."""

    number: int
    name: str
    cell: str
    named: frozenset[str]

    @property
    def assignment(self) -> str:
        return EXERCISES[self.number].assignment

    def __str__(self) -> str:
        return f"{self.number}-{self.name}"


def entries(kind: str) -> list[Entry]:
    return [
        Entry(number, piece.name, piece.code, frozenset(piece.fields.get("named", "").split(" + ")) - {""})
        for number in EXERCISES
        for piece in pieces(number)
        if piece.kind == kind
    ]


def one_for_each_misconception() -> list[Entry]:
    """The first piece for each name, and all pieces with two names."""
    chosen: dict[tuple[int, frozenset[str]], Entry] = {}
    for entry in entries("wrong"):
        if entry.named:
            chosen.setdefault((entry.number, entry.named), entry)
    return list(chosen.values())


RIGHT = entries("right")
WRONG = one_for_each_misconception()
