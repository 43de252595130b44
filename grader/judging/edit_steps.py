"""Steps that may be missing: something more is done to a value, or it is a size of another thing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.judging.edit_words import AXES, FITTED, FORMS, STEPS, Other, Spot, Surroundings
from grader.judging.student_text import StudentText
from grader.model.located import Change

TAKE_SIZES = frozenset(
    [
        "view",
        "reshape",
        "range",
        "zeros",
        "ones",
        "eye",
        "Linear",
        "tril",
        "triu",
        "sqrt",
        "rand",
        "randn",
        "empty",
        "full",
    ]
)

_TURNED = (".T", ".mT", "transpose", "permute", ".t()")


def one_more(text: StudentText, spot: Spot, around: Surroundings) -> Iterator[Other]:
    """The expression with one more step, of those that the student's code has, or that change no numbers."""
    node = text.of(spot.node)
    cost = 2 if _is_multiplied(spot) else 3
    for step in AXES:
        yield Other(f"({node}).{step}", Change.ARRANGEMENT, cost)
    for step in FORMS:
        yield Other(f"({node}).{step}", Change.ARRANGEMENT, 3)
    yield Other(f"-({node})", Change.OPERATOR, 2)
    yield Other(f"({node}) * {FITTED}", Change.MISSING, 3 if _are_scores(spot.node, node) else 4)
    if isinstance(spot.node, ast.Compare | ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        yield Other(f"(({node}) == 0)", Change.OPERATOR, 3)
        yield Other(f"(1 - ({node}))", Change.OPERATOR, 3)
        yield Other(f"(({node}).bool())", Change.MISSING, 3)
    for attribute in around.attributes:
        yield Other(f"self.{attribute}({node})", Change.MISSING, 3)
    yield from (Other(f"({node}).{step}", Change.MISSING, 4) for step in STEPS)
    if isinstance(spot.parent, ast.Assign | ast.AugAssign | ast.Return):
        for name in around.names:
            if name != node:
                yield from (Other(f"({node}) {sign} {name}", Change.MISSING, 4) for sign in "+-*/@")
                yield Other(f"{name} @ ({node})", Change.MISSING, 4)
        yield from (Other(f"({node}) + self.{attribute}", Change.MISSING, 4) for attribute in around.attributes)


def _is_multiplied(spot: Spot) -> bool:
    """Whether it is a factor of a product of matrices."""
    match spot.parent:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("matmul", "mm", "bmm", "mv") and spot.field == "args"
    return False


def _are_scores(node: ast.expr, written: str) -> bool:
    """Whether it looks like scores: what is scaled, if something is."""
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return any(sign in written for sign in _TURNED)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in ("einsum", "dot", "sum", "inner") or (
                name in ("matmul", "mm", "bmm") and any(sign in written for sign in _TURNED)
            )
    return False


def is_size(node: ast.expr, spot: Spot) -> bool:
    """Whether it is, or may well be, a whole number that is a size, or something computed of one."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case (
            ast.Call(func=ast.Attribute(attr="size" | "sqrt" | "dim" | "pow"))
            | ast.Call(func=ast.Name(id="len" | "int" | "sqrt"))
        ):
            return True
        case ast.BinOp(op=ast.Pow()):
            return True
        case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
            return _takes_sizes(spot)
    return False


def _takes_sizes(spot: Spot) -> bool:
    match spot.parent:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in TAKE_SIZES
        case ast.BinOp(op=ast.Div() | ast.Mult() | ast.Pow() | ast.FloorDiv()):
            return True
        case ast.Slice():
            return True
    return False
