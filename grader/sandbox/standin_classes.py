"""A class in place of a student's own: its modules hold their parameters here, and are computed on the other side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def standin_class(name: str, ask: Callable[..., Any]) -> type[nn.Module]:
    """A class of that name. `ask` gives the parameters of a new module, and what comes out of it: see `LentClass`."""

    class Standin(nn.Module):
        def __init__(self, *arguments: object, **keywords: object) -> None:
            super().__init__()
            self._arguments = [list(arguments), keywords]
            for path, first in ask(self._arguments).items():
                _register_parameter(self, path, first)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            weights = torch.cat([parameter.flatten() for parameter in self.parameters()])
            rows = ask(self._arguments, self.training, list(x.shape), weights, x.reshape(-1, x.shape[-1]))
            return rows.reshape(x.shape)  # type: ignore[no-any-return]

    Standin.__name__ = Standin.__qualname__ = name
    return Standin


def _register_parameter(module: nn.Module, path: str, first: torch.Tensor) -> None:
    """Hold a parameter under this path, as if there were layers."""
    *layers, name = path.split(".")
    for layer in layers:
        if layer not in dict(module.named_children()):
            module.add_module(layer, nn.Module())
        module = module.get_submodule(layer)
    module.register_parameter(name, nn.Parameter(first.clone()))
