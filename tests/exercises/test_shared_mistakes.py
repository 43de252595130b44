"""A mistake that several exercises know is written once: see grader/exercises/mistakes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grader


def written_mistakes() -> Iterator[tuple[str, ...]]:
    """Places, names, lines and sentences of mistakes, wherever they stand in the exercises."""
    for path in sorted(Path(grader.__file__).parent.glob("exercises/**/*.py")):
        tree = ast.parse(path.read_text())
        places = {id(one): ast.unparse(node.args[0]) for node in calls_of("at", tree) for one in node.args[1:]}
        for node in calls_of("wrong", tree):
            yield places.get(id(node), ""), *map(ast.unparse, node.args)


def calls_of(function: str, tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
            yield node


def test_shared_mistakes_are_written_once() -> None:
    """Those of one name and sentence have other lines, or stand at another place."""
    times = Counter(written_mistakes())
    assert len(times) > 1000
    assert [mistake for mistake, count in times.items() if count > 1] == []
