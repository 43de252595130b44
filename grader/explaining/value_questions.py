"""Questions about the code as it is: shapes, what sums to one, and how often a line runs."""

from __future__ import annotations

import ast
import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from grader.explaining.candidates import Candidate, QuestionKind, SecondLook
from grader.explaining.observed import Draw, Observed, Place, Shape, Value
from grader.explaining.outcomes import shape_text
from grader.explaining.subject import Subject, all_sizes

LARGEST = 40  # size of an axis that one can compute with
MOST_TIMES = 400
LONGEST = 60  # letters of an expression
NONE = "none of these"
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
            if shape in self._shapes_read(line) or (returned and not is_name):
                continue
            wrong = _unlike(shape, wrong_shapes.get(place, ()), known_shapes, self.rng)
            place_text = f"`{text}` after line {line}" if is_name else f"`{text}` in line {line}"
            options = [shape_text(option) for option in (shape, *wrong)]
            weight = 2.0 + 0.3 * len(shape) + (0.5 if is_name else 0.0)

            def is_confirmed(look: SecondLook, place: Place = place, shape: Shape = shape) -> bool:
                return {_only_shape(_values(run, place)) for run in look.runs} == {shape}

            yield Candidate(
                QuestionKind.SHAPE, line, f"What is the shape of {place_text}?", options,
                f"It has shape {options[0]}.", weight, is_confirmed, alike=f"shape {options[0]}",
            )  # fmt: skip

    def sums(self) -> Iterator[Candidate]:
        """Along which axis a name sums to one."""
        names = self.runs[0].names
        has_ones = any(value and value.axes_with_unit_sums for values in names.values() for value in values)
        for place, values in names.items():
            line, name = place
            first = values[0] if values else None
            if first is None or first.shape is None or (line in self.loops and self.runs[0].lines.get(line) != 1):
                continue
            dimensions = len(first.shape)
            axes = {_axes(run.names.get(place, ())) for run in self.runs}
            if len(axes) != 1 or dimensions < 2:
                continue
            (axes_of_ones,) = axes
            if axes_of_ones is None or len(axes_of_ones) > 1 or (not axes_of_ones and (not has_ones or dimensions > 3)):
                continue
            sums = [f"`{name}.sum(dim={axis})`" for axis in range(dimensions)]
            right = sums[axes_of_ones[0]] if axes_of_ones else NONE
            wrong = [option for option in reversed(sums) if option != right][: 2 if axes_of_ones else 3]
            options = [right, *wrong, *([NONE] if axes_of_ones else [])]

            def is_confirmed(
                look: SecondLook, place: Place = place, axes_of_ones: tuple[int, ...] = axes_of_ones
            ) -> bool:
                return {_axes(_values(run, place)) for run in look.runs} == {axes_of_ones}

            text = f"After line {line}, which of these contains nothing but ones (up to rounding)?"
            explanation = (
                f"`{name}.sum(dim={axes_of_ones[0]})` does."
                if axes_of_ones
                else f"`{name}` sums to one along none of its axes."
            )
            yield Candidate(
                QuestionKind.SUMS,
                line,
                text,
                options,
                explanation,
                3.0 if axes_of_ones else 1.6,
                is_confirmed,
                alike=f"sums {axes_of_ones}",
            )

    def times(self) -> Iterator[Candidate]:
        """How often a line runs, where that is no size of an input."""
        sizes = all_sizes(self.draw)
        counts: set[int] = set()
        for line, count in self.runs[0].lines.items():
            code = self.subject.line(line)
            is_counted = line in self.loops and line not in self.comprehensions and count not in counts | sizes
            if not is_counted or count < 2 or code.startswith(("for ", "while ", "def ", "@")):
                continue
            if any(run.lines.get(line) != count for run in self.runs):
                continue
            counts.add(count)
            options = [count, *self._other_counts(count, sizes)]

            def is_confirmed(look: SecondLook, line: int = line, count: int = count) -> bool:
                return {run.lines.get(line) for run in look.runs} == {count}

            yield Candidate(
                QuestionKind.TIMES, line, f"How often does line {line} run?", list(map(str, options)),
                f"It ran {count} times.", 3.8, is_confirmed,
            )  # fmt: skip

    def _other_counts(self, count: int, sizes: Iterable[int]) -> list[int]:
        """Sizes of the inputs, their products, and a step more or less, near the right one."""
        products = [first * second for first, second in itertools.combinations_with_replacement(sorted(sizes), 2)]
        wrong_options = {*products, *sizes, count - 1, count + 1} - {count}
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

    def _known_shapes(self) -> set[Shape]:
        """The shapes of all names and inputs."""
        values = [value for values in self.runs[0].names.values() for value in values]
        shapes = {value.shape for value in values if value and value.shape}
        return shapes | {tuple(value.shape) for value in self.draw.arguments if hasattr(value, "shape")}

    def _shapes_read(self, line: int) -> set[Shape]:
        """The shapes of the names that a line reads."""
        inputs = dict(zip(self.subject.parameters, self.draw.arguments, strict=False))
        shapes: set[Shape] = set()
        for node in ast.walk(self.subject.text.tree):
            if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno == line):
                continue
            if hasattr(inputs.get(node.id), "shape"):
                shapes.add(tuple(inputs[node.id].shape))
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


def _axes(values: Sequence[Value | None]) -> tuple[int, ...] | None:
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
    possible += [
        (*front, column),
        *((*front, row, size) for size in sizes),
        *((*front, size, column) for size in sizes),
    ]
    possible += [(*front, column, size) for size in sizes] + [(*front, size, row) for size in sizes]
    possible += [known for known in known_shapes if len(known) == len(shape)]
    wrong = [other for other in dict.fromkeys(possible) if other != shape and other][:MOST_POSSIBLE]
    choices = [list(choice) for choice in itertools.combinations(wrong, 3)]
    rng.shuffle(choices)
    may_stand_out = rng.random() < 1 / 4
    for choice in choices:
        if may_stand_out or _likeness(shape, choice) <= max(_likeness(one, [shape, *choice]) for one in choice):
            return choice
    return choices[0] if choices else wrong


def _likeness(shape: Shape, shapes: Iterable[Shape]) -> int:
    """How many sizes it shares with other shapes, place by place."""
    return sum(
        first == second for other in shapes if other != shape for first, second in zip(shape, other, strict=False)
    )


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
