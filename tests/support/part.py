"""Choose the tests for a run, and a part of large collections.

CI tries every test, and part of a few collections. `make test` tries fast tests, slow ones about anything that changed,
and a sample of the rest. Samples are drawn from a hash of the grader and the course: the same for everybody in this
state, but different after the next change, so that a few changes try everything. `make proof` tries everything, and
draws more random examples.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable
from typing import TypeVar

from support.places import ROOT
from support.what_changed import changed, tests_of

ALL = bool(os.environ.get("GRADER_ALL"))
CI = ALL or bool(os.environ.get("GRADER_CI"))
SAMPLE = 32  # `make test` tries one in so many slow tests that are not about a change
NOT_TRIED = f"slow, and not about what has changed: `make test` tries one of {SAMPLE}, CI all"
One = TypeVar("One")


def part(items: Iterable[One], of: int, in_ci: int = 0) -> list[One]:
    """One in `of` items, or one in `in_ci` in CI if given, in their order. The names of items decide."""
    every = list(items)
    of = 1 if ALL else (in_ci or of) if CI else of
    if of == 1:
        return every
    assert not any(" at 0x" in f"{one}" for one in every), "where something lies in memory is another place in each run"
    drawn = sorted(range(len(every)), key=lambda index: _hash(f"{state()}{every[index]}"))[: -(-len(every) // of)]
    return [every[index] for index in sorted(drawn)]


def is_tried(test: str) -> bool:
    """Whether a run tries a slow test. Its name decides."""
    return CI or test.partition("::")[0] in about_what_changed() or int(_hash(f"{state()}{test}"), 16) % SAMPLE == 0


@functools.cache
def about_what_changed() -> set[str]:
    return tests_of(changed())


@functools.cache
def state() -> str:
    """A hash of everything that grades may depend on."""
    paths = [path for kind in ("grader/**/*.py", "source/**/*.ipynb") for path in sorted(ROOT.glob(kind))]
    return _hash("".join(_hash(path.read_bytes()) for path in paths))


def _hash(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
