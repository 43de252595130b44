"""What a function has at hand for a step that may be missing, and what of it nobody reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from grader.facts.student_text import StudentText
from grader.repair.edit_words import Surroundings
from grader.repair.seen_values import FAILS, UNREACHED, Seen, SeenAt


class AtHand:
    """Names and attributes, by what they have been seen to be."""

    def __init__(self, text: StudentText, around: Surroundings, seen: SeenAt) -> None:
        self.text = text
        self.around = around
        self.seen = seen

    def others(self) -> Iterator[tuple[str, str]]:
        """All that a value can be put together with, and how it is written."""
        yield from ((name, name) for name in self.around.names)
        for attribute in self.around.attributes:
            if attribute not in self._called:
                yield f"self.{attribute}", f"self.{attribute}"

    @cached_property
    def kinds(self) -> dict[str, frozenset[Seen]]:
        """Of each name and attribute, all that it has been seen to be."""
        found: dict[str, set[Seen]] = {}
        for node in self._read:
            seen = self.seen.get(self.text.span(node))
            if seen not in (None, UNREACHED, FAILS):
                found.setdefault(self.text.of(node), set()).add(seen)
        return {name: frozenset(kinds) for name, kinds in found.items()}

    @cached_property
    def unread(self) -> frozenset[str]:
        """Parameters and values that nobody reads: they may have been made for what is missing, or is another one."""
        read = {node.id for node in _read_in(self.around.function) if isinstance(node, ast.Name)}
        attributes = (f"self.{name}" for name in self.unread_attributes)
        return frozenset([*(name for name in self.around.names if name not in read), *attributes])

    @cached_property
    def unread_attributes(self) -> frozenset[str]:
        read = {node.attr for node in self._read if isinstance(node, ast.Attribute)}
        return frozenset(name for name in self.around.attributes if name not in read)

    @cached_property
    def callable_attributes(self) -> list[str]:
        """Those that are called somewhere, or of which nothing is known."""
        known = self.kinds
        return [name for name in self.around.attributes if name in self._called or f"self.{name}" not in known]

    @cached_property
    def _called(self) -> frozenset[str]:
        calls = [node for node in ast.walk(self.around.owner or self.around.function) if isinstance(node, ast.Call)]
        return frozenset(call.func.attr for call in calls if isinstance(call.func, ast.Attribute))

    @cached_property
    def _read(self) -> list[ast.Name | ast.Attribute]:
        return _read_in(self.around.owner or self.around.function)


def _read_in(whole: ast.AST) -> list[ast.Name | ast.Attribute]:
    nodes = [node for node in ast.walk(whole) if isinstance(node, ast.Name | ast.Attribute)]
    return [node for node in nodes if isinstance(node.ctx, ast.Load)]
