"""Answers of trivial programs: zeros, the input given back, a mean. They earn nothing, even where misconceptions
explain them, which need not be the student's: two of them explain a lot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.model import plain_values
from grader.model.answer import Answer, Returned
from grader.model.compare import paired_numbers, same
from grader.model.exercise import Inputs, SampledCase
from grader.model.forms.parts import named
from grader.model.plain_parts import is_plain
from grader.sandbox.decoder import plain

Tensor = torch.Tensor

# Makes an answer of the right form from the expected one and the inputs; None if it has none for these.
Program = Callable[[Any, Inputs], Any]
PARTS = {"outputs", "built", "gradients", "new"}  # forms other than functions note one of these


def program_that_answers(
    cases: Sequence[SampledCase], answers: Sequence[Answer], expected: Sequence[Any], tolerance: float
) -> str:
    """Words for a program that gives all of these answers; empty if none does."""
    results = [it for it in zip(cases, answers, expected, strict=True) if not it[0].case.beside]
    if not all(isinstance(answer, Returned) for _, answer, _ in results):
        return ""
    asked = [
        _asked(answer.value, wanted, case.inputs) for case, answer, wanted in results if isinstance(answer, Returned)
    ]
    programs = IN_KIND if any(is_plain(wanted) for _, _, wanted in results) else PROGRAMS
    if any(isinstance(wanted, dict) for _, _, wanted in results):
        programs = {does: program for does, program in programs.items() if does not in BY_ROWS}
    for does, program in programs.items():
        if all(_is_by(program, each, tolerance) for each in asked):
            return does
    return ""


def _asked(value: object, wanted: object, inputs: Inputs) -> list[tuple[Any, Any, Inputs]]:
    """The answer, the expected one, and their inputs; for a class, in each of its calls."""
    if not isinstance(wanted, dict):
        return [(value, wanted, inputs)]
    outputs = wanted.get("output")
    given = named(value, "output")
    if not isinstance(outputs, dict) or not isinstance(given, dict):
        return []
    calls = _calls(inputs, outputs)
    return [(given.get(name), output, calls.get(name, inputs)) for name, output in outputs.items()]


def _calls(inputs: Inputs, outputs: Any) -> Mapping[str, Inputs]:
    """The inputs in the calls of a class, by their names."""
    return next((part for part in inputs if isinstance(part, dict) and part.keys() >= outputs.keys()), {})


def _is_by(program: Program, asked: Sequence[tuple[Any, Any, Inputs]], tolerance: float) -> bool:
    """Whether a program gives these answers, wherever it has any."""
    made = [(value, program(wanted, inputs)) for value, wanted, inputs in asked]
    made = [(value, answer) for value, answer in made if answer is not None]
    return bool(made) and all(_same(value, answer, tolerance) for value, answer in made)


def _same(value: object, answer: object, tolerance: float) -> bool:
    if is_plain(answer):
        return plain_values.same(value, plain(answer), tolerance)
    return same(value, answer, tolerance)


def answers_of(program: Program, cases: Sequence[SampledCase], right: Sequence[Any]) -> list[Returned]:
    """Answers of a program that otherwise does as the reference; empty if it has none to some case."""
    values = [_value(program, value, case.inputs) for value, case in zip(right, cases, strict=True)]
    if any(value is None and not case.case.beside for value, case in zip(values, cases, strict=True)):
        return []
    values = [wanted if value is None else value for value, wanted in zip(values, right, strict=True)]
    return [Returned(value, list(case.inputs)) for value, case in zip(values, cases, strict=True)]


def _value(program: Program, right: object, inputs: Inputs) -> Any:
    if not isinstance(right, dict) or not right.keys() & PARTS:  # a function's result
        return program(right, inputs)
    if "outputs" not in right:  # a class that must not be built
        return right
    calls = _calls(inputs, right["outputs"])
    outputs = {name: program(output, calls.get(name, inputs)) for name, output in right["outputs"].items()}
    if any(output is None for output in outputs.values()):
        return None
    return right | {"outputs": outputs} | {part: dict.fromkeys(right[part]) for part in right if part == "gradients"}


def _filled(number: float) -> Program:
    return lambda wanted, _: _like(wanted, lambda tensor: torch.full_like(tensor, number, dtype=torch.float64))


def _of_tensors(program: Program) -> Program:
    """A program that answers only if tensors are expected."""
    return lambda wanted, inputs: None if is_plain(wanted) else program(wanted, inputs)


def _numbers(number: int) -> Program:
    """The same number everywhere, where tensors or numbers are expected."""
    filled = _filled(number)
    return lambda wanted, inputs: _plain_numbers(wanted, number) if is_plain(wanted) else filled(wanted, inputs)


def _plain_numbers(wanted: object, number: int) -> Any:
    """The value with this in place of each number; None if it holds anything else."""
    if isinstance(wanted, (list, tuple)) and wanted:
        made = [_plain_numbers(item, number) for item in wanted]
        return None if any(item is None for item in made) else made
    if isinstance(wanted, np.ndarray) and wanted.dtype.kind in "iuf":
        return np.full_like(wanted, number)
    return number if isinstance(wanted, (int, float)) and not isinstance(wanted, bool) else None


def _empty(wanted: object, _: Inputs) -> Any:
    """An empty value of the right kind."""
    kind = type(wanted)
    return kind() if kind in (str, bytes, list, tuple, dict, set, frozenset) and is_plain(wanted) else None


def _like(wanted: object, make: Callable[[Tensor], Tensor]) -> Any:
    """A value of the same form as another one."""
    if isinstance(wanted, (list, tuple)):
        return [_like(tensor, make) for tensor in wanted]
    return make(torch.as_tensor(wanted))


def _uniform(wanted: Any, _: Inputs) -> Any:
    """Equal weights: one over how many there are."""
    if isinstance(wanted, (list, tuple)):
        return [_like(part, lambda tensor: torch.full_like(tensor, 1 / len(wanted))) for part in wanted]
    return torch.full_like(wanted, 1 / wanted.shape[-1]) if wanted.dim() else None


def _given_back(position: int) -> Program:
    def program(wanted: object, inputs: Inputs) -> Any:
        given = inputs[position] if position < len(inputs) else None
        if given is not None and is_plain(wanted):
            return given
        return given if given is not None and paired_numbers(given, wanted) else None

    return program


def _mean(position: int) -> Program:
    """The mean of an argument in each place, as equal weights give it."""

    def program(wanted: Any, inputs: Inputs) -> Any:
        given = inputs[position] if position < len(inputs) else None
        rows = torch.stack(list(given)) if isinstance(given, (list, tuple)) and _are_alike(given) else given
        if not isinstance(rows, Tensor) or rows.dim() < 1 or not rows.is_floating_point():
            return None
        if isinstance(wanted, (list, tuple)):
            mean = rows.mean(0)
            fits = all(getattr(tensor, "shape", None) == mean.shape for tensor in wanted)
            return [mean for _ in wanted] if fits else None
        mean = rows.mean(-2, keepdim=True) if rows.dim() > 1 else rows.mean(0, keepdim=True)
        return mean.expand_as(wanted) if _fits(mean, wanted) else None

    return program


def _are_alike(given: Sequence[Any]) -> bool:
    return bool(given) and all(isinstance(tensor, Tensor) and tensor.shape == given[0].shape for tensor in given)


def _fits(mean: Tensor, wanted: object) -> bool:
    if not isinstance(wanted, Tensor) or mean.dim() != wanted.dim():
        return False
    return all(size in (1, other) for size, other in zip(mean.shape, wanted.shape, strict=True))


def _rows_made_one(make: Callable[[Tensor], Tensor]) -> Program:
    """One row in place of the first argument."""

    def program(wanted: object, inputs: Inputs) -> Any:
        given = inputs[0]
        is_matrix = isinstance(given, Tensor) and given.dim() > 1 and given.is_floating_point()
        return make(given) if is_matrix and isinstance(wanted, Tensor) else None

    return program


def _changed(position: int, make: Callable[[Tensor], Tensor]) -> Program:
    """A tensor made from one argument alone, in its form."""

    def program(wanted: Any, inputs: Inputs) -> Any:
        given = inputs[position] if position < len(inputs) else None
        if not isinstance(given, Tensor) or not (given.dim() and given.numel()) or not given.is_floating_point():
            return None
        made = make(given)
        return made.expand_as(wanted) if _fits(made, wanted) else None

    return program


def _first_row(position: int) -> Program:
    """An argument's first row in place of each."""
    of_tensor = _changed(position, lambda given: given[:1] if given.dim() < 2 else given[..., :1, :])

    def program(wanted: object, inputs: Inputs) -> Any:
        given = inputs[position] if position < len(inputs) else None
        if isinstance(wanted, (list, tuple)):
            first = given[:1] if isinstance(given, (list, tuple)) else []
            return [*first] * len(wanted) if first and _are_alike([*first, *wanted]) else None
        return of_tensor(wanted, inputs)

    return program


def _largest(given: Tensor) -> Tensor:
    """One at the largest number of each row, and zero elsewhere."""
    return torch.zeros_like(given).scatter(-1, given.argmax(-1, keepdim=True), 1.0)


def _running_mean(given: Tensor) -> Tensor:
    """The mean of all rows so far."""
    rows = given if given.dim() > 1 else given[:, None]
    counts = torch.arange(1, rows.shape[-2] + 1, device=given.device, dtype=given.dtype)
    return (rows.cumsum(-2) / counts[:, None]).reshape(given.shape)


def _one_entry(place: int) -> Program:
    """One in the same place of each row, and zero elsewhere."""

    def make(tensor: Tensor) -> Tensor:
        made = torch.zeros(tensor.shape)
        if made.numel() and made.dim():
            made[..., place] = 1.0
        return made

    return lambda wanted, _: _like(wanted, make)


WHICH = ("its", "its second", "its third")
# Not tried where more than one result is read, as with dropout: there names count.
BY_ROWS: dict[str, Program] = {
    **{
        f"returns the first row of {which} argument for all rows": _of_tensors(_first_row(i))
        for i, which in enumerate(WHICH)
    },
    "returns 1 at the first place of each row, and 0 elsewhere": _of_tensors(_one_entry(0)),
    "returns 1 at the last place of each row, and 0 elsewhere": _of_tensors(_one_entry(-1)),
    **{
        f"returns 1 where {which} argument is largest, and 0 elsewhere": _of_tensors(_changed(i, _largest))
        for i, which in enumerate(WHICH)
    },
    **{
        f"returns the running mean of {which} argument": _of_tensors(_changed(i, _running_mean))
        for i, which in enumerate(WHICH)
    },
}
PROGRAMS: dict[str, Program] = {
    "returns zeros": _numbers(0),
    "returns ones": _numbers(1),
    "gives everything the same weight": _of_tensors(_uniform),
    "returns the first row of its argument": _of_tensors(_rows_made_one(lambda rows: rows[0])),
    "returns the sum of the rows of its argument": _of_tensors(_rows_made_one(lambda rows: rows.sum(0))),
    **BY_ROWS,
    **{f"returns {which} argument unchanged": _given_back(i) for i, which in enumerate(WHICH)},
    **{f"returns the mean of {which} argument": _of_tensors(_mean(i)) for i, which in enumerate(WHICH)},
}
# Where no tensors are expected.
IN_KIND = {"returns something empty": _empty, **PROGRAMS}
