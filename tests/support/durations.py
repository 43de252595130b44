"""Where the time goes: `python -m support.durations RESULTS.xml…` sums what pytest's --junit-xml holds, by file."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

FILES, TESTS = 15, 15  # of each, the slowest


def report(results: Path) -> str:
    """The slowest files and tests of one run."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    seconds = {f"{case.get('classname')}::{case.get('name')}": float(case.get("time") or 0) for case in cases}
    by_file: defaultdict[str, float] = defaultdict(float)
    for name, time in seconds.items():
        by_file[name.split("::")[0].removeprefix("tests.")] += time
    lines = [f"{results.name}: {len(cases)} tests, {sum(seconds.values()):.0f} s of work"]
    for times, most in ((by_file, FILES), (seconds, TESTS)):
        slowest = sorted(times.items(), key=lambda one: -one[1])[:most]
        lines += ["", *(f"{time:8.1f} s  {name[:110]}" for name, time in slowest)]
    return "\n".join(lines)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(report(Path(argument)))  # noqa: T201  that is what it is for
