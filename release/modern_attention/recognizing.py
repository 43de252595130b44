"""Which known mistake gives the numbers that came out wrong in a visible check.

`grader release` tries each mistake of an exercise on the examples of its check, and writes down what came out: a few
figures for each call, and what students read about the mistake. The table lies beside the notebook as
known_mistakes.py. Where it is missing, as in source/, no mistake is recognized.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import torch

from visible_examples import VisibleExample

TABLE = "known_mistakes"
CLOSE = 3e-5  # errors of rounding are smaller, mistakes are larger
MOST_CALLS = 8  # in one example

# The figures of a call: the mean size of the returned numbers, two weighted means, and their form. None if it returned
# no numbers, or none that is finite; "" if they are up to chance; a digest of the error if it stopped with one.
Figures: TypeAlias = tuple[float, float, float, str] | str | None
FiguresByExample: TypeAlias = Sequence[Sequence[Figures]]  # for each example, those of its calls
Mistake: TypeAlias = tuple[str, FiguresByExample]  # what students read about it, and what it gives


class KnownFigures(NamedTuple):
    """What the solution and the mistakes of one function give in its examples."""

    right: FiguresByExample
    mistakes: Sequence[Mistake]


def known_mistakes(
    student: Callable[..., Any], called: str, examples: Callable[[], Iterable[VisibleExample]]
) -> Sequence[str]:
    """What is known about each mistake that gives the numbers of this function or class, in its examples.

    Several may give the same numbers. If some of them give them in the same form, too, it is one of those.
    """
    with contextlib.suppress(Exception):  # the table lies where students can change it, and may be missing
        known_figures = _read_table(called)
        figures_of_student = figures_in(examples, student, called)
        by_numbers = _select_fitting(figures_of_student, known_figures, _without_errors)
        fitting = by_numbers or _if_one(_select_fitting(figures_of_student, known_figures))
        fitting = fitting or _if_one(_select_where_it_runs(figures_of_student, known_figures))
        forms = _forms(figures_of_student)
        alike = [says for says, figures in fitting if _forms(figures) == forms]
        return list(dict.fromkeys(alike or [says for says, _ in fitting]))
    return ()


def _read_table(called: str) -> KnownFigures:
    """What the table says of a function. It has each call's figures once, and elsewhere their places among those."""
    table = importlib.import_module(TABLE)
    right, mistakes = next((right, mistakes) for name, right, mistakes in table.KNOWN if name == called)

    def figures_at(places_by_example: Sequence[Sequence[int]]) -> FiguresByExample:
        return [[table.FIGURES[place] for place in places] for places in places_by_example]

    return KnownFigures(figures_at(right), [(says, figures_at(places)) for says, places in mistakes])


def fits(figures: FiguresByExample, mistaken: FiguresByExample, right: FiguresByExample) -> bool:
    """Whether all calls gave what the mistake gives, and in at least one of them that is wrong, or in a wrong form.

    Where all of them stop, the same errors prove nothing: they may have any cause.
    """
    is_wrong = runs = False
    for example in zip(figures, mistaken, right, strict=False):
        for actual, wrong, expected in zip(*example, strict=False):  # some examples end at the first wrong number
            runs |= not _has_stopped(wrong)
            if expected == "":
                continue
            if not close(actual, wrong):
                return False
            is_wrong |= wrong is not None and not close(wrong, expected)
    if is_wrong:
        return runs
    all_figures = (figures, mistaken, right)
    has_numbers = all(all(calls) for each in all_figures for calls in each)
    forms, wrong_forms, right_forms = map(_forms, all_figures)
    return has_numbers and [*map(len, mistaken)] == [*map(len, right)] and forms == wrong_forms != right_forms


def _select_fitting(
    figures: FiguresByExample,
    known_figures: KnownFigures,
    reduced: Callable[[FiguresByExample], FiguresByExample] = lambda figures: figures,
) -> list[Mistake]:
    """The mistakes that give what came out, as far as `reduced` keeps it."""
    actual, right = reduced(figures), reduced(known_figures.right)
    return [(says, wrong) for says, wrong in known_figures.mistakes if fits(actual, reduced(wrong), right)]


def _without_errors(figures: FiguresByExample) -> FiguresByExample:
    """Without what the errors say: the same mistake, written otherwise, may stop the same calls with another one."""
    return [[None if _has_stopped(call) else call for call in calls] for calls in figures]


def _select_where_it_runs(figures: FiguresByExample, known_figures: KnownFigures) -> list[Mistake]:
    """The mistake that gives what came out where the code did not stop with an error, as it does in some examples."""
    stopped = {index for index, calls in enumerate(figures) if any(map(_has_stopped, calls))}
    if len(stopped) in (0, len(figures)):
        return []

    def select_running(examples: FiguresByExample) -> FiguresByExample:
        return [calls for index, calls in enumerate(examples) if index not in stopped]

    return _select_fitting(figures, known_figures, select_running)


def _if_one(mistakes: list[Mistake]) -> list[Mistake]:
    """These, if students read the same about all of them. Errors prove less than numbers, which several may share."""
    return mistakes if len({says for says, _ in mistakes}) == 1 else []


def _has_stopped(call: Figures) -> bool:
    return call is None or (isinstance(call, str) and call != "")


def close(left: Figures, right: Figures) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        far = CLOSE * max(left[0], right[0]) + 1e-9
        return all(abs(a - b) <= far for a, b in zip(left[:3], right[:3], strict=True))
    return left == right


def _forms(figures: FiguresByExample) -> list[list[str]]:
    return [[call[3] if isinstance(call, tuple) else "" for call in calls] for calls in figures]


def figures_in(
    examples: Callable[[], Iterable[VisibleExample]],
    student: Callable[..., Any],
    called: str,
    prepared: Callable[[Any], Any] = lambda item: item,
) -> FiguresByExample:
    """The figures of all calls in these examples. `prepared` gives another form to inputs and modules."""
    first, second = (
        [_figures_of_calls(example, student, called, seed, prepared) for example in examples()] for seed in (0, 1)
    )
    return [
        [one if close(one, other) else "" for one, other in zip_longest(*calls)]
        for calls in zip(first, second, strict=True)
    ]


def _figures_of_calls(
    example: VisibleExample, student: Callable[..., Any], called: str, seed: int, prepared: Callable[[Any], Any]
) -> list[Figures]:
    calls = _Calls(prepared)
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), warnings.catch_warnings(action="ignore"):
        torch.manual_seed(seed)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                example.problem(calls.of(student), called)
            except Exception as error:  # which the check has shown
                if calls.figures and calls.figures[-1] is None:
                    calls.figures[-1] = f"{zlib.crc32(f'{type(error).__name__}: {error}'.encode()):x}"
    return calls.figures[:MOST_CALLS]


class _Calls:
    """Notes what comes out of each call of a function, or of the modules that a class makes."""

    def __init__(self, prepared: Callable[[Any], Any]) -> None:
        self.figures: list[Figures] = []
        self._prepared = prepared

    def of(self, student: Callable[..., Any]) -> Callable[..., Any]:
        """The function or class, with its calls noted."""

        def student_noted(*inputs: object, **keywords: object) -> Any:
            place = len(self.figures)
            self.figures.append(None)
            returned = student(*map(self._prepared, inputs), **keywords)
            if isinstance(returned, torch.nn.Module):
                self.figures.pop()
                return self._module(returned)
            self.figures[place] = figures_of(returned)
            return returned

        return student_noted

    def _module(self, new_module: torch.nn.Module) -> torch.nn.Module:
        module: torch.nn.Module = self._prepared(new_module)
        module.register_forward_pre_hook(self._before)
        module.register_forward_hook(self._after)
        return module

    def _before(self, _: torch.nn.Module, inputs: tuple[object, ...]) -> tuple[object, ...]:
        self.figures.append(None)
        return tuple(map(self._prepared, inputs))

    def _after(self, _: torch.nn.Module, inputs: object, returned: object) -> None:  # noqa: ARG002  as PyTorch calls it
        self.figures[-1] = figures_of(returned)


def figures_of(returned: object) -> Figures:
    """What is noted of a returned value."""
    tensors = [*_numbers(returned)]
    if not tensors:
        return None
    numbers = torch.cat(tensors)
    if len(numbers) and not bool(numbers.isfinite().any()):
        return None  # as after an error, since it may have any cause
    numbers = numbers.nan_to_num(nan=1e3, posinf=2e3, neginf=-2e3)
    places = torch.arange(1, len(numbers) + 1, dtype=torch.float64)
    weighted = (numbers.abs(), numbers * places.sin(), numbers * (2.3 * places).sin())
    size, first_mean, second_mean = (float(f"{float(terms.sum()) / max(len(numbers), 1):.5g}") for terms in weighted)
    return size, first_mean, second_mean, _form(returned)


def _numbers(value: object) -> Iterable[torch.Tensor]:
    """All numbers in it, as flat tensors."""
    match value:
        case torch.Tensor() if not value.is_complex():
            yield value.detach().reshape(-1).to("cpu", torch.float64)
        case list() | tuple():
            for item in value:
                yield from _numbers(item)
        case dict():
            yield from _numbers([*value.values()])
        case int() | float():
            yield torch.tensor([value], dtype=torch.float64)


def _form(value: object) -> str:
    """Shapes, in the brackets of lists: "2[3,1]" is a list of two columns, "2[3]|[1]" holds two vectors."""
    match value:
        case torch.Tensor():
            return f"[{','.join(map(str, value.shape))}]"
        case list() | tuple():
            return f"{len(value)}{'|'.join(dict.fromkeys(map(_form, value)))}"
    return ""
