"""Where a repair only decides which branch runs: the line may be right, and the branch that runs no more is wrong."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.facts.student_text import Splice, StudentText
from grader.model.change import Change
from grader.repair.edit_rules import Edit
from grader.repair.version import Version

MOST_BRANCHES = 12


def with_a_branch_off(repair: Version) -> Iterator[Version]:
    """The student's code without one of its branches, the innermost first, if that may be all that a repair does."""
    text, edit = repair.original, repair.edit
    if edit is None:
        return
    choices = [node for node in ast.walk(text.tree) if isinstance(node, ast.If)]
    if not _decides(text, edit, [choice.test for choice in choices]):
        return
    for choice in choices[: -MOST_BRANCHES - 1 : -1]:
        for condition, branch, change in (
            ("False", choice.body, Change.BRANCH),
            ("True", choice.orelse, Change.OTHERWISE),
        ):
            if branch and not any(_is_in(text, edit, statement) for statement in branch):
                splice = Splice(*text.span(choice.test), condition)
                yield Version(text, replace(edit, splices=(splice,), lines=(choice.lineno,), change=change))


def _decides(text: StudentText, edit: Edit, tests: Sequence[ast.expr]) -> bool:
    """Whether it changes a condition, or what a condition reads."""
    if any(_is_in(text, edit, test) for test in tests):
        return True
    nodes = itertools.chain.from_iterable(map(ast.walk, tests))
    names_read = set(map(_name, nodes)) - {"", "self"}
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Assign) and _is_in(text, edit, node):
            names_assigned = set(map(_name, node.targets))
            if names_assigned & names_read:
                return True
    return False


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_in(text: StudentText, edit: Edit, node: ast.AST) -> bool:
    start, end = text.span(node)
    return all(start <= splice.start and splice.end <= end for splice in edit.splices)
