"""Whether a student's code uses what its exercise forbids: read from its text, and from that of code which it uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.judging.code_facts import as_far_as_it_can_be_read
from grader.model.exercise import Exercise
from grader.model.forbidden import Forbidden
from grader.model.submission import Files
from grader.model.verdict import Reason, Verdict

MOST_READ = 200_000  # characters of a cell, or of a file: whoever pastes pages of output into a cell hides nothing
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
_EVERYTHING = "*"  # as an import binds it
NO_FILES: Files = {}
_IN_SIGHT = "In this exercise it must be seen what the code uses: write it into the cell of the exercise."
_Bound = dict[str, list[ast.AST]]  # what a notebook binds at its top level, by name


def said_of_forbidden(
    exercise: Exercise, sources: Sequence[str], files: Files = NO_FILES, *, earns: bool = False
) -> str:
    """A sentence about the first forbidden thing that its code uses, by itself or by other code; empty if none.

    Other code may be in the notebook, or in modules among the files beside it. Where an answer earns something, code
    that cannot be read is told of, too.
    """
    if exercise.forbidden is None:
        return ""
    statements, modules = _statements_of(sources), _by_module(files)
    code, own = _code_used(exercise.entry, statements, modules), _functions_in(statements)
    for used in (used for nodes in code.values() for node in nodes for used in _used(node)):
        if _is_forbidden(used, exercise.forbidden, own):
            return exercise.forbidden.says.format(used)
    read = [*sources, *(text for name in code for text in modules.get(name, ()))]
    return _said_of_hidden(exercise.entry, code, read) if earns else ""


def _said_of_hidden(entry: str, code: _Bound, read: Sequence[str]) -> str:
    if any(len(text) > MOST_READ for text in read):
        return f"A cell has more than {MOST_READ:,} characters, or a file that it imports. {_IN_SIGHT}"
    shown = {entry, _EVERYTHING} & code.keys()
    return "" if shown else f"No cell shows what `{entry}` is. {_IN_SIGHT}"


def refused(verdict: Verdict, said: str) -> Verdict:
    """Nothing for it, whatever came out."""
    return replace(verdict, credit=0.0, reason=Reason.FORBIDDEN, sentences=(said,), misconceptions=(), pictures=())


def _code_used(entry: str, statements: Sequence[ast.stmt], modules: Mapping[str, Sequence[str]]) -> _Bound:
    """What the code of `entry` uses, by names of the notebook, and by those of files that are imported."""
    bound = _bound(statements)
    to_read: list[str] = [entry, _EVERYTHING]
    used: _Bound = {}
    while to_read:
        name = to_read.pop()
        if name in used or not (name in bound or name in modules):
            continue
        used[name] = bound[name] if name in bound else [*_statements_of(modules[name])]
        to_read += [other for node in used[name] for other in {*_read_from_outside(node), *_imported(node)}]
    return used


def _bound(statements: Sequence[ast.stmt]) -> _Bound:
    found: _Bound = {}
    for node in statements:
        for name in _names_bound_by(node):
            found.setdefault(name, []).append(node)
    return found


def _by_module(files: Files) -> dict[str, list[str]]:
    """The texts of modules, of all files of a package, by the name of a file that it would have."""
    found: dict[str, list[str]] = {}
    for place, content in files.items():
        if place.endswith(".py"):
            name = _file_of(place.partition("/")[0].removesuffix(".py"))
            found.setdefault(name, []).append(content.decode(errors="replace"))
    return found


def _file_of(module: str) -> str:
    """What no name in a code can be."""
    return f"{module}.py"


def _statements_of(sources: Sequence[str]) -> list[ast.stmt]:
    return [one for source in sources for one in _statements(source)]


def _imported(node: ast.AST) -> Iterator[str]:
    """The files of the modules that a node imports."""
    for part in ast.walk(node):
        match part:
            case ast.Import(names=names):
                yield from (_file_of(one.name.partition(".")[0]) for one in names)
            case ast.ImportFrom(module=module):
                yield _file_of((module or "").partition(".")[0])


def _functions_in(statements: Sequence[ast.stmt]) -> set[str]:
    """The names of the functions and methods that a notebook defines."""
    nodes = (node for one in statements for node in ast.walk(one))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def _statements(source: str) -> list[ast.stmt]:
    with as_far_as_it_can_be_read():
        return ast.parse(_MAGIC.sub("", source)).body if len(source) <= MOST_READ else []
    return []


def _names_bound_by(statement: ast.stmt) -> Iterator[str]:
    """At the top level, however deep in its branches."""
    for node in [statement, *_without_functions(statement)]:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((one.asname or one.name).partition(".")[0] for one in names)
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):  # torch.softmax = …
                yield name
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), *_]):
                yield name
            case ast.Subscript(value=changed, ctx=ast.Store()):  # vars(torch)["softmax"] = …
                yield from (part.id for part in ast.walk(changed) if isinstance(part, ast.Name))


def _without_functions(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a node, but not in the functions and classes of it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _without_functions(child)


def _used(node: ast.AST) -> Iterator[str]:
    """Everything by its dotted name: `torch.autograd.grad`, and each beginning of it."""
    for part in ast.walk(node):
        match part:
            case ast.Attribute():
                yield _dotted(part)
            case ast.Name(id=name):
                yield name
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str() as module, names=names):
                yield from (f"{module}.{one.name}" for one in names)


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr}"
        case ast.Name(id=name):
            return name
    return ""


def _is_forbidden(used: str, forbidden: Forbidden, own: set[str]) -> bool:
    parts = used.split(".")
    if any(f"{used}.".startswith(f"{module}.") for module in forbidden.modules):
        return True
    if {module.rpartition(".")[2] for module in forbidden.modules if "." in module}.intersection(parts[1:]) - own:
        return True  # torch may be known by any name
    if any(name in parts for name in forbidden.names):
        return True
    return any(part in name for part in forbidden.parts for name in parts[1:] if name not in own)


def _read_from_outside(node: ast.AST) -> set[str]:
    """The names that a definition reads and does not bind itself."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    arguments = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)} if _has_a_scope(node) else set()
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - own - arguments


def _has_a_scope(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
