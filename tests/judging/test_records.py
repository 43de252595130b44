"""Every piece of student code gets the verdict that is on record. `make records` writes the records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from grader.model.verdict import Verdict
from support.our_course import EXERCISES
from support.part import part
from support.recorded import Piece, as_text, difference, judging, pieces, record, recorded, records

pytestmark = pytest.mark.by_parameter

AT_ONCE = 40
# One in so many is tried, and all by `make proof`: to search for a line takes as long as ten others, and most pieces
# have a name.
SPARSELY = {"located": 8, "wrong": 8, "misconception": 2}


def tried(number: int) -> list[Piece]:
    every, known = pieces(number), records(number)
    if os.environ.get("GRADER_RECORD"):
        return every
    left_out: set[Piece] = set()
    for reason, of in SPARSELY.items():
        fitting = [piece for piece in every if piece.name in known and known[piece.name].reason == reason]
        left_out |= set(fitting) - set(part(fitting, of=of))
    return [piece for piece in every if piece not in left_out]


CHUNKS = [
    pytest.param(number, found[first : first + AT_ONCE], id=f"{number}-{first // AT_ONCE}")
    for number in EXERCISES
    for found in [tried(number)]
    for first in range(0, len(found), AT_ONCE)
]


@pytest.fixture(scope="module")
def verdict_on() -> Iterator[Callable[[Piece], Verdict]]:
    with judging() as verdict_on:
        yield verdict_on


@pytest.mark.parametrize(("number", "chunk"), CHUNKS)
def test_each_piece_gets_the_verdict_on_record(
    number: int, chunk: list[Piece], verdict_on: Callable[[Piece], Verdict]
) -> None:
    texts = {piece.name: as_text(piece, verdict_on(piece)) for piece in chunk}
    if os.environ.get("GRADER_RECORD"):
        record(number, texts)
    assert difference(number, texts) == ""


@pytest.mark.parametrize("number", EXERCISES)
def test_no_piece_has_no_record_and_no_record_has_no_piece(number: int) -> None:
    assert list(recorded(number)) == [piece.name for piece in pieces(number)]
