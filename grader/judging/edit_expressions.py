"""What may have been meant in place of an expression."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from grader.judging.student_text import StudentText
from grader.model.located import Change

Item = TypeVar("Item")

FITTED = "size_of_the_case"  # a name that stands for a number which fits the case

WITH_DIM = frozenset(
    "softmax log_softmax sum mean max min amax amin argmax cumsum logsumexp prod stack cat norm unsqueeze squeeze "
    "transpose flatten unbind size split chunk std var Softmax".split()
)
KEEPS = frozenset("sum mean max min amax amin logsumexp prod norm".split())
SIBLINGS = [
    {"sum", "mean", "max", "min", "amax", "amin", "prod"},
    {"tril", "triu"},
    {"ones", "zeros"},
    {"ones_like", "zeros_like"},
    {"cat", "stack"},
    {"vstack", "hstack"},
    {"exp", "log", "sqrt", "rsqrt", "square", "exp2", "sigmoid"},
    {"softmax", "log_softmax", "softmin", "sigmoid"},
    {"mul", "matmul", "add", "sub", "div", "dot", "mm", "bmm"},
    {"view", "reshape", "permute", "transpose"},
    {"append", "extend"},
    {"split", "chunk"},
    {"rand", "randn"},
    {"repeat", "repeat_interleave"},
]
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.MatMult: "@", ast.Pow: "**",
}  # fmt: skip
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
AXES = ("transpose(-2, -1)", "transpose(0, 1)", "transpose(1, 2)", "transpose(2, 3)", "transpose(1, 3)")
FORMS = ("clone()", "contiguous()", "unsqueeze(-1)", "unsqueeze(0)", "unsqueeze(1)", "squeeze()", "squeeze(-1)", "squeeze(0)")
STEPS = (
    *(f"{name}(dim={dim}, keepdim=True)" for name in ("sum", "amax") for dim in (-1, 0)),
    "sum(dim=-1)", "sum(dim=0)", "sum()", "exp()", "sqrt()", "tril()",
)  # fmt: skip
NUMBERS_NEARBY = (-3, -2, -1, 0, 1, 2, 3, 4)


class Spot(NamedTuple):
    """An expression, and what it stands in."""

    node: ast.expr
    parent: ast.AST
    field: str

    @property
    def is_value(self) -> bool:
        """Whether something may be done to it first: it is given a name, returned, given to a call or multiplied."""
        match self.parent:
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Lambda() | ast.ListComp():
                return True
            case ast.BinOp():
                return True
            case ast.Call():
                return self.field in ("args", "keywords")
            case ast.keyword(arg=name):
                return name not in ("dim", "axis", "keepdim", "keepdims", "device", "dtype", "bias")
            case ast.Attribute():
                return isinstance(self.node, ast.Call | ast.BinOp)
        return False


class Surroundings(NamedTuple):
    """What a function has at hand."""

    names: tuple[str, ...]  # its parameters, and what it assigns
    attributes: tuple[str, ...]  # of its class
    text: StudentText


class Other(NamedTuple):
    """What may have been meant."""

    text: str
    change: Change
    cost: int


def others(text: StudentText, spot: Spot, around: Surroundings) -> Iterator[Other]:
    """All that may have been meant in place of an expression that is read."""
    node = spot.node
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    match node:
        case ast.Constant(value=value):
            if not isinstance(spot.parent, ast.UnaryOp):  # of a number below zero, the sign is a part
                yield from _constants(value, spot)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            yield from _constants(-value, spot)
        case ast.Name(id=name):
            yield from _names(name, spot, around)
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
            yield from _calls(text, node, around.names)
        case ast.Subscript():
            yield from _subscripts(text, node)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            start, end = text.span(node)
            brackets = text.bytes[start:end].decode()
            opening, closing = ("[", "]") if isinstance(node, ast.List) else ("(", ")")
            bare = isinstance(node, ast.Tuple) and not brackets.startswith("(")
            for order in exchanged([text.of(item) for item in items]):
                listed = ", ".join(order)
                yield Other(listed if bare else f"{opening}{listed}{closing}", Change.ORDER, 1)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield Other(f"({text.of(orelse)} if {text.of(test)} else {text.of(body)})", Change.ORDER, 1)
    if _is_size(node, spot):
        yield Other(FITTED, Change.NUMBER, 3)
    if spot.is_value and not isinstance(node, ast.Constant | ast.Starred | ast.Lambda):
        yield from _with_a_step(text, spot, around)


def exchanged(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The list with two of its items exchanged, for every two."""
    for i, j in itertools.combinations(range(min(len(items), 8)), 2):
        order = list(items)
        order[i], order[j] = order[j], order[i]
        yield order


def _constants(value: object, spot: Spot) -> Iterator[Other]:
    is_axis = _is_axis(spot)
    change = Change.AXIS if is_axis else Change.NUMBER
    match value:
        case bool():
            yield Other(str(not value), change, 1)
        case int():
            yield from (Other(f"({other})", change, 1) for other in NUMBERS_NEARBY if other != value)
            if not is_axis:
                yield from (Other(f"({other})", change, 1) for other in (0.5, -0.5, value + 1, value - 1))
                yield Other(FITTED, Change.NUMBER, 2)
        case float():
            yield from (Other(f"({other})", change, 1) for other in (-value, 0.0, 1.0, 0.5, -0.5, 2.0))
            yield Other("float('-inf')", change, 1)
            yield Other(FITTED, Change.NUMBER, 2)
        case None:
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
            *inputs, output = [*terms[:index], other, *terms[index + 1 :]]
            yield f"{','.join(inputs)}->{output}"


def _names(name: str, spot: Spot, around: Surroundings) -> Iterator[Other]:
    is_called = isinstance(spot.parent, ast.Call) and spot.field == "func"
    if is_called:
        yield from (Other(sibling, Change.CALL, 1) for sibling in _siblings(name))
    elif name != "self":
        yield from (Other(other, Change.NAME, 1) for other in around.names if other != name)
        yield from (Other(f"self.{other}", Change.NAME, 2) for other in around.attributes)


def _attributes(text: StudentText, node: ast.Attribute, around: Surroundings) -> Iterator[Other]:
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        yield from (Other(f"self.{other}", Change.NAME, 1) for other in around.attributes if other != node.attr)
        yield from (Other(name, Change.NAME, 2) for name in around.names if name == node.attr)
    else:
        value = text.of(node.value)
        yield from (Other(f"{value}.{sibling}", Change.CALL, 1) for sibling in _siblings(node.attr))
        if node.attr in ("T", "mT", "H", "mH", "values", "data"):
            yield Other(f"({value})", Change.ARRANGEMENT if node.attr[-1] in "TH" else Change.SURPLUS, 1)
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
            yield Other(f"({left}) {sign} ({right})", Change.OPERATOR, 1)
    sign = OPERATORS.get(type(node.op), "")
    if sign and not isinstance(node.op, ast.Add | ast.Mult):
        yield Other(f"(({right}) {sign} ({left}))", Change.ORDER, 1)
    yield Other(f"({left})", Change.SURPLUS, 2)
    yield Other(f"({right})", Change.SURPLUS, 2)


def _calls(text: StudentText, node: ast.Call, names: Sequence[str]) -> Iterator[Other]:
    function = text.of(node.func)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else function
    arguments = [text.of(argument) for argument in node.args]
    keywords = [text.of(keyword) for keyword in node.keywords]
    given = {keyword.arg for keyword in node.keywords}

    def call(*listed: str) -> str:
        return f"{function}({', '.join(listed)})"

    for order in exchanged(arguments):
        yield Other(call(*order, *keywords), Change.ORDER, 1)
    for values in exchanged([text.of(keyword.value) for keyword in node.keywords]):
        named = [f"{keyword.arg}={value}" for keyword, value in zip(node.keywords, values, strict=True) if keyword.arg]
        yield Other(call(*arguments, *named), Change.ORDER, 1)
    for index in range(len(keywords)):
        yield Other(call(*arguments, *keywords[:index], *keywords[index + 1 :]), Change.SURPLUS, 2)
    if len(arguments) > 1:
        yield Other(call(*arguments[:-1], *keywords), Change.SURPLUS, 2)
    yield from _more_arguments(name, call, arguments, keywords, given, names)
    if isinstance(node.func, ast.Attribute) and not _is_library(node.func.value):
        change = Change.ARRANGEMENT if name in ("transpose", "t", "permute", "view", "reshape") else Change.SURPLUS
        yield Other(f"({text.of(node.func.value)})", change, 2)
    elif node.args and not isinstance(node.args[0], ast.Starred) and name not in ("range", "Linear", "super"):
        yield Other(f"({arguments[0]})", Change.SURPLUS, 2)
    if function == "range":
        last = arguments[-1]
        first = arguments[0] if len(arguments) > 1 else "0"
        for begins, ends in ((first, f"{last} - 1"), (first, f"{last} + 1"), ("1", last), ("0", last), ("1", f"{last} + 1")):
            yield Other(f"range({begins}, {ends})", Change.NUMBER, 1)
    if name in ("max", "min", "topk", "sort"):
        yield Other(f"{text.of(node)}.values", Change.MISSING, 2)


def _more_arguments(
    name: str,
    call: Callable[..., str],
    arguments: Sequence[str],
    keywords: Sequence[str],
    given: Collection[str | None],
    names: Sequence[str],
) -> Iterator[Other]:
    plain = name.rsplit(".")[-1]
    if plain in WITH_DIM and not given & {"dim", "axis"}:
        yield from (Other(call(*arguments, *keywords, f"dim={dim}"), Change.AXIS, 2) for dim in (-1, -2, 0, 1))
    if plain in KEEPS and not given & {"keepdim", "keepdims"}:
        yield Other(call(*arguments, *keywords, "keepdim=True"), Change.AXIS, 2)
    if plain == "Linear" and "bias" not in given and len(arguments) < 3:
        values = ["False", "True", *(name for name in names if "bias" in name)]
        yield from (Other(call(*arguments, *keywords, f"bias={value}"), Change.MISSING, 2) for value in values)
    if plain in ("tril", "triu"):
        yield from (Other(call(*arguments, *keywords, f"diagonal={by}"), Change.NUMBER, 2) for by in (1, -1))


def _subscripts(text: StudentText, node: ast.Subscript) -> Iterator[Other]:
    value, index = text.of(node.value), text.of(node.slice)
    if not isinstance(node.slice, ast.Tuple):
        yield Other(f"{value}[:, {index}]", Change.AXIS, 2)
        yield Other(f"{value}[..., {index}]", Change.AXIS, 2)
    if isinstance(node.slice, ast.Tuple):
        for item in node.slice.elts:
            if not isinstance(item, ast.Slice):
                yield Other(f"{value}[{text.of(item)}]", Change.AXIS, 2)
        for order in exchanged([text.of(item) for item in node.slice.elts]):
            yield Other(f"{value}[{', '.join(order)}]", Change.ORDER, 1)
    if isinstance(node.slice, ast.Slice):
        lower, upper = (text.of(part) if part else "" for part in (node.slice.lower, node.slice.upper))
        for begins, ends in ((lower, ""), ("", upper), (lower, f"{upper or 0} + 1"), (f"{lower or 0} + 1", upper)):
            yield Other(f"{value}[{begins}:{ends}]", Change.NUMBER, 1)
    yield Other(f"({value})", Change.SURPLUS, 2)


def _with_a_step(text: StudentText, spot: Spot, around: Surroundings) -> Iterator[Other]:
    """The expression with one more step, of those that the student's code has, or that change no numbers."""
    node = text.of(spot.node)
    for step in AXES:
        yield Other(f"({node}).{step}", Change.ARRANGEMENT, 2)
    for step in FORMS:
        yield Other(f"({node}).{step}", Change.ARRANGEMENT, 3)
    yield Other(f"-({node})", Change.OPERATOR, 2)
    yield Other(f"({node}) * {FITTED}", Change.MISSING, 3)
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


def _is_axis(spot: Spot) -> bool:
    match spot.parent:
        case ast.keyword(arg=name):
            return name in ("dim", "axis", "dim0", "dim1", "keepdim", "keepdims")
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in WITH_DIM or name == "permute"
    return False


def _is_size(node: ast.expr, spot: Spot) -> bool:
    """Whether it is, or may well be, a whole number that is a size, or something computed of one."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Call(func=ast.Attribute(attr="size" | "sqrt" | "dim" | "pow")) | ast.Call(func=ast.Name(id="len" | "int" | "sqrt")):
            return True
        case ast.BinOp(op=ast.Pow()):
            return True
        case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
            return _takes_sizes(spot)
    return False


def _takes_sizes(spot: Spot) -> bool:
    match spot.parent:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in (
                "view", "reshape", "range", "zeros", "ones", "eye", "Linear", "tril", "triu", "sqrt", "rand", "randn", "empty", "full"
            )  # fmt: skip
        case ast.BinOp(op=ast.Div() | ast.Mult() | ast.Pow() | ast.FloorDiv()):
            return True
        case ast.Slice():
            return True
    return False


def _is_library(node: ast.expr) -> bool:
    """Whether it is `torch`, `F`, `nn.functional` and the like."""
    return ast.unparse(node) in ("torch", "F", "nn", "nn.functional", "torch.nn", "torch.nn.functional", "math", "np")
