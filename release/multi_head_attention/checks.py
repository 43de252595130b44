"""The visible checks of this notebook: check(17) says whether exercise 17 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable

import torch

from checking import Checks, Entry, Number
from module_examples import ModuleExample, Refusal

WORDS = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]
LIST_123 = [
    [-0.45192, 0.221605, 0.477196, 0.106348],
    [-0.587435, 0.005776, 0.589073, 0.325661],
    [-0.630023, -0.063183, 0.620196, 0.385963],
    [-0.567457, -0.084253, 0.547769, 0.358925],
    [-0.552562, -0.098068, 0.532089, 0.342797],
    [-0.529901, -0.108068, 0.507653, 0.349349],
    [-0.421328, -0.150101, 0.383572, 0.353916],
    [-0.453644, -0.154876, 0.429425, 0.324095],
    [-0.429188, -0.155104, 0.4034, 0.317948],
    [-0.504132, -0.166186, 0.472374, 0.362074],
    [-0.54805, -0.172436, 0.513325, 0.389266],
    [-0.533739, -0.105092, 0.508513, 0.350759],
]  # exercise 17 with seed 123
THREE_IN_A_LIST = [
    [5.492531, -0.785776, -2.828678],
    [4.5725, -1.564003, 1.187995],
    [2.543922, -1.561863, -2.005622],
    [3.988604, 0.156609, -2.135857],
    [4.351495, -0.751893, 2.760545],
    [1.80311, -0.791992, -1.704373],
    [3.23992, -0.788249, 2.642406],
]
TWO_SPLIT = [
    [-9.210832, 5.409377, 7.730811, -5.941133],
    [-10.527537, 6.071009, 7.739047, -6.6469],
    [-11.062535, 6.309372, 7.370736, -6.744089],
    [-11.297095, 7.178607, 3.867474, -5.800313],
    [-10.357593, 5.727846, 6.59712, -6.071359],
    [-12.089203, 7.542214, 2.70998, -5.827839],
    [-12.59521, 8.936213, 3.176819, -6.543024],
    [-12.126672, 5.65647, 2.6711, -5.511508],
    [-11.413294, 6.485548, 2.342423, -5.235815],
    [-12.860672, 6.945712, 2.466678, -5.954869],
    [-13.529453, 7.460853, 2.324988, -6.228867],
    [-10.966828, 7.073805, 4.111474, -5.92983],
]  # exercise 18 with the weights of _telling()
THREE_SPLIT = [
    [-1.62019, -1.888284, -0.021423],
    [-2.289742, -4.876332, 3.490421],
    [-1.707607, -0.429307, 0.464733],
    [-2.026216, 0.499414, 1.680946],
    [-2.381653, -1.969775, 5.244925],
    [-2.070551, -2.257611, 2.634282],
    [-2.296973, -2.721187, 4.451806],
]
NO_MASK = [
    [3.574299, 4.054807, -1.42024, 4.45287, 7.024084, 3.385906],
    [4.986302, -1.161773, 3.498256, 4.468642, 5.764836, 3.331554],
]
PADDED = [
    [0.342093, 1.106828, -1.250766, 1.246027],
    [-6.887387, -0.170811, 3.258192, 3.62356],
    [-1.408696, -2.271836, 2.427912, -2.10919],
    [5.138546, -3.394504, 1.04589, -4.19772],
]
CAUSAL = [
    [-7.919442, 1.731647, 0.405032, 0.045383],
    [-1.848735, 2.275456, -2.559817, -1.477284],
    [2.75403, 2.110732, -4.390605, -2.677568],
    [11.066998, 3.063592, -7.805476, -0.313192],
    [17.058064, 4.847252, -12.731532, -3.9416],
    [-11.384175, -3.248945, 9.06906, 4.913147],
]

Weights = dict[str, torch.Tensor]

QKV = ("W_query", "W_key", "W_value")


def _matrix(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _given_batch() -> torch.Tensor:
    """The six words, and the same backwards: (2, 6, 3)."""
    words = _matrix(WORDS)
    return torch.stack([words, words.flip(0)])


def _new_linear(rng: torch.Generator, d_in: int, *sizes: int) -> torch.Tensor:
    """The first weights of an nn.Linear with d_in inputs."""
    bound = 1 / d_in**0.5
    return torch.empty(*sizes).uniform_(-bound, bound, generator=rng)


def _given_list() -> Weights:
    """The weights of two heads of size 2 after torch.manual_seed(123)."""
    rng = torch.Generator().manual_seed(123)
    return {f"heads.{head}.{name}.weight": _new_linear(rng, 3, 2, 3) for head in range(2) for name in QKV}


def _linears(seed: int, names: list[str], d_out: int, d_in: int, bias: bool = True) -> Weights:
    """Weights, and perhaps biases, for several nn.Linear of one size."""
    rng = torch.Generator().manual_seed(seed)
    weights = {}
    for name in names:
        weights[f"{name}.weight"] = torch.randn(d_out, d_in, generator=rng)
        if bias:
            weights[f"{name}.bias"] = torch.randn(d_out, generator=rng)
    return weights


def _telling() -> Weights:
    """Weights with which usual mistakes show in the first digits: a new nn.Linear has far smaller ones."""
    projections = {name: 2 * weight for name, weight in _linears(38, list(QKV), 4, 3, bias=False).items()}
    return projections | _linears(138, ["out_proj"], 4, 4)


IN_A_LIST = "Give every head the argument dropout."
AFTER_SOFTMAX = "Dropout belongs on the weights, after softmax."


def _weights_dropped(
    values: torch.Tensor, p: float, num_heads: int, where: str
) -> Callable[[torch.Tensor], str | None]:
    """For texts of one word: its only weight is 1, so dropout drops the whole output of a head, or nothing of it."""
    values = values.unflatten(-1, (num_heads, -1))  # (B, 1, H, d)

    def problem(result: torch.Tensor) -> str | None:
        if result.shape != values.flatten(2).shape:
            return f"result has shape {tuple(result.shape)}, but {tuple(values.flatten(2).shape)} was expected."
        result = result.unflatten(-1, (num_heads, -1))
        zero = result == 0
        if result.isnan().any():
            return (
                "in training, some outputs are NaN. If you divide the weights by their sum after dropout, leave that "
                "out: all of them may be dropped."
            )
        if not zero.any():
            return f"in training, no attention weight is dropped. {where}"
        if not torch.equal(zero.any(dim=-1), zero.all(dim=-1)):
            return "in training, single entries of the outputs are dropped. Dropout belongs on the attention weights."
        if torch.equal(zero.any(dim=2), zero.all(dim=2)):
            return "in training, all heads drop the same weights. Each should drop its own."
        # Of 4000 weights, four in a hundred too many or too few are six standard deviations: not by chance.
        share = zero.float().mean().item()
        if abs(share - p) > 0.04:
            return f"in training, the share of dropped weights should be about {p:.2f}, but it is {share:.2f}."
        if not torch.allclose(result, torch.where(zero, result, values / (1 - p)), atol=1e-6):
            return "in training, the weights that are not dropped should be scaled by 1/(1−p), as nn.Dropout does."
        return None

    return problem


def _wrapper() -> list[ModuleExample]:
    two_heads = {"d_in": 3, "d_out": 2, "context_length": 6, "dropout": 0.0, "num_heads": 2}
    three_heads = {"d_in": 2, "d_out": 1, "context_length": 8, "dropout": 0.0, "num_heads": 3}
    names = [f"heads.{head}.{name}" for head in range(3) for name in QKV]
    short_texts = _random(9, 2000, 1, 3)
    values = [short_texts @ _given_list()[f"heads.{head}.W_value.weight"].T for head in range(2)]
    return [
        ModuleExample(
            "the notebook's batch and two heads",
            {**two_heads, "dropout": 0.0},
            _given_list(),
            (_given_batch(),),
            _matrix(LIST_123).reshape(2, 6, 4),
            causal=True,
        ),
        ModuleExample(
            "three heads with a bias, and seven words where eight would fit, in eval mode",
            {**three_heads, "dropout": 0.5, "qkv_bias": True},
            _linears(17, names, 1, 2),
            (_random(6, 1, 7, 2),),
            _matrix(THREE_IN_A_LIST).reshape(1, 7, 3),
            causal=True,
        ),
        ModuleExample(
            "dropout=0.2",
            {**two_heads, "dropout": 0.2},
            _given_list(),
            (short_texts,),
            _weights_dropped(torch.cat(values, dim=-1), 0.2, 2, IN_A_LIST),
            training=True,
        ),
    ]


def _split() -> list[ModuleExample | Refusal]:
    two_heads = {"d_in": 3, "d_out": 4, "context_length": 6, "dropout": 0.0, "num_heads": 2}
    three_heads = {"d_in": 2, "d_out": 3, "context_length": 8, "dropout": 0.0, "num_heads": 3}
    unmixed = _telling() | {"out_proj.weight": torch.eye(4), "out_proj.bias": torch.zeros(4)}
    short_texts = _random(9, 2000, 1, 3)
    return [
        ModuleExample(
            "the notebook's batch and two heads",
            {**two_heads, "dropout": 0.0},
            _telling(),
            (_given_batch(),),
            _matrix(TWO_SPLIT).reshape(2, 6, 4),
            mask_size=6,
            causal=True,
        ),
        ModuleExample(
            "three heads with a bias, and seven words where eight would fit, in eval mode",
            {**three_heads, "dropout": 0.5, "qkv_bias": True},
            _linears(18, list(QKV), 3, 2) | _linears(19, ["out_proj"], 3, 3),
            (_random(6, 1, 7, 2),),
            _matrix(THREE_SPLIT).reshape(1, 7, 3),
            mask_size=8,
            causal=True,
        ),
        ModuleExample(
            "dropout=0.2",
            {**two_heads, "dropout": 0.2},
            unmixed,
            (short_texts,),
            _weights_dropped(short_texts @ unmixed["W_value.weight"].T, 0.2, 2, AFTER_SOFTMAX),
            training=True,
        ),
        Refusal("d_out=4 and num_heads=3", {**two_heads, "num_heads": 3}),
    ]


def _encoder_decoder() -> list[ModuleExample | Refusal]:
    names = ["values", "keys", "queries", "fc_out"]
    weights = {size: _linears(size, names, size, size, bias=False) for size in (4, 6)}
    padding = torch.tensor([[1, 1, 1], [1, 1, 0]]).reshape(2, 1, 1, 3)
    causal = torch.ones(3, 3, dtype=torch.long).tril()
    return [
        ModuleExample(
            "three keys, two queries and no mask",
            {"embed_size": 6, "heads": 3},
            weights[6],
            (_random(1, 1, 3, 6), _random(2, 1, 3, 6), _random(3, 1, 2, 6)),
            _matrix(NO_MASK).reshape(1, 2, 6),
            training=True,  # no dropout here
        ),
        ModuleExample(
            "a batch of two and a padding mask",
            {"embed_size": 4, "heads": 2},
            weights[4],
            (_random(4, 2, 3, 4), _random(5, 2, 3, 4), _random(6, 2, 2, 4), padding),
            _matrix(PADDED).reshape(2, 2, 4),
        ),
        ModuleExample(
            "a causal mask of shape (3, 3)",
            {"embed_size": 4, "heads": 4},
            weights[4],
            (*[_random(7, 2, 3, 4)] * 3, causal),
            _matrix(CAUSAL).reshape(2, 3, 4),
        ),
        Refusal("embed_size=6 and heads=4", {"embed_size": 6, "heads": 4}),
    ]


_checks = Checks(
    Entry(17, "MultiHeadAttentionWrapper", _wrapper),
    Entry(18, "MultiHeadAttention", _split),
    Entry(19, "SelfAttention", _encoder_decoder),
    Number(
        "parameters with eight heads",
        3 * 100 * 96 + 96 * 96 + 96,
        {
            3 * 100 * 96: "That is queries, keys and values. out_proj has parameters, too.",
            3 * 100 * 96 + 96 * 96: "That leaves out the bias of out_proj.",
            3 * 100 * 96 + 96 * 96 + 4 * 96: "That counts biases of queries, keys and values. Only out_proj has one.",
            4 * 100 * 96 + 96: "That gives out_proj 100 inputs. It takes what the heads return: 96 entries.",
            8 * 3 * 100 * 96 + 96 * 96 + 96: "That gives every head 96 entries. All eight together have 96.",
            3 * 100 * 12 + 96 * 96 + 96: "That counts the matrices of one head. There are eight.",
        },
    ),
    Number(
        "parameters with sixteen heads",
        3 * 100 * 96 + 96 * 96 + 96,
        {
            2 * (3 * 100 * 96 + 96 * 96 + 96): "That is twice the first number. But each of the sixteen heads has only "
            "half as many entries.",
            6 * 100 * 96 + 96 * 96 + 96: "That has twice the matrices for queries, keys and values. But each of the "
            "sixteen heads has only half as many entries.",
            3 * 100 * 96: "That is queries, keys and values. out_proj has parameters, too.",
            3 * 100 * 96 + 96 * 96: "That leaves out the bias of out_proj.",
        },
    ),
    Number(
        "parameters of the list",
        8 * 3 * 100 * 96,
        {
            3 * 100 * 96: "That is one head. The list has eight, each with an output of 96 entries.",
            8 * 3 * 100 * 96 + 96 * 96 + 96: "That includes an out_proj. Exercise 17 has none.",
            8 * 3 * (100 * 96 + 96): "That includes biases. Without qkv_bias=True there are none.",
            3 * 100 * 96 + 96 * 96 + 96: "That is exercise 18. In exercise 17, d_out is the size of one head.",
            8 * 100 * 96: "That is one matrix for each head. Each has three: for queries, keys and values.",
        },
    ),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
