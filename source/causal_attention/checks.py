"""The visible checks of this notebook: check(9) says whether exercise 9 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

from collections.abc import Callable

import torch

from grader.kit.checking import Checks, Entry, Example, Number, Several
from grader.kit.module_examples import ModuleExample
from grader.kit.piece_examples import PieceExample

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
SIX_WORDS = [
    [0.618704, 3.370152],
    [0.01474, 3.511303],
    [-0.023201, 3.526911],
    [0.924982, 3.207536],
    [-0.285801, 3.644871],
    [1.374783, 3.137896],
]  # of both modules of exercises 12 and 13 with the weights of _telling(8, 2.0)
CAUSAL_WEIGHTS = [
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.338836, 0.661164, 0.0, 0.0, 0.0, 0.0],
    [0.873212, 0.010042, 0.116746, 0.0, 0.0, 0.0],
    [0.028675, 0.248707, 0.5215, 0.201118, 0.0, 0.0],
    [0.122799, 0.272265, 0.42098, 0.153198, 0.030757, 0.0],
    [0.030491, 0.045691, 0.856719, 0.008184, 0.041165, 0.01775],
]  # of the scores in exercise 14
BOTH_WAYS = [
    [1.757646, 1.571381],
    [5.155065, 2.908573],
    [5.620628, 3.172683],
    [5.133724, 2.734624],
    [3.53044, 2.256897],
    [4.519498, 4.081623],
    [5.208833, 0.126912],
    [4.746236, 1.169053],
    [3.539642, 3.605396],
    [4.065357, 3.960772],
    [4.495438, 3.93851],
    [5.305959, 3.751326],
]  # of CausalAttention with the weights of _telling(31, 3.0): the six words forwards, and backwards
FOUR_WORDS_V1 = [
    [1.067829, 1.731011, -0.967739, 2.260302, 1.5908, -0.86798],
    [-3.069749, 2.299747, 1.600548, 0.365844, -0.891538, 0.074844],
    [-3.008126, -3.674916, -0.034702, 1.516098, 2.068386, 1.46116],
    [-4.005019, -3.271506, -0.900347, 3.344036, 3.83727, 0.200024],
]
FOUR_WORDS_V2 = [
    [0.801092, -0.752046, 0.245116, -2.00589, -1.222357, 4.658715],
    [0.588987, -1.305303, -0.14645, -1.517397, -1.236119, 4.021929],
    [0.73678, -0.905007, 0.173203, -1.864802, -1.195637, 4.472963],
    [0.814344, -0.848409, -0.061039, -1.920676, -1.222153, 4.269519],
]
THREE_TEXTS = [
    [1.867975, -0.099612, 0.961899, 2.327073, 0.713227],
    [1.715988, -0.042812, 0.829474, 2.268412, 0.420187],
    [-0.52447, 1.097432, 0.380117, 1.542926, 0.194079],
    [-1.947095, 2.158184, -0.580874, 1.436775, 1.020284],
    [-3.159281, 2.118192, -2.232854, 0.584856, -5.155747],
    [0.091755, -0.333274, 1.792047, 0.647549, -4.415556],
    [-1.718087, 1.576301, 0.339154, 1.026101, -0.387724],
    [-0.79452, 0.119775, 1.455789, 0.375818, -4.73505],
    [3.951655, -1.936772, 3.313653, 2.15211, -0.740529],
    [3.915055, -1.895383, 3.216113, 2.168014, -0.746624],
    [3.143493, -1.498096, 2.940201, 1.932558, -0.981997],
    [-0.058123, 0.210677, 1.643919, 1.021534, -1.831838],
]


def _matrix(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def _random(seed: int, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def _given_scores() -> torch.Tensor:
    return 2 * _random(14, 6, 6)


def _parameters(d_in: int, d_out: int, seed: int) -> dict[str, torch.Tensor]:
    """W_query, W_key and W_value as nn.Parameter."""
    rng = torch.Generator().manual_seed(seed)
    return {name: torch.randn(d_in, d_out, generator=rng) for name in ("W_query", "W_key", "W_value")}


def _telling(seed: int, factor: float) -> dict[str, torch.Tensor]:
    """Weights (3, 2) with which usual mistakes show in the first digits: nn.Linear starts with far smaller ones."""
    return {name: factor * weight for name, weight in _parameters(3, 2, seed).items()}


def _transposed(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights of v1 for layers of nn.Linear."""
    return {f"{name}.weight": weight.T for name, weight in weights.items()}


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
        Example("a single word", (small[0][:1], small[1]), torch.tensor([0.5])),
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
        Example("a dimension of length 1", (torch.zeros(2, 1, 2), 2), torch.full((2, 1, 2), 0.5)),
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
        Example("a single word", (two[:1],), two[:1]),
        PieceExample("four other words", (_random(11, 4, 3),), (4, 3), large=(100 * _random(11, 4, 3),)),
    ]


def _v1() -> list[ModuleExample]:
    words = _matrix(WORDS)
    return [
        ModuleExample("the six words", {"d_in": 3, "d_out": 2}, _telling(8, 2.0), (words,), _matrix(SIX_WORDS)),
        ModuleExample(
            "four words, d_in=5 and d_out=6",
            {"d_in": 5, "d_out": 6},
            _parameters(5, 6, seed=8),
            (_random(15, 4, 5),),
            _matrix(FOUR_WORDS_V1),
        ),
    ]


def _v2() -> list[ModuleExample]:
    words, weights = _matrix(WORDS), _transposed(_telling(8, 2.0))
    return [
        ModuleExample("the six words", {"d_in": 3, "d_out": 2}, weights, (words,), _matrix(SIX_WORDS)),
        ModuleExample(
            "four words, d_in=5, d_out=6 and qkv_bias=True",
            {"d_in": 5, "d_out": 6, "qkv_bias": True},
            _linears(5, 6, seed=5),
            (_random(15, 4, 5),),
            _matrix(FOUR_WORDS_V2),
        ),
    ]


def _mask_after() -> list[Example | PieceExample]:
    weights = torch.softmax(_given_scores() / 2**0.5, dim=-1)
    small = _matrix([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.2, 0.7]])
    return [
        Example("the weights of the six words", (weights,), _matrix(CAUSAL_WEIGHTS)),
        Example("three words", (small,), _matrix([[1, 0, 0], [0.75, 0.25, 0], [0.1, 0.2, 0.7]])),
        Example("equal weights of 150 words", (torch.full((150, 150), 1 / 150),), _equal_weights(150)),
        PieceExample("four words", (torch.softmax(_random(14, 4, 4), dim=-1),), (4, 4)),
    ]


def _equal_weights(count: int) -> torch.Tensor:
    """Of each word for itself and all earlier ones."""
    return torch.ones(count, count).tril() / torch.arange(1, count + 1)[:, None]


def _mask_before() -> list[Example | PieceExample]:
    small = _matrix([[1, 5, -2], [2, 4, 9], [-2, 0, 2]])
    far_below = _matrix([[-9000, 5, 7], [-9800, -9000, 5], [-9000, -9400, -9800]])
    return [
        Example("the scores of the six words and d_k=2", (_given_scores(), 2), _matrix(CAUSAL_WEIGHTS)),
        Example(
            "three words and d_k=4", (small, 4), _matrix([[1, 0, 0], [0.2689, 0.7311, 0], [0.0900, 0.2447, 0.6652]])
        ),
        Example("150 words whose scores are 0", (torch.zeros(150, 150), 4), _equal_weights(150)),
        PieceExample("four words and d_k=3", (_random(14, 4, 4), 3), (4, 4), large=(1e4 * _random(14, 4, 4), 3)),
        Example("scores far below zero", (far_below, 4), _matrix([[1, 0, 0], [0, 1, 0], [1, 0, 0]])),
    ]


def _dropped(unscaled: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    """Says what is wrong with numbers of which a share p should be 0 and the rest be scaled by 1/(1−p)."""

    def problem(result: torch.Tensor) -> str | None:
        if not isinstance(result, torch.Tensor):
            return "result is not a torch tensor."
        if result.shape != unscaled.shape:
            return f"result has shape {tuple(result.shape)}, but {tuple(unscaled.shape)} was expected."
        zero = result == 0
        share = zero.float().mean().item()
        if share == 0:
            return "nothing was dropped."
        # Of 10000 entries or more, three in a hundred too many or too few do not happen by chance.
        if abs(share - p) > 0.03:
            return f"the share of zeros should be about {p:.2f}, but it is {share:.2f}."
        if torch.allclose(result, torch.where(zero, result, unscaled)):
            return "the survivors keep their value, but they should be scaled by 1/(1−p)."
        if not torch.allclose(result, torch.where(zero, result, unscaled / (1 - p))):
            return "the survivors are not the given numbers times 1/(1−p), as they should be."
        return None

    return problem


def _whole_lines(zero: torch.Tensor) -> bool:
    """Whether some row or column is all zero, but not the whole matrix."""
    return bool(zero.all(dim=0).any() or zero.all(dim=1).any()) and not bool(zero.all())


def _entry_by_entry(unscaled: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    def problem(result: torch.Tensor) -> str | None:
        if isinstance(result, torch.Tensor) and result.shape == unscaled.shape and _whole_lines(result == 0):
            return "whole rows or columns were dropped. Drop every entry independently of the others."
        return _dropped(unscaled, p)(result)

    return problem


def _text_by_text(unscaled: torch.Tensor, p: float) -> Callable[[torch.Tensor], str | None]:
    def problem(result: torch.Tensor) -> str | None:
        found = _dropped(unscaled, p)(result)
        if found is None and torch.equal(result[0] == 0, result[1] == 0):
            return "the same entries are dropped in all texts of the batch. Each text should drop its own."
        return found

    return problem


def _anew(results: list[torch.Tensor]) -> str | None:
    first, *others = (result == 0 for result in results)
    if any(torch.equal(first, other) for other in others):
        return "two calls drop the same entries. Do not set a seed in your function."
    # By chance, two of 60000 entries each drop as many as the other in one of 400 cases; eight, never.
    if {int(other.sum()) for other in others} == {int(first.sum())}:
        return (
            f"each call drops {int(first.sum())} of {first.numel()} entries. Decide for each entry separately, "
            "with probability p, so that chance also decides how many are dropped."
        )
    return None


def _dropout() -> list[Example | PieceExample | Several]:
    weights = torch.rand(200, 300, generator=torch.Generator().manual_seed(8)) + 0.1
    small = _matrix([[1, 0], [0.75, 0.5]])  # if these rows summed to one, a check would ask for it
    batch = weights.reshape(3, 200, 100)
    return [
        Example("training=False", (small, 0.5, False), small),
        Example("p=0 and training=True", (small, 0.0, True), small),
        Example("p=0.5 and training=True", (weights, 0.5, True), _entry_by_entry(weights, 0.5)),
        Example("p=0.2 and training=True", (weights, 0.2, True), _entry_by_entry(weights, 0.2)),
        Example("a batch of weights and p=0.5", (batch, 0.5, True), _text_by_text(batch, 0.5)),
        Several("p=0.5, called eight times", (weights, 0.5, True), _anew),
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
        if isinstance(result, torch.Tensor) and bool(result.isnan().any()):
            return (
                "in training, some outputs are NaN. If you divide the weights by their sum after dropout, leave that "
                "out: all of them may have been dropped."
            )
        if isinstance(result, torch.Tensor) and not bool((result == 0).any()):
            return "in training, no attention weight is dropped. Dropout belongs on the weights, after softmax."
        found = _dropped(values, p)(result)
        return f"in training, {found}" if found else None

    return problem


def _far_below() -> dict[str, torch.Tensor]:
    """For words (1, 0), (1, 1), …: scores from −9,000 down, so that the first word has all the weight."""
    query, key = torch.zeros(4, 2), torch.zeros(4, 2)
    query[0, 0] = -100.0
    key[0] = torch.tensor([90.0, 4.0])
    return {"W_query.weight": query, "W_key.weight": key, "W_value.weight": _random(32, 4, 2)}


def _causal_attention() -> list[ModuleExample]:
    words = _matrix(WORDS)
    three_texts = _random(6, 3, 4, 3)  # (B, T, d_in)
    sizes = {"d_in": 3, "d_out": 2, "context_length": 6}
    biased = {"d_in": 3, "d_out": 5, "context_length": 7, "dropout": 0.5, "qkv_bias": True}
    short_texts = _random(9, 10000, 1, 3)
    weights = _transposed(_telling(31, 3.0))
    far_below, one_text = _far_below(), torch.tensor([[[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]])
    values = short_texts @ weights["W_value.weight"].T
    return [
        ModuleExample(
            "a batch of the six words, forwards and backwards",
            {**sizes, "dropout": 0.0},
            weights,
            (torch.stack([words, words.flip(0)]),),
            _matrix(BOTH_WAYS).reshape(2, 6, 2),
            mask_size=6,
            causal=True,
        ),
        ModuleExample(
            "three texts of four words where seven would fit, in eval mode",
            biased,
            _linears(3, 5, seed=7),
            (three_texts,),
            _matrix(THREE_TEXTS).reshape(3, 4, 5),
            mask_size=7,
            causal=True,
        ),
        ModuleExample(
            "scores far below zero",
            {"d_in": 2, "d_out": 4, "context_length": 3, "dropout": 0.0},
            far_below,
            (one_text,),
            (one_text[:, :1] @ far_below["W_value.weight"].T).expand(1, 3, 4),
        ),
        ModuleExample(
            "dropout=0.2",
            {**sizes, "dropout": 0.2},
            weights,
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
    Number(
        "weights that are not zero",
        50 * 51 // 2,
        {
            50 * 49 // 2: "That is without the diagonal. A word sees itself, too.",
            50 * 50: "Those are all entries. Above the diagonal they are zero.",
            50 * 50 // 2: "That is half of all entries. But the whole diagonal is visible.",
            51 * 52 // 2: "That is for 51 words. The last row has 50 weights that are not zero.",
            50: "That is the last row alone. Add up all rows.",
        },
    ),
    Number(
        "parameters without biases",
        3 * 48 * 32,
        {
            48 * 32: "That is one matrix. There are three: for queries, keys and values.",
            2 * 48 * 32: "Those are two matrices. There are three: for queries, keys and values.",
            4 * 48 * 32: "Those are four matrices. There are three: for queries, keys and values.",
            3 * (48 + 32): "That adds the two sizes. The number of a matrix's entries is their product.",
            3 * (48 * 32 + 32): "That is with biases.",
            3 * 48 * 32 + 256 * 256: "That includes the mask. It is a buffer, and training does not change it.",
        },
    ),
    Number(
        "parameters with biases",
        3 * (48 * 32 + 32),
        {
            48 * 32 + 32: "That is one layer. There are three: for queries, keys and values.",
            3 * 48 * 32: "That is without biases.",
            3 * 48 * 32 + 32: "That is one bias for all three layers. Each has its own.",
            3 * 48 * 32 + 3: "Those are biases of one number each. A bias has a number for each output of its layer.",
            3 * (48 * 32 + 48): "A bias is added to the outputs of a layer, so it has 32 numbers, not 48.",
            3 * (48 * 32 + 32) + 256 * 256: "That includes the mask. It is a buffer, and training does not change it.",
        },
    ),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
