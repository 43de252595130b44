"""A class whose forward takes a text in chunks, and hands on a cache.

It is observed like any other class, but its calls are runs: one text, cut into chunks, each with the cache that came
back from the one before. Nothing in the cache is trusted here: it goes back to the code that made it, and only tensors
are sent out.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from torch import nn

from grader.sandbox.forms.exact import Function, Inputs, Observed
from grader.sandbox.forms.module import observe

Tensor = torch.Tensor

OUTPUTS, CACHE = "outputs", "cache"  # what a run is asked for


def put_runs(module_class: Function, inputs: Inputs) -> Observed:
    """What `observe` sees of a student's class, called with runs."""
    return observe(functools.partial(_build, module_class), *inputs)


def _build(module_class: Function, *arguments: object) -> object:
    """A module of this class that is called with runs."""
    module = module_class(*arguments)
    if isinstance(module, nn.Module):
        vars(module)["forward"] = functools.partial(run, module.forward)
    return module


def run(
    forward: Function,
    x: Tensor,
    sizes: Sequence[int],
    goal: str = OUTPUTS,
    keys: Tensor | None = None,
    values: Tensor | None = None,
    aside: Tensor | None = None,
) -> object:
    """The outputs for a text x (B, T, d_model) in chunks of these sizes, or the cache in the end: (2, B, H, S, d).

    The first chunk may have keys and values to begin with. What goes on with `aside` must not change how x goes on.
    """
    cache = None if keys is None or values is None else like(step(forward, x[:, :1])[1], keys, values)
    outputs = []
    for chunk in torch.split(x, list(sizes), dim=1):
        if aside is not None and cache is not None:
            step(forward, aside, cache)
        y, cache = step(forward, chunk, cache)
        if not isinstance(y, Tensor):  # the text cannot go on from here
            return y
        outputs.append(y)
    if goal == CACHE:
        return stacked(cache)
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)


def step(forward: Function, x: Tensor, cache: object = None) -> tuple[object, object]:
    """Make one call, which returns an output and a cache. A single tensor is an output, even a batch of two."""
    returned = forward(x) if cache is None else forward(x, cache)
    if isinstance(returned, (tuple, list)) and len(returned) == 2:
        return returned[0], returned[1]
    return returned, None


def stacked(cache: object) -> Tensor:
    """Keys and values of a cache in one tensor, which is empty if they are not a pair."""
    pair = list(cache) if isinstance(cache, (tuple, list, torch.Tensor)) and len(cache) == 2 else []
    if len(pair) != 2 or not all(isinstance(half, torch.Tensor) for half in pair) or pair[0].shape != pair[1].shape:
        return torch.empty(0)
    return torch.stack(pair)


def like(cache: object, keys: Tensor, values: Tensor) -> object:
    """A cache of these keys and values in the form that the code itself gives to one."""
    if isinstance(cache, torch.Tensor):
        return torch.stack([keys, values])
    if isinstance(cache, list):
        return [keys, values]
    return getattr(cache, "_make", tuple)((keys, values))  # a tuple may have names
