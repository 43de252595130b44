"""A step of training: a model and an optimiser are built here, the step is taken some times, and weights are noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from grader.sandbox.small_model import SmallModel

WORDS = True
OPTIMIZERS = {"SGD": torch.optim.SGD, "AdamW": torch.optim.AdamW}


def put(entry: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """What `trained` sees of a student's function."""
    return trained(entry, *inputs)


def trained(
    step: Any,
    weights: Mapping[str, torch.Tensor],
    left_over: Mapping[str, torch.Tensor],
    batches: Sequence[torch.Tensor],
    how: Mapping[str, Any],
) -> dict[str, Any]:
    """What steps return, one for each batch, and the weights after them.

    `left_over` are gradients that are there already. `how` names the optimiser and its settings, says whether the
    model is in training ("train") before each step, and holds `max_norm`, if that is given.
    """
    model = SmallModel(weights)
    settings = {name: how[name] for name in ("lr", "momentum", "weight_decay") if name in how}
    optimizer = OPTIMIZERS[how["optimizer"]](model.parameters(), **settings)
    for name, parameter in model.named_parameters():
        parameter.grad = left_over[name].clone() if left_over else None
    losses = []
    for batch in batches:
        model.train(bool(how["train"]))
        given = batch.clone()
        losses.append(step(model, optimizer, given, *([how["max_norm"]] if "max_norm" in how else [])))
        if not torch.equal(given, batch):
            return {"changes_input": True}
    return {
        "changes_input": False,
        "floats": all(isinstance(loss, float) for loss in losses),
        "losses": [_number(loss) for loss in losses],
        "outputs": {name: parameter.detach() for name, parameter in model.named_parameters()},
    }


def _number(loss: Any) -> Any:
    """A single number, if it is one."""
    return loss.detach().cpu() if isinstance(loss, torch.Tensor) and loss.numel() == 1 else loss
