"""The visible checks of this notebook: check(36) says whether exercise 36 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import torch

from grader.kit.checking import Checks, Entry, Example
from grader.kit.piece_examples import PieceExample
from grader.kit.visible_examples import right_but

# numbers of exercise 36
# numbers of exercise 37
# numbers of exercise 38
YARN = [1.0, 0.5623, 0.2767, 0.1334, 0.0625, 0.0281, 0.0119, 0.0044]  # exercise 39
YARN_OTHER_TURNS = [1.0, 0.6762, 0.4573, 0.3092, 0.2091, 0.1414, 0.0874, 0.0536, 0.0325, 0.0194]
YARN_SHORT = [1.0, 0.5272, 0.2714, 0.1351, 0.0639]
# numbers of exercise 40
ROUTED = [
    [0.6128, 0.0, 0.0, 0.3872],
    [0.0, 0.0, 0.5135, 0.4865],
    [0.0, 0.0, 0.1113, 0.8887],
    [0.0, 0.3324, 0.0, 0.6676],
    [0.4539, 0.5461, 0.0, 0.0],
]  # exercise 41
ROUTED_ONE = [
    [0.4788, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.4307, 0.0, 0.0],
    [0.0, 0.2831, 0.0, 0.0, 0.0],
    [0.3613, 0.0, 0.0, 0.0, 0.0],
]
ROUTED_BIASED = [
    [0.0762, 0.0, 0.0, 0.1432, 0.0],
    [0.2521, 0.0, 0.0, 0.2677, 0.0],
    [0.2973, 0.0, 0.0, 0.4675, 0.0],
    [0.6061, 0.0, 0.0, 0.0517, 0.0],
]
MIXED = [
    [0.999, 0.9652, 0.8638, -0.9625],
    [0.2742, 0.0613, -0.3112, 0.8242],
    [-0.6961, 0.7841, -0.4271, -0.6377],
    [-0.9608, -0.1948, -0.7447, 0.3624],
    [0.1967, -0.1002, 0.5842, 0.3707],
    [-0.3087, -0.0778, 0.6663, -0.25],
]
MIXED_ONE = [
    [-0.3116, -0.1385, 0.1507],
    [-0.2229, -0.0573, -0.4356],
    [0.5349, -0.2617, -0.7422],
    [0.3408, -0.0415, 0.3572],
    [0.1688, 0.2953, -0.4757],
    [0.5883, -0.5823, 0.1753],
]
MIXED_FULL = [
    [0.2568, -0.1672],
    [-0.6453, -0.9096],
    [0.8249, 0.2668],
    [-0.018, -0.0975],
    [0.6629, -0.8289],
    [0.3476, -0.3841],
    [0.0, 0.0],
]
GIVEN_TO_ALL = (
    "your experts are given tokens that did not choose them. Give each expert just its own tokens: saving that work "
    "is the point of a router."
)
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


def _yarn() -> list[Example]:
    return [
        Example("eight pairs", (16, 100.0, 8.0, 512), (torch.tensor(YARN), 1.2079)),
        Example(
            "ten pairs, and other numbers of turns",
            (20, 50.0, 2.5, 1000, 20, 2),
            (torch.tensor(YARN_OTHER_TURNS), 1.0916),
        ),
        Example("texts so short that no pair is fast", (10, 12.0, 3.0, 60), (torch.tensor(YARN_SHORT), 1.1099)),
        Example("a factor of 1", (12, 30.0, 1.0, 400), (30.0 ** (-torch.arange(0, 12, 2) / 12), 1.0)),
    ]


# examples of exercise 40


class MixtureExample(NamedTuple):
    """An example of tokens, the weights of a router and of experts, and settings. Experts count their tokens."""

    piece: Example | PieceExample

    @property
    def name(self) -> str:
        return self.piece.name

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        counts = []

        def with_weights(x: torch.Tensor, router: torch.Tensor, weights: torch.Tensor, *settings: int) -> Any:
            def expert(of_expert: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
                def outputs(tokens: torch.Tensor) -> torch.Tensor:
                    counts.append(tokens.numel() // len(of_expert))
                    return torch.tanh(tokens @ of_expert.to(tokens.dtype))

                return outputs

            return function(x, lambda tokens: tokens @ router.to(tokens.dtype), list(map(expert, weights)), *settings)

        problem = self.piece.problem(with_weights, called)
        x, _router, weights, top_k = cast("tuple[Any, ...]", self.piece.inputs[:4])
        if problem or not isinstance(self.piece, Example):
            return problem
        needed, everything = (x[..., 0].numel() * each for each in (top_k, len(weights)))
        return right_but(GIVEN_TO_ALL) if 2 * sum(counts) > needed + everything else None


def _route() -> list[Example | PieceExample]:
    logits = _random(41, 5, 4)
    bias = torch.tensor([0.4, 0.0, -0.3, 0.2, -0.1])
    far_apart = torch.tensor([[-1e4, 1e4, 9e3], [-9e3, -1e4, -8e3]])
    return [
        Example("two of four experts", (logits, 2), torch.tensor(ROUTED)),
        Example("one of five experts", (_random(42, 4, 5), 1), torch.tensor(ROUTED_ONE)),
        Example("a bias, and normalize=False", (_random(43, 4, 5), 2, False, bias), torch.tensor(ROUTED_BIASED)),
        PieceExample("two of four experts", (logits, 2), (5, 4), large=(far_apart, 2)),
    ]


def _moe() -> list[MixtureExample]:
    two_sentences = _random(44, 2, 3, 4), _random(45, 4, 3), _random(46, 3, 4, 4), 2
    one_expert = _random(47, 6, 3), _random(48, 3, 4), _random(49, 4, 3, 3), 1
    full = _random(50, 7, 2), _random(51, 2, 3), _random(52, 3, 2, 2), 2, 3
    examples: list[Example | PieceExample] = [
        Example("two sentences, and two of three experts", two_sentences, torch.tensor(MIXED).reshape(2, 3, 4)),
        Example("six tokens, and one of four experts", one_expert, torch.tensor(MIXED_ONE)),
        Example("a capacity of three", full, torch.tensor(MIXED_FULL)),
        PieceExample("the same two sentences", two_sentences, (2, 3, 4)),
    ]
    return list(map(MixtureExample, examples))


# examples of exercise 42

# examples of exercise 43


_checks = Checks(
    # entry 36
    # entry 37
    # entry 38
    Entry(39, "yarn_frequencies", _yarn),
    # entry 40
    Entry(41, "route", _route),
    Entry(41, "moe", _moe),
    # entry 42
    # entry 43
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
