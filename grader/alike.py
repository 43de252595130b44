"""Submissions that have the same code up to names and layout. That is a reason to look, and no finding.

Students who work alone often write the same, above all where one short solution is obvious. So each solution cell that
two submissions share is weighed by how surprising it is: the longer the code and the fewer others have it, the more it
counts, and where it is wrong it counts twice. Code as it was released, the course's own solution, and what a large part
of the class has, do not count at all.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_SOURCE = 50_000  # characters of a cell that is compared
# Of how many students a cell may be and still say something about two of them.
FEW, SHARE = 8, 0.1
# Before we know anything about a class: two who work alone write the same fifteen parts in one case of two, thirty in
# one of four, and so on down to one of sixty-four, since long code is often found in one book or another. This guess
# weighs as much as ten students whose code we have seen.
PARTS, RAREST, STRENGTH = 15, 2.0**-6, 10
# A pair is told of when, by these guesses, chance brings one about in fewer than one class of a thousand: ten bits.
MARGIN = 10.0

_NAMES = {"id", "arg", "name", "asname", "names", "attr"}  # fields of nodes that hold a name which code may choose
_WITHOUT_MEANING = {"ctx", "type_comment", "annotation", "returns", "type_ignores", "kind"}


class Form(NamedTuple):
    """Code without the names that it chooses, comments, docstrings, annotations and layout."""

    text: str
    parts: int  # of its syntax tree: how much there is that could have been otherwise


@dataclass(frozen=True)
class Shared:
    """An exercise that some of a group have solved with the same code."""

    exercise: int
    students: Sequence[str]
    wrong: bool


@dataclass(frozen=True)
class Group:
    students: Sequence[str]
    shared: Sequence[Shared]


def groups(
    solutions: Mapping[str, Mapping[int, str]],
    wrong: Mapping[str, Collection[int]],
    given: Mapping[int, Sequence[str]],
) -> list[Group]:
    """Those that have more in common than chance explains; the most striking first.

    `solutions` are sources by student and exercise, `wrong` the exercises that did not get full marks, `given` the
    sources that are nobody's own.
    """
    holders = _holders(solutions, given)
    evidence: dict[tuple[str, str], float] = defaultdict(float)
    for (exercise, form), students in holders.items():
        bits = _surprise(form, len(students), len(solutions))
        for pair in itertools.combinations(students, 2):
            evidence[pair] += bits * (2 if all(exercise in wrong.get(one, ()) for one in pair) else 1)
    needed = math.log2(max(1, math.comb(len(solutions), 2))) + MARGIN
    striking = {pair: bits for pair, bits in evidence.items() if bits >= needed}
    found = [(_strongest(members, striking), members) for members in _connected(striking)]
    return [
        Group(members, _shared(members, holders, wrong))
        for _, members in sorted(found, key=lambda one: (-one[0], one[1]))
    ]


def _holders(
    solutions: Mapping[str, Mapping[int, str]], given: Mapping[int, Sequence[str]]
) -> dict[tuple[int, Form], list[str]]:
    """Who has which code, where that says something."""
    nobodys = {(exercise, form_of(source)) for exercise, sources in given.items() for source in sources}
    found: dict[tuple[int, Form], list[str]] = defaultdict(list)
    for student in sorted(solutions):
        for exercise, source in solutions[student].items():
            found[exercise, form_of(source)].append(student)
    most = max(FEW, SHARE * len(solutions))
    return {key: who for key, who in found.items() if key not in nobodys and key[1].parts and 1 < len(who) <= most}


def _surprise(form: Form, holders: int, students: int) -> float:
    """In bits: how unlikely it is that somebody who works alone writes just this, too."""
    guess = max(RAREST, 2.0 ** (-form.parts / PARTS))
    return -math.log2((holders - 2 + STRENGTH * guess) / (students - 2 + STRENGTH))


def _connected(pairs: Collection[tuple[str, str]]) -> list[list[str]]:
    """Whoever is in a pair with somebody of a group belongs to it."""
    group_of: dict[str, set[str]] = {}
    for one, other in pairs:
        joined = group_of.get(one, {one}) | group_of.get(other, {other})
        group_of.update(dict.fromkeys(joined, joined))
    return [sorted(group) for group in {id(group): group for group in group_of.values()}.values()]


def _strongest(members: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> float:
    return max(bits for pair, bits in pairs.items() if pair[0] in members)


def _shared(
    members: Sequence[str], holders: Mapping[tuple[int, Form], Sequence[str]], wrong: Mapping[str, Collection[int]]
) -> list[Shared]:
    found = []
    for (exercise, _), students in holders.items():
        who = [one for one in students if one in members]
        if len(who) > 1:
            found.append(Shared(exercise, who, all(exercise in wrong.get(one, ()) for one in who)))
    return sorted(found, key=lambda one: (one.exercise, one.students))


@functools.lru_cache(maxsize=4096)
def form_of(source: str) -> Form:
    """What is left of code when names, comments and layout are taken away. Code that is no Python keeps its names."""
    source = source[:MAX_SOURCE]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes in strings, which are the student's affair
            tree = ast.parse(source)
        texts = list(_texts(tree, _chosen(tree), {}))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = re.sub(r"#.*", "", source).split()
        return Form(" ".join(words), len(words))
    return Form(" ".join(texts), sum(text[0] == "(" for text in texts))


def _chosen(tree: ast.AST) -> set[str]:
    """The names that the code itself gives to something; an attribute begins with a dot."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(f".{name}")
    return names


def _texts(node: ast.AST, chosen: Collection[str], numbers: dict[str, int]) -> Iterator[str]:
    """The tree as a list of texts, with a number in place of each chosen name: the first is 0, and so on."""
    yield f"({type(node).__name__}"
    for name, value in ast.iter_fields(node):
        if name in _WITHOUT_MEANING:
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                if not _says_nothing(item):
                    yield from _texts(item, chosen, numbers)
                continue
            key = f".{item}" if name == "attr" else item
            if name in _NAMES and key in chosen and not isinstance(node, ast.keyword):
                yield f"{'.' * (name == 'attr')}#{numbers.setdefault(key, len(numbers))}"
            else:
                yield f"={item!r}"
    yield ")"


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings and other lone constants, pass, and imports that give no name of their own."""
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.expr_context():
            return True
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return all(one.asname in (None, one.name) for one in names)
    return False
