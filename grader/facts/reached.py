"""Find the code that a notebook's function reaches by name, to read it, or to run it without the rest."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.facts.code_facts import as_far_as_it_can_be_read
from grader.facts.student_text import MAGIC
from grader.model.submission import Files

MOST_READ = 200_000  # characters of a cell or file: pages of output pasted into a cell hide nothing
_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
EVERYTHING = "*"  # as in `import *`


@dataclass(frozen=True)
class Unit:
    """Statements that share their names: those of the notebook, or all of one file."""

    statements: Sequence[ast.stmt]
    lines: Mapping[ast.stmt, Sequence[str]]  # of the cell or file that a statement is from

    @property
    def program(self) -> str:
        """The statements as plain Python."""
        return ast.unparse(ast.Module([*self.statements], []))

    @property
    def nodes(self) -> Iterator[tuple[ast.AST, Sequence[str]]]:
        """All nodes in them, with the lines that each is from."""
        for one in self.statements:
            yield from ((node, self.lines[one]) for node in ast.walk(one))


@dataclass
class Reached:
    """The code behind `entry`."""

    entry: str
    notebook: Unit
    files: dict[str, Unit] = field(default_factory=dict)  # modules beside the notebook, by their places
    is_short: bool = True  # whether all cells and files could be read
    is_shown: bool = True  # whether some cell binds it

    @property
    def units(self) -> list[Unit]:
        return [self.notebook, *self.files.values()]

    @property
    def own_modules(self) -> set[str]:
        return {_module_of(place) for place in self.files}


def reached(entry: str, sources: Sequence[str], files: Files) -> Reached:
    """Find all that `entry` uses from the notebook, and from files beside it."""
    lines: dict[ast.stmt, Sequence[str]] = {}
    statements = [one for source in sources for one in _statements(source, lines)]
    bound = _Bound(statements)
    found: set[ast.stmt] = set()
    read: dict[str, Unit] = {}
    to_read, seen = [entry, EVERYTHING], set[str]()
    while to_read:
        name = to_read.pop()
        if name in seen:
            continue
        seen.add(name)
        for one in bound.by_name.get(name, ()):
            found.add(one)
            to_read += _names_read(one)
            for place in _files_imported(one, files):
                _read_file(place, files, read)
    is_short = all(len(text) <= MOST_READ for text in [*sources, *(files[place] for place in read)])
    own = [_with_needed(one, seen) for one in statements if one in found]
    lines |= {mine: lines[one] for mine, one in zip(own, (one for one in statements if one in found), strict=True)}
    shown = {entry, EVERYTHING} & bound.by_name.keys()
    return Reached(entry, Unit(own, lines), read, is_short, bool(shown))


class _Bound:
    """The statements that give each name its value: the last one that does so from scratch, and those after."""

    def __init__(self, statements: Iterable[ast.stmt]) -> None:
        self.by_name: dict[str, list[ast.stmt]] = {}
        for one in statements:
            for name in dict.fromkeys(names_bound_by(one)):
                if _begins_anew(one, name):
                    self.by_name[name] = [one]
                else:
                    self.by_name.setdefault(name, []).append(one)
            for name in _names_changed_by(one):
                before = self.by_name.get(name, [])
                if before and not isinstance(before[0], ast.Import | ast.ImportFrom):
                    before.append(one)


def _begins_anew(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.FunctionDef() | ast.ClassDef():
            outside = [*statement.decorator_list, *getattr(statement, "bases", [])]
            return not any(name in _names_read(one) for one in outside)
        case ast.Import() | ast.ImportFrom():
            return name != EVERYTHING
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return name not in _names_read(value)
    return False


def names_bound_by(statement: ast.stmt) -> Iterator[str]:
    """The names bound at the top level, even in branches."""
    for node in [statement, *_without_functions(statement)]:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (bound_by_alias(one) for one in names)


def bound_by_alias(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def _names_changed_by(statement: ast.stmt) -> Iterator[str]:
    """Names with changed parts: `table["key"] = …`, `Layer.method = …`."""
    for node in [statement, *_without_functions(statement)]:
        match node:
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name


def _without_functions(node: ast.AST) -> Iterator[ast.AST]:
    """All in a node, except in functions, classes and comprehensions, which have names of their own."""
    if isinstance(node, _SCOPES):
        yield from (part for part in ast.walk(node) if isinstance(part, ast.NamedExpr)) if _is_loop(node) else ()
        return
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _without_functions(child)


def _is_loop(node: ast.AST) -> bool:
    """Whether `:=` inside binds a variable of the function around it."""
    return isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)


def _names_read(node: ast.AST) -> set[str]:
    """Names that are read, or declared global."""
    return {name.id for name in free_names(node)} | _declared([node], ast.Global)


def free_names(node: ast.AST, bound: frozenset[str] = frozenset()) -> Iterator[ast.Name]:
    """Where a name of the module, or of Python, is read, not a variable of a function around it."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name not in bound:
            yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            body: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
            inside = bound - _declared(body, ast.Global) | _variables(node.args, body)
            for child in ast.iter_child_nodes(node):
                yield from free_names(child, inside if child in body else bound)
        case (
            ast.ListComp(generators=loops)
            | ast.SetComp(generators=loops)
            | ast.DictComp(generators=loops)
            | (ast.GeneratorExp(generators=loops))
        ):
            yield from free_names(loops[0].iter, bound)  # computed outside
            inside = bound.union(*(_stored(one.target) for one in loops))
            inner: list[ast.AST] = [part for one in loops for part in (one.target, *one.ifs)]
            inner += [one.iter for one in loops[1:]]
            inner += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.comprehension)]
            for part in inner:
                yield from free_names(part, inside)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from free_names(child, bound)


def _variables(arguments: ast.arguments, body: Sequence[ast.AST]) -> frozenset[str]:
    """The names that a function binds for itself, except imports."""
    given = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}
    made, imported = set[str](), set[str]()
    for node in (part for one in body for part in [one, *_without_functions(one)]):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                made.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.NamedExpr(target=ast.Name(id=name)):
                made.add(name)
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
            ):
                made.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                imported |= {bound_by_alias(one) for one in names}
    return frozenset(given | made - imported - _declared(body, ast.Global) - _declared(body, ast.Nonlocal))


def _declared(body: Sequence[ast.AST], kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    nodes = (part for one in body if isinstance(one, ast.stmt) for part in ast.walk(one))  # no expression declares any
    return {name for node in nodes if isinstance(node, kind) for name in node.names}


def _stored(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _with_needed(statement: ast.stmt, needed: set[str]) -> ast.stmt:
    """Reduce an import to what is read."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return statement
    changed = copy.copy(statement)
    changed.names = [one for one in statement.names if bound_by_alias(one) in needed]
    return changed


def _statements(source: str, lines: dict[ast.stmt, Sequence[str]]) -> list[ast.stmt]:
    with as_far_as_it_can_be_read():
        if len(source) <= MOST_READ:
            body = ast.parse(MAGIC.sub("", source)).body
            lines |= dict.fromkeys(body, source.splitlines())
            return body
    return []


def _read_file(place: str, files: Files, read: dict[str, Unit]) -> None:
    """Read a file, and all it imports."""
    if place in read:
        return
    lines: dict[ast.stmt, Sequence[str]] = {}
    read[place] = Unit(_statements(files[place].decode(errors="replace"), lines), lines)
    for one in read[place].statements:
        for other in _files_imported(one, files):
            _read_file(other, files, read)


def _files_imported(node: ast.AST, files: Files) -> Iterator[str]:
    """The places of the modules that a node imports; all of a package."""
    for part in ast.walk(node):
        names: list[str] = []
        match part:
            case ast.Import(names=imported):
                names = [one.name for one in imported]
            case ast.ImportFrom(module=module):
                names = [module or ""]
        packages = {name.partition(".")[0] for name in names}
        yield from (place for place in files if place.endswith(".py") and _module_of(place) in packages)


def _module_of(place: str) -> str:
    return place.partition("/")[0].removesuffix(".py")
