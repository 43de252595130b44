"""Other ways to give arguments: as rows, or in another order, by name."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.again.another_way import Way
from grader.model.broken_rules import another_order
from grader.model.exercise import Exercise, Inputs, SampledCase
from grader.model.fact import Fact, FactKind
from grader.model.forms.module import ClassInputs, with_gradients_in_order
from grader.sandbox.nested import map_tensors, tensors_in

# Rows, where an exercise has columns: many students know them from elsewhere.

Turn = Callable[[Tensor], Tensor]


def ways_with_rows(exercise: Exercise, first: SampledCase) -> Iterator[Way]:
    """Ways with columns as rows, or flat, and with matrices and biases unchanged or turned along."""
    if exercise.columns is None:
        return
    others = first.inputs[1:]
    rows, flat = exercise.columns.rows, exercise.columns.flat
    kinds = set(map(_is_column, tensors_in(others)))
    for (word, mistake), column, matrix in itertools.product(
        ((_turned, rows), (_flat, flat)) if flat else ((_turned, rows),),
        (_turned, _flat, _as_it_is) if not flat or any(isinstance(other, Tensor) for other in others) else (None,),
        (_as_it_is, _turned) if False in kinds else (_as_it_is,),
    ):
        name, says = mistake
        yield Way(name, (says,), _given(word, column or word, matrix), (_back, _unchanged))


def _given(word: Turn, column: Turn, matrix: Turn) -> Callable[[Inputs], Inputs]:
    def given(inputs: Inputs) -> Inputs:
        first, *others = inputs
        return (_each(first, lambda _: word), *(_each(other, _kind(other, word, column, matrix)) for other in others))

    return given


def _kind(value: object, word: Turn, column: Turn, matrix: Turn) -> Callable[[Tensor], Turn]:
    """How to turn the tensors of an input: words are in lists, biases and matrices are not."""
    in_list = isinstance(value, list)
    return lambda tensor: (word if in_list else column) if _is_column(tensor) else matrix


def _each(value: object, turn_of: Callable[[Tensor], Turn]) -> object:
    return map_tensors(lambda tensor: turn_of(tensor)(tensor) if tensor.dim() == 2 else tensor, value)


def _is_column(tensor: Tensor) -> bool:
    return tensor.dim() == 2 and tensor.shape[1] == 1 < tensor.shape[0]


def _turned(tensor: Tensor) -> Tensor:
    return tensor.mT.clone()


def _flat(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1).clone()


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _unchanged(value: object) -> Any:
    return value


def _back(value: object) -> Any:
    """Turn rows in a result into columns."""
    return map_tensors(_as_columns, value)


def _as_columns(tensor: Tensor) -> Tensor:
    if tensor.dim() == 2:
        return tensor.mT
    return tensor.unsqueeze(1) if tensor.dim() == 1 else tensor


ANOTHER_ORDER = "arguments in another order"

Names = Sequence[str]


def ways_by_name(exercise: Exercise, first: SampledCase, facts: Sequence[Fact]) -> Iterator[Way]:
    """The way with the code's own order, if it has the right arguments in another one."""
    written = {fact.what: fact.parts for fact in facts if fact.kind == FactKind.ARGUMENTS}
    asked = {name: names for name, names in _asked(exercise).items() if _is_another_order(names, written.get(name))}
    if not asked:
        return
    sentences = tuple(another_order(name, written[name], names) for name, names in asked.items())
    order = {name: _order(names, written[name]) for name, names in asked.items()}
    if exercise.form.methods:
        if _fits_calls(order, first.inputs):
            given = _for_a_class(order, _defaults(exercise))
            back = functools.partial(with_gradients_in_order, order=order.get("forward", []))
            yield Way(ANOTHER_ORDER, sentences, given, (back,))
    else:
        yield Way(ANOTHER_ORDER, sentences, _for_a_function(order[exercise.entry]))


def _asked(exercise: Exercise) -> dict[str, Names]:
    """The names of the arguments asked for, by function or method, taken from the reference."""
    if not exercise.form.methods:
        return {exercise.entry: _names(exercise.reference)}
    ours = inspect.unwrap(exercise.reference)
    return {method: _names(getattr(ours, method))[1:] for method in exercise.form.methods if hasattr(ours, method)}


def names_of_arguments(exercise: Exercise) -> Names:
    """The arguments in each call of the function or, for a class, of `forward`."""
    return _asked(exercise).get("forward" if exercise.form.methods else exercise.entry, [])


def _names(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some functions of torch have none
        return []
    return [one.name for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD]


def _is_another_order(asked: Names, written: Names | None) -> bool:
    return written is not None and list(written) != list(asked) and sorted(written) == sorted(asked)


def _order(asked: Names, written: Names) -> list[int]:
    return [asked.index(name) for name in written]


def _defaults(exercise: Exercise) -> dict[str, list[object]]:
    """Defaults of the last arguments, by method."""
    ours = inspect.unwrap(exercise.reference)
    methods = [name for name in exercise.form.methods if hasattr(ours, name)]
    return {name: list(getattr(ours, name).__defaults__ or ()) for name in methods}


def _reordered(given: Sequence[Any], order: Sequence[int], defaults: Sequence[Any] = ()) -> list[Any]:
    """Given arguments in this order; a missing one before a given one gets its default."""
    missing = len(order) - len(given)
    known = [index for index in order if index < len(given)]
    if list(order[: len(given)]) == known:
        return [given[index] for index in known]
    if not 0 <= missing <= len(defaults):
        return list(given)
    everything = [*given, *defaults[len(defaults) - missing :]]
    return [everything[index] for index in order]


def _for_a_function(order: Sequence[int]) -> Callable[[Inputs], Inputs]:
    return lambda inputs: tuple(_reordered(inputs, order))


def _for_a_class(
    order: Mapping[str, Sequence[int]], defaults: Mapping[str, Sequence[Any]]
) -> Callable[[Inputs], Inputs]:
    def given(inputs: Inputs) -> Inputs:
        case = ClassInputs(*inputs)
        if "__init__" in order:
            case = case._replace(arguments=_reordered(case.arguments, order["__init__"], defaults["__init__"]))
        if "forward" in order:
            moved = {name: _reordered(one, order["forward"], defaults["forward"]) for name, one in case.calls.items()}
            case = case._replace(calls=moved)
        return tuple(case)

    return given


def _fits_calls(order: Mapping[str, Sequence[int]], inputs: Inputs) -> bool:
    """Whether gradients are still asked for the same arguments."""
    asked = ClassInputs(*inputs).gradients
    return sorted(order.get("forward", range(asked))[:asked]) == list(range(asked))
