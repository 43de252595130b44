"""Which tests run one after another in the same process, where several processes share the work."""

from __future__ import annotations

from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

from support.our_course import EXERCISES

# What is known of an exercise, or of an assignment, is kept for its next test: the first parameter says which.
BY_PARAMETER = (
    "test_records",
    "test_exercise_files",
    "test_mutants",
    "test_real_mistakes",
    "test_tolerance",
    "test_validate",
)
BY_ASSIGNMENT = ("test_corpus",)
# A file that makes things for two halves of its tests, each of which takes long: one test is a half.
HALF = {"test_attacks": "test_without_its_protection_the_attack_succeeds"}
# Files whose tests have nothing in common that takes time.
ONE_BY_ONE = (
    "test_class", "test_cli", "test_judge", "test_modules", "test_report", "test_release", "test_true_sentences",
)  # fmt: skip
# Files that take minutes, or another program, longest first. `make quick` leaves them out.
SLOW = (
    "test_nbgrader_suite", "test_mutants", "test_nbgrader_paths", "test_corpus", "test_real_mistakes",
    "test_container", "test_attacks",
    "test_tolerance", "test_validate", "test_cli", "test_browser", "test_marimo", "test_exercise_files", "test_dask",
    "test_postgresql", "test_homes", "test_hub", "test_formgrader", "test_second_device", "test_killed",
)  # fmt: skip
# What begins first, so that no core waits for another in the end.
LONG = (
    *SLOW, "test_installations", "test_elsewhere", "test_workflows", "test_pages", "test_class", "test_modules",
    "test_judge", "test_report", "test_cell_outputs", "test_sixty", "test_located", "test_publish", "test_by_hand",
    "test_cut_off", "test_rules", "test_best", "test_showing", "test_laws", "test_grading", "test_sending",
)  # fmt: skip


def group_of(nodeid: str) -> str:
    """The tests of a file are a group, since what it makes once is made in each process; but for those named above."""
    path, _, test = nodeid.partition("::")
    name, parameter = Path(path).stem, test.partition("[")[2].rstrip("]").split("-")[0]
    if name in ONE_BY_ONE:
        return nodeid
    if name in BY_PARAMETER:
        return f"{name} {parameter}"
    if name in BY_ASSIGNMENT and parameter.isdigit():
        return f"{name} {EXERCISES[int(parameter)].assignment}"
    return f"{name} {test.startswith(HALF[name])}" if name in HALF else name


class InGroups(LoadScopeScheduling):
    """Hands out one group after the other. xdist's own marks for groups are lost on pytest 9.2."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
