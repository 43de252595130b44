"""Read facts from a student's code. It is hostile text: only its syntax tree is looked at, and not much of it."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import symtable
import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from grader.facts.loop_facts import facts_of_loops
from grader.facts.names import arguments_in, names_in, names_read, names_stored
from grader.facts.pure_calls import called_name, is_only_computed, layers_in
from grader.facts.student_text import MAGIC, MAX_SOURCE, Function
from grader.model.fact import Fact, FactKind

# Facts about the methods of a class.

_RANDOM = frozenset({"rand", "randn", "rand_like", "randn_like", "randint", "normal", "uniform", "random", "normal_"})
_LAYERS = frozenset({"Linear", "Parameter", "Embedding", "LayerNorm", "RMSNorm", "MultiheadAttention"})  # of nn


def class_in(tree: ast.Module, entry: str) -> ast.ClassDef | None:
    """The class of that name; the last one if there are several."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == entry]
    return classes[-1] if classes else None


def find_lost_variables(owner: ast.ClassDef) -> Iterator[Fact]:
    """Variables of `__init__` alone that other methods read."""
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    init_variables = {name for method in methods if method.name == "__init__" for name in _assigned_by(method)}
    for method in methods:
        if method.name == "__init__":
            continue
        names_from_init = init_variables.intersection(names_read(*method.body))
        for name in sorted(names_from_init - _local_names(method)):
            yield Fact(FactKind.NOT_OF_SELF, name)


def _assigned_by(method: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def find_new_layer(owner: ast.ClassDef, lines: Sequence[str]) -> Iterator[Fact]:
    """The first layer that `forward` makes anew at each call."""
    forward = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    for node in ast.walk(ast.Module([*forward], [])):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _LAYERS:
                yield Fact(FactKind.MADE_ANEW, lines[node.lineno - 1].strip())
                return


def _nodes_of_body(function: Function) -> list[ast.AST]:
    return [node for statement in function.body for node in ast.walk(statement)]


MAX_LINE = 120  # characters of a line that is shown
# The length of a column. Code that reads it is not written for rows.
FIRST_SIZES = ("_.shape[0]", "_.size(0)")
_BY_NAME = ("locals", "globals", "vars", "eval", "exec")
_INTENDED_IN_HELPERS = (FactKind.NO_RETURN, FactKind.EMPTY)  # perhaps


@functools.lru_cache(maxsize=256)
def facts_of(
    source: str, entry: str, methods: tuple[str, ...], variables: frozenset[str], expressions: tuple[str, ...] = ()
) -> tuple[Fact, ...]:
    """The facts about `entry` in a cell: a function, or the `methods` of a class.

    `variables` are those of the notebook's other cells; `expressions` are looked for, wherever they are.
    """
    with as_far_as_it_can_be_read():
        tree = tree_of(source)
        if not set(_BY_NAME).isdisjoint(names_in(tree)):
            return ()  # the text cannot show what is read
        functions = _functions(tree, entry, methods)
        lines, owner = source.splitlines(), class_in(tree, entry)
        cell = _Cell(lines, {node.name for node in ast.walk(tree) if isinstance(node, Function)}, layers_in(tree))
        facts = [Fact(FactKind.BORROWED, name) for name in _variables_in_defaults(functions, variables)]
        table = symtable.symtable(source, "cell", "exec")
        facts += [Fact(FactKind.BORROWED, name) for name in _borrowed_variables(table, entry, variables)]
        for function in functions:
            facts += _facts_of_function(function, cell)
        for helper in _helpers(tree, entry, functions):
            facts += [fact for fact in _facts_of_function(helper, cell) if fact.kind not in _INTENDED_IN_HELPERS]
        if owner:
            facts = _without_lost_variables(facts, owner)
            facts += find_new_layer(owner, [line[:MAX_LINE] for line in lines])
        for function in functions:
            arguments = _arguments(function, methods)
            facts += [Fact(FactKind.ARGUMENTS, function.name, arguments), *_find_unread(function, arguments)]
            facts += _find_random_numbers(function, [line[:MAX_LINE] for line in lines])
        facts += [Fact(FactKind.WRITTEN, text) for text in expressions if _is_written(text, functions)]
        return tuple(dict.fromkeys(facts))
    return ()


class _Cell(NamedTuple):
    """What the facts about a function need to know of its cell."""

    lines: Sequence[str]
    function_names: Collection[str]
    layers: Collection[str]  # attributes of the class


def _without_lost_variables(facts: Sequence[Fact], owner: ast.ClassDef) -> list[Fact]:
    """The facts with those of a class. What lacks its `self` is not called unused as well."""
    never_called = [Fact(FactKind.NEVER_CALLED, name) for name in _never_called(owner)]
    lost_variables = list(find_lost_variables(owner))
    lost_names = {fact.what for fact in lost_variables}
    return [
        fact
        for fact in [*facts, *never_called, *lost_variables]
        if fact.kind != FactKind.UNUSED or fact.what not in lost_names
    ]


@functools.lru_cache(maxsize=256)
def variables_of(source: str) -> frozenset[str]:
    """The variables that a cell assigns at its top level."""
    with as_far_as_it_can_be_read():
        names: set[str] = set()
        for statement in tree_of(source).body:
            is_lambda = isinstance(getattr(statement, "value", None), ast.Lambda)
            if isinstance(statement, ast.Assign | ast.AnnAssign | ast.For | ast.With) and not is_lambda:
                names.update(names_stored(statement))
        return frozenset(names)
    return frozenset()


def bound_by(source: str) -> frozenset[str]:
    """All names to which a cell gives a value at its top level: functions, classes, variables and imports."""
    with as_far_as_it_can_be_read():
        if len(source) <= MAX_SOURCE:
            symbols = symtable.symtable(MAGIC.sub("", source), "cell", "exec").get_symbols()
            return frozenset(symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported())
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
    functions: list[Function] = []
    for node in tree.body:
        if isinstance(node, Function) and node.name == entry:
            functions = [node]
        elif isinstance(node, ast.ClassDef) and node.name == entry:
            functions = [member for member in node.body if isinstance(member, Function) and member.name in methods]
    return functions


def _helpers(tree: ast.Module, entry: str, functions: Sequence[Function]) -> list[Function]:
    """The other functions of a cell, and methods of the class, that are mentioned somewhere in it."""
    owner = class_in(tree, entry)
    statements = [*tree.body, *(owner.body if owner else ())]
    mentioned = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(tree)} - {entry}
    return [
        node for node in statements if isinstance(node, Function) and node not in functions and node.name in mentioned
    ]


def _borrowed_variables(table: symtable.SymbolTable, entry: str, variables: Collection[str]) -> list[str]:
    """Names that the code reads and only the notebook defines."""
    scopes = [scope for scope in table.get_children() if scope.get_name() == entry][-1:]
    names: list[str] = []
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        names += [symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()]
    cell_names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    borrowed = {name for name in names if name in variables and not hasattr(builtins, name)}
    return sorted(borrowed - cell_names)


def _facts_of_function(function: Function, cell: _Cell) -> Iterator[Fact]:
    nodes = _nodes_of_body(function)
    outer_names = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    used_names = outer_names.union(names_read(*function.body))
    uses_sets, local_names = _uses_sets(nodes), _local_names(*function.body, function.args)
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="add"))) if (
                uses_sets or _is_from_elsewhere(owner, local_names)
            ):
                continue
            case ast.Expr(value=value) if is_only_computed(value, cell.layers):
                if called_name(value) not in cell.function_names:
                    yield Fact(FactKind.LOST, _line(node, cell.lines))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in used_names and _computes(value):
                if name != "_" and not _has_effects(value):
                    yield Fact(FactKind.UNUSED, name)
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.Pow | ast.MatMult):
                if _is_infinity(left) or _is_infinity(right):
                    yield Fact(FactKind.INFINITE, _line(node, cell.lines))
            case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                yield Fact(FactKind.ALWAYS_TRUE, _line(node, cell.lines))
    lines = [line.strip()[:MAX_LINE] for line in cell.lines]
    yield from facts_of_loops(function, lines)
    if function.name == "__init__":
        return
    yield from _find_empty_tensors(nodes, lines)
    if not any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Raise) for node in nodes):
        yield Fact(FactKind.NO_RETURN, function.name)


def _find_empty_tensors(nodes: Sequence[ast.AST], lines: Sequence[str]) -> Iterator[Fact]:
    """Tensors from `torch.empty` that are added to, or of which no entry is set."""
    line_numbers: dict[str, int] = {}  # by the text of what holds the tensor
    set_tensors: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[target], value=ast.Call(func=ast.Attribute(attr="empty" | "empty_like" | "new_empty"))
            ):
                line_numbers[ast.unparse(target)] = node.lineno
            case ast.Assign(targets=[ast.Subscript() as entry]):
                set_tensors.add(ast.unparse(_without_indices(entry)))
    for tensor, number in line_numbers.items():
        if tensor not in set_tensors:
            yield Fact(FactKind.EMPTY, lines[number - 1])


def _without_indices(target: ast.expr) -> ast.expr:
    return _without_indices(target.value) if isinstance(target, ast.Subscript) else target


def _is_infinity(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_infinity(operand)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
            return text.strip("+-") in ("inf", "infinity")
        case ast.Attribute(value=ast.Name(id="torch" | "math" | "np" | "numpy"), attr="inf"):
            return True
    return False


def _never_called(owner: ast.ClassDef) -> Iterator[str]:
    """The layers that a class makes and never reads."""
    if any(ast.unparse(base).split(".")[-1] != "Module" for base in owner.bases):
        return  # what it inherits may use them
    nodes = list(ast.walk(owner))
    if not {"getattr", "setattr"}.isdisjoint(names_in(owner)):
        return
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"]
    if any(node.attr in ("children", "modules", "_modules", "named_children", "get_submodule") for node in attributes):
        return
    if _passes_self(nodes):
        return  # to code that may use them
    attributes_read = {node.attr for node in attributes if isinstance(node.ctx, ast.Load)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Call(func=maker)):
                layer = ast.unparse(maker).split(".")[-1]
                if name not in attributes_read and layer in ("Linear", "Dropout", "ModuleList"):
                    yield f"self.{name}"


def _passes_self(nodes: Sequence[ast.AST]) -> bool:
    """Whether some function except `super(…, self)` gets the object."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and "self" in map(ast.unparse, node.args)]
    return any(ast.unparse(call.func) != "super" for call in calls)


def _arguments(function: Function, methods: Collection[str]) -> tuple[str, ...]:
    """The names of positional arguments, without the `self` of a method."""
    names = tuple(argument.arg for argument in (*function.args.posonlyargs, *function.args.args))
    return names[1:] if function.name in methods else names


def _find_unread(function: Function, arguments: Sequence[str]) -> Iterator[Fact]:
    """The arguments that nothing in the function reads, if it reads any: else it is still to do, or a constant."""
    nodes = _nodes_of_body(function)
    if any(isinstance(node, ast.Call) and "super" in ast.unparse(node.func) and node.args for node in nodes):
        return  # what it inherits may read them
    names = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    unread = tuple(name for name in arguments if name not in names and not name.startswith("_"))
    if unread and names & set(arguments):
        yield Fact(FactKind.UNREAD, function.name, unread)


def _find_random_numbers(function: Function, lines: Sequence[str]) -> Iterator[Fact]:
    """The first line that draws random numbers; a class may begin with some."""
    if function.name == "__init__":
        return
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and called_name(node) in _RANDOM:
            yield Fact(FactKind.RANDOM, lines[node.lineno - 1].strip())
            return


def _is_written(expression: str, functions: Sequence[Function]) -> bool:
    """Whether an expression is in one of these functions."""
    pattern = ast.parse(expression, mode="eval").body
    return any(_matches(node, pattern) for function in functions for node in ast.walk(function))


def _matches(node: Any, pattern: Any) -> bool:
    """Whether trees are the same, where `_` matches any expression."""
    if isinstance(pattern, ast.Name) and pattern.id == "_":
        return isinstance(node, ast.expr)
    if isinstance(pattern, ast.AST):
        if type(node) is not type(pattern):
            return False
        return all(_matches(getattr(node, name), child) for name, child in ast.iter_fields(pattern))
    if isinstance(pattern, list):
        if not isinstance(node, list) or len(node) != len(pattern):
            return False
        return all(map(_matches, node, pattern))
    return bool(node == pattern)


def _uses_sets(nodes: Sequence[ast.AST]) -> bool:
    """Whether the code uses sets, whose `add` changes them."""
    return any(isinstance(node, ast.Set | ast.SetComp) or getattr(node, "id", "") == "set" for node in nodes)


def _local_names(*nodes: ast.AST) -> set[str]:
    """The arguments, and names that are given a value."""
    return {*arguments_in(*nodes), *names_stored(*nodes)}


def _is_from_elsewhere(owner: ast.expr, local_names: Collection[str]) -> bool:
    """Whether another method or cell made this: it may be a set, too."""
    return isinstance(owner, ast.Attribute) or (isinstance(owner, ast.Name) and owner.id not in local_names)


def _variables_in_defaults(functions: Sequence[Function], variables: Collection[str]) -> list[str]:
    """Variables of the notebook in the defaults of arguments."""
    names: set[str] = set()
    for function in functions:
        for default in (*function.args.defaults, *function.args.kw_defaults):
            if default:
                names.update(names_in(default))
    return sorted(names.intersection(variables))


def _line(node: ast.stmt | ast.expr, lines: Sequence[str]) -> str:
    return lines[node.lineno - 1].strip()[:MAX_LINE]


def _computes(value: ast.expr) -> bool:
    """Whether a value is more than a size, a name or a constant."""
    return any(
        isinstance(node, ast.BinOp) or (isinstance(node, ast.Call) and not _is_size(node)) for node in ast.walk(value)
    )


def _has_effects(value: ast.expr) -> bool:
    """Whether a call has effects, by its name, such as clip_grad_norm_ and register_buffer."""
    name = called_name(value)
    return name.endswith("_") or name.startswith("register")


def _is_size(call: ast.Call) -> bool:
    return called_name(call) in {"len", "range", "size", "dim", "numel", "int", "float", "print", "list", "device"}
