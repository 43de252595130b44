"""What the student may have meant in place of a name, an operation or another expression that is no call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.model.change import Change
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
from grader.repair.sites import ExpressionSite

MOST_ITEMS = 8  # of a list whose items are compared with each other

# Names and attributes.


def _is_called(site: ExpressionSite) -> bool:
    return isinstance(site.parent, ast.Call) and site.field == "func"


def _is_asked_for(site: ExpressionSite) -> bool:
    """Whether the code only asks if the name has a value, as in `mask is not None`."""
    return isinstance(site.parent, ast.Compare) and isinstance(site.parent.ops[0], ast.Is | ast.IsNot)


def _siblings(name: str) -> list[str]:
    plain = name.rstrip("_")
    tail = name[len(plain) :]
    siblings: list[str] = []
    for family in SIBLINGS:
        if plain in family:
            siblings += [f"{sibling}{tail}" for sibling in sorted(family - {plain})]
    return siblings


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.Name, change=Change.CALL, cost=1)
def sibling_function(site: ExpressionSite) -> Iterator[str]:
    """max(x) for sum(x)"""
    if _is_called(site):
        yield from _siblings(site.of(site.node))


# No record needs it yet, but users missed it.
@rule(ast.Name, change=Change.CALL, cost=1)
def function_of_the_notebook(site: ExpressionSite) -> Iterator[str]:
    """softmax_cols(x) for softmax(x)"""
    name, functions = site.of(site.node), site.around.notebook
    if _is_called(site) and name in functions:
        yield from (other for other in functions if other != name)


@rule(ast.Name, change=Change.NAME, cost=1)
def other_name(site: ExpressionSite) -> Iterator[str]:
    """keys for values"""
    name = site.of(site.node)
    if not _is_called(site) and not _is_asked_for(site) and name != "self":
        yield from (other for other in site.around.names if other != name)


# No record needs it yet, but users missed it.
@rule(ast.Name, change=Change.MISSING, cost=2)
def item_for_name(site: ExpressionSite) -> Iterator[str]:
    """x[i] for x"""
    name, indices = site.of(site.node), site.around.loop_variables
    is_whole = isinstance(site.parent, ast.Subscript | ast.For | ast.comprehension | ast.Attribute)
    if not _is_called(site) and not is_whole and name not in indices:
        for index in indices:
            yield f"{name}[{index}]"


@rule(ast.Name, change=Change.NAME, cost=2)
def attribute_for_name(site: ExpressionSite) -> Iterator[str]:
    """self.mask for mask"""
    if not _is_called(site) and not _is_asked_for(site) and site.of(site.node) != "self":
        for attribute in site.around.attributes:
            yield f"self.{attribute}"


@rule(ast.Name, change=Change.NAME, cost=2)
def other_parameter_asked_for(site: ExpressionSite) -> Iterator[str]:
    """if mask is not None for if keys is not None"""
    if _is_asked_for(site):
        yield from (other for other in site.around.parameters if other != site.of(site.node))


@rule(ast.Name, change=Change.CONDITION, cost=1)
def is_there(site: ExpressionSite) -> Iterator[str]:
    """if mask is not None for if mask"""
    if site.field in ("test", "values") and isinstance(site.parent, ast.If | ast.IfExp | ast.BoolOp):
        yield f"({site.of(site.node)} is not None)"


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _attribute(site: ExpressionSite) -> ast.Attribute:
    assert isinstance(site.node, ast.Attribute)
    return site.node


@rule(ast.Attribute, change=Change.NAME, cost=1)
def other_attribute(site: ExpressionSite) -> Iterator[str]:
    """self.W_key for self.W_value"""
    node = _attribute(site)
    if _of_self(node):
        yield from (f"self.{other}" for other in site.around.attributes if other != node.attr)


@rule(ast.Attribute, change=Change.CALL, cost=1)
def sibling_method(site: ExpressionSite) -> Iterator[str]:
    """x.max() for x.sum(), x.exp() for x.exp_(), torch.sqrt(x) for math.sqrt(x)"""
    node = _attribute(site)
    if _of_self(node):
        return
    value = site.operand(node.value)
    for sibling in _siblings(node.attr):
        yield f"{value}.{sibling}"
    if node.attr.endswith("_") and not node.attr.startswith("_"):
        yield f"{value}.{node.attr[:-1]}"
    if value in ("math", "np"):
        yield f"torch.{node.attr}"
    if node.attr == "indices":
        yield f"{value}.values"


def _surplus_or_turned(site: ExpressionSite) -> Change:
    return Change.ARRANGEMENT if _attribute(site).attr[-1] in "TH" else Change.SURPLUS


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.Attribute, change=Change.CALL, cost=1)
def call_size_of_all(site: ExpressionSite) -> Iterator[str]:
    """B, T, d = x.size() for B, T, d = x.size"""
    match site.parent, site.node:
        case ast.Assign(targets=[ast.Tuple()]), ast.Attribute(attr="size"):
            yield f"{site.of(site.node)}()"


@rule(ast.Attribute, change=_surplus_or_turned, cost=1)
def drop_attribute(site: ExpressionSite) -> Iterator[str]:
    """x for x.T"""
    node = _attribute(site)
    if not _of_self(node) and node.attr in ("T", "mT", "H", "mH", "values", "data"):
        yield f"({site.operand(node.value)})"


@rule(ast.Attribute, change=Change.ARRANGEMENT, cost=1)
def transpose_of_a_batch(site: ExpressionSite) -> Iterator[str]:
    """x.mT for x.T: of a batch, only the last two axes are exchanged."""
    node = _attribute(site)
    if not _of_self(node) and node.attr == "T":
        yield f"{site.operand(node.value)}.mT"


# No record needs it yet, but users missed it.
@rule(ast.Attribute, change=Change.AXIS, cost=2)
def transpose_of_named_axes(site: ExpressionSite) -> Iterator[str]:
    """x.transpose(1, 2) for x.T or x.mT"""
    node = _attribute(site)
    if not _of_self(node) and node.attr in ("T", "mT"):
        for step in AXES[1:]:
            yield f"{site.operand(node.value)}.{step}"


@rule(ast.Attribute, change=Change.NUMBER, cost=1)
def finite(site: ExpressionSite) -> Iterator[str]:
    """1e30 for math.inf"""
    node = _attribute(site)
    if not _of_self(node) and node.attr == "inf":
        yield "1e30"


# Operations and comparisons.


def _operation(site: ExpressionSite) -> ast.BinOp:
    assert isinstance(site.node, ast.BinOp)
    return site.node


@rule(ast.BinOp, change=Change.OPERATOR, cost=1)
def other_operator(site: ExpressionSite) -> Iterator[str]:
    """a / b for a * b"""
    node = _operation(site)
    for kind, sign in OPERATORS.items():
        if not isinstance(node.op, kind):
            yield f"(({site.of(node.left)}) {sign} ({site.of(node.right)}))"


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.BinOp, change=Change.ORDER, cost=1)
def swap_operands(site: ExpressionSite) -> Iterator[str]:
    """b - a for a - b"""
    node = _operation(site)
    sign = OPERATORS.get(type(node.op), "")
    if sign and not isinstance(node.op, ast.Add | ast.Mult):
        yield f"(({site.of(node.right)}) {sign} ({site.of(node.left)}))"


@rule(ast.BinOp, change=Change.ORDER, cost=1)
def other_brackets(site: ExpressionSite) -> Iterator[str]:
    """a + b / c for (a + b) / c, and the reverse"""
    of, sign = site.of, OPERATORS.get(type(_operation(site).op), "")
    match site.node:
        case ast.BinOp(left=ast.BinOp(left=first, op=op, right=second), right=third) if sign and type(op) in OPERATORS:
            yield f"(({of(first)}) {OPERATORS[type(op)]} (({of(second)}) {sign} ({of(third)})))"
    match site.node:  # d ** 1 / 2, which divides by 2, at the end of a product
        case ast.BinOp(
            left=ast.BinOp(left=first, op=op, right=ast.BinOp(left=base, op=ast.Pow(), right=second)),
            op=ast.Div(),
            right=third,
        ) if type(op) in OPERATORS:
            power = f"(({of(base)}) ** (({of(second)}) / ({of(third)})))"
            yield f"(({of(first)}) {OPERATORS[type(op)]} {power})"
    match site.node:
        case ast.BinOp(left=first, right=ast.BinOp(left=second, op=op, right=third)) if sign and type(op) in OPERATORS:
            yield f"((({of(first)}) {sign} ({of(second)})) {OPERATORS[type(op)]} ({of(third)}))"


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.BinOp, change=Change.MISSING, cost=2)
def sum_below_fraction_bar(site: ExpressionSite) -> Iterator[str]:
    """x / x.sum() for x / x"""
    node = _operation(site)
    numerator, denominator = site.of(node.left), site.of(node.right)
    if isinstance(node.op, ast.Div) and numerator == denominator:
        for call in ("sum()", "sum(dim=-1, keepdim=True)"):
            yield f"(({numerator}) / ({denominator}).{call})"


@rule(ast.BinOp, change=Change.SURPLUS, cost=2)
def drop_operand(site: ExpressionSite) -> Iterator[str]:
    """a for a + b"""
    node = _operation(site)
    yield f"({site.of(node.left)})"
    yield f"({site.of(node.right)})"


@rule(ast.BinOp, change=Change.OPERATOR, cost=2)
def joined_for_added(site: ExpressionSite) -> Iterator[str]:
    """torch.cat([a, b], dim=0) for a + b"""
    is_part = isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, ast.Add)
    terms = [] if is_part else list(_terms(_operation(site)))
    if len(terms) > 1 and all(isinstance(term, ast.Name | ast.Call | ast.Subscript) for term in terms):
        tensors = ", ".join(map(site.of, terms))
        for axis in (0, -1):
            yield f"torch.cat([{tensors}], dim={axis})"


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _terms(left)
            yield right
        case _:
            yield node


@rule(ast.UnaryOp, change=Change.OPERATOR, cost=1)
def drop_sign(site: ExpressionSite) -> Iterator[str]:
    """x for -x. Numbers have rules of their own."""
    match site.node:
        case ast.UnaryOp(operand=operand) if constant(site) is NO_CONSTANT:
            yield f"({site.of(operand)})"


@rule(ast.Compare, change=Change.OPERATOR, cost=1)
def other_comparison(site: ExpressionSite) -> Iterator[str]:
    """a < b for a <= b"""
    match site.node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for kind, sign in COMPARISONS.items():
                if not isinstance(op, kind):
                    yield f"({site.of(left)} {sign} {site.of(right)})"


# No record needs it yet, but users missed it.
@rule(ast.Compare, change=Change.CONDITION, cost=1)
def is_there_for_truth(site: ExpressionSite) -> Iterator[str]:
    """if mask is not None for if mask == True"""
    match site.node:
        case ast.Compare(left=ast.Name() as left, ops=[_], comparators=[ast.Constant(value=bool())]):
            yield f"({site.of(left)} is not None)"


# Subscripts, lists and conditions.


def _subscript(site: ExpressionSite) -> ast.Subscript:
    assert isinstance(site.node, ast.Subscript)
    return site.node


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.Subscript, change=Change.ORDER, cost=1)
def swap_indices(site: ExpressionSite) -> Iterator[str]:
    """x[j, i] for x[i, j]"""
    node = _subscript(site)
    if isinstance(node.slice, ast.Tuple):
        for order in exchanged([site.of(item) for item in node.slice.elts]):
            yield f"{site.operand(node.value)}[{', '.join(order)}]"


@rule(ast.Subscript, change=Change.NUMBER, cost=1)
def slice_otherwise(site: ExpressionSite) -> Iterator[str]:
    """x[1:] for x[1:n], x[:n + 1] for x[:n]"""
    node = _subscript(site)
    if isinstance(node.slice, ast.Slice):
        lower = site.of(node.slice.lower) if node.slice.lower else ""
        upper = site.of(node.slice.upper) if node.slice.upper else ""
        for start, end in ((lower, ""), ("", upper), (lower, f"{upper or 0} + 1"), (f"{lower or 0} + 1", upper)):
            yield f"{site.operand(node.value)}[{start}:{end}]"


@rule(ast.Subscript, change=Change.SURPLUS, cost=2)
def drop_subscript(site: ExpressionSite) -> Iterator[str]:
    """x for x[0]"""
    yield f"({site.operand(_subscript(site).value)})"


@rule(ast.Subscript, change=Change.CALL, cost=1)
def call_size(site: ExpressionSite) -> Iterator[str]:
    """x.size(0) for x.size[0]"""
    match site.node:
        case ast.Subscript(value=ast.Attribute(attr="size") as method, slice=axis):
            yield f"{site.of(method)}({site.of(axis)})"


@rule(ast.Subscript, change=Change.NAME, cost=2)
def item_of_the_loop(site: ExpressionSite) -> Iterator[str]:
    """value for values[0]"""
    if not isinstance(_subscript(site).slice, ast.Slice | ast.Tuple):
        yield from site.around.loop_variables


@rule(ast.Tuple, ast.List, change=Change.ORDER, cost=1)
def swap_items(site: ExpressionSite) -> Iterator[str]:
    """(b, a) for (a, b)"""
    match site.node:
        case ast.Tuple(elts=items) | ast.List(elts=items) if not _are_named_alike(site):
            start, end = site.text.span(site.node)
            brackets = site.text.bytes[start:end].decode()
            opening, closing = ("[", "]") if isinstance(site.node, ast.List) else ("(", ")")
            is_bare = isinstance(site.node, ast.Tuple) and not brackets.startswith("(")
            for order in exchanged([site.of(item) for item in items]):
                elements = ", ".join(order)
                yield elements if is_bare else f"{opening}{elements}{closing}"


def _are_named_alike(site: ExpressionSite) -> bool:
    match site.parent:
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            return are_named_alike(site.text, targets, site.node)
    return False


# No record needs it yet: mutants of right solutions do, in `make proof`.
@rule(ast.IfExp, change=Change.ORDER, cost=1)
def swap_branches(site: ExpressionSite) -> Iterator[str]:
    """b if test else a, for a if test else b"""
    match site.node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({site.of(orelse)} if {site.of(test)} else {site.of(body)})"


# Any expression.


@rule(ast.expr, change=Change.COPIED, cost=1)
def like_its_neighbor(site: ExpressionSite) -> Iterator[str]:
    """(K1, V1), (K2, V2) for (K1, V1), (K2, V1)"""
    parent = site.parent
    if isinstance(parent, ast.Tuple | ast.List) and len(parent.elts) <= MOST_ITEMS:
        text = site.of(site.node)
        renamed = [with_numbers_of(text, site.of(item)) for item in parent.elts if item is not site.node]
        yield from (other for other in renamed if other and other != text)


def _is_multiplied(site: ExpressionSite) -> bool:
    """Whether it is a factor of a matrix product."""
    match site.parent:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("matmul", "mm", "bmm", "mv") and site.field == "args"
    return False


@rule(ast.expr, change=Change.ARRANGEMENT, cost=2)
def transpose_factor(site: ExpressionSite) -> Iterator[str]:
    """a @ b.transpose(-2, -1) for a @ b"""
    if _is_multiplied(site):
        for step in AXES:
            yield f"{site.operand(site.node)}.{step}"


def _is_mask(site: ExpressionSite) -> bool:
    if _is_called(site):
        return False
    text = site.of(site.node)
    if isinstance(site.node, ast.Name | ast.Attribute):
        return "mask" in text
    return "tril(" in text or "triu(" in text


@rule(ast.Call, ast.Name, ast.Attribute, change=Change.OPPOSITE, cost=2)
def opposite_mask(site: ExpressionSite) -> Iterator[str]:
    """torch.tril(ones) == 0 for torch.tril(ones)"""
    if _is_mask(site):
        yield f"(({site.of(site.node)}) == 0)"


@rule(ast.Call, ast.Name, ast.Attribute, change=Change.MISSING, cost=2)
def mask_of_truths(site: ExpressionSite) -> Iterator[str]:
    """torch.triu(ones).bool() for torch.triu(ones)"""
    if _is_mask(site):
        yield f"({site.of(site.node)}).bool()"


@rule(ast.Name, ast.Subscript, change=Change.ALIAS, cost=3)
def own_copy(site: ExpressionSite) -> Iterator[str]:
    """total = values[0].clone() for total = values[0], which later lines change"""
    if isinstance(site.parent, ast.Assign):
        yield f"{site.of(site.node)}.clone()"


@rule(ast.expr, change=Change.NUMBER, cost=3)
def another_size(site: ExpressionSite) -> Iterator[str]:
    """another size of the arguments"""
    if is_size(site.node, site.parent):
        yield FITTED
