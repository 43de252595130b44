"""A `while` loop that never ends, as the text of a cell shows: nothing in its body changes what its condition reads.

Students are told, so only certain loops count: whatever is not known well here ends in doubt, and no loop is named.
This file can lie beside notebooks. It needs nothing but Python.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

# Of a cell, a cell, and a function: each loop is looked at with all that comes before it, and cells may be hostile.
MOST_CHARACTERS, MOST_LOOPS, MOST_NAMES = 20_000, 20, 100

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_STEPS = (ast.Add, ast.Sub, ast.Mult)  # a total that grows by these never stops with an error after a first pass
_ATTRIBUTES = {"shape", "ndim", "T", "mT", "dtype", "device"}
_MODULES = {"torch", "math", "np", "numpy", "F"}
_NUMBERS = {"len", "int", "float", "round", "range"}  # of a range, the entries
_BUILTINS = _NUMBERS | {"print", "abs", "str", "bool", "enumerate"}
_NEW_ARRAYS = {"zeros", "ones", "full", "zeros_like", "ones_like"}
# Functions and methods that give the same for the same arguments each time, and change nothing.
_CALLS = """
    dot matmul mm bmm mv outer exp log sqrt abs sin cos tanh sigmoid relu softmax sum mean norm amax tensor stack cat
    transpose t permute reshape view flatten squeeze unsqueeze size item tolist clone detach floor ceil float
"""
_PURE = _NEW_ARRAYS.union(_CALLS.split())
_EXPRESSIONS = (ast.Subscript, ast.Slice, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp)
_OPTIONS = {"dim", "axis", "keepdim", "keepdims", "dtype", "device"}


def endless_loop(source: str) -> int | None:
    """The line of a `while` loop that never ends once its body has run through; None if no loop certainly is so.

    Whether the loop is reached is not said, nor whether its first pass stops with an error.
    """
    if "while" not in source or len(source) > MOST_CHARACTERS:
        return None
    try:
        tree = ast.parse(source)
        if _has_other_meanings(tree):
            return None
        loops = [*_loops(tree)]
        lines = [loop.statement.lineno for loop in loops[:MOST_LOOPS] if loop.is_endless()]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return min(lines, default=None)


def _has_other_meanings(tree: ast.Module) -> bool:
    """Whether a name that is known here may be given another value in the cell."""
    names = {name for node in ast.walk(tree) for name in _names_bound_otherwise(node)}
    variables = {node.id for node in ast.walk(tree) if _is_bound(node)}
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    is_rebound = _BUILTINS & (names | variables | arguments) or _MODULES & (variables | arguments)
    return "*" in names or bool(is_rebound)


class _InDoubt(Exception):
    """Something may end the loop, or is not known well enough."""


@dataclass
class _Loop:
    statement: ast.While
    function: _Function | None  # None in a module or a class
    outermost: ast.stmt  # the loop around all loops that contain it, or itself

    def is_endless(self) -> bool:
        try:
            scope = _Scope(self.function, self.outermost.end_lineno or 0)
            body = _Body(scope, self.statement.body)
            is_steady = _Condition(scope, body).is_steady(self.statement.test)
            body.need_no_end(self.statement.body)
        except _InDoubt:
            return False
        return is_steady


def _loops(node: ast.AST, function: _Function | None = None, outermost: ast.stmt | None = None) -> Iterator[_Loop]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _SCOPES):
            yield from _loops(child, child if isinstance(child, _Function) else None)
        elif isinstance(child, (ast.For, ast.AsyncFor, ast.While)):
            if isinstance(child, ast.While):
                yield _Loop(child, function, outermost or child)
            yield from _loops(child, function, outermost or child)
        else:
            yield from _loops(child, function, outermost)


class _Scope:
    """The local names of a function, and the values that they get in the lines that may run before a loop ends."""

    def __init__(self, function: _Function | None, last_line: int) -> None:
        self.parameters: set[str] = set()
        self.values: dict[str, list[ast.expr | None]] = defaultdict(list)  # None where a value is not plain to see
        self.numbers: set[str] = set()  # names that only ever hold numbers, which nothing can change in place
        self._shared: set[str] = set()  # with other functions, which may change them
        if function is None:
            return
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.parameters = {argument.arg for argument in plain}
        for node in ast.walk(function):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._shared.update(node.names)
            elif isinstance(node, ast.NamedExpr):
                self.values[node.target.id].append(None)
        # The values of the names that are bound in a plain way, by the node that binds each.
        plain_values: dict[int, ast.expr] = {}
        nodes = [node for node in _in_scope(function) if getattr(node, "lineno", 0) <= last_line]
        for node in nodes:
            plain_values |= _plain_values(node)
        for node in nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.values[node.id].append(plain_values.get(id(node)))
            for name in _names_bound_otherwise(node):
                self.values[name].append(None)
        if len(self.values) > MOST_NAMES:
            raise _InDoubt
        self.numbers = self._numbers()

    def is_untouched_parameter(self, name: str) -> bool:
        return name in self.parameters and name not in self.values and name not in self._shared

    def is_local(self, name: str) -> bool:
        return name not in self._shared and (name in self.parameters or name in self.values)

    def _numbers(self) -> set[str]:
        numbers = {name for name in self.values if self.is_local(name) and name not in self.parameters}
        while non_numbers := {name for name in numbers if not all(map(self.gives_number, self.values[name]))}:
            numbers -= non_numbers
        return numbers

    def gives_number(self, value: ast.expr | None) -> bool:
        match value:
            case ast.Constant(value=number):
                return isinstance(number, (int, float))
            case ast.Name(id=name):
                return name in self.numbers
            case ast.UnaryOp(operand=operand):
                return self.gives_number(operand)
            case ast.BinOp(left=left, right=right):
                return self.gives_number(left) and self.gives_number(right)
            case ast.Call(func=ast.Name(id=name)):
                return name in _NUMBERS
            case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
                return True
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
                return True
        return False

    def is_fresh(self, name: str) -> bool:
        """Whether it only ever holds numbers, and lists and arrays that this call of the function has made."""
        if name in self.parameters or name in self._shared or name not in self.values:
            return False
        return all(self._gives_fresh(name, value) for value in self.values[name])

    def _gives_fresh(self, name: str, value: ast.expr | None) -> bool:
        match value:
            case ast.List() | ast.Constant():
                return True
            case ast.BinOp(left=ast.Name(id=left)) if left == name:
                return True  # a total
            case ast.BinOp(left=ast.List(), op=ast.Mult()):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=function)):
                return module in _MODULES and function in _NEW_ARRAYS
        return self.gives_number(value)

    def shared_with(self, names: set[str]) -> set[str]:
        """These names, and those whose values may be theirs, or a part of theirs."""
        shared = set(names)
        while aliases := {name for name in self.values.keys() - shared if self._mentions(name, shared)}:
            shared |= aliases
        return shared

    def _mentions(self, name: str, names: set[str]) -> bool:
        nodes = (node for value in self.values[name] if value for node in ast.walk(value))
        return any(isinstance(node, ast.Name) and node.id in names for node in nodes)


def _in_scope(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    nodes: list[ast.AST] = [*function.body]
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, (*_SCOPES, *_COMPREHENSIONS)):
            nodes.extend(ast.iter_child_nodes(node))


def _plain_values(node: ast.AST) -> dict[int, ast.expr]:
    """The values of the names that a statement binds in a plain way, by the id of the node of each name."""
    number = ast.Constant(0)  # of which only the kind matters
    match node:
        case (
            ast.Assign(targets=[ast.Name() as name], value=value)
            | ast.AnnAssign(target=name, value=ast.expr() as value)
        ):
            return {id(name): value}
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            return {id(name): value for name, value in zip(names, values, strict=True)}
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Attribute(attr="shape")):
            return {id(name): number for name in names}
        case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
            return {id(target): ast.BinOp(ast.Name(name), operator, value)}
        case ast.For(target=ast.Name() as target, iter=ast.Call(func=ast.Name(id="range")) as numbers):
            return {id(target): numbers}
    return {}


def _names_bound_otherwise(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.alias(name=name, asname=other_name):
            return [other_name or name.partition(".")[0]]
    return []


@dataclass
class _Condition:
    scope: _Scope
    body: _Body

    def is_steady(self, test: ast.expr) -> bool:
        """Whether it is certainly the same in each pass, whatever another thread does."""
        match test:
            case ast.Constant(value=constant):
                return bool(constant)
            case ast.Name(id=name):
                return name in self.scope.numbers and name not in self.body.varying
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.is_steady(operand)
            case ast.BoolOp(values=values):
                return all(map(self.is_steady, values))
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
                return self.scope.is_local(name) and name not in self.body.assigned
            case ast.Compare(left=left, ops=operators, comparators=comparators):
                sides = [left, *comparators]
                compares_numbers = any(map(self.scope.gives_number, sides))
                are_orders = all(isinstance(operator, _ORDERS) for operator in operators)
                return compares_numbers and are_orders and all(map(self._is_steady_amount, sides))
        return False

    def _is_steady_amount(self, side: ast.expr) -> bool:
        match side:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                is_plain = name in self.scope.numbers or self.scope.is_untouched_parameter(name)
                return is_plain and name not in self.body.varying
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._is_steady_amount(operand)
            case ast.BinOp(left=left, op=operator, right=right):
                are_steady = self._is_steady_amount(left) and self._is_steady_amount(right)
                return are_steady and isinstance(operator, _OPERATORS)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                # Another thread may fill a list for which a loop only waits. This loop reads what it counts.
                return self._is_steady_object(name) and self.body.is_indexed(name)
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis):
                return self._is_steady_object(name) and _is_constant(axis)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[axis], keywords=[]):
                return self._is_steady_object(name) and _is_constant(axis)
        return False

    def _is_steady_object(self, name: str) -> bool:
        is_plain = self.scope.is_fresh(name) or self.scope.is_untouched_parameter(name)
        return is_plain and name not in self.body.varying


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


class _Body:
    """What changes from one pass through the body of a loop to the next."""

    def __init__(self, scope: _Scope, statements: Sequence[ast.stmt]) -> None:
        self._scope = scope
        self._may_break = False  # out of a loop inside, around the statement that is looked at
        self._nodes = [node for statement in statements for node in ast.walk(statement)]
        self.assigned = {node.id for node in self._nodes if _is_bound(node)}
        changed = {name for node in self._nodes if (name := _changed_in_place(node))}
        if not all(map(scope.is_fresh, changed)):
            raise _InDoubt  # its value may be that of any other name
        self.varying = self.assigned | scope.shared_with(changed)

    def is_indexed(self, name: str) -> bool:
        return any(
            isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name
            for node in self._nodes
        )

    def need_no_end(self, statements: Sequence[ast.stmt]) -> None:
        """Be in doubt unless nothing leaves the body, and no error can come up after a first pass without one."""
        for statement in statements:
            self._run(statement)

    def _run(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Pass() | ast.Continue():
                pass
            case ast.Break() if self._may_break:
                pass
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=values, keywords=[])):
                for value in values:
                    self._is_same(value)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="append"), args=[value], keywords=[])
            ):
                self._is_same(value)
            case ast.Expr(value=value):
                self._is_same(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if not self._is_next_total(name, value):
                    self._note(name, self._is_same(value))
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(), slice=place)], value=value):
                if not (self._is_same(place) and self._is_same(value)):
                    raise _InDoubt
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                if not self._is_same(value) or (name in self.varying and not isinstance(operator, _STEPS)):
                    raise _InDoubt
            case ast.If(test=test, body=body, orelse=orelse):
                self._run_if(test, body, orelse)
            case ast.For(target=target, iter=entries, body=body, orelse=[]):
                self._run_for(target, entries, body)
            case _:
                raise _InDoubt

    def _run_if(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        if not self._is_same(test):
            raise _InDoubt
        before = set(self.varying)
        self.need_no_end(body)
        after_body, self.varying = self.varying, before
        self.need_no_end(orelse)
        self.varying |= after_body

    def _run_for(self, target: ast.expr, entries: ast.expr, body: Sequence[ast.stmt]) -> None:
        names = self._names_of_entries(target, entries)
        nodes = (node for statement in body for node in ast.walk(statement))
        self.varying |= {node.id for node in nodes if _is_bound(node)}  # they may be read before they are assigned
        before = set(self.varying)
        self.varying -= names
        could_break = self._may_break
        self._may_break = _is_range(entries)  # an iterator that is left early has other entries in the next pass
        self.need_no_end(body)
        self._may_break = could_break
        self.varying |= before | names  # there may be no entry

    def _names_of_entries(self, target: ast.expr, entries: ast.expr) -> set[str]:
        """The names for an entry; in doubt unless each pass has the same entries, or none: an iterator is used up."""
        names = [target]
        match target, entries:
            case ast.Tuple(elts=[place, entry]), ast.Call(func=ast.Name(id="enumerate"), args=[_], keywords=[]):
                names = [place, entry]
        if not (all(map(_is_bound, names)) and self._is_same(entries)):
            raise _InDoubt
        return {name.id for name in names if _is_bound(name)}

    def _note(self, name: str, is_same: bool) -> None:
        if is_same:
            self.varying.discard(name)
        else:
            self.varying.add(name)

    def _is_next_total(self, name: str, value: ast.expr) -> bool:
        """Whether the value is that of the name, and something that is the same in each pass added to it."""
        match value:
            case ast.BinOp(left=ast.Name(id=left), op=operator, right=step) if left == name:
                return isinstance(operator, _STEPS) and self._is_same(step)
            case ast.BinOp(left=step, op=operator, right=ast.Name(id=right)) if right == name:
                return isinstance(operator, _STEPS) and self._is_same(step)
        return False

    def _is_same(self, value: ast.expr | None) -> bool:
        """Whether it is the same in each pass. If not, it is at least sure that no error comes up."""
        match value:
            case None | ast.Constant():
                return True
            case ast.Name(id=name):
                return name not in self.varying
            case ast.Tuple(elts=values) | ast.List(elts=values):
                are_same = [*map(self._is_same, values)]
                return all(are_same)
            case ast.ListComp(elt=entry, generators=generators):
                return self._is_same_list(entry, generators)
            case ast.Attribute(value=operand, attr=name) if name in _ATTRIBUTES:
                operands = [operand]
            case ast.Call(func=function, args=arguments, keywords=keywords):
                operands = [*self._objects_of_pure(function), *arguments, *map(_value_of_option, keywords)]
            case _ if isinstance(value, _EXPRESSIONS):
                operands = [child for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr)]
            case _:
                raise _InDoubt
        if not all(map(self._is_same, operands)):
            raise _InDoubt
        return True

    def _is_same_list(self, entry: ast.expr, generators: Sequence[ast.comprehension]) -> bool:
        before = set(self.varying)
        for generator in generators:
            self.varying -= self._names_of_entries(generator.target, generator.iter)
            if generator.is_async or not all(map(self._is_same, generator.ifs)):
                raise _InDoubt
        is_same = self._is_same(entry)
        self.varying = before
        return is_same and all(_is_range(generator.iter) for generator in generators)  # others may have no entry left

    def _objects_of_pure(self, function: ast.expr) -> list[ast.expr]:
        """The object whose method it is, if any; in doubt unless the function always gives the same."""
        match function:
            case ast.Name(id=name) if name in _BUILTINS:
                return []
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in _PURE and module in _MODULES:
                return []
            case ast.Attribute(value=operand, attr=name) if name in _PURE:
                return [operand]
        raise _InDoubt


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _changed_in_place(node: ast.AST) -> str | None:
    """The name whose value a part of a statement may change in place."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
            return name
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name
    return None


def _value_of_option(keyword: ast.keyword) -> ast.expr:
    if keyword.arg not in _OPTIONS:
        raise _InDoubt
    return keyword.value
