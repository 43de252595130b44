"""A process in which autograd is no more: nothing that is computed there has gradients, in whatever thread or mode."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any

import torch

SAID = "compute the gradients by formulas: neither autograd nor a backward function of PyTorch's own is there"


def take_autograd_away(device: str) -> None:
    """For good: what does its work in PyTorch's table of operators is passed over, and nothing here can put it back.

    Modes and guards would hold in one thread only, and anybody can leave them.
    """
    kind = "CPU" if device == "cpu" else torch.device(device).type.upper()
    operators = torch._C._dispatch_library("IMPL", "aten", "")
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("Autograd"):
        if name.startswith("aten::"):
            operators.impl(name.removeprefix("aten::"), f"Autograd{kind}", torch.library.fallthrough_kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that something is in the place of something else
        for name in torch._C._dispatch_get_all_op_names():
            if name.startswith("aten::") and "backward" in name:
                operators.impl(name.removeprefix("aten::"), kind, _refuse)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(operators))  # nobody has it, and it is not let go


def _refuse(*_values: Any, **_options: Any) -> Any:
    raise RuntimeError(SAID)
