"""Ask what the expressions of a student's code are in a case, and where it stops if it does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping

from grader.facts.student_text import Splice, StudentText
from grader.model.answer import Answer, Raised
from grader.model.located import Change
from grader.repair.edited_text import EditedText
from grader.repair.edits import Edit, spots_of
from grader.repair.seen_values import FAILS, Seen, SeenAt, Span, asking, asking_before, seen_before, seen_in

AskAll = Callable[[Iterable[EditedText]], Iterator[tuple[EditedText, Answer]]]


def look(text: EditedText, as_it_is: Answer, ask: AskAll) -> dict[Span, Seen]:
    """What is known of its expressions in the case that `ask` asks."""
    spots = {text.text.span(node): node for node in spots_of(text.text)}
    asked = {span: asking(text.text.of(node)) for span, node in spots.items()}
    seen = _said(text, asked, ask, functools.partial(seen_in, as_it_is=as_it_is))
    if isinstance(as_it_is, Raised):
        unknown = {span: asking_before() for span in spots if span not in seen}
        seen |= _said(text, unknown, ask, functools.partial(seen_before, as_it_is=as_it_is))
    return seen


def where_it_fails_first(text: StudentText, seen: SeenAt, edits: Iterable[Edit]) -> list[Edit]:
    """Of changes that are as plausible, first those in a line that stops with an error."""
    lines = {text.bytes[:start].count(b"\n") + 1 for (start, _), now in seen.items() if now is FAILS}
    return sorted(edits, key=lambda edit: (edit.cost, not edit.likely, edit.line not in lines))


def _said(
    text: EditedText, asked: Mapping[Span, str], ask: AskAll, read: Callable[[Answer], Seen | None]
) -> dict[Span, Seen]:
    splices = [Splice(*span, other) for span, other in asked.items()]
    said = {}
    for version, answer in ask([text.with_edit(Edit((splice,), 0, Change.NAME, 0), ()) for splice in splices]):
        now = read(answer)
        if now is not None and version.edit is not None:
            (splice,) = version.edit.splices
            said[splice.start, splice.end] = now
    return said
