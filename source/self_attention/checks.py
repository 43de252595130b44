"""The visible checks of this notebook: check(3) says whether exercise 3 is right on a few known examples,
and check() how far you have come.

Nothing here is secret. Your work is graded on other numbers and other sizes, so read what a check says
instead of fitting your code to its examples.
"""

import torch

from grader.kit.checking import Checks, Entry, Example, Number

TWO_QUERIES = [[1, 0, 2, -1], [0, 1, 1, 2]]
THREE_KEYS = [[1, 1, 0, 0], [0, 2, 1, 1], [2, 0, -1, 1]]
THREE_VALUES = [[1, 0], [0, 2], [-1, 1]]


def _columns(rows: list[list[float]]) -> list[torch.Tensor]:
    """Each row of numbers as a column vector."""
    return [torch.tensor(row, dtype=torch.float32).reshape(-1, 1) for row in rows]


def _matrix(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def _given_words() -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(3)
    return [torch.randn(4, 1, generator=rng) for _ in range(3)]


def _given_parameters() -> list[torch.Tensor]:
    """W_q, W_k, W_v, b_q, b_k, b_v."""
    rng = torch.Generator().manual_seed(0)
    return [torch.randn(4, columns, generator=rng) for columns in (4, 4, 4, 1, 1, 1)]


QUERIES = [
    [-0.669978, 3.336560, -1.410399, -0.227325],
    [1.193332, -1.889242, 0.882694, -2.352125],
    [0.013378, -2.061305, -2.423628, 0.523533],
]
KEYS = [
    [-1.840510, -1.676926, 0.890849, 0.682846],
    [3.230696, 3.195345, 1.481392, -3.952558],
    [1.540881, -0.982261, -0.993695, -2.306365],
]
VALUES = [
    [-0.491652, 0.701893, -2.220415, 1.924568],
    [0.205331, 1.071594, -3.352443, -4.966953],
    [1.153791, 0.902244, -1.383608, -0.972190],
]
SCORES = [[-2.886872, 3.653063, -1.191964], [0.075994, 4.211520, 4.121120], [0.815220, -6.101500, 1.623121]]
WEIGHTS = [[0.001431, 0.990774, 0.007795], [0.008289, 0.518253, 0.473458], [0.308244, 0.000305, 0.691451]]
OUTPUTS = [[0.2117, 1.0697, -3.3355, -4.9260], [0.6486, 0.9883, -2.4109, -3.0185], [0.6463, 0.8405, -1.6421, -0.0805]]
# On the way of two examples of exercise 6, whose check thus knows what right earlier functions return.
THREE_SCORES = [[0.5, 0.5, -0.5], [0.5, 2.5, 0.5]]
THREE_WEIGHTS = [[0.422319, 0.422319, 0.155362], [0.106507, 0.786986, 0.106507]]
SINGLE_SCORES = [[1.0, -1.0], [2.0, -2.0]]
SINGLE_WEIGHTS = [[0.880797, 0.119203], [0.982014, 0.017986]]
TWO_HEADS = [
    [7.501, 15.386, 12.121, 23.458, 5.546, -7.499],
    [4.221, 4.875, -2.205, 4.050, -4.525, 5.155],
    [1.891, 3.035, 3.399, 2.733, 2.958, -0.824],
    [2.621, 2.177, -4.974, -0.925, -1.928, 3.726],
    [-0.130, -0.250, 3.700, 0.948, 9.384, 0.697],
    [2.524, 1.555, -0.789, 2.667, -0.459, 4.428],
    [0.056, -1.688, -1.537, -1.700, 0.391, 4.648],
    [-1.352, -4.136, -8.878, -1.003, -12.857, -4.945],
]


def _qkv() -> list[Example]:
    small = (
        _columns([[1, 2], [3, -1]]),
        *map(_matrix, ([[1, 0], [2, 1]], [[0, 1], [1, -1]], [[1, 1], [-1, 2]])),
        *_columns([[1, 0], [0, 1], [2, 2]]),
    )
    return [
        Example(
            "the notebook's words and weights",
            (_given_words(), *_given_parameters()),
            (_columns(QUERIES), _columns(KEYS), _columns(VALUES)),
        ),
        Example(
            "two words of two entries",
            small,
            (_columns([[2, 4], [4, 5]]), _columns([[2, 0], [-1, 5]]), _columns([[5, 5], [4, -3]])),
        ),
    ]


def _scores() -> list[Example]:
    queries = _columns([[1, 1, 0, 2, 0, 0, 1, 0, 1], [0, 1, -1, 0, 2, 0, 0, 1, 0]])
    keys = _columns([[3, 0, 1, 1, 0, 2, 0, -1, 1], [0, 2, -2, 1, 1, 0, 1, 0, 0]])
    return [
        Example("the notebook's queries and keys", (_columns(QUERIES), _columns(KEYS)), SCORES),
        Example("two words of nine entries", (queries, keys), [[2.0, 1.6667], [-0.6667, 2.0]]),
        Example(
            "two queries and three keys",
            (_columns(TWO_QUERIES), _columns(THREE_KEYS)),
            THREE_SCORES,
        ),
        Example("two words of one entry", (_columns([[1], [2]]), _columns([[1], [-1]])), SINGLE_SCORES),
        Example("one query and one key of two entries", (_columns([[1, 1]]), _columns([[2, 1]])), [[2.1213]]),
    ]


def _softmax() -> list[Example]:
    return [
        Example("a tensor", (torch.tensor([2.0, -1.0, 0.0]),), torch.tensor([0.8438, 0.0420, 0.1142])),
        Example("a plain list", ([1.0, 2.0, -1.0, 0.5],), torch.tensor([0.2242, 0.6095, 0.0303, 0.1360])),
        *(
            Example("one query's scores", (scores,), torch.tensor(weights))
            for scores, weights in zip(
                [*SCORES, *THREE_SCORES, *SINGLE_SCORES], [*WEIGHTS, *THREE_WEIGHTS, *SINGLE_WEIGHTS], strict=True
            )
        ),
    ]


def _weights() -> list[Example]:
    def scores(rows: list[list[float]]) -> list[list[torch.Tensor]]:
        return [[torch.tensor(score) for score in row] for row in rows]

    return [
        Example("the notebook's scores", (scores(SCORES),), list(_matrix(WEIGHTS))),
        Example("two words", (scores(SINGLE_SCORES),), list(_matrix(SINGLE_WEIGHTS))),
        Example("two queries and three keys", (scores(THREE_SCORES),), list(_matrix(THREE_WEIGHTS))),
    ]


def _sums() -> list[Example]:
    weights = list(_matrix([[0.25, 0.75], [1.0, 0.0]]))
    return [
        Example("the notebook's weights and values", (list(_matrix(WEIGHTS)), _columns(VALUES)), _columns(OUTPUTS)),
        Example(
            "two words of three entries",
            (weights, _columns([[4, 0, 2], [8, 4, -2]])),
            _columns([[7, 3, -1], [4, 0, 2]]),
        ),
        Example(
            "two queries and three values",
            (list(_matrix([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])), _columns(THREE_VALUES)),
            _columns([[0.25, 0.75], [-0.6, 1.1]]),
        ),
        Example(
            "two words of one entry",
            (list(_matrix(SINGLE_WEIGHTS)), _columns([[3], [5]])),
            _columns([[3.2384], [3.036]]),
        ),
        Example(
            "two queries and three uneven weights",
            (list(_matrix(THREE_WEIGHTS)), _columns(THREE_VALUES)),
            _columns([[0.266957, 1.0], [0.000001, 1.680478]]),
        ),
    ]


def _attention() -> list[Example]:
    return [
        Example(
            "the notebook's queries, keys and values",
            (_columns(QUERIES), _columns(KEYS), _columns(VALUES)),
            _columns(OUTPUTS),
        ),
        Example(
            "two words of one entry",
            (_columns([[1], [2]]), _columns([[1], [-1]]), _columns([[3], [5]])),
            _columns([[3.2384], [3.0360]]),
        ),
        Example(
            "two queries, and three keys and values",
            (_columns(TWO_QUERIES), _columns(THREE_KEYS), _columns(THREE_VALUES)),
            _columns([[0.266956, 1.0], [0.0, 1.680479]]),
        ),
    ]


def _matrix_form() -> list[Example]:
    W_q, W_k, W_v, b_q, b_k, b_v = _given_parameters()
    words = torch.cat(_given_words(), dim=1)  # (D, N)
    small = [[1, 2], [0, 1]], [[1, 0], [1, 1]], [[0, 1], [1, 0]]
    return [
        Example("the notebook's words", (words, W_v, W_q, W_k, b_v, b_q, b_k), _matrix(OUTPUTS).T),
        Example(
            "four words of two entries",
            (_matrix([[1, 0, 2, 1], [0, 1, -1, 2]]), *map(_matrix, small), *_columns([[1, 0], [0, 1], [1, 1]])),
            _matrix([[3.954, 2.0204, 5.3976, 2.6063], [0.8765, -0.2942, 1.6988, 0.0003]]),
        ),
        Example(
            "a single word of two entries",
            (_matrix([[1], [1]]), *map(_matrix, small), *_columns([[1, 0], [0, 1], [1, 1]])),
            _matrix([[4], [1]]),
        ),
    ]


def _heads() -> list[Example]:
    words = torch.randn(8, 6, generator=torch.Generator().manual_seed(3))
    rng = torch.Generator().manual_seed(0)
    parameters = []
    for _ in range(2):
        W_q, W_k, W_v, b_q, b_k, b_v = (torch.randn(4, columns, generator=rng) for columns in (8, 8, 8, 1, 1, 1))
        parameters += [W_v, W_q, W_k, b_v, b_q, b_k]
    parameters.append(torch.randn(8, 8, generator=rng))  # W_c
    first = [[1, 2]], [[1, 0]], [[0, 1]], [[1]], [[0]], [[1]]
    second = [[2, -1]], [[0, 1]], [[1, 1]], [[0]], [[1]], [[0]]
    return [
        Example("the notebook's words and heads", (words, *parameters), _matrix(TWO_HEADS)),
        Example(
            "three words of two entries",
            (_matrix([[1, 0, 2], [0, 1, -1]]), *map(_matrix, (*first, *second, [[1, 1], [2, 0]]))),
            _matrix([[4.5752, 4.0, 4.8509], [5.1504, 4.0, 5.7019]]),
        ),
    ]


# --- counting, which earns no points ----------------------------------------------------------------------------------

# Three maps from 512 entries to 512, and a sentence of ten words.
OF_THE_MAPS = {
    786_432: "Those are the matrices alone. Each of the three maps also has a bias, with 512 entries.",
    786_435: "A bias is a vector: each of the three has 512 entries, not one.",
    786_944: "That is with one bias for all three maps. Each has its own bias.",
    262_656: "That is one map: a matrix and its bias. There are three.",
    262_144: "That is a single matrix, without a bias. There are three of them, and three biases.",
    3_072: "A matrix that maps 512 entries to 512 has 512 rows and 512 columns, so 512 · 512 numbers.",
    1_536: "Those are the biases alone. The matrices are missing.",
    7_879_680: "The number of words does not matter: the same three maps serve all ten.",
    7_864_320: "The number of words does not matter: the same maps serve all ten. And the biases are missing.",
    15_360: "Those are the entries of the ten queries, keys and values. Count the weights and biases that make them.",
}
# The dot products of 1000 queries with 1000 keys, of 64 entries each.
OF_ALL_SCORES = {
    1_000_000: "That is the number of scores. Each of them is a dot product, which takes 64 multiplications.",
    64_000: "That is what a single query takes. There are 1000.",
    63_936_000: "Each query also meets the key of its own word.",
    63_000_000: "A dot product of 64 entries takes 64 multiplications. Only the number of additions is one less: 63.",
    32_000_000: "That counts every pair of words once. Query 1 with key 2 and query 2 with key 1 are two different "
    "scores.",
    127_000_000: "That counts the additions, too.",
    128_000_000: "That counts two for each pair of entries. Each has one multiplication and, nearly always, one "
    "addition.",
    65_000_000: "That counts a division for each score, too. Count only the product of the matrices.",
    4_096_000: "That is what it takes to multiply all words by a 64 × 64 matrix such as W_q.",
    256_000_000: "That is for 2000 words.",
}
OF_TWICE_THE_WORDS = {
    2: "There are twice as many queries, but each of them also meets twice as many keys.",
    3: "That is only the increase. Add the multiplications for the first 1000 words, too.",
    8: "For that, each vector would have to be twice as long, too. It still has 64 entries.",
    256_000_000: "That is the number of multiplications. How many times the number for 1000 words is it?",
}

_checks = Checks(
    Entry(1, "compute_qkv", _qkv),
    Entry(2, "attention_scores", _scores),
    Entry(3, "softmax", _softmax),
    Entry(4, "attention_weights", _weights, builds_on=(3,)),
    Entry(5, "weighted_sums", _sums),
    Entry(6, "self_attention", _attention, builds_on=(2, 3, 4, 5)),
    Entry(7, "scaled_dot_product_self_attention", _matrix_form),
    Entry(8, "multihead_scaled_self_attention", _heads),
    Number("numbers in the weights and biases", 3 * (512 * 512 + 512), OF_THE_MAPS),
    Number("multiplications for all scores", 1000 * 1000 * 64, OF_ALL_SCORES),
    Number("times as many for twice the words", 4, OF_TWICE_THE_WORDS),
)
check, check_number, explain = _checks.check, _checks.check_number, _checks.explain
hint, solved = _checks.hint, _checks.solved
