"""What a text shows of its loops: what each step makes anew, and a loop that ends in its first step.

Nothing is said where it may be meant: where a step goes on with what the last one left, and where a loop may be left
under a condition.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from grader.facts.accesses import First, changed_in, closure, first_of, reads_in, written_in
from grader.facts.student_text import Function, blocks
from grader.model.fact import Fact, Kind

Loop = ast.For | ast.While
MOST_NODES = 1_500  # of a loop that is read
Block = Sequence[ast.stmt]


def of_loops(function: Function, lines: Sequence[str]) -> Iterator[Fact]:
    """All that the loops of a function show, the outermost first."""
    todo: list[tuple[Block, Block]] = [(function.body, ())]
    while todo:
        block, later = todo.pop(0)
        for index, statement in enumerate(block):
            after = (*block[index + 1 :], *later)
            if isinstance(statement, Loop):
                yield from _of_loop(statement, after, lines)
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                todo += [(inner, after) for inner in blocks(statement)]


def _of_loop(loop: Loop, after: Block, lines: Sequence[str]) -> Iterator[Fact]:
    if len(list(itertools.islice(_inside(loop), MOST_NODES))) == MOST_NODES:
        return
    for statement in loop.body:
        if isinstance(statement, ast.Return):
            if not any(isinstance(node, ast.Continue) for node in _inside(loop)):
                yield Fact(Kind.LEFT_EARLY, lines[statement.lineno - 1].strip())
            return
    if any(isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Yield) for node in _inside(loop)):
        return
    left = [name for name in dict.fromkeys(_made_in_each_step(loop)) if first_of(name, after) is First.READ]
    if left:
        yield Fact(Kind.REPLACED, ast.unparse(loop.iter if isinstance(loop, ast.For) else loop.test), tuple(left))


def _inside(loop: Loop) -> Iterator[ast.AST]:
    return (node for statement in loop.body for node in ast.walk(statement))


def _made_in_each_step(loop: Loop) -> Iterator[str]:
    """Names with a value of their own in each step, which another step neither uses nor goes on with."""
    made_of = [made for node in _inside(loop) for made in _made_of(node)]
    counters: set[str] = {name for node in loop.body for name in _counted(node)}
    touched = written_in(*loop.body) | changed_in(ast.Module(body=list(loop.body), type_ignores=[]))
    carried = {name for name in touched - counters if first_of(name, loop.body) is not First.WRITTEN}
    carried -= {name for node in _inside(loop) if isinstance(node, ast.For) for name in written_in(node.target)}
    varying = counters | (written_in(loop.target) if isinstance(loop, ast.For) else frozenset())
    for statement in loop.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            name = target.id if isinstance(target, ast.Name) else ""
            if name and first_of(name, loop.body) is First.WRITTEN:
                parts = closure({name}, made_of)
                if parts & varying and not parts & carried:
                    yield name


def _made_of(node: ast.AST) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Names that get a value or are changed, and the names that it takes."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
        yield written_in(node) | changed_in(node), reads_in(node)
    elif isinstance(node, ast.For):
        yield written_in(node.target), reads_in(node.iter)


def _counted(statement: ast.stmt) -> Iterator[str]:
    """`i += 1`"""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
            yield name
