"""How a case is put to a student's code, by the form of what an exercise asks for: a row of the table for each form.

The same code looks at the student's code, in the sandbox, and at our own, outside. It judges nothing. What comes back
is what a call returned, or what was observed: tensors, numbers, texts and truth values by name. An exercise may have a
probe, which says itself what is looked at: see probes.py. A sandbox can read none of these files, so all are loaded
with this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from grader.sandbox.decoder import decode
from grader.sandbox.forms import exact, module, objects
from grader.sandbox.forms.exact import Function, Inputs
from grader.sandbox.values import Encoded, encode


def put_plainly(function: Function, inputs: Inputs) -> object:
    return function(*inputs)


def put_through_probe(function: Function, inputs: Inputs, probe: Function) -> object:
    return probe(function, *inputs)


class FormRow(NamedTuple):
    """How a form puts the inputs of a case to a function or a class."""

    put_case: Callable[[Function, Inputs], object]
    put_with_probe: Callable[[Function, Inputs, Function], object] = put_through_probe
    is_observed: bool = True
    """What comes back is an observation. Otherwise it is of any kind: the judge says which is asked for."""


FORMS = {
    "function": FormRow(put_plainly, is_observed=False),
    "objects": FormRow(objects.put_steps, is_observed=False),
    "parts": FormRow(put_plainly),
    "exact": FormRow(exact.put_once),
    "module": FormRow(module.put_calls, module.put_calls),
    "new_module": FormRow(module.put_or_new, module.put_calls),
}


def put_case(form: str, entry: Function, inputs: Inputs, probe: Function | None = None) -> Any:
    """Put a case to a student's function or class, in the form that its exercise asks for."""
    row = FORMS[form]
    return row.put_with_probe(entry, inputs, probe) if probe else row.put_case(entry, inputs)


def encode_value(form: str, value: object, prefix: str = "") -> Encoded:
    """Write the inputs of a case as they cross the channel, or what came back of a student's code."""
    return encode(value, prefix, is_observation=FORMS[form].is_observed)


def decode_value(form: str, tree: object, tensors: Mapping[str, torch.Tensor], pandas: bool = False) -> Any:
    """Read what was written. On the student's side, its tables are those of `pandas`."""
    return decode(tree, tensors, is_observation=FORMS[form].is_observed, pandas=pandas)
