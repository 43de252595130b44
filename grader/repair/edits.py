"""Small edits to a student's code, each of which would undo a mistake of the kind that students make.

No edit brings in a formula: it puts in a number, an operator, an order of axes, or something that the student's code
already has.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from grader.facts.student_text import Splice, StudentText
from grader.model.change import Change
from grader.repair import edit_calls, edit_constants, edit_expressions, edit_functions, edit_statements
from grader.repair.edit_rules import Edit, edits_at
from grader.repair.sites import FunctionSite, expressions_in, statements_in, surroundings

# The modules that enter their rules into the table.
MODULES = (edit_calls, edit_constants, edit_expressions, edit_functions, edit_statements)

MOST = 6_000  # edits to one code
STOP = "raise LookupError('the search stops here')"
MOST_LINES = 4  # with the same mistake
_WORD = re.compile(r"\b[A-Za-z_]\w*")


def edits_of(text: StudentText, notebook: Sequence[str] = ()) -> list[Edit]:
    """All edits, the most plausible first. Each changes something. `notebook` names its functions."""
    cheapest: dict[tuple[Splice, ...], Edit] = {}
    for edit in _edits_of(text, notebook):
        if len(cheapest) >= MOST:
            break
        if edit.splices not in cheapest or edit.cost < cheapest[edit.splices].cost:
            cheapest[edit.splices] = edit
    for edit in list(_repeated_edits(text, cheapest.values())):
        cheapest.setdefault(edit.splices, edit)
    return sorted(cheapest.values(), key=lambda edit: (edit.cost, not edit.is_likely))


def stops_before(text: StudentText) -> Iterator[Edit]:
    """For each statement, an edit that stops the code right before it, with an error of its own."""
    for function, owner in text.functions:
        for site in statements_in(text, function, surroundings(function, owner)):
            if site.is_alone(site.node):
                lines = tuple(range(site.line, (site.node.end_lineno or site.line) + 1))
                yield Edit((site.before(site.node, STOP),), lines, Change.PLACE, 0, "stops_before")


def _edits_of(text: StudentText, notebook: Sequence[str]) -> Iterator[Edit]:
    for function, owner in text.functions:
        around = surroundings(function, owner, notebook)
        sites = [
            FunctionSite(text, function, around),
            *statements_in(text, function, around),
            *expressions_in(text, function, around),
        ]
        for site in sites:
            for edit in edits_at(site):
                if _changes_something(text, edit):
                    yield edit


def _changes_something(text: StudentText, edit: Edit) -> bool:
    return any(text.bytes[splice.start : splice.end] != splice.text.encode() for splice in edit.splices)


def _repeated_edits(text: StudentText, edits: Iterable[Edit]) -> Iterator[Edit]:
    """The same edit in all lines that are alike except for their names."""
    patterns = {number: _WORD.sub("name", line) for number, line in enumerate(text.lines, start=1)}
    counts = Counter(patterns.values())
    groups: dict[object, list[Edit]] = defaultdict(list)
    for edit in edits:
        if len(edit.splices) == len(edit.lines) == 1 and not edit.is_fitted:
            pattern = patterns[edit.lines[0]]
            if counts[pattern] > 1:
                groups[(pattern, *_pattern_of_edit(text, edit), edit.change)].append(edit)
    for group in groups.values():
        lines = tuple(edit.lines[0] for edit in group)
        if 2 <= len(group) == len(set(lines)) <= MOST_LINES:
            splices = tuple(itertools.chain.from_iterable(edit.splices for edit in group))
            yield replace(group[0], splices=splices, lines=lines, cost=group[0].cost + 1, is_likely=False)


def _pattern_of_edit(text: StudentText, edit: Edit) -> tuple[str, ...]:
    """What the edit does in its line, apart from names."""
    (splice,) = edit.splices
    before, replaced = text.bytes[text.start_of(edit.lines[0]) : splice.start], text.bytes[splice.start : splice.end]
    return tuple(_WORD.sub("name", code) for code in (before.decode(), replaced.decode(), splice.text))
