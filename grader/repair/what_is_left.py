"""How much of a student's code a repair leaves as it is, of what does something."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from grader.facts.code_facts import is_only_computed
from grader.facts.student_text import Function, statements
from grader.repair.edited_text import EditedText

SHARE = 2 / 3


def enough_is_left(repaired: EditedText, entry: str) -> bool:
    """Whether two thirds of the repaired code are the student's: of the statements that do something, or, where
    there are few of them, of the operations and calls."""
    return any(
        kept >= SHARE * (kept + max(changed, len(repaired.edits)))
        for kept, changed in (_statements_left(repaired, entry), _steps_left(repaired, entry))
    )


def _statements_left(repaired: EditedText, entry: str) -> tuple[int, int]:
    lines = set()
    text = repaired
    while text.before and text.edit:
        lines.add(text.before.text.line(text.edit.line).strip())
        text = text.before
    kept = changed = 0
    original = {line.strip() for line in repaired.original.lines}
    for statement in _doing_something(repaired.text.tree, entry):
        line = repaired.text.line(statement.lineno).strip()
        if line in original and line not in lines:
            kept += 1
        else:
            changed += 1
    return kept, changed


def _steps_left(repaired: EditedText, entry: str) -> tuple[int, int]:
    """An operation or call is the same with another number or name in it."""
    now, before = (_steps_of(text.tree, entry) for text in (repaired.text, repaired.original))
    return (now & before).total(), (now - before).total()


def _steps_of(tree: ast.Module, entry: str) -> Counter[str]:
    steps = [step for node in tree.body if getattr(node, "name", "") == entry for step in _steps(node)]
    return Counter(ast.dump(step.func) if isinstance(step, ast.Call) else type(step).__name__ for step in steps)


def steps_in(tree: ast.Module) -> int:
    """How many operations and calls a code has."""
    return len(_steps(tree))


def _steps(tree: ast.AST) -> list[ast.expr]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.Call | ast.Compare)]


def _doing_something(tree: ast.Module, entry: str) -> Iterator[ast.stmt]:
    """Statements of what is asked for, but for those whose result nobody reads, and new names for old things."""
    for definition in tree.body:
        if not (isinstance(definition, Function | ast.ClassDef) and definition.name == entry):
            continue
        functions = [definition] if isinstance(definition, Function) else definition.body
        read = _read_in(definition)
        for function in functions:
            if isinstance(function, Function):
                yield from (node for node in statements(function) if _does_something(node, read))


def _read_in(definition: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {
        n.attr for n in ast.walk(definition) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)
    }


def _does_something(statement: ast.stmt, read: set[str]) -> bool:
    match statement:
        case ast.Assign(value=ast.Name() | ast.Constant() | ast.Attribute()) | ast.Return(value=ast.Name() | None):
            return False
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name in read
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            return name in read
        case ast.Expr(value=value):
            return isinstance(value, ast.Call) and not is_only_computed(value) and ast.unparse(value.func) != "print"
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Return | ast.For | ast.If | ast.While)
