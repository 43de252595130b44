"""Questions about the code as it is: shapes, what sums to one, and how often a line runs."""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from grader.explaining.candidates import Candidate, SecondLook
from grader.explaining.observed import Draw, Observed, Place, Shape, Tensor, Value
from grader.explaining.outcomes import shape_text
from grader.explaining.question import QuestionKind
from grader.explaining.subject import Subject, all_sizes, is_hidden

LARGEST = 40  # size of an axis that one can compute with
MOST_TIMES = 400
LONGEST = 60  # letters of an expression
NONE = "none of these"  # the last option, where it is one
NEAR = 3  # lines, of a comment
CALLED = re.compile(r"(\w+)\(")
# Calls after which the shape is seen at once.
AT_ONCE = frozenset([
    "tensor", "as_tensor", "squeeze", "unsqueeze", "t", "clone", "float", "bool", "len", "list", "int", "size",
    "arange",
])  # fmt: skip
OF_SEVERAL = re.compile(r"@|matmul|einsum|cat\(|stack\(|self\.\w+\(|outer\(")
OF_AN_INPUT = re.compile(r"self\.\w+\((\w+)\)")  # a layer alone
SAYS_ITS_SHAPE = re.compile(r"^(torch\.)?(zeros|ones|empty|full)\(|\.(reshape|view|expand)\(([^()-]*|[-\d, ]*)\)$")
MOST_POSSIBLE = 9  # wrong shapes to choose from
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
# What is not evaluated once more: it changes something, or is up to chance.
_HAS_EFFECTS = ("_(", "append(", "pop(", "drop", "rand", "print(")


class ValueQuestions:
    """The questions about one code, of which these are runs."""

    def __init__(self, subject: Subject, draw: Draw, runs: Sequence[Observed], rng: random.Random) -> None:
        self.subject, self.draw, self.runs, self.rng = subject, draw, runs, rng
        self.loops = _lines_within(subject, ast.For, ast.While)
        self.comprehensions = _lines_within(subject, *COMPREHENSIONS)

    def shapes(self, wrong_shapes: Mapping[Place, Sequence[Shape]]) -> Iterator[Candidate]:
        """The shape of a name after a line, or of an expression. `wrong_shapes` came from changed lines."""
        known_shapes = self._known_shapes()
        for place, values in self._shaped_values():
            shape = _only_shape(values)
            line, text = place
            if shape is None or not _is_worth_asking(shape) or "#" in self.subject.text.line(line):
                continue
            is_name = place in self.runs[0].names
            returned = self.subject.line(line).startswith("return") and shape == self.runs[0].shape
            if shape in self._shapes_read(line) or (returned and not is_name) or shape in self._input_shapes():
                continue
            if not self._is_computed(place, is_name) or self._is_told(place, is_name):
                continue
            wrong = _unlike(shape, wrong_shapes.get(place, ()), known_shapes, self.rng)
            if sum(len(other) == len(shape) for other in wrong) < 2:
                continue
            place_text = f"`{text}` after line {line}" if is_name else f"`{text}` in line {line}"
            options = [shape_text(option) for option in (shape, *wrong)]
            weight = 2.0 + 0.3 * len(shape) + (0.5 if is_name else 0.0)

            def is_confirmed(look: SecondLook, place: Place = place, shape: Shape = shape) -> bool:
                return {_only_shape(_values(run, place)) for run in look.runs_with_signs} == {shape}

            yield Candidate(
                QuestionKind.SHAPE, line, f"What is the shape of {place_text}?", options,
                f"It has shape {options[0]}.", weight, is_confirmed, alike=f"shape {options[0]}",
            )  # fmt: skip

    def sums(self) -> Iterator[Candidate]:
        """Along which axis a name sums to one."""
        for place in self.runs[0].names:
            line, name = place
            shape, axes = self._shape_and_unit_sums(place)
            is_repeated = line in self.loops and self.runs[0].lines.get(line) != 1
            if len(shape) < 2 or axes is None or is_repeated or "#" in self.subject.text.line(line):
                continue
            if len(axes) != 1 or re.search(rf"\b{axes[0]}\)", self.subject.line(line)):  # else it stands there
                continue
            sums = [f"`{name}.sum(dim={axis})`" for axis in range(len(shape))]
            right = sums[axes[0]]
            wrong = [option for option in [*reversed(sums), NONE] if option != right]

            def is_confirmed(look: SecondLook, place: Place = place, axes: tuple[int, ...] = axes) -> bool:
                return {_unit_sums(_values(run, place)) for run in look.runs_with_signs} == {axes}

            text = f"After line {line}, which of these contains nothing but ones (up to rounding)?"
            options = [right, *wrong[:2], *wrong[-1:]] if len(wrong) > 3 else [right, *wrong]
            explanation = f"`{name}` sums to one along axis {axes[0]}."
            yield Candidate(QuestionKind.SUMS, line, text, options, explanation, 3.0, is_confirmed, "sums")

    def _shape_and_unit_sums(self, place: Place) -> tuple[Shape, tuple[int, ...] | None]:
        """The shape of a name, and the axes along which it sums to one in all runs; None if they differ in that."""
        values = [value for run in self.runs for value in run.names.get(place, ())]
        return _only_shape(values) or (), _unit_sums(values)

    def times(self) -> Iterator[Candidate]:
        """How often a line runs, where that is no size of an input, and nothing that can be counted in the code."""
        if any(map(is_hidden, self.draw.arguments)):
            return
        sizes = all_sizes(self.draw)
        counts_to_skip = sizes | _lengths_written(self.subject)
        for line, count in self.runs[0].lines.items():
            code = self.subject.line(line)
            is_counted = line in self.loops and line not in self.comprehensions and count not in counts_to_skip
            if not is_counted or count < 2 or code.startswith(("for ", "while ", "def ", "@", "print(")):
                continue
            if any(run.lines.get(line) != count for run in self.runs):
                continue
            counts_to_skip.add(count)  # once is enough
            options = [count, *self._other_counts(count, sizes)]

            def is_confirmed(look: SecondLook, line: int = line, count: int = count) -> bool:
                return {run.lines.get(line) for run in look.runs_with_signs} == {count}

            yield Candidate(
                QuestionKind.TIMES, line, f"How many times does line {line} run?", list(map(str, options)),
                f"It ran {count} times.", 3.8, is_confirmed,
            )  # fmt: skip

    def _other_counts(self, count: int, sizes: Iterable[int]) -> list[int]:
        """Sizes of the inputs, their products, and a step more or less, near the right one."""
        products = [first * second for first, second in itertools.combinations_with_replacement(sorted(sizes), 2)]
        wrong_options = {*products, *sizes, count + self.rng.choice([-1, 1])} - {count}
        possible = [option for option in wrong_options if 0 < option < MOST_TIMES]
        nearest = sorted(possible, key=lambda option: (abs(math.log(option / count)), option))[:5]
        return self.rng.sample(nearest, min(3, len(nearest)))

    def _shaped_values(self) -> Iterator[tuple[Place, list[Value | None]]]:
        """The names and expressions whose shape may be asked for, with their values in all runs."""
        for place in self.runs[0].names:
            yield place, [value for run in self.runs for value in run.names.get(place, ())]
        for place in self.runs[0].expressions:
            line, text = place
            lasts = len(text) < LONGEST and "\n" not in text and not any(block in text for block in _HAS_EFFECTS)
            if lasts and line not in self.comprehensions:
                yield place, [value for run in self.runs for value in run.expressions.get(place, ())]

    def _input_shapes(self) -> set[Shape]:
        return {tuple(value.shape) for value in self.draw.arguments if isinstance(value, Tensor)}

    def _is_computed(self, place: Place, is_name: bool) -> bool:
        """Whether several steps, or several tensors, lead to it."""
        line, text = place
        code = self.subject.value_text(line) if is_name else text
        layer = OF_AN_INPUT.fullmatch(code)
        if (layer and layer[1] in self.subject.parameters) or SAYS_ITS_SHAPE.search(code):
            return False
        steps = [name for name in CALLED.findall(code) if name not in AT_ONCE]
        return len(steps) + code.count(" * ") > 1 or OF_SEVERAL.search(code) is not None

    def _is_told(self, place: Place, is_name: bool) -> bool:
        """Whether a comment beside it, or a text about this name, seems to say the shape."""
        line, text = place
        beside = [self.subject.text.line(number) for number in range(line - NEAR, line + NEAR + 1)]
        if any("#" in other and "(" in other.partition("#")[2] for other in beside):
            return True
        about_name = re.compile(rf"(^|#.*)\s*\b{re.escape(text)}\b\W.*\(")
        without_code = [other for other in self.subject.text.lines if "=" not in other]
        return is_name and any(about_name.search(other) for other in without_code)

    def _known_shapes(self) -> set[Shape]:
        """The shapes of all names and inputs."""
        values = [value for values in self.runs[0].names.values() for value in values]
        shapes = {value.shape for value in values if value and value.shape}
        return shapes | self._input_shapes()

    def _shapes_read(self, line: int) -> set[Shape]:
        """The shapes of the names that a line reads."""
        inputs = dict(zip(self.subject.parameters, self.draw.arguments, strict=False))
        shapes: set[Shape] = set()
        for node in ast.walk(self.subject.text.tree):
            if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno == line):
                continue
            value = inputs.get(node.id)
            if isinstance(value, Tensor):
                shapes.add(tuple(value.shape))
            for (other_line, name), values in self.runs[0].names.items():
                if name == node.id and other_line < line and values and values[0] and values[0].shape:
                    shapes.add(values[0].shape)
        return shapes


def _values(run: Observed, place: Place) -> Sequence[Value | None]:
    return run.names.get(place) or run.expressions.get(place) or ()


def _only_shape(values: Sequence[Value | None]) -> Shape | None:
    """The shape that all values have; None if there is no such."""
    shapes = {value.shape if value else None for value in values}
    return shapes.pop() if len(shapes) == 1 else None


def _unit_sums(values: Sequence[Value | None]) -> tuple[int, ...] | None:
    """The axes along which all values sum to one; None if they differ in that."""
    axes = {value.axes_with_unit_sums if value else None for value in values}
    return axes.pop() if len(axes) == 1 else None


def _is_worth_asking(shape: Shape) -> bool:
    return len(shape) > 1 and len(set(shape)) > 1 and max(shape) <= LARGEST


def _unlike(
    shape: Shape, from_changes: Sequence[Shape], known_shapes: Iterable[Shape], rng: random.Random
) -> list[Shape]:
    """Three other shapes: from changed lines, with axes exchanged or forgotten, and of other names.

    The right one should not be the one that all others look like.
    """
    *front, row, column = shape
    sizes = sorted({size for known in known_shapes for size in known if size > 1} - set(shape))
    possible = [*from_changes, (*front, column, row), (*front, column, column), (*front, row, row), (*front, row)]
    possible.append((*front, column))
    for size in sizes:
        possible += [(*front, row, size), (*front, size, column), (*front, column, size), (*front, size, row)]
    possible += [known for known in known_shapes if len(known) == len(shape)]
    wrong = [wrong_shape for wrong_shape in dict.fromkeys(possible) if wrong_shape not in (shape, ())][:MOST_POSSIBLE]
    choices = [list(choice) for choice in itertools.combinations(wrong, 3)]
    rng.shuffle(choices)
    may_stand_out = rng.random() < 1 / 4
    for choice in choices:
        if may_stand_out or _likeness(shape, choice) <= max(_likeness(one, [shape, *choice]) for one in choice):
            return choice
    return choices[0] if choices else wrong


def _likeness(shape: Shape, shapes: Iterable[Shape]) -> int:
    """How many sizes it shares with other shapes, place by place."""
    likeness = 0
    for candidate in shapes:
        if candidate != shape:
            likeness += sum(first == second for first, second in zip(shape, candidate, strict=False))
    return likeness


def _lengths_written(subject: Subject) -> set[int]:
    """How many items the lists have that are written in the code, for a loop to run over."""
    nodes = list(ast.walk(subject.text.tree))
    lists = [node.iter for node in nodes if isinstance(node, ast.For)]
    lists += [node.value for node in nodes if isinstance(node, ast.Assign)]
    return {len(items.elts) for items in lists if isinstance(items, ast.Tuple | ast.List)}


def _lines_within(subject: Subject, *kinds: type[ast.AST]) -> set[int]:
    """The lines of the bodies of loops, or of expressions of these kinds."""
    lines: set[int] = set()
    for node in ast.walk(subject.text.tree):
        if isinstance(node, ast.For | ast.While) and isinstance(node, kinds):
            blocks: Sequence[ast.stmt | ast.expr] = node.body
        elif isinstance(node, ast.expr) and isinstance(node, kinds):
            blocks = [node]
        else:
            continue
        for block in blocks:
            lines.update(range(block.lineno, (block.end_lineno or block.lineno) + 1))
    return lines
