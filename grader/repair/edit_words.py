"""What an edit is made of: a spot in the code, the names in scope there, and what may take its place."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from grader.facts.student_text import Function, StudentText
from grader.model.located import Change
from grader.repair.seen_values import FAILS, UNREACHED, Seen, SeenAt

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


class Spot(NamedTuple):
    """An expression and its parent."""

    node: ast.expr
    parent: ast.AST
    field: str

    @property
    def is_read(self) -> bool:
        """Whether its value is computed and read there."""
        is_called = self.field == "func" and isinstance(self.parent, ast.Call)
        is_read = isinstance(getattr(self.node, "ctx", ast.Load()), ast.Load)
        return (
            is_read and not is_called and not isinstance(self.node, ast.Constant | ast.Starred | ast.Lambda | ast.Slice)
        )

    @property
    def is_value(self) -> bool:
        """Whether a step may come before its use: it is assigned, returned, passed to a call or multiplied."""
        match self.parent:
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Lambda() | ast.ListComp():
                return True
            case ast.BinOp() | ast.Tuple() | ast.List():
                return True
            case ast.Call():
                return self.field in ("args", "keywords")
            case ast.keyword(arg=name):
                return name not in ("dim", "axis", "keepdim", "keepdims", "device", "dtype", "bias")
            case ast.Attribute():
                return isinstance(self.node, ast.Call | ast.BinOp)
        return False


class Surroundings(NamedTuple):
    """The names in scope in a function."""

    names: tuple[str, ...]  # its parameters and variables
    parameters: tuple[str, ...]
    attributes: tuple[str, ...]  # of its class
    functions: tuple[str, ...]  # defined inside it
    notebook: tuple[str, ...]  # functions of the notebook
    loop_variables: tuple[str, ...]  # of its loops and comprehensions
    function: Function
    owner: ast.ClassDef | None


class Other(NamedTuple):
    """A text that the student may have meant instead."""

    text: str
    change: Change
    cost: int


def is_size(node: ast.expr, spot: Spot) -> bool:
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


def renumbered(written: str, before: str, after: str) -> str | None:
    """A text with its names renumbered as `before` is in `after` (`K1`, `K2`); None if they do not match."""
    if _NUMBER.sub("#", before) != _NUMBER.sub("#", after):
        return None
    pairs = set(zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=True))
    if len(pairs) != 1 or before == after:
        return None
    ((old, new),) = pairs
    return _NUMBER.sub(lambda number: new if number[0] == old else number[0], written)


def with_numbers_of(written: str, model: str) -> str | None:
    """The model's text with the number of the written names; None unless each has one number of its own."""
    own, others = set(_NUMBER.findall(written)), set(_NUMBER.findall(model))
    both = own & others
    if len(own - both) != 1 or len(others - both) != 1:
        return None
    return renumbered(model, f"x_{(others - both).pop()}", f"x_{(own - both).pop()}")


def named_after(written: str, before: str, after: str) -> str | None:
    """The text that makes one value, renamed to make another: `q = self.W_q(x)` gives `k = self.W_k(x)`."""
    old, new = (name.removesuffix("s") for name in (before, after))
    if not (old.isidentifier() and new.isidentifier()) or old not in written:
        return None
    renamed = re.sub(rf"(?<![^\W_]){old}(?![^\W_])", new, written)
    return renamed if renamed != written else None


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


# What a missing step may use, and which values nothing reads yet.


class AtHand:
    """The names and attributes in scope, with the values that were seen in them."""

    def __init__(self, text: StudentText, around: Surroundings, seen: SeenAt) -> None:
        self.text = text
        self.around = around
        self.seen = seen

    def others(self) -> Iterator[tuple[str, str]]:
        """Everything that a value can be combined with: its name and its text."""
        yield from ((name, name) for name in self.around.names)
        for attribute in self.around.attributes:
            if attribute not in self._called:
                yield f"self.{attribute}", f"self.{attribute}"

    @cached_property
    def kinds(self) -> dict[str, frozenset[Seen]]:
        """The kinds of values seen in each name and attribute."""
        found: dict[str, set[Seen]] = {}
        for node in self._read:
            seen = self.seen.get(self.text.span(node))
            if seen not in (None, UNREACHED, FAILS):
                found.setdefault(self.text.of(node), set()).add(seen)
        return {name: frozenset(kinds) for name, kinds in found.items()}

    @cached_property
    def unread(self) -> frozenset[str]:
        """Parameters and values that nothing reads: the missing or mistaken step may have been meant to use them."""
        read = {node.id for node in _read_in(self.around.function) if isinstance(node, ast.Name)}
        attributes = (f"self.{name}" for name in self.unread_attributes)
        return frozenset([*(name for name in self.around.names if name not in read), *attributes])

    @cached_property
    def unread_attributes(self) -> frozenset[str]:
        read = {node.attr for node in self._read if isinstance(node, ast.Attribute)}
        return frozenset(name for name in self.around.attributes if name not in read)

    @cached_property
    def callable_attributes(self) -> list[str]:
        """Attributes that are called somewhere, or whose values were never seen."""
        known = self.kinds
        return [name for name in self.around.attributes if name in self._called or f"self.{name}" not in known]

    @cached_property
    def _called(self) -> frozenset[str]:
        calls = [node for node in ast.walk(self.around.owner or self.around.function) if isinstance(node, ast.Call)]
        return frozenset(call.func.attr for call in calls if isinstance(call.func, ast.Attribute))

    @cached_property
    def _read(self) -> list[ast.Name | ast.Attribute]:
        return _read_in(self.around.owner or self.around.function)


def _read_in(whole: ast.AST) -> list[ast.Name | ast.Attribute]:
    nodes = [node for node in ast.walk(whole) if isinstance(node, ast.Name | ast.Attribute)]
    return [node for node in nodes if isinstance(node.ctx, ast.Load)]
