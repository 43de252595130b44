"""The visible checks of this notebook: check(36) says whether exercise 36 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import torch
from torch.overrides import TorchFunctionMode

from grader.kit.checking import TOLERANCE, Checks, Entry, Example, Number
from grader.kit.module_examples import FirstOfTwo, ModuleExample
from grader.kit.piece_examples import FiniteGradients, InDouble, LargestTensor, PieceExample
from grader.kit.visible_examples import right_but
from grader.model.compare import difference

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
YARN = [1.0, 0.5623, 0.2767, 0.1334, 0.0625, 0.0281, 0.0119, 0.0044]  # exercise 39
YARN_OTHER_TURNS = [1.0, 0.6762, 0.4573, 0.3092, 0.2091, 0.1414, 0.0874, 0.0536, 0.0325, 0.0194]
YARN_SHORT = [1.0, 0.5272, 0.2714, 0.1351, 0.0639]
LATENT = [
    [-1.9324, -6.0173, -2.8814, -8.8675],
    [1.5551, -7.1337, -0.4364, 0.5017],
    [-5.6636, 11.9676, -1.2587, -4.2425],
    [1.2236, -2.0525, -3.9514, -6.0377],
]
LATENT_CACHE = [
    [2.5836, -2.1021, -3.4943, -3.7744],
    [-2.6395, 1.4996, -2.427, 4.6876],
    [3.3106, 5.169, 5.2385, 2.8793],
    [0.8504, -0.9704, 0.9294, 2.4258],
]
LATENT_TWO = [
    [3.0673, 4.99, 0.1996, 0.8427, -4.2372],
    [2.1936, -5.3069, 7.1253, 0.3885, 7.6719],
    [1.9038, -2.0103, 2.6453, -1.264, 4.9298],
    [6.5229, 11.0118, 2.8016, 1.3862, -4.5695],
    [5.0471, 3.3598, 7.4443, 0.8487, 4.0178],
    [-8.1763, 9.4298, 4.9719, 0.9882, 8.2749],
]
LATENT_TWO_CACHE = [
    [-1.238, -0.0383, -0.22, -1.2217, -1.6967, 2.8683, -2.1358, -2.4709],
    [3.1606, 1.8117, 3.6806, -2.6956, -2.7493, 2.4751, -0.531, -1.3151],
    [-1.1474, 0.6632, 1.8635, -0.4242, -2.2051, -3.3935, 0.7194, 3.1035],
    [-2.4213, -0.1043, 0.5058, -2.6111, -0.147, -1.4782, 0.1711, 1.028],
    [0.8331, 0.6876, 3.3111, -2.7703, -2.0879, 2.3195, -0.463, -2.81],
    [-1.6838, -1.0911, -4.8908, 1.6913, 0.9311, -3.9903, 2.1107, 4.503],
]
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
DELTA = [[0.2174, 0.1965], [-0.261, -0.2939], [-0.7648, -0.8734], [-0.0659, -0.7935]]
DELTA_STATE = [[-0.0275, -0.4302], [0.0246, 0.8008], [0.1942, 0.1227]]
DELTA_ON = [
    [-0.201, -0.718, -0.0108],
    [0.2435, -0.3882, -0.0893],
    [0.3572, -1.5897, 0.0027],
    [0.2386, -1.2783, 0.4256],
    [0.0176, 0.8821, 0.2355],
    [0.2232, -0.3906, 0.1455],
    [-0.2659, -1.1174, 0.0333],
    [0.7226, -0.3999, 0.0311],
    [0.0644, -0.7438, 0.0391],
    [-0.4191, -0.2565, -1.6548],
    [-0.22, 0.9879, 0.0817],
    [0.0434, -0.5563, -0.7404],
]
DELTA_ON_STATE = [
    [-0.173, -0.0752, 0.0809],
    [0.315, -1.7522, 0.0364],
    [0.1643, -0.9703, -0.1145],
    [-0.2023, 0.2578, -0.1631],
    [-1.2475, -0.9474, -0.0125],
    [-0.3063, 0.5747, -0.0422],
    [0.0517, -0.5643, -0.7656],
    [0.1276, -0.1071, -0.3671],
]
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


class LatentExample(NamedTuple):
    """A module that takes a text in chunks by two methods, with a cache of latents."""

    name: str
    arguments: dict[str, int]
    text: torch.Tensor
    expected: torch.Tensor
    cache: torch.Tensor
    seed: int

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:
        weights = _latent_weights(self.seed, **self.arguments)
        at_once = ModuleExample(self.name, dict(self.arguments), weights, (self.text,), self.expected, causal=True)
        problem = at_once.problem(lambda **arguments: FirstOfTwo(student_class(**arguments)), called)
        if problem:
            return problem
        module = student_class(**self.arguments)
        module.load_state_dict(weights, strict=False)
        up = module.up.weight
        return self._in_chunks(module, up, "forward") or self._in_chunks(module.absorbed, up, "absorbed")

    def _in_chunks(self, method: Callable[..., Any], weight: torch.Tensor, called: str) -> str | None:
        start = self.text.clone().requires_grad_()
        for sizes in ([self.text.shape[1]], [1] * self.text.shape[1], [1, self.text.shape[1] - 1]):
            cache, outputs = None, []
            for chunk in torch.split(start, sizes, dim=1):
                y, cache = method(chunk, cache)
                outputs.append(y)
            differing = difference(torch.cat(outputs, dim=1), self.expected, TOLERANCE)
            if differing:
                return f"{called} is wrong in chunks of {sizes}: {differing.sentence('output')}"
            differing = difference(cache, self.cache, TOLERANCE, strict=True)
            if differing:
                return f"the outputs of {called} are right, but not its cache: {differing.sentence('cache')}"
        before, up = torch.autograd.grad(outputs[-1].sum(), [start, weight], allow_unused=True)
        if before is None or not before[:, 0].any():
            return f"no gradient gets through the cache of {called}. Leave out detach."
        if up is None:
            return f"no gradient of {called} reaches up.weight. Leave out .data, detach and no_grad."
        return None


class LongCache(NamedTuple):
    """A cache of so many words that keys and values of all would be far larger than anything that is needed."""

    name: str

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:  # noqa: ARG002  as the others
        module = student_class(4, 8, 64, 2, 2)
        with torch.no_grad(), LargestTensor() as largest:
            module.absorbed(_random(108, 1, 1, 4), _random(109, 1, 500, 4))
        if largest.entries < 8 * 500 * 64:
            return None
        return "absorbed is right, but it makes keys or values of all cached words. Absorb the weights of up instead."


def _latent_weights(
    seed: int, d_model: int, num_heads: int, head_dim: int, rank: int, rope_dim: int
) -> dict[str, torch.Tensor]:
    shapes = {"q": (num_heads * (head_dim + rope_dim), d_model), "down": (rank + rope_dim, d_model)}
    shapes |= {"up": (num_heads * 2 * head_dim, rank), "out": (d_model, num_heads * head_dim)}
    return {f"{name}.weight": _random(seed + place, *shape) for place, (name, shape) in enumerate(shapes.items())}


def _latents() -> list[LatentExample | LongCache]:
    def sized(*sizes: int) -> dict[str, int]:
        return dict(zip(("d_model", "num_heads", "head_dim", "rank", "rope_dim"), sizes, strict=True))

    first = torch.tensor(LATENT).reshape(1, 4, 4), torch.tensor(LATENT_CACHE).reshape(1, 4, 4)
    second = torch.tensor(LATENT_TWO).reshape(2, 3, 5), torch.tensor(LATENT_TWO_CACHE).reshape(2, 3, 8)
    return [
        LatentExample("four words and two heads", sized(4, 2, 3, 2, 2), _random(99, 1, 4, 4), *first, seed=90),
        LatentExample("two sentences, three heads", sized(5, 3, 2, 4, 4), _random(109, 2, 3, 5), *second, seed=100),
        LongCache("a word after 500 others"),
    ]


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


class OutputsExample(NamedTuple):
    """What a piece of a model keeps beside right numbers, for the first of several results."""

    piece: PieceExample

    @property
    def name(self) -> str:
        return self.piece.name

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        return self.piece.problem(lambda *inputs: function(*inputs)[0], called)


class _NewStates(TorchFunctionMode):
    """Counts how often a matrix of (5, 7), or of (7, 5), is computed."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        self.count += isinstance(result, torch.Tensor) and tuple(result.shape[-2:]) in ((5, 7), (7, 5))
        return result


class FewStates(NamedTuple):
    """A text in two chunks, which needs few states."""

    name: str

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        with _NewStates() as states:
            function(*_delta_inputs(1, 1, 128, 5, 7), 64)
        if states.count < 128:
            return None
        return f"the result is right, but {called} goes word by word: it makes a new state for each word."


def _delta_inputs(B: int, H: int, T: int, d: int, d_v: int) -> tuple[torch.Tensor, ...]:
    vectors = _random(110, B, H, T, d), _random(111, B, H, T, d), _random(112, B, H, T, d_v)
    return (*vectors, torch.sigmoid(_random(113, B, H, T) + 1), torch.sigmoid(_random(114, B, H, T)))


def _delta(*chunks: int) -> list[Example | InDouble | OutputsExample]:
    """For the function without chunks, or with one size of chunks for each example."""
    first, second, third = ([chunk] for chunk in chunks) if chunks else ([], [], [])
    state, one_word = _random(115, 2, 2, 2, 3), _delta_inputs(1, 1, 1, 2, 2)
    after_four = torch.tensor(DELTA).reshape(1, 1, 4, 2), torch.tensor(DELTA_STATE).reshape(1, 1, 3, 2)
    after_five = torch.tensor(DELTA_ON).reshape(2, 2, 3, 3), torch.tensor(DELTA_ON_STATE).reshape(2, 2, 2, 3)
    return [
        Example("four words", (*_delta_inputs(1, 1, 4, 3, 2), *first), after_four),
        Example("three words after others", (*_delta_inputs(2, 2, 3, 2, 3), *second, state), after_five),
        InDouble("one word", (*one_word, *third)),
        OutputsExample(PieceExample("two sentences", (*_delta_inputs(2, 2, 3, 2, 3), *third, state), (2, 2, 3, 3))),
    ]


def _delta_chunks() -> list[Example | InDouble | OutputsExample | FewStates]:
    after_four = torch.tensor(DELTA).reshape(1, 1, 4, 2), torch.tensor(DELTA_STATE).reshape(1, 1, 3, 2)
    one_chunk = Example("one chunk", (*_delta_inputs(1, 1, 4, 3, 2), 4), after_four)
    return [one_chunk, *_delta(3, 2, 5), FewStates("128 words")]


class WithoutTable(NamedTuple):
    """So many heads that a table of their scores is far larger than anything that is needed."""

    name: str
    inputs: tuple[Any, ...]

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        H, T = self.inputs[0].shape[1:3]
        with torch.no_grad(), LargestTensor() as largest:
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
    Entry(36, "attention_with_sinks", _sinks),
    Entry(37, "alibi_attention", _alibi),
    Entry(37, "alibi_slopes", _slopes),
    Entry(38, "qk_norm_attention", _normed),
    Entry(39, "yarn_frequencies", _yarn),
    Entry(40, "LatentAttention", _latents),
    Number(
        "numbers of a word in ordinary heads",
        2 * 128 * 128,
        {
            128 * 128: "That is half of it. Both keys and values are kept.",
            2 * 128: "That is one head. There are 128.",
            3 * 128 * 128: "That counts queries, too. They are not kept.",
        },
    ),
    Number(
        "numbers of a word as a latent",
        512 + 64,
        {
            512: "That is the latent alone. The rotary key is kept, too.",
            2 * (512 + 64): "That is twice as many. Keys and values are made from one latent.",
            512 + 128 * 64: "That counts a rotary key for each head. All heads share one.",
            128 * (512 + 64): "That counts a latent for each head. All heads share one.",
            2 * 512 + 64: "That counts two latents. Keys and values are made from one.",
        },
    ),
    Entry(41, "route", _route),
    Entry(41, "moe", _moe),
    Entry(42, "gated_delta", _delta),
    Entry(42, "gated_delta_chunks", _delta_chunks),
    Entry(43, "sparse_attention", _sparse),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
