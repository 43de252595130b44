"""A mistake that several exercises know is written once: see grader/exercises/mistakes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grader


def written() -> Iterator[tuple[str, str, str]]:
    """Names, lines and sentences of mistakes, wherever they stand in the exercises."""
    for path in sorted(Path(grader.__file__).parent.glob("exercises/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "wrong":
                name, lines, says = map(ast.unparse, node.args)
                yield name, lines, says


def test_few_mistakes_are_written_twice() -> None:
    """Those of one name may have other lines, or other words. Where a few lines are the same, the text is theirs, too:
    a solution is read in one file, with its mistakes."""
    times = Counter(written())
    assert len(times) > 1000
    assert sum(count - 1 for count in times.values()) < 40
    assert max(times.values()) == 2
