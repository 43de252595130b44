"""What may have been meant in place of an expression."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from grader.facts.student_text import StudentText
from grader.model.located import Change
from grader.repair.edit_calls import of_call, of_subscript
from grader.repair.edit_steps import is_size
from grader.repair.edit_words import (
    COMPARISONS,
    FITTED,
    NUMBERS_NEARBY,
    OPERATORS,
    SIBLINGS,
    WITH_DIM,
    Other,
    Spot,
    Surroundings,
    are_named_alike,
    exchanged,
    with_numbers_of,
)  # fmt: skip

MOST_ITEMS = 8  # that are compared with one another


def others(text: StudentText, spot: Spot, around: Surroundings) -> Iterator[Other]:
    """All that may have been meant in place of an expression that is read."""
    node = spot.node
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    match node:
        case ast.Constant(value=value):
            if not isinstance(spot.parent, ast.UnaryOp):  # of a number below zero, the sign is a part
                yield from _constants(value, spot, around)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            yield from _constants(-value, spot, around)
        case ast.Name(id=name) if not _is_asked_for(spot):
            yield from _names(name, spot, around)
        case ast.Name(id=name):
            yield from (Other(other, Change.NAME, 2) for other in around.parameters if other != name)
        case ast.Attribute():
            yield from _attributes(text, node, around)
        case ast.BinOp():
            yield from _operations(text, node)
        case ast.UnaryOp(operand=operand):
            yield Other(f"({text.of(operand)})", Change.OPERATOR, 1)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for kind, sign in COMPARISONS.items():
                if not isinstance(op, kind):
                    yield Other(f"({text.of(left)} {sign} {text.of(right)})", Change.OPERATOR, 1)
        case ast.Call():
            yield from of_call(text, node, around.names)
        case ast.Subscript():
            yield from of_subscript(text, node)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            start, end = text.span(node)
            brackets = text.bytes[start:end].decode()
            opening, closing = ("[", "]") if isinstance(node, ast.List) else ("(", ")")
            bare = isinstance(node, ast.Tuple) and not brackets.startswith("(")
            cost = 3 if _are_named_alike(text, spot) else 1
            for order in exchanged([text.of(item) for item in items]):
                listed = ", ".join(order)
                yield Other(listed if bare else f"{opening}{listed}{closing}", Change.ORDER, cost)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield Other(f"({text.of(orelse)} if {text.of(test)} else {text.of(body)})", Change.ORDER, 1)
    yield from _as_copied(text, spot)
    if is_size(node, spot):
        yield Other(FITTED, Change.NUMBER, 3)


def _constants(value: object, spot: Spot, around: Surroundings) -> Iterator[Other]:
    is_axis = _is_axis(spot)
    change = Change.AXIS if is_axis else Change.NUMBER
    match value:
        case bool():
            yield Other(str(not value), change, 1)
            if not is_axis:
                yield from (Other(name, Change.NAME, 1) for name in around.parameters)
        case int():
            yield from (Other(name, Change.NAME, 1) for name in around.parameters)
            yield from (Other(f"({other})", change, 1) for other in NUMBERS_NEARBY if other != value)
            if not is_axis:
                nearby: tuple[float, ...] = (0.5, -0.5, value + 1, value - 1)
                yield from (Other(f"({other})", change, 1) for other in nearby)
                yield Other(FITTED, Change.NUMBER, 2)
        case float():
            yield from (Other(f"({other})", change, 1) for other in (-value, 0.0, 1.0, 0.5, -0.5, 2.0))
            yield from (
                Other(f"({other})", change, 1) for other in (value / 10, value * 10, value / 2, value * 2) if value
            )
            yield Other("float('-inf')", change, 1)
            yield from (Other(name, Change.NAME, 1) for name in around.parameters)
            if abs(value - math.e) < 0.1:
                yield Other(repr(math.e), change, 1)
            yield Other(FITTED, Change.NUMBER, 2)
        case None if is_axis:
            yield from (Other(f"({other})", change, 1) for other in (-1, 0, 1))
        case str() if "->" in value:
            yield from (Other(repr(other), Change.ARRANGEMENT, 1) for other in _subscripts_of_einsum(value))
        case "inf":
            yield Other("'-inf'", change, 1)


def _subscripts_of_einsum(value: str) -> Iterator[str]:
    """With two letters exchanged in one of the terms, or one letter another one."""
    terms = value.replace("->", ",").split(",")
    letters = sorted({letter for letter in value if letter.isalpha()})
    for index, term in enumerate(terms):
        changed = ["".join(order) for order in exchanged(list(term))]
        changed += [term[:at] + letter + term[at + 1 :] for at in range(len(term)) for letter in letters]
        for other in changed:
            all_terms = [*terms[:index], other, *terms[index + 1 :]]
            yield f"{','.join(all_terms[:-1])}->{all_terms[-1]}"


def _names(name: str, spot: Spot, around: Surroundings) -> Iterator[Other]:
    is_called = isinstance(spot.parent, ast.Call) and spot.field == "func"
    if is_called:
        yield from (Other(sibling, Change.CALL, 1) for sibling in _siblings(name))
        others = (*around.functions, *around.names) if name in around.names else around.functions
        yield from (Other(other, Change.NAME, 1) for other in others if other != name)
    elif name != "self":
        yield from (Other(other, Change.NAME, 1) for other in around.names if other != name)
        yield from (Other(f"self.{other}", Change.NAME, 2) for other in around.attributes)


def _as_copied(text: StudentText, spot: Spot) -> Iterator[Other]:
    """One of some things as another one is written, which has other numbers in its names."""
    if isinstance(spot.parent, ast.Tuple | ast.List) and len(spot.parent.elts) <= MOST_ITEMS:
        written = text.of(spot.node)
        renamed = [with_numbers_of(written, text.of(other)) for other in spot.parent.elts if other is not spot.node]
        yield from (Other(other, Change.COPIED, 1) for other in renamed if other and other != written)


def _are_named_alike(text: StudentText, spot: Spot) -> bool:
    match spot.parent:
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            return are_named_alike(text, targets, spot.node)
    return False


def _is_asked_for(spot: Spot) -> bool:
    """Whether the question is if it is there at all: `mask is not None`."""
    return isinstance(spot.parent, ast.Compare) and isinstance(spot.parent.ops[0], ast.Is | ast.IsNot)


def _attributes(text: StudentText, node: ast.Attribute, around: Surroundings) -> Iterator[Other]:
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        yield from (Other(f"self.{other}", Change.NAME, 1) for other in around.attributes if other != node.attr)
        yield from (Other(name, Change.NAME, 2) for name in around.names if name == node.attr)
    else:
        value = text.operand(node.value)
        yield from (Other(f"{value}.{sibling}", Change.CALL, 1) for sibling in _siblings(node.attr))
        if node.attr.endswith("_") and not node.attr.startswith("_"):
            yield Other(f"{value}.{node.attr[:-1]}", Change.CALL, 1)
        if value in ("math", "np"):
            yield Other(f"torch.{node.attr}", Change.CALL, 1)
        if node.attr in ("T", "mT", "H", "mH", "values", "data"):
            yield Other(f"({value})", Change.ARRANGEMENT if node.attr[-1] in "TH" else Change.SURPLUS, 1)
        if node.attr == "inf":
            yield Other("1e30", Change.NUMBER, 1)
        if node.attr == "indices":
            yield Other(f"{value}.values", Change.CALL, 1)


def _siblings(name: str) -> list[str]:
    plain = name.rstrip("_")
    tail = name[len(plain) :]
    return [f"{other}{tail}" for family in SIBLINGS if plain in family for other in sorted(family - {plain})]


def _operations(text: StudentText, node: ast.BinOp) -> Iterator[Other]:
    left, right = text.of(node.left), text.of(node.right)
    for kind, sign in OPERATORS.items():
        if not isinstance(node.op, kind):
            yield Other(f"(({left}) {sign} ({right}))", Change.OPERATOR, 1)
    sign = OPERATORS.get(type(node.op), "")
    if sign and not isinstance(node.op, ast.Add | ast.Mult):
        yield Other(f"(({right}) {sign} ({left}))", Change.ORDER, 1)
    yield from _with_other_brackets(text, node)
    yield Other(f"({left})", Change.SURPLUS, 2)
    yield Other(f"({right})", Change.SURPLUS, 2)


def _with_other_brackets(text: StudentText, node: ast.BinOp) -> Iterator[Other]:
    """`a + b / c` for `(a + b) / c`, and the reverse."""
    sign = OPERATORS.get(type(node.op), "")
    match node:
        case ast.BinOp(left=ast.BinOp(left=first, op=op, right=second), right=third) if sign and type(op) in OPERATORS:
            inner = f"(({text.of(second)}) {sign} ({text.of(third)}))"
            yield Other(f"(({text.of(first)}) {OPERATORS[type(op)]} {inner})", Change.ORDER, 1)
    match node:  # d ** 1 / 2, which divides by 2, at the end of a product
        case ast.BinOp(
            left=ast.BinOp(left=first, op=op, right=ast.BinOp(left=base, op=ast.Pow(), right=second)),
            op=ast.Div(),
            right=third,
        ) if type(op) in OPERATORS:
            power = f"(({text.of(base)}) ** (({text.of(second)}) / ({text.of(third)})))"
            yield Other(f"(({text.of(first)}) {OPERATORS[type(op)]} {power})", Change.ORDER, 1)
    match node:
        case ast.BinOp(left=first, right=ast.BinOp(left=second, op=op, right=third)) if sign and type(op) in OPERATORS:
            inner = f"(({text.of(first)}) {sign} ({text.of(second)}))"
            yield Other(f"({inner} {OPERATORS[type(op)]} ({text.of(third)}))", Change.ORDER, 1)


def _is_axis(spot: Spot) -> bool:
    match spot.parent:
        case ast.keyword(arg=name):
            return name in ("dim", "axis", "dim0", "dim1", "keepdim", "keepdims")
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in WITH_DIM or name == "permute"
    return False
