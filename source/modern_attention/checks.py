"""The visible checks of this notebook: check(36) says whether exercise 36 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

import torch

from grader.kit.checking import Checks, Entry, Example
from grader.kit.piece_examples import PieceExample

# numbers of exercise 36
# numbers of exercise 37
# numbers of exercise 38
# numbers of exercise 39
# numbers of exercise 40
# numbers of exercise 41
# numbers of exercise 42
# numbers of exercise 43


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _large(*sizes: int) -> torch.Tensor:
    """Vectors (…, n, d) along a line, so that scores reach ±10⁴ and none is near another."""
    *others, count, d = sizes
    lengths = (20 + 15 * torch.arange(count)) * (1 - 2 * (torch.arange(count) % 2))  # (n,)
    return (lengths[:, None] * torch.linspace(0.8, 1.2, d)).expand(*others, count, d)


# examples of exercise 36

# examples of exercise 37

# examples of exercise 38

# examples of exercise 39

# examples of exercise 40

# examples of exercise 41

# examples of exercise 42

# examples of exercise 43


_checks = Checks(
    # entry 36
    # entry 37
    # entry 38
    # entry 39
    # entry 40
    # entry 41
    # entry 42
    # entry 43
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
