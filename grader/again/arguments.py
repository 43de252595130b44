"""Arguments in another order than they come in: by their names in the code, or tried out."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from grader.again.another_way import Way
from grader.judging import sentences
from grader.model.exercise import Exercise, Inputs, SampledCase
from grader.model.fact import Fact, Kind

ANOTHER_ORDER = "arguments in another order"

MOST = 4  # arguments that are tried in all orders

Names = Sequence[str]


def ways_by_name(exercise: Exercise, first: SampledCase, facts: Sequence[Fact]) -> Iterator[Way]:
    """The order in which the code has them, if it has those that are asked for, in another one."""
    written = {fact.what: fact.parts for fact in facts if fact.kind == Kind.ARGUMENTS}
    asked = {name: names for name, names in _asked(exercise).items() if _is_another_order(names, written.get(name))}
    if not asked:
        return
    said = tuple(sentences.another_order(name, written[name], names) for name, names in asked.items())
    order = {name: _order(names, written[name]) for name, names in asked.items()}
    if exercise.form.methods:
        if _fits_calls(order, first.inputs):
            given = _for_a_class(order, _defaults(exercise))
            yield Way(ANOTHER_ORDER, said, given, (_gradients_back(order.get("forward", [])),))
    else:
        yield Way(ANOTHER_ORDER, said, _for_a_function(order[exercise.entry]))


def all_orders(exercise: Exercise, first: SampledCase) -> Iterator[Way]:
    """Every other order of a few arguments."""
    count = len(first.inputs)
    if exercise.form.methods or not 1 < count <= MOST:
        return
    names = _asked(exercise)[exercise.entry][:count]
    if len(names) < count:
        return
    for order in list(itertools.permutations(range(count)))[1:]:
        moved = [name for index, name in enumerate(names) if order[index] != index]
        said = sentences.for_one_another(*moved) if len(moved) == 2 else sentences.in_order(names)
        yield Way(ANOTHER_ORDER, (said,), _for_a_function(order))


def _asked(exercise: Exercise) -> dict[str, Names]:
    """The names of the arguments that are asked for, by function or method: the references have the same."""
    if not exercise.form.methods:
        return {exercise.entry: _names(exercise.reference)}
    ours = inspect.unwrap(exercise.reference)
    return {method: _names(getattr(ours, method))[1:] for method in exercise.form.methods if hasattr(ours, method)}


def _names(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some functions of torch do not tell
        return []
    return [one.name for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD]


def _is_another_order(asked: Names, written: Names | None) -> bool:
    return written is not None and list(written) != list(asked) and sorted(written) == sorted(asked)


def _order(asked: Names, written: Names) -> list[int]:
    return [asked.index(name) for name in written]


def _defaults(exercise: Exercise) -> dict[str, list[Any]]:
    """Of the last arguments, by method."""
    ours = inspect.unwrap(exercise.reference)
    methods = [name for name in exercise.form.methods if hasattr(ours, name)]
    return {name: list(getattr(ours, name).__defaults__ or ()) for name in methods}


def _reordered(given: Sequence[Any], order: Sequence[int], defaults: Sequence[Any] = ()) -> list[Any]:
    """Those that are given; what is not has its default where it comes before one that is."""
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
        arguments, weights, calls, how = inputs
        if "__init__" in order:
            arguments = _reordered(arguments, order["__init__"], defaults["__init__"])
        if "forward" in order:
            calls = {name: _reordered(call, order["forward"], defaults["forward"]) for name, call in calls.items()}
        return arguments, weights, calls, how

    return given


def _fits_calls(order: Mapping[str, Sequence[int]], inputs: Inputs) -> bool:
    """Whether gradients are still asked for the same arguments."""
    asked = inputs[3].get("gradients", 0)
    return sorted(order.get("forward", range(asked))[:asked]) == list(range(asked))


def _gradients_back(order: Sequence[int]) -> Callable[[Any], Any]:
    """Gradients of inputs are known by their number."""

    def back(seen: Any) -> Any:
        gradients = seen.get("gradients") if isinstance(seen, dict) else None
        if not order or not isinstance(gradients, dict):
            return seen
        named = {str(order[int(name)]) if name.isdigit() else name: value for name, value in gradients.items()}
        return {**seen, "gradients": {name: named[name] for name in gradients}}

    return back
