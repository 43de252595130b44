"""Which values cross the channel, by the form of what an exercise asks for, and how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.sandbox import kinds_read, kinds_written, values
from grader.sandbox.forms import has_kinds, has_words

Written = tuple[Any, dict[str, torch.Tensor]]  # a JSON tree, and the tensors it refers to


def written(form: str, value: Any, prefix: str = "") -> Written:
    """The inputs of a case, or other values that the grader chose, and the same as a student's code left them."""
    if has_kinds(form):
        return kinds_written.encode(value, prefix)
    return values.encode(value, prefix, words=True)


def written_answer(form: str, value: Any, prefix: str = "") -> Written:
    """What came back of a student's code."""
    if has_kinds(form):
        return kinds_written.encode(value, prefix)
    return values.encode(value, prefix, words=has_words(form))


def read(form: str, tree: Any, tensors: Mapping[str, torch.Tensor], pandas: bool = False) -> Any:
    """What was written. On the student's side, its tables are those of `pandas`."""
    if has_kinds(form):
        return kinds_read.decode(tree, tensors, 2 * kinds_written.MAX_NODES, pandas)  # two values, in an answer
    return values.decode(tree, tensors, words=True)
