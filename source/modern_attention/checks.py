"""The visible checks of this notebook: check(36) says whether exercise 36 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

import torch

from grader.kit.checking import Checks, Entry, Example
from grader.kit.piece_examples import FiniteGradients, PieceExample

SINKS = [
    [0.4012, 0.4469],
    [0.4303, 0.448],
    [0.1739, 0.7401],
    [0.4576, 1.3053],
    [1.1875, -0.1879],
    [1.0196, 0.7435],
]  # exercise 36
SINKS_CAUSAL = [
    [0.2198, 0.3815],
    [0.3246, 0.3585],
    [0.7809, 1.0214],
    [0.6328, 0.9074],
    [-0.0367, 0.2578],
    [-0.4938, -0.0693],
    [0.1957, -0.5076],
    [0.2257, -0.5449],
    [0.0142, 0.2596],
    [0.0578, -0.8712],
    [-0.1676, 0.0466],
    [-0.2527, 0.0523],
]
# numbers of exercise 37
NORMED = [
    [-0.2765, -0.9542, 0.5645],
    [-0.7963, -0.8281, 0.173],
    [-0.914, -0.0274, 0.5212],
    [0.3118, 0.6335, 1.0007],
    [0.1455, 0.1451, 0.4721],
    [-0.1844, -0.422, -0.2585],
]  # exercise 38
TINY = [[0.4625, -0.1692, 0.3719, 1.4709], [0.3832, -0.5154, 0.5683, 1.2639], [-0.6722, -0.7512, 0.2026, 0.2040]]
NORMED_CAPPED = [
    [-0.6283, 0.0157],
    [-0.5236, -0.0892],
    [-0.3187, -0.1341],
    [0.1768, -0.2565],
    [0.6332, -0.2534],
    [0.0328, 0.2146],
    [0.2754, 0.0825],
    [-0.2585, 0.8094],
    [0.6016, 0.8554],
    [0.5815, 0.1917],
    [-0.0798, -1.0557],
    [0.0255, -1.1205],
]
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


def _sinks() -> list[Example | PieceExample | FiniteGradients]:
    def inputs(sinks: list[float], B: int, T: int, S: int, d: int) -> tuple[torch.Tensor, ...]:
        H = len(sinks)
        return _random(36, B, H, T, d), _random(37, B, H, S, d), _random(38, B, H, S, d), torch.tensor(sinks)

    long, none = _random(39, 1, 1, 150, 2), -float("inf")
    far_keys = torch.full((1, 2, 3, 4), 110.0) + torch.arange(3)[:, None]  # scores from -22,000 down
    far_values = _random(40, 1, 2, 3, 4)
    return [
        Example("two heads", inputs([0.5, -1.0], 1, 3, 4, 2), torch.tensor(SINKS).reshape(1, 2, 3, 2)),
        Example(
            "two sentences, causal=True, two queries and five keys",
            (*inputs([1.0, -0.5, 2.0], 2, 2, 5, 2), True),
            torch.tensor(SINKS_CAUSAL).reshape(2, 3, 2, 2),
        ),
        Example(
            "150 words with queries of zeros and a sink of 0, causal=True",
            (torch.zeros_like(long), long, long, torch.zeros(1), True),
            long.cumsum(-2) / torch.arange(2, 152)[:, None],
        ),
        Example(
            "queries of zeros and no sinks (−∞), causal=True",
            (torch.zeros(1, 2, 3, 4), far_keys, far_values, torch.tensor([none, none]), True),
            far_values.cumsum(-2) / torch.arange(1, 4)[:, None],
        ),
        Example(
            "scores far below zero, one sink below and one above them, causal=True",
            (torch.full((1, 2, 3, 4), -100.0), far_keys, far_values, torch.tensor([-3e4, -1e4]), True),
            torch.stack([far_values[:, 0, :1].expand(1, 3, 4), torch.zeros(1, 3, 4)], dim=1),
        ),
        PieceExample(
            "two sentences and causal=True",
            (*inputs([0.5, none, -1.0, 2.0], 2, 3, 4, 5), True),
            (2, 4, 3, 5),
            large=(_large(1, 4, 3, 4), _large(1, 4, 5, 4), _random(41, 1, 4, 5, 4), torch.tensor([1e4, -1e4, 0, none])),
        ),
        FiniteGradients("sinks of 10⁴ and −∞", inputs([1e4, none, -1e4], 1, 2, 3, 4)),
    ]


# examples of exercise 37


def _normed() -> list[Example | PieceExample]:
    def inputs(B: int, H: int, T: int, S: int, d: int) -> tuple[torch.Tensor, ...]:
        weights = (1 + _random(51, d) / 2, 1 + _random(52, d) / 2)
        return _random(48, B, H, T, d), _random(49, B, H, S, d), _random(50, B, H, S, d), *weights

    long = _random(53, 1, 1, 150, 2)
    far_below = (
        torch.tensor([[-1.0, 0.1], [-1.0, 0.2]])[None, None],
        torch.tensor([[1.0, 0.0], [1.0, 0.5]])[None, None],
    )
    two_values, large_weights = _random(54, 1, 1, 2, 2), torch.full((2,), 100.0)
    tiny, signs = torch.full((1, 1, 3, 4), 1e-3), torch.tensor([[1.0], [-1.0], [1.0]])
    return [
        Example("two heads", inputs(1, 2, 3, 4, 3), torch.tensor(NORMED).reshape(1, 2, 3, 3)),
        Example(
            "two sentences, two queries and five keys, a cap of 1.5",
            (*inputs(2, 3, 2, 5, 2), 1.5),
            torch.tensor(NORMED_CAPPED).reshape(2, 3, 2, 2),
        ),
        Example(
            "150 words with queries of zeros, a cap of 3",
            (torch.zeros_like(long), long, long, torch.ones(2), torch.ones(2), 3.0),
            long.cumsum(-2) / torch.arange(1, 151)[:, None],
        ),
        Example(
            "queries and keys of 0.001",
            (tiny, signs * tiny, *inputs(1, 1, 3, 3, 4)[2:]),
            torch.tensor(TINY).reshape(1, 1, 3, 4),
        ),
        Example(
            "scores far below zero",
            (*far_below, two_values, large_weights, large_weights),
            two_values,
        ),
        PieceExample("two sentences and a cap of 2", (*inputs(2, 4, 3, 4, 5), 2.0), (2, 4, 3, 5)),
    ]


# examples of exercise 39

# examples of exercise 40

# examples of exercise 41

# examples of exercise 42

# examples of exercise 43


_checks = Checks(
    Entry(36, "attention_with_sinks", _sinks),
    # entry 37
    Entry(38, "qk_norm_attention", _normed),
    # entry 39
    # entry 40
    # entry 41
    # entry 42
    # entry 43
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
