"""What PyTorch does by itself with all numbers of a process: set as in a new one, while a case is put.

Code may turn gradients off, or ask for numbers of another size, and leave it so. That is the affair of the exercise
whose code does it when it is called, and must not cost those that come after.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def as_in_a_new_process() -> Iterator[None]:
    """Gradients are noted, and numbers of which nothing is said have 32 bits. Behind it, all is as it was before."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(before)
