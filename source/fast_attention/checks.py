"""The visible checks of this notebook: check(28) says whether exercise 28 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from grader.kit.checking import TOLERANCE, Checks, Entry, Example, Number
from grader.kit.module_examples import FirstOfTwo, ModuleExample
from grader.kit.piece_examples import FiniteGradients, InDouble, LargestTensor, PieceExample, Unfitting
from grader.model.compare import difference

# Exercise 28: six query heads share two key heads; the two queries of a head are printed one below the other.
GROUPED = [
    [-1.2366, 0.9298, 0.0037],
    [-0.1638, 0.635, 0.4723],
    [-0.0961, 0.5859, 0.5169],
    [-1.3283, 1.0759, -0.0959],
    [0.2373, 0.4192, 0.6995],
    [-1.2714, 1.042, -0.062],
    [0.9469, 0.7921, -0.4741],
    [1.4797, 0.9157, -0.5366],
    [1.0265, 0.8177, -0.5282],
    [0.7329, 0.7344, -0.3986],
    [0.281, 0.6634, -0.5574],
    [1.549, 0.9278, -0.5196],
]
GROUPED_CAUSAL = [
    [-0.5569, -0.4138],
    [0.0902, -0.3161],
    [-0.0562, -0.3381],
    [1.1203, -0.2264],
    [-0.0278, -0.0051],
    [1.1878, -0.3378],
    [0.233, 0.074],
    [0.0529, -0.1659],
    [0.4011, 0.0074],
    [-0.0751, 0.299],
    [0.4525, 0.2289],
    [-0.3581, 0.5564],
]

CACHED = [
    [-2.1928, -2.6213, -8.4391, 0.8048],
    [4.6618, -4.977, -7.102, -0.4512],
    [-1.936, -2.5848, -8.1426, 0.7614],
    [-0.9723, 0.9543, 1.8679, -0.0933],
]
CACHED_TWO = [
    [4.8531, -1.5348, 5.2352, 5.9609, -3.431, 9.3613, -2.7414, -8.6429, -5.1303, -0.2202, 5.7211, -2.4275],
    [5.6458, -1.9913, 2.3731, 4.9436, -8.4175, 7.634, -2.519, -3.9359, -5.8082, -0.8928, 4.2569, -2.0538],
    [6.0554, -2.3533, 2.5825, 4.5857, -8.2985, 6.096, -1.9853, -3.6135, -4.4755, 1.4185, 3.9333, -1.7688],
    [5.1494, -1.7619, 2.4782, 4.5768, -5.4985, 5.5553, -0.6758, -1.2794, -3.7833, 1.7359, 3.2145, -0.7846],
    [-0.1467, 3.4285, -1.6867, -0.101, -4.0194, 1.7787, -9.5843, -1.695, -3.5478, 0.5336, 4.7176, -0.7917],
    [-0.4892, 1.6879, -1.5313, 0.2116, -1.3127, 0.4176, -2.0431, -1.6514, -1.5555, 0.0998, 1.1548, -1.3469],
    [1.421, -0.0233, 0.7992, 0.358, -1.1616, 2.307, -3.6954, -2.7279, -2.4954, -0.7043, 0.2946, -0.6427],
    [-0.5847, 0.5529, -1.3685, -0.1701, 0.6925, -2.0035, 3.5375, -0.2218, 1.0424, 1.8986, -1.621, -0.9116],
]
PAGED = [
    [-0.6849, -1.5212, -0.2616],
    [0.4179, 0.1581, -0.393],
    [-0.6003, 0.3636, -0.4492],
    [0.5755, -0.5013, 0.6893],
]
PAGED_THREE = [
    [-0.1546, 0.1609],
    [-0.151, -0.5947],
    [-0.6619, 0.3892],
]
WINDOW = [
    [0.6346, 1.6884, 1.0518],
    [0.0383, 0.1773, 0.0345],
    [-0.0118, 0.3761, 0.1909],
    [-0.2842, 0.666, 0.1816],
    [-1.2023, 1.2396, -0.0596],
]  # exercise 30
WINDOW_LONGER = [
    [-0.6377, 0.7509],
    [0.0587, -0.3701],
    [0.2429, -0.7292],
    [-0.3207, 0.4498],
    [-0.3009, 0.6554],
    [0.0005, -0.0018],
    [0.2109, -0.5128],
    [0.6974, -0.417],
    [0.5116, -0.2513],
    [0.6718, -0.6836],
    [1.6373, -0.8806],
    [0.7344, -0.397],
]
TILED = [
    [-1.287, -0.2625, -0.2333],
    [-1.0877, 1.0601, -0.2515],
    [-1.1725, 0.7988, -0.0569],
    [-1.3315, -0.0185, -0.1661],
    [-1.0013, 1.1897, -0.1077],
]  # exercise 32, and the logsumexp
TILED_SUMS = [2.6327, 2.9972, 1.5991, 2.2143, 2.4617]
TILED_CAUSAL = [
    [-0.6095, 0.0248],
    [-0.639, -0.8563],
    [-1.1738, -2.055],
    [-0.7132, -0.6874],
    [-0.8226, -0.3845],
    [0.182, -0.2411],
    [0.1931, -0.1807],
    [0.4002, 0.237],
    [0.4224, -0.0677],
    [0.4813, 0.1638],
]
TILED_CAUSAL_SUMS = [[0.0113, 0.974, 0.9516, 2.1514, 1.3907], [0.3377, 1.8941, 0.8803, 1.5209, 1.4408]]
BACKWARD = [
    [[-0.1646, -0.0982], [-0.1496, 0.0078], [0.0625, 0.372]],
    [[0.0113, 0.3193], [0.2015, 0.3244], [-0.2129, -0.6437]],
    [[-0.5013, -0.5803], [0.5764, -1.0893], [-0.2201, 0.1037]],
]  # exercise 33: of queries, keys and values
BACKWARD_HEADS = [
    [[-0.2359, 0.1233, -0.1492], [-0.1873, 0.0979, -0.1184], [-0.4248, 0.1226, -0.0829], [-1.7269, 0.4986, -0.3372]],
    [[-0.2706, -0.058, 0.2767], [0.2706, 0.058, -0.2767], [0.3387, -0.1884, -0.8515], [-0.3387, 0.1884, 0.8515]],
    [[-0.5576, 0.9587, -1.5621], [-0.3234, 0.5507, -0.777], [0.1142, -0.3709, 0.6261], [0.3465, -0.5653, 0.9609]],
]
LINEAR = [
    [-0.293, -0.4759, -0.0295],
    [-0.7609, 0.0462, 0.4549],
    [-0.5493, -1.0124, -0.1227],
    [-0.2481, -0.7342, -0.0795],
]  # exercise 34
LINEAR_HEADS = [
    [-0.8829, 0.6483],
    [-1.3271, -0.0101],
    [-0.8793, 0.9462],
    [0.175, 0.6457],
    [0.6667, -1.047],
    [0.2724, -0.403],
    [1.3266, -1.683],
    [0.6716, 0.4558],
]
MERGED = [[-0.6384, 0.3616, 3.8192], [0.7112, 0.0668, 1.3556]]  # exercise 31


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _large(*sizes: int) -> torch.Tensor:
    """Vectors (…, n, d) along a line, so that scores reach ±10⁴ and none is near another."""
    *others, count, d = sizes
    lengths = (20 + 15 * torch.arange(count)) * (1 - 2 * (torch.arange(count) % 2))  # (n,)
    return (lengths[:, None] * torch.linspace(0.8, 1.2, d)).expand(*others, count, d)


def _far_below(*sizes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys (…, n, 4) with scores from −11,000 down: the first key that is seen has all the weight."""
    queries, keys = torch.zeros(*sizes, 4), torch.zeros(*sizes, 4)
    queries[..., 0], keys[..., 0] = -100.0, 220.0 + 4 * torch.arange(sizes[-1])
    return queries, keys


class OutputExample(NamedTuple):
    """What a piece of a model keeps beside right numbers, for the last of several results."""

    piece: PieceExample

    @property
    def name(self) -> str:
        return self.piece.name

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        return self.piece.problem(lambda *inputs: function(*inputs)[-1], called)


class ChunksExample(NamedTuple):
    """A module that takes a text in chunks: the same, however it is cut, and nothing is kept but what it returns."""

    name: str
    arguments: dict[str, Any]
    weights: dict[str, torch.Tensor]
    text: torch.Tensor
    chunks: tuple[int, ...]
    expected: torch.Tensor

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:
        at_once = ModuleExample(f"{self.name}, at once", self.arguments, self.weights, (self.text,), self.expected)
        problem = at_once.problem(lambda **arguments: FirstOfTwo(student_class(**arguments)), called)
        if problem:
            return problem
        module = student_class(**self.arguments)
        module.load_state_dict(self.weights, strict=False)
        return self._in_chunks(module, called) or self._twice(module) or self._after_others(module, called)

    def _in_chunks(self, module: Any, called: str) -> str | None:
        """Chunks, words and more at a time, and then the cache."""
        start = self.text.clone().requires_grad_()
        B, T, d_model = self.text.shape
        for chunks in (self.chunks, (2, T - 2)):
            cache, outputs = None, []
            for chunk in start.split(chunks, dim=1):
                y, cache = module(chunk, cache)
                outputs.append(y)
            found = difference(torch.cat(outputs, dim=1), self.expected, TOLERANCE)
            if found:
                said = f"the result is right for the whole text at once, but not in chunks of {chunks}"
                return f"{said}: {found.sentence('output')}"
        keys, values = cache
        heads = self.arguments["num_heads"]
        wanted = (B, heads, T, d_model // heads)
        for name, tensor in (("keys", keys), ("values", values)):
            if tuple(tensor.shape) != wanted:
                return f"the cache has {name} of shape {tuple(tensor.shape)}, but {wanted} was expected."
        if difference(keys, _heads(self.text @ self.weights["k.weight"].T, heads), TOLERANCE):
            return "the first part of the cache does not hold the keys. Put the keys first, then the values."
        (gradient,) = torch.autograd.grad(outputs[-1].sum(), [start])
        if not gradient[:, 0].any():
            return f"the result is right, but no gradient gets through the cache of {called}. Leave out detach."
        return None

    def _twice(self, module: Any) -> str | None:
        """Two texts begin alike, and go on in turns."""
        beginning, rest = self.text.split([2, self.text.shape[1] - 2], dim=1)
        _, cache = module(beginning)
        before = [tensor.clone() for tensor in cache]
        module(rest.flip(1), cache)
        if any(difference(now, then, 0.0) for now, then in zip(cache, before, strict=True)):
            return "the result is right, but a cache that was passed in is changed. Make new tensors, and a new pair."
        if difference(module(rest, cache)[0], self.expected[:, 2:], TOLERANCE):
            return (
                "the result is right, but not if another text continues from the same cache first. Keep nothing else."
            )
        return None

    def _after_others(self, module: Any, called: str) -> str | None:
        """The last word, with a cache that was made here."""
        heads = self.arguments["num_heads"]
        given = tuple(_heads(self.text[:, :-1] @ self.weights[f"{name}.weight"].T, heads) for name in "kv")
        _, own = module(self.text[:, :1])
        y, _ = module(self.text[:, -1:], _like(own, given))
        found = difference(y, self.expected[:, -1:], TOLERANCE)
        return f"with a cache from elsewhere, {called} is wrong: {found.sentence('output')}" if found else None


def _like(own: Any, given: tuple[torch.Tensor, ...]) -> Any:
    """A cache in the form that the code itself gives to one; a tuple may have names."""
    return torch.stack(given) if isinstance(own, torch.Tensor) else getattr(own, "_make", type(own))(given)


class LongExample(NamedTuple):
    """A text so long that a table of T × T is far larger than anything that is needed."""

    T: int
    inputs: tuple[Any, ...]

    @property
    def name(self) -> str:
        return f"a text of {self.T} words"

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        with torch.no_grad(), LargestTensor() as largest:
            function(*self.inputs)
        if largest.entries < self.T**2:
            return None
        return (
            f"the result is right, but for {self.T} words {called} makes a tensor of {largest.entries} entries: "
            "a table of T × T. Work on a few words at a time."
        )


class _ByFormulas(TorchFunctionMode):
    """Stops what is called where autograd would note something again, and PyTorch's own backward functions."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not torch.is_inference_mode_enabled() or "_backward" in getattr(function, "__name__", ""):
            raise RuntimeError("neither autograd nor a backward function of PyTorch's own")
        return function(*args, **(kwargs or {}))


class WithoutAutograd(NamedTuple):
    """Inputs for which autograd notes nothing."""

    example: Example | InDouble

    @property
    def name(self) -> str:
        return self.example.name

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        try:
            with torch.inference_mode(), _ByFormulas():
                return self.example.problem(function, called)
        except RuntimeError as error:
            if "grad" not in str(error):
                raise
            return (
                f"{called} uses autograd, or a backward function of PyTorch's own. Compute the gradients by formulas."
            )


def _heads(projected: torch.Tensor, count: int) -> torch.Tensor:
    return projected.unflatten(-1, (count, -1)).transpose(1, 2)  # (B, T, d_model) -> (B, H, T, d)


def _grouped() -> list[Example | PieceExample | Unfitting]:
    def inputs(B: int, Hq: int, Hkv: int, T: int, S: int, d: int) -> tuple[torch.Tensor, ...]:
        return (_random(28, B, Hq, T, d), _random(29, B, Hkv, S, d), _random(30, B, Hkv, S, d))

    far_below, far_values = _far_below(1, 2, 3), _random(32, 1, 2, 3, 4)
    long = _random(33, 1, 1, 150, 2)
    return [
        Example(
            "six query heads and two key heads", inputs(1, 6, 2, 2, 3, 3), torch.tensor(GROUPED).reshape(1, 6, 2, 3)
        ),
        Example(
            "two sentences, causal=True, two queries and five keys",
            (*inputs(2, 3, 1, 2, 5, 2), True),
            torch.tensor(GROUPED_CAUSAL).reshape(2, 3, 2, 2),
        ),
        Example(
            "scores far below zero, causal=True",
            (*far_below, far_values, True),
            far_values[..., :1, :].expand_as(far_values),
        ),
        Example(
            "150 words with queries of zeros, causal=True",
            (torch.zeros_like(long), long, long, True),
            long.cumsum(-2) / torch.arange(1, 151)[:, None],
        ),
        PieceExample(
            "two sentences and causal=True",
            (*inputs(2, 4, 2, 3, 4, 5), True),
            (2, 4, 3, 5),
            large=(_large(1, 4, 3, 4), _large(1, 2, 5, 4), _random(31, 1, 2, 5, 4), True),
        ),
        Unfitting("six query heads and four key heads", inputs(1, 6, 4, 2, 2, 3)),
    ]


def _cached() -> list[ChunksExample]:
    def weights(seed: int, d_model: int) -> dict[str, torch.Tensor]:
        names = ("q", "k", "v", "out")
        return {f"{name}.weight": _random(seed + place, d_model, d_model) for place, name in enumerate(names)}

    return [
        ChunksExample(
            "four words and two heads",
            {"d_model": 4, "num_heads": 2},
            weights(40, 4),
            _random(44, 1, 4, 4),
            (2, 1, 1),
            torch.tensor(CACHED).reshape(1, 4, 4),
        ),
        ChunksExample(
            "two sentences of four words and three heads of size four",
            {"d_model": 12, "num_heads": 3},
            {name: weight / 2 for name, weight in weights(50, 12).items()},
            _random(54, 2, 4, 12),
            (1, 2, 1),
            torch.tensor(CACHED_TWO).reshape(2, 4, 12),
        ),
    ]


def _pieces() -> list[Example | FiniteGradients | OutputExample]:
    def column(*numbers: float) -> torch.Tensor:
        return torch.tensor(numbers)[:, None]

    infinity = float("inf")
    first = (column(1.0, 0.5), column(1.5, 2.0), torch.tensor([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]]))
    second = (column(2.0, -0.5), column(2.5, 3.0), torch.tensor([[-1.0, 0.0, 4.0], [2.0, 2.0, 2.0]]))
    empty = (column(-infinity, -infinity), column(0.0, 0.0), torch.zeros(2, 3))
    half = (column(1.0, -infinity), column(1.5, 0.0), torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
    other_half = (column(2.0, -infinity), column(2.5, 0.0), torch.tensor([[-1.0, 0.0, 4.0], [0.0, 0.0, 0.0]]))
    merged_half = (column(2.0, -infinity), column(3.0518, 0.0), torch.tensor([MERGED[0], [0.0, 0.0, 0.0]]))
    high = (column(9000.0, -9000.0), *first[1:])
    higher = (column(9500.0, -8000.0), *second[1:])
    merged = (column(2.0, 0.5), column(3.0518, 3.1036), torch.tensor(MERGED))
    return [
        Example("two pieces of two queries", (*first, *second), merged),
        Example("an empty second piece", (*first, *empty), first),
        Example("an empty first piece", (*empty, *second), second),
        Example("two pieces in which the second query is empty", (*half, *other_half), merged_half),
        Example("two empty pieces", (*empty, *empty), empty),
        Example("maxima of ±10⁴", (*high, *higher), higher),
        FiniteGradients("two pieces in which the second query is empty", (*half, *other_half)),
        OutputExample(PieceExample("two pieces of two queries", (*first, *second), (2, 3))),
    ]


def _window() -> list[Example | PieceExample | LongExample]:
    def inputs(B: int, H: int, T: int, d: int, window: int) -> tuple[Any, ...]:
        return (_random(66, B, H, T, d), _random(67, B, H, T, d), _random(68, B, H, T, d), window)

    values, long = _random(34, 1, 1, 5, 4), _random(35, 1, 1, 200, 2)
    sums = long.cumsum(-2) - torch.cat([torch.zeros(1, 1, 150, 2), long[..., :50, :].cumsum(-2)], dim=-2)
    return [
        Example("five words and a window of two", inputs(1, 1, 5, 3, 2), torch.tensor(WINDOW).reshape(1, 1, 5, 3)),
        Example(
            "three words and a window of five",
            inputs(2, 2, 3, 2, 5),
            torch.tensor(WINDOW_LONGER).reshape(2, 2, 3, 2),
        ),
        Example(
            "scores far below zero and a window of two",
            (*_far_below(1, 1, 5), values, 2),
            values[..., [0, 0, 1, 2, 3], :],
        ),
        Example(
            "200 words with queries of zeros and a window of 150",
            (torch.zeros_like(long), long, long, 150),
            sums / torch.arange(1, 201).clamp(max=150)[:, None],
        ),
        PieceExample(
            "two sentences",
            inputs(2, 2, 4, 3, 3),
            (2, 2, 4, 3),
            large=(_large(1, 2, 5, 4), _large(1, 2, 5, 4), _random(69, 1, 2, 5, 4), 3),
        ),
        LongExample(1024, inputs(1, 1, 1024, 4, 8)),
    ]


def _tiled() -> list[Example | InDouble | LongExample]:
    def inputs(B: int, H: int, T: int, d: int, block_size: int) -> tuple[Any, ...]:
        return (_random(70, B, H, T, d), _random(71, B, H, T, d), _random(72, B, H, T, d), block_size)

    lines, values = _large(1, 1, 5, 4), _random(73, 1, 1, 5, 4)
    scores = lines @ lines.mT / 2  # of ±10⁴
    long = _random(36, 1, 1, 150, 2)
    growing = [one.flip(2) for one in inputs(1, 1, 5, 3, 2)[:3]]  # no row has its largest score in the first block
    return [
        Example(
            "five words in blocks of two",
            (*growing, 2),
            (torch.tensor(TILED).reshape(1, 1, 5, 3), torch.tensor(TILED_SUMS).reshape(1, 1, 5)),
        ),
        Example("large scores", (lines, lines, values, 2), (scores.softmax(-1) @ values, scores.logsumexp(-1))),
        Example(
            "five words in blocks of three, causal=True",
            (*inputs(2, 1, 5, 2, 3), True),
            (torch.tensor(TILED_CAUSAL).reshape(2, 1, 5, 2), torch.tensor(TILED_CAUSAL_SUMS).reshape(2, 1, 5)),
        ),
        Example(
            "scores far below zero, causal=True",
            (*_far_below(1, 1, 5), values, 2, True),
            (values[..., :1, :].expand_as(values), torch.full((1, 1, 5), -11000.0)),
        ),
        Example(
            "150 words with queries of zeros, in blocks of 64",
            (torch.zeros_like(long), long, long, 64),
            (long.mean(-2, keepdim=True).expand_as(long), torch.full((1, 1, 150), 150.0).log()),
        ),
        InDouble("five words", inputs(1, 1, 5, 3, 2), results=1),  # the logsumexp may be float32
        LongExample(512, (*inputs(1, 1, 512, 4, 64), True)),
    ]


def _backward() -> list[WithoutAutograd]:
    def inputs(B: int, H: int, T: int, d: int) -> tuple[torch.Tensor, ...]:
        return tuple(_random(seed, B, H, T, d) for seed in (74, 75, 76, 77))

    three = (torch.tensor(each).reshape(1, 1, 3, 2) for each in BACKWARD)
    heads = (torch.tensor(each).reshape(1, 2, 2, 3) for each in BACKWARD_HEADS)
    single = inputs(2, 1, 1, 3)  # the one weight of each is always 1
    nothing = torch.zeros_like(single[0])
    large = tuple(one.clone() for one in inputs(1, 1, 3, 4))
    large[0][..., 0], large[1][..., 0] = 64.0, 4.0  # all scores are near 128, where exp overflows
    return [
        WithoutAutograd(Example("three words", inputs(1, 1, 3, 2), tuple(three))),
        WithoutAutograd(Example("two words and two heads", inputs(1, 2, 2, 3), tuple(heads))),
        WithoutAutograd(Example("two sentences of one word", single, (nothing, nothing, single[3]))),
        WithoutAutograd(Example("large scores", large, _by_autograd(*large))),
        WithoutAutograd(InDouble("three words", inputs(1, 1, 3, 2))),
    ]


def _by_autograd(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, grad_output: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    leaves = [one.double().requires_grad_() for one in (queries, keys, values)]
    q, k, v = leaves
    output = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1) @ v
    return tuple(one.float() for one in torch.autograd.grad(output, leaves, grad_output.double()))


def _linear() -> list[Example | PieceExample | LongExample]:
    def inputs(B: int, H: int, T: int, d: int) -> tuple[torch.Tensor, ...]:
        return tuple(_random(seed, B, H, T, d) for seed in (80, 81, 82))

    return [
        Example("four words", inputs(1, 1, 4, 3), torch.tensor(LINEAR).reshape(1, 1, 4, 3)),
        Example("two sentences and two heads", inputs(2, 2, 2, 2), torch.tensor(LINEAR_HEADS).reshape(2, 2, 2, 2)),
        PieceExample("two sentences", inputs(2, 2, 4, 3), (2, 2, 4, 3)),
        LongExample(512, inputs(1, 1, 512, 4)),
    ]


def _paged() -> list[Example | PieceExample]:
    keys, values = _random(61, 5, 2, 2, 3), _random(62, 5, 2, 2, 3)  # five pages of two slots, two heads
    table, lengths = torch.tensor([[3, 1, -1], [0, 2, 1]]), torch.tensor([3, 5])
    keys[1, 1] *= 30  # nobody's: the second slot of page 1
    values[1, 1] *= 30
    values[4] *= 30  # of nobody at all
    inputs = (_random(60, 2, 2, 3), keys, values, table, lengths)
    lines = _large(20, 3).reshape(5, 2, 2, 3)
    far_below = [torch.zeros(2, 2, 3), torch.zeros(5, 2, 2, 3)]
    far_below[0][..., 0], far_below[1][..., 0] = -100.0, 220.0 + 4 * torch.arange(10.0).reshape(5, 2, 1)
    return [
        Example("two sentences that share a page of two slots", inputs, torch.tensor(PAGED).reshape(2, 2, 3)),
        Example(
            "three sentences, and pages of three slots",
            (
                _random(63, 3, 1, 2),
                _random(64, 4, 3, 1, 2),
                _random(65, 4, 3, 1, 2),
                torch.tensor([[2, -1], [3, 0], [1, -1]]),
                torch.tensor([3, 4, 1]),
            ),
            torch.tensor(PAGED_THREE).reshape(3, 1, 2),
        ),
        Example(
            "full pages, and queries of zeros",
            (torch.zeros(2, 2, 3), *inputs[1:3], torch.tensor([[3, 2], [0, -1]]), torch.tensor([4, 2])),
            torch.stack([values[[3, 2]].mean((0, 1)), values[0].mean(0)]),
        ),
        Example("scores far below zero", (*far_below, *inputs[2:]), torch.stack([values[1, 0], values[0, 0]])),
        PieceExample("the same two sentences", inputs, (2, 2, 3), large=(_large(2, 2, 3), lines, *inputs[2:])),
    ]


_checks = Checks(
    Entry(28, "grouped_query_attention", _grouped),
    Entry(29, "CachedAttention", _cached),
    Entry(30, "sliding_window_attention", _window),
    Entry(31, "merge", _pieces),
    Entry(32, "tiled_attention", _tiled),
    Entry(33, "attention_backward", _backward),
    Entry(34, "linear_attention", _linear),
    Entry(35, "paged_attention", _paged),
    Number(
        "bytes of the cache",
        2 * 10 * 12 * 64 * 1000 * 4,
        {
            10 * 12 * 64 * 1000 * 4: "That is half of it. Keys and values are both kept, and a number takes 4 bytes.",
            2 * 10 * 12 * 64 * 1000: "That is how many numbers it holds. Each takes 4 bytes.",
            2 * 12 * 64 * 1000 * 4: "That is one layer. There are 10, and each has its own keys and values.",
            2 * 10 * 64 * 1000 * 4: "That is one head of each layer. There are 12.",
            2 * 10 * 12 * 64 * 4: "That is one token. The text has 1000.",
            3 * 10 * 12 * 64 * 1000 * 4: "That counts queries, too. They are not kept.",
        },
    ),
    Number(
        "bytes with grouped keys",
        2 * 10 * 3 * 64 * 1000 * 4,
        {
            2 * 10 * 12 * 64 * 1000 * 4: "That is without sharing. Only 3 heads of keys and values are kept.",
            2 * 10 * 4 * 64 * 1000 * 4: "That is a third of the first number. There are 3 heads of keys and values in "
            "place of 12.",
            10 * 3 * 64 * 1000 * 4: "That is half of it. Keys and values are both kept, and a number takes 4 bytes.",
            10 * (12 + 3) * 64 * 1000 * 4: "That counts 12 heads for keys or for values, and 3 for the other. Both are "
            "shared: count 3 heads for each.",
            2 * 10 * 3 * 64 * 1000: "That is how many numbers it holds. Each takes 4 bytes.",
            2 * 10 * 64 * 1000 * 4: "That is with one head of keys and values. There are 3.",
        },
    ),
    Number(
        "multiplications of full attention",
        2 * 2000 * 2000 * 50,
        {
            2000 * 2000 * 50: "That is one of the two products: queries with keys, or weights with values.",
            2000 * 2000: "That is how many scores there are. Each is a dot product of 50 multiplications.",
            2 * 2000 * 2000: "That counts one multiplication for each score and each weight. There are 50.",
            2000 * 2001 * 50: "That leaves out the masked scores. With the full table they are computed, too.",
        },
    ),
    Number(
        "multiplications with a window",
        2 * 2000 * 100 * 50,
        {
            2000 * 100 * 50: "That is one of the two products: queries with keys, or weights with values.",
            2000 * 100: "That is how many scores there are. Each is a dot product of 50 multiplications.",
            2 * 2000 * 100: "That counts one multiplication for each score and each weight. There are 50.",
            2 * 100 * 100 * 50: "That is 100 queries. There are 2000.",
            2 * 195_050 * 50: "That counts the shorter windows of the first 99 queries. Here each of them computes 100 "
            "scores, too.",
        },
    ),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
