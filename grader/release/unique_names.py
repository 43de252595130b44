"""Names that several cells of a notebook define, made unique in place: layout and comments stay as they are."""

from __future__ import annotations

import ast
import dis
import symtable
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from types import CodeType

from grader.errors import CourseError

_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ON_VARIABLES = {f"{does}_{kind}" for does in ("LOAD", "STORE", "DELETE") for kind in ("NAME", "GLOBAL")}


def with_unique_names(cells: Sequence[str]) -> list[str]:
    """The same code, where no variable is defined in two cells.

    A variable that is used in its own cell alone gets an underscore, which keeps it there; another one gets a number.
    """
    used = [uses(code) for code in cells]
    new_names: list[dict[str, str]] = [{} for _ in cells]
    for name in {name for use in used for name, defines in use.items() if defines}:
        defined = [index for index, use in enumerate(used) if use.get(name)]
        if len(defined) > 1:
            count = 0
            for start, end in pairwise([*defined, len(cells)]):
                users = [index for index in range(start + 1, end) if name in used[index]]
                count += bool(users)
                new = f"_{name}" if not users else name if count == 1 else f"{name}_{count}"
                for index in (start, *users):
                    new_names[index][name] = new
    return [_renamed(code, names) for code, names in zip(cells, new_names, strict=True)]


def uses(code: str) -> dict[str, bool]:
    """The notebook's variables that a cell mentions, and whether it is the cell that defines them."""
    found: dict[str, bool] = {}
    try:
        compiled = compile(code, "a cell", "exec")
    except SyntaxError as error:
        raise CourseError(
            f"A cell is no plain Python, which marimo does not take: {error.text or error.msg}. Change it in source/, "
            "and release again."
        ) from None
    for stores, name in _operations(compiled):
        if stores and found.get(name) is False:
            raise CourseError(
                f"A cell reads the variable {name} before it defines it anew, which marimo does not allow. "
                "Give one of the two another name in source/, and release again."
            )
        found.setdefault(name, stores)
    return found


def _operations(code: CodeType) -> Iterator[tuple[bool, str]]:
    """Each use of a global variable, in the order in which they happen: whether it is stored, and its name.

    Asked from the compiler, which knows all rules of scopes. What a function does, it does when it is called: last.
    """
    later = []
    own = _stored_in(code) if code.co_name != "<module>" else set()
    for instruction in dis.get_instructions(code):
        if isinstance(instruction.argval, CodeType):
            if instruction.argval.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"):
                yield from _operations(instruction.argval)
            else:
                later.append(instruction.argval)
        elif instruction.opname in _ON_VARIABLES and instruction.argval not in own:
            yield instruction.opname.startswith("STORE"), instruction.argval
    for function in later:
        yield from _operations(function)


def _stored_in(code: CodeType) -> set[str]:
    """The names that the body of a class defines."""
    return {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_NAME"}


def _renamed(code: str, new_names: Mapping[str, str]) -> str:
    """Code with other names for some of the notebook's variables, and its layout as it was."""
    if not new_names:
        return code
    tree = ast.parse(code)
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(tree)):
        raise CourseError(
            f"A cell uses `global` or `nonlocal`, and defines {' and '.join(new_names)} as another cell does, which "
            "marimo does not allow. Give it other names in source/, and release again."
        )
    changed = [name for name in _variables(tree) if name.id in new_names]
    for name in changed:
        name.id = new_names[name.id]
    text = code.encode()  # positions in a syntax tree count lines from 1, and bytes in them
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    for node in reversed(list(_pieces(tree, set(map(id, changed))))):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = text[:start] + _written(node).encode() + text[end:]
    return text.decode()


def _pieces(node: ast.AST, changed: set[int]) -> Iterator[ast.expr]:
    """What must be written anew, in the order of the text: names, and f-strings as a whole.

    (Where in an f-string a name stands, Python says from 3.12 on.)
    """
    if isinstance(node, ast.JoinedStr):
        if changed & set(map(id, ast.walk(node))):
            yield node
    elif isinstance(node, ast.Name) and id(node) in changed:
        yield node
    else:
        below = [piece for child in ast.iter_child_nodes(node) for piece in _pieces(child, changed)]
        yield from sorted(below, key=lambda piece: (piece.lineno, piece.col_offset))


def _written(node: ast.expr) -> str:
    text = ast.unparse(node)
    plain = text.startswith("f'") and not set(text[2:-1]) & {"'", '"', "\\"}
    return f'f"{text[2:-1]}"' if plain else text


def _variables(
    node: ast.AST, local: frozenset[str] = frozenset(), in_class: frozenset[str] = frozenset()
) -> Iterator[ast.Name]:
    """The names in a cell that mean variables of the notebook: not those of functions, classes and comprehensions."""
    if isinstance(node, ast.Name) and node.id not in local | in_class:
        yield node
    outside, inside = _parts(node)
    for child in outside:
        yield from _variables(child, local, in_class)
    if inside:
        own = _own_names(node)
        local, in_class = (local, own) if isinstance(node, ast.ClassDef) else (local | own, frozenset())
        for child in inside:
            yield from _variables(child, local, in_class)


def _parts(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """What is below a node: computed where it stands, and computed where its own names count."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, _COMPREHENSIONS):
        first = node.generators[0].iter
        parts = [part for child in children for part in _below(child)]
        return [first], [part for part in parts if part is not first]
    if isinstance(node, _BODIES):
        body = node.body if isinstance(node.body, list) else [node.body]
        return [child for child in children if child not in body], list(body)
    return children, []


def _below(child: ast.AST) -> list[ast.AST]:
    return list(ast.iter_child_nodes(child)) if isinstance(child, ast.comprehension) else [child]


def _own_names(node: ast.AST) -> frozenset[str]:
    """The names that a function, class or comprehension defines for itself."""
    table = symtable.symtable(ast.unparse(node), "a cell", "exec").get_children()[-1]
    return frozenset(symbol.get_name() for symbol in table.get_symbols() if symbol.is_local())
