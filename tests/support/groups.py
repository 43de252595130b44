"""Which tests run together in one process, and which start first, if several processes share the work.

By default, a file is a group, since each process has to make its fixtures again. With `pytestmark = pytest.mark.apart`,
each test is a group of its own; with `by_parameter`, tests with the same first parameter are one. A test right below
the mark `own_group` is a group with all its cases. Marks are read from the text, since the process that hands out tests
has not collected them.
"""

from __future__ import annotations

import functools

from xdist.scheduler import LoadScopeScheduling

from support.places import DATA, ROOT

SECONDS = DATA / "seconds.txt"  # of a CI run, written by `python -m support.durations --keep`
LONG = 60.0  # seconds; `make quick` leaves out such files


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
    """The seconds of work for each test file, and for one case of each slow test."""
    lines = (line.split() for line in SECONDS.read_text(encoding="utf-8").splitlines())
    return {place: float(work) for work, place in lines}


@functools.cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


class InGroups(LoadScopeScheduling):
    """Hands out group after group. xdist's own group marks get lost with pytest 9.2."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
