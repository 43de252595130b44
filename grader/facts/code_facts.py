"""Read facts from a student's code. It is hostile text: only its syntax tree is looked at, and not much of it."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import symtable
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import torch

from grader.facts.loop_facts import of_loops
from grader.facts.student_text import MAGIC, MAX_SOURCE, Function
from grader.model.fact import Fact, FactKind

# Facts about the methods of a class.

_LAYERS = frozenset({"Linear", "Parameter", "Embedding", "LayerNorm", "RMSNorm", "MultiheadAttention"})  # of nn


def class_in(tree: ast.Module, entry: str) -> ast.ClassDef | None:
    """The class of that name; the last one if there are several."""
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == entry]
    return found[-1] if found else None


def not_of_self(owner: ast.ClassDef) -> Iterator[Fact]:
    """Variables of `__init__` alone that other methods read."""
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    of_init = {name for method in methods if method.name == "__init__" for name in _assigned_by(method)}
    for method in methods:
        if method.name != "__init__":
            lost = _read(method) & of_init - _made_in(ast.walk(method))
            yield from (Fact(FactKind.NOT_OF_SELF, name) for name in sorted(lost))


def _assigned_by(method: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def made_anew(owner: ast.ClassDef, lines: Sequence[str]) -> Iterator[Fact]:
    """The first layer that `forward` makes anew at each call."""
    forward = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    for node in ast.walk(ast.Module([*forward], [])):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _LAYERS:
                yield Fact(FactKind.MADE_ANEW, lines[node.lineno - 1].strip())
                return


def _read(method: ast.FunctionDef) -> set[str]:
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


MAX_LINE = 120  # characters of a line that is shown
# The length of a column. Code that reads it is not written for rows.
FIRST_SIZES = ("_.shape[0]", "_.size(0)")
_BY_NAME = ("locals", "globals", "vars", "eval", "exec")


@functools.lru_cache(maxsize=256)
def facts_of(
    source: str, entry: str, methods: tuple[str, ...], variables: frozenset[str], asked: tuple[str, ...] = ()
) -> tuple[Fact, ...]:
    """The facts about `entry` in a cell: a function, or the `methods` of a class.

    `variables` are those of the notebook's other cells; `asked` are expressions to look for.
    """
    with as_far_as_it_can_be_read():
        tree = tree_of(source)
        if any(isinstance(node, ast.Name) and node.id in _BY_NAME for node in ast.walk(tree)):
            return ()  # the text cannot show what is read
        functions = _functions(tree, entry, methods)
        own = {node.name for node in ast.walk(tree) if isinstance(node, Function)}
        borrowed = _in_defaults(functions, variables) + _borrowed(
            symtable.symtable(source, "cell", "exec"), entry, variables
        )
        lines, layers = source.splitlines(), layers_in(tree)
        found = [fact for function in functions for fact in _of_function(function, lines, own, layers)]
        others = _helpers(tree, entry, functions)
        helpers = [fact for helper in others for fact in _of_function(helper, lines, own, layers)]
        meant = (FactKind.NO_RETURN, FactKind.EMPTY)  # perhaps on purpose, in a helper
        found += [fact for fact in helpers if fact.kind not in meant]
        if owner := class_in(tree, entry):
            found += [*(Fact(FactKind.NEVER_CALLED, name) for name in _never_called(owner)), *not_of_self(owner)]
            without_self = {fact.what for fact in found if fact.kind == FactKind.NOT_OF_SELF}
            found = [fact for fact in found if fact.kind != FactKind.UNUSED or fact.what not in without_self]
            found += made_anew(owner, [line[:MAX_LINE] for line in lines])
        found += [Fact(FactKind.ARGUMENTS, function.name, _arguments(function, methods)) for function in functions]
        found += [Fact(FactKind.WRITTEN, expression) for expression in asked if _is_written(expression, functions)]
        return tuple(dict.fromkeys([*(Fact(FactKind.BORROWED, name) for name in borrowed), *found]))
    return ()


@functools.lru_cache(maxsize=256)
def variables_of(source: str) -> frozenset[str]:
    """The variables that a cell assigns at its top level."""
    with as_far_as_it_can_be_read():
        return frozenset(
            name.id
            for node in tree_of(source).body
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.With)
            and not isinstance(getattr(node, "value", None), ast.Lambda)
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        )
    return frozenset()


def bound_by(source: str) -> frozenset[str]:
    """All names to which a cell gives a value at its top level: functions, classes, variables and imports."""
    with as_far_as_it_can_be_read():
        if len(source) <= MAX_SOURCE:
            names = symtable.symtable(MAGIC.sub("", source), "cell", "exec").get_symbols()
            return frozenset(name.get_name() for name in names if name.is_assigned() or name.is_imported())
    return frozenset()


@contextlib.contextmanager
def as_far_as_it_can_be_read() -> Iterator[None]:
    """Leave the block quietly where Python cannot read a text."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in strings, which are the student's affair
        yield


def tree_of(source: str) -> ast.Module:
    """The syntax tree of a cell; ValueError if it is too long."""
    if len(source) > MAX_SOURCE:
        raise ValueError("too long")
    return ast.parse(source)


def _functions(tree: ast.Module, entry: str, methods: Collection[str]) -> list[Function]:
    """The function, or the class's methods; the last definition counts, as in Python."""
    found: list[Function] = []
    for node in tree.body:
        if isinstance(node, Function) and node.name == entry:
            found = [node]
        elif isinstance(node, ast.ClassDef) and node.name == entry:
            found = [part for part in node.body if isinstance(part, Function) and part.name in methods]
    return found


def _helpers(tree: ast.Module, entry: str, functions: Sequence[Function]) -> list[Function]:
    """The other functions of a cell, and methods of the class, that are mentioned somewhere in it."""
    owner = class_in(tree, entry)
    others = [node for node in (*tree.body, *(owner.body if owner else ())) if isinstance(node, Function)]
    read = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(tree)}
    return [node for node in others if node not in functions and node.name != entry and node.name in read]


def _borrowed(table: symtable.SymbolTable, entry: str, variables: Collection[str]) -> list[str]:
    """Names that the code reads and only the notebook defines."""
    scopes = [scope for scope in table.get_children() if scope.get_name() == entry][-1:]
    names: list[str] = []
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        names += [symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()]
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    return sorted({name for name in names if name in variables and name not in own and not hasattr(builtins, name)})


def _of_function(
    function: Function, lines: Sequence[str], own: Collection[str], layers: Collection[str]
) -> Iterator[Fact]:
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    elsewhere = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    read = elsewhere | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    knows_sets, made_here = _knows_sets(nodes), _made_in([*nodes, *ast.walk(function.args)])
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="add"))) if (
                knows_sets or _is_from_elsewhere(owner, made_here)
            ):
                continue
            case ast.Expr(value=value) if is_only_computed(value, layers) and _called(value) not in own:
                yield Fact(FactKind.LOST, _line(node, lines))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in read and _computes(value):
                if name != "_" and not _changes_something(value):
                    yield Fact(FactKind.UNUSED, name)
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.Pow | ast.MatMult):
                if _is_infinity(left) or _is_infinity(right):
                    yield Fact(FactKind.INFINITE, _line(node, lines))
            case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                yield Fact(FactKind.ALWAYS_TRUE, _line(node, lines))
    shown = [line.strip()[:MAX_LINE] for line in lines]
    yield from of_loops(function, shown)
    if function.name != "__init__":
        yield from _with_whatever_was_in_memory(nodes, shown)
    returns = any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Raise) for node in nodes)
    if function.name != "__init__" and not returns:
        yield Fact(FactKind.NO_RETURN, function.name)


def _with_whatever_was_in_memory(nodes: Sequence[ast.AST], shown: Sequence[str]) -> Iterator[Fact]:
    """Tensors from `torch.empty` that are added to, or of which no entry is set."""
    lines: dict[str, int] = {}
    is_set: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[target], value=ast.Call(func=ast.Attribute(attr="empty" | "empty_like" | "new_empty"))
            ):
                lines[ast.unparse(target)] = node.lineno
            case ast.Assign(targets=[ast.Subscript() as entry]):
                is_set.add(ast.unparse(_without_indices(entry)))
    yield from (Fact(FactKind.EMPTY, shown[line - 1]) for name, line in lines.items() if name not in is_set)


def _without_indices(target: ast.expr) -> ast.expr:
    return _without_indices(target.value) if isinstance(target, ast.Subscript) else target


def _is_infinity(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_infinity(operand)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as written)]):
            return written.strip("+-") in ("inf", "infinity")
        case ast.Attribute(value=ast.Name(id="torch" | "math" | "np" | "numpy"), attr="inf"):
            return True
    return False


def _never_called(owner: ast.ClassDef) -> Iterator[str]:
    """The layers that a class makes and never reads."""
    if any(ast.unparse(base).split(".")[-1] != "Module" for base in owner.bases):
        return  # what it inherits may use them
    nodes = list(ast.walk(owner))
    if any(isinstance(node, ast.Name) and node.id in ("getattr", "setattr") for node in nodes):
        return
    own = [node for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"]
    if any(node.attr in ("children", "modules", "_modules", "named_children", "get_submodule") for node in own):
        return
    if _hands_itself_on(nodes):
        return  # to code that may use them
    read = {node.attr for node in own if isinstance(node.ctx, ast.Load)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Call(func=made)):
                if name not in read and ast.unparse(made).split(".")[-1] in ("Linear", "Dropout", "ModuleList"):
                    yield f"self.{name}"


def _hands_itself_on(nodes: Sequence[ast.AST]) -> bool:
    """Whether some function except `super(…, self)` is given the object."""
    given = [node for node in nodes if isinstance(node, ast.Call) and "self" in map(ast.unparse, node.args)]
    return any(ast.unparse(node.func) != "super" for node in given)


def _arguments(function: Function, methods: Collection[str]) -> tuple[str, ...]:
    """The names of positional arguments, without the `self` of a method."""
    given = function.args
    names = tuple(argument.arg for argument in (*given.posonlyargs, *given.args))
    return names[1:] if function.name in methods else names


def _is_written(expression: str, functions: Sequence[Function]) -> bool:
    """Whether an expression is in one of these functions."""
    wanted = ast.parse(expression, mode="eval").body
    return any(_is_like(node, wanted) for function in functions for node in ast.walk(function))


def _is_like(node: Any, wanted: Any) -> bool:
    """Whether trees are the same, where `_` matches any expression."""
    if isinstance(wanted, ast.Name) and wanted.id == "_":
        return isinstance(node, ast.expr)
    if isinstance(wanted, ast.AST):
        alike = type(node) is type(wanted)
        return alike and all(_is_like(getattr(node, part), value) for part, value in ast.iter_fields(wanted))
    if isinstance(wanted, list):
        alike = isinstance(node, list) and len(node) == len(wanted)
        return alike and all(_is_like(*pair) for pair in zip(node, wanted, strict=True))
    return bool(node == wanted)


def _knows_sets(nodes: Sequence[ast.AST]) -> bool:
    """Whether the code uses sets, whose `add` changes them."""
    return any(isinstance(node, ast.Set | ast.SetComp) or getattr(node, "id", "") == "set" for node in nodes)


def _made_in(parts: Iterable[ast.AST]) -> set[str]:
    """The arguments, and names that are given a value."""
    nodes = list(parts)
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _is_from_elsewhere(owner: ast.expr, made_here: Collection[str]) -> bool:
    """Whether another method or cell made this: it may be a set, too."""
    return isinstance(owner, ast.Attribute) or (isinstance(owner, ast.Name) and owner.id not in made_here)


def _in_defaults(functions: Sequence[Function], variables: Collection[str]) -> list[str]:
    """Variables of the notebook in the defaults of arguments."""
    defaults = [node for one in functions for node in (*one.args.defaults, *one.args.kw_defaults) if node]
    names = [node.id for default in defaults for node in ast.walk(default) if isinstance(node, ast.Name)]
    return sorted({name for name in names if name in variables})


def _line(node: ast.stmt | ast.expr, lines: Sequence[str]) -> str:
    return lines[node.lineno - 1].strip()[:MAX_LINE]


def layers_in(tree: ast.AST | None) -> frozenset[str]:
    """The attributes in which a class keeps layers of torch, which change nothing that they are given."""
    if tree is None:
        return frozenset()
    return frozenset(
        target.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_layer(_called(node.value))
        for target in node.targets
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
    )


def _is_layer(name: str) -> bool:
    made = getattr(torch.nn, name, None)
    return isinstance(made, type) and issubclass(made, torch.nn.Module)


def is_only_computed(value: ast.expr, layers: Collection[str]) -> bool:
    """Whether an expression computes something without changing anything. `layers` are the object's attributes."""
    match value:
        case ast.BinOp() | ast.Compare():
            return True
        case ast.Call(keywords=keywords) if any(keyword.arg in ("out", "inplace") for keyword in keywords):
            return False
        case ast.Call(func=ast.Name(id=name)):
            return name in _NEW_TENSORS or name.startswith("softmax")  # imported from torch, or named after its softmax
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name in layers
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _NEW_TENSORS
    return False


def _computes(value: ast.expr) -> bool:
    """Whether a value is more than a size, a name or a constant."""
    return any(
        isinstance(node, ast.BinOp) or (isinstance(node, ast.Call) and not _is_size(node)) for node in ast.walk(value)
    )


def _changes_something(value: ast.expr) -> bool:
    """Whether a call has effects, by its name, such as clip_grad_norm_ and register_buffer."""
    name = _called(value)
    return name.endswith("_") or name.startswith("register")


def _called(value: ast.expr) -> str:
    """The last name of the function or method that is called; empty if none is."""
    function = getattr(value, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _is_size(call: ast.Call) -> bool:
    return _called(call) in {"len", "range", "size", "dim", "numel", "int", "float", "print", "list", "device"}


# Methods and functions that return a new tensor and leave theirs unchanged. No other objects have these names.
_OTHERS = (list, dict, set, str, torch.nn.ModuleList, torch.nn.Module, torch.Generator)
_NEW_TENSORS = frozenset(
    name
    for name in {*dir(torch.Tensor), "cat", "stack", "dropout"}
    if not name.startswith(("_", "is_", "set_", "register", "retain", "require"))
    and not name.endswith("_")
    and name not in ("backward", "map", "apply", "resize", "share_memory", "numpy", "item")
    and (name == "add" or not any(hasattr(kind, name) for kind in _OTHERS))
)
