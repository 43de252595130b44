"""Which tests run one after another in the same process, where several processes share the work."""

from __future__ import annotations

import pytest

# What is known of an exercise, or of an assignment, is kept for its next test.
BY_PARAMETER = {
    "test_exercise_files": ("exercise", "number"),
    "test_mutants": ("number",),
    "test_tolerance": ("name",),
    "test_corpus": ("entry",),
    "test_validate": ("assignment",),
}
# What a file makes once for some of its tests, where that and the rest both take long.
BY_FIXTURE = {
    "test_attacks": ("attacked_class", "switched_off"),
    "test_nbgrader_paths": ("graded", "not_executed", "extended", "drawn", "endless"),
}
# Files whose tests have nothing in common that takes time.
ONE_BY_ONE = ("test_class", "test_cli", "test_judge", "test_modules", "test_report", "test_release")
# Files that take minutes, or another program, longest first. `make quick` leaves them out.
SLOW = (
    "test_nbgrader_suite", "test_mutants", "test_nbgrader_paths", "test_corpus", "test_attacks", "test_tolerance",
    "test_validate", "test_cli", "test_browser", "test_marimo", "test_exercise_files", "test_dask", "test_postgresql",
    "test_homes", "test_formgrader", "test_killed",
)  # fmt: skip
# What begins first, so that no core waits for another in the end.
LONG = (*SLOW, "test_pages", "test_class", "test_modules", "test_judge", "test_report", "test_cell_outputs")


def group_of(item: pytest.Item) -> str:
    """The tests of a file are a group, since what it makes once is made in each process; but for those named above."""
    name = item.path.stem
    if name in BY_FIXTURE:
        shared = [one for one in BY_FIXTURE[name] if one in getattr(item, "fixturenames", ())]
        return f"{name} {shared[0]}" if shared else item.nodeid.replace("@", " ")
    if name in ONE_BY_ONE:
        return item.nodeid.replace("@", " ")
    return f"{name} {_shared(item, BY_PARAMETER[name])}" if name in BY_PARAMETER else name


def _shared(item: pytest.Item, names: tuple[str, ...]) -> str:
    """What a test has as a parameter: an exercise, its name, or something of an assignment."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    found = next((parameters[name] for name in names if name in parameters), "all")
    return str(getattr(found, "entry", getattr(found, "assignment", found)))
