"""Find mistakes in the text of loops: values that each step overwrites, and a loop that ends in its first step.

Nothing is reported that may be meant: a step that goes on with what the last one left, and a loop that is left under
a condition.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from grader.facts.names import names_stored
from grader.facts.student_text import Function, blocks
from grader.model.fact import Fact, FactKind

# Which names statements read and write, and which comes first, as far as the text shows it.

# What code can ask of a tensor or a list without its numbers.
SIZES = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel", "new_zeros", "new_ones", "new_full"})
_SIZE_CALLS = frozenset({"len", "zeros_like", "ones_like", "empty_like", "full_like", "print", "type"})
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class FirstUse(Enum):
    """How a name is first used."""

    READ = "read"
    WRITTEN = "written"


@functools.lru_cache(maxsize=4096)  # a loop is read once for each of its names
def reads_in(node: ast.AST) -> frozenset[str]:
    """The names whose values an expression or a statement needs, and not only their sizes."""
    return frozenset(_reads(node, frozenset()))


def _reads(node: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            if name not in bound:
                yield name
            return
        case ast.Attribute(value=ast.Name(), attr=attribute) if attribute in SIZES:
            return
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _SIZE_CALLS:
            return
        case ast.AugAssign(target=ast.Name(id=name)) if name not in bound:
            yield name
    if isinstance(node, _COMPREHENSIONS):
        bound |= {name for generator in node.generators for name in written_in(generator.target)}
    for child in ast.iter_child_nodes(node):
        yield from _reads(child, bound)


@functools.lru_cache(maxsize=4096)
def written_in(*nodes: ast.AST) -> frozenset[str]:
    """The names that get a value somewhere in these nodes."""
    return frozenset(names_stored(*nodes))


def changed_in(node: ast.AST) -> set[str]:
    """The names that are changed in place: `x[i] = …`, `x.append(…)`, `x += …`, `x.add_(…)`."""
    return {name for part in ast.walk(node) for name in _changed_by(part)}


def _changed_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.AugAssign(target=changed):
            yield from _base(changed)
        case ast.Assign(targets=targets):
            for target in targets:
                if isinstance(target, ast.Subscript | ast.Attribute):
                    yield from _base(target)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
            yield from _base(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name.endswith("_"):
            yield from _base(value)


def _base(target: ast.expr) -> Iterator[str]:
    """The x in `x[i].y` and `x.add(1)`."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Call(func=value):
            yield from _base(value)


def first_use(name: str, statements: Iterable[ast.stmt]) -> FirstUse | None:
    """Whether a name is read first, or surely written before; None if neither, or if it is unclear."""
    for statement in statements:
        first = _first_use_in(name, statement)
        if first is not None:
            return first
    return None


def _first_use_in(name: str, statement: ast.stmt) -> FirstUse | None:
    match statement:
        case ast.For(iter=test, body=body) | ast.While(test=test, body=body):
            if name in reads_in(test):
                return FirstUse.READ
            if isinstance(statement, ast.For) and name in written_in(statement.target):
                return None
            return _read_or_none(first_use(name, body))  # there may be no step
        case ast.If(test=test, body=body, orelse=orelse):
            if name in reads_in(test):
                return FirstUse.READ
            uses = [first_use(name, body), first_use(name, orelse)]
            if FirstUse.READ in uses:
                return FirstUse.READ
            return None if None in uses else FirstUse.WRITTEN
        case ast.With(body=body) | ast.Try(body=body):
            return first_use(name, body)
    if name in reads_in(statement):
        return FirstUse.READ
    return FirstUse.WRITTEN if name in written_in(statement) else None


def _read_or_none(first: FirstUse | None) -> FirstUse | None:
    return first if first is FirstUse.READ else None


def closure(names: set[str], assignments: Sequence[tuple[frozenset[str], frozenset[str]]]) -> set[str]:
    """The names, and all others that their values are made from: each assignment has its targets and its sources."""
    reached = set(names)
    while True:
        new_names: set[str] = set()
        for targets, sources in assignments:
            if targets & reached:
                new_names |= sources - reached
        if not new_names:
            return reached
        reached |= new_names


Loop = ast.For | ast.While
MOST_NODES = 1_500  # of a loop that is read
Block = Sequence[ast.stmt]


def facts_of_loops(function: Function, lines: Sequence[str]) -> Iterator[Fact]:
    """The facts about a function's loops, the outermost first."""
    pending: list[tuple[Block, Block]] = [(function.body, ())]
    while pending:
        block, later = pending.pop(0)
        for index, statement in enumerate(block):
            after = (*block[index + 1 :], *later)
            if isinstance(statement, Loop):
                yield from _facts_of_loop(statement, after, lines)
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                pending += [(inner, after) for inner in blocks(statement)]


def _facts_of_loop(loop: Loop, after: Block, lines: Sequence[str]) -> Iterator[Fact]:
    if len(list(itertools.islice(_inside(loop), MOST_NODES))) == MOST_NODES:
        return
    for statement in loop.body:
        if isinstance(statement, ast.Return):
            if not any(isinstance(node, ast.Continue) for node in _inside(loop)):
                yield Fact(FactKind.LEFT_EARLY, lines[statement.lineno - 1].strip())
            return
    if any(isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Yield) for node in _inside(loop)):
        return
    names = dict.fromkeys(_replaced_in_each_step(loop))
    replaced = tuple(name for name in names if first_use(name, after) is FirstUse.READ)
    if replaced:
        head = loop.iter if isinstance(loop, ast.For) else loop.test
        yield Fact(FactKind.REPLACED, ast.unparse(head), replaced)


def _inside(loop: Loop) -> Iterator[ast.AST]:
    return (node for statement in loop.body for node in ast.walk(statement))


def _replaced_in_each_step(loop: Loop) -> Iterator[str]:
    """Names that get a new value in each step, which no other step uses or goes on with."""
    assignments = [pair for node in _inside(loop) for pair in _targets_and_sources(node)]
    counters = {name for node in loop.body for name in _counted(node)}
    changed = written_in(*loop.body) | changed_in(ast.Module(body=list(loop.body), type_ignores=[]))
    carried = {name for name in changed - counters if first_use(name, loop.body) is not FirstUse.WRITTEN}
    for node in _inside(loop):
        if isinstance(node, ast.For):
            carried -= written_in(node.target)
    varying = counters | (written_in(loop.target) if isinstance(loop, ast.For) else frozenset())
    for statement in loop.body:
        for name in _assigned_names(statement):
            if first_use(name, loop.body) is FirstUse.WRITTEN:
                sources = closure({name}, assignments)
                if sources & varying and not sources & carried:
                    yield name


def _assigned_names(statement: ast.stmt) -> Iterator[str]:
    """The x in `x = …`."""
    match statement:
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _targets_and_sources(node: ast.AST) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The names that a node sets or changes, and those it uses for that."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
        yield written_in(node) | changed_in(node), reads_in(node)
    elif isinstance(node, ast.For):
        yield written_in(node.target), reads_in(node.iter)


def _counted(statement: ast.stmt) -> Iterator[str]:
    """The name in `i += 1`."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
            yield name
