"""Which tests run one after another in the same process, and which come first, where several processes share the work.

A file is a group, since what it makes once is made in each process, unless it says otherwise: with `pytestmark =
pytest.mark.apart`, each test is one; with `by_parameter`, tests of the same first parameter are. A test with the mark
`own_group`, right above it, is one with all its cases. Marks are read from the text: the process that hands out the
tests has not collected them.
"""

from __future__ import annotations

import functools

from xdist.scheduler import LoadScopeScheduling

from support.places import DATA, ROOT

SECONDS = DATA / "seconds.txt"  # in a run of CI; `python -m support.durations --keep` writes it
LONG = 60.0  # seconds, for which `make quick` does not wait


def group_of(nodeid: str) -> str:
    path, _, test = nodeid.partition("::")
    name, _, case = test.partition("[")
    text = _text(path)
    if "pytest.mark.apart" in text:
        return nodeid
    if "pytest.mark.by_parameter" in text:
        return f"{path} {case.rstrip(']').split('-')[0]}"
    return f"{path} {name}" if f"@pytest.mark.own_group\ndef {name}(" in text else path


@functools.cache
def seconds() -> dict[str, float]:
    """How much work each test file is, and how long a case takes of each test that is slow."""
    lines = (line.split() for line in SECONDS.read_text(encoding="utf-8").splitlines())
    return {place: float(work) for work, place in lines}


@functools.cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


class InGroups(LoadScopeScheduling):
    """Hands out one group after the other. xdist's own marks for groups are lost on pytest 9.2."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
