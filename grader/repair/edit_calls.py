"""What the student may have meant in place of a call."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from grader.model.change import Change
from grader.repair.edit_rules import rule
from grader.repair.edit_words import AXES, KEEPS, OPERATORS, WITH_DIM, exchanged
from grader.repair.sites import CallSite

_TURNS = ("transpose", "t", "permute", "view", "reshape")
_OF_SIZES = ("zeros", "ones", "empty", "rand", "randn")
_NOT_TO_DROP = ("range", "Linear", "super")  # without them, nothing is left


@rule(ast.Call, change=Change.ORDER, cost=1)
def swap_arguments(call: CallSite) -> Iterator[str]:
    """f(b, a) for f(a, b)"""
    for order in exchanged(call.arguments):
        yield call.called_with(*order, *call.keywords)


@rule(ast.Call, change=Change.CALL, cost=1)
def index_a_shape(call: CallSite) -> Iterator[str]:
    """x.shape[0] for x.shape(0), x.shape for x.shape()"""
    if call.name == "shape":
        yield f"{call.function}[{call.arguments[0]}]" if call.arguments else call.function


@rule(ast.Call, change=Change.ARRANGEMENT, cost=2)
def transpose_for_view(call: CallSite) -> Iterator[str]:
    """x.transpose(1, 2) for x.view(…), or both: (B, heads, T, d) is not a view of (B, T, heads · d)."""
    if call.name not in ("view", "reshape") or call.receiver is None:
        return
    value = call.operand(call.receiver)
    for step in AXES:
        yield f"{value}.{step}"
    for step, first in (("transpose(1, 2)", 1), ("transpose(2, 3)", 2)):
        if len(call.arguments) > first + 1:
            yield f"{value}.{call.name}({_turned(call.arguments, first)}).{step}"
    yield f"{value}.transpose(1, 2).reshape({', '.join(call.arguments)})"


@rule(ast.Call, change=Change.AXIS, cost=1)
def transpose_other_axes(call: CallSite) -> Iterator[str]:
    """x.transpose(1, 2) for x.transpose(0, 1)"""
    if call.name == "transpose" and call.receiver is not None and len(call.arguments) == 2:
        step_now = f"transpose({', '.join(call.arguments)})"
        yield from (f"{call.operand(call.receiver)}.{step}" for step in AXES if step != step_now)


# No record needs it yet, but users missed it.
@rule(ast.Call, change=Change.ARRANGEMENT, cost=1)
def batch_for_matrix(call: CallSite) -> Iterator[str]:
    """x.mT for x.t() or torch.t(x), which take two axes at most"""
    if call.name == "t" and call.is_of_a_value and call.receiver is not None:
        yield f"{call.operand(call.receiver)}.mT"
    elif call.name == "t" and len(call.node.args) == 1:
        yield f"({call.arguments[0]}).mT"


@rule(ast.Call, change=Change.ARRANGEMENT, cost=2)
def view_for_transpose(call: CallSite) -> Iterator[str]:
    """x.view(a, c, b, d) for x.view(a, b, c, d).transpose(1, 2)"""
    match call.receiver:
        case ast.Call(func=ast.Attribute(attr="view" | "reshape") as view, args=[_, _, _, _] as sizes):
            if call.name == "transpose" and len(call.arguments) == 2:
                texts = [call.of(size) for size in sizes]
                for first in (1, 2):
                    yield f"{call.of(view)}({_turned(texts, first)})"


def _turned(sizes: Sequence[str], first: int) -> str:
    """The sizes with two neighbors swapped."""
    return ", ".join([*sizes[:first], sizes[first + 1], sizes[first], *sizes[first + 2 :]])


@rule(ast.Call, change=Change.SURPLUS, cost=2)
def drop_keyword(call: CallSite) -> Iterator[str]:
    """x.sum() for x.sum(dim=0)"""
    for index in range(len(call.keywords)):
        yield call.called_with(*call.arguments, *call.keywords[:index], *call.keywords[index + 1 :])


@rule(ast.Call, change=Change.SURPLUS, cost=2)
def drop_last_argument(call: CallSite) -> Iterator[str]:
    """f(a) for f(a, b)"""
    if len(call.arguments) > 1:
        yield call.called_with(*call.arguments[:-1], *call.keywords)


@rule(ast.Call, change=Change.AXIS, cost=2)
def add_axis(call: CallSite) -> Iterator[str]:
    """x.sum(dim=-1) for x.sum()"""
    if call.plain_name in WITH_DIM and not call.has_keyword("dim", "axis"):
        variables = [name for name in ("dim", "axis") if name in call.around.names]
        for axis in (*variables, -1, -2, 0, 1):
            yield call.with_one_more(f"dim={axis}")


@rule(ast.Call, change=Change.AXIS, cost=2)
def add_keepdim(call: CallSite) -> Iterator[str]:
    """x.sum(dim=-1, keepdim=True) for x.sum(dim=-1)"""
    if call.plain_name in KEEPS and not call.has_keyword("keepdim", "keepdims"):
        yield call.with_one_more("keepdim=True")


@rule(ast.Call, change=Change.NUMBER, cost=2)
def add_diagonal(call: CallSite) -> Iterator[str]:
    """torch.triu(x, diagonal=1) for torch.triu(x)"""
    if call.plain_name in ("tril", "triu") and not call.has_keyword("diagonal"):
        for by in (1, -1):
            yield call.with_one_more(f"diagonal={by}")


@rule(ast.Call, change=Change.NUMBER, cost=1)
def shift_diagonal(call: CallSite) -> Iterator[str]:
    """torch.triu(x, n + 1) for torch.triu(x, n)"""
    if call.plain_name not in ("tril", "triu"):
        return
    arguments = [*call.node.args[0 if call.is_of_a_value else 1 :], *(keyword.value for keyword in call.node.keywords)]
    if len(arguments) == 1 and not isinstance(arguments[0], (ast.Constant, ast.UnaryOp)):
        matrix = [] if call.is_of_a_value else call.arguments[:1]
        for step in ("+ 1", "- 1"):
            yield call.called_with(*matrix, f"{call.of(arguments[0])} {step}")


def _surplus_or_turned(call: CallSite) -> Change:
    return Change.ARRANGEMENT if call.is_of_a_value and call.name in _TURNS else Change.SURPLUS


@rule(ast.Call, change=_surplus_or_turned, cost=2)
def drop_call(call: CallSite) -> Iterator[str]:
    """x for softmax(x), x for x.contiguous()"""
    if call.receiver is not None and call.is_of_a_value:
        yield f"({call.of(call.receiver)})"
    elif call.node.args and not isinstance(call.node.args[0], ast.Starred) and call.name not in _NOT_TO_DROP:
        yield f"({call.arguments[0]})"


@rule(ast.Call, change=Change.ORDER, cost=1)
def move_bracket(call: CallSite) -> Iterator[str]:
    """f(x) / y or x / f(y) for f(x / y)"""
    match call.node.args:
        case [ast.BinOp(left=left, op=op, right=right)] if type(op) in OPERATORS:
            sign = OPERATORS[type(op)]
            yield f"(({call.of(left)}) {sign} {call.function}({call.of(right)}))"
            if call.name == "sqrt":
                yield f"(({call.of(left)}) {sign} ({call.of(right)}) ** 0.5)"
            yield f"({call.function}({call.of(left)}) {sign} ({call.of(right)}))"


@rule(ast.Call, change=Change.NUMBER, cost=1)
def begin_or_end_otherwise(call: CallSite) -> Iterator[str]:
    """range(n + 1) or range(1, n) for range(n)"""
    if call.function == "range":
        last = call.arguments[-1]
        first = call.arguments[0] if len(call.arguments) > 1 else "0"
        yield f"range({first}, {last} - 1)"
        yield f"range({first}, {last} + 1)"
        yield f"range(1, {last})"
        yield f"range(0, {last})"
        yield f"range(1, {last} + 1)"


@rule(ast.Call, change=Change.CALL, cost=2)
def joined_for_summed(call: CallSite) -> Iterator[str]:
    """torch.cat(heads, dim=-1) for sum(heads)"""
    if call.function == "sum" and len(call.arguments) == 1:
        for axis in (0, -1):
            yield f"torch.cat(list({call.arguments[0]}), dim={axis})"


@rule(ast.Call, change=Change.NUMBERS, cost=3)
def sizes_for_numbers(call: CallSite) -> Iterator[str]:
    """torch.zeros(x.shape) or torch.zeros(n, d) for torch.zeros(6, 3)"""
    sizes = call.node.args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple):
        sizes = sizes[0].elts
    if call.plain_name in _OF_SIZES and len(sizes) > 1 and all(isinstance(size, ast.Constant) for size in sizes):
        for name in call.around.names:
            yield call.called_with(f"{name}.shape", *call.keywords)
        for names in itertools.permutations(call.around.parameters, len(sizes)):
            yield call.called_with(*names, *call.keywords)
