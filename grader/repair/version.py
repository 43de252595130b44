"""A student's definitions with some edits. Later edits leave earlier ones alone."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from grader.facts.student_text import Splice, StudentText
from grader.model.edited import EditedSource
from grader.model.located import Change
from grader.repair.edit_words import FITTED
from grader.repair.edits import Edit, edits_of

Range = tuple[int, int]


@dataclass(frozen=True)
class EditedText:
    """`before` with one more edit. A number that an edit brings in has a value for each case."""

    original: StudentText
    before: EditedText | None = None
    edit: Edit | None = None
    fitting: Sequence[float] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (*self.before.edits, self.edit) if self.before and self.edit else ()

    @property
    def places(self) -> tuple[tuple[str, Change], ...]:
        """The student's lines that were edited, in order, and what each edit is about."""
        if not (self.before and self.edit):
            return ()
        told = [self.before.text.line(line).strip() for line in (self.edit.line, *self.edit.more_lines)]
        known = {own.strip() for own in self.original.lines if own.strip()}
        return (*self.before.places, *((line, self.edit.change) for line in told if line in known))

    @cached_property
    def source(self) -> str:
        if not (self.before and self.edit):
            return self.original.source
        return self.before.text.with_splices(*self._splices)

    @cached_property
    def text(self) -> StudentText:
        return StudentText(self.source) if self.before else self.original

    def with_edit(self, edit: Edit, fitting: Sequence[float]) -> EditedText:
        return EditedText(self.original, self, edit, fitting)

    def in_case(self, index: int) -> EditedSource:
        return EditedSource(self.source, self._lent(index))

    def undoes(self, edit: Edit) -> bool:
        """Whether it would undo an earlier edit."""
        return any(
            splice.start <= end and start <= splice.end and self.text.bytes[start:end].decode() not in splice.text
            for splice in edit.splices
            for start, end in self._made
        )

    def _lent(self, index: int) -> dict[str, float]:
        if not self.before:
            return {}
        lent = self.before._lent(index)
        return {**lent, self._name: self.fitting[index]} if self.fitting else lent

    @property
    def _name(self) -> str:
        """The name of the number that the last edit brings in."""
        return f"{FITTED}_{len(self.edits)}"

    @property
    def _splices(self) -> list[Splice]:
        assert self.edit is not None
        splices = sorted(self.edit.splices, key=lambda splice: splice.start)
        return [Splice(splice.start, splice.end, splice.text.replace(FITTED, self._name)) for splice in splices]

    @cached_property
    def _made(self) -> list[Range]:
        """The places of the edits in the text."""
        if not (self.before and self.edit):
            return []
        made, splices = [], self._splices
        for index, splice in enumerate(splices):
            start = splice.start + sum(map(_longer, splices[:index]))
            made.append((start, start + len(splice.text.encode())))
        for start, end in self.before._made:
            by = sum(_longer(splice) for splice in splices if splice.end <= start)
            within = sum(_longer(splice) for splice in splices if splice.start <= start and end <= splice.end)
            made.append((start + by, end + by + within))
        return made


def _longer(splice: Splice) -> int:
    return len(splice.text.encode()) - (splice.end - splice.start)


# How much of a student's code survives a repair.

SHARE = 2 / 3


def enough_is_left(repaired: EditedText, entry: str) -> bool:
    """Whether two thirds of the repaired function, in words and signs, are the student's own."""
    before, after = _words_of(repaired.original, entry), _words_of(repaired.text, entry)
    matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return sum(block.size for block in matches) >= SHARE * len(after)


def _words_of(text: StudentText, entry: str) -> list[str]:
    """The words and signs of the definition `entry`, without comments and layout."""
    definition = next((node for node in text.tree.body if getattr(node, "name", "") == entry), None)
    source = ast.unparse(definition) if definition else ""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.string.strip()]


def steps_in(tree: ast.Module) -> int:
    """The number of operations and calls."""
    return sum(isinstance(node, ast.BinOp | ast.Call | ast.Compare) for node in ast.walk(tree))


# Right code with one word replaced, the kind of slip that students make: for made-up classes.


def slips_in(source: str, most: int) -> Iterator[str]:
    """About this many versions, with slips from all over the code."""
    text = EditedText(StudentText(source))
    edits = [edit for edit in edits_of(text.original) if edit.cost == 1 and not edit.fitted]
    for edit in edits[:: max(1, len(edits) // most)]:
        yield text.with_edit(edit, ()).source
