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
Seen: TypeAlias = Sequence[Sequence[Figures]]  # for each example, its calls


class Known(NamedTuple):
    """What the solution and the mistakes of one function give in its examples."""

    right: Seen
    mistakes: Sequence[tuple[str, Seen]]  # with what students read


def known_mistakes(
    student: Callable[..., Any], called: str, examples: Callable[[], Iterable[VisibleExample]]
) -> Sequence[str]:
    """What is known about each mistake that gives the numbers of this function or class, in its examples.

    Several may give the same numbers. If some of them give them in the same form, too, it is one of those.
    """
    with contextlib.suppress(Exception):  # the table lies where students can change it, and may be missing
        known = next(Known(*known) for name, *known in importlib.import_module(TABLE).KNOWN if name == called)
        seen = seen_in(examples, student, called)
        by_numbers = _fitting(seen, known, _errors_alike)
        fitting = by_numbers or _if_one(_fitting(seen, known)) or _if_one(_where_it_runs(seen, known))
        alike = [says for says, wrong in fitting if _forms(wrong) == _forms(seen)]
        return list(dict.fromkeys(alike or [says for says, _ in fitting]))
    return ()


def fits(seen: Seen, wrong: Seen, right: Seen) -> bool:
    """Whether all calls gave what the mistake gives, and in at least one of them that is wrong, or in a wrong form.

    Where all of them stop, the same errors prove nothing: they may have any cause.
    """
    is_wrong = runs = False
    for example in zip(seen, wrong, right, strict=False):
        for got, mistaken, expected in zip(*example, strict=False):  # some examples end at the first wrong number
            runs |= not _has_stopped(mistaken)
            if expected == "":
                continue
            if not close(got, mistaken):
                return False
            is_wrong |= mistaken is not None and not close(mistaken, expected)
    if is_wrong:
        return runs
    forms = [_forms(each) for each in (seen, wrong, right)]
    is_whole = all(all(calls) for each in forms for calls in each) and [*map(len, wrong)] == [*map(len, right)]
    return is_whole and forms[0] == forms[1] != forms[2]


def _fitting(seen: Seen, known: Known, of: Callable[[Seen], Seen] = lambda each: each) -> list[tuple[str, Seen]]:
    """The mistakes that give what came out, as far as `of` keeps it."""
    got, right = of(seen), of(known.right)
    return [(says, wrong) for says, wrong in known.mistakes if fits(got, of(wrong), right)]


def _errors_alike(seen: Seen) -> Seen:
    """Without what the errors say: the same mistake, written otherwise, may stop the same calls with another one."""
    return [[None if _has_stopped(call) else call for call in calls] for calls in seen]


def _where_it_runs(seen: Seen, known: Known) -> list[tuple[str, Seen]]:
    """The mistake that gives what came out where the code did not stop with an error, as it does in some examples."""
    stopped = {index for index, calls in enumerate(seen) if any(map(_has_stopped, calls))}
    if len(stopped) in (0, len(seen)):
        return []
    return _fitting(seen, known, lambda each: [calls for index, calls in enumerate(each) if index not in stopped])


def _if_one(found: list[tuple[str, Seen]]) -> list[tuple[str, Seen]]:
    """These, if students read the same about all of them. Errors prove less than numbers, which several may share."""
    return found if len({says for says, _ in found}) == 1 else []


def _has_stopped(call: Figures) -> bool:
    return call is None or (isinstance(call, str) and call != "")


def close(one: Figures, other: Figures) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        far = CLOSE * max(one[0], other[0]) + 1e-9
        return all(abs(a - b) <= far for a, b in zip(one[:3], other[:3], strict=True))
    return one == other


def _forms(seen: Seen) -> list[list[str]]:
    return [[call[3] if isinstance(call, tuple) else "" for call in calls] for calls in seen]


def seen_in(
    examples: Callable[[], Iterable[VisibleExample]],
    student: Callable[..., Any],
    called: str,
    prepared: Callable[[Any], Any] = lambda item: item,
) -> Seen:
    """The figures of all calls in these examples. `prepared` gives another form to inputs and modules."""
    first, again = ([_calls_in(one, student, called, seed, prepared) for one in examples()] for seed in (0, 1))
    return [
        [one if close(one, other) else "" for one, other in zip_longest(*calls)]
        for calls in zip(first, again, strict=True)
    ]


def _calls_in(
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

        def noted(*inputs: object, **named: object) -> Any:
            place = len(self.figures)
            self.figures.append(None)
            returned = student(*map(self._prepared, inputs), **named)
            if isinstance(returned, torch.nn.Module):
                self.figures.pop()
                return self._module(returned)
            self.figures[place] = figures(returned)
            return returned

        return noted

    def _module(self, made: torch.nn.Module) -> torch.nn.Module:
        module: torch.nn.Module = self._prepared(made)
        module.register_forward_pre_hook(self._before)
        module.register_forward_hook(self._after)
        return module

    def _before(self, _: torch.nn.Module, inputs: tuple[object, ...]) -> tuple[object, ...]:
        self.figures.append(None)
        return tuple(map(self._prepared, inputs))

    def _after(self, _: torch.nn.Module, inputs: object, returned: object) -> None:  # noqa: ARG002  as PyTorch calls it
        self.figures[-1] = figures(returned)


def figures(returned: object) -> Figures:
    """What is noted of a returned value."""
    found = [*_numbers(returned)]
    if not found:
        return None
    numbers = torch.cat(found)
    if len(numbers) and not bool(numbers.isfinite().any()):
        return None  # as after an error, since it may have any cause
    numbers = numbers.nan_to_num(nan=1e3, posinf=2e3, neginf=-2e3)
    places = torch.arange(1, len(numbers) + 1, dtype=torch.float64)
    size, one, other = (
        float(f"{float(each.sum()) / max(len(numbers), 1):.5g}")
        for each in (numbers.abs(), numbers * places.sin(), numbers * (2.3 * places).sin())
    )
    return size, one, other, _form(returned)


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
