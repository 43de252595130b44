"""Check that a student's code uses only what its exercise allows, in all code that it reaches."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.facts.reached import EVERYTHING, MOST_READ, Reached, bound_by_alias, free_names, names_bound_by
from grader.model.exercise import Allowed
from grader.model.verdict import Reason, Verdict

MAX_LINE = 80  # characters of a line that is shown
IN_SIGHT = "In this exercise, we need to see everything that your code uses: write it in the exercise's cell."
OTHERWISE = (
    "Your results depend on more than your function and what it uses by name: with only that, they were different. "
    f"{IN_SIGHT}"
)
_PYTHONS = frozenset(dir(builtins))
_BY_LITERAL = ("getattr", "hasattr")  # these reach only what they name, if it is written out

# The syntax of definitions, and no more: a new kind is refused until somebody has looked at it.
_SYNTAX: tuple[type[ast.AST], ...] = (
    *(ast.FunctionDef, ast.ClassDef, ast.Return, ast.Delete, ast.Assign, ast.AugAssign, ast.AnnAssign),
    *(ast.For, ast.While, ast.If, ast.With, ast.Raise, ast.Try, ast.Assert, ast.Import, ast.ImportFrom),
    *(ast.Global, ast.Nonlocal, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Match),
    *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict, ast.Set),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.Compare, ast.Call),
    *(ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name),
    *(ast.List, ast.Tuple, ast.Slice, ast.comprehension, ast.ExceptHandler, ast.arguments, ast.arg, ast.keyword),
    *(ast.alias, ast.withitem, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence),
    *(ast.MatchMapping, ast.MatchClass, ast.MatchStar, ast.MatchAs, ast.MatchOr),
    *(ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
# Python's own methods that classes may define and code may name.
_METHODS = """
    __init__ __call__ __len__ __getitem__ __setitem__ __contains__ __iter__ __next__ __enter__ __exit__ __repr__ __str__
    __post_init__ __new__ __name__ __doc__ __eq__ __hash__ __bool__ __neg__ __add__ __radd__ __iadd__ __sub__ __rsub__
    __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __pow__ __matmul__ __rmatmul__ __getattr__
"""

# They can reach anything by name: allowed are only `@wraps(f)`, and `type(x)` compared or asked for its name.
_IN_PLACE = ("wraps", "type")


@dataclass(frozen=True)
class Forbidden:
    """Something that is not allowed, and where it is."""

    name: str
    node: ast.AST
    lines: Sequence[str]

    def said(self, allowed: Allowed) -> str:
        """A sentence on the line, and what to write instead."""
        number = getattr(self.node, "lineno", 0)
        line = self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""
        shown = (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…").replace("`", "'")
        where = f" (line {number} of its cell: `{shown}`)" if shown else ""
        instead = next((allowed.instead[part] for part in self._parts if part in allowed.instead), "")
        return " ".join(filter(None, [f"Your code uses `{self.name}`{where}.", allowed.says, instead]))

    def is_known(self, allowed: Allowed) -> bool:
        """Whether there is advice on what to write instead."""
        return any(part in allowed.instead for part in self._parts)

    @property
    def _parts(self) -> list[str]:
        """The name's parts, without that of the module or object."""
        first, *others = self.name.split(".")
        return others or [first]


def first_forbidden(code: Reached, allowed: Allowed) -> Forbidden | None:
    """The first thing that is not allowed, if any; those with advice come first."""
    found = list(_Reading(code, allowed).forbidden())
    return next((one for one in found if one.is_known(allowed)), found[0] if found else None)


def said_of_hidden(code: Reached) -> str:
    """A sentence about code that cannot be read; empty if all can."""
    if not code.is_short:
        return f"A cell, or a file that it imports, has more than {MOST_READ:,} characters. {IN_SIGHT}"
    return "" if code.is_shown else f"No cell shows what `{code.entry}` is. {IN_SIGHT}"


def refused(verdict: Verdict, said: str) -> Verdict:
    """The verdict without credit, whatever the code returned."""
    return replace(verdict, credit=0.0, reason=Reason.FORBIDDEN, sentences=(said,), misconceptions=(), pictures=())


class _Reading:
    """Checks all units that a function reaches."""

    def __init__(self, code: Reached, allowed: Allowed) -> None:
        self.code = code
        self.allowed = allowed
        self.nodes = [each for unit in code.units for each in unit.nodes]
        tree = [node for node, _ in self.nodes]
        self.free = {name for unit in code.units for one in unit.statements for name in free_names(one)}
        self.modules = {name: full for name, full in _imported(tree) if full in allowed.modules}
        self.bound = {name for unit in code.units for one in unit.statements for name in names_bound_by(one)}
        self.bound |= {name for name, _ in _imported(tree)} | {name for node in tree for name in _bound_elsewhere(node)}
        self.attributes = {name for node in tree for name in _attributes_made(node)}
        self.attributes |= {
            name for unit in code.files.values() for one in unit.statements for name in names_bound_by(one)
        }
        self.read = {node.id for node in tree if isinstance(node, ast.Name)}
        self.owned = {node.value for node in tree if isinstance(node, ast.Attribute)}
        literal = [node for node in tree if isinstance(node, ast.Call) and _names_a_literal(node)]
        self.by_literal = {node.func for node in literal}
        self.owned |= {node.args[0] for node in literal}
        self.in_place = set(_asked_for_one(tree))
        for unit in code.units:
            self._note_other_names(unit.statements)

    def _note_other_names(self, statements: Sequence[ast.stmt]) -> None:
        """Treat `xp = numpy` like an import."""
        for one in statements:
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if module := self._module(value):
                    self.modules[name] = module
                    self.owned.add(value)

    def forbidden(self) -> Iterator[Forbidden]:
        for node, lines in self.nodes:
            for name in self._forbidden_in(node):
                yield Forbidden(name, node, lines)

    def _forbidden_in(self, node: ast.AST) -> Iterator[str]:
        if not isinstance(node, _SYNTAX):
            yield _WORDS.get(type(node).__name__, type(node).__name__)
        yield from (name for name in _names_given(node) if not _may_be_given(name))
        match node:
            case ast.Name(id=name) if name in _IN_PLACE and node not in self.in_place:
                yield name
            case ast.Attribute(attr=name) if name == "wraps" and node not in self.in_place:
                yield _dotted(node)
            case ast.Attribute():
                yield from self._forbidden_attribute(node)
            case ast.Name(id=name) if node in self.free and not self._may_be_read(node, name):
                yield name
            case ast.Call(func=called, args=[value, ast.Constant(value=str() as name), *_]) if (
                called in self.by_literal
            ):
                yield from self._forbidden_attribute(ast.Attribute(value, name, ast.Load()))
            case ast.MatchClass(kwd_attrs=names):
                yield from (name for name in names if not self._may_be_named(name))
            case ast.Import(names=names):
                yield from (one.name for one in names if not self._may_import(one))
            case ast.ImportFrom(module=module, names=names, level=level) if not self._is_own(module or "", level):
                yield from (f"{module}.{one.name}" for one in names if not self._may_import_from(str(module), one))

    def _forbidden_attribute(self, node: ast.Attribute) -> Iterator[str]:
        module, is_module = self._module(node.value), self._module(node)
        if is_module:
            yield from () if node in self.owned else (is_module,)  # handed on, it could be asked for anything
        elif module and (node.attr not in self.allowed.names or f"{module}.{node.attr}" in sys.modules):
            yield f"{module}.{node.attr}"
        elif not module and not self._may_be_named(node.attr):
            yield _dotted(node)

    def _may_be_read(self, node: ast.Name, name: str) -> bool:
        """Whether code may read a name that no scope binds. It is unsure if the notebook rebinds Python's own."""
        if name in self.modules:
            return node in self.owned
        if name in self.allowed.builtins or node in self.by_literal:
            return True
        known = self.bound | (self.allowed.names if EVERYTHING in self.bound else set())
        return name not in _PYTHONS and name in known

    def _may_be_named(self, name: str) -> bool:
        """Whether a name may follow a dot after an unknown object."""
        is_pythons = name.startswith("__") and name.endswith("__")
        return name in _METHODS.split() if is_pythons else name in self.allowed.names or name in self.attributes

    def _may_import(self, one: ast.alias) -> bool:
        """Whether an import may be there: a name never read does no harm, nor does a module only loaded."""
        name = one.name if one.asname else one.name.partition(".")[0]
        return bound_by_alias(one) not in self.read or name in self.allowed.modules or self._is_own(name)

    def _may_import_from(self, module: str, one: ast.alias) -> bool:
        if one.name in _IN_PLACE and one.asname:
            return False
        if bound_by_alias(one) not in self.read and one.name != EVERYTHING:
            return True
        is_name = one.name in self.allowed.names or one.name == EVERYTHING
        return f"{module}.{one.name}" in self.allowed.modules or (module in self.allowed.modules and is_name)

    def _is_own(self, module: str, level: int = 0) -> bool:
        """Whether a module is a file beside the notebook, which is read, too."""
        return level > 0 or module.partition(".")[0] in self.code.own_modules

    def _module(self, node: ast.expr) -> str | None:
        """The full name of the listed module that an expression is, if it is one."""
        match node:
            case ast.Name(id=name) if node in self.free:
                return self.modules.get(name)
            case ast.Attribute(value=value, attr=attr):
                name = f"{self._module(value)}.{attr}"
                return name if name in self.allowed.modules else None
        return None


# What people call such syntax.
_WORDS = {"AsyncFunctionDef": "async def", "Await": "await", "AsyncFor": "async for", "AsyncWith": "async with"}


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names that imports bind, and the full ones."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from ((bound_by_alias(one), one.name if one.asname else bound_by_alias(one)) for one in names)
            case ast.ImportFrom(module=module, names=names):
                yield from ((bound_by_alias(one), f"{module}.{one.name}") for one in names)


def _bound_elsewhere(node: ast.AST) -> Iterator[str]:
    """Names bound in classes, or as globals."""
    match node:
        case ast.Global(names=names):
            yield from names
        case ast.ClassDef(body=body):
            yield from (name for one in body for name in names_bound_by(one))


def _attributes_made(node: ast.AST) -> Iterator[str]:
    """The methods, attributes and fields that code gives to its objects."""
    match node:
        case ast.FunctionDef(name=name) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.ClassDef(body=body):
            yield from (name for one in body for name in names_bound_by(one))
        case ast.Call(
            func=ast.Attribute(attr="register_buffer" | "register_parameter"), args=[ast.Constant(value=name), *_]
        ):
            yield str(name)
        case ast.Call(func=ast.Name(id="SimpleNamespace") | ast.Attribute(attr="SimpleNamespace"), keywords=keywords):
            yield from (one.arg for one in keywords if one.arg)
        case ast.Call(func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"), args=[_, fields, *_]):
            words = (part.value for part in ast.walk(fields) if isinstance(part, ast.Constant))
            yield from (name for one in words for name in str(one).replace(",", " ").split())


def _names_given(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.alias(asname=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name


def _may_be_given(name: str) -> bool:
    """Whether code may bind a name: Python itself looks up some in classes, such as `__match_args__`."""
    return not (name.startswith("__") and name.endswith("__")) or name in _METHODS.split()


def _asked_for_one(tree: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The harmless uses of `wraps` and `type`."""
    for node in tree:
        match node:
            case ast.FunctionDef(decorator_list=calls):
                yield from _of_one_thing(calls, "wraps")
            case ast.Compare(left=left, comparators=others):
                yield from _of_one_thing([left, *others], "type")
            case ast.Attribute(value=value, attr="__name__"):
                yield from _of_one_thing([value], "type")


def _of_one_thing(calls: Sequence[ast.expr], name: str) -> Iterator[ast.AST]:
    for call in calls:
        match call:
            case ast.Call(func=function, args=[one], keywords=[]) if not isinstance(one, ast.Starred):
                if _dotted(function).rpartition(".")[2] == name:
                    yield function


def _names_a_literal(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Name(id=name), args=[_, ast.Constant(value=str()), *_]):
            return name in _BY_LITERAL
    return False


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr}".lstrip(".")
        case ast.Name(id=name):
            return name
    return ""
