"""The visible checks of this notebook: check(9) says whether exercise 9 is right on a few known examples.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable

import torch

from grader.kit.checking import Checks, Entry, Example, ModuleExample, PieceExample, Twice

WORDS = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]
SCORES_OF_JOURNEY = [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]
WEIGHTS_OF_JOURNEY = [0.138548, 0.237891, 0.233274, 0.123992, 0.108182, 0.158114]
CONTEXT = [
    [0.4421, 0.5931, 0.5790],
    [0.4419, 0.6515, 0.5683],
    [0.4431, 0.6496, 0.5671],
    [0.4304, 0.6298, 0.5510],
    [0.4671, 0.5910, 0.5266],
    [0.4177, 0.6503, 0.5645],
]
OUTPUTS_123 = [
    [0.299582, 0.805314],
    [0.3061, 0.82103],
    [0.305781, 0.820296],
    [0.294766, 0.793866],
    [0.292706, 0.789084],
    [0.29901, 0.804037],
]  # of SelfAttention_v1 with seed 123
OUTPUTS_789 = [
    [-0.07389, 0.07129],
    [-0.074811, 0.070309],
    [-0.074856, 0.070242],
    [-0.076002, 0.06845],
    [-0.076328, 0.067943],
    [-0.075444, 0.069305],
]  # of SelfAttention_v2 with seed 789
CAUSAL_WEIGHTS = [
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.338836, 0.661164, 0.0, 0.0, 0.0, 0.0],
    [0.873212, 0.010042, 0.116746, 0.0, 0.0, 0.0],
    [0.028675, 0.248707, 0.5215, 0.201118, 0.0, 0.0],
    [0.122799, 0.272265, 0.42098, 0.153198, 0.030757, 0.0],
    [0.030491, 0.045691, 0.856719, 0.008184, 0.041165, 0.01775],
]  # of the scores in exercise 14
CAUSAL_OUTPUTS_789 = [
    [-0.087218, 0.02859],
    [-0.099069, 0.050095],
    [-0.099945, 0.06335],
    [-0.098255, 0.048948],
    [-0.051446, 0.109844],
    [-0.075444, 0.069305],
]  # of CausalAttention with seed 789
FOUR_WORDS_V1 = [
    [2.46963, -3.544623, -0.137727],
    [2.44301, -3.48122, -0.145938],
    [1.861735, -0.245121, -0.853595],
    [2.471025, -3.547731, -0.137367],
]
FOUR_WORDS_V2 = [
    [-0.434063, -0.922903, -0.847255],
    [-0.426289, -0.916226, -0.84605],
    [0.726811, -0.107138, 0.076851],
    [-0.446619, -0.932662, -0.848891],
]
TWO_TEXTS = [
    [1.867975, -0.099612, 0.961899, 2.327073, 0.713227],
    [1.715988, -0.042812, 0.829474, 2.268412, 0.420187],
    [-1.394615, 1.668886, -1.405864, 1.511805, -1.588859],
    [0.322746, 0.623309, 0.672253, 1.768981, 0.210901],
    [-2.033744, 2.0881, -2.165013, 1.441424, -2.058092],
    [-3.168845, 2.014322, -0.815866, 0.365038, -3.637381],
    [-3.133679, 1.584892, -0.364225, -0.024383, -5.400755],
    [-3.228838, 1.615582, -0.308534, -0.07721, -5.401652],
]


def _matrix(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _given_scores() -> torch.Tensor:
    return 2 * _random(14, 6, 6)


def _seed_123() -> dict[str, torch.Tensor]:
    """What nn.Parameter(torch.rand(3, 2)) gives after torch.manual_seed(123), for W_query, W_key, W_value in turn."""
    rng = torch.Generator().manual_seed(123)
    return {name: torch.rand(3, 2, generator=rng) for name in ("W_query", "W_key", "W_value")}


def _seed_789() -> dict[str, torch.Tensor]:
    """What nn.Linear(3, 2) gives after torch.manual_seed(789), for W_query, W_key, W_value in turn."""
    rng = torch.Generator().manual_seed(789)
    bound = 1 / 3**0.5
    return {
        f"{name}.weight": torch.empty(2, 3).uniform_(-bound, bound, generator=rng)
        for name in ("W_query", "W_key", "W_value")
    }


def _parameters(d_in: int, d_out: int, seed: int) -> dict[str, torch.Tensor]:
    """W_query, W_key and W_value as nn.Parameter."""
    rng = torch.Generator().manual_seed(seed)
    return {name: torch.randn(d_in, d_out, generator=rng) for name in ("W_query", "W_key", "W_value")}


def _linears(d_in: int, d_out: int, seed: int) -> dict[str, torch.Tensor]:
    """W_query, W_key and W_value as nn.Linear with a bias."""
    rng = torch.Generator().manual_seed(seed)
    weights = {}
    for name in ("W_query", "W_key", "W_value"):
        weights[f"{name}.weight"] = torch.randn(d_out, d_in, generator=rng)
        weights[f"{name}.bias"] = torch.randn(d_out, generator=rng)
    return weights


def _simple_scores() -> list[Example | PieceExample]:
    small = _matrix([[1, 0, 2, 1], [-2, 2, 0, 3]]), torch.tensor([2.0, 1.0, -1.0, 0.5])
    return [
        Example("the query “journey”", (_matrix(WORDS), _matrix(WORDS)[1]), torch.tensor(SCORES_OF_JOURNEY)),
        Example("two words of four entries", small, torch.tensor([0.5, -0.5])),
        PieceExample("four words", (_random(9, 4, 3), _random(10, 3)), (4,)),
    ]


def _stable_softmax() -> list[Example | PieceExample]:
    huge = _matrix([[1e4, 1e4, -1e4], [-2e4, -2e4, -1e5], [1, 2, -1]])
    cube = torch.tensor([[[2.0, 1.0], [0.0, 2.0], [-1.0, 0.0]], [[-5.0, 1.0], [-3.0, -2.0], [-3.0, 0.0]]])
    across = [
        [0.999089, 0.5],
        [0.952574, 0.982014],
        [0.880797, 0.5],
        [0.000911, 0.5],
        [0.047426, 0.017986],
        [0.119203, 0.5],
    ]
    down = [
        [0.843795, 0.244728],
        [0.114195, 0.665241],
        [0.04201, 0.090031],
        [0.063379, 0.705385],
        [0.468311, 0.035119],
        [0.468311, 0.259496],
    ]
    return [
        Example("the scores of “journey”", (torch.tensor(SCORES_OF_JOURNEY),), torch.tensor(WEIGHTS_OF_JOURNEY)),
        Example(
            "very large and very small numbers",
            (huge,),
            _matrix([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.2595, 0.7054, 0.0351]]),
        ),
        Example("three dimensions and dim=0", (cube, 0), _matrix(across).reshape(2, 3, 2)),
        Example("three dimensions and dim=-2", (cube, -2), _matrix(down).reshape(2, 3, 2)),
        PieceExample("four words of three entries", (_random(10, 4, 3), 0), (4, 3)),
    ]


def _context_vectors() -> list[Example | PieceExample]:
    two = _matrix([[1, 2, 0, -1], [0, 1, 1, 2]])
    mixed = [
        [0.997527, 1.997527, 0.002473, -0.992582],
        [0.002473, 1.002473, 0.997527, 1.992582],
    ]
    return [
        Example("the six words", (_matrix(WORDS),), _matrix(CONTEXT)),
        Example("two words of four entries", (two,), _matrix(mixed)),
        PieceExample("four other words", (_random(11, 4, 3),), (4, 3), large=(100 * _random(11, 4, 3),)),
    ]


def _v1() -> list[ModuleExample]:
    words = _matrix(WORDS)
    return [
        ModuleExample("the six words", {"d_in": 3, "d_out": 2}, _seed_123(), (words,), _matrix(OUTPUTS_123)),
        ModuleExample(
            "four words, d_in=5 and d_out=3",
            {"d_in": 5, "d_out": 3},
            _parameters(5, 3, seed=5),
            (_random(4, 4, 5),),
            _matrix(FOUR_WORDS_V1),
        ),
    ]


def _v2() -> list[ModuleExample]:
    words = _matrix(WORDS)
    return [
        ModuleExample("the six words", {"d_in": 3, "d_out": 2}, _seed_789(), (words,), _matrix(OUTPUTS_789)),
        ModuleExample(
            "four words, d_in=5, d_out=3 and qkv_bias=True",
            {"d_in": 5, "d_out": 3, "qkv_bias": True},
            _linears(5, 3, seed=5),
            (_random(4, 4, 5),),
            _matrix(FOUR_WORDS_V2),
        ),
    ]


def _mask_after() -> list[Example | PieceExample]:
    weights = torch.softmax(_given_scores() / 2**0.5, dim=-1)
    small = _matrix([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.2, 0.7]])
    return [
        Example("the weights of the six words", (weights,), _matrix(CAUSAL_WEIGHTS)),
        Example("three words", (small,), _matrix([[1, 0, 0], [0.75, 0.25, 0], [0.1, 0.2, 0.7]])),
        PieceExample("four words", (torch.softmax(_random(14, 4, 4), dim=-1),), (4, 4)),
    ]


def _mask_before() -> list[Example | PieceExample]:
    small = _matrix([[1, 5, -2], [2, 4, 9], [-2, 0, 2]])
    return [
        Example("the scores of the six words and d_k=2", (_given_scores(), 2), _matrix(CAUSAL_WEIGHTS)),
        Example(
            "three words and d_k=4", (small, 4), _matrix([[1, 0, 0], [0.2689, 0.7311, 0], [0.0900, 0.2447, 0.6652]])
        ),
        PieceExample("four words and d_k=3", (_random(14, 4, 4), 3), (4, 4), large=(1e4 * _random(14, 4, 4), 3)),
    ]


def _dropped(unscaled: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    """Says what is wrong with numbers of which a share p should be 0 and the rest be scaled by 1/(1−p)."""

    def problem(result: torch.Tensor) -> str | None:
        if not isinstance(result, torch.Tensor):
            return "result is no torch tensor."
        if result.shape != unscaled.shape:
            return f"result has shape {tuple(result.shape)}, but {tuple(unscaled.shape)} was expected."
        zero = result == 0
        share = zero.float().mean().item()
        if share == 0:
            return "nothing was dropped."
        # Of 40000 entries or more, three in a hundred too many or too few do not happen by chance.
        if abs(share - p) > 0.03:
            return f"the share of zeros should be about {p:.2f}, but it is {share:.2f}."
        if torch.allclose(result, torch.where(zero, result, unscaled)):
            return "the survivors keep their value, but they should be scaled by 1/(1−p)."
        if not torch.allclose(result, torch.where(zero, result, unscaled / (1 - p))):
            return "the survivors should be the given numbers times 1/(1−p), and they are not."
        return None

    return problem


def _whole_lines(zero: torch.Tensor) -> bool:
    """Whether some row or column is all zero, but not the whole matrix."""
    return bool(zero.all(dim=0).any() or zero.all(dim=1).any()) and not bool(zero.all())


def _entry_by_entry(unscaled: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    def problem(result: torch.Tensor) -> str | None:
        if isinstance(result, torch.Tensor) and result.shape == unscaled.shape and _whole_lines(result == 0):
            return "whole rows or columns were dropped. Every entry should be dropped independently of the others."
        return _dropped(unscaled, p)(result)

    return problem


def _text_by_text(unscaled: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    def problem(result: torch.Tensor) -> str | None:
        found = _dropped(unscaled, p)(result)
        if found is None and torch.equal(result[0] == 0, result[1] == 0):
            return "all texts of the batch drop the same entries. Each should drop its own."
        return found

    return problem


def _dropout() -> list[Example | PieceExample | Twice]:
    weights = torch.rand(200, 300, generator=torch.Generator().manual_seed(8)) + 0.1
    small = _matrix([[1, 0], [0.75, 0.25]])
    batch = weights.reshape(3, 200, 100)
    return [
        Example("training=False", (small, 0.5, False), small),
        Example("p=0 and training=True", (small, 0.0, True), small),
        Example("p=0.5 and training=True", (weights, 0.5, True), _entry_by_entry(weights, 0.5)),
        Example("p=0.2 and training=True", (weights, 0.2, True), _entry_by_entry(weights, 0.2)),
        Example("a batch of weights and p=0.5", (batch, 0.5, True), _text_by_text(batch, 0.5)),
        Twice("p=0.5, called twice", (weights, 0.5, True), "both calls drop the same entries. Set no seed in there."),
        PieceExample("weights of four words", (torch.softmax(_random(15, 4, 4), dim=-1), 0.25, True), (4, 4)),
    ]


def _in_part(zero: torch.Tensor) -> bool:
    """Whether some output is zero in one entry and not in another."""
    return zero.dim() > 0 and not torch.equal(zero.any(dim=-1), zero.all(dim=-1))


def _weights_dropped(values: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    """For texts of one word: its only weight is 1, so dropout on the weights drops a whole output or nothing of it."""

    def problem(result: torch.Tensor) -> str | None:
        if isinstance(result, torch.Tensor) and _in_part(result == 0):
            return "in training, single entries of the outputs are dropped. Dropout belongs on the attention weights."
        if isinstance(result, torch.Tensor) and not bool((result == 0).any()):
            return "in training, no attention weight is dropped. Dropout belongs on the weights, after softmax."
        found = _dropped(values, p)(result)
        return f"in training, {found}" if found else None

    return problem


def _causal_attention() -> list[ModuleExample]:
    words = _matrix(WORDS)
    two_texts = _random(6, 2, 4, 3)  # (B, T, d_in)
    sizes = {"d_in": 3, "d_out": 2, "context_length": 6}
    biased = {"d_in": 3, "d_out": 5, "context_length": 7, "dropout": 0.5, "qkv_bias": True}
    short_texts = _random(9, 40000, 1, 3)
    values = short_texts @ _seed_789()["W_value.weight"].T
    return [
        ModuleExample(
            "a batch of the six words, twice",
            {**sizes, "dropout": 0.0},
            _seed_789(),
            (torch.stack([words, words]),),
            torch.stack([_matrix(CAUSAL_OUTPUTS_789)] * 2),
            mask_size=6,
            causal=True,
        ),
        ModuleExample(
            "four words where seven would fit, in eval mode",
            biased,
            _linears(3, 5, seed=7),
            (two_texts,),
            _matrix(TWO_TEXTS).reshape(2, 4, 5),
            mask_size=7,
            causal=True,
        ),
        ModuleExample(
            "dropout=0.2",
            {**sizes, "dropout": 0.2},
            _seed_789(),
            (short_texts,),
            _weights_dropped(values, 0.2),
            training=True,
        ),
    ]


_checks = Checks(
    Entry(9, "simple_attention_scores", _simple_scores),
    Entry(10, "softmax_stable", _stable_softmax),
    Entry(11, "all_context_vectors", _context_vectors, builds_on=(10,)),
    Entry(12, "SelfAttention_v1", _v1, builds_on=(10,)),
    Entry(13, "SelfAttention_v2", _v2, builds_on=(10,)),
    Entry(14, "mask_then_renormalize", _mask_after),
    Entry(14, "causal_softmax", _mask_before, builds_on=(10,)),
    Entry(15, "inverted_dropout", _dropout),
    Entry(16, "CausalAttention", _causal_attention, builds_on=(10, 14, 15)),
)
check, solved = _checks.check, _checks.solved
