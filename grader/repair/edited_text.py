"""A student's definitions with some changes, which later changes leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.facts.student_text import Splice, StudentText
from grader.model.edited import EditedSource
from grader.model.located import Change
from grader.repair.edit_words import FITTED
from grader.repair.edits import Edit

Range = tuple[int, int]


@dataclass(frozen=True)
class EditedText:
    """`before`, and one more change. Numbers that changes bring in have a value for each case."""

    original: StudentText
    before: EditedText | None = None
    edit: Edit | None = None
    fitting: Sequence[float] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (*self.before.edits, self.edit) if self.before and self.edit else ()

    @property
    def places(self) -> tuple[tuple[str, Change], ...]:
        """The student's lines in which the changes are, one after the other, and what these are about."""
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
        """Whether it takes away what a change has made."""
        return any(
            splice.start <= end and start <= splice.end and self.text.bytes[start:end].decode() not in splice.text
            for splice in edit.splices
            for start, end in self._made
        )

    def origin(self, place: Range) -> Range | None:
        """Where in the original that is what the text has at a place; None for what changes have made."""
        if not (self.before and self.edit):
            return place
        (start, end), by, before, within = place, 0, 0, 0
        for splice in self._splices:
            first, last = splice.start + by, splice.start + by + len(splice.text.encode())
            if first <= start < last or first < end < last:
                return None
            by += _longer(splice)
            before, within = (by if last <= start else before), (by if last <= end else within)
        return self.before.origin((start - before, end - within))

    def _lent(self, index: int) -> dict[str, float]:
        if not self.before:
            return {}
        lent = self.before._lent(index)
        return {**lent, self._name: self.fitting[index]} if self.fitting else lent

    @property
    def _name(self) -> str:
        """Of the number that the last change brings in."""
        return f"{FITTED}_{len(self.edits)}"

    @property
    def _splices(self) -> list[Splice]:
        assert self.edit is not None
        splices = sorted(self.edit.splices, key=lambda splice: splice.start)
        return [Splice(splice.start, splice.end, splice.text.replace(FITTED, self._name)) for splice in splices]

    @cached_property
    def _made(self) -> list[Range]:
        """Where in the text the changes are."""
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
