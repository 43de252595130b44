"""Whether repaired code is one solution, rather than a collection from which the repair picked the right one.

In one solution every computed value matters: spoil it, and some answer becomes wrong. In a collection, the values that
are not picked do not matter, and those picked before no longer do. So nobody earns points by listing formulas and
choosing among them by numbers, keys, conditions or factors of zero.
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

MOST_UNNEEDED = 1  # step; much honest code has a leftover
# Calls whose numbers do not matter: the tensor is filled later, or the value is subtracted before exp.
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

# Changes a value of any kind by more than rounding could, so that no right answer comes out.
_SPOIL = (
    "(lambda it: it * 1.7 + 0.3 if getattr(it, 'is_floating_point', bool)() else it + 1 "
    "if isinstance(it, (int, float)) else it[:-1] if isinstance(it, (list, tuple)) else None)"
)


@dataclass(frozen=True)
class CodePart:
    """An expression whose value may be spoiled."""

    span: Span
    written: str
    is_step: bool  # or else just a name, where a step could be
    spoiled: str


def is_one_solution(locating: Locating, repaired: EditedText) -> bool:
    """Whether nearly everything in it is needed, and nothing was needed only before the repair."""
    try:
        if not locating.is_right_in_all(repaired):
            return False
        unneeded = [part for part in _unneeded(locating, repaired) if not _is_plain(locating, repaired, part)]
        if sum(part.is_step for part in unneeded) > MOST_UNNEEDED or _was_needed(locating, repaired, unneeded):
            return False
        return locating.is_right_in_all(repaired)  # still right, so it does not depend on the number of calls
    except (TrialEnded, JudgingTooLong, SyntaxError, RecursionError):
        return False


def _unneeded(locating: Locating, repaired: EditedText) -> list[CodePart]:
    """The parts that can be spoiled without making any answer wrong."""
    left = list(_parts(repaired, locating.entry))
    for index in locating.in_order:
        spoiled = [_with(repaired, part.span, part.spoiled) for part in left]
        answers = _answers(locating, index, spoiled)
        left = [part for part, answer in zip(left, answers, strict=True) if locating.is_right_answer(index, answer)]
    return left


def _answers(locating: Locating, index: int, texts: Iterable[EditedText]) -> list[Answer]:
    """The answers of some versions. A version that breaks the sandbox takes the others with it."""
    answers = locating.answers(index, texts)
    if any(isinstance(answer, Lost) for answer in answers):
        raise TrialEnded
    return answers


def _is_plain(locating: Locating, repaired: EditedText, part: CodePart) -> bool:
    """Whether its value is a size or another plain number."""
    asked = _with(repaired, part.span, asking(part.written))
    for index in locating.in_order:
        as_it_is, answer = _answers(locating, index, [repaired, asked])
        seen = seen_in(answer, as_it_is)
        if seen is not None and seen.kind:
            return seen.kind in _PLAIN_KINDS
    return False


def _was_needed(locating: Locating, repaired: EditedText, unneeded: Sequence[CodePart]) -> bool:
    """Whether any of these parts contributed to the wrong answers before the repair."""
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
    if spoiled is as_it_is or not isinstance(as_it_is, Returned):  # nothing after an error shows
        return True
    return isinstance(spoiled, Returned) and alike(all_numbers(as_it_is.value), all_numbers(spoiled.value))


def _with(text: EditedText, span: Span, other: str) -> EditedText:
    return text.with_edit(Edit((Splice(*span, other),), 0, Change.NAME, 0), ())


def _parts(text: EditedText, entry: str) -> Iterator[CodePart]:
    """The parts of the definition `entry` and of all definitions that it uses."""
    defined = {getattr(node, "name", ""): node for node in text.text.definitions}
    to_read, read, given = {entry}, set[str](), _given(defined.get(entry))
    while to_read:
        read.add(name := to_read.pop())
        if name in defined:
            yield from (part for part in _parts_in(text, defined[name]) if part.is_step or part.written not in given)
            used = {node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)}
            to_read |= used - read


def _given(node: ast.AST | None) -> set[str]:
    """The names of inputs, except those that are assigned anew. A right solution may ignore an input: the softmax
    cancels what all keys share, such as their bias."""
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
    if isinstance(node, ast.Attribute):  # an attribute of a computed value or a module is part of another step
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
