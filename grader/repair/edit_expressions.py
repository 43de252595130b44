"""What the student may have meant to write in place of an expression."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence

from grader.facts.student_text import StudentText
from grader.model.located import Change
from grader.repair.edit_steps import is_size
from grader.repair.edit_words import (
    AXES,
    COMPARISONS,
    FITTED,
    KEEPS,
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
)

# In place of a call or a subscript.


def of_call(text: StudentText, node: ast.Call, names: Sequence[str]) -> Iterator[Other]:
    function = text.of(node.func)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else function
    arguments = [text.of(argument) for argument in node.args]
    keywords = [text.of(keyword) for keyword in node.keywords]
    given = {keyword.arg for keyword in node.keywords}

    def call(*listed: str) -> str:
        return f"{function}({', '.join(listed)})"

    for order in exchanged(arguments):
        yield Other(call(*order, *keywords), Change.ORDER, 1)
    if name == "shape" and arguments:
        yield Other(f"{function}[{arguments[0]}]", Change.CALL, 1)
    if isinstance(node.func, ast.Attribute):
        yield from _other_views(text, node.func, name, arguments)
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
    match node.args:
        case [ast.BinOp(left=left, op=op, right=right)] if type(op) in OPERATORS:
            sign = OPERATORS[type(op)]
            yield Other(f"(({text.of(left)}) {sign} {function}({text.of(right)}))", Change.ORDER, 1)
            if name == "sqrt":
                yield Other(f"(({text.of(left)}) {sign} ({text.of(right)}) ** 0.5)", Change.ORDER, 1)
            yield Other(f"({function}({text.of(left)}) {sign} ({text.of(right)}))", Change.ORDER, 1)
    if function == "range":
        last = arguments[-1]
        first = arguments[0] if len(arguments) > 1 else "0"
        for begins, ends in (
            (first, f"{last} - 1"),
            (first, f"{last} + 1"),
            ("1", last),
            ("0", last),
            ("1", f"{last} + 1"),
        ):
            yield Other(f"range({begins}, {ends})", Change.NUMBER, 1)
    if name in ("max", "min", "topk", "sort"):
        yield Other(f"{text.of(node)}.values", Change.MISSING, 2)


def _other_views(text: StudentText, function: ast.Attribute, name: str, arguments: Sequence[str]) -> Iterator[Other]:
    """A transpose in place of a view, the reverse, or both: (B, heads, T, d) is not a view of (B, T, heads · d)."""
    value = text.operand(function.value)
    if name in ("view", "reshape"):
        yield from (Other(f"{value}.{step}", Change.ARRANGEMENT, 2) for step in AXES)
        for step, first in (("transpose(1, 2)", 1), ("transpose(2, 3)", 2)):
            if len(arguments) > first + 1:
                yield Other(f"{value}.{name}({_turned(arguments, first)}).{step}", Change.ARRANGEMENT, 2)
        yield Other(f"{value}.transpose(1, 2).reshape({', '.join(arguments)})", Change.ARRANGEMENT, 2)
    if name == "transpose" and len(arguments) == 2:
        steps = [step for step in AXES if step != f"transpose({', '.join(arguments)})"]
        yield from (Other(f"{value}.{step}", Change.AXIS, 1) for step in steps)
        match function.value:
            case ast.Call(func=ast.Attribute(attr="view" | "reshape") as inner, args=[_, _, _, _] as sizes):
                written = [text.of(size) for size in sizes]
                for first in (1, 2):
                    yield Other(f"{text.of(inner)}({_turned(written, first)})", Change.ARRANGEMENT, 2)


def _turned(sizes: Sequence[str], first: int) -> str:
    """The sizes with two neighbors swapped."""
    return ", ".join([*sizes[:first], sizes[first + 1], sizes[first], *sizes[first + 2 :]])


def _more_arguments(
    name: str,
    call: Callable[..., str],
    arguments: Sequence[str],
    keywords: Sequence[str],
    given: set[str | None],
    names: Sequence[str],
) -> Iterator[Other]:
    plain = name.rsplit(".")[-1]
    if plain in WITH_DIM and not given & {"dim", "axis"}:
        axes = (*(name for name in ("dim", "axis") if name in names), -1, -2, 0, 1)
        yield from (Other(call(*arguments, *keywords, f"dim={axis}"), Change.AXIS, 2) for axis in axes)
    if plain in KEEPS and not given & {"keepdim", "keepdims"}:
        yield Other(call(*arguments, *keywords, "keepdim=True"), Change.AXIS, 2)
    if plain == "Linear" and "bias" not in given and len(arguments) < 3:
        values = ["False", "True", *(name for name in names if "bias" in name)]
        yield from (Other(call(*arguments, *keywords, f"bias={value}"), Change.MISSING, 2) for value in values)
    if plain in ("tril", "triu") and "diagonal" not in given:
        yield from (Other(call(*arguments, *keywords, f"diagonal={by}"), Change.NUMBER, 2) for by in (1, -1))


def of_subscript(text: StudentText, node: ast.Subscript) -> Iterator[Other]:
    value, index = text.operand(node.value), text.of(node.slice)
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


def _is_library(node: ast.expr) -> bool:
    """Whether this is a library: `torch`, `F`, `nn.functional` and the like."""
    return ast.unparse(node) in ("torch", "F", "nn", "nn.functional", "torch.nn", "torch.nn.functional", "math", "np")


MOST_ITEMS = 8  # of a list whose items are compared with each other


def others(text: StudentText, spot: Spot, around: Surroundings) -> Iterator[Other]:
    """All that the student may have meant in place of an expression that is read."""
    node = spot.node
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    match node:
        case ast.Constant(value=value):
            if not isinstance(spot.parent, ast.UnaryOp):  # the sign belongs to a negative number
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
    """The subscripts with two letters of a term swapped, or one letter replaced."""
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
    """An item written like its neighbor, with the numbers of its own names: `K2, V1` → `K2, V2`."""
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
    """Whether the code only asks if the name has a value, as in `mask is not None`."""
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
