"""What the student may have meant in place of a statement, and where else the statement may belong."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.facts.code_facts import is_only_computed, layers_in
from grader.facts.student_text import Function, Splice, StudentText, blocks, statements
from grader.model.located import Change
from grader.repair.edit_words import (
    OPERATORS,
    Surroundings,
    are_named_alike,
    exchanged,
    named_after,
    renumbered,
    with_numbers_of,
)

# A line that may be missing: a layer that is used but never made, a list that nothing is appended to.

MOST_MODELS = 8
OF_EVERY_MODULE = frozenset(["training", "register_buffer", "register_parameter", "parameters", "modules", "device"])


def parts_to_make(text: StudentText, around: Surroundings) -> Iterator[str]:
    """For each missing attribute, statements for `__init__` that make it the way others are made."""
    made = _made_in(around.function)
    for name in _missing(around):
        likely = sorted(around.parameters, key=lambda parameter: parameter != name)  # it was not kept
        parts = [f"{one} // {other}" for one, other in itertools.permutations(around.parameters, 2)]
        parts += [f"{one} ** 0.5" for one in around.parameters]
        for value in dict.fromkeys([*likely, *_as_others(text, made, around.parameters), *parts]):
            yield f"self.{name} = {value}"


def empty_lists(function: ast.AST) -> list[str]:
    """The names of lists that start out empty."""
    made = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and _is_empty_list(node.value)]
    return [target.id for node in made for target in node.targets if isinstance(target, ast.Name)]


def never_filled(function: ast.AST) -> list[str]:
    """Those of the empty lists that are only ever read."""
    used = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return [name for name in empty_lists(function) if name not in used]


def _is_empty_list(value: ast.expr) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or ast.unparse(value) == "list()"


def _missing(around: Surroundings) -> list[str]:
    """Attributes that are read but never set. A class with other parents may inherit them."""
    owner = around.owner
    if owner is None or around.function.name != "__init__" or len(owner.bases) != 1:
        return []
    if ast.unparse(owner.bases[0]) not in ("nn.Module", "torch.nn.Module", "Module"):
        return []
    read = [
        node.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]
    known = {*around.attributes, *OF_EVERY_MODULE, *(part.name for part in owner.body if hasattr(part, "name"))}
    return list(dict.fromkeys(name for name in read if name not in known))


def _made_in(function: ast.AST) -> list[ast.Call]:
    """The calls that make attributes."""
    calls = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    ]
    return [value for value in calls if isinstance(value, ast.Call)][:MOST_MODELS]


def _as_others(text: StudentText, made: Sequence[ast.Call], parameters: Sequence[str]) -> Iterator[str]:
    """The calls that make other attributes: unchanged, with two arguments swapped, or with another parameter in one."""
    yield from map(text.of, made)
    for call in made:
        function, keywords = text.of(call.func), [text.of(keyword) for keyword in call.keywords]
        arguments = [text.of(argument) for argument in call.args]
        changed = list(exchanged(arguments))
        for index in range(len(arguments)):
            changed += [[*arguments[:index], name, *arguments[index + 1 :]] for name in parameters]
        yield from (f"{function}({', '.join([*order, *keywords])})" for order in changed)


SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
NO_LINE = 0  # where a line is missing, no line of the student's is at fault
MOST_EXCHANGED = 12
MOST_COPIED = 40  # lines that are compared with each other
FAR = 4  # statements that a statement may move past


class Made(NamedTuple):
    """A change to the text."""

    splices: tuple[Splice, ...]
    line: int
    change: Change
    cost: int
    more_lines: tuple[int, ...] = ()  # other lines that it changes


def of_function(text: StudentText, function: Function, around: Surroundings) -> Iterator[Made]:
    yield from _names_exchanged(text, function)
    yield from _return_at_the_end(text, function, around)
    yield from (_one_more(text, function.body, line, Change.MISSING) for line in parts_to_make(text, around))
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    yield from _only_if_given(text, function)
    for statement in statements(function):
        yield from _other_statements(text, statement, around, read)
    for block, outer in _all_blocks(function):
        yield from _as_copied(text, block)
        for index, statement in enumerate(block):
            yield from _elsewhere(text, block, index)
            if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return) and not statement.orelse:
                line = _after(text, statement, text.of(statement.body[-1]))
                splices = (_without(text, statement.body[-1]), line)
                yield Made(splices, statement.body[-1].lineno, Change.PLACE, 2)
            if isinstance(statement, ast.For | ast.While):
                yield from _not_put_into_a_list(text, function, statement)
                yield from _out_of_loop(text, statement, outer)
                yield from _into_loop(text, block, index, statement)


def _only_if_given(text: StudentText, function: Function) -> Iterator[Made]:
    """`if mask is not None:` before a statement that reads a mask, which is None where none is given."""
    arguments = function.args.args
    defaults = zip(reversed(arguments), reversed(function.args.defaults), strict=False)
    optional = {argument.arg for argument, value in defaults if isinstance(value, ast.Constant) and value.value is None}
    for statement in statements(function):
        if isinstance(statement, SIMPLE) and _stands_alone(text, statement):
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            start = text.span(statement)[0]
            for name in sorted(names & optional):
                condition = Splice(start, start, f"if {name} is not None: ")
                yield Made((condition,), statement.lineno, Change.CONDITION, 1)


def _names_exchanged(text: StudentText, function: Function) -> Iterator[Made]:
    """Two names swapped, each of which is read once."""
    read = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    counts = Counter(node.id for node in read)
    once = [node for node in read if counts[node.id] == 1]
    for first, second in itertools.combinations(once[:MOST_EXCHANGED], 2):
        splices = (Splice(*text.span(first), second.id), Splice(*text.span(second), first.id))
        yield Made(splices, first.lineno, Change.NAME, 2, (second.lineno,))


def _return_at_the_end(text: StudentText, function: Function, around: Surroundings) -> Iterator[Made]:
    """What a function without a `return` at its end may have been meant to return."""
    last = function.body[-1]
    is_stub = isinstance(last, ast.Pass) and len(function.body) > 1
    if not is_stub and any(isinstance(node, ast.Return | ast.Yield | ast.Lambda) for node in ast.walk(function)):
        return
    if function.name == "__init__":
        if "super" not in text.of(function):
            first = function.body[0]
            start = text.span(first)[0]
            call = f"super().__init__()\n{text.indentation(first)}"
            yield Made((Splice(start, start, call),), NO_LINE, Change.MISSING, 1)
        return
    assigned = [name for name in around.names if name not in {argument.arg for argument in function.args.args}]
    for name in reversed(assigned):
        yield _one_more(text, function.body, f"return {name}", Change.RETURNED)
    if isinstance(last, ast.Expr):
        start = text.span(last)[0]
        yield Made((Splice(start, start, "return "),), NO_LINE, Change.RETURNED, 1)


def _not_put_into_a_list(text: StudentText, function: Function, loop: ast.For | ast.While) -> Iterator[Made]:
    """Appends of what a loop computes, where a list stays empty."""
    made = [node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for name in never_filled(function):
        for value in dict.fromkeys(reversed(made)):
            yield _one_more(text, loop.body, f"{name}.append({value})", Change.AFTER)


def _one_more(text: StudentText, block: Sequence[ast.stmt], line: str, change: Change) -> Made:
    """One more line: in place of a leftover `pass`, or at the end."""
    stubs = [statement for statement in block if isinstance(statement, ast.Pass)]
    if stubs and len(block) > 1:
        is_at_stub = Change.MISSING if change == Change.AFTER else change
        return Made((Splice(*text.span(stubs[-1]), line),), stubs[-1].lineno, is_at_stub, 1)
    last = block[-1]
    place = last.lineno if change == Change.AFTER and isinstance(last, SIMPLE) else NO_LINE
    return Made((_after(text, last, line),), place, change, 1)


def _other_statements(text: StudentText, statement: ast.stmt, around: Surroundings, read: set[str]) -> Iterator[Made]:
    start, end = text.span(statement)

    def put(other: str, change: Change, cost: int) -> Made:
        return Made((Splice(start, end, other),), statement.lineno, change, cost)

    match statement:
        case ast.Expr(value=ast.Constant()):  # a docstring
            return
        case ast.Expr(value=value):
            cost = 1 if is_only_computed(value, layers_in(around.owner)) else 4
            yield from (put(f"{name} = {text.of(value)}", Change.LOST, cost) for name in _names_in(value, around))
            yield put(f"return {text.of(value)}", Change.RETURNED, 2)
            if not isinstance(value, ast.Call) or not text.of(value.func).endswith((".append", ".extend")):
                lists = empty_lists(around.function)
                yield from (put(f"{name}.append({text.of(value)})", Change.LOST, 2) for name in lists)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            for other in _names_in(value, around):
                if other != name:
                    yield put(f"{other} = {text.of(value)}", Change.LOST if name not in read else Change.NAME, 2)
            yield from (put(f"{name} {sign}= {text.of(value)}", Change.UPDATE, 2) for sign in "+-*/")
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            for place in _other_places(text, target, around):
                yield put(f"{place} = {text.of(value)}", Change.AXIS, 1)
            yield from (put(f"{text.of(target)} {sign}= {text.of(value)}", Change.UPDATE, 1) for sign in "+-*/")
        case ast.AugAssign(target=target, op=op, value=value):
            signs = [sign for kind, sign in OPERATORS.items() if not isinstance(op, kind)]
            yield from (put(f"{text.of(target)} {sign}= {text.of(value)}", Change.OPERATOR, 1) for sign in signs)
            yield put(f"{text.of(target)} = {text.of(value)}", Change.UPDATE, 1)
        case ast.Assign(targets=[ast.Tuple(elts=items)], value=value):
            cost = 3 if are_named_alike(text, items, value) else 1
            for order in exchanged([text.of(item) for item in items]):
                yield put(f"{', '.join(order)} = {text.of(value)}", Change.ORDER, cost)
        case ast.Return(value=value) if value is not None:
            yield from (put(f"return {name}", Change.RETURNED, 1) for name in around.names if name != text.of(value))
            if isinstance(value, ast.Tuple):
                yield from (put(f"return {text.of(item)}", Change.RETURNED, 1) for item in value.elts)
            unread = [name for name in around.names if name not in read and name not in around.parameters]
            if len(unread) > 1:
                yield put(f"return {', '.join(unread)}", Change.RETURNED, 1)
        case ast.If(test=test):
            for truth in ("True", "False"):
                yield Made((Splice(*text.span(test), truth),), statement.lineno, Change.SURPLUS, 3)
            yield Made((Splice(*text.span(test), f"not ({text.of(test)})"),), statement.lineno, Change.OPPOSITE, 1)
    if isinstance(statement, SIMPLE):
        yield put("pass", Change.SURPLUS, 3)


def _other_places(text: StudentText, target: ast.Subscript, around: Surroundings) -> Iterator[str]:
    """Other places that an assignment may have to write to."""
    value, index = text.of(target.value), text.of(target.slice)
    if isinstance(target.slice, ast.Tuple):
        yield from (f"{value}[{', '.join(order)}]" for order in exchanged([text.of(i) for i in target.slice.elts]))
        yield from (f"{value}[{text.of(item)}]" for item in target.slice.elts if not isinstance(item, ast.Slice))
    else:
        yield f"{value}[:, {index}]"
        yield from (f"{value}[{index}, {name}]" for name in around.names if name != index)
        yield from (f"{value}[{name}]" for name in around.names if name != index)


def _names_in(value: ast.expr, around: Surroundings) -> list[str]:
    """The function's own names that an expression reads, in the order of the text."""
    read = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(name for name in read if name in around.names))


def _as_copied(text: StudentText, block: Sequence[ast.stmt]) -> Iterator[Made]:
    """A line rewritten like its twin: `K2 = …` the way `K1 = …` is written."""
    simple = [statement for statement in block if isinstance(statement, ast.Assign)]
    written = {statement: (text.of(statement.targets[0]), text.of(statement.value)) for statement in simple}
    for statement, model in itertools.permutations(simple[:MOST_COPIED], 2):
        (own, value), (other, others_value) = written[statement], written[model]
        renamed = renumbered(others_value, other, own) or with_numbers_of(value, others_value)
        renamed = renamed or named_after(others_value, other, own)
        if renamed is not None and renamed != value:
            yield Made((Splice(*text.span(statement.value), renamed),), statement.lineno, Change.COPIED, 1)


def _all_blocks(function: Function) -> Iterator[tuple[Sequence[ast.stmt], tuple[ast.stmt, ...]]]:
    """Each block with the loops around it, the innermost first."""
    todo: list[tuple[ast.AST, tuple[ast.stmt, ...]]] = [(function, ())]
    while todo:
        owner, outer = todo.pop(0)
        inner = (owner, *outer) if isinstance(owner, ast.For | ast.While) else outer
        for block in blocks(owner):
            yield block, inner
            todo += [(statement, inner) for statement in block]


def _elsewhere(text: StudentText, block: Sequence[ast.stmt], index: int) -> Iterator[Made]:
    """The statement moved a few places down. A move up is the same as moving those between down."""
    statement = block[index]
    if not isinstance(statement, SIMPLE) or not _stands_alone(text, statement):
        return
    for after in block[index + 1 : index + 1 + FAR]:
        if isinstance(after, ast.Return) or not _stands_alone(text, after):
            return
        splices = (_without(text, statement), _after(text, after, text.of(statement)))
        yield Made(splices, statement.lineno, Change.PLACE, 3)


def _out_of_loop(text: StudentText, loop: ast.For | ast.While, outer: Sequence[ast.stmt]) -> Iterator[Made]:
    """The first statements of a loop moved before it; the last ones moved after it, or after a loop around it."""
    start, margin = text.span(loop)[0], text.indentation(loop)
    for statement in loop.body[:2]:
        if isinstance(statement, SIMPLE) and _stands_alone(text, statement) and not margin.strip():
            before = Splice(start, start, f"{text.of(statement)}\n{margin}")
            yield Made((_without(text, statement), before), statement.lineno, Change.PLACE, 2)
    for statement in reversed(loop.body[1:]):
        if not isinstance(statement, (*SIMPLE, ast.Return)) or not _stands_alone(text, statement):
            return
        for around in (loop, *outer):
            line = _after(text, around, text.of(statement), text.indentation(around))
            yield Made((_without(text, statement), line), statement.lineno, Change.PLACE, 2)
        if not isinstance(statement, ast.Return):
            return


def _into_loop(text: StudentText, block: Sequence[ast.stmt], index: int, loop: ast.For | ast.While) -> Iterator[Made]:
    """A statement before the loop moved to its start; one after it moved to its end."""
    first, last = loop.body[0], loop.body[-1]
    if not _stands_alone(text, first):
        return
    for statement in block[max(0, index - 2) : index]:
        if isinstance(statement, SIMPLE) and _stands_alone(text, statement):
            start = text.span(first)[0]
            before = Splice(start, start, f"{text.of(statement)}\n{text.indentation(first)}")
            yield Made((_without(text, statement), before), statement.lineno, Change.PLACE, 3)
    for statement in block[index + 1 : index + 2]:
        if isinstance(statement, SIMPLE) and _stands_alone(text, statement):
            splices = (_without(text, statement), _after(text, last, text.of(statement)))
            yield Made(splices, statement.lineno, Change.PLACE, 3)


def _stands_alone(text: StudentText, statement: ast.stmt) -> bool:
    """Whether nothing else is on its lines."""
    return not text.indentation(statement).strip()


def _without(text: StudentText, statement: ast.stmt) -> Splice:
    return Splice(*text.span(statement), "pass")


def _after(text: StudentText, statement: ast.stmt, line: str, margin: str | None = None) -> Splice:
    """A new line after a statement."""
    end = text.span(statement)[1]
    indentation = text.indentation(statement) if margin is None else margin
    rest = text.bytes[end:].split(b"\n", 1)[0]  # such as a comment
    at = end + (len(rest) if not rest.strip() or rest.strip().startswith(b"#") else 0)
    return Splice(at, at, f"\n{indentation}{line}")
