"""Whether a repaired code is one solution, and not several from which a small change has chosen the right one.

Of a solution, all that it computes is needed: spoiled, it makes some answer wrong. Of several, the others are not
needed, and what was chosen before no longer is. So nobody earns by a search through formulas that they have written
down, whatever they choose by: numbers, keys, conditions, or factors that are zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.facts.student_text import Splice
from grader.judging.judging_time import JudgingTooLong
from grader.model.answer import Answer, Lost, Returned
from grader.model.located import Change
from grader.repair.edited_text import EditedText
from grader.repair.edits import Edit
from grader.repair.locating import Locating, TrialEnded
from grader.repair.seen_values import Span, asking, seen_in
from grader.repair.three_at_once import alike, all_numbers

MOST_UNNEEDED = 1  # steps; something is left over in much honest code
# What makes a tensor to be filled, or is taken off before exp: of that, no number matters.
_OF_NO_NUMBER = {
    "amax", "empty", "empty_like", "max", "ones", "ones_like", "rand", "rand_like", "randn", "zeros", "zeros_like",
}  # fmt: skip
_STEPS = (
    ast.BinOp | ast.Call | ast.Compare | ast.IfExp | ast.BoolOp | ast.UnaryOp | ast.Subscript | ast.ListComp
    | ast.Attribute
)  # fmt: skip
_HOLD_STEPS = ast.Assign | ast.Return | ast.IfExp | ast.List | ast.Tuple
_FOR_PEOPLE = ast.Assert | ast.Raise | ast.JoinedStr | ast.arguments
_PLAIN_KINDS = ("int", "float", "bool", "str", "dtype", "device", "Size", "NoneType")

# Some of a value of each kind, so that nothing right comes of it: by as much as no rounding is.
_SPOIL = (
    "(lambda it: it * 1.7 + 0.3 if getattr(it, 'is_floating_point', bool)() else it + 1 "
    "if isinstance(it, (int, float)) else it[:-1] if isinstance(it, (list, tuple)) else None)"
)


@dataclass(frozen=True)
class CodePart:
    """A part of a code whose value may be spoiled."""

    span: Span
    written: str
    is_step: bool  # else it is only a name, in a place where there may be a step
    spoiled: str


def is_one_solution(locating: Locating, repaired: EditedText) -> bool:
    """Whether hardly anything in it is not needed, and nothing that was before the change. `locating` asks."""
    try:
        if not locating.is_right_in_all(repaired):
            return False
        unneeded = [part for part in _unneeded(locating, repaired) if not _is_plain(locating, repaired, part)]
        if sum(part.is_step for part in unneeded) > MOST_UNNEEDED or _was_needed(locating, repaired, unneeded):
            return False
        return locating.is_right_in_all(repaired)  # as before, so that it has not counted
    except (TrialEnded, JudgingTooLong, SyntaxError, RecursionError):
        return False


def _unneeded(locating: Locating, repaired: EditedText) -> list[CodePart]:
    """What changes no answer so that it is wrong."""
    left = list(_parts(repaired, locating.entry))
    for index in locating.in_order:
        spoiled = [_with(repaired, part.span, part.spoiled) for part in left]
        answers = _answers(locating, index, spoiled)
        left = [part for part, answer in zip(left, answers, strict=True) if locating.is_right_answer(index, answer)]
    return left


def _answers(locating: Locating, index: int, texts: Iterable[EditedText]) -> list[Answer]:
    """Those of some versions. One that breaks the sandbox takes others with it, and nothing is known of them."""
    answers = locating.answers(index, texts)
    if any(isinstance(answer, Lost) for answer in answers):
        raise TrialEnded
    return answers


def _is_plain(locating: Locating, repaired: EditedText, part: CodePart) -> bool:
    """Whether it is a size or another number, wherever it is reached."""
    asked = _with(repaired, part.span, asking(part.written))
    for index in locating.in_order:
        as_it_is, answer = _answers(locating, index, [repaired, asked])
        seen = seen_in(answer, as_it_is)
        if seen is not None and seen.kind:
            return seen.kind in _PLAIN_KINDS
    return False


def _was_needed(locating: Locating, repaired: EditedText, unneeded: Sequence[CodePart]) -> bool:
    """Whether any of it, as it was, had a share in the answers that were wrong."""
    student = EditedText(repaired.original)
    origins = {span for part in unneeded if (span := repaired.origin(part.span))}
    before = [
        _with(student, part.span, part.spoiled) for part in _parts(student, locating.entry) if part.span in origins
    ]
    for index in locating.in_order:
        as_it_is, *spoiled = _answers(locating, index, [student, *before])
        if not all(_is_alike(as_it_is, answer) for answer in spoiled):
            return True
    return False


def _is_alike(as_it_is: Answer, spoiled: Answer) -> bool:
    if spoiled is as_it_is or not isinstance(as_it_is, Returned):  # an error tells nothing of what comes after it
        return True
    return isinstance(spoiled, Returned) and alike(all_numbers(as_it_is.value), all_numbers(spoiled.value))


def _with(text: EditedText, span: Span, other: str) -> EditedText:
    return text.with_edit(Edit((Splice(*span, other),), 0, Change.NAME, 0), ())


def _parts(text: EditedText, entry: str) -> Iterator[CodePart]:
    """Those of what is asked for, and of all other definitions that it uses."""
    defined = {getattr(node, "name", ""): node for node in text.text.definitions}
    to_read, read, given = {entry}, set[str](), _given(defined.get(entry))
    while to_read:
        read.add(name := to_read.pop())
        if name in defined:
            yield from (part for part in _parts_in(text, defined[name]) if part.is_step or part.written not in given)
            used = {node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)}
            to_read |= used - read


def _given(node: ast.AST | None) -> set[str]:
    """The names of inputs, unless something else gets one of them. A right solution need not depend on each: what
    keys have in common, as their bias, ends with the softmax."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    made = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    return {one.arg for one in node.args.args} - made


def _is_of_no_number(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in _OF_NO_NUMBER
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return _is_of_no_number(value)
        case ast.UnaryOp(operand=operand):
            return isinstance(operand, ast.Constant)
    return False


def _parts_in(text: EditedText, node: ast.AST) -> Iterator[CodePart]:
    for field, value in ast.iter_fields(node):
        for inner in value if isinstance(value, list) else [value]:
            if not isinstance(inner, ast.AST) or isinstance(inner, _FOR_PEOPLE) or _is_printed(inner):
                continue
            if field not in ("func", "annotation", "returns", "decorator_list", "bases"):
                yield from _part(text, node, inner)
            yield from _parts_in(text, inner)


def _part(text: EditedText, parent: ast.AST, node: ast.AST) -> Iterator[CodePart]:
    is_step = isinstance(node, _STEPS)
    if isinstance(node, ast.Attribute):  # of what is computed, or of a module, it is a part of a step
        is_step = isinstance(node.value, ast.Name) and not isinstance(parent, ast.Attribute)
    may_be = isinstance(node, ast.Name) and isinstance(
        parent, ast.Assign | ast.Return | ast.IfExp | ast.List | ast.Tuple
    )
    is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    if (is_step or may_be) and is_read and not _is_of_no_number(node):
        other = "None" if isinstance(parent, ast.Expr) else f"{_SPOIL}({text.text.of(node)})"
        yield CodePart(text.text.span(node), text.text.of(node), is_step, other)


def _is_printed(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    return False
