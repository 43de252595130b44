"""The visible checks of this notebook: check(36) says whether exercise 36 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.kit.checking import Checks, Entry, Example
from grader.kit.piece_examples import PieceExample

# numbers of exercise 36
ALIBI = [
    [-1.0663, -0.8705, 0.197],
    [-0.5883, -1.9323, -0.9145],
    [0.5104, 0.9343, -0.634],
    [-0.8453, -0.6045, -0.003],
]  # exercise 37
ALIBI_BOTH_WAYS = [
    [0.6178, -0.2972],
    [1.3656, -1.8019],
    [1.4311, -0.2483],
    [-0.881, 0.989],
    [0.0487, 1.4818],
    [-1.0767, 1.2788],
]
# numbers of exercise 38
# numbers of exercise 39
# numbers of exercise 40
# numbers of exercise 41
# numbers of exercise 42
SPARSE = [
    [-0.6238, -1.2271],
    [-0.3061, -1.3392],
    [0.6906, -0.517],
    [-0.154, -0.0805],
    [0.7561, -0.325],
    [-0.0358, -1.0626],
]  # exercise 43
SPARSE_HEADS = [
    [0.6727, -0.1134, -0.4329],
    [-1.0228, 0.2653, 1.3442],
    [1.0793, -0.4905, 0.182],
    [-0.5739, -0.7767, 1.1894],
    [-0.7934, -0.4909, 1.2359],
    [0.4872, 1.3626, 0.5066],
    [-0.9365, 1.0739, 0.1126],
    [-1.0716, 0.8602, 0.1105],
    [-0.8082, 0.8383, -1.0876],
    [-0.3519, -0.3506, -1.8702],
    [-0.3702, -0.8978, -0.2548],
    [-0.2135, -1.1839, -1.3942],
]


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _large(*sizes: int) -> torch.Tensor:
    """Vectors (…, n, d) along a line, so that scores reach ±10⁴ and none is near another."""
    *others, count, d = sizes
    lengths = (20 + 15 * torch.arange(count)) * (1 - 2 * (torch.arange(count) % 2))  # (n,)
    return (lengths[:, None] * torch.linspace(0.8, 1.2, d)).expand(*others, count, d)


# examples of exercise 36


class OfThree(NamedTuple):
    """A piece of a model with queries, keys and values, which have gradients, and other inputs, which need none."""

    piece: PieceExample
    others: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.piece.name

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        return self.piece.problem(lambda *three: function(*three, *self.others), called)


def _far_below(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys with scores from −11,000 down: the first key has all the weight."""
    queries, keys = torch.zeros_like(values), torch.zeros_like(values)
    size = values.shape[-1] ** 0.5
    queries[..., 0], keys[..., 0] = -100.0 * size, 110.0 + 2 * torch.arange(values.shape[-2])
    return queries, keys


def _slopes() -> list[Example]:
    exponents = [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]
    return [
        Example("eight heads", (8,), 0.5 ** torch.arange(1.0, 9)),
        Example("sixteen heads", (16,), 0.5 ** torch.arange(0.5, 8.5, 0.5)),
        Example("twelve heads", (12,), 0.5 ** torch.tensor(exponents)),
        Example("one head", (1,), torch.tensor([0.5**8])),
    ]


def _alibi() -> list[Example | OfThree]:
    queries, keys, values = _random(70, 1, 2, 2, 3), _random(71, 1, 2, 4, 3), _random(72, 1, 2, 4, 3)
    both_ways = (*(_random(seed, 2, 1, 3, 2) for seed in (73, 74, 75)), torch.tensor([0.75]), False)
    large = (_large(1, 3, 3, 4), _large(1, 3, 5, 4), _random(76, 1, 3, 5, 4))
    piece = PieceExample(
        "slopes in float32", (*(_random(seed, 2, 3, 4, 5) for seed in (70, 71, 72)),), (2, 3, 4, 5), large
    )
    return [
        Example(
            "two heads, two queries and four keys",
            (queries, keys, values, torch.tensor([0.5, 0.125])),
            torch.tensor(ALIBI).reshape(1, 2, 2, 3),
        ),
        Example("two sentences, causal=False", both_ways, torch.tensor(ALIBI_BOTH_WAYS).reshape(2, 1, 3, 2)),
        Example(
            "one query of zeros, and a slope of ln 2",
            (
                torch.zeros(1, 1, 1, 2),
                torch.zeros(1, 1, 3, 2),
                torch.eye(3)[None, None, :, :2],
                torch.tensor([math.log(2)]),
            ),
            torch.tensor([[[[1 / 7, 2 / 7]]]]),
        ),
        Example(
            "scores far below zero",
            (*_far_below(values), values, torch.tensor([0.5, 0.125])),
            values[..., :1, :].expand_as(values),
        ),
        OfThree(piece, (torch.tensor([0.5, 0.25, 0.125]),)),
    ]


# examples of exercise 38

# examples of exercise 39

# examples of exercise 40

# examples of exercise 41

# examples of exercise 42


class _Largest(TorchDispatchMode):
    """Notes the largest new tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would load its compiler first, which takes a second."""
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                self.entries = max(self.entries, storage.nbytes() // tensor.element_size())
        return result


class WithoutTable(NamedTuple):
    """So many heads that a table of their scores is far larger than anything that is needed."""

    name: str
    inputs: tuple[Any, ...]

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        H, T = self.inputs[0].shape[1:3]
        with torch.no_grad(), _Largest() as largest:
            function(*self.inputs)
        said = (
            f"the result is right, but for {H} heads and {T} words {called} makes a tensor of {largest.entries} entries"
        )
        return f"{said}: a table of H × T × T." if largest.entries >= H * T * T else None


def _sparse() -> list[Example | OfThree | WithoutTable]:
    def inputs(B: int, H: int, T: int, d: int, *indexed: int) -> tuple[torch.Tensor, ...]:
        index_heads, e = indexed
        three = (_random(seed, B, H, T, d) for seed in (76, 77, 78))
        return (*three, _random(82, B, index_heads, T, e), _random(83, B, T, e).abs(), _random(84, B, T, index_heads))

    few = inputs(1, 2, 4, 3, 2, 2)
    causal = few[2].cumsum(dim=2) / torch.arange(1.0, 5)[:, None]
    piece = inputs(2, 3, 5, 4, 2, 3)
    large = (_large(2, 3, 5, 4), _large(2, 3, 5, 4), piece[2])
    return [
        Example("six words, three keys", (*inputs(1, 1, 6, 2, 2, 4), 3), torch.tensor(SPARSE).reshape(1, 1, 6, 2)),
        Example(
            "two sentences, two heads, two keys",
            (*inputs(2, 2, 3, 3, 2, 2), 2),
            torch.tensor(SPARSE_HEADS).reshape(2, 2, 3, 3),
        ),
        Example("queries of zeros, and more keys than words", (0 * few[0], *few[1:], 9), causal),
        Example("scores far below zero", (*_far_below(few[2]), *few[2:], 9), few[2][..., :1, :].expand_as(few[2])),
        OfThree(PieceExample("two sentences", piece[:3], (2, 3, 5, 4), large), (*piece[3:], 2)),
        WithoutTable("64 words and 32 heads", (*inputs(1, 32, 64, 2, 1, 2), 3)),
    ]


_checks = Checks(
    # entry 36
    Entry(37, "alibi_slopes", _slopes),
    Entry(37, "alibi_attention", _alibi),
    # entry 38
    # entry 39
    # entry 40
    # entry 41
    # entry 42
    Entry(43, "sparse_attention", _sparse),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
