"""The part of a collection that a run tries."""

from __future__ import annotations

import pytest

from support import part

NUMBERS = list(range(100))


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "CI", False)
    monkeypatch.setattr(part, "about_what_changed", lambda: {"tests/model/test_compare.py"})


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The parts that ten states of the grader would try."""
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


def test_ci_tries_all_slow_tests_and_of_collections_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "CI", True)
    assert part.part(NUMBERS, of=5, in_ci=1) == NUMBERS
    assert len(part.part(NUMBERS, of=5)) == 20
    assert len(part.part(NUMBERS, of=10, in_ci=2)) == 50
    assert all(part.is_tried(name) for name in SLOW_TESTS)


SLOW_TESTS = [f"tests/host/test_grading.py::test_a[{number}]" for number in range(1_600)]


def test_of_slow_tests_those_about_what_changed_and_a_sample_are_tried() -> None:
    tried = [name for name in SLOW_TESTS if part.is_tried(name)]
    assert 25 < len(tried) < 80
    assert tried == [name for name in SLOW_TESTS if part.is_tried(name)]
    assert all(part.is_tried(f"tests/model/test_compare.py::test_a[{number}]") for number in range(100))


def test_what_is_called_after_its_place_in_memory_is_not_drawn_from() -> None:
    with pytest.raises(AssertionError, match="in each run"):
        part.part([object()], of=2)
