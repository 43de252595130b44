"""What the cells of a notebook define, by their text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from grader.facts.code_facts import FIRST_SIZES, bound_by, facts_of, variables_of
from grader.model.exercise import Exercise
from grader.model.fact import Fact

_DEFINED = re.compile(r"^[ \t]*(?:def[ \t]+|class[ \t]+|(?=\w+[ \t]*=[^=]))(\w+)", re.MULTILINE)  # also f = lambda …
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # not the softmax of torch.softmax


def defined_in(source: str) -> list[str]:
    """The names that a cell defines, or seems to."""
    return _DEFINED.findall(source)


class Definitions:
    """Which cell defines what, in the order in which they ran."""

    def __init__(self, *, last_counts: bool = False) -> None:
        """`last_counts`: cells are known to have run in this order, so the last of several definitions counts."""
        self._last_counts = last_counts
        self._sources: dict[str, None] = {}
        self._defining: dict[str, list[str]] = {}  # name -> sources of the cells that define it

    def note(self, source: str) -> None:
        """Note a cell that ran."""
        self._sources[source] = None
        for name in defined_in(source):
            earlier = [] if self._last_counts else self._defining.get(name, [])
            self._defining[name] = [*earlier, source]

    def mentions(self, entry: str, names: set[str]) -> bool:
        """Whether the code of `entry`, or other code of the notebook that it uses, mentions one of the names."""
        pending, visited = set(self._defining.get(entry, ())), set()
        visited_words: set[str] = set()
        while pending:
            source = pending.pop()
            visited.add(source)
            words = set(_WORD.findall(source)) - visited_words
            if words & names:
                return True
            visited_words |= words
            pending |= {definition for word in words for definition in self._defining.get(word, ())} - visited
        return False

    def defined_beside(self, entry: str, names: Iterable[str]) -> set[str]:
        """Those names that the cell of `entry` defines, too: they are part of the same answer."""
        cells = self._defining.get(entry, ())
        bound = {name for source in cells for name in bound_by(source) or defined_in(source)}
        return bound & set(names)

    def only_source(self, entry: str) -> str | None:
        """The cell that defines `entry`; None if there is none, or more than one."""
        cells = set(self._defining.get(entry, ()))
        return cells.pop() if len(cells) == 1 else None

    def facts(self, exercise: Exercise) -> tuple[Fact, ...]:
        """The facts about the code of an exercise; none if no cell defines it, or several do."""
        code = self.only_source(exercise.entry)
        if code is None:
            return ()
        words = frozenset(_WORD.findall(code))  # others would only fill the memory
        variables = frozenset().union(*(words & variables_of(source) for source in self._sources if source != code))
        expressions = [text for misconception in exercise.mistakes for text in misconception.in_code]
        expressions = list(dict.fromkeys([*expressions, *FIRST_SIZES]))
        return facts_of(code, exercise.entry, exercise.form.methods, variables, tuple(expressions))
