"""Small edits to a student's code, each of which would undo a mistake of the kind that students make.

No edit brings in a formula: it puts in a number, an operator, an order of axes, or something that the student's code
already has. Its cost says how plausible it is: 1 for a slip of one word, more for more.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.facts.student_text import Function, Splice, StudentText, statements
from grader.model.located import Change
from grader.repair import edit_calls, edit_expressions, edit_rules, edit_statements  # noqa: F401 - enter their rules
from grader.repair.edit_rules import ExpressionPlace
from grader.repair.edit_words import FITTED, Other, Spot, Surroundings

MOST = 6_000  # edits to one code
MOST_ALIKE = 4  # lines with the same mistake
MOST_NUMBERS = 8  # places of the same number
_NOT_CALLED = ("__init__", "forward")  # by name
_WORD = re.compile(r"\b[A-Za-z_]\w*")


@dataclass(frozen=True)
class Edit:
    """A change to one spot of the code."""

    splices: tuple[Splice, ...]
    line: int
    change: Change
    cost: int
    fitted: bool = False  # whether it contains FITTED, a placeholder for a number that fits the case
    more_lines: tuple[int, ...] = ()  # other lines that it changes
    likely: bool = False  # it uses a value that nothing else reads


def edits_of(text: StudentText, notebook: Sequence[str] = ()) -> list[Edit]:
    """All edits to existing code, the most plausible first. Each changes something. `notebook` names its functions."""
    return _in_order(text, _changes_of(text, notebook))


def _in_order(text: StudentText, edits: Iterable[Edit]) -> list[Edit]:
    found: dict[tuple[Splice, ...], Edit] = {}
    for edit in edits:
        if len(found) >= MOST:
            break
        known = found.get(edit.splices)
        if known is None or edit.cost < known.cost:
            found[edit.splices] = edit
    for edit in list(_repeated(text, list(found.values()))):
        found.setdefault(edit.splices, edit)
    return sorted(found.values(), key=lambda edit: (edit.cost, not edit.likely))


def _repeated(text: StudentText, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The same edit in all lines that are alike except for their names."""
    forms = {number: _WORD.sub("name", line) for number, line in enumerate(text.lines, start=1)}
    count = Counter(forms.values())
    alike: dict[tuple[tuple[str, ...], Change], list[Edit]] = {}
    for edit in edits:
        if len(edit.splices) == 1 and edit.line and not edit.fitted and count[forms[edit.line]] > 1:
            (splice,) = edit.splices
            parts = (text.bytes[text.start_of(edit.line) : splice.start], text.bytes[splice.start : splice.end])
            texts = (*(part.decode() for part in parts), splice.text)
            form = (forms[edit.line], *(_WORD.sub("name", part) for part in texts))
            alike.setdefault((form, edit.change), []).append(edit)
    for same in alike.values():
        lines = [edit.line for edit in same]
        if 2 <= len(same) == len(set(lines)) <= MOST_ALIKE:
            splices = tuple(splice for edit in same for splice in edit.splices)
            yield Edit(splices, lines[0], same[0].change, same[0].cost + 1, more_lines=tuple(lines[1:]))


def _changes_of(text: StudentText, notebook: Sequence[str]) -> Iterator[Edit]:
    for function, owner in text.functions:
        around = _surroundings(function, owner, notebook)
        for made in edit_statements.of_function(text, function, around):
            yield Edit(made.splices, made.line, made.change, made.cost, more_lines=made.more_lines)
        for spot in _spots(function):
            yield from _edits(text, function, spot, edit_rules.alternatives(text, spot, around), around.unread)
        yield from _numbers_again(text, function, around)


def _numbers_again(text: StudentText, function: Function, around: Surroundings) -> Iterator[Edit]:
    """One size for a number that is written more than once, as in torch.empty(6, 6): in a line, or everywhere."""
    by_value: dict[int, list[ast.Constant]] = {}
    for spot in _spots(function):
        match spot.node:
            case ast.Constant(value=int() as value) if value > 1 and not ExpressionPlace(text, spot, around).is_axis:
                by_value.setdefault(value, []).append(spot.node)
    for numbers in by_value.values():
        by_line: dict[int, list[ast.Constant]] = {}
        for number in numbers:
            by_line.setdefault(number.lineno, []).append(number)
        groups = [numbers, *by_line.values()] if len(by_line) > 1 else [numbers]
        for group in groups:
            lines = list(dict.fromkeys(number.lineno for number in group))
            if 1 < len(group) <= MOST_NUMBERS:
                splices = tuple(Splice(*text.span(number), FITTED) for number in group)
                change = Change.NUMBERS if len(lines) == 1 else Change.NUMBER
                yield Edit(splices, lines[0], change, 2, fitted=True, more_lines=tuple(lines[1:]))


def _edits(
    text: StudentText, function: Function, spot: Spot, others: Iterable[Other], unread: frozenset[str]
) -> Iterator[Edit]:
    span = text.span(spot.node)
    for other in others:
        splice = Splice(*span, other.text)
        if text.bytes[splice.start : splice.end] != other.text.encode():
            line = getattr(spot.node, "lineno", function.lineno)
            likely = other.text in unread
            yield Edit((splice,), line, other.change, other.cost, FITTED in other.text, likely=likely)


def _surroundings(function: Function, owner: ast.ClassDef | None, notebook: Sequence[str] = ()) -> Surroundings:
    parameters = [argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)]
    parameters = [name for name in parameters if name != "self"]
    names = parameters + [
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    attributes: list[str] = []
    if owner is not None:
        stored = [node for node in ast.walk(owner) if isinstance(node, ast.Attribute)]
        attributes = [node.attr for node in stored if isinstance(node.ctx, ast.Store) and _is_self(node.value)]
        attributes += _registered(owner)
        attributes += [part.name for part in owner.body if isinstance(part, Function) and part.name not in _NOT_CALLED]
    functions = [node.name for node in ast.walk(function) if isinstance(node, Function) and node is not function]
    targets = [node.target for node in ast.walk(function) if isinstance(node, ast.For | ast.comprehension)]
    variables = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return Surroundings(
        names=_unique(names),
        parameters=_unique(parameters),
        attributes=_unique(attributes),
        functions=_unique(functions),
        notebook=tuple(notebook),
        loop_variables=_unique(variables),
        unread=_unread(names, attributes, function, owner or function),
        function=function,
        owner=owner,
    )


def _unread(names: Sequence[str], attributes: Sequence[str], function: Function, whole: ast.AST) -> frozenset[str]:
    names_read = {node.id for node in ast.walk(function) if _is_read(node) and isinstance(node, ast.Name)}
    attributes_read = {node.attr for node in ast.walk(whole) if _is_read(node) and isinstance(node, ast.Attribute)}
    unread_attributes = {f"self.{attribute}" for attribute in set(attributes) - attributes_read}
    return frozenset((set(names) - names_read) | unread_attributes)


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _registered(owner: ast.ClassDef) -> list[str]:
    """The names of buffers and parameters."""
    return [
        node.args[0].value
        for node in ast.walk(owner)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr.startswith("register_")
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    ]


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _spots(function: Function) -> Iterator[Spot]:
    """The expressions of a function, each with its parent."""
    for default in (*function.args.defaults, *filter(None, function.args.kw_defaults)):
        yield from _inside(default, function.args, "defaults")
    for statement in statements(function):
        if isinstance(statement, ast.Assert | ast.Import | ast.ImportFrom | ast.Raise):
            continue
        for name, value in ast.iter_fields(statement):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.expr):
                    yield from _inside(part, statement, name)


def _inside(node: ast.expr | ast.keyword, parent: ast.AST, field: str) -> Iterator[Spot]:
    if isinstance(node, ast.expr):
        if isinstance(node, ast.JoinedStr):  # text for people
            return
        yield Spot(node, parent, field)
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.expr | ast.keyword):
                yield from _inside(part, node, name)
            elif isinstance(part, ast.comprehension):
                for inner in (part.iter, *part.ifs):
                    yield from _inside(inner, part, "iter")
