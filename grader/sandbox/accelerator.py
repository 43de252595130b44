"""A device besides the processor, such as a GPU, as one sandbox uses it: started, bounded, and waited for.

It computes while Python goes on. Copying a result waits only for earlier work in the same stream, and an error shows
up the next time the device is used. So all work is waited for before an answer is read, and after each request. After
some errors, such as an index out of range, the device is useless to this process; other processes have a context of
their own and notice nothing.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.sandbox.nested import map_tensors, tensors_in


def start(device: str, memory: int) -> None:
    """Make it ready, which takes a while and is not the student's time, and bound the memory that torch takes of it."""
    if device == "cpu":
        return
    torch.zeros(1, device=device)
    _, total = _module(device).mem_get_info()
    _module(device).set_per_process_memory_fraction(min(1.0, memory / total))


def finish(device: str) -> None:
    """Wait until everything is computed; raises what went wrong."""
    if device != "cpu":
        _module(device).synchronize()


def is_usable(device: str) -> bool:
    """Whether anything can still be computed there."""
    try:
        finish(device)
    except Exception:
        return False
    return True


def is_full(error: BaseException | None) -> bool:
    """Whether a device failed because others hold its memory, judging by the chain of errors."""
    while error is not None:
        if isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error):
            return True
        error = error.__cause__
    return False


def on_device(value: object, device: str) -> Any:
    return map_tensors(lambda tensor: tensor.to(device), value)


def device_of(value: object) -> str:
    """The device of the first tensor in a value; empty if there is none."""
    return next((str(tensor.device) for tensor in tensors_in(value)), "")


def _module(device: str) -> Any:
    return getattr(torch, device)
