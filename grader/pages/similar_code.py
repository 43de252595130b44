"""Submissions that have the same code up to names and layout. That is a reason to look, and no finding.

Students who work alone often write the same, above all where one short solution is obvious, and whoever has the habits
of somebody else does so in all exercises. So each solution cell that two submissions share is weighed by how much of it
nobody else writes in any cell, neither in the class nor in the course's own solutions; where it is wrong it counts
twice. Code as it was released, the course's own solution, stubs, and what a large part of the class has, do not count
at all.

How often chance brings a group about, nobody can tell. There was none in some two thousand classes that were made up,
of 2 to 300 students who solve the eight exercises of the first assignment in short and usual ways, each with habits
that are kept in seven of ten cases, in nine, or always. The price: of two students, hardly any copy is told.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_SOURCE = 50_000  # characters of a cell that is compared
# Of how many students a cell may be and still say something about two of them.
FEW, SHARE = 8, 0.1
# Three parts that nobody else writes count as one bit, and a cell as six at most, since long code is often found in one
# book or another. Chance has it harder with every bit, but no more is known: whoever works alone has habits, and so who
# writes alike once does so again. Hence a margin, and a larger one the fewer others there are whose habits we see.
PARTS, MOST = 3.0, 6.0
MARGIN, UNSEEN = 8.0, 60.0

_MAGIC = re.compile(r"^([ \t]*)[%!].*", re.MULTILINE)
_NAMES = {"id", "arg", "name", "asname", "names", "attr"}  # fields of nodes that hold a name which code may choose
_WITHOUT_MEANING = {"ctx", "type_comment", "annotation", "returns", "type_ignores", "kind"}


class Form(NamedTuple):
    """Code without the names that it chooses, comments, docstrings, annotations and layout."""

    text: str
    parts: frozenset[int]  # of its syntax tree, as digests without chosen names; none in code that does nothing


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
    owners = _owners(solutions, given)
    evidence: dict[tuple[str, str], float] = defaultdict(float)
    for (exercise, form), students in holders.items():
        bits = _surprise(form, len(students), owners)
        for pair in itertools.combinations(students, 2):
            evidence[pair] += bits * (2 if all(exercise in wrong.get(one, ()) for one in pair) else 1)
    needed = _needed(len(solutions))
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


def _needed(students: int) -> float:
    """In bits: among many pairs, more is alike by chance; among few students, less is seen of what others write."""
    return math.log2(max(1, math.comb(students, 2))) + MARGIN + UNSEEN / max(1, students)


def _owners(solutions: Mapping[str, Mapping[int, str]], given: Mapping[int, Sequence[str]]) -> Mapping[int, float]:
    """How many students write a part, in any exercise; what the course writes, everybody may."""
    owners: Counter[int] = Counter()
    for sources in solutions.values():
        owners.update({part for source in sources.values() for part in form_of(source).parts})
    known = {part for sources in given.values() for source in sources for part in form_of(source).parts}
    return {part: math.inf if part in known else count for part, count in owners.items()}


def _surprise(form: Form, holders: int, owners: Mapping[int, float]) -> float:
    """In bits: how unlikely it is that somebody who works alone writes just this, too."""
    unusual = sum(1 / (1 + owners[part] - holders) for part in form.parts)
    return max(0.0, min(MOST, unusual / PARTS) - math.log2(holders - 1) / 2)


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
        tree = _parsed(source)
        chosen = _chosen(tree)
        text = " ".join(_texts(tree, chosen, {}))
        parts: set[int] = set()
        _add_parts(tree, chosen, parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = re.sub(r"#.*", "", source).split()
        return Form(" ".join(words), frozenset(map(hash, words)))
    return Form(text, frozenset(parts))


def _parsed(source: str) -> ast.Module:
    """The tree. Lines that are for IPython are no Python, and left out where Python cannot read them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in strings, which are the student's affair
        try:
            tree = ast.parse(source)
        except SyntaxError:
            tree = ast.parse(_MAGIC.sub(r"\1pass", source))
    _Plain(tree).visit(tree)
    return tree


class _Plain(ast.NodeTransformer):
    """Writes `x: int = 3` as `x = 3`, and gives keywords in calls of the code's own functions their own kind."""

    def __init__(self, tree: ast.AST) -> None:
        self._parameters = {
            node.name: {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else ast.Pass()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        own = self._parameters.get(name, ())
        node.keywords = [_OwnKeyword(one.arg, one.value) if one.arg in own else one for one in node.keywords]
        return node


class _OwnKeyword(ast.keyword):
    """An argument by a name that the code itself has chosen."""


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
            if name in _NAMES and key in chosen and type(node) is not ast.keyword:
                yield f"{'.' * (name == 'attr')}#{numbers.setdefault(key, len(numbers))}"
            else:
                yield f"={item!r}"
    yield ")"


def _add_parts(node: ast.AST, chosen: Collection[str], parts: set[int]) -> int:
    """Adds the digest of each subtree that does something, and returns that of the whole. Signatures are given."""
    if isinstance(node, ast.arguments) or _is_stub(node):
        return 0
    inside: list[object] = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                inside.append(_add_parts(item, chosen, parts))
            elif name not in _WITHOUT_MEANING:
                key = f".{item}" if name == "attr" else item
                inside.append("#" if name in _NAMES and key in chosen else repr(item))
    digest = hash(tuple(inside))
    if not isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        parts.add(digest)
    return digest


def _is_stub(node: ast.AST) -> bool:
    """What stands in a function that is still to do: it raises something, or returns what depends on nothing."""
    match node:
        case ast.Raise():
            return True
        case ast.Return(value=value):
            return value is None or not any(isinstance(one, ast.Name) for one in ast.walk(value))
    return _says_nothing(node)


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings and other lone constants, pass, and imports that give no name of their own."""
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.expr_context():
            return True
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return all(one.asname in (None, one.name) for one in names)
    return False
