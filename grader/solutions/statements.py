"""A function as a chain of statements, each compiled by itself.

Versions with other lines share most of their statements: nothing is compiled twice, and statements that a version
shares with one that has run need not run again.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import symtable
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, TypeAlias

from grader.solutions.lines import Block, Change, Lines, Solution, source_of

Names: TypeAlias = dict[str, object]  # of variables of a call, with their values
Changes: TypeAlias = Mapping[str, Change]
_Key: TypeAlias = frozenset[tuple[str, Change]]
_OF_LISTS = ("append", "extend", "insert", "pop", "reverse", "sort", "update", "clear")  # methods that change them
MOST_KEPT = 5_000  # versions, and statements, of a function: enough for all mistakes and their pairs
UNSET = object()  # the value of a variable that no statement has bound


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement of a version, or some of its lines; the same object in all versions that have it."""

    reads: tuple[str, ...]
    binds: tuple[str, ...]
    run: Callable[..., list[object] | tuple[object]]
    is_pure: bool  # a function of what it reads, without effects

    def step(self, names: Names) -> bool:
        """Run the statement. Returns whether it returned a value, which is then in `names` under the empty name."""
        # A name may be unbound if the statement never gets to read it.
        values = self.run(*[names.get(name, UNSET) for name in self.reads])
        if type(values) is tuple:
            names[""] = values[0]
            return True
        for name, value in zip(self.binds, values, strict=True):
            if value is not UNSET:
                names[name] = value
        return False


class Body:
    """The statements of a function, with any changes."""

    def __init__(self, lines: Lines, node: ast.FunctionDef, function: FunctionType, of_class: str = "") -> None:
        self._lines = lines
        self._class = of_class
        self._variables = function.__globals__
        self._signature = inspect.signature(function)
        self._parameters = tuple(self._signature.parameters)
        spans = [Block(statement.lineno - 1, statement.end_lineno or 0) for statement in node.body]
        self._spans = list(_joined(spans, lines.marked.values()))
        self._local_names = {*self._signature.parameters, *_bound_in(node)}
        self._cache: dict[tuple[Block, _Key], Statement | None] = {}
        self._changed_spans: dict[tuple[Block, _Key], tuple[Statement, ...]] = {}
        self._chains: dict[_Key, tuple[Statement, ...]] = {}

    @functools.cached_property
    def _unchanged(self) -> dict[Block, tuple[Statement, ...]]:
        return {span: self._statements(span, {}) for span in self._spans}

    @functools.cached_property
    def _span_of(self) -> dict[str, Block]:
        """The statement that each place of a change belongs to."""
        span_of: dict[str, Block] = {}
        for place in self._lines.places:
            block = self._lines.block(place)
            for span in self._spans:
                if span.holds(block):
                    span_of[place] = span
        return span_of

    def holds(self, place: str) -> bool:
        """Whether a change at this place is in the body of this function."""
        return place in self._span_of

    def names(self, inputs: Sequence[object], keywords: Mapping[str, object] = MappingProxyType({})) -> Names:
        """The variables at the start of a call."""
        if len(inputs) == len(self._parameters):
            return dict(zip(self._parameters, inputs, strict=True))
        arguments = self._signature.bind(*inputs, **keywords)
        arguments.apply_defaults()
        return arguments.arguments

    def chain(self, changes: Changes) -> tuple[Statement, ...]:
        """All statements with these changes. LineError says what does not fit."""
        key = frozenset(changes.items())
        if len(self._chains) > MOST_KEPT:
            self._chains.clear()
        if key not in self._chains:
            changes_by_span: dict[Block, dict[str, Change]] = {}
            for place, change in changes.items():
                changes_by_span.setdefault(self._span_of[place], {})[place] = change
            statements: list[Statement] = []
            for span in self._spans:
                if span in changes_by_span:
                    statements += self._changed(span, changes_by_span[span])
                else:
                    statements += self._unchanged[span]
            self._chains[key] = tuple(statements)
        return self._chains[key]

    def _changed(self, span: Block, changes: Changes) -> tuple[Statement, ...]:
        """The statements of these lines with changes, which thousands of pairs of mistakes share."""
        key = span, frozenset(changes.items())
        if len(self._changed_spans) > MOST_KEPT:
            self._changed_spans.clear()
        if key not in self._changed_spans:
            self._changed_spans[key] = self._statements(span, changes)
        return self._changed_spans[key]

    def _statements(self, span: Block, changes: Changes) -> tuple[Statement, ...]:
        """The statements of these lines, with those added before and after them."""
        mark = next((mark for mark, block in self._lines.marked.items() if block.holds(span)), "")
        before, after = f"before {mark}", f"after {mark}"
        statements = [
            self._statement(Block(span.first, span.first), _only(changes, before)),
            self._statement(span, {place: changes[place] for place in changes if place not in (before, after)}),
            self._statement(Block(span.end, span.end), _only(changes, after)),
        ]
        return tuple(statement for statement in statements if statement)

    def _statement(self, lines: Block, changes: Changes) -> Statement | None:
        key = lines, frozenset(changes.items())
        if len(self._cache) > MOST_KEPT:
            self._cache.clear()
        if key not in self._cache:
            text = textwrap.dedent(self._lines.text(changes, lines))
            self._cache[key] = self._compiled(text) if text.strip() else None
        return self._cache[key]

    def _compiled(self, text: str) -> Statement:
        names_read, names_bound = _names_in(text)
        if "super" in names_read:  # it reads implicitly what `_AsStatement` names
            names_read = names_read - {"__class__"} | {"self"}
        binds = tuple(sorted(names_bound))
        global_names = {*self._variables, *dir(builtins)} - self._local_names
        reads = tuple(sorted(names_bound | (names_read - global_names)))
        as_statement = _AsStatement(self._class)
        body = [as_statement.visit(statement) for statement in ast.parse(text).body]
        body.append(ast.Return(ast.List([ast.Name(name, ast.Load()) for name in binds], ast.Load())))
        arguments = ast.arguments([], [ast.arg(name) for name in reads], None, [], [], None, [])
        module = ast.Module([ast.FunctionDef("step", arguments, body, [])], [])
        code = compile(ast.fix_missing_locations(module), "<a line of a solution>", "exec", dont_inherit=True)
        (step,) = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        is_pure = not any(map(_may_have_effects, ast.walk(module)))
        return Statement(reads, binds, FunctionType(step, self._variables), is_pure)


def _only(changes: Changes, place: str) -> Changes:
    return {place: changes[place]} if place in changes else {}


def _joined(spans: Sequence[Block], marked: Collection[Block]) -> Iterator[Block]:
    """Statements as blocks, joined if they share a mark."""
    end = 0
    for span in spans:
        if span.first >= end:
            end = max([span.end, *(block.end for block in marked if block.first == span.first)])
            yield Block(span.first, end)


def _names_in(text: str) -> tuple[set[str], set[str]]:
    """The names that lines of a function read, and those that they bind."""
    module = symtable.symtable(f"def step():\n{textwrap.indent(text, '    ')}\n", "", "exec")
    (function,) = module.get_children()
    names_bound = {symbol.get_name() for symbol in function.get_symbols() if symbol.is_local()}
    names_read = {symbol.get_name() for symbol in function.get_symbols() if symbol.is_global()}
    for inner in function.get_children():
        names_read |= set(_free_in(inner)) - names_bound
    return names_read, names_bound


def _free_in(table: symtable.SymbolTable) -> Iterator[str]:
    """The outer names that a function or a comprehension within the lines reads."""
    local_names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_local()}
    for symbol in table.get_symbols():
        if symbol.is_global() or symbol.is_free():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from (name for name in _free_in(inner) if name not in local_names)


class _AsStatement(ast.NodeTransformer):
    """Wraps returned values in a tuple, to tell them from the end of the lines, and names the class in super()."""

    def __init__(self, of_class: str) -> None:
        self._class = of_class

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.Return(ast.Tuple([node.value or ast.Constant(None)], ast.Load()))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(name, ast.Load()) for name in (self._class, "self")]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # inner functions return as usual


def _bound_in(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name


def _may_have_effects(node: ast.AST) -> bool:
    """Whether this may change a tensor or a module, judging by its form."""
    match node:
        case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()) | ast.AugAssign():
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return (name.endswith("_") and not name.endswith("__")) or name in _OF_LISTS
    return False


def run(chain: Sequence[Statement], names: Names) -> object:
    """Run the statements of a call, and return what it returns."""
    for statement in chain:
        if statement.step(names):
            return names[""]
    return None


# Solutions that are functions.

MOST_VERSIONS = 500  # to keep, with another head


class WrittenPlainClass:
    """A class from its author that is no module, as a reference: with changes, it is compiled as a whole."""

    def __init__(self, solution: Any) -> None:
        functools.update_wrapper(self, solution, updated=())
        self.lines = Lines(source_of(solution))
        self.variables = vars(sys.modules[solution.__module__])
        self._solution: Solution = solution
        self._compiled_version = functools.lru_cache(MOST_VERSIONS)(self._compiled)

    def __call__(self, *arguments: object, **changes: Change) -> object:
        return self.version(changes)(*arguments)

    def version(self, changes: Changes) -> Solution:
        """The class with these changes."""
        return self._compiled_version(frozenset(changes.items())) if changes else self._solution

    def _compiled(self, changes: _Key) -> Solution:
        solution: Solution = self.lines.version(dict(changes), self.variables)
        return solution


class WrittenFunction:
    """A function from its author, as a reference: called with changes, it answers with other lines."""

    def __init__(self, solution: Any) -> None:
        functools.update_wrapper(self, solution)
        self.lines = Lines(source_of(solution))
        self.variables = solution.__globals__
        (node,) = [node for node in self.lines.tree.body if isinstance(node, ast.FunctionDef)]
        self._solution: Solution = solution
        self._body = Body(self.lines, node, solution)
        self._compiled_version = functools.lru_cache(MOST_VERSIONS)(self._compiled)

    def __call__(self, *inputs: object, **changes: Change) -> object:
        return self.version(changes)(*inputs)

    def version(self, changes: Changes) -> Solution:
        """The function with these changes, which also takes arguments by name."""
        if not changes:
            return self._solution
        if not all(map(self._body.holds, changes)):
            return self._compiled_version(frozenset(changes.items()))
        chain = self._body.chain(changes)
        return lambda *inputs, **keywords: run(chain, self._body.names(inputs, keywords))

    def _compiled(self, changes: _Key) -> Solution:
        """Compile a version as a whole, since its head is changed."""
        solution: Solution = self.lines.version(dict(changes), self.variables)
        return solution
