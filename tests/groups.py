"""Which tests run one after another in the same process, where several processes share the work."""

from __future__ import annotations

import pytest

# Judged exercise by exercise: what is known of one is kept for its next test.
BY_EXERCISE = ("test_exercise_files", "test_mutants", "test_tolerance")
# Files whose tests have nothing in common that takes time.
ONE_BY_ONE = ("test_class", "test_report", "test_release")
# Files with groups that take long, longest first.
LONG = ("test_attacks", "test_mutants", "test_cell_outputs", "test_dask", "test_killed", "test_exercise_files")


def group_of(item: pytest.Item) -> str:
    """The tests of a file are a group, since what it makes once is made in each process; but for those named above."""
    name = item.path.stem
    if name in ONE_BY_ONE:
        return item.nodeid.replace("@", " ")
    return f"{name} {_exercise(item)}" if name in BY_EXERCISE else name


def _exercise(item: pytest.Item) -> str:
    """The exercise that a test has as a parameter; none for those about all of them."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    found = next((parameters[name] for name in ("exercise", "number", "name") if name in parameters), "all")
    return str(getattr(found, "entry", found))
