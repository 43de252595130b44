"""Versions of a student's code with one line changed: the repair search's small edits that make a good question."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.explaining.observed import Observed, Value
from grader.facts.names import names_read
from grader.facts.pure_calls import called_name
from grader.facts.student_text import Function, Splice, StudentText
from grader.repair.edits import edits_of
from grader.repair.sites import StatementSite, expressions_in, statements_in, surroundings

OTHER_AXES = {
    "-1": ("-2", "0"), "0": ("-1", "1"), "1": ("0",), "2": ("1",), "3": ("2",), "-2": ("-1",), "-3": ("-2",),
}  # fmt: skip
NEIGHBORS = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
# Functions and methods with an axis that is worth thinking about.
ALONG_AN_AXIS = frozenset(
    ["softmax", "log_softmax", "sum", "mean", "max", "amax", "logsumexp", "cumsum", "cat", "stack", "argmax", "norm"]
)
STEPS = {
    "transpose": 2.5, "t": 2.5, "permute": 2.5, "unsqueeze": 2.5, "masked_fill": 2.5, "exp": 2.5, "tril": 2.5,
    "triu": 2.5, "contiguous": 2.0, "clone": 1.5, "sqrt": 2.0,
}  # fmt: skip
# Weights are copied into a module after this, so it changes nothing.
INITIALIZES = re.compile(r"\binit\b|\.init\.|Parameter\(|[a-z]_\(")
FAR = 4  # lines between two names that may be taken for each other


@dataclass(frozen=True)
class LineChange:
    """The whole code with one other line, and how much a question about it is worth."""

    source: str
    line: int
    new_line: str  # empty if it is taken out
    about: str
    weight: float


@dataclass(frozen=True)
class _Spot:
    """A statement or an expression of the student's, and what is known of the values there."""

    site: Any  # of the kind that the rule is for
    observed: Observed
    statement: StatementSite  # in which it is

    @property
    def node(self) -> Any:
        return self.site.node

    @property
    def is_in_init(self) -> bool:
        return str(self.site.around.function.name) == "__init__"

    @property
    def is_needed(self) -> bool:
        """Whether its statement is the only one of a block."""
        return len(self.statement.block) == 1

    def of(self, node: ast.AST) -> str:
        return self.statement.of(node)

    def value(self, node: ast.expr) -> Value | None:
        """The first value of an expression, or of a name before this line."""
        if isinstance(node, ast.Name):
            places = [place for place in self.observed.names if place[1] == node.id and place[0] < node.lineno]
            values = self.observed.names[max(places)] if places else []
        else:
            values = self.observed.expressions.get((node.lineno, self.of(node)), [])
        return values[0] if values else None

    def is_number(self, node: ast.expr) -> bool:
        """Whether it is one number, as far as is known."""
        value = self.value(node)
        if value is None:
            return isinstance(node, ast.Constant | ast.Attribute | ast.Name)
        return not value.shape

    def is_tensor(self, node: ast.expr) -> bool:
        value = self.value(node)
        return value is not None and bool(value.shape)


# What a question about an edit is about, and how much it is worth, from 1 to 3; 0 if it is not worth asking.
Worth = tuple[str, float]
NOT_ASKED: Worth = ("", 0.0)
Rate = Callable[[_Spot, str], Worth]
_RATES: dict[str, Rate] = {}  # by rule of the repair search


def _rates(*rules: str) -> Callable[[Rate], Rate]:
    """Enter a function, which rates edits of these rules, into the table."""

    def enter(rate: Rate) -> Rate:
        _RATES.update(dict.fromkeys(rules, rate))
        return rate

    return enter


def line_changes(text: StudentText, observed: Observed) -> list[LineChange]:
    """All changes that make a good question, the best first. `observed` is a run of the code as it is."""
    spots = _spots(text, observed)
    changes: dict[str, LineChange] = {}
    for edit in edits_of(text):
        rate = _RATES.get(edit.rule)
        if rate is None or len(edit.splices) != 1 or edit.is_fitted:
            continue
        (splice,) = edit.splices
        spot = spots.get((splice.start, splice.end))
        if spot is None or not observed.lines.get(spot.statement.line):
            continue
        about, weight = rate(spot, splice.text)
        change = _line_change(text, splice, about, weight) if weight else None
        if change and (change.new_line or not spot.is_needed):
            changes.setdefault(change.source, change)
    return sorted(changes.values(), key=lambda change: -change.weight)


def _spots(text: StudentText, observed: Observed) -> dict[tuple[int, int], _Spot]:
    """The statements and expressions of all functions, by where they are in the text."""
    spots: dict[tuple[int, int], _Spot] = {}
    for function, owner in text.functions:
        around = surroundings(function, owner)
        statements = {text.span(site.node): site for site in statements_in(text, function, around)}
        expressions = {text.span(site.node): site for site in expressions_in(text, function, around)}
        for (start, end), site in [*expressions.items(), *statements.items()]:
            enclosing = [span for span in statements if span[0] <= start and end <= span[1]]
            if enclosing:  # a default is in none
                spot = _Spot(site, observed, statements[max(enclosing)])
                if not _is_left_alone(spot):
                    spots[start, end] = spot
    return spots


def _is_left_alone(spot: _Spot) -> bool:
    """Whether nothing is asked about a statement."""
    statement = spot.statement.node
    if isinstance(statement, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | Function):
        return True
    return spot.is_in_init and INITIALIZES.search(spot.of(statement)) is not None


def _line_change(text: StudentText, splice: Splice, about: str, weight: float) -> LineChange | None:
    """The change, if it is one of a single line that can be quoted."""
    source = text.with_splices(splice) if splice.text == "pass" else _with_few_brackets(text, splice)
    lines = StudentText(source).lines
    changed = [number for number, pair in enumerate(zip(text.lines, lines, strict=False), 1) if pair[0] != pair[1]]
    if len(lines) != len(text.lines) or len(changed) != 1:
        return None
    (number,) = changed
    new_line = lines[number - 1].split("#")[0].strip()
    if "`" in new_line or (new_line == "pass") != (splice.text == "pass"):
        return None
    does_nothing = new_line == "pass" or _stays_itself(new_line)
    return LineChange(source, number, "" if does_nothing else new_line, about, weight)


def _stays_itself(line: str) -> bool:
    """Whether it is like `x = x`."""
    target, _, value = line.partition(" = ")
    return target == value


def _with_few_brackets(text: StudentText, splice: Splice) -> str:
    """The changed code, with no more brackets than it needs."""
    bare = splice.text
    with contextlib.suppress(SyntaxError):
        bare = ast.unparse(ast.parse(splice.text, mode="eval")) if _is_in_brackets(splice.text) else bare
    meant = ast.dump(ast.parse(text.with_splices(splice._replace(text=f"({splice.text})"))))
    around = text.bytes[splice.start - 1 : splice.start], text.bytes[splice.end : splice.end + 1]
    candidates = [splice._replace(text=bare)]
    if around == (b"(", b")"):
        candidates.insert(0, Splice(splice.start - 1, splice.end + 1, bare))
    for candidate in candidates:
        with contextlib.suppress(SyntaxError):
            source = text.with_splices(candidate)
            if ast.dump(ast.parse(source)) == meant:
                return source
    return text.with_splices(splice)


def _is_in_brackets(code: str) -> bool:
    return code.startswith("(") and code.endswith(")")


def _is_same_code(code: str, same_code: str) -> bool:
    with contextlib.suppress(SyntaxError):
        return ast.dump(ast.parse(code, mode="eval")) == ast.dump(ast.parse(same_code, mode="eval"))
    return False


@_rates("nearby_number")
def _number(spot: _Spot, new: str) -> Worth:
    """Another axis of a sum, another diagonal of a triangle."""
    new, call, name = new.strip("()"), spot.site.parent, ""
    if isinstance(spot.site.parent, ast.keyword):
        name = spot.site.parent.arg or ""
        calls = [
            node
            for node in ast.walk(spot.statement.node)
            if isinstance(node, ast.Call) and spot.site.parent in node.keywords
        ]
        call = calls[0]
    elif not isinstance(call, ast.Call):
        return NOT_ASKED
    function = called_name(call)
    if function in ("tril", "triu") and name in ("", "diagonal") and {spot.of(spot.node), new} == {"0", "1"}:
        return "diagonal", 2.5
    is_axis = name in ("dim", "axis") or (not name and function != "max")
    if function in ALONG_AN_AXIS and is_axis and new in OTHER_AXES.get(spot.of(spot.node), ()):
        return "axis", 3.0
    return NOT_ASKED


@_rates("opposite_truth")
def _truth(spot: _Spot, new: str) -> Worth:
    is_keepdim = isinstance(spot.site.parent, ast.keyword) and spot.site.parent.arg in ("keepdim", "keepdims")
    return ("keepdim", 2.5) if is_keepdim and new == "False" else NOT_ASKED


@_rates("swap_operands")
def _operands(spot: _Spot, _new: str) -> Worth:
    return ("operands", 2.0) if isinstance(spot.node.op, ast.MatMult) else NOT_ASKED


@_rates("swap_arguments")
def _arguments(spot: _Spot, new: str) -> Worth:
    """matmul(b, a); view(B, H, T, d) for view(B, T, H, d)"""
    if called_name(spot.node) in ("matmul", "bmm", "mm"):
        return "operands", 2.0
    if called_name(spot.node) in ("view", "reshape") and len(spot.node.args) == 4:
        sizes = [spot.of(size) for size in spot.node.args]
        middle_swapped = f"({sizes[0]}, {sizes[2]}, {sizes[1]}, {sizes[3]})"
        return ("sizes", 2.0) if new.endswith(middle_swapped) else NOT_ASKED
    return NOT_ASKED


@_rates("drop_operand")
def _operand(spot: _Spot, new: str) -> Worth:
    """x for x / scale, scores for scores + mask, d for d ** 0.5"""
    node = spot.node
    if not _is_same_code(new, spot.of(node.left)):
        return NOT_ASKED
    is_half = isinstance(node.right, ast.Constant) and node.right.value == 0.5
    if isinstance(node.op, ast.Pow):
        return ("scale", 2.0) if is_half else NOT_ASKED
    if not spot.is_tensor(node) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return NOT_ASKED
    if isinstance(node.op, ast.Mult | ast.Div):
        return ("scale", 3.0) if spot.is_number(node.right) else ("factor", 2.0)
    return NOT_ASKED if spot.is_number(node.right) else ("term", 2.0)


@_rates("other_comparison")
def _comparison(spot: _Spot, new: str) -> Worth:
    first, second = spot.of(spot.node.left), spot.of(spot.node.comparators[0])
    sign = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<="}.get(type(spot.node.ops[0]), "")
    is_neighbor = sign and _is_same_code(new, f"{first} {NEIGHBORS[sign]} {second}")
    return ("comparison", 2.0) if is_neighbor else NOT_ASKED


@_rates("drop_attribute")
def _attribute(spot: _Spot, _new: str) -> Worth:
    return ("transposed", 2.5) if spot.node.attr in ("T", "mT") else NOT_ASKED


@_rates("drop_sign")
def _sign(spot: _Spot, _new: str) -> Worth:
    return ("opposite", 2.0) if isinstance(spot.node.op, ast.Invert) else NOT_ASKED


@_rates("drop_call")
def _call(spot: _Spot, _new: str) -> Worth:
    """x for x.transpose(1, 2), d for math.sqrt(d)"""
    name = called_name(spot.node)
    if name not in STEPS or not (
        spot.site.is_of_a_value or name in ("sqrt", "masked_fill", "transpose", "tril", "triu")
    ):
        return NOT_ASKED
    return ("scale" if name == "sqrt" else name), STEPS[name]


@_rates("sibling_method")
def _method(spot: _Spot, new: str) -> Worth:
    names = {spot.node.attr, new.rpartition(".")[2]}
    if names == {"tril", "triu"}:
        return "triangle", 2.5
    return ("mean", 1.5) if names == {"sum", "mean"} else NOT_ASKED


@_rates("view_for_transpose")
def _view(_spot: _Spot, _new: str) -> Worth:
    return "sizes", 2.5


@_rates("transpose_other_axes")
def _axes(_spot: _Spot, _new: str) -> Worth:
    return "axes", 1.5


NO_STEPS = ("super()", "init.", "seed(", "print(", ".append(", ".extend(")  # they prepare, show, or collect


@_rates("drop_statement")
def _statement(spot: _Spot, _new: str) -> Worth:
    """x += y, x.masked_fill_(…), and x = f(x) can be taken out, and the code still runs."""
    node = spot.node
    if spot.is_in_init:
        return NOT_ASKED
    match node:
        case ast.Expr(value=ast.Call()):
            is_step = not any(call in spot.of(node) for call in NO_STEPS)
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            is_step = target in names_read(value)
        case _:
            is_step = isinstance(node, ast.AugAssign)
    return ("removed", 2.5) if is_step else NOT_ASKED


@_rates("other_name")
def _name(spot: _Spot, new: str) -> Worth:
    """Another variable of the same shape, that came at about the same place."""
    called = called_name(spot.site.parent)
    lends_its_form = (
        called.endswith("_like") or called.startswith("new_") or isinstance(spot.site.parent, ast.Attribute)
    )
    is_target = any(spot.node in ast.walk(target) for target in getattr(spot.statement.node, "targets", ()))
    if isinstance(spot.statement.node, ast.Return) or lends_its_form or is_target:
        return NOT_ASKED
    before = {place: values for place, values in spot.observed.names.items() if place[0] < spot.statement.line}
    shapes: dict[str, set[Any]] = {}
    lines: dict[str, int] = {}
    for (line, name), values in before.items():
        if name in (spot.node.id, new) and values and values[0] is not None and values[0].shape:
            shapes.setdefault(name, set()).add(values[0].shape)
            lines[name] = min(line, lines.get(name, line))
    if len(lines) < 2 or shapes[new].isdisjoint(shapes[spot.node.id]):
        return NOT_ASKED
    return ("variable", 1.5) if abs(lines[new] - lines[spot.node.id]) <= FAR else NOT_ASKED
