"""A table of rules: what a student may have meant in place of an expression of some kind."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.facts.student_text import StudentText
from grader.model.located import Change
from grader.repair.edit_words import WITH_DIM, Other, Spot, Surroundings

_LIBRARIES = ("torch", "F", "nn", "nn.functional", "torch.nn", "torch.nn.functional", "math", "np")
_AXES_BY_NAME = ("dim", "axis", "dim0", "dim1", "keepdim", "keepdims")


@dataclass(frozen=True)
class ExpressionPlace:
    """An expression in its surroundings."""

    text: StudentText
    spot: Spot
    around: Surroundings

    @property
    def node(self) -> ast.expr:
        return self.spot.node

    def of(self, node: ast.AST) -> str:
        return self.text.of(node)

    def operand(self, node: ast.expr) -> str:
        return self.text.operand(node)

    @property
    def is_axis(self) -> bool:
        match self.spot.parent:
            case ast.keyword(arg=name):
                return name in _AXES_BY_NAME
            case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
                return name in WITH_DIM or name == "permute"
        return False


@dataclass(frozen=True)
class CallPlace(ExpressionPlace):
    """A call, in pieces of text."""

    @property
    def node(self) -> ast.Call:
        assert isinstance(self.spot.node, ast.Call)
        return self.spot.node

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


Write = Callable[[Any], Iterator[str]]
ChangeOf = Change | Callable[[Any], Change]


@dataclass(frozen=True)
class EditRule:
    """Texts that may stand in place of an expression, what that changes, and what it costs."""

    write: Write
    change: ChangeOf
    cost: int

    def applied_to(self, place: ExpressionPlace) -> Iterator[Other]:
        change = self.change if isinstance(self.change, Change) else self.change(place)
        for text in self.write(place):
            yield Other(text, change, self.cost)


RULES: dict[type[ast.expr], list[EditRule]] = defaultdict(list)


def rule(*kinds: type[ast.expr], change: ChangeOf, cost: int) -> Callable[[Write], Write]:
    """Enter a function into the table, for expressions of these kinds; of `ast.expr`, for all, after the others."""

    def enter(write: Write) -> Write:
        for kind in kinds:
            RULES[kind].append(EditRule(write, change, cost))
        return write

    return enter


def alternatives(text: StudentText, spot: Spot, around: Surroundings) -> Iterator[Other]:
    """All that the student may have meant in place of an expression that is read."""
    node = spot.node
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    place = (CallPlace if isinstance(node, ast.Call) else ExpressionPlace)(text, spot, around)
    for entry in (*RULES[type(node)], *RULES[ast.expr]):
        yield from entry.applied_to(place)
