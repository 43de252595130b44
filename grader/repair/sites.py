"""Sites in a student's code: functions, statements and expressions, each with what is around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from grader.facts.names import arguments_in, names_in, names_read, names_stored
from grader.facts.student_text import Function, Splice, StudentText, blocks, statements
from grader.repair.edit_words import WITH_DIM

_LIBRARIES = ("torch", "F", "nn", "nn.functional", "torch.nn", "torch.nn.functional", "math", "np")
_AXES_BY_NAME = ("dim", "axis", "dim0", "dim1", "keepdim", "keepdims")

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
_NOT_CALLED = ("__init__", "forward")  # by name
_OF_EVERY_MODULE = frozenset(["training", "register_buffer", "register_parameter", "parameters", "modules", "device"])


class Surroundings(NamedTuple):
    """The names in scope in a function."""

    names: tuple[str, ...]  # its parameters and variables
    parameters: tuple[str, ...]
    attributes: tuple[str, ...]  # of its class
    functions: tuple[str, ...]  # defined inside it
    notebook: tuple[str, ...]  # functions of the notebook
    loop_variables: tuple[str, ...]  # of its loops and comprehensions
    unread: frozenset[str]  # names and attributes that nothing reads: a wrong step may have been meant to use them
    function: Function
    owner: ast.ClassDef | None


class Rewrite(NamedTuple):
    """Parts of the text with others in their place, and the lines that change."""

    splices: tuple[Splice, ...]
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Site:
    """A node of the syntax tree in its surroundings."""

    text: StudentText
    node: Any
    around: Surroundings

    def of(self, node: ast.AST) -> str:
        return self.text.of(node)


@dataclass(frozen=True)
class ExpressionSite(Site):
    """An expression and its parent."""

    node: ast.expr
    parent: ast.AST
    field: str

    def operand(self, node: ast.expr) -> str:
        return self.text.operand(node)

    @property
    def is_axis(self) -> bool:
        match self.parent:
            case ast.keyword(arg=name):
                return name in _AXES_BY_NAME
            case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
                return name in WITH_DIM or name == "permute"
        return False


@dataclass(frozen=True)
class CallSite(ExpressionSite):
    """A call, in pieces of text."""

    node: ast.Call

    @cached_property
    def function(self) -> str:
        return self.of(self.node.func)

    @property
    def name(self) -> str:
        return self.node.func.attr if isinstance(self.node.func, ast.Attribute) else self.function

    @property
    def plain_name(self) -> str:
        return self.name.rsplit(".")[-1]

    @cached_property
    def arguments(self) -> list[str]:
        return [self.of(argument) for argument in self.node.args]

    @cached_property
    def keywords(self) -> list[str]:
        return [self.of(keyword) for keyword in self.node.keywords]

    def has_keyword(self, *names: str) -> bool:
        return any(keyword.arg in names for keyword in self.node.keywords)

    @property
    def receiver(self) -> ast.expr | None:
        """The object whose method is called, if it is one."""
        return self.node.func.value if isinstance(self.node.func, ast.Attribute) else None

    @property
    def is_of_a_value(self) -> bool:
        """Whether it is a method of a value, rather than a function of a library."""
        return self.receiver is not None and ast.unparse(self.receiver) not in _LIBRARIES

    def called_with(self, *listed: str) -> str:
        return f"{self.function}({', '.join(listed)})"

    def with_one_more(self, argument: str) -> str:
        return self.called_with(*self.arguments, *self.keywords, argument)


@dataclass(frozen=True)
class BlockSite(Site):
    """Statements, of which one may have another line beside it or in its place."""

    def is_alone(self, statement: ast.stmt) -> bool:
        """Whether nothing else is on its lines."""
        return not self.text.indentation(statement).strip()

    def is_simple(self, statement: ast.stmt) -> bool:
        return isinstance(statement, SIMPLE) and self.is_alone(statement)

    def with_pass(self, statement: ast.stmt) -> Splice:
        """The text without a statement."""
        return Splice(*self.text.span(statement), "pass")

    def before(self, statement: ast.stmt, line: str) -> Splice:
        """A new line before a statement."""
        start = self.text.span(statement)[0]
        return Splice(start, start, f"{line}\n{self.text.indentation(statement)}")

    def after(self, statement: ast.stmt, line: str) -> Splice:
        """A new line after a statement."""
        end = self.text.span(statement)[1]
        tail = self.text.bytes[end:].split(b"\n", 1)[0]
        if not tail.strip() or tail.strip().startswith(b"#"):  # a comment belongs to the statement
            end += len(tail)
        return Splice(end, end, f"\n{self.text.indentation(statement)}{line}")

    def at_the_end(self, block: Sequence[ast.stmt], line: str) -> Rewrite:
        """A new line at the end of a block, or in place of the `pass` that was left in it."""
        stubs = [statement for statement in block if isinstance(statement, ast.Pass)]
        if stubs and len(block) > 1:
            return Rewrite((Splice(*self.text.span(stubs[-1]), line),), (stubs[-1].lineno,))
        return Rewrite((self.after(block[-1], line),))


@dataclass(frozen=True)
class FunctionSite(BlockSite):
    """A function, or a method."""

    node: Function


@dataclass(frozen=True)
class StatementSite(BlockSite):
    """A statement in its block, and the loops around it, the innermost first."""

    node: Any  # of the kinds that its rule is for
    block: Sequence[ast.stmt]
    loops: Sequence[ast.stmt]

    @property
    def index(self) -> int:
        return self.block.index(self.node)

    @property
    def line(self) -> int:
        number: int = self.node.lineno
        return number

    def with_expression(self, node: ast.expr, text: str) -> Rewrite:
        """The statement with another text for one of its expressions."""
        return Rewrite((Splice(*self.text.span(node), text),), (self.line,))


def expressions_in(text: StudentText, function: Function, around: Surroundings) -> Iterator[ExpressionSite]:
    """The expressions of a function, each with its parent."""
    defaults = [default for default in (*function.args.defaults, *function.args.kw_defaults) if default]
    for default in defaults:
        yield from _nested_expressions(text, around, default, function.args, "defaults")
    for statement in statements(function):
        if isinstance(statement, ast.Assert | ast.Import | ast.ImportFrom | ast.Raise):
            continue
        for field, child in _children(statement):
            if isinstance(child, ast.expr):
                yield from _nested_expressions(text, around, child, statement, field)


def _nested_expressions(
    text: StudentText, around: Surroundings, node: ast.expr | ast.keyword, parent: ast.AST, field: str
) -> Iterator[ExpressionSite]:
    if isinstance(node, ast.JoinedStr):  # text for people
        return
    if isinstance(node, ast.Call):
        yield CallSite(text, node, around, parent, field)
    elif isinstance(node, ast.expr):
        yield ExpressionSite(text, node, around, parent, field)
    for name, child in _children(node):
        if isinstance(child, ast.expr | ast.keyword):
            yield from _nested_expressions(text, around, child, node, name)
        elif isinstance(child, ast.comprehension):
            for expression in (child.iter, *child.ifs):
                yield from _nested_expressions(text, around, expression, child, "iter")


def _children(node: ast.AST) -> Iterator[tuple[str, object]]:
    """What a node has in its fields, with their names."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            yield name, child


def statements_in(text: StudentText, function: Function, around: Surroundings) -> Iterator[StatementSite]:
    """The statements of a function, the outermost first."""
    queue: list[tuple[ast.AST, tuple[ast.stmt, ...]]] = [(function, ())]
    while queue:
        owner, loops = queue.pop(0)
        inner = (owner, *loops) if isinstance(owner, ast.For | ast.While) else loops
        for block in blocks(owner):
            for statement in block:
                yield StatementSite(text, statement, around, block, inner)
            queue += [(statement, inner) for statement in block]


def surroundings(function: Function, owner: ast.ClassDef | None, notebook: Sequence[str] = ()) -> Surroundings:
    parameters = [name for name in arguments_in(function.args) if name != "self"]
    names = [*parameters, *names_stored(function)]
    attributes = _attributes(owner) if owner is not None else []
    functions = [node.name for node in ast.walk(function) if isinstance(node, Function) and node is not function]
    targets = [node.target for node in ast.walk(function) if isinstance(node, ast.For | ast.comprehension)]
    return Surroundings(
        names=_unique(names),
        parameters=_unique(parameters),
        attributes=_unique(attributes),
        functions=_unique(functions),
        notebook=tuple(notebook),
        loop_variables=_unique(list(names_in(*targets))),
        unread=_unread(names, attributes, function, owner or function),
        function=function,
        owner=owner,
    )


def _unread(names: Sequence[str], attributes: Sequence[str], function: Function, whole: ast.AST) -> frozenset[str]:
    attributes_read: set[str] = set()
    for node in ast.walk(whole):
        match node:
            case ast.Attribute(attr=attribute, ctx=ast.Load()):
                attributes_read.add(attribute)
    unread_attributes = {f"self.{attribute}" for attribute in set(attributes) - attributes_read}
    return frozenset(set(names).difference(names_read(function)) | unread_attributes)


def _attributes(owner: ast.ClassDef) -> list[str]:
    """What a class stores in `self`, its buffers and parameters, and its methods."""
    stored: list[str] = []
    registered: list[str] = []
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                stored.append(name)
            case ast.Call(func=ast.Attribute(attr=function), args=[ast.Constant(value=str(name)), *_]):
                if function.startswith("register_"):
                    registered.append(name)
    methods = [node.name for node in owner.body if isinstance(node, Function) and node.name not in _NOT_CALLED]
    return [*stored, *registered, *methods]


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def missing_attributes(around: Surroundings) -> list[str]:
    """Attributes that are read but never set. A class with other parents may inherit them."""
    owner = around.owner
    if owner is None or len(owner.bases) != 1:
        return []
    if ast.unparse(owner.bases[0]) not in ("nn.Module", "torch.nn.Module", "Module"):
        return []
    defined_names = [node.name for node in owner.body if hasattr(node, "name")]
    existing = {*around.attributes, *_OF_EVERY_MODULE, *defined_names}
    names_read: list[str] = []
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()):
                names_read.append(name)
    return list(dict.fromkeys(name for name in names_read if name not in existing))
