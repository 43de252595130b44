"""Where the time goes: `python -m support.durations RESULTS.xml…` sums what pytest's --junit-xml holds, by file.

With --keep, it is kept in tests/data/seconds.txt: what takes long begins first, and `make quick` leaves it out.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from support.groups import SECONDS
from support.places import ROOT, TESTS

SLOWEST = 15  # of files, and of tests


def report(results: Path) -> str:
    """The slowest files and tests of one run."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    seconds = {f"{case.get('classname')}::{case.get('name')}": float(case.get("time") or 0) for case in cases}
    by_file: defaultdict[str, float] = defaultdict(float)
    for name, time in seconds.items():
        by_file[name.split("::")[0].removeprefix("tests.")] += time
    lines = [f"{results.name}: {len(cases)} tests, {sum(seconds.values()):.0f} s of work"]
    for times in (by_file, seconds):
        slowest = sorted(times.items(), key=lambda one: -one[1])[:SLOWEST]
        lines += ["", *(f"{time:8.1f} s  {name[:110]}" for name, time in slowest)]
    return "\n".join(lines)


def kept(results: Iterable[Path]) -> str:
    """The work for each file that takes a second or more, the longest first."""
    places = {".".join(path.with_suffix("").parts): path.as_posix() for path in _test_files()}
    by_file: defaultdict[str, float] = defaultdict(float)
    for one in results:
        for case in ElementTree.parse(one).iter("testcase"):
            by_file[places[str(case.get("classname"))]] += float(case.get("time") or 0)
    longest = sorted(by_file.items(), key=lambda one: -one[1])
    return "".join(f"{time:7.1f} {place}\n" for place, time in longest if time >= 1)


def _test_files() -> list[Path]:
    return [path.relative_to(ROOT) for path in TESTS.glob("*/test_*.py")]


if __name__ == "__main__":
    paths = [Path(argument) for argument in sys.argv[1:] if argument != "--keep"]
    if "--keep" in sys.argv:
        SECONDS.write_text(kept(paths), encoding="utf-8")
    for path in paths:
        print(report(path))  # noqa: T201  that is what it is for
