"""What a run tries: some of a long list in CI, and all of it in a proof; and whether a test may be skipped."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn

import pytest


def some_in_ci(items: Iterable[Any], one_in: int) -> list[Any]:
    """Parameters: the first of each `one_in` items, and the others with the mark `proof`."""
    return [pytest.param(item, marks=[pytest.mark.proof] if index % one_in else []) for index, item in enumerate(items)]


def skip(reason: str) -> NoReturn:
    """Skip a test that needs a program which this machine lacks. In CI, which installs them all, the test fails."""
    if os.environ.get("GRADER_NO_SKIPS"):
        pytest.fail(reason)
    pytest.skip(reason)
