"""Every piece of student code gets the verdict that is on record. `make records` writes the records.

`make test` tries the solution, a right piece and three wrong ones of each exercise, CI an eighth of the pieces, and
`make proof` all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.model.verdict import Verdict
from support.deciders import PROPERTY, Watch
from support.our_course import ASSIGNMENTS, of_assignment
from support.records import Piece, as_text, difference, judging, pieces, record, recorded, records
from support.solution_cells import from_notebook

AT_ONCE = 40
IN_CI = 8  # one in so many pieces


def first_pieces(number: int) -> list[Piece]:
    """A right piece, and three wrong ones that have names, for which nothing is searched."""
    verdicts = records(number)
    every = [piece for piece in pieces(number) if piece.name in verdicts]
    right = [piece for piece in every if verdicts[piece.name].reason == "right"]
    wrong = [piece for piece in every if verdicts[piece.name].reason == "misconception"]
    return right[:1] + wrong[:3]


def chunks(number: int) -> Iterator[Any]:
    """Parameters: a few pieces for `make test`, an eighth for CI, and the others for `make proof`."""
    first = first_pieces(number)
    others = [piece for piece in pieces(number) if piece not in first]
    in_ci = others[::IN_CI]
    in_proof = [piece for piece in others if piece not in in_ci]
    yield pytest.param(number, first, id=f"{number}-first")
    for name, some, mark in (("ci", in_ci, pytest.mark.slow), ("proof", in_proof, pytest.mark.proof)):
        for start in range(0, len(some), AT_ONCE):
            chunk = some[start : start + AT_ONCE]
            yield pytest.param(number, chunk, id=f"{number}-{name}-{start // AT_ONCE}", marks=mark)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each class has the exercises of its assignment."""
    if metafunc.cls is None:
        return
    numbers = [exercise.number for exercise in of_assignment(metafunc.cls.assignment)]
    if "chunk" in metafunc.fixturenames:
        metafunc.parametrize(("number", "chunk"), [chunk for number in numbers for chunk in chunks(number)])
    else:
        metafunc.parametrize("number", numbers)


@pytest.fixture(scope="class")
def verdict_on() -> Iterator[Callable[[Piece], Verdict]]:
    with judging() as verdict_on:
        yield verdict_on


class Records:
    """The tests, for each assignment in a class, so that processes share them."""

    assignment: str

    def test_pieces_get_the_verdicts_on_record(
        self, number: int, chunk: list[Piece], verdict_on: Callable[[Piece], Verdict], request: pytest.FixtureRequest
    ) -> None:
        texts, deciders = {}, []
        with Watch().watching() as watch:
            for piece in chunk:
                verdict = verdict_on(piece)
                texts[piece.name] = as_text(piece, verdict)
                deciders.append(watch.deciders(verdict))
        request.node.user_properties.append((PROPERTY, deciders))
        if request.config.getoption("record"):
            record(number, texts)
        assert difference(number, texts) == ""

    def test_solution_gets_full_marks(self, number: int, verdict_on: Callable[[Piece], Verdict]) -> None:
        verdict = verdict_on(Piece(number, "right/solution", from_notebook()[number]))
        assert verdict.right, verdict.sentences

    def test_pieces_and_records_match_one_to_one(self, number: int) -> None:
        assert list(recorded(number)) == [piece.name for piece in pieces(number)]


class TestSelfAttention(Records):
    assignment = "self_attention"


class TestCausalAttention(Records):
    assignment = "causal_attention"


class TestMultiHeadAttention(Records):
    assignment = "multi_head_attention"


class TestTransformer(Records):
    assignment = "transformer"


class TestFastAttention(Records):
    assignment = "fast_attention"


class TestModernAttention(Records):
    assignment = "modern_attention"


def test_assignments_each_have_a_class_of_records() -> None:
    assert {tests.assignment for tests in Records.__subclasses__()} == set(ASSIGNMENTS)
