"""The visible checks of this notebook: check(36) says whether exercise 36 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.kit.checking import TOLERANCE, Checks, Entry, Example, Number
from grader.kit.module_examples import ModuleExample
from grader.kit.piece_examples import InDouble, PieceExample
from grader.model.compare import difference

# numbers of exercise 36
# numbers of exercise 37
# numbers of exercise 38
# numbers of exercise 39
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
# numbers of exercise 41
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


class _OneResult(torch.nn.Module):
    """A module of which the first of two results counts, under the names of its own parameters."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        for name, part in module.named_children() if isinstance(module, torch.nn.Module) else ():
            self.add_module(name, part)
        vars(self)["module"] = module

    def forward(self, x: torch.Tensor) -> Any:
        returned = self.module(x)
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise TypeError("forward must return two things, y and the cache")
        return returned[0]


class _LargestTensor(TorchDispatchMode):
    """Notes the entries of the largest new tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would load its compiler first, which takes a second."""
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.entries = max(self.entries, result.untyped_storage().nbytes() // result.element_size())
        return result


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
        problem = at_once.problem(lambda **arguments: _OneResult(student_class(**arguments)), called)
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
        with torch.no_grad(), _LargestTensor() as largest:
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


# examples of exercise 41


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


# examples of exercise 43


_checks = Checks(
    # entry 36
    # entry 37
    # entry 38
    # entry 39
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
    # entry 41
    Entry(42, "gated_delta", _delta),
    Entry(42, "gated_delta_chunks", _delta_chunks),
    # entry 43
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
