"""Names say what a value is: hardly any are pronouns, participles or fillers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import grader

HOUSE = Path(grader.__file__).parent
ROOMS = sorted(folder.name for folder in HOUSE.iterdir() if (folder / "__init__.py").is_file())

# Nobody can tell from these what a value is. In a comprehension of one line they are fine, since all is in sight there.
WORDS = """
    one ones other others another its own those these some each every rest both such
    said told found held given made known seen asked read written shown taken named kept left wanted got done put
    what how where who which when why there here then
    thing things stuff part parts piece more less much many few so
"""
EMPTY = frozenset(WORDS.split())
SHARE = 0.01  # of a room's bindings may be empty, for the few that are words of the subject: `read`, or `piece`
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Binding(NamedTuple):
    """A name that code gives to a value, a function or a class."""

    name: str
    place: str

    @property
    def is_empty(self) -> bool:
        return self.name.strip("_").lower() in EMPTY


def bindings(code: str, file: str = "") -> Iterator[Binding]:
    """All but those of comprehensions of one line."""
    tree = ast.parse(code)
    in_sight = {
        id(name)
        for node in ast.walk(tree)
        if isinstance(node, COMPREHENSIONS) and node.lineno == node.end_lineno
        for generator in node.generators
        for name in ast.walk(generator.target)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in in_sight:
            yield Binding(node.id, f"{file}:{node.lineno}")
        elif isinstance(node, ast.arg):
            yield Binding(node.arg, f"{file}:{node.lineno}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Binding(node.name, f"{file}:{node.lineno}")


@pytest.mark.parametrize("room", ROOMS)
def test_room_has_few_empty_names(room: str) -> None:
    files = sorted((HOUSE / room).rglob("*.py"))
    of_room = [binding for path in files for binding in bindings(path.read_text(), str(path.relative_to(HOUSE)))]
    empty = [binding for binding in of_room if binding.is_empty]
    assert len(empty) <= SHARE * len(of_room), "\n".join(f"{place}: {name}" for name, place in empty)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("found = search()", ["found"]),
        ("def told(verdict): ...", ["told"]),
        ("def sentence(_which): ...", ["_which"]),
        ("for one in verdicts:\n    print(one)", ["one"]),
        ("points = sum(one.points for one in verdicts)", []),
        ("points = [\n    one.points\n    for one in verdicts\n]", ["one"]),
        ("verdict = judge(found=None)", []),
    ],
)
def test_empty_name_is_found_outside_one_line_comprehensions(code: str, names: list[str]) -> None:
    assert [binding.name for binding in bindings(code) if binding.is_empty] == names
