"""What a run tries: the first of a list in CI, and all of it in a proof; and whether a test may be skipped."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn

import pytest


def first_in_ci(items: Iterable[Any]) -> list[Any]:
    """Parameters: the first item, and the others with the mark `proof`."""
    first, *others = items
    return [first, *(pytest.param(item, marks=pytest.mark.proof) for item in others)]


def skip(reason: str) -> NoReturn:
    """Skip a test that needs a program which this machine lacks. In CI, which installs them all, the test fails."""
    if os.environ.get("GRADER_NO_SKIPS"):
        pytest.fail(reason)
    pytest.skip(reason)
