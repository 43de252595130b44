"""Choose the tests for `make quick`: those that import a changed file, except slow ones.

A file has changed if it differs from the main branch, committed or not. `make test` is the proof; this is for quick
loops before it.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from support.groups import LONG, seconds
from support.places import ROOT, TESTS

ALWAYS = ("house",)
# Tests to run for changes that imports do not show. Those of a room always run if it changes.
OF_FOLDERS = {
    "source": ("kit", "notebooks", "release"),
    "release": ("release",),
    "docs": ("term",),
    "grader/exercises": ("judging", "facts", "again", "repair"),  # loaded, and never imported
    "grader/kit": ("release",),
    "grader/sandbox": ("judging", "host"),  # mostly used from another process
}


def changed() -> list[str]:
    """Paths that differ from where this branch left the main one, and new files."""
    mains = [name for name in ("origin/main", "main") if git("rev-parse", "--verify", "--quiet", name)]
    base = git("merge-base", "HEAD", mains[0])[0] if mains else "HEAD"
    return [*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")]


def git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()


@cache
def imports(path: Path) -> frozenset[str]:
    """Files that a test imports, also through other files of tests; of a module, also its imports from its own room."""
    found: set[str] = set()
    for name in _names(ast.parse(path.read_text())):
        for root in (TESTS, ROOT):
            place = root.joinpath(*name.split(".")).with_suffix(".py")
            if place.is_file() and place != path:
                found |= {str(place.relative_to(ROOT))}
                found |= {one for one in imports(place) if (ROOT / one).parent == place.parent or root == TESTS}
    return frozenset(found)


def _names(code: ast.AST) -> Iterator[str]:
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def tests_of(paths: Iterable[str]) -> set[str]:
    """The paths of test files to run for these changes."""
    tests = {str(path.relative_to(ROOT)): path for path in TESTS.glob("*/test_*.py")}
    rooms, chosen = {*ALWAYS}, set[str]()
    for path in paths:
        room, *inside = path.removeprefix("grader/").split("/")
        rooms |= {room} if inside and path.startswith("grader/") else set()
        rooms |= {one for folder, some in OF_FOLDERS.items() if path.startswith(f"{folder}/") for one in some}
        if "conftest" not in path:  # all depend on it
            chosen |= {place for place, test in tests.items() if path in {place, *imports(test)}}
    return chosen | {place for place in tests if place.split("/")[1] in rooms}


if __name__ == "__main__":
    found = sorted(tests_of(changed()))
    print(*(place for place in found if seconds().get(place, 0.0) < LONG))  # noqa: T201  for make
