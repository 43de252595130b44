"""Show where the time goes: `python -m support.durations RESULTS.xml…` sums times from pytest's --junit-xml by file.

With --keep, it also writes tests/data/seconds.txt, which decides what files start first and which tests are slow;
`make quick` and `make test` leave out some of these (tests/support/part.py).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from support.groups import SECONDS

SLOWEST = 15  # files and tests to show
SLOW = 0.5  # seconds for one case


def report(results: Path) -> str:
    """The slowest files and tests of one run."""
    seconds = _seconds(results)
    lines = [f"{results.name}: {len(seconds)} tests, {sum(seconds.values()):.0f} s of work"]
    for times in (_by_file(seconds), seconds):
        slowest = sorted(times.items(), key=lambda one: -one[1])[:SLOWEST]
        lines += ["", *(f"{time:8.1f} s  {name[:110]}" for name, time in slowest)]
    return "\n".join(lines)


def kept(results: Iterable[Path]) -> str:
    """Seconds for each file that takes one or more, the longest first, each followed by its slow tests."""
    files: Counter[str] = Counter()
    cases: defaultdict[str, list[float]] = defaultdict(list)
    for one in results:
        seconds = _seconds(one)
        files.update(_by_file(seconds))
        for name, time in seconds.items():
            cases[name.partition("[")[0]].append(time)
    tests = {name: sum(times) / len(times) for name, times in cases.items()}
    slow = {name: time for name, time in sorted(tests.items()) if time >= SLOW}
    lines: list[tuple[float, str]] = []
    for file, work in files.most_common():
        lines += [(work, file)] if work >= 1 else []
        lines += [(time, name) for name, time in slow.items() if name.split("::")[0] == file]
    return "".join(f"{time:7.1f} {_place(name)}\n" for time, name in lines)


def _place(name: str) -> str:
    """pytest's own name for a file or a test."""
    file, colons, test = name.partition("::")
    return f"{file.replace('.', '/')}.py{colons}{test}"


def _seconds(results: Path) -> dict[str, float]:
    """The seconds that each test took."""
    cases = ElementTree.parse(results).iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}": float(case.get("time") or 0) for case in cases}


def _by_file(seconds: Mapping[str, float]) -> dict[str, float]:
    by_file: defaultdict[str, float] = defaultdict(float)
    for name, time in seconds.items():
        by_file[name.split("::")[0]] += time
    return by_file


if __name__ == "__main__":
    paths = [Path(argument) for argument in sys.argv[1:] if argument != "--keep"]
    if "--keep" in sys.argv:
        SECONDS.write_text(kept(paths), encoding="utf-8")
    for path in paths:
        print(report(path))  # noqa: T201  its purpose
