"""What the student may have meant in place of a name, an operation or another expression that is no call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.model.located import Change
from grader.repair.edit_constants import NO_CONSTANT, constant
from grader.repair.edit_rules import rule
from grader.repair.edit_words import (
    AXES,
    COMPARISONS,
    FITTED,
    OPERATORS,
    SIBLINGS,
    are_named_alike,
    exchanged,
    is_size,
    with_numbers_of,
)
from grader.repair.places import ExpressionPlace

MOST_ITEMS = 8  # of a list whose items are compared with each other

# Names and attributes.


def _is_called(place: ExpressionPlace) -> bool:
    return isinstance(place.parent, ast.Call) and place.field == "func"


def _is_asked_for(place: ExpressionPlace) -> bool:
    """Whether the code only asks if the name has a value, as in `mask is not None`."""
    return isinstance(place.parent, ast.Compare) and isinstance(place.parent.ops[0], ast.Is | ast.IsNot)


def _siblings(name: str) -> list[str]:
    plain = name.rstrip("_")
    tail = name[len(plain) :]
    return [f"{other}{tail}" for family in SIBLINGS if plain in family for other in sorted(family - {plain})]


@rule(ast.Name, change=Change.CALL, cost=1)
def sibling_function(place: ExpressionPlace) -> Iterator[str]:
    """max(x) for sum(x)"""
    if _is_called(place):
        yield from _siblings(place.of(place.node))


@rule(ast.Name, change=Change.NAME, cost=1)
def function_or_name_called(place: ExpressionPlace) -> Iterator[str]:
    """head(x) for tail(x)"""
    name, around = place.of(place.node), place.around
    if _is_called(place):
        callable_names = (*around.functions, *around.names) if name in around.names else around.functions
        yield from (other for other in callable_names if other != name)


@rule(ast.Name, change=Change.CALL, cost=1)
def function_of_the_notebook(place: ExpressionPlace) -> Iterator[str]:
    """softmax_cols(x) for softmax(x)"""
    name, functions = place.of(place.node), place.around.notebook
    if _is_called(place) and name in functions:
        yield from (other for other in functions if other != name)


@rule(ast.Name, change=Change.NAME, cost=1)
def other_name(place: ExpressionPlace) -> Iterator[str]:
    """keys for values"""
    name = place.of(place.node)
    if not _is_called(place) and not _is_asked_for(place) and name != "self":
        yield from (other for other in place.around.names if other != name)


@rule(ast.Name, change=Change.MISSING, cost=2)
def item_for_name(place: ExpressionPlace) -> Iterator[str]:
    """x[i] for x"""
    name, indices = place.of(place.node), place.around.loop_variables
    is_whole = isinstance(place.parent, ast.Subscript | ast.For | ast.comprehension | ast.Attribute)
    if not _is_called(place) and not is_whole and name not in indices:
        yield from (f"{name}[{index}]" for index in indices)


@rule(ast.Name, change=Change.NAME, cost=2)
def attribute_for_name(place: ExpressionPlace) -> Iterator[str]:
    """self.mask for mask"""
    if not _is_called(place) and not _is_asked_for(place) and place.of(place.node) != "self":
        yield from (f"self.{attribute}" for attribute in place.around.attributes)


@rule(ast.Name, change=Change.NAME, cost=2)
def other_parameter_asked_for(place: ExpressionPlace) -> Iterator[str]:
    """if mask is not None for if keys is not None"""
    if _is_asked_for(place):
        yield from (other for other in place.around.parameters if other != place.of(place.node))


@rule(ast.Name, change=Change.CONDITION, cost=1)
def is_there(place: ExpressionPlace) -> Iterator[str]:
    """if mask is not None for if mask"""
    if place.field in ("test", "values") and isinstance(place.parent, ast.If | ast.IfExp | ast.BoolOp):
        yield f"({place.of(place.node)} is not None)"


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _attribute(place: ExpressionPlace) -> ast.Attribute:
    assert isinstance(place.node, ast.Attribute)
    return place.node


@rule(ast.Attribute, change=Change.NAME, cost=1)
def other_attribute(place: ExpressionPlace) -> Iterator[str]:
    """self.W_key for self.W_value"""
    node = _attribute(place)
    if _of_self(node):
        yield from (f"self.{other}" for other in place.around.attributes if other != node.attr)


@rule(ast.Attribute, change=Change.NAME, cost=2)
def name_for_attribute(place: ExpressionPlace) -> Iterator[str]:
    """mask for self.mask"""
    node = _attribute(place)
    if _of_self(node):
        yield from (name for name in place.around.names if name == node.attr)


@rule(ast.Attribute, change=Change.CALL, cost=1)
def sibling_method(place: ExpressionPlace) -> Iterator[str]:
    """x.max() for x.sum(), x.exp() for x.exp_(), torch.sqrt(x) for math.sqrt(x)"""
    node = _attribute(place)
    if _of_self(node):
        return
    value = place.operand(node.value)
    yield from (f"{value}.{sibling}" for sibling in _siblings(node.attr))
    if node.attr.endswith("_") and not node.attr.startswith("_"):
        yield f"{value}.{node.attr[:-1]}"
    if value in ("math", "np"):
        yield f"torch.{node.attr}"
    if node.attr == "indices":
        yield f"{value}.values"


def _surplus_or_turned(place: ExpressionPlace) -> Change:
    return Change.ARRANGEMENT if _attribute(place).attr[-1] in "TH" else Change.SURPLUS


@rule(ast.Attribute, change=_surplus_or_turned, cost=1)
def drop_attribute(place: ExpressionPlace) -> Iterator[str]:
    """x for x.T"""
    node = _attribute(place)
    if not _of_self(node) and node.attr in ("T", "mT", "H", "mH", "values", "data"):
        yield f"({place.operand(node.value)})"


@rule(ast.Attribute, change=Change.ARRANGEMENT, cost=1)
def transpose_of_a_batch(place: ExpressionPlace) -> Iterator[str]:
    """x.mT for x.T: of a batch, only the last two axes are exchanged."""
    node = _attribute(place)
    if not _of_self(node) and node.attr == "T":
        yield f"{place.operand(node.value)}.mT"


@rule(ast.Attribute, change=Change.AXIS, cost=2)
def transpose_of_named_axes(place: ExpressionPlace) -> Iterator[str]:
    """x.transpose(1, 2) for x.T or x.mT"""
    node = _attribute(place)
    if not _of_self(node) and node.attr in ("T", "mT"):
        yield from (f"{place.operand(node.value)}.{step}" for step in AXES[1:])


@rule(ast.Attribute, change=Change.NUMBER, cost=1)
def finite(place: ExpressionPlace) -> Iterator[str]:
    """1e30 for math.inf"""
    node = _attribute(place)
    if not _of_self(node) and node.attr == "inf":
        yield "1e30"


# Operations and comparisons.


def _operation(place: ExpressionPlace) -> ast.BinOp:
    assert isinstance(place.node, ast.BinOp)
    return place.node


@rule(ast.BinOp, change=Change.OPERATOR, cost=1)
def other_operator(place: ExpressionPlace) -> Iterator[str]:
    """a / b for a * b"""
    node = _operation(place)
    for kind, sign in OPERATORS.items():
        if not isinstance(node.op, kind):
            yield f"(({place.of(node.left)}) {sign} ({place.of(node.right)}))"


@rule(ast.BinOp, change=Change.ORDER, cost=1)
def swap_operands(place: ExpressionPlace) -> Iterator[str]:
    """b - a for a - b"""
    node = _operation(place)
    sign = OPERATORS.get(type(node.op), "")
    if sign and not isinstance(node.op, ast.Add | ast.Mult):
        yield f"(({place.of(node.right)}) {sign} ({place.of(node.left)}))"


@rule(ast.BinOp, change=Change.ORDER, cost=1)
def other_brackets(place: ExpressionPlace) -> Iterator[str]:
    """a + b / c for (a + b) / c, and the reverse"""
    of, sign = place.of, OPERATORS.get(type(_operation(place).op), "")
    match place.node:
        case ast.BinOp(left=ast.BinOp(left=first, op=op, right=second), right=third) if sign and type(op) in OPERATORS:
            yield f"(({of(first)}) {OPERATORS[type(op)]} (({of(second)}) {sign} ({of(third)})))"
    match place.node:  # d ** 1 / 2, which divides by 2, at the end of a product
        case ast.BinOp(
            left=ast.BinOp(left=first, op=op, right=ast.BinOp(left=base, op=ast.Pow(), right=second)),
            op=ast.Div(),
            right=third,
        ) if type(op) in OPERATORS:
            power = f"(({of(base)}) ** (({of(second)}) / ({of(third)})))"
            yield f"(({of(first)}) {OPERATORS[type(op)]} {power})"
    match place.node:
        case ast.BinOp(left=first, right=ast.BinOp(left=second, op=op, right=third)) if sign and type(op) in OPERATORS:
            yield f"((({of(first)}) {sign} ({of(second)})) {OPERATORS[type(op)]} ({of(third)}))"


@rule(ast.BinOp, change=Change.SURPLUS, cost=2)
def drop_operand(place: ExpressionPlace) -> Iterator[str]:
    """a for a + b"""
    node = _operation(place)
    yield f"({place.of(node.left)})"
    yield f"({place.of(node.right)})"


@rule(ast.BinOp, change=Change.OPERATOR, cost=2)
def joined_for_added(place: ExpressionPlace) -> Iterator[str]:
    """torch.cat([a, b], dim=0) for a + b"""
    is_part = isinstance(place.parent, ast.BinOp) and isinstance(place.parent.op, ast.Add)
    terms = [] if is_part else list(_terms(_operation(place)))
    if len(terms) > 1 and all(isinstance(term, ast.Name | ast.Call | ast.Subscript) for term in terms):
        listed = ", ".join(map(place.of, terms))
        yield from (f"torch.cat([{listed}], dim={axis})" for axis in (0, -1))


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _terms(left)
            yield right
        case _:
            yield node


@rule(ast.UnaryOp, change=Change.OPERATOR, cost=1)
def drop_sign(place: ExpressionPlace) -> Iterator[str]:
    """x for -x. Numbers have rules of their own."""
    match place.node:
        case ast.UnaryOp(operand=operand) if constant(place) is NO_CONSTANT:
            yield f"({place.of(operand)})"


@rule(ast.Compare, change=Change.OPERATOR, cost=1)
def other_comparison(place: ExpressionPlace) -> Iterator[str]:
    """a < b for a <= b"""
    match place.node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for kind, sign in COMPARISONS.items():
                if not isinstance(op, kind):
                    yield f"({place.of(left)} {sign} {place.of(right)})"


@rule(ast.Compare, change=Change.CONDITION, cost=1)
def is_there_for_truth(place: ExpressionPlace) -> Iterator[str]:
    """if mask is not None for if mask == True"""
    match place.node:
        case ast.Compare(left=ast.Name() as left, ops=[_], comparators=[ast.Constant(value=bool())]):
            yield f"({place.of(left)} is not None)"


# Subscripts, lists and conditions.


def _subscript(place: ExpressionPlace) -> ast.Subscript:
    assert isinstance(place.node, ast.Subscript)
    return place.node


@rule(ast.Subscript, change=Change.AXIS, cost=2)
def index_of_another_axis(place: ExpressionPlace) -> Iterator[str]:
    """x[:, i] for x[i], and the reverse"""
    node = _subscript(place)
    value, index = place.operand(node.value), place.of(node.slice)
    if isinstance(node.slice, ast.Tuple):
        yield from (f"{value}[{place.of(item)}]" for item in node.slice.elts if not isinstance(item, ast.Slice))
    else:
        yield f"{value}[:, {index}]"
        yield f"{value}[..., {index}]"


@rule(ast.Subscript, change=Change.ORDER, cost=1)
def swap_indices(place: ExpressionPlace) -> Iterator[str]:
    """x[j, i] for x[i, j]"""
    node = _subscript(place)
    if isinstance(node.slice, ast.Tuple):
        for order in exchanged([place.of(item) for item in node.slice.elts]):
            yield f"{place.operand(node.value)}[{', '.join(order)}]"


@rule(ast.Subscript, change=Change.NUMBER, cost=1)
def slice_otherwise(place: ExpressionPlace) -> Iterator[str]:
    """x[1:] for x[1:n], x[:n + 1] for x[:n]"""
    node = _subscript(place)
    if isinstance(node.slice, ast.Slice):
        lower, upper = (place.of(part) if part else "" for part in (node.slice.lower, node.slice.upper))
        for begins, ends in ((lower, ""), ("", upper), (lower, f"{upper or 0} + 1"), (f"{lower or 0} + 1", upper)):
            yield f"{place.operand(node.value)}[{begins}:{ends}]"


@rule(ast.Subscript, change=Change.SURPLUS, cost=2)
def drop_subscript(place: ExpressionPlace) -> Iterator[str]:
    """x for x[0]"""
    yield f"({place.operand(_subscript(place).value)})"


@rule(ast.Subscript, change=Change.NAME, cost=2)
def item_of_the_loop(place: ExpressionPlace) -> Iterator[str]:
    """value for values[0]"""
    if not isinstance(_subscript(place).slice, ast.Slice | ast.Tuple):
        yield from place.around.loop_variables


def _swapped_items(place: ExpressionPlace) -> Iterator[str]:
    match place.node:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            start, end = place.text.span(place.node)
            brackets = place.text.bytes[start:end].decode()
            opening, closing = ("[", "]") if isinstance(place.node, ast.List) else ("(", ")")
            is_bare = isinstance(place.node, ast.Tuple) and not brackets.startswith("(")
            for order in exchanged([place.of(item) for item in items]):
                listed = ", ".join(order)
                yield listed if is_bare else f"{opening}{listed}{closing}"


def _are_named_alike(place: ExpressionPlace) -> bool:
    match place.parent:
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            return are_named_alike(place.text, targets, place.node)
    return False


@rule(ast.Tuple, ast.List, change=Change.ORDER, cost=1)
def swap_items(place: ExpressionPlace) -> Iterator[str]:
    """(b, a) for (a, b)"""
    if not _are_named_alike(place):
        yield from _swapped_items(place)


@rule(ast.Tuple, ast.List, change=Change.ORDER, cost=3)
def swap_items_with_their_names(place: ExpressionPlace) -> Iterator[str]:
    """self.a, self.b = b, a for self.a, self.b = a, b"""
    if _are_named_alike(place):
        yield from _swapped_items(place)


@rule(ast.IfExp, change=Change.ORDER, cost=1)
def swap_branches(place: ExpressionPlace) -> Iterator[str]:
    """b if test else a, for a if test else b"""
    match place.node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({place.of(orelse)} if {place.of(test)} else {place.of(body)})"


# Any expression.


@rule(ast.expr, change=Change.COPIED, cost=1)
def like_its_neighbor(place: ExpressionPlace) -> Iterator[str]:
    """(K1, V1), (K2, V2) for (K1, V1), (K2, V1)"""
    parent = place.parent
    if isinstance(parent, ast.Tuple | ast.List) and len(parent.elts) <= MOST_ITEMS:
        text = place.of(place.node)
        renamed = [with_numbers_of(text, place.of(item)) for item in parent.elts if item is not place.node]
        yield from (other for other in renamed if other and other != text)


def _is_multiplied(place: ExpressionPlace) -> bool:
    """Whether it is a factor of a matrix product."""
    match place.parent:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("matmul", "mm", "bmm", "mv") and place.field == "args"
    return False


@rule(ast.expr, change=Change.ARRANGEMENT, cost=2)
def transpose_factor(place: ExpressionPlace) -> Iterator[str]:
    """a @ b.transpose(-2, -1) for a @ b"""
    if _is_multiplied(place):
        yield from (f"{place.operand(place.node)}.{step}" for step in AXES)


def _is_mask(place: ExpressionPlace) -> bool:
    text = place.of(place.node)
    if _is_called(place):
        return False
    return "mask" in text if isinstance(place.node, ast.Name | ast.Attribute) else "tril(" in text or "triu(" in text


@rule(ast.Call, ast.Name, ast.Attribute, change=Change.OPPOSITE, cost=2)
def opposite_mask(place: ExpressionPlace) -> Iterator[str]:
    """torch.tril(ones) == 0 for torch.tril(ones)"""
    if _is_mask(place):
        yield f"(({place.of(place.node)}) == 0)"


@rule(ast.Call, ast.Name, ast.Attribute, change=Change.MISSING, cost=2)
def mask_of_truths(place: ExpressionPlace) -> Iterator[str]:
    """torch.triu(ones).bool() for torch.triu(ones)"""
    if _is_mask(place):
        yield f"({place.of(place.node)}).bool()"


@rule(ast.expr, change=Change.NUMBER, cost=3)
def another_size(place: ExpressionPlace) -> Iterator[str]:
    """another size of the arguments"""
    if is_size(place.node, place.parent):
        yield FITTED
