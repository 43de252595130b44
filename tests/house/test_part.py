"""Which part of a collection a run tries."""

from __future__ import annotations

from collections import Counter

import pytest

from support import part

NUMBERS = list(range(100))


@pytest.fixture(autouse=True)
def _as_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "CI", True)
    monkeypatch.setattr(part, "ALL", False)


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The parts of ten states of the grader."""
    found = []
    for number in range(10):
        monkeypatch.setattr(part, "state", lambda name=str(number): name)
        found.append(part.part(NUMBERS, of=5))
    return found


def test_a_part_has_its_size_and_keeps_the_order(states: list[list[int]]) -> None:
    assert [len(chosen) for chosen in states] == [20] * 10
    assert all(chosen == sorted(chosen) for chosen in states)


def test_another_state_has_another_part_and_some_states_try_nearly_all(states: list[list[int]]) -> None:
    assert len({tuple(chosen) for chosen in states}) == 10
    assert len({number for chosen in states for number in chosen}) > 75


def test_who_asks_twice_gets_the_same_and_never_nothing() -> None:
    assert part.part(NUMBERS, of=5) == part.part(iter(NUMBERS), of=5)
    assert len(part.part(["one"], of=5)) == 1
    assert part.part([], of=5) == []


def test_all_is_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "ALL", True)
    assert part.part(NUMBERS, of=5) == NUMBERS


def test_of_each_test_of_some_files_a_part_of_the_cases_is_tried() -> None:
    cases = {(test, str(case)): of for test, of in (("a", 5), ("b", 5), ("whole", 1)) for case in range(20)}
    tried = part.cases_in_part(cases | {("alone", ""): 5})
    assert Counter(test for test, _ in tried) == {"a": 4, "b": 4, "whole": 20, "alone": 1}


def test_what_is_slow_is_tried_in_ci_and_elsewhere_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = {("file", str(number)) for number in range(40)}
    assert part.slow_in_part(slow) == slow
    monkeypatch.setattr(part, "CI", False)
    assert len(part.slow_in_part(slow)) == 5
    assert part.slow_in_part(slow) < slow
    assert part.slow_in_part(set()) == set()


def test_what_is_called_after_its_place_in_memory_is_not_drawn_from() -> None:
    with pytest.raises(AssertionError, match="in each run"):
        part.part([object()], of=2)
