"""Write notes into a student's code: how often a line runs, what a name is after it, and what expressions are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import InspectLoader
from typing import NamedTuple, TypeVar

from grader.explaining import harness
from grader.facts.student_text import Function, StudentText, definitions_in, statements

ANSWER = "_answer"  # the name of the function that is asked

_LOADER = harness.__spec__.loader if harness.__spec__ else None
_HARNESS = _LOADER.get_source(harness.__name__) if isinstance(_LOADER, InspectLoader) else None
_PASSED_OVER = ast.Import | ast.ImportFrom | ast.Nonlocal | ast.Global | ast.ClassDef | Function
_TURNED = ("T", "mT", "values")  # attributes that are new tensors

Node = TypeVar("Node", bound=ast.AST)


def runnable(source: str) -> str:
    """The definitions of a cell, and a function that calls them and says what it observes."""
    return f"{definitions_in(source)}\n" + (
        f"_harness = {{'__name__': 'harness'}}\nexec({_HARNESS!r}, _harness)\n_harness['student'] = globals()\n"
        f"{harness.NOTES} = _harness['Notes']()\n{ANSWER} = _harness['answer']\n"
    )


def with_notes(source: str, *, expressions: bool = True) -> str:
    """A student's code that notes what it does, and computes the same. Raises SyntaxError if it cannot be read."""
    tree = _NoteWriter(StudentText(source), expressions).visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree))


class StatementLines(NamedTuple):
    """The lines of a statement, or of its head if it has a body, and the names that it assigns."""

    first: int
    last: int
    names: tuple[str, ...]


def statements_of(text: StudentText) -> list[StatementLines]:
    """All statements within functions, each once."""
    places: dict[int, StatementLines] = {}
    for function, _ in text.functions:
        for node in statements(function):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno or node.lineno
            places[node.lineno] = StatementLines(node.lineno, max(node.lineno, last), names_assigned(node))
    return list(places.values())


def names_assigned(node: ast.stmt) -> tuple[str, ...]:
    """The names that are others after a statement, in its order."""
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        targets = [node.target]
    names = dict.fromkeys(name for target in targets for name in _names_in(target))
    return tuple(name for name in names if name not in ("self", "_"))


def _names_in(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=value):
            yield from _names_in(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for node_in_list in elements:
                yield from _names_in(node_in_list)


class _NoteWriter(ast.NodeTransformer):
    """Puts a call before each statement of a function and after each that assigns, and one around some expressions."""

    def __init__(self, text: StudentText, notes_expressions: bool) -> None:
        self._text = text
        self._notes_expressions = notes_expressions

    def visit_Module(self, node: ast.Module) -> ast.Module:
        return self._definitions_in(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return self._definitions_in(node)

    def _definitions_in(self, node: Node) -> Node:
        """All else in a module or a class runs when it is defined."""
        for member in ast.iter_child_nodes(node):
            if isinstance(member, ast.FunctionDef | ast.ClassDef):
                self.visit(member)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self._block(node.body)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.body = self._block(node.body)  # a pattern holds no expressions
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        around = self._call_around(node)
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return around(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        around = self._call_around(node)
        return around(self.generic_visit(node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        around = self._call_around(node)
        self.generic_visit(node)
        return around(node) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        around = self._call_around(node)
        self.generic_visit(node)
        return around(node) if isinstance(node.ctx, ast.Load) and node.attr in _TURNED else node

    def generic_visit(self, node: Node) -> Node:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self._block(value))
            elif isinstance(value, list):
                setattr(
                    node,
                    field,
                    [
                        self.visit(node_in_list) if isinstance(node_in_list, ast.AST) else node_in_list
                        for node_in_list in value
                    ],
                )
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def _block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """A block of a function, with notes between its statements."""
        noted: list[ast.stmt] = []
        for node in block:
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            names = names_assigned(node)
            first, last = node.lineno, node.end_lineno
            if not is_text and not isinstance(node, _PASSED_OVER):
                noted.append(_note("line", ast.Constant(first)))
            noted.append(self.visit(node))
            for name in names:
                noted.append(_note("name", ast.Constant(last), ast.Constant(name), ast.Name(name, ast.Load())))
        return noted

    def _call_around(self, node: ast.expr) -> Callable[[ast.expr], ast.expr]:
        """A function that puts the call around an expression, whose line and text are read now."""
        if not self._notes_expressions:
            return lambda changed: changed
        line, expression = ast.Constant(node.lineno), ast.Constant(self._text.of(node))
        return lambda changed: _note_call("value", line, expression, changed)


def _note(method: str, *arguments: ast.expr) -> ast.stmt:
    return ast.Expr(_note_call(method, *arguments))


def _note_call(method: str, *arguments: ast.expr) -> ast.expr:
    notes = ast.Name(harness.NOTES, ast.Load())
    return ast.Call(ast.Attribute(notes, method, ast.Load()), list(arguments), [])
