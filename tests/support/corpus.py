"""Pieces of the corpus, for tests that grade them."""

from __future__ import annotations

from dataclasses import dataclass

from support.our_course import EXERCISES
from support.solution_cells import pieces


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
