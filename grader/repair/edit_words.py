"""What an edit is made of: the names in scope, and words that students take for each other."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from grader.facts.student_text import StudentText

Item = TypeVar("Item")

_NUMBER = re.compile(r"(?<=[A-Za-z_])\d+|(?<=[A-Za-z]_)[a-z](?![A-Za-z0-9])")  # a name's number, or its letter: W_q

FITTED = "size_of_the_case"  # a placeholder for a number that fits the case

KEEPS = frozenset(["sum", "mean", "max", "min", "amax", "amin", "logsumexp", "prod", "norm"])
WITH_DIM = KEEPS.union(
    ["softmax", "log_softmax", "Softmax", "argmax", "cumsum", "stack", "cat", "unsqueeze", "squeeze"],
    ["transpose", "flatten", "unbind", "size", "split", "chunk", "std", "var"],
)
SIBLINGS = [
    {"sum", "mean", "max", "min", "amax", "amin", "prod"},
    {"tril", "triu"},
    {"ones", "zeros"},
    {"ones_like", "zeros_like"},
    {"cat", "stack"},
    {"vstack", "hstack"},
    {"exp", "log", "sqrt", "rsqrt", "square", "exp2", "sigmoid"},
    {"logsumexp", "sum"},
    {"sin", "cos", "tan"},
    {"relu", "gelu", "silu", "tanh", "sigmoid"},
    {"maximum", "minimum"},
    {"softmax", "log_softmax", "softmin", "sigmoid"},
    {"mul", "matmul", "add", "sub", "div", "dot", "mm", "bmm"},
    {"view", "reshape", "permute", "transpose"},
    {"append", "extend"},
    {"split", "chunk"},
    {"rand", "randn"},
    {"repeat", "repeat_interleave"},
]
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
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.MatMult: "@", ast.Pow: "**",
}  # fmt: skip
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
AXES = ("transpose(-2, -1)", "transpose(0, 1)", "transpose(1, 2)", "transpose(2, 3)", "transpose(1, 3)")
NUMBERS_NEARBY = (-3, -2, -1, 0, 1, 2, 3, 4)


def is_size(node: ast.expr, parent: ast.AST) -> bool:
    """Whether it is, or may well be, a size or a number computed from one."""
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
            return _takes_sizes(parent)
    return False


def _takes_sizes(parent: ast.AST) -> bool:
    match parent:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in TAKE_SIZES
        case ast.BinOp(op=ast.Div() | ast.Mult() | ast.Pow() | ast.FloorDiv()):
            return True
        case ast.Slice():
            return True
    return False


def renumbered(text: str, before: str, after: str) -> str | None:
    """A text with its names renumbered as `before` is in `after` (`K1`, `K2`); None if they do not match."""
    if _NUMBER.sub("#", before) != _NUMBER.sub("#", after):
        return None
    pairs = set(zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=True))
    if len(pairs) != 1 or before == after:
        return None
    ((old, new),) = pairs
    return _NUMBER.sub(lambda number: new if number[0] == old else number[0], text)


def with_numbers_of(text: str, model: str) -> str | None:
    """The model's text with the number of the text's names; None unless each has one number of its own."""
    text_numbers, model_numbers = set(_NUMBER.findall(text)), set(_NUMBER.findall(model))
    only_in_text, only_in_model = text_numbers - model_numbers, model_numbers - text_numbers
    if len(only_in_text) != 1 or len(only_in_model) != 1:
        return None
    return renumbered(model, f"x_{only_in_model.pop()}", f"x_{only_in_text.pop()}")


def named_after(text: str, before: str, after: str) -> str | None:
    """The text that makes one value, renamed to make another: `q = self.W_q(x)` gives `k = self.W_k(x)`."""
    old, new = before.removesuffix("s"), after.removesuffix("s")
    if not (old.isidentifier() and new.isidentifier()) or old not in text:
        return None
    renamed = re.sub(rf"(?<![^\W_]){old}(?![^\W_])", new, text)
    return renamed if renamed != text else None


def are_named_alike(text: StudentText, targets: Sequence[ast.expr], value: ast.expr) -> bool:
    """Whether targets are named like their values, as in `self.a, self.b = a, b`."""
    names = {text.of(target).removeprefix("self.") for target in targets}
    return isinstance(value, ast.Tuple | ast.List) and len(names & set(map(text.of, value.elts))) > 1


def exchanged(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The list with two items swapped, for every pair."""
    for i, j in itertools.combinations(range(min(len(items), 8)), 2):
        order = list(items)
        order[i], order[j] = order[j], order[i]
        yield order
