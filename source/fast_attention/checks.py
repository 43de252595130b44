"""The visible checks of this notebook: check(28) says whether exercise 28 is right on a few known examples.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from grader.kit.checking import TOLERANCE, Checks, Entry, Example, ModuleExample, PieceExample
from grader.model.compare import difference

# Exercise 28: four heads of queries share two of keys; the two heads of a group are printed one below the other.
GROUPED = [
    [-1.2366, 0.9298, 0.0037],
    [-0.1638, 0.635, 0.4723],
    [-0.1703, 0.6514, 0.4623],
    [0.272, 0.2572, 0.7897],
    [0.4156, 0.685, -0.513],
    [0.7698, 0.771, -0.5783],
    [0.3233, 0.6791, -0.5992],
    [-0.4389, 0.5233, -0.6415],
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
    [-1.0938, -3.5315, 0.8923, -1.8637, 4.9642, -5.2576],
    [0.8291, -3.16, 0.3706, 0.5958, 7.5166, -3.7505],
    [-6.1845, -0.8622, 4.9896, -5.618, 5.3517, -4.0303],
    [-3.5434, -4.3037, 1.0546, 4.5306, 9.027, -3.2955],
    [-2.938, -4.3502, 0.911, 4.1879, 8.4347, -4.0522],
    [0.249, 3.1455, 1.6431, -2.8623, 2.9625, 1.9741],
    [-7.9709, 3.5733, 6.0887, -7.67, -1.8879, 2.3687],
    [-13.72, -1.8922, 9.1137, -4.6392, 6.9529, -2.9509],
    [-8.3628, -0.3297, 5.985, -3.3285, 5.6879, -2.8083],
    [-10.0941, 0.8157, 8.1291, -3.7508, 9.6195, -4.3579],
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
MERGED = [[-0.6384, 0.3616, 3.8192], [0.7112, 0.0668, 1.3556]]  # exercise 31


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _large(*sizes: int) -> torch.Tensor:
    """Vectors (…, n, d) along a line, so that scores reach ±10⁴ and none is near another."""
    *others, count, d = sizes
    lengths = (20 + 15 * torch.arange(count)) * (1 - 2 * (torch.arange(count) % 2))  # (n,)
    return (lengths[:, None] * torch.linspace(0.8, 1.2, d)).expand(*others, count, d)


class ValueErrorFor(NamedTuple):
    """Arguments that do not fit together, for which a ValueError is asked for."""

    name: str
    inputs: tuple[Any, ...]

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        try:
            function(*self.inputs)
        except NotImplementedError:
            raise
        except ValueError:
            return None
        except Exception as error:
            return f"{called} stopped with {type(error).__name__}. Raise a ValueError that says what does not fit."
        return f"{called} went on without an error. Raise a ValueError that says what does not fit."


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
        problem = at_once.problem(lambda **arguments: _First(student_class(**arguments)), called)
        if problem:
            return problem
        module = student_class(**self.arguments)
        module.load_state_dict(self.weights, strict=False)
        return self._in_chunks(module, called) or self._twice(module) or self._after_others(module, called)

    def _in_chunks(self, module: Any, called: str) -> str | None:
        """Chunks, and then the cache."""
        start = self.text.clone().requires_grad_()
        cache, outputs = None, []
        for chunk in start.split(self.chunks, dim=1):
            y, cache = module(chunk, cache)
            outputs.append(y)
        found = difference(torch.cat(outputs, dim=1), self.expected, TOLERANCE)
        if found:
            return f"the result is right at once, but not in chunks of {self.chunks}: {found.sentence('output')}"
        keys, values = cache
        B, T, d_model = self.text.shape
        heads = self.arguments["num_heads"]
        wanted = (B, heads, T, d_model // heads)
        for name, tensor in (("keys", keys), ("values", values)):
            if tuple(tensor.shape) != wanted:
                return f"the cache has {name} of shape {tuple(tensor.shape)}, but {wanted} was expected."
        if difference(keys, _heads(self.text @ self.weights["k.weight"].T, heads), TOLERANCE):
            return "the first part of the cache does not hold the keys. The order is keys, values."
        (gradient,) = torch.autograd.grad(outputs[-1].sum(), [start])
        if not gradient[:, 0].any():
            return f"the result is right, but no gradient comes through the cache of {called}. Leave detach out."
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
                "the result is right, but not when another text goes on from the same cache first. Keep nothing else."
            )
        return None

    def _after_others(self, module: Any, called: str) -> str | None:
        """The last word, with a cache that was made here."""
        heads = self.arguments["num_heads"]
        given = tuple(_heads(self.text[:, :-1] @ self.weights[f"{name}.weight"].T, heads) for name in "kv")
        _, own = module(self.text[:, :1])
        y, _ = module(self.text[:, -1:], torch.stack(given) if isinstance(own, torch.Tensor) else type(own)(given))
        found = difference(y, self.expected[:, -1:], TOLERANCE)
        return f"with a cache made by others, {called} is wrong: {found.sentence('output')}" if found else None


class _First(torch.nn.Module):
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


def _heads(projected: torch.Tensor, count: int) -> torch.Tensor:
    return projected.unflatten(-1, (count, -1)).transpose(1, 2)  # (B, T, d_model) -> (B, H, T, d)


def _grouped() -> list[Example | PieceExample | ValueErrorFor]:
    def inputs(B: int, Hq: int, Hkv: int, T: int, S: int, d: int) -> tuple[torch.Tensor, ...]:
        return (_random(28, B, Hq, T, d), _random(29, B, Hkv, S, d), _random(30, B, Hkv, S, d))

    return [
        Example(
            "four heads of queries and two of keys", inputs(1, 4, 2, 2, 3, 3), torch.tensor(GROUPED).reshape(1, 4, 2, 3)
        ),
        Example(
            "two sentences, causal=True, two queries and five keys",
            (*inputs(2, 3, 1, 2, 5, 2), True),
            torch.tensor(GROUPED_CAUSAL).reshape(2, 3, 2, 2),
        ),
        PieceExample(
            "two sentences and causal=True",
            (*inputs(2, 4, 2, 3, 4, 5), True),
            (2, 4, 3, 5),
            large=(_large(1, 4, 3, 4), _large(1, 2, 5, 4), _random(31, 1, 2, 5, 4), True),
        ),
        ValueErrorFor("six heads of queries and four of keys", inputs(1, 6, 4, 2, 2, 3)),
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
            "two sentences of five words and three heads",
            {"d_model": 6, "num_heads": 3},
            weights(50, 6),
            _random(54, 2, 5, 6),
            (1, 3, 1),
            torch.tensor(CACHED_TWO).reshape(2, 5, 6),
        ),
    ]


def _pieces() -> list[Example | OutputExample]:
    def column(*numbers: float) -> torch.Tensor:
        return torch.tensor(numbers)[:, None]

    infinity = float("inf")
    first = (column(1.0, 0.5), column(1.5, 2.0), torch.tensor([[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]]))
    second = (column(2.0, -0.5), column(2.5, 3.0), torch.tensor([[-1.0, 0.0, 4.0], [2.0, 2.0, 2.0]]))
    empty = (column(-infinity, -infinity), column(0.0, 0.0), torch.zeros(2, 3))
    half = (column(1.0, -infinity), column(1.5, 0.0), torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
    high = (column(9000.0, -9000.0), *first[1:])
    higher = (column(9500.0, -8000.0), *second[1:])
    merged = (column(2.0, 0.5), column(3.0518, 3.1036), torch.tensor(MERGED))
    return [
        Example("two pieces of two queries", (*first, *second), merged),
        Example("an empty second piece", (*first, *empty), first),
        Example("a first piece in which the second query is empty", (*half, *empty), half),
        Example("two empty pieces", (*empty, *empty), empty),
        Example("maxima of ±10⁴", (*high, *higher), higher),
        OutputExample(PieceExample("two pieces of two queries", (*first, *second), (2, 3))),
    ]


def _paged() -> list[Example | PieceExample]:
    keys, values = _random(61, 5, 2, 2, 3), _random(62, 5, 2, 2, 3)  # five pages of two slots, two heads
    table, lengths = torch.tensor([[3, 1, -1], [0, 2, 1]]), torch.tensor([3, 5])
    keys[1, 1] *= 30  # nobody's: the second slot of page 1
    values[1, 1] *= 30
    values[4] *= 30  # of nobody at all
    inputs = (_random(60, 2, 2, 3), keys, values, table, lengths)
    lines = _large(20, 3).reshape(5, 2, 2, 3)
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
        PieceExample("the same two sentences", inputs, (2, 2, 3), large=(_large(2, 2, 3), lines, *inputs[2:])),
    ]


_checks = Checks(
    Entry(28, "grouped_query_attention", _grouped),
    Entry(29, "CachedAttention", _cached),
    Entry(31, "merge", _pieces),
    Entry(35, "paged_attention", _paged),
)
check, solved = _checks.check, _checks.solved
