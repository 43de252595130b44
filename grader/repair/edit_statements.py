"""What the student may have meant in place of a statement, and where else it may belong."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from grader.facts.names import names_in, names_stored
from grader.facts.pure_calls import is_only_computed, layers_in
from grader.facts.student_text import Function, Splice
from grader.model.change import Change
from grader.repair.edit_rules import rule
from grader.repair.edit_words import (
    OPERATORS,
    are_named_alike,
    exchanged,
    named_after,
    renumbered,
    with_numbers_of,
)
from grader.repair.sites import SIMPLE, Rewrite, StatementSite, missing_attributes

MOST_COPIED = 40  # lines that are compared with each other
FAR = 4  # statements that a statement may move past


# A result that is lost.


def _has_a_value(site: StatementSite) -> bool:
    return not isinstance(site.node.value, ast.Constant)  # else it is a docstring


def _names_in(value: ast.expr, site: StatementSite) -> list[str]:
    """The function's own names that an expression reads, in the order of the text."""
    return list(dict.fromkeys(name for name in names_in(value) if name in site.around.names))


@rule(ast.Expr, change=Change.LOST, cost=1)
def keep_result(site: StatementSite) -> Iterator[str]:
    """x = x.transpose(1, 2) for x.transpose(1, 2)"""
    value = site.node.value
    if _has_a_value(site) and is_only_computed(value, layers_in(site.around.owner)):
        for name in _names_in(value, site):
            yield f"{name} = {site.of(value)}"


@rule(ast.Expr, change=Change.RETURNED, cost=2)
def return_result(site: StatementSite) -> Iterator[str]:
    """return x @ y for x @ y"""
    if _has_a_value(site):
        yield f"return {site.of(site.node.value)}"


def empty_lists(function: ast.AST) -> list[str]:
    """The names of lists that start out empty."""
    names: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_empty_list(node.value):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names


def _is_empty_list(value: ast.expr) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or ast.unparse(value) == "list()"


# Assignments.


def _lost_or_misnamed(site: StatementSite) -> Change:
    return Change.LOST if _is_name(site) and site.node.targets[0].id in site.around.unread else Change.NAME


def _is_name(site: StatementSite) -> bool:
    return len(site.node.targets) == 1 and isinstance(site.node.targets[0], ast.Name)


@rule(ast.Assign, change=_lost_or_misnamed, cost=2)
def other_target(site: StatementSite) -> Iterator[str]:
    """scores = scores / 2 for scaled = scores / 2"""
    if _is_name(site):
        value = site.node.value
        names = [name for name in _names_in(value, site) if name != site.node.targets[0].id]
        for name in names:
            yield f"{name} = {site.of(value)}"


@rule(ast.Assign, change=Change.NAME, cost=1)
def attribute_under_another_name(site: StatementSite) -> Iterator[Rewrite]:
    """self.gain = … for self.g = …, where self.gain is read"""
    match site.node.targets:
        case [ast.Attribute(value=ast.Name(id="self")) as target]:
            for name in missing_attributes(site.around):
                yield site.with_expression(target, f"self.{name}")


@rule(ast.Assign, change=Change.UPDATE, cost=2)
def update_for_assignment(site: StatementSite) -> Iterator[str]:
    """total += x for total = x"""
    if _is_name(site):
        name, value = site.node.targets[0].id, site.of(site.node.value)
        for sign in "+-*/":
            yield f"{name} {sign}= {value}"


def _item(site: StatementSite) -> ast.Subscript | None:
    match site.node.targets:
        case [ast.Subscript() as target]:
            return target
    return None


@rule(ast.Assign, change=Change.AXIS, cost=1)
def other_item(site: StatementSite) -> Iterator[str]:
    """x[:, i] = y for x[i] = y"""
    target = _item(site)
    if target is not None:
        for item in _other_items(site, target):
            yield f"{item} = {site.of(site.node.value)}"


def _other_items(site: StatementSite, target: ast.Subscript) -> Iterator[str]:
    value, index = site.of(target.value), site.of(target.slice)
    if isinstance(target.slice, ast.Tuple):
        indices = target.slice.elts
        for order in exchanged([site.of(item) for item in indices]):
            yield f"{value}[{', '.join(order)}]"
        yield from (f"{value}[{site.of(item)}]" for item in indices if not isinstance(item, ast.Slice))
    else:
        names = [name for name in site.around.names if name != index]
        yield f"{value}[:, {index}]"
        for name in names:
            yield f"{value}[{index}, {name}]"
        for name in names:
            yield f"{value}[{name}]"


@rule(ast.Assign, change=Change.UPDATE, cost=1)
def update_item(site: StatementSite) -> Iterator[str]:
    """x[i] += y for x[i] = y"""
    target = _item(site)
    if target is not None:
        for sign in "+-*/":
            yield f"{site.of(target)} {sign}= {site.of(site.node.value)}"


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.AugAssign, change=Change.OPERATOR, cost=1)
def other_update(site: StatementSite) -> Iterator[str]:
    """x /= y for x *= y"""
    target, value = site.of(site.node.target), site.of(site.node.value)
    signs = [sign for kind, sign in OPERATORS.items() if not isinstance(site.node.op, kind)]
    for sign in signs:
        yield f"{target} {sign}= {value}"


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.AugAssign, change=Change.UPDATE, cost=1)
def assignment_for_update(site: StatementSite) -> Iterator[str]:
    """x = y for x += y"""
    yield f"{site.of(site.node.target)} = {site.of(site.node.value)}"


@rule(ast.Assign, change=Change.ORDER, cost=1)
def swap_targets(site: StatementSite) -> Iterator[str]:
    """n, d = x.shape for d, n = x.shape"""
    match site.node:
        case ast.Assign(targets=[ast.Tuple(elts=items)], value=value):
            if not are_named_alike(site.text, items, value):
                for order in exchanged([site.of(item) for item in items]):
                    yield f"{', '.join(order)} = {site.of(value)}"


@rule(ast.Assign, change=Change.COPIED, cost=1)
def like_its_twin(site: StatementSite) -> Iterator[Rewrite]:
    """K2 = W_k2 @ X + b_k2 for K2 = W_k2 @ X, next to K1 = W_k1 @ X + b_k1"""
    assignments = [statement for statement in site.block if isinstance(statement, ast.Assign)][:MOST_COPIED]
    if site.node not in assignments:
        return
    target, value = site.of(site.node.targets[0]), site.of(site.node.value)
    for twin in assignments:
        twin_target, twin_value = site.of(twin.targets[0]), site.of(twin.value)
        renamed = renumbered(twin_value, twin_target, target) or with_numbers_of(value, twin_value)
        renamed = renamed or named_after(twin_value, twin_target, target)
        if twin is not site.node and renamed is not None and renamed != value:
            yield site.with_expression(site.node.value, renamed)


@rule(ast.Assign, change=Change.COPIED, cost=3)
def like_another_attribute(site: StatementSite) -> Iterator[Rewrite]:
    """self.W_v = nn.Parameter(torch.rand(n, d)) for self.W_v = torch.rand(n, d), next to self.W_q = nn.Parameter(…)"""
    assignments = [statement for statement in site.block if isinstance(statement, ast.Assign)][:MOST_COPIED]
    attributes = [statement for statement in assignments if isinstance(statement.targets[0], ast.Attribute)]
    if site.node in attributes:
        values = [site.of(attribute.value) for attribute in attributes if attribute is not site.node]
        for value in dict.fromkeys(values):
            yield site.with_expression(site.node.value, value)


# What is returned.


@rule(ast.Return, change=Change.RETURNED, cost=1)
def return_other_name(site: StatementSite) -> Iterator[str]:
    """return outputs for return weights"""
    value = site.node.value
    if value is not None:
        yield from (f"return {name}" for name in site.around.names if name != site.of(value))


@rule(ast.Return, change=Change.RETURNED, cost=1)
def return_one_item(site: StatementSite) -> Iterator[str]:
    """return outputs for return outputs, weights"""
    if isinstance(site.node.value, ast.Tuple):
        for item in site.node.value.elts:
            yield f"return {site.of(item)}"


@rule(ast.Return, change=Change.RETURNED, cost=1)
def return_unread(site: StatementSite) -> Iterator[str]:
    """return q, k, v for return q, where nothing reads k and v"""
    around = site.around
    unread = [name for name in around.names if name in around.unread and name not in around.parameters]
    if site.node.value is not None and len(unread) > 1:
        yield f"return {', '.join(unread)}"


# Conditions.


@rule(ast.If, change=Change.SURPLUS, cost=3)
def certain_condition(site: StatementSite) -> Iterator[Rewrite]:
    """if True for if n > 3"""
    for truth in ("True", "False"):
        yield site.with_expression(site.node.test, truth)


@rule(ast.If, change=Change.OPPOSITE, cost=1)
def opposite_condition(site: StatementSite) -> Iterator[Rewrite]:
    """if not training for if training"""
    yield site.with_expression(site.node.test, f"not ({site.of(site.node.test)})")


@rule(*SIMPLE, change=Change.CONDITION, cost=1)
def only_if_there(site: StatementSite) -> Iterator[Rewrite]:
    """if mask is not None: before a line that reads a mask, which is None where none is passed"""
    if site.is_alone(site.node):
        start = site.text.span(site.node)[0]
        for name in sorted(_optional_parameters(site.around.function).intersection(names_in(site.node))):
            yield Rewrite((Splice(start, start, f"if {name} is not None: "),), (site.line,))


def _optional_parameters(function: Function) -> set[str]:
    """The parameters that are None where nothing is passed."""
    arguments = function.args.args
    defaults = zip(reversed(arguments), reversed(function.args.defaults), strict=False)
    names: set[str] = set()
    for argument, default in defaults:
        if isinstance(default, ast.Constant) and default.value is None:
            names.add(argument.arg)
    return names


# Where a statement belongs.


@rule(*SIMPLE, change=Change.SURPLUS, cost=3)
def drop_statement(site: StatementSite) -> Iterator[str]:
    """pass for x = x * 2"""
    if not (isinstance(site.node, ast.Expr) and isinstance(site.node.value, ast.Constant)):
        yield "pass"


@rule(*SIMPLE, change=Change.PLACE, cost=3)
def move_down(site: StatementSite) -> Iterator[Rewrite]:
    """x = 1, y = 2 for y = 2, x = 1. A move up is the same as moving those between down."""
    if not site.is_alone(site.node):
        return
    for statement in site.block[site.index + 1 : site.index + 1 + FAR]:
        if isinstance(statement, ast.Return) or not site.is_alone(statement):
            return
        splices = (site.with_pass(site.node), site.after(statement, site.of(site.node)))
        yield Rewrite(splices, (site.line,))


@rule(ast.If, change=Change.PLACE, cost=2)
def return_after_condition(site: StatementSite) -> Iterator[Rewrite]:
    """return x after an `if`, for the same at the end of its block"""
    last = site.node.body[-1]
    if isinstance(last, ast.Return) and not site.node.orelse:
        yield Rewrite((site.with_pass(last), site.after(site.node, site.of(last))), (last.lineno,))


@rule(ast.For, ast.While, change=Change.PLACE, cost=2)
def move_out_of_loop(site: StatementSite) -> Iterator[Rewrite]:
    """The first statements of a loop moved before it; the last ones moved after it, or after a loop around it"""
    loop = site.node
    for statement in loop.body[:2]:
        if site.is_alone(loop) and site.is_simple(statement):
            splices = (site.with_pass(statement), site.before(loop, site.of(statement)))
            yield Rewrite(splices, (statement.lineno,))
    for statement in _last_ones(site, loop.body[1:]):
        for outer in (loop, *site.loops):
            splices = (site.with_pass(statement), site.after(outer, site.of(statement)))
            yield Rewrite(splices, (statement.lineno,))


def _last_ones(site: StatementSite, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The last statement that can move and, if it is `return`, those before it."""
    for statement in reversed(body):
        if not isinstance(statement, (*SIMPLE, ast.Return)) or not site.is_alone(statement):
            return
        yield statement
        if not isinstance(statement, ast.Return):
            return


@rule(ast.For, ast.While, change=Change.PLACE, cost=3)
def move_into_loop(site: StatementSite) -> Iterator[Rewrite]:
    """A statement before a loop moved to its start; the next one after it moved to its end"""
    first, last = site.node.body[0], site.node.body[-1]
    if not site.is_alone(first):
        return
    for statement in filter(site.is_simple, site.block[max(0, site.index - 2) : site.index]):
        splices = (site.with_pass(statement), site.before(first, site.of(statement)))
        yield Rewrite(splices, (statement.lineno,))
    for statement in filter(site.is_simple, site.block[site.index + 1 : site.index + 2]):
        splices = (site.with_pass(statement), site.after(last, site.of(statement)))
        yield Rewrite(splices, (statement.lineno,))


@rule(ast.For, ast.While, change=Change.AFTER, cost=2)
def fill_list(site: StatementSite) -> Iterator[Rewrite]:
    """scores.append(score) at the end of a loop, where the list stays empty"""
    loop, last = site.node, site.node.body[-1]
    names = dict.fromkeys(reversed(list(names_stored(loop))))
    for empty_list, name in itertools.product(_never_filled(site.around.function), names):
        rewrite = site.at_the_end(loop.body, f"{empty_list}.append({name})")
        if isinstance(last, SIMPLE) and not rewrite.lines:
            rewrite = rewrite._replace(lines=(last.lineno,))
        yield rewrite


def _never_filled(function: ast.AST) -> list[str]:
    """Those of the empty lists that are only ever read."""
    attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    used = {node.value.id for node in attributes if isinstance(node.value, ast.Name)}
    return [name for name in empty_lists(function) if name not in used]
