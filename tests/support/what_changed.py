"""Which tests `make quick` runs: of each file that changed, those that import it. It leaves out what takes long.

Changed is what differs from the main branch, committed or not. `make test` is the proof; this is for the loop before.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from support.groups import SLOW
from support.places import ROOT, TESTS

ALWAYS = "test_house"
# Not Python, or seen by no import.
OF_FOLDERS = {
    "source": ("test_beside", "test_checks", "test_checks_multi_head", "test_release"),
    "release": ("test_release",),
    "docs": ("test_docs", "test_rules"),
    ".devcontainer": ("test_container_files",),
    "grader/pages/templates": ("test_book", "test_feedback", "test_report", "test_rules"),
    "grader/exercises": ("test_judge", "test_modules"),  # the catalogue finds them
    "grader/elsewhere": ("test_elsewhere", "test_workflows"),
    "grader/sandbox": ("test_channel", "test_confinement", "test_grading"),  # most is reached by another process
}


def changed() -> list[str]:
    """Paths that differ from where this branch left the main one, and new ones."""
    mains = [name for name in ("origin/main", "main") if git("rev-parse", "--verify", "--quiet", name)]
    base = git("merge-base", "HEAD", mains[0])[0] if mains else "HEAD"
    return [*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")]


def git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()


@cache
def imports(path: Path) -> frozenset[str]:
    """Files that a test imports, also by way of what lies beside it; with a module, what that imports of its room."""
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
    """Names of test files."""
    chosen = {ALWAYS}
    for path in paths:
        if "conftest" not in path:  # on which all depend
            tests = TESTS.glob("*/test_*.py")
            chosen |= {one.stem for one in tests if path in {str(one.relative_to(ROOT)), *imports(one)}}
        for folder, names in OF_FOLDERS.items():
            chosen |= set(names) if path.startswith(f"{folder}/") else set()
    return chosen


if __name__ == "__main__":
    found = sorted(tests_of(changed()))
    places = {path.stem: path.relative_to(ROOT) for path in TESTS.glob("*/test_*.py")}
    print(*(places[name] for name in found if name not in SLOW))  # noqa: T201  for make
