"""Solutions that are functions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any

from grader.solutions.lines import Change, Lines, source_of
from grader.solutions.statements import Body, run

MOST_VERSIONS = 500  # with another head, that are kept


class WrittenFunction:
    """A function that its author has written, as a reference: called with changes, it answers with other lines."""

    def __init__(self, solution: Any) -> None:
        functools.update_wrapper(self, solution)
        self.lines = Lines(source_of(solution))
        self.variables = solution.__globals__
        (node,) = [one for one in self.lines.tree.body if isinstance(one, ast.FunctionDef)]
        self._solution = solution
        self._body = Body(self.lines, node, solution)
        self._version = functools.lru_cache(MOST_VERSIONS)(self._compiled)

    def __call__(self, *inputs: Any, **changes: Change) -> Any:
        return self.holding(changes)(*inputs)

    def holding(self, changes: Mapping[str, Change]) -> Callable[..., Any]:
        """The function with these lines, which takes arguments by name, too."""
        if not changes:
            return self._solution  # type: ignore[no-any-return]
        if not all(map(self._body.holds, changes)):
            return self._version(frozenset(changes.items()))  # type: ignore[no-any-return]
        chain = self._body.chain(changes)
        return lambda *inputs, **named: run(chain, self._body.names(inputs, changes, named))

    def _compiled(self, changes: frozenset[tuple[str, Change]]) -> Any:
        """With another head, a version is compiled as a whole."""
        return self.lines.version(dict(changes), self.variables)
