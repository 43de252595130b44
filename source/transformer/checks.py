"""The visible checks of this notebook: check(20) says whether exercise 20 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

from grader.kit.checking import Checks, Entry, Example, Number
from grader.kit.module_examples import ModuleExample
from grader.kit.piece_examples import FiniteGradients, PieceExample

# Exercise 20: four positions of six columns, and three of four with another base.
POSITIONS = [
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    [0.8415, 0.5403, 0.0464, 0.9989, 0.0022, 1.0],
    [0.9093, -0.4161, 0.0927, 0.9957, 0.0043, 1.0],
    [0.1411, -0.99, 0.1388, 0.9903, 0.0065, 1.0],
]
BASE_100 = [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0998, 0.995], [0.9093, -0.4161, 0.1987, 0.9801]]

# Exercise 21.
TURNED = torch.tensor(
    [
        [0.1081, -0.4376, -0.7697, -0.1929],
        [0.7604, 2.7655, 1.4279, 0.5407],
        [0.4437, 0.4867, -1.0829, 0.0513],
    ]
)
TURNED_BY_100 = torch.tensor(
    [
        [0.1815, -0.3551, 0.0217, -0.0491],
        [0.1111, 0.5927, 0.9360, 2.2485],
        [-1.7384, 0.3933, -0.6947, -0.5265],
        [1.4803, -0.1498, -0.6937, -1.3915],
    ]
)
FAR = torch.tensor([3001, 3002])
# Exercise 22: sentences of 3 and 1 words; two heads of a sentence of 2 words.
TWO_LENGTHS = torch.tensor([[0.4735, -0.3381], [0.4750, -0.3561], [0.3375, 1.0111], [0.3375, 1.0111]])
LENGTH_2 = torch.tensor(
    [
        [-1.2113, 0.6304, -1.4713],
        [-1.2802, 0.0075, -0.5798],
        [-1.2784, 0.0239, -0.6033],
        [1.1032, 2.5485, 0.3006],
        [0.6836, 1.6227, 0.5964],
        [-0.4878, -0.9618, 1.4221],
    ]
)
# Exercise 23: with the usual eps, and with 0.5.
NORMED = torch.tensor(
    [
        [-1.2961, -1.6268, -0.3511, 3.2388],
        [1.0386, 1.6046, -0.7170, 1.4120],
        [-0.9029, 0.2481, -0.7541, 2.8373],
        [-1.9005, -1.1263, -0.1171, 0.3825],
        [0.7556, 0.2657, -0.6606, 3.8718],
        [0.7325, -1.1463, -0.6186, -3.7996],
    ]
)
NORMED_05 = torch.tensor([[0.3943, -0.6991, -0.041, -1.788], [-0.5584, -0.4147, -0.0507, -5.5742]])

Weights = dict[str, torch.Tensor]
Shapes = dict[str, tuple[int, ...]]


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _positions() -> list[Example]:
    places = torch.arange(600, dtype=torch.float64)
    return [
        Example("four positions, six columns", (4, 6), torch.tensor(POSITIONS)),
        Example("three positions, four columns, base 100", (3, 4, 100.0), torch.tensor(BASE_100)),
        Example("one position, two columns", (1, 2), torch.tensor([[0.0, 1.0]])),
        Example("600 positions, two columns", (600, 2), torch.stack([places.sin(), places.cos()], dim=-1).float()),
        Example("two positions, four columns", (2, 4), _of_float32),
    ]


def _of_float32(table: Any) -> str | None:
    if isinstance(table, torch.Tensor) and table.dtype == torch.float32:
        return None
    return "the result should be a float32 tensor."


def _turns() -> list[Example | PieceExample]:
    late = torch.tensor([[-0.0660, -0.9978], [-0.9900, 0.1411]])
    return [
        Example("one pair at position 1", (_row(1.0, 0.0), torch.tensor([1])), _row(0.5403, 0.8415)),
        Example("words of two pairs at the positions 0, 3 and 7", (_random(21, 3, 4), torch.tensor([0, 3, 7])), TURNED),
        Example(
            "two sentences at the positions 5 and 6, base 100",
            (_random(22, 2, 2, 4), torch.tensor([5, 6]), 100.0),
            TURNED_BY_100.reshape(2, 2, 4),
        ),
        Example("a pair at the positions 4095 and 3", (_row(1.0, 0.0).expand(2, 2), torch.tensor([4095, 3])), late),
        Example("the positions 3001 and 3002 in float16", (_row(1.0, 0.0).expand(2, 2).half(), FAR), _as_in_float32),
        PieceExample("two heads of three words", (_random(23, 2, 3, 4), torch.arange(3)), (2, 3, 4)),
    ]


def _row(*numbers: float) -> torch.Tensor:
    return torch.tensor([numbers])


def _as_in_float32(result: Any) -> str | None:
    """Whether a pair (1, 0) is turned as it is in float32, but for what float16 cannot hold."""
    if not isinstance(result, torch.Tensor) or result.dtype != torch.float16:
        return "the result should be a tensor of float16, like the input."
    exact = torch.stack([FAR.double().cos(), FAR.double().sin()], dim=-1)
    if result.shape == exact.shape and bool((result - exact).abs().max() < 4e-3):
        return None
    return (
        "wrong numbers: 16-bit floats cannot represent 3001. Compute positions and angles in float32, and only the "
        "result in 16 bits."
    )


def _padded() -> list[Example | PieceExample | FiniteGradients]:
    two = _random(1, 2, 1, 2, 4), _random(2, 2, 1, 3, 4), _random(3, 2, 1, 3, 2)
    empty = _random(4, 2, 2, 3, 2), _random(5, 2, 2, 3, 2), _random(6, 2, 2, 3, 3), torch.tensor([2, 0])
    line = torch.tensor([20.0, -35.0, 50.0, -65.0])[:, None] * torch.tensor([0.8, 1.0, 1.2])  # scores of ±10⁴
    large = line.expand(2, 1, 4, 3)
    queries, keys, values, long = (
        torch.zeros(1, 1, 3, 4),
        torch.zeros(1, 1, 3, 4),
        _random(7, 1, 1, 3, 4),
        _random(8, 1, 1, 150, 2),
    )
    queries[..., 0], keys[..., 0] = -100.0, torch.tensor([220.0, 224.0, 100.0])  # the padding scores −5,000
    return [
        Example("sentences of 3 and 1 words", (*two, torch.tensor([3, 1])), TWO_LENGTHS.reshape(2, 1, 2, 2)),
        Example("lengths 2 and 0, causal=True", (*empty, True), _with_zeros(LENGTH_2.reshape(1, 2, 3, 3))),
        Example(
            "scores far below zero, length 2",
            (queries, keys, values, torch.tensor([2])),
            values[..., :1, :].expand_as(values),
        ),
        Example(
            "150 words with queries of zeros, length 140",
            (torch.zeros_like(long), long, long, torch.tensor([140])),
            long[..., :140, :].mean(-2, keepdim=True).expand_as(long),
        ),
        FiniteGradients("lengths 2 and 0", empty),
        PieceExample(
            "lengths 3 and 2", (*two, torch.tensor([3, 2])), (2, 1, 2, 2), (*[large] * 3, torch.tensor([4, 2]))
        ),
    ]


def _with_zeros(first: torch.Tensor) -> torch.Tensor:
    """Outputs for a sentence, and zeros for an empty one."""
    return torch.cat([first, torch.zeros_like(first)])


class NewNorm(NamedTuple):
    """Whether a new module begins with ones."""

    name: str

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:  # noqa: ARG002  as the others
        weight = getattr(student_class(5), "weight", None)
        if isinstance(weight, torch.Tensor) and not torch.equal(weight.detach(), torch.ones(5)):
            return "its weight is not made of ones. Start with torch.ones."
        return None


class NormGradient(NamedTuple):
    """Whether gradients are at right angles to the vectors: a vector that is twice as long has the same result."""

    name: str
    x: torch.Tensor

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:  # noqa: ARG002  as the others
        x = self.x.clone().requires_grad_()
        y = student_class(x.shape[-1])(x)
        (gradient,) = torch.autograd.grad((y * _random(27, *y.shape)).sum(), [x])
        if torch.cosine_similarity(gradient, self.x, dim=-1).abs().max() < 0.01:
            return None
        return (
            "the result is right, but not the gradient: the size that a vector is divided by counts as a constant on "
            "the way back. Compute it without detach, .data and no_grad."
        )


class NormOf16Bits(NamedTuple):
    """Whether vectors of 16 bits, whose squares have more, are brought to the usual size."""

    name: str
    x: torch.Tensor

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:  # noqa: ARG002  as the others
        result = student_class(self.x.shape[-1])(self.x.clone())
        if result.dtype != self.x.dtype:
            return f"the result should be {self.x.dtype}, like the input, but it is {result.dtype}."
        size = result.float().square().mean(dim=-1).sqrt()
        if bool((size - 1).abs().max() < 0.01):
            return None
        return "the size of the result should be 1, but it is not. Compute in float32, and only the result in 16 bits."


def _norms() -> list[ModuleExample | NewNorm | NormGradient | NormOf16Bits]:
    weights = {"weight": torch.tensor([1.0, -2.0, 0.5, 3.0])}
    two_sizes = torch.tensor([[0.3], [3.0]]) * _random(24, 2, 4)  # or a wrong eps would be a factor for all
    return [
        ModuleExample(
            "two sentences of three words", {"d_model": 4}, weights, (_random(23, 2, 3, 4),), NORMED.reshape(2, 3, 4)
        ),
        ModuleExample("two words and eps=0.5", {"d_model": 4, "eps": 0.5}, weights, (two_sizes,), NORMED_05),
        NewNorm("a new module"),
        NormGradient("three words", _random(26, 3, 6)),
        NormOf16Bits("large numbers of float16", 400 * _random(25, 2, 8).half()),
        NormOf16Bits("numbers of bfloat16", _random(25, 2, 8).bfloat16()),
    ]


# --- exercise 24 -----------------------------------------------------------------------------------------------------

BLOCK = [
    [
        [5.258735, -3.843732, -2.445535, -2.104898],
        [0.538078, -0.89411, 6.267367, -8.728667],
        [6.128376, -2.445252, -4.265297, 0.947579],
    ],
    [
        [1.98187, -1.013476, -1.712699, 4.705208],
        [0.710885, 0.209003, 0.450449, 1.279114],
        [6.639435, -1.225213, -2.374407, 2.093222],
    ],
]
BLOCK_OF_THREE_HEADS = [
    [-2.039671, 5.918505, 2.34869, -8.095476, 1.628281, -7.528155],
    [-3.84099, 8.278113, 1.712208, -6.932269, 1.940603, -6.787341],
    [1.460925, 5.736213, -2.512276, -10.541176, 4.143886, -5.285225],
    [10.30869, -0.211272, -0.712285, -16.630602, 5.022556, -6.074277],
]


def _block_shapes(d_model: int, d_ff: int) -> Shapes:
    return {
        "norm1.weight": (d_model,),
        "norm1.bias": (d_model,),
        "attention.project.weight": (3 * d_model, d_model),
        "attention.combine.weight": (d_model, d_model),
        "attention.combine.bias": (d_model,),
        "norm2.weight": (d_model,),
        "norm2.bias": (d_model,),
        "ff_in.weight": (d_ff, d_model),
        "ff_in.bias": (d_ff,),
        "ff_out.weight": (d_model, d_ff),
        "ff_out.bias": (d_model,),
    }


OF_MINUS_2_2 = -0.0305876  # exactly GELU; an approximation gives −0.0303
LAST_LAYERS = ("combine.weight", "combine.bias", "ff_out.weight", "ff_out.bias")


def _drawn(seed: int, shapes: Shapes) -> Weights:
    rng = torch.Generator().manual_seed(seed)
    return {name: torch.randn(*shape, generator=rng) for name, shape in shapes.items()}


def _block() -> list[ModuleExample]:
    sizes = {"d_model": 4, "num_heads": 2, "d_ff": 6}
    weights, x = _drawn(24, _block_shapes(4, 6)), _random(241, 2, 3, 4)
    below = {"ff_in.weight": torch.zeros(6, 4), "ff_in.bias": torch.full((6,), -2.2)}  # before GELU: −2.2 everywhere
    wide = 10 * weights["ff_out.weight"]
    silent = {name: 0 * each if name.endswith(LAST_LAYERS) else each for name, each in weights.items()}
    return [
        ModuleExample(
            "two sentences, two heads and d_ff=6, at a rate of 0",
            {**sizes, "dropout": 0.0},
            weights,
            (x,),
            torch.tensor(BLOCK),
            training=True,
            causal=True,
        ),
        ModuleExample(
            "attention.combine and ff_out all zero, so that nothing is added",
            {**sizes, "dropout": 0.0},
            silent,
            (x,),
            x,
        ),
        ModuleExample(
            "attention.combine all zero, and −2.2 everywhere before GELU",
            {**sizes, "dropout": 0.0},
            {**silent, **below, "ff_out.weight": wide},
            (x,),
            x + OF_MINUS_2_2 * wide.sum(1),
        ),
        ModuleExample("dropout=1.0, in eval mode", {**sizes, "dropout": 1.0}, weights, (x,), torch.tensor(BLOCK)),
        ModuleExample(
            "dropout=1.0, in training, where all that is added is dropped",
            {**sizes, "dropout": 1.0},
            weights,
            (x,),
            x,
            training=True,
        ),
        ModuleExample(
            "four words, three heads and d_ff=8",
            {"d_model": 6, "num_heads": 3, "d_ff": 8, "dropout": 0.0},
            _drawn(245, _block_shapes(6, 8)),
            (_random(246, 1, 4, 6),),
            torch.tensor([BLOCK_OF_THREE_HEADS]),
        ),
    ]


# --- exercise 25 -----------------------------------------------------------------------------------------------------

LOGITS = [
    [
        [-2.079829, -0.338096, -0.533844, -7.685532, 2.122087],
        [-1.782782, -1.021418, -0.43146, -6.737003, 1.998754],
        [-2.432013, 0.02715, -0.595476, -8.855465, 2.200395],
        [1.102432, -1.041975, -0.257148, 3.142226, 1.040851],
    ],
    [
        [-1.84393, 0.198263, -0.589111, -6.823288, 2.095057],
        [-1.332829, 0.976276, -0.653909, -4.99468, 1.940102],
        [-1.365362, 1.382278, -0.702677, -5.065636, 1.926361],
        [-1.18415, 2.4028, -0.804727, -4.343889, 1.749786],
    ],
]
WITHOUT_BLOCKS = [
    [
        [0.952324, 3.112251, -0.721309, 3.03932, 0.570481],
        [-1.722015, 0.668756, -0.548661, -6.369211, 1.043436],
        [-0.401359, -1.909927, -0.157754, -2.104977, 0.594361],
        [2.434469, 1.104322, -0.337444, 7.907686, -0.519235],
    ],
    [
        [-2.369012, 1.86664, -0.748653, -8.462912, 1.44751],
        [-0.158477, -1.692228, -0.163209, -1.252073, 0.442243],
        [-0.401359, -1.909927, -0.157754, -2.104977, 0.594361],
        [0.268058, 1.704575, -0.537336, 0.548176, 0.182104],
    ],
]
THREE_LAYERS = [
    [-2.621243, -2.366059, 1.028328, 1.656605, 4.63023],
    [-2.345869, -2.088817, 1.154846, 1.385994, 4.319408],
    [-2.763007, -2.543579, 0.852133, 1.809803, 4.804752],
]
TOKENS = [[1, 0, 2, 4], [3, 2, 2, 0]]
PADDED = [[0, 3, 1, 1], [4, 2, 0, 3]]
LOSSES = [2.37067, 1.379708, 2.940385, 3.586679]


def _model_shapes(vocab_size: int, d_model: int, num_layers: int, context_length: int) -> Shapes:
    shapes: Shapes = {"token_embedding.weight": (vocab_size, d_model)}
    shapes["position_embedding.weight"] = (context_length, d_model)
    for i in range(num_layers):
        shapes |= {f"blocks.{i}.{name}": shape for name, shape in _block_shapes(d_model, 4 * d_model).items()}
    return shapes | {"norm.weight": (d_model,), "norm.bias": (d_model,), "head.weight": (vocab_size, d_model)}


class _Model(NamedTuple):
    """A model as a ModuleExample; and it must keep its context_length."""

    example: ModuleExample
    name: str
    or_else: torch.Tensor | None = None  # another right result

    def problem(self, student_class: Callable[..., Any], called: str) -> str | None:
        model = student_class(**self.example.arguments)
        problem = self.example.problem(student_class, called)
        if problem and self.or_else is not None:
            other = self.example._replace(expected=self.or_else)
            problem = problem if other.problem(student_class, called) else None
        kept = getattr(model, "context_length", None)
        if problem or kept == self.example.arguments["context_length"]:
            return problem
        return f"the attribute context_length of {called} should be the argument, but it is {kept!r}."


def _gpt() -> list[_Model]:
    sizes = {"vocab_size": 5, "d_model": 4, "num_layers": 2, "num_heads": 2, "context_length": 6}
    weights, tokens = _drawn(25, _model_shapes(5, 4, 2, 6)), torch.tensor(TOKENS)
    silent = {name: 0 * each if name.endswith(LAST_LAYERS) else each for name, each in weights.items()}
    expected, without_blocks = torch.tensor(LOGITS), torch.tensor(WITHOUT_BLOCKS)
    examples = [
        ModuleExample("two texts of four tokens, where six would fit", sizes, weights, (tokens,), expected),
        ModuleExample("blocks that add nothing", sizes, silent, (tokens,), without_blocks),
        ModuleExample("dropout=1.0, in eval mode", {**sizes, "dropout": 1.0}, weights, (tokens,), expected),
        ModuleExample(
            "dropout=1.0, in training, where blocks add nothing",
            {**sizes, "dropout": 1.0},
            weights,
            (tokens,),
            without_blocks,
            training=True,
        ),
    ]
    others = {"vocab_size": 5, "d_model": 4, "num_layers": 3, "num_heads": 1, "context_length": 3}
    text, logits = torch.tensor([[4, 0, 1]]), torch.tensor([THREE_LAYERS])
    weights_of_three = _drawn(252, _model_shapes(5, 4, 3, 3))
    examples.append(
        ModuleExample(
            "three layers with one head, and as many tokens as fit", others, weights_of_three, (text,), logits
        )
    )
    # There, dropout on the sum of the embeddings, which is as good, leaves nothing but the bias of the norm.
    only_bias = (weights["norm.bias"] @ weights["head.weight"].T).expand_as(without_blocks)
    return [_Model(example, example.name, only_bias if example.training else None) for example in examples]


def _loss() -> list[Example | PieceExample]:
    logits, tokens = 2 * _random(251, 2, 4, 5), torch.tensor(TOKENS)
    all_count, no_2, no_0, repeated = (torch.tensor(loss) for loss in LOSSES)
    return [
        Example("two texts and no padding", (logits, tokens), all_count),
        Example("pad=2", (logits, tokens, 2), no_2),
        Example("pad=0, which is a token like any other", (logits, tokens, 0), no_0),
        Example(
            "a text that ends with padding, pad=1", (logits, torch.tensor([[0, 3, 1, 1], [4, 2, 0, 3]]), 1), repeated
        ),
        PieceExample("gradients, dtype and logits of ±10⁴", (logits, tokens, 2), (), (-1e4 * logits.sign(), tokens, 2)),
    ]


# --- exercise 27 -----------------------------------------------------------------------------------------------------

STEPS = [
    (
        [2.447453, 1.603758, 0.942002],
        [
            [0.349026, -0.087823, 1.081603],
            [4.496459, -0.432427, 2.065456],
            [-0.377243, -0.196144, 0.770094],
            [2.656033, -3.889655, 2.193035],
        ],
    ),
    (
        [2.447453, 2.361252, 2.280765],
        [
            [0.223993, -0.075116, 1.762636],
            [4.614443, -0.457966, 1.622854],
            [-0.188304, -0.136433, 0.112154],
            [2.474143, -3.936535, 2.612543],
        ],
    ),
]


class _Small(nn.Module):
    """A language model for trying a step. In training, dropout takes one of its parts away altogether."""

    def __init__(self, left_over: float) -> None:
        super().__init__()
        self.embedding, self.more = nn.Embedding(4, 3), nn.Linear(3, 3)
        self.dropout, self.head = nn.Dropout(1.0), nn.Linear(3, 4, bias=False)
        with torch.no_grad():
            for i, parameter in enumerate(self.parameters()):
                parameter.copy_(2 * _random(270 + i, *parameter.shape))
                parameter.grad = torch.full_like(parameter, left_over)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)  # (B, T, 3)
        scores: torch.Tensor = self.head(x + self.dropout(self.more(x)))
        return scores


class _ThreeSteps(NamedTuple):
    """Three steps of plain descent: what they return, and what becomes of the last layer."""

    name: str
    max_norm: float
    losses: list[float]
    weights: list[list[float]]
    left_over: float = 0.0
    training: bool = True

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        model = _Small(self.left_over)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        losses = []
        for _ in range(3):
            model.train(self.training)
            losses.append(function(model, optimizer, torch.tensor(TOKENS) % 4, max_norm=self.max_norm))
        if None in losses:
            return f"{called} returned None. Does it end with a return statement?"
        if not all(isinstance(loss, float) for loss in losses):
            return f"{called} should return a float. For a tensor with a single number, that is tensor.item()."
        before = _Small(0.0).head.weight
        if torch.equal(model.head.weight, before):
            return "after three steps, the weights are unchanged: nothing was learned."
        far = (model.head.weight - torch.tensor(self.weights)).abs().max().item()
        if far > 1e-4:
            return f"after three steps, the weights of the last layer are off by up to {far:.4f}."
        if any(abs(loss - right) > 1e-4 for loss, right in zip(losses, self.losses, strict=True)):
            return f"the weights are right, but not the losses: {self.losses} should be returned, not {losses}."
        return None


def _steps() -> list[_ThreeSteps]:
    plain, clipped = STEPS
    return [
        _ThreeSteps("gradients that need no clipping", 100.0, *plain),
        _ThreeSteps("gradients left over from before", 100.0, *plain, left_over=3.0),
        _ThreeSteps("a model in evaluation mode", 100.0, *plain, training=False),
        _ThreeSteps("max_norm=0.1", 0.1, *clipped),
    ]


# --- exercise 26 -----------------------------------------------------------------------------------------------------

PROMPTS = [[3, 0, 2, 1], [0, 1, 3, 2]]
WRITTEN = [[2, 1, 3, 1, 3, 1, 3], [3, 2, 0, 2, 0, 2, 0]]
SHARES = [[0.2369, 0.0321, 0.6439, 0.0871], [0.1171, 0.0021, 0.865, 0.0158], [0.3072, 0.0, 0.5065, 0.1863]]


class _Counting(nn.Module):
    """A model of four tokens that knows how long its text is. In training, it says the opposite."""

    context_length = 6

    def __init__(self) -> None:
        super().__init__()
        self.keeps = False
        self.part = nn.Linear(1, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.shape[1] > self.context_length:
            raise ValueError(f"{tokens.shape[1]} tokens are more than context_length, {self.context_length}")
        self.keeps |= torch.is_grad_enabled()
        scores = torch.tensor([0.0, 3.0, 1.0, 2.0])
        place = (torch.arange(tokens.shape[1]) - 3).clamp(min=0)  # (T,): other scores at each of the last two places
        logits = torch.stack([scores, scores.flip(0).roll(1), scores.roll(1)])[place].expand(*tokens.shape, 4)
        turned = (torch.arange(4) - tokens[..., None]) % 4
        found = logits.gather(-1, turned) + tokens[..., None]  # other levels in other texts, which changes no chances
        return -found if self.training else found


class _Writing(NamedTuple):
    """What is written after PROMPTS, or how often each token is drawn after [0, 1]."""

    name: str
    named: dict[str, Any]
    expected: list[list[int]] | list[float]
    count: int = 1
    training: bool = True

    def problem(self, function: Callable[..., Any], called: str) -> str | None:
        is_drawn = isinstance(self.expected[0], float)
        model = _Counting().train(self.training)
        tokens = torch.tensor([[0, 1]]).expand(4000, 2).clone() if is_drawn else torch.tensor(PROMPTS)
        with torch.enable_grad():
            texts = [self._written(function, model, tokens.clone(), seed) for seed in (1, 1, 2)]
            learns = torch.is_grad_enabled()
        if any(text is None for text in texts):
            return f"{called} returned None. Does it end with a return statement?"
        begun = tokens.shape[1]
        shape = (len(tokens), begun + self.count)
        if not all(isinstance(text, torch.Tensor) and tuple(text.shape) == shape for text in texts):
            return f"a tensor of shape {shape} was expected: the given tokens, and {self.count} after each text."
        if not learns:
            return f"gradients stay off after {called}. Use `with torch.no_grad():`, which ends with its block."
        if model.keeps:
            return "gradients are kept. Write under torch.no_grad()."
        if model.training is not self.training:
            return "the model is not left in the mode it was in."
        if model.part.training is not self.training:
            return "the modules in the model are not left in the mode they were in. Use model.train or model.eval."
        if not model.part.weight.requires_grad:
            return "the model's parameters are left with requires_grad=False, so it would not learn anymore."
        if not torch.equal(texts[0][:, :begun], tokens):
            return "the texts should begin with the given tokens."
        return self._wrong_shares(texts) if is_drawn else self._wrong_text(texts[0])

    def _written(self, function: Callable[..., Any], model: nn.Module, tokens: torch.Tensor, seed: int) -> Any:
        drawn = isinstance(self.expected[0], float)
        more = {"generator": torch.Generator().manual_seed(seed)} if drawn else {}
        return function(model, tokens, self.count, **self.named, **more)

    def _wrong_text(self, text: torch.Tensor) -> str | None:
        written = text[:, len(PROMPTS[0]) :].tolist()
        if written == self.expected:
            return None
        return f"{written} was written after {PROMPTS}, but {self.expected} was expected."

    def _wrong_shares(self, texts: list[torch.Tensor]) -> str | None:
        if not torch.equal(texts[0], texts[1]):
            return "with the same generator, the same tokens should be drawn. Pass it to torch.multinomial."
        if torch.equal(texts[0], texts[2]):
            return "the tokens are the same, whatever the random numbers are. Draw them with their probabilities."
        if (texts[0] == texts[0][:1]).all():
            return "all texts get the same new token. Draw one for each text, by that text's own probabilities."
        shares = torch.bincount(texts[0][:, -1], minlength=4) / len(texts[0])
        # Of 4000 draws, 5 in a hundred too many or too few are six standard deviations: not by chance.
        if (shares - torch.tensor(self.expected)).abs().max() < 0.05:
            return None
        drawn = ", ".join(f"{share:.2f}" for share in shares)
        return f"the tokens 0 to 3 are drawn in shares of {drawn}, but {self.expected} were expected."


class _Even(nn.Module):
    """A model of 40 tokens that are almost equally likely."""

    context_length = 6

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.linspace(0.0, 0.1, 40).expand(*tokens.shape, 40)


class _AllTokens(NamedTuple):
    """Whether every token may come. Of 4000 draws, about 100 should be of each."""

    name: str

    def problem(self, function: Callable[..., Any], called: str) -> str | None:  # noqa: ARG002  as the others
        texts = function(_Even(), torch.zeros(4000, 1, dtype=torch.long), 1)
        never = 40 - len(texts[:, -1].unique())
        if not never:
            return None
        return (
            f"{never} of 40 tokens, all about equally likely, never come. By default, draw from the whole vocabulary."
        )


def _writing() -> list[_Writing | _AllTokens]:
    return [
        _Writing("temperature=0", {"temperature": 0.0}, WRITTEN, 7),
        _Writing("temperature=0 and top_k=3", {"temperature": 0.0, "top_k": 3}, WRITTEN, 7),
        _Writing("temperature=0 and a model in evaluation mode", {"temperature": 0.0}, WRITTEN, 7, training=False),
        _Writing("top_k of 1", {"top_k": 1}, WRITTEN, 7),
        _Writing("only the defaults, and a generator", {}, SHARES[0]),
        _AllTokens("only the defaults"),
        _Writing("temperature=0.5", {"temperature": 0.5}, SHARES[1]),
        _Writing("temperature=2.0 and top_k=3", {"temperature": 2.0, "top_k": 3}, SHARES[2]),
    ]


# --- counting, which earns no points ----------------------------------------------------------------------------------

# Of 100 tokens with 64 entries each, four heads and d_ff = 256.
OF_ATTENTION = {
    1_638_400: "That is only the four linear layers. Scores and weighted sums of values are products, too.",
    1_280_000: "That is only scores and weighted sums. The linear layers around them are products, too.",
    2_508_800: "combine is missing, the linear layer after the heads.",
    2_278_400: "One of two products is missing: scores, or weights times values. Each takes T · T · d_model.",
    2_284_800: "That counts only the scores that the causal mask lets through. Here, the hidden ones count, too.",
    6_758_400: "The heads share d_model: each has 16 entries, so the scores of all four take T · T · d_model.",
    3_276_800: "That is the feed-forward network.",
}
OF_FEED_FORWARD = {
    1_638_400: "That is one linear layer. There are two: into d_ff entries, and back.",
    32_768: "That is for a single token. There are 100.",
    819_200: "That would be two layers of d_model to d_model entries. The hidden layer has d_ff.",
    2_918_400: "That is attention.",
}
# Of a vocabulary of 1000, with 64 entries, two blocks and texts of up to 128 tokens.
OF_THE_MODEL = {
    171_904: "head is missing. It is separate from the table of tokens: both are learned.",
    227_712: "The table of positions is missing.",
    235_776: "The last norm, before the head, is missing.",
    235_264: "The norms are missing: two in each block, and a last one.",
    235_136: "The biases of combine, ff_in and ff_out are missing.",
    234_816: "All biases are missing: those of the linear layers, and those of the norms.",
    234_496: "Norms are missing, and biases of linear layers.",
    235_584: "A norm has two numbers for each entry: a weight and a bias.",
    236_904: "head has no bias.",
    236_288: "project has no bias.",
    186_112: "That is for a single block. There are two.",
    49_792: "That is one block. A model also has tables of tokens and positions, a last norm and a head.",
    99_584: "That is only the two blocks. A model also has tables of tokens and positions, a last norm and a head.",
}

_checks = Checks(
    Entry(20, "sinusoidal_positions", _positions),
    Entry(21, "apply_rope", _turns),
    Entry(22, "padded_attention", _padded),
    Entry(23, "RMSNorm", _norms),
    Entry(24, "TransformerBlock", _block),
    Entry(25, "TinyGPT", _gpt, builds_on=(24,)),
    Entry(25, "next_token_loss", _loss),
    Entry(26, "generate", _writing),
    Entry(27, "train_step", _steps, builds_on=(25,)),
    Number("multiplications of attention", 4 * 100 * 64**2 + 2 * 100**2 * 64, OF_ATTENTION),
    Number("multiplications of the feed-forward network", 2 * 100 * 64 * 256, OF_FEED_FORWARD),
    Number("parameters of the model", 235_904, OF_THE_MODEL),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
