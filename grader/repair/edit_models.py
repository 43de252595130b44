"""A step that the student's code takes elsewhere, where it may be missing: each of its calls is a model of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from grader.facts.student_text import StudentText
from grader.model.located import Change
from grader.repair.at_hand import AtHand
from grader.repair.edit_words import Other, Spot
from grader.repair.seen_values import FAILS, UNREACHED, Seen

NO_STEPS = ("range", "len", "super", "print", "isinstance", "enumerate", "zip", "Linear", "register_buffer")
MOST = 24  # models of one function
ELEMENT_BY_ELEMENT = ({"sin", "cos"}, {"exp", "log"})


class Model(NamedTuple):
    """A call with a gap where its first argument stands, or what it is a method of."""

    before: str
    after: str
    of: Seen  # what stands in the gap there


def as_elsewhere(text: StudentText, spot: Spot, seen: Seen | None, at_hand: AtHand) -> Iterator[Other]:
    """The expression with a step that is taken elsewhere with something of its kind."""
    if seen is None:
        return
    node = text.of(spot.node)
    for model in models(text, at_hand):
        if model.of.is_like(seen):
            cost = 3 if model.of.shape == seen.shape or not seen.is_tensor else 4
            yield Other(f"{model.before}{node}{model.after}", Change.MISSING, cost)


def models(text: StudentText, at_hand: AtHand) -> list[Model]:
    """All that a function does to one thing, with all else as it is there."""
    found: dict[tuple[str, str], Model] = {}
    for node in ast.walk(at_hand.around.function):
        if isinstance(node, ast.Call) and len(found) < MOST:
            for model in _models_in(text, node, at_hand):
                found.setdefault((model.before, model.after), model)
    return list(found.values())


def _models_in(text: StudentText, call: ast.Call, at_hand: AtHand) -> Iterator[Model]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else text.of(call.func)
    if name in NO_STEPS:
        return
    gap: ast.expr | None = None
    if isinstance(call.func, ast.Attribute) and _known(text, call.func.value, at_hand):
        gap = call.func.value
        before, after = "(", f").{name}{text.bytes[text.span(call.func)[1] : text.span(call)[1]].decode()}"
    elif call.args and not isinstance(call.args[0], ast.Starred):
        gap = call.args[0]
        (start, end), (first, last) = text.span(call), text.span(gap)
        before, after = text.bytes[start:first].decode(), text.bytes[last:end].decode()
    of = _known(text, gap, at_hand) if gap is not None else None
    if of is None:
        return
    yield Model(before, after, of)
    for family in ELEMENT_BY_ELEMENT:
        for sibling in family - {name} if name in family else ():
            yield Model(before.replace(name, sibling), after.replace(name, sibling), of)


def _known(text: StudentText, node: ast.expr, at_hand: AtHand) -> Seen | None:
    seen = at_hand.seen.get(text.span(node))
    return None if seen in (UNREACHED, FAILS) else seen
