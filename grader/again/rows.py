"""Words as rows, where an exercise has them as columns: many write that who know it from elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from grader.again.another_way import Way
from grader.judging import sentences
from grader.model.exercise import Exercise, Inputs, SampledCase

WORDS_AS_ROWS = "words as rows"
FLAT_WORDS = "vectors in place of columns"

Turn = Callable[[Tensor], Tensor]


def ways_with_rows(exercise: Exercise, first: SampledCase) -> Iterator[Way]:
    """Each word as a row, or flat; beside that, matrices and biases as they are, or turned with them."""
    if exercise.form.name != "function" or not any(map(_is_column, _tensors(first.inputs))):
        return
    words, *others = first.inputs
    in_list = isinstance(words, list)
    kinds = set(map(_is_column, _tensors(others)))
    for word, column, matrix in itertools.product(
        (_turned, _flat) if in_list else (_turned,),
        (_turned, _flat, _as_it_is) if not in_list or any(isinstance(other, Tensor) for other in others) else (None,),
        (_as_it_is, _turned) if False in kinds else (_as_it_is,),
    ):
        name, shape = (WORDS_AS_ROWS, "(1, D)") if word is _turned else (FLAT_WORDS, "(D,)")
        said = sentences.fits_another_shape(shape) if in_list else sentences.FITS_ROWS
        yield Way(name, (said,), _given(word, column or word, matrix), (_back, _unchanged))


def _given(word: Turn, column: Turn, matrix: Turn) -> Callable[[Inputs], Inputs]:
    def given(inputs: Inputs) -> Inputs:
        first, *others = inputs
        return (_each(first, lambda _: word), *(_each(other, _kind(other, word, column, matrix)) for other in others))

    return given


def _kind(value: Any, word: Turn, column: Turn, matrix: Turn) -> Callable[[Tensor], Turn]:
    """What is done with the tensors of an input: in lists are words, beside them are biases and matrices."""
    in_list = isinstance(value, list)
    return lambda tensor: (word if in_list else column) if _is_column(tensor) else matrix


def _each(value: Any, turn_of: Callable[[Tensor], Turn]) -> Any:
    if isinstance(value, (list, tuple)):
        return [_each(item, turn_of) for item in value]
    return turn_of(value)(value) if isinstance(value, Tensor) and value.dim() == 2 else value


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, Tensor):
        yield value


def _is_column(tensor: Tensor) -> bool:
    return tensor.dim() == 2 and tensor.shape[1] == 1 < tensor.shape[0]


def _turned(tensor: Tensor) -> Tensor:
    return tensor.mT.clone()


def _flat(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1).clone()


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _unchanged(value: Any) -> Any:
    return value


def _back(value: Any) -> Any:
    """A result of rows, as columns."""
    if isinstance(value, (list, tuple)):
        return [_back(item) for item in value]
    if not isinstance(value, Tensor) or value.dim() not in (1, 2):
        return value
    return value.mT if value.dim() == 2 else value.unsqueeze(1)
