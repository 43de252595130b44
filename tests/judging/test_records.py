"""Every piece of student code gets the verdict that is on record. `make records` writes the records.

`make test` tries the solution, a right piece and three wrong ones of each exercise, CI a third of the pieces, and
`make proof` all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.model.verdict import Verdict
from support.deciders import PROPERTY, Watch
from support.our_course import EXERCISES
from support.records import Piece, as_text, difference, judging, pieces, record, recorded, records
from support.solution_cells import from_notebook

AT_ONCE = 40
IN_CI = 3  # one in so many pieces


def first_pieces(number: int) -> list[Piece]:
    """A right piece, and three wrong ones that have names, for which nothing is searched."""
    verdicts = records(number)
    every = [piece for piece in pieces(number) if piece.name in verdicts]
    right = [piece for piece in every if verdicts[piece.name].reason == "right"]
    wrong = [piece for piece in every if verdicts[piece.name].reason == "misconception"]
    return right[:1] + wrong[:3]


def chunks(number: int) -> Iterator[Any]:
    """Parameters: a few pieces for `make test`, a third for CI, and the others for `make proof`."""
    first = first_pieces(number)
    others = [piece for piece in pieces(number) if piece not in first]
    in_ci = others[::IN_CI]
    in_proof = [piece for piece in others if piece not in in_ci]
    yield pytest.param(number, first, id=f"{number}-first")
    for name, some, mark in (("ci", in_ci, pytest.mark.slow), ("proof", in_proof, pytest.mark.proof)):
        for start in range(0, len(some), AT_ONCE):
            chunk = some[start : start + AT_ONCE]
            yield pytest.param(number, chunk, id=f"{number}-{name}-{start // AT_ONCE}", marks=mark)


@pytest.fixture(scope="module")
def verdict_on() -> Iterator[Callable[[Piece], Verdict]]:
    with judging() as verdict_on:
        yield verdict_on


@pytest.mark.parametrize(("number", "chunk"), [chunk for number in EXERCISES for chunk in chunks(number)])
def test_each_piece_gets_the_verdict_on_record(
    number: int, chunk: list[Piece], verdict_on: Callable[[Piece], Verdict], request: pytest.FixtureRequest
) -> None:
    texts, decided = {}, []
    with Watch().watching() as watch:
        for piece in chunk:
            verdict = verdict_on(piece)
            texts[piece.name] = as_text(piece, verdict)
            decided.append(watch.deciders(verdict))
    request.node.user_properties.append((PROPERTY, decided))
    if request.config.getoption("record"):
        record(number, texts)
    assert difference(number, texts) == ""


@pytest.mark.parametrize("number", EXERCISES)
def test_the_solution_gets_full_marks(number: int, verdict_on: Callable[[Piece], Verdict]) -> None:
    verdict = verdict_on(Piece(number, "right/solution", from_notebook()[number]))
    assert verdict.right, verdict.sentences


@pytest.mark.parametrize("number", EXERCISES)
def test_no_piece_has_no_record_and_no_record_has_no_piece(number: int) -> None:
    assert list(recorded(number)) == [piece.name for piece in pieces(number)]
