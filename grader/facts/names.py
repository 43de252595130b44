"""The names that code reads and binds, as its text shows them."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def names_in(*nodes: ast.AST) -> Iterator[str]:
    """The names in these nodes, whatever happens to them. A name may come several times."""
    yield from (name.id for name in _name_nodes(nodes))


def names_read(*nodes: ast.AST) -> Iterator[str]:
    yield from (name.id for name in _name_nodes(nodes) if isinstance(name.ctx, ast.Load))


def names_stored(*nodes: ast.AST) -> Iterator[str]:
    """The names that get a value."""
    yield from (name.id for name in _name_nodes(nodes) if isinstance(name.ctx, ast.Store))


def arguments_in(*nodes: ast.AST) -> Iterator[str]:
    """The names of the arguments of functions, also of those inside."""
    for node in nodes:
        yield from (argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg))


def _name_nodes(nodes: tuple[ast.AST, ...]) -> Iterator[ast.Name]:
    for node in nodes:
        yield from (name for name in ast.walk(node) if isinstance(name, ast.Name))
