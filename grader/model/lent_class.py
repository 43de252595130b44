"""A right class that is lent to later exercises: nothing of it leaves our side but the numbers that it computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

MAX_SIZE = 100  # of what a module is made of, so that none takes long to make


@dataclass(frozen=True)
class LentClass:
    """Modules of this class that take one tensor and return one of its shape, put to use from afar."""

    module_class: Any

    def __call__(
        self,
        given: Sequence[Any],
        training: bool = False,
        shape: Sequence[int] = (),
        weights: torch.Tensor | None = None,
        rows: torch.Tensor | None = None,
    ) -> Any:
        """The parameters of a new module made of `given`, or what one with these weights makes of rows (…, d)."""
        arguments, named = given
        if any(abs(value) > MAX_SIZE for value in (*arguments, *named.values())):
            raise ValueError("this would be too large")
        module: nn.Module = self.module_class(*arguments, **named)
        parameters = dict(module.named_parameters())
        if weights is None or rows is None:
            return {name: parameter.detach() for name, parameter in parameters.items()}
        parts = torch.split(weights, [parameter.numel() for parameter in parameters.values()])
        held = {name: part.view_as(parameters[name]) for name, part in zip(parameters, parts, strict=True)}
        module.train(training)
        return torch.func.functional_call(module, held, (rows.reshape(*shape),)).reshape(rows.shape)
