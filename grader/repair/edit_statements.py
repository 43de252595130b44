"""What the student may have meant in place of a statement, and where else it may belong."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from grader.facts.code_facts import is_only_computed, layers_in
from grader.facts.student_text import Function, Splice
from grader.model.located import Change
from grader.repair.edit_rules import rule
from grader.repair.edit_words import (
    OPERATORS,
    are_named_alike,
    exchanged,
    named_after,
    renumbered,
    with_numbers_of,
)
from grader.repair.places import SIMPLE, Rewrite, StatementPlace, missing_attributes

MOST_COPIED = 40  # lines that are compared with each other
FAR = 4  # statements that a statement may move past


# A result that is lost.


def _has_a_value(place: StatementPlace) -> bool:
    return not isinstance(place.node.value, ast.Constant)  # else it is a docstring


def _is_only_computed(place: StatementPlace) -> bool:
    return is_only_computed(place.node.value, layers_in(place.around.owner))


def _kept(place: StatementPlace) -> Iterator[str]:
    value = place.node.value
    yield from (f"{name} = {place.of(value)}" for name in _names_in(value, place))


def _names_in(value: ast.expr, place: StatementPlace) -> list[str]:
    """The function's own names that an expression reads, in the order of the text."""
    names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(name for name in names if name in place.around.names))


@rule(ast.Expr, change=Change.LOST, cost=1)
def keep_result(place: StatementPlace) -> Iterator[str]:
    """x = x.transpose(1, 2) for x.transpose(1, 2)"""
    if _has_a_value(place) and _is_only_computed(place):
        yield from _kept(place)


@rule(ast.Expr, change=Change.LOST, cost=4)
def keep_result_of_call(place: StatementPlace) -> Iterator[str]:
    """x = change(x) for change(x)"""
    if _has_a_value(place) and not _is_only_computed(place):
        yield from _kept(place)


@rule(ast.Expr, change=Change.RETURNED, cost=2)
def return_result(place: StatementPlace) -> Iterator[str]:
    """return x @ y for x @ y"""
    if _has_a_value(place):
        yield f"return {place.of(place.node.value)}"


@rule(ast.Expr, change=Change.LOST, cost=2)
def append_result(place: StatementPlace) -> Iterator[str]:
    """scores.append(q @ k) for q @ k"""
    value = place.node.value
    appends = isinstance(value, ast.Call) and place.of(value.func).endswith((".append", ".extend"))
    if _has_a_value(place) and not appends:
        yield from (f"{name}.append({place.of(value)})" for name in empty_lists(place.around.function))


def empty_lists(function: ast.AST) -> list[str]:
    """The names of lists that start out empty."""
    assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and _is_empty_list(node.value)]
    return [target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)]


def _is_empty_list(value: ast.expr) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or ast.unparse(value) == "list()"


# Assignments.


def _lost_or_misnamed(place: StatementPlace) -> Change:
    return Change.LOST if _is_name(place) and place.node.targets[0].id in place.around.unread else Change.NAME


def _is_name(place: StatementPlace) -> bool:
    return len(place.node.targets) == 1 and isinstance(place.node.targets[0], ast.Name)


@rule(ast.Assign, change=_lost_or_misnamed, cost=2)
def other_target(place: StatementPlace) -> Iterator[str]:
    """scores = scores / 2 for scaled = scores / 2"""
    if _is_name(place):
        value = place.node.value
        names = [name for name in _names_in(value, place) if name != place.node.targets[0].id]
        yield from (f"{name} = {place.of(value)}" for name in names)


@rule(ast.Assign, change=Change.NAME, cost=1)
def attribute_under_another_name(place: StatementPlace) -> Iterator[Rewrite]:
    """self.gain = … for self.g = …, where self.gain is read"""
    match place.node.targets:
        case [ast.Attribute(value=ast.Name(id="self")) as target]:
            for name in missing_attributes(place.around):
                yield place.with_expression(target, f"self.{name}")


@rule(ast.Assign, change=Change.UPDATE, cost=2)
def update_for_assignment(place: StatementPlace) -> Iterator[str]:
    """total += x for total = x"""
    if _is_name(place):
        name, value = place.node.targets[0].id, place.of(place.node.value)
        yield from (f"{name} {sign}= {value}" for sign in "+-*/")


def _item(place: StatementPlace) -> ast.Subscript | None:
    match place.node.targets:
        case [ast.Subscript() as target]:
            return target
    return None


@rule(ast.Assign, change=Change.AXIS, cost=1)
def other_item(place: StatementPlace) -> Iterator[str]:
    """x[:, i] = y for x[i] = y"""
    target = _item(place)
    if target is not None:
        yield from (f"{item} = {place.of(place.node.value)}" for item in _other_items(place, target))


def _other_items(place: StatementPlace, target: ast.Subscript) -> Iterator[str]:
    value, index = place.of(target.value), place.of(target.slice)
    if isinstance(target.slice, ast.Tuple):
        indices = target.slice.elts
        yield from (f"{value}[{', '.join(order)}]" for order in exchanged([place.of(item) for item in indices]))
        yield from (f"{value}[{place.of(item)}]" for item in indices if not isinstance(item, ast.Slice))
    else:
        names = [name for name in place.around.names if name != index]
        yield f"{value}[:, {index}]"
        yield from (f"{value}[{index}, {name}]" for name in names)
        yield from (f"{value}[{name}]" for name in names)


@rule(ast.Assign, change=Change.UPDATE, cost=1)
def update_item(place: StatementPlace) -> Iterator[str]:
    """x[i] += y for x[i] = y"""
    target = _item(place)
    if target is not None:
        yield from (f"{place.of(target)} {sign}= {place.of(place.node.value)}" for sign in "+-*/")


@rule(ast.AugAssign, change=Change.OPERATOR, cost=1)
def other_update(place: StatementPlace) -> Iterator[str]:
    """x /= y for x *= y"""
    target, value = place.of(place.node.target), place.of(place.node.value)
    signs = [sign for kind, sign in OPERATORS.items() if not isinstance(place.node.op, kind)]
    yield from (f"{target} {sign}= {value}" for sign in signs)


@rule(ast.AugAssign, change=Change.UPDATE, cost=1)
def assignment_for_update(place: StatementPlace) -> Iterator[str]:
    """x = y for x += y"""
    yield f"{place.of(place.node.target)} = {place.of(place.node.value)}"


def _swapped_targets(place: StatementPlace, alike: bool) -> Iterator[str]:
    match place.node:
        case ast.Assign(targets=[ast.Tuple(elts=items)], value=value):
            if are_named_alike(place.text, items, value) == alike:
                for order in exchanged([place.of(item) for item in items]):
                    yield f"{', '.join(order)} = {place.of(value)}"


@rule(ast.Assign, change=Change.ORDER, cost=1)
def swap_targets(place: StatementPlace) -> Iterator[str]:
    """n, d = x.shape for d, n = x.shape"""
    yield from _swapped_targets(place, alike=False)


@rule(ast.Assign, change=Change.ORDER, cost=3)
def swap_targets_with_their_names(place: StatementPlace) -> Iterator[str]:
    """self.b, self.a = a, b for self.a, self.b = a, b"""
    yield from _swapped_targets(place, alike=True)


@rule(ast.Assign, change=Change.COPIED, cost=1)
def like_its_twin(place: StatementPlace) -> Iterator[Rewrite]:
    """K2 = W_k2 @ X + b_k2 for K2 = W_k2 @ X, next to K1 = W_k1 @ X + b_k1"""
    assignments = [statement for statement in place.block if isinstance(statement, ast.Assign)][:MOST_COPIED]
    if place.node not in assignments:
        return
    target, value = place.of(place.node.targets[0]), place.of(place.node.value)
    for twin in assignments:
        model, written = place.of(twin.targets[0]), place.of(twin.value)
        renamed = renumbered(written, model, target) or with_numbers_of(value, written)
        renamed = renamed or named_after(written, model, target)
        if renamed is None and model.startswith("self.") and target.startswith("self."):
            renamed = written
        if twin is not place.node and renamed is not None and renamed != value:
            yield place.with_expression(place.node.value, renamed)


# What is returned.


@rule(ast.Return, change=Change.RETURNED, cost=1)
def return_other_name(place: StatementPlace) -> Iterator[str]:
    """return outputs for return weights"""
    value = place.node.value
    if value is not None:
        yield from (f"return {name}" for name in place.around.names if name != place.of(value))


@rule(ast.Return, change=Change.RETURNED, cost=1)
def return_one_item(place: StatementPlace) -> Iterator[str]:
    """return outputs for return outputs, weights"""
    if isinstance(place.node.value, ast.Tuple):
        yield from (f"return {place.of(item)}" for item in place.node.value.elts)


@rule(ast.Return, change=Change.RETURNED, cost=1)
def return_unread(place: StatementPlace) -> Iterator[str]:
    """return q, k, v for return q, where nothing reads k and v"""
    around = place.around
    unread = [name for name in around.names if name in around.unread and name not in around.parameters]
    if place.node.value is not None and len(unread) > 1:
        yield f"return {', '.join(unread)}"


# Conditions.


@rule(ast.If, change=Change.SURPLUS, cost=3)
def certain_condition(place: StatementPlace) -> Iterator[Rewrite]:
    """if True for if n > 3"""
    yield from (place.with_expression(place.node.test, truth) for truth in ("True", "False"))


@rule(ast.If, change=Change.OPPOSITE, cost=1)
def opposite_condition(place: StatementPlace) -> Iterator[Rewrite]:
    """if not training for if training"""
    yield place.with_expression(place.node.test, f"not ({place.of(place.node.test)})")


@rule(*SIMPLE, change=Change.CONDITION, cost=1)
def only_if_there(place: StatementPlace) -> Iterator[Rewrite]:
    """if mask is not None: before a line that reads a mask, which is None where none is passed"""
    if place.is_alone(place.node):
        names = {node.id for node in ast.walk(place.node) if isinstance(node, ast.Name)}
        start = place.text.span(place.node)[0]
        for name in sorted(names & _optional_parameters(place.around.function)):
            yield Rewrite((Splice(start, start, f"if {name} is not None: "),), (place.line,))


def _optional_parameters(function: Function) -> set[str]:
    """The parameters that are None where nothing is passed."""
    arguments = function.args.args
    defaults = zip(reversed(arguments), reversed(function.args.defaults), strict=False)
    return {argument.arg for argument, value in defaults if isinstance(value, ast.Constant) and value.value is None}


# Where a statement belongs.


@rule(*SIMPLE, change=Change.SURPLUS, cost=3)
def drop_statement(place: StatementPlace) -> Iterator[str]:
    """pass for x = x * 2"""
    if not (isinstance(place.node, ast.Expr) and isinstance(place.node.value, ast.Constant)):
        yield "pass"


@rule(*SIMPLE, change=Change.PLACE, cost=3)
def move_down(place: StatementPlace) -> Iterator[Rewrite]:
    """x = 1, y = 2 for y = 2, x = 1. A move up is the same as moving those between down."""
    if not place.is_alone(place.node):
        return
    for other in place.block[place.index + 1 : place.index + 1 + FAR]:
        if isinstance(other, ast.Return) or not place.is_alone(other):
            return
        splices = (place.with_pass(place.node), place.after(other, place.of(place.node)))
        yield Rewrite(splices, (place.line,))


@rule(ast.If, change=Change.PLACE, cost=2)
def return_after_condition(place: StatementPlace) -> Iterator[Rewrite]:
    """return x after an `if`, for the same at the end of its block"""
    last = place.node.body[-1]
    if isinstance(last, ast.Return) and not place.node.orelse:
        yield Rewrite((place.with_pass(last), place.after(place.node, place.of(last))), (last.lineno,))


@rule(ast.For, ast.While, change=Change.PLACE, cost=2)
def move_out_of_loop(place: StatementPlace) -> Iterator[Rewrite]:
    """The first statements of a loop moved before it; the last ones moved after it, or after a loop around it"""
    loop = place.node
    for statement in loop.body[:2] if place.is_alone(loop) else ():
        if place.is_simple(statement):
            splices = (place.with_pass(statement), place.before(loop, place.of(statement)))
            yield Rewrite(splices, (statement.lineno,))
    for statement in _last_ones(place, loop.body[1:]):
        for outer in (loop, *place.loops):
            splices = (place.with_pass(statement), place.after(outer, place.of(statement)))
            yield Rewrite(splices, (statement.lineno,))


def _last_ones(place: StatementPlace, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The last statement that can move and, if it is `return`, those before it."""
    for statement in reversed(body):
        if not isinstance(statement, (*SIMPLE, ast.Return)) or not place.is_alone(statement):
            return
        yield statement
        if not isinstance(statement, ast.Return):
            return


@rule(ast.For, ast.While, change=Change.PLACE, cost=3)
def move_into_loop(place: StatementPlace) -> Iterator[Rewrite]:
    """A statement before a loop moved to its start; the next one after it moved to its end"""
    first, last = place.node.body[0], place.node.body[-1]
    if not place.is_alone(first):
        return
    for statement in filter(place.is_simple, place.block[max(0, place.index - 2) : place.index]):
        splices = (place.with_pass(statement), place.before(first, place.of(statement)))
        yield Rewrite(splices, (statement.lineno,))
    for statement in filter(place.is_simple, place.block[place.index + 1 : place.index + 2]):
        splices = (place.with_pass(statement), place.after(last, place.of(statement)))
        yield Rewrite(splices, (statement.lineno,))


@rule(ast.For, ast.While, change=Change.AFTER, cost=1)
def fill_list(place: StatementPlace) -> Iterator[Rewrite]:
    """scores.append(score) at the end of a loop, where the list stays empty"""
    loop, last = place.node, place.node.body[-1]
    names = [node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for empty, name in itertools.product(_never_filled(place.around.function), dict.fromkeys(reversed(names))):
        written = place.at_the_end(loop.body, f"{empty}.append({name})")
        yield written._replace(lines=(last.lineno,)) if isinstance(last, SIMPLE) and not written.lines else written


def _never_filled(function: ast.AST) -> list[str]:
    """Those of the empty lists that are only ever read."""
    attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    used = {node.value.id for node in attributes if isinstance(node.value, ast.Name)}
    return [name for name in empty_lists(function) if name not in used]
