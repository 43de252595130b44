"""Steps that may be missing: one more operation on a value, or the size of another value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from grader.facts.student_text import StudentText
from grader.model.located import Change
from grader.repair.edit_words import AXES, FITTED, AtHand, Other, Spot
from grader.repair.seen_values import FAILS, UNREACHED, Seen, can_be_multiplied, fit_together

# A step that the student's code takes elsewhere may be missing here: each call is a model of one.

NO_STEPS = ("range", "len", "super", "print", "isinstance", "enumerate", "zip", "Linear", "register_buffer")
MOST = 24  # models of one function
ELEMENT_BY_ELEMENT = ({"sin", "cos"}, {"exp", "log"})


class Model(NamedTuple):
    """A call with a gap in place of its first argument, or of the object whose method it is."""

    before: str
    after: str
    of: Seen  # the value that fills the gap in the student's code


def as_elsewhere(text: StudentText, spot: Spot, seen: Seen | None, at_hand: AtHand) -> Iterator[Other]:
    """The expression with a step that the code takes elsewhere, on a value of the same kind."""
    if seen is None:
        return
    node = text.of(spot.node)
    for model in models(text, at_hand):
        if model.of.is_like(seen):
            cost = 3 if model.of.shape == seen.shape or not seen.is_tensor else 4
            yield Other(f"{model.before}{node}{model.after}", Change.MISSING, cost)


def models(text: StudentText, at_hand: AtHand) -> list[Model]:
    """Every call of a function as a model, with its other arguments unchanged."""
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


FORMS = ("contiguous()", "unsqueeze(-1)", "unsqueeze(0)", "unsqueeze(1)", "squeeze()")
SQUEEZED = {"squeeze(-1)": -1, "squeeze(0)": 0}  # each needs an axis of length 1
STEPS = (
    *(f"{name}(dim={dim}, keepdim=True)" for name in ("sum", "amax") for dim in (-1, 0)),
    "sum(dim=-1)", "sum(dim=0)", "sum()", "exp()", "sqrt()", "tril()", "float()",
)  # fmt: skip

_TURNED = (".T", ".mT", "transpose", "permute", ".t()")
_LINEAR = ast.Mult | ast.Div | ast.MatMult  # a step on a factor is the same as on the product


def one_more(text: StudentText, spot: Spot, at_hand: AtHand) -> Iterator[Other]:
    """The expression with one more step: one that the student's code has, or one that changes no numbers."""
    node, seen = text.of(spot.node), at_hand.seen.get(text.span(spot.node))
    if seen is UNREACHED:
        return
    seen = None if seen is FAILS else seen
    if seen is None or seen.is_tensor:
        yield from _of_a_tensor(spot, node, seen, at_hand)
    if seen is None or seen.is_tensor or seen.is_number:
        yield Other(f"-({node})", Change.OPPOSITE, 2)
    if seen is None or seen.is_read_once:
        yield Other(f"list({node})", Change.MISSING, 2)
    if seen is not None and seen.kind == "list":
        yield from (Other(f"torch.{step}({node})", Change.MISSING, 3) for step in ("stack", "cat", "tensor"))
        yield Other(f"torch.cat({node}, dim=-1)", Change.MISSING, 3)
    yield from as_elsewhere(text, spot, seen, at_hand)


def _of_a_tensor(spot: Spot, node: str, seen: Seen | None, at_hand: AtHand) -> Iterator[Other]:
    cost = 2 if _is_multiplied(spot) else 3
    yield from (Other(f"({node}).{step}", Change.ARRANGEMENT, cost) for step in _axes(seen))
    yield Other(f"({node}).clone()", Change.ALIAS, 3)
    yield from (Other(f"({node}).{step}", Change.ARRANGEMENT, 3) for step in FORMS)
    for step, axis in SQUEEZED.items():
        if seen is None or (seen.shape and seen.shape[axis] == 1):
            yield Other(f"({node}).{step}", Change.ARRANGEMENT, 3)
    if isinstance(spot.node, ast.Compare | ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        yield Other(f"(({node}) == 0)", Change.OPPOSITE, 3)
        yield Other(f"(1 - ({node}))", Change.OPPOSITE, 3)
        if seen is None or seen.dtype != "bool":
            yield Other(f"(({node}).bool())", Change.MISSING, 3)
    for attribute in at_hand.callable_attributes:
        yield Other(f"self.{attribute}({node})", Change.MISSING, 2 if attribute in at_hand.unread_attributes else 3)
    if seen is None or seen.is_float:
        if not _is_factor(spot):
            yield Other(f"({node}) * {FITTED}", Change.MISSING, 3 if _are_scores(spot.node, node) else 4)
        yield from (Other(f"({node}).{step}", Change.MISSING, 4) for step in STEPS)
    yield from _with_another(spot, node, seen, at_hand)


def _axes(seen: Seen | None) -> Iterator[str]:
    """Transposes that the value can have, each once."""
    if seen is None or seen.shape is None:
        yield from AXES
        return
    count, known = len(seen.shape), set()
    for step in AXES:
        pair = tuple(int(axis) for axis in step[len("transpose(") : -1].split(","))
        axes = frozenset(axis % count if axis < 0 else axis for axis in pair) if count > 1 else frozenset()
        if len(axes) == 2 and max(axes) < count and axes not in known:
            known.add(axes)
            yield step


def _with_another(spot: Spot, node: str, seen: Seen | None, at_hand: AtHand) -> Iterator[Other]:
    """The value combined with another one; likelier if nothing reads the other one yet."""
    if _is_factor(spot):
        return
    is_whole = isinstance(spot.parent, ast.Assign | ast.AugAssign | ast.Return | ast.Tuple | ast.List)
    for other, written in at_hand.others():
        cost = 2 if other in at_hand.unread else 4 if is_whole or _is_exponent(spot) else 5
        if other == node:
            continue
        kinds = at_hand.kinds.get(other)
        if _may(kinds, lambda kind: seen is None or _can_scale(seen, kind)):
            yield from (Other(f"(({node}) {sign} {written})", Change.MISSING, cost) for sign in "*/")
            if is_whole or cost == 2 or isinstance(spot.parent, ast.BinOp) or _is_exponent(spot):
                yield from (Other(f"(({node}) {sign} {written})", Change.MISSING, cost) for sign in "+-")
                yield from (Other(f"({written} {sign} ({node}))", Change.MISSING, cost + 1) for sign in "/-")
        if is_whole or cost == 2:
            if _may(kinds, lambda kind: seen is None or can_be_multiplied(seen, kind)):
                yield Other(f"(({node}) @ {written})", Change.MISSING, cost)
            if _may(kinds, lambda kind: seen is None or can_be_multiplied(kind, seen)):
                yield Other(f"({written} @ ({node}))", Change.MISSING, cost)


def _may(kinds: frozenset[Seen] | None, fits: Callable[[Seen], bool]) -> bool:
    return kinds is None or any(map(fits, kinds))


def _can_scale(seen: Seen, other: Seen) -> bool:
    return other.is_number or (other.is_tensor and fit_together(seen, other))


def _is_exponent(spot: Spot) -> bool:
    """Whether it goes into an exponential, where it is too late to subtract afterwards."""
    is_exp = isinstance(spot.parent, ast.Call) and ast.unparse(spot.parent.func) in ("torch.exp", "math.exp", "exp")
    return is_exp or (isinstance(spot.parent, ast.Attribute) and spot.parent.attr == "exp")


def _is_factor(spot: Spot) -> bool:
    return isinstance(spot.parent, ast.BinOp) and isinstance(spot.parent.op, _LINEAR)


def _is_multiplied(spot: Spot) -> bool:
    """Whether it is a factor in a matrix product."""
    match spot.parent:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("matmul", "mm", "bmm", "mv") and spot.field == "args"
    return False


def _are_scores(node: ast.expr, written: str) -> bool:
    """Whether it looks like attention scores, which are what gets scaled."""
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return any(sign in written for sign in _TURNED)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in ("einsum", "dot", "sum", "inner") or (
                name in ("matmul", "mm", "bmm") and any(sign in written for sign in _TURNED)
            )
    return False
