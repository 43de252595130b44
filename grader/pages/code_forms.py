"""Reduce code to what is hard to disguise: no names, comments, layout, or statements that do nothing."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Collection, Iterator
from typing import NamedTuple

from grader.notebooks.brevity import SHORTENED
from grader.notebooks.highlighting import without_comments

MAX_SOURCE = 10_000  # characters of a cell to compare, without comments
MAX_PARTS = 1_000  # of a cell; a solution has about a hundred
ROUNDS = 4  # of removing unused statements, since each may be the only user of another
UNREADABLE = 20  # lines of a cell to leave out at most, because Python cannot read them

MAGIC = re.compile(r"^([ \t]*)[%!].*", re.MULTILINE)
_NAMES = {"id", "arg", "name", "asname", "names", "attr"}  # fields of nodes that may hold a chosen name
_WITHOUT_MEANING = {"ctx", "type_comment", "annotation", "returns", "type_ignores", "kind"}


class CodeForm(NamedTuple):
    """Code without chosen names, comments, docstrings, annotations and layout."""

    text: str
    parts: frozenset[int]  # digests of its subtrees, without chosen names; empty if the code does nothing
    whole: bool = True  # whether all of the code was parsed; if not, a copy may go unnoticed


@functools.lru_cache(maxsize=4096)
def form_of(source: str) -> CodeForm:
    """The form of some code. Code that is not valid Python keeps its names."""
    code = without_comments(source)
    whole = len(code) <= MAX_SOURCE and not source.startswith(SHORTENED)
    code = code[:MAX_SOURCE]
    try:
        tree = _parsed(code)
        chosen = _chosen(tree)
        text = " ".join(_texts(tree, chosen, {}))
        parts: set[int] = set()
        _add_parts(tree, chosen, parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = code.split()
        return CodeForm(" ".join(words), _few(set(map(hash, words))), whole=False)
    return CodeForm(text, _few(parts), whole and len(parts) <= MAX_PARTS)


def _few(parts: set[int]) -> frozenset[int]:
    """The smallest digests: if two sets are alike, so are these."""
    return frozenset(sorted(parts)[:MAX_PARTS])


def _parsed(source: str) -> ast.Module:
    """The simplified syntax tree, without lines that Python cannot read, such as IPython's magics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in strings, which do not matter here
        tree = _read(source)
    _Plain(tree).visit(tree)
    for _ in range(ROUNDS):
        needed = _Needed(tree)
        needed.visit(tree)
        if not needed.left_out:
            break
    return tree


def _read(source: str) -> ast.Module:
    """Parse code without unreadable lines: one of them must not hide all the others."""
    for attempt in range(UNREADABLE + 1):
        try:
            return ast.parse(source)
        except SyntaxError as error:
            source = _without_line(source, error.lineno or 0) if attempt else MAGIC.sub(r"\1pass", source)
    return ast.parse(source)


def _without_line(source: str, number: int) -> str:
    """Replace a line with `pass`, if there is a line of this number."""
    lines = source.split("\n")
    if 0 < number <= len(lines):
        line = lines[number - 1]
        lines[number - 1] = f"{line[: len(line) - len(line.lstrip())]}pass"
    return "\n".join(lines)


class _Plain(ast.NodeTransformer):
    """Rewrite `x: int = 3` as `x = 3`, and mark keywords in calls of the code's own functions."""

    def __init__(self, tree: ast.AST) -> None:
        self._parameters = {
            node.name: {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else ast.Pass()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        own = self._parameters.get(name, ())
        node.keywords = [
            _OwnKeyword(keyword.arg, keyword.value) if keyword.arg in own else keyword for keyword in node.keywords
        ]
        return node


class _Needed(ast.NodeTransformer):
    """Remove what has no effect: values that nothing reads or calls, and branches that are never taken."""

    def __init__(self, tree: ast.AST) -> None:
        names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
        self._read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        self.left_out = False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                setattr(node, name, self._needed(value) or ([ast.Pass()] if name == "body" else []))
        return node

    def _needed(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        kept = []
        for statement in statements:
            if not self._is_idle(statement):
                kept.append(statement)
            elif not isinstance(statement, ast.Pass):
                self.left_out = True
            if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
                break  # nothing after it ever runs
        return kept

    def _is_idle(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=targets):
                return all(self._is_unread(target) for target in targets)
            case ast.AugAssign(target=target):
                return self._is_unread(target)
            case ast.If(test=ast.Constant(value=value), orelse=[]) | ast.While(test=ast.Constant(value=value)):
                return not value
            case ast.If(body=[ast.Pass()], orelse=[]) | ast.Assert():
                return True
            case ast.Expr(value=value):
                return not any(isinstance(part, ast.Call | ast.Await | ast.Yield) for part in ast.walk(value))
        return _says_nothing(node)

    def _is_unread(self, target: ast.AST) -> bool:
        match target:
            case ast.Name(id=name):
                return name not in self._read
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return all(map(self._is_unread, items))
        return False


class _OwnKeyword(ast.keyword):
    """A keyword argument whose name the code itself chose."""


def _chosen(tree: ast.AST) -> set[str]:
    """The names that the code itself defines; attributes begin with a dot."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(f".{name}")
    return names


def _texts(node: ast.AST, chosen: Collection[str], numbers: dict[str, int]) -> Iterator[str]:
    """The tree as a list of texts, with chosen names numbered from 0 in order of appearance."""
    yield f"({type(node).__name__}"
    for name, value in ast.iter_fields(node):
        if name in _WITHOUT_MEANING:
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                if not _says_nothing(item):
                    yield from _texts(item, chosen, numbers)
                continue
            key = f".{item}" if name == "attr" else item
            if name in _NAMES and key in chosen and type(node) is not ast.keyword:
                yield f"{'.' * (name == 'attr')}#{numbers.setdefault(key, len(numbers))}"
            else:
                yield f"={item!r}"
    yield ")"


def _add_parts(node: ast.AST, chosen: Collection[str], parts: set[int]) -> int:
    """Add the digest of each subtree that does something, and return that of the whole. Signatures do not count."""
    if isinstance(node, ast.arguments) or _is_stub(node):
        return 0
    inside: list[object] = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                inside.append(_add_parts(item, chosen, parts))
            elif name not in _WITHOUT_MEANING:
                key = f".{item}" if name == "attr" else item
                inside.append("#" if name in _NAMES and key in chosen else repr(item))
    digest = hash(tuple(inside))
    if not isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        parts.add(digest)
    return digest


def _is_stub(node: ast.AST) -> bool:
    """Whether this is a placeholder in an unfinished function: it raises something, or returns a constant."""
    match node:
        case ast.Raise():
            return True
        case ast.Return(value=value):
            return value is None or not any(isinstance(part, ast.Name) for part in ast.walk(value))
    return _says_nothing(node)


def _says_nothing(node: ast.AST) -> bool:
    """Whether this is a lone constant such as a docstring, `pass`, or an import under the original name."""
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.expr_context():
            return True
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return all(alias.asname in (None, alias.name) for alias in names)
    return False
