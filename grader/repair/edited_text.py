"""A student's definitions with some edits. Later edits leave earlier ones alone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.facts.code_facts import is_only_computed, layers_in
from grader.facts.student_text import Function, Splice, StudentText, statements
from grader.model.edited import EditedSource
from grader.model.located import Change
from grader.repair.edit_words import FITTED
from grader.repair.edits import Edit, edits_of

Range = tuple[int, int]


@dataclass(frozen=True)
class EditedText:
    """`before` with one more edit. A number that an edit brings in has a value for each case."""

    original: StudentText
    before: EditedText | None = None
    edit: Edit | None = None
    fitting: Sequence[float] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (*self.before.edits, self.edit) if self.before and self.edit else ()

    @property
    def places(self) -> tuple[tuple[str, Change], ...]:
        """The student's lines that were edited, in order, and what each edit is about."""
        if not (self.before and self.edit):
            return ()
        told = [self.before.text.line(line).strip() for line in (self.edit.line, *self.edit.more_lines)]
        known = {own.strip() for own in self.original.lines if own.strip()}
        return (*self.before.places, *((line, self.edit.change) for line in told if line in known))

    @cached_property
    def source(self) -> str:
        if not (self.before and self.edit):
            return self.original.source
        return self.before.text.with_splices(*self._splices)

    @cached_property
    def text(self) -> StudentText:
        return StudentText(self.source) if self.before else self.original

    def with_edit(self, edit: Edit, fitting: Sequence[float]) -> EditedText:
        return EditedText(self.original, self, edit, fitting)

    def in_case(self, index: int) -> EditedSource:
        return EditedSource(self.source, self._lent(index))

    def undoes(self, edit: Edit) -> bool:
        """Whether it would undo an earlier edit."""
        return any(
            splice.start <= end and start <= splice.end and self.text.bytes[start:end].decode() not in splice.text
            for splice in edit.splices
            for start, end in self._made
        )

    def origin(self, place: Range) -> Range | None:
        """Where a place of the text lies in the original; None inside an edit."""
        if not (self.before and self.edit):
            return place
        (start, end), by, before, within = place, 0, 0, 0
        for splice in self._splices:
            first, last = splice.start + by, splice.start + by + len(splice.text.encode())
            if first <= start < last or first < end < last:
                return None
            by += _longer(splice)
            before, within = (by if last <= start else before), (by if last <= end else within)
        return self.before.origin((start - before, end - within))

    def _lent(self, index: int) -> dict[str, float]:
        if not self.before:
            return {}
        lent = self.before._lent(index)
        return {**lent, self._name: self.fitting[index]} if self.fitting else lent

    @property
    def _name(self) -> str:
        """The name of the number that the last edit brings in."""
        return f"{FITTED}_{len(self.edits)}"

    @property
    def _splices(self) -> list[Splice]:
        assert self.edit is not None
        splices = sorted(self.edit.splices, key=lambda splice: splice.start)
        return [Splice(splice.start, splice.end, splice.text.replace(FITTED, self._name)) for splice in splices]

    @cached_property
    def _made(self) -> list[Range]:
        """The places of the edits in the text."""
        if not (self.before and self.edit):
            return []
        made, splices = [], self._splices
        for index, splice in enumerate(splices):
            start = splice.start + sum(map(_longer, splices[:index]))
            made.append((start, start + len(splice.text.encode())))
        for start, end in self.before._made:
            by = sum(_longer(splice) for splice in splices if splice.end <= start)
            within = sum(_longer(splice) for splice in splices if splice.start <= start and end <= splice.end)
            made.append((start + by, end + by + within))
        return made


def _longer(splice: Splice) -> int:
    return len(splice.text.encode()) - (splice.end - splice.start)


# How much of a student's code survives a repair, counting only what has an effect.

SHARE = 2 / 3


def enough_is_left(repaired: EditedText, entry: str) -> bool:
    """Whether the student wrote two thirds of the repaired code: of its statements with an effect or, if these are
    few, of its operations and calls."""
    return any(
        kept >= SHARE * (kept + max(changed, len(repaired.edits)))
        for kept, changed in (_statements_left(repaired, entry), _steps_left(repaired, entry))
    )


def _statements_left(repaired: EditedText, entry: str) -> tuple[int, int]:
    lines = set()
    text = repaired
    while text.before and text.edit:
        lines.add(text.before.text.line(text.edit.line).strip())
        text = text.before
    kept = changed = 0
    original = {line.strip() for line in repaired.original.lines}
    for statement in _doing_something(repaired.text.tree, entry):
        line = repaired.text.line(statement.lineno).strip()
        if line in original and line not in lines:
            kept += 1
        else:
            changed += 1
    return kept, changed


def _steps_left(repaired: EditedText, entry: str) -> tuple[int, int]:
    """What an operation or call is compared by: other numbers or names in it do not count."""
    now, before = (_steps_of(text.tree, entry) for text in (repaired.text, repaired.original))
    return (now & before).total(), (now - before).total()


def _steps_of(tree: ast.Module, entry: str) -> Counter[str]:
    steps = [step for node in tree.body if getattr(node, "name", "") == entry for step in _steps(node)]
    return Counter(ast.dump(step.func) if isinstance(step, ast.Call) else type(step).__name__ for step in steps)


def steps_in(tree: ast.Module) -> int:
    """The number of operations and calls."""
    return len(_steps(tree))


def _steps(tree: ast.AST) -> list[ast.expr]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.Call | ast.Compare)]


def _doing_something(tree: ast.Module, entry: str) -> Iterator[ast.stmt]:
    """The statements of the exercise's definition, without unused results and mere renamings."""
    for definition in tree.body:
        if not (isinstance(definition, Function | ast.ClassDef) and definition.name == entry):
            continue
        functions = [definition] if isinstance(definition, Function) else definition.body
        read, layers = _read_in(definition), layers_in(definition)
        for function in functions:
            if isinstance(function, Function):
                yield from (node for node in statements(function) if _does_something(node, read, layers))


def _read_in(definition: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {
        n.attr for n in ast.walk(definition) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)
    }


def _does_something(statement: ast.stmt, read: set[str], layers: frozenset[str]) -> bool:
    match statement:
        case ast.Assign(value=ast.Name() | ast.Constant() | ast.Attribute()) | ast.Return(value=ast.Name() | None):
            return False
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name in read
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            return name in read
        case ast.Expr(value=value):
            computes = is_only_computed(value, layers)
            return isinstance(value, ast.Call) and not computes and ast.unparse(value.func) != "print"
    return isinstance(statement, ast.Assign | ast.AugAssign | ast.Return | ast.For | ast.If | ast.While)


# Right code with one word replaced, the kind of slip that students make: for made-up classes.


def slips_in(source: str, most: int) -> Iterator[str]:
    """About this many versions, with slips from all over the code."""
    text = EditedText(StudentText(source))
    edits = [edit for edit in edits_of(text.original) if edit.cost == 1 and not edit.fitted]
    for edit in edits[:: max(1, len(edits) // most)]:
        yield text.with_edit(edit, ()).source
