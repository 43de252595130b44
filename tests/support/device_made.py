"""Make the second device in a sandbox."""

from __future__ import annotations

from support.places import TESTS

NAME = "second"
# For a zygote, which then has the device, as it would have CUDA with torch.
MAKES_DEVICE = (
    f"sys.path.insert(0, {str(TESTS)!r}); from support import second_device; sys.path.remove({str(TESTS)!r}); "
)
