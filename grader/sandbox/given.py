"""What a case gives to a student's code, and whether that is as it was afterwards."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Any

import torch

from grader.sandbox.accelerator import on_device
from grader.sandbox.crossing import read

MOST_COPIED = 2**20  # bytes: what is larger may be all that a case has room for
_NEVER_CHANGED = (type(None), bool, int, float, str)


class Given:
    """The inputs of a case. Code gets a copy, so that they need not go back if it has left them alone."""

    def __init__(self, form: str, tree: Any, tensors: Mapping[str, torch.Tensor], device: str) -> None:
        self.form = form
        self.device = device
        self._tree = tree
        self._tensors = tensors

    def inputs(self, again: bool) -> Any:
        """For a call: a copy, unless that takes much room and the inputs are not needed `again`."""
        is_small = sum(tensor.nbytes for tensor in self._tensors.values()) <= MOST_COPIED
        return copied(self._inputs) if again or is_small else self._inputs

    @functools.cached_property
    def _inputs(self) -> Any:
        return on_device(read(self.form, self._tree, self._tensors, pandas=True), self.device)

    def is_unchanged(self, inputs: Any) -> bool:
        """Whether a copy is as it was given, as far as that can be told here: the judge looks at all others."""
        return inputs is not self._inputs and is_same(inputs, self._inputs)


def copied(value: Any) -> Any:
    if type(value) is torch.Tensor:
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value if type(value) in _NEVER_CHANGED else copy.deepcopy(value)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of plain kinds are equal; False for kinds of which that is not known here."""
    if type(one) is not type(other):
        return False
    if type(one) is torch.Tensor:
        kinds = ((tensor.dtype, tensor.layout, tensor.device) for tensor in (one, other))
        return len(set(kinds)) == 1 and torch.equal(one, other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if type(one) is dict:
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return type(one) in _NEVER_CHANGED and one == other
