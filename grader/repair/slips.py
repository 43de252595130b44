"""Code with one word that is another one, as students make such slips: for made-up classes."""

from __future__ import annotations

from collections.abc import Iterator

from grader.facts.student_text import StudentText
from grader.repair.edited_text import EditedText
from grader.repair.edits import edits_of


def slips_in(source: str, most: int) -> Iterator[str]:
    """About so many, from all over the code."""
    text = EditedText(StudentText(source))
    edits = [edit for edit in edits_of(text.original) if edit.cost == 1 and not edit.fitted]
    for edit in edits[:: max(1, len(edits) // most)]:
        yield text.with_edit(edit, ()).source
