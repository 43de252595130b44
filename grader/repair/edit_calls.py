"""What may have been meant in place of a call, or of an item of something."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from grader.facts.student_text import StudentText
from grader.model.located import Change
from grader.repair.edit_words import AXES, KEEPS, OPERATORS, WITH_DIM, Other, exchanged


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
    """A view and a transpose of its axes for one another, or both: (B, heads, T, d) is no view of (B, T, heads · d)."""
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
    """With two neighbours exchanged."""
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
    """Whether it is `torch`, `F`, `nn.functional` and the like."""
    return ast.unparse(node) in ("torch", "F", "nn", "nn.functional", "torch.nn", "torch.nn.functional", "math", "np")
