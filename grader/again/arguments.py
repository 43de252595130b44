"""Other ways to give arguments: as rows, or in another order, by name."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.again.call_variants import CallVariant
from grader.model.broken_rules import another_order
from grader.model.exercise import Exercise, Inputs, SampledCase
from grader.model.fact import Fact, FactKind
from grader.model.forms.module import ClassInputs, with_gradients_in_order
from grader.sandbox.nested import map_tensors, tensors_in

# Rows, where an exercise has columns: many students know them from elsewhere.

Turn = Callable[[Tensor], Tensor]


def variants_with_rows(exercise: Exercise, first_case: SampledCase) -> Iterator[CallVariant]:
    """Variants with columns as rows, or flat, and with matrices and biases unchanged or turned along."""
    if exercise.columns is None:
        return
    inputs = first_case.inputs[1:]
    rows, flat = exercise.columns.rows, exercise.columns.flat
    has_matrices = not all(map(_is_column, tensors_in(inputs)))
    words = ((_transpose, rows), (_flatten, flat)) if flat else ((_transpose, rows),)
    needs_columns = not flat or any(isinstance(value, Tensor) for value in inputs)
    columns = (_transpose, _flatten, _keep) if needs_columns else (None,)
    matrices = (_keep, _transpose) if has_matrices else (_keep,)
    for (turn_word, mistake), turn_column, turn_matrix in itertools.product(words, columns, matrices):
        name, sentence = mistake
        change_inputs = _turn_inputs(turn_word, turn_column or turn_word, turn_matrix)
        yield CallVariant(name, (sentence,), change_inputs, (functools.partial(map_tensors, _as_columns), _keep))


def _turn_inputs(turn_word: Turn, turn_column: Turn, turn_matrix: Turn) -> Callable[[Inputs], Inputs]:
    """How to turn the tensors of inputs: words are in lists, and in the first input; biases and matrices are not."""

    def turn_input(value: object) -> object:
        turn_bias = turn_word if isinstance(value, list) else turn_column
        return _turn_matrices(value, lambda tensor: turn_bias(tensor) if _is_column(tensor) else turn_matrix(tensor))

    def change_inputs(inputs: Inputs) -> Inputs:
        return (_turn_matrices(inputs[0], turn_word), *map(turn_input, inputs[1:]))

    return change_inputs


def _turn_matrices(value: object, turn: Turn) -> object:
    return map_tensors(lambda tensor: turn(tensor) if tensor.dim() == 2 else tensor, value)


def _is_column(tensor: Tensor) -> bool:
    return tensor.dim() == 2 and tensor.shape[1] == 1 < tensor.shape[0]


def _transpose(tensor: Tensor) -> Tensor:
    return tensor.mT.clone()


def _flatten(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1).clone()


def _keep(tensor: Tensor) -> Tensor:
    return tensor


def _as_columns(tensor: Tensor) -> Tensor:
    """Turn rows in a result into columns."""
    if tensor.dim() == 2:
        return tensor.mT
    return tensor.unsqueeze(1) if tensor.dim() == 1 else tensor


ANOTHER_ORDER = "arguments in another order"

Names = Sequence[str]


def variants_by_name(exercise: Exercise, first_case: SampledCase, facts: Sequence[Fact]) -> Iterator[CallVariant]:
    """The variant with the code's own order, if it has the right arguments in another one."""
    student_names = {fact.what: fact.parts for fact in facts if fact.kind == FactKind.ARGUMENTS}
    sentences, order = [], {}
    for function, names in _names_by_function(exercise).items():
        if _is_another_order(names, student_names.get(function)):
            sentences.append(another_order(function, student_names[function], names))
            order[function] = [names.index(name) for name in student_names[function]]
    if not order:
        return
    if not exercise.form.methods:
        yield CallVariant(
            ANOTHER_ORDER, tuple(sentences), lambda inputs: tuple(_reorder(inputs, order[exercise.entry]))
        )
    elif _fits_calls(order, first_case.inputs):
        defaults = {name: list(method.__defaults__ or ()) for name, method in _methods(exercise).items()}
        change_inputs = _reorder_for_class(order, defaults)
        restore = functools.partial(with_gradients_in_order, order=order.get("forward", []))
        yield CallVariant(ANOTHER_ORDER, tuple(sentences), change_inputs, (restore,))


def _names_by_function(exercise: Exercise) -> dict[str, Names]:
    """The names of the arguments asked for, by function or method, taken from the reference."""
    if not exercise.form.methods:
        return {exercise.entry: _names(exercise.reference)}
    return {name: _names(method)[1:] for name, method in _methods(exercise).items()}


def _methods(exercise: Exercise) -> dict[str, Any]:
    """The methods of the reference that students write, too."""
    module_class = inspect.unwrap(exercise.reference)
    return {name: getattr(module_class, name) for name in exercise.form.methods if hasattr(module_class, name)}


def names_of_arguments(exercise: Exercise) -> Names:
    """The arguments in each call of the function or, for a class, of `forward`."""
    return _names_by_function(exercise).get("forward" if exercise.form.methods else exercise.entry, [])


def _names(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some functions of torch have none
        return []
    return [parameter.name for parameter in parameters if parameter.kind == parameter.POSITIONAL_OR_KEYWORD]


def _is_another_order(names: Names, student_names: Names | None) -> bool:
    if student_names is None or list(student_names) == list(names):
        return False
    return sorted(student_names) == sorted(names)


def _reorder(arguments: Sequence[Any], order: Sequence[int], defaults: Sequence[Any] = ()) -> list[Any]:
    """Arguments in this order; a missing one before one that is there gets its default."""
    missing = len(order) - len(arguments)
    indices = [index for index in order if index < len(arguments)]
    if list(order[: len(arguments)]) == indices:
        return [arguments[index] for index in indices]
    if not 0 <= missing <= len(defaults):
        return list(arguments)
    all_arguments = [*arguments, *defaults[len(defaults) - missing :]]
    return [all_arguments[index] for index in order]


def _reorder_for_class(
    order: Mapping[str, Sequence[int]], defaults: Mapping[str, Sequence[Any]]
) -> Callable[[Inputs], Inputs]:
    def change_inputs(inputs: Inputs) -> Inputs:
        case = ClassInputs(*inputs)
        if "__init__" in order:
            case = case._replace(arguments=_reorder(case.arguments, order["__init__"], defaults["__init__"]))
        if "forward" in order:
            calls = {name: _reorder(call, order["forward"], defaults["forward"]) for name, call in case.calls.items()}
            case = case._replace(calls=calls)
        return tuple(case)

    return change_inputs


def _fits_calls(order: Mapping[str, Sequence[int]], inputs: Inputs) -> bool:
    """Whether gradients are still asked for the same arguments."""
    count = ClassInputs(*inputs).gradients
    return sorted(order.get("forward", range(count))[:count]) == list(range(count))
