"""Make small mistakes systematically: every way to change one spot of a function.

They are mistakes of students and of typing: an operator, a name, a number, an axis, an order, a call or a statement is
replaced or missing. Code that only prints, warns or checks is left alone.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

Function = ast.FunctionDef | ast.Lambda
Item = TypeVar("Item")

OPERATORS: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub, ast.Mult],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div, ast.Add, ast.MatMult],
    ast.Div: [ast.Mult, ast.Sub, ast.FloorDiv],
    ast.FloorDiv: [ast.Mult, ast.Div],
    ast.MatMult: [ast.Mult, ast.Add],
    ast.Pow: [ast.Mult, ast.Div],
}
IN_PLACE: dict[type[ast.operator], str] = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
SIBLINGS = {
    "exp": ["sigmoid", "log", "exp2"],
    "exp_": ["sigmoid_", "log_", "exp2_"],
    "softmax": ["sigmoid", "log_softmax", "softmin"],
    "log_softmax": ["softmax"],
    "logsumexp": ["sum", "amax"],
    "sum": ["mean", "max", "prod"],
    "max": ["min", "sum"],
    "amax": ["amin", "sum"],
    "mean": ["sum", "max"],
    "sqrt": ["square", "log"],
    "rsqrt": ["sqrt", "reciprocal"],
    "cat": ["stack"],
    "concatenate": ["stack"],
    "vstack": ["hstack"],
    "hstack": ["vstack"],
    "stack": ["cat"],
    "zeros": ["ones"],
    "zeros_like": ["ones_like"],
    "ones": ["zeros"],
    "dot": ["add"],
    "vdot": ["add"],
    "matmul": ["mul", "add"],
    "mm": ["mul", "add"],
    "mul": ["add", "div"],
    "div": ["mul"],
    "append": ["extend"],
    "enumerate": ["list"],
    "zip": ["list"],
    "list": ["reversed"],
}
MARKER = "statement_to_change"  # in no source
SAYS_NOTHING = ("print", "warnings.warn")


class Place(NamedTuple):
    """The place of a node: a field of its parent, or an item of one."""

    parent: ast.AST
    field: str
    item: int | None

    @property
    def node(self) -> ast.AST:
        field = getattr(self.parent, self.field)
        node: ast.AST = field if self.item is None else field[self.item]
        return node

    def replace(self, node: ast.AST) -> None:
        if self.item is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.item] = node


class Spot(NamedTuple):
    """A node that can be changed, with its statement, the expression around it, and the names known there."""

    node: ast.AST
    place: Place
    statement: Place  # the node's own place, if it is one
    around: str
    line: int
    names: tuple[str, ...]


class Mutant(NamedTuple):
    """A solution with one spot changed: its line, counted from 1, and the old and new text."""

    line: int
    change: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every change of one spot, in a fixed order, without duplicates."""
    tree = ast.parse(source)
    texts = {ast.unparse(tree)}
    writer = functools.cache(functools.partial(_writer, tree))
    for spot in list(_spots(tree)):
        old, write = ast.unparse(spot.node), writer(spot.statement)
        for changed in _changes(spot):
            change = f"{old} → {ast.unparse(changed)}{spot.around}"
            spot.place.replace(changed)
            text = write()
            spot.place.replace(spot.node)
            if text not in texts:
                texts.add(text)
                yield Mutant(spot.line, change, text)


def _writer(tree: ast.Module, place: Place) -> Callable[[], str]:
    """A function that writes the tree after a change to the statement at this place. All else is written only once."""
    whole, statement = ast.unparse(tree), place.node
    place.replace(ast.Expr(ast.Name(MARKER)))
    before, _, after = ast.unparse(tree).partition(MARKER)
    place.replace(statement)
    margin = before.rpartition("\n")[2]

    def write() -> str:
        return before + ast.unparse(place.node).replace("\n", f"\n{margin}") + after

    # Some statements look different on their own, such as `elif`.
    return write if write() == whole else lambda: ast.unparse(tree)


def _spots(tree: ast.Module) -> Iterator[Spot]:
    for place in _inside(tree):
        yield from _spots_at(place, place, ())


def _spots_at(place: Place, statement: Place, names: tuple[str, ...]) -> Iterator[Spot]:
    node = place.node
    if isinstance(node, Function):
        names = tuple(dict.fromkeys([*_bound(node), *names]))
    if isinstance(node, ast.ClassDef):
        names = (*names, *_attributes(node))
    if isinstance(node, ast.stmt):
        statement = place
    if isinstance(node, ast.stmt | ast.expr):
        parent = place.parent
        around = f" in `{ast.unparse(parent)}`" if isinstance(parent, ast.expr | ast.keyword) else ""
        yield Spot(node, place, statement, around, node.lineno, names)
    for child in _inside(node):
        yield from _spots_at(child, statement, names)


def _inside(node: ast.AST) -> Iterator[Place]:
    """The parts of a node, except annotations, decorators, and code that cannot affect the answer."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for index in range(len(value)) if isinstance(value, list) else [None]:
            place = Place(node, name, index)
            if isinstance(place.node, ast.AST) and not _says_nothing(place.node):
                yield place


def _says_nothing(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        is_call = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in SAYS_NOTHING
        return is_call or isinstance(node.value, ast.Constant)  # a docstring
    return isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.Raise)


def _bound(function: Function) -> list[str]:
    """Parameters and assigned names of a function, in order of appearance."""
    arguments = [argument.arg for argument in function.args.args]
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    return [*arguments, *(name.id for name in names if isinstance(name.ctx, ast.Store))]


def _attributes(node: ast.ClassDef) -> list[str]:
    """The attributes that a class sets, such as "self.mask"."""
    attributes = [node for node in ast.walk(node) if isinstance(node, ast.Attribute)]
    stored = [node for node in attributes if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"]
    return list(dict.fromkeys(map(ast.unparse, stored)))


def _changes(spot: Spot) -> Iterator[ast.AST]:
    """All replacements for a node."""
    if isinstance(spot.node, ast.stmt):
        yield from _other_statements(spot.node)
    elif isinstance(getattr(spot.node, "ctx", ast.Load()), ast.Load):
        yield from _other_expressions(spot.node, spot.names)


def _other_statements(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return
        case ast.AugAssign(target=target, op=op, value=value):
            yield ast.Assign([target], value, lineno=0)
            yield from (ast.AugAssign(target, other(), value) for other in OPERATORS.get(type(op), []))
    yield ast.Pass()


def _other_expressions(node: ast.AST, names: tuple[str, ...]) -> Iterator[ast.AST]:
    match node:
        case ast.Constant():
            yield from _other_constants(node.value)
        case ast.Name(id=name):
            other_names = [other for other in names if other not in (name, "self") and "." not in other]
            yield from map(ast.Name, other_names if name in names and name != "self" else [])
            yield from map(ast.Name, SIBLINGS.get(name, []))
        case ast.BinOp():
            yield from _other_operations(node)
            yield ast.UnaryOp(ast.USub(), node)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from (ast.Compare(left, [new_name()], [right]) for new_name in COMPARISONS.get(type(op), []))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Attribute(value=ast.Name("self"), attr=name):
            yield from (
                ast.Attribute(node.value, new_name[5:])
                for new_name in names
                if new_name.startswith("self.") and new_name != f"self.{name}"
            )
        case ast.Attribute(value=value, attr=name):
            yield from (ast.Attribute(value, new_name) for new_name in SIBLINGS.get(name, []))
            if name in ("T", "mT"):
                yield value
        case ast.Call():
            yield from _other_calls(node)
            yield ast.UnaryOp(ast.USub(), node)
        case ast.Slice(lower=lower, upper=upper):
            yield from (ast.Slice(a, b) for a, b in ((None, upper), (lower, None)) if (a, b) != (lower, upper))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for order in _exchanged(items):
                yield type(node)(order)


def _other_constants(value: object) -> Iterator[ast.AST]:
    """Numbers nearby, which also turns dim=0 into dim=1 and dim=-1 into dim=-2; the other bool; einsum's letters."""
    match value:
        case bool():
            yield ast.Constant(not value)
        case int() | float():
            yield from map(ast.Constant, [value + 1, value - 1, type(value)(0), value * 2])
        case str() if "->" in value:
            subscripts = value.replace("->", ",").split(",")
            for i, subscript in enumerate(subscripts):
                for order in _exchanged(list(subscript)):
                    exchanged = [*subscripts[:i], "".join(order), *subscripts[i + 1 :]]
                    *inputs, output = exchanged
                    yield ast.Constant(f"{','.join(inputs)}->{output}")


def _other_operations(node: ast.BinOp) -> Iterator[ast.AST]:
    for operator in OPERATORS.get(type(node.op), []):
        yield ast.BinOp(node.left, operator(), node.right)
    if type(node.op) in IN_PLACE:
        yield ast.Call(ast.Attribute(node.left, IN_PLACE[type(node.op)]), [node.right], [])
    if isinstance(node.op, ast.MatMult | ast.Sub | ast.Div | ast.Pow):
        yield ast.BinOp(node.right, node.op, node.left)
    yield node.left
    yield node.right


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """Arguments in another order, a named argument left out, one step less, or no call at all."""
    for order in _exchanged(node.args):
        yield ast.Call(node.func, order, node.keywords)
    for keyword in node.keywords:
        yield ast.Call(node.func, node.args, [other for other in node.keywords if other is not keyword])
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        last = ast.BinOp(node.args[-1], ast.Sub(), ast.Constant(1))
        yield ast.Call(node.func, [*node.args[:-1], last], [])
        yield ast.Call(node.func, [ast.Constant(1), node.args[-1]], [])
    if isinstance(node.func, ast.Attribute) and not node.args:
        yield node.func.value
    yield from node.args[:1]


def _exchanged(items: list[Item]) -> Iterator[list[Item]]:
    """The list with two items exchanged, for every pair."""
    for i, j in itertools.combinations(range(len(items)), 2):
        order = list(items)
        order[i], order[j] = order[j], order[i]
        yield order
