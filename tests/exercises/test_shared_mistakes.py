"""A mistake that several exercises know is written once: see grader/exercises/mistakes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grader


def written() -> Iterator[tuple[str, str]]:
    """Names and sentences of misconceptions, wherever they stand in the exercises."""
    for path in sorted(Path(grader.__file__).parent.glob("exercises/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Misconception":
                says = next(argument.value for argument in node.keywords if argument.arg == "says")
                yield ast.unparse(node.args[0]), ast.unparse(says)


def test_no_name_and_sentence_are_written_twice() -> None:
    times = Counter(written())
    assert len(times) > 600
    assert [mistake for mistake, count in times.items() if count > 1] == []
