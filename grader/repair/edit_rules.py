"""A table of rules: what a student may have meant in place of an expression, a statement or a function."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.facts.student_text import Splice
from grader.model.change import Change
from grader.repair.edit_words import FITTED
from grader.repair.sites import Rewrite, Site


@dataclass(frozen=True)
class Edit:
    """A change to the code that may undo a mistake. Its cost says how plausible it is: 1 for a slip of one word."""

    splices: tuple[Splice, ...]
    lines: tuple[int, ...]  # that it changes; none where a line is missing
    change: Change
    cost: int
    rule: str  # by its name
    is_likely: bool = False  # it uses a value that nothing else reads

    @property
    def is_fitted(self) -> bool:
        """Whether it contains FITTED, a placeholder for a number that fits the case."""
        return any(FITTED in splice.text for splice in self.splices)


Write = Callable[[Any], Iterator[str | Rewrite]]
ChangeOf = Change | Callable[[Any], Change]


@dataclass(frozen=True)
class EditRule:
    """What may stand in place of a node, what that changes, and what it costs."""

    write: Write
    change: ChangeOf
    cost: int

    @property
    def name(self) -> str:
        return self.write.__name__

    def edits(self, site: Site) -> Iterator[Edit]:
        change = self.change if isinstance(self.change, Change) else self.change(site)
        for rewrite in self.write(site):
            is_likely = False
            if isinstance(rewrite, str):
                is_likely = rewrite in site.around.unread
                rewrite = Rewrite((Splice(*site.text.span(site.node), rewrite),), (site.node.lineno,))
            yield Edit(rewrite.splices, rewrite.lines, change, self.cost, self.name, is_likely)


RULES: dict[type[ast.AST], list[EditRule]] = defaultdict(list)


def rule(*kinds: type[ast.AST], change: ChangeOf, cost: int) -> Callable[[Write], Write]:
    """Enter a function into the table, for nodes of these kinds; of `ast.expr`, for all expressions, after the others.

    It generates texts that may stand in place of the node, or rewrites of other parts.
    """

    def enter(write: Write) -> Write:
        for kind in kinds:
            RULES[kind].append(EditRule(write, change, cost))
        return write

    return enter


def edits_at(site: Site) -> Iterator[Edit]:
    """All that the student may have meant in place of a node."""
    if not isinstance(getattr(site.node, "ctx", ast.Load()), ast.Load):
        return
    general = RULES[ast.expr] if isinstance(site.node, ast.expr) else []
    for entry in (*RULES[type(site.node)], *general):
        yield from entry.edits(site)
