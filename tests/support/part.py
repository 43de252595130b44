"""The part of a large collection that one run of the tests tries.

Each state of the grader and of the course has a part of its own, drawn from a hash of them: the same for everybody who
has this state, and another one after the next change, so that a few changes try everything. CI tries every test that
is marked as slow, and more of a few collections than `make test` does; `make proof` tries it all.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from typing import TypeVar

from support.places import ROOT

ALL = bool(os.environ.get("GRADER_ALL"))
CI = ALL or bool(os.environ.get("GRADER_CI"))
FEWER = 1 if CI else 2  # of a few collections that take long, `make test` tries half of what CI tries
SLOW = 8  # of tests that are marked as slow, `make test` tries one of so many
One = TypeVar("One")


def part(items: Iterable[One], of: int) -> list[One]:
    """One of each `of` items, in their order, and at least one. What an item is called decides."""
    every = list(items)
    if ALL:
        return every
    assert not any(" at 0x" in f"{one}" for one in every), "where something lies in memory is another place in each run"
    drawn = sorted(range(len(every)), key=lambda index: _hash(f"{state()}{every[index]}"))[: -(-len(every) // of)]
    return [every[index] for index in sorted(drawn)]


def slow_in_part(tests: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Of tests that are marked as slow, those that a run tries."""
    return set(tests) if CI else set(part(sorted(tests), SLOW))


def cases_in_part(cases: Mapping[tuple[str, str], int]) -> set[tuple[str, str]]:
    """Those that a run tries: of all cases of a test, one of so many. Each is the test and the case."""
    by_test: dict[str, list[tuple[str, str]]] = {}
    for case in cases:
        by_test.setdefault(case[0], []).append(case)
    return {one for some in by_test.values() for one in part(some, cases[some[0]])}


@functools.cache
def state() -> str:
    """Of all that a grade may depend on."""
    paths = [path for kind in ("grader/**/*.py", "source/**/*.ipynb") for path in sorted(ROOT.glob(kind))]
    return _hash("".join(_hash(path.read_bytes()) for path in paths))


def _hash(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
