"""Decide whether a function is right without the grader: by its definition, in float64, on inputs of many sizes."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from grader.model.answer import Answer, Returned
from grader.model.exercise import Inputs
from oracles import classes, fast_attention, learning, modern_attention, transformer

TOLERANCE = 1e-4  # relative to the largest number in the answer


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    exp = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(exp / exp.sum(axis=axis, keepdims=True))


def qkv(words: Any, W_q: Any, W_k: Any, W_v: Any, b_q: Any, b_k: Any, b_v: Any) -> Any:
    return [[b + W @ x for x in words] for W, b in ((W_q, b_q), (W_k, b_k), (W_v, b_v))]


def scores(queries: Any, keys: Any) -> Any:
    return [[float(np.vdot(q, k)) / math.sqrt(q.size) for k in keys] for q in queries]


def weights(rows: Any) -> Any:
    return [softmax(np.array([float(score) for score in row])) for row in rows]


def sums(rows: Any, values: Any) -> Any:
    return [sum(w * v for w, v in zip(row, values, strict=True)) for row in rows]


def attention(queries: Any, keys: Any, values: Any) -> Any:
    return sums(weights(scores(queries, keys)), values)


def head(X: Any, W_v: Any, W_q: Any, W_k: Any, b_v: Any, b_q: Any, b_k: Any) -> Any:
    queries, keys, values = qkv(np.hsplit(X, X.shape[1]), W_q, W_k, W_v, b_q, b_k, b_v)
    return np.hstack(attention(queries, keys, values))


def two_heads(X: Any, *parameters: Any) -> Any:
    return parameters[-1] @ np.vstack([head(X, *parameters[:6]), head(X, *parameters[6:12])])


def masked(weights: Any) -> Any:
    kept = np.tril(weights)
    return kept / kept.sum(axis=1, keepdims=True)


def masked_softmax(scores: Any, d_k: int) -> Any:
    return softmax(np.where(np.tri(len(scores)) == 1, scores / math.sqrt(d_k), -np.inf))


def dropout(weights: Any, p: float, training: bool, dtype: torch.dtype) -> Any:
    return functools.partial(calls_right, weights, p if training else 0.0, dtype)


def calls_right(weights: Any, p: float, dtype: torch.dtype, values: Any) -> bool:
    """Whether calls are right, and drop different entries each time, and different numbers of them."""
    if not isinstance(values, dict):  # it could not be sent
        return False
    calls = [values["outputs"]["first"], values["outputs"]["second"], values["third"]]
    if not all(isinstance(one, torch.Tensor) and one.dtype == dtype for one in calls):
        return False
    if not has_slope(values["gradient"], weights, calls[2]):
        return False
    if p == 0:
        return all(np.array_equal(one.detach().double().numpy(), weights) for one in calls)
    numbers = {*values["zeros"], *(int((one == 0).sum()) for one in calls)}
    return all(dropped_well(weights, p, one) for one in calls) and is_chance(calls) and len(numbers) > 1


def is_chance(calls: list[torch.Tensor]) -> bool:
    return not any(torch.equal(one == 0, other == 0) for one, other in itertools.combinations(calls, 2))


def has_slope(gradient: Any, weights: Any, third: torch.Tensor) -> bool:
    """Whether the gradient of the sum is the factor of each entry."""
    if not isinstance(gradient, torch.Tensor):
        return False
    return np.allclose(gradient.double().numpy() * weights, third.detach().double().numpy(), rtol=TOLERANCE, atol=0)


def dropped_well(weights: Any, p: float, value: Any) -> bool:
    """Whether entries were dropped by chance alone, each with probability p, to six standard deviations."""
    if not isinstance(value, torch.Tensor) or value.shape != weights.shape:
        return False
    found = value.detach().double().numpy()
    gone = found == 0
    if not np.allclose(found, np.where(gone, 0, weights / (1 - p)), rtol=TOLERANCE, atol=0):
        return False
    surprise = (gone - p) / math.sqrt(p * (1 - p))  # mean 0 and variance 1, like products with a neighbor's
    neighbors = [surprise[1:] * surprise[:-1], surprise[..., 1:] * surprise[..., :-1]]
    by_size = surprise * (weights - weights.mean()) / weights.std()
    return all(abs(one.sum()) <= 6 * math.sqrt(one.size) for one in (surprise, by_size, *neighbors))


DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    1: qkv,
    2: scores,
    3: lambda items: softmax(np.array(items)),
    4: weights,
    5: sums,
    6: attention,
    7: head,
    8: two_heads,
    9: lambda words, query: np.array([np.vdot(word, query) for word in words]),
    10: softmax,
    11: lambda words: softmax(words @ words.T) @ words,
    14: masked,
    "causal_softmax": masked_softmax,
    15: dropout,
}


def columns(N: int, D: int) -> list[torch.Tensor]:
    return [torch.randn(D, 1) for _ in range(N)]


def keys(N: int, D: int) -> int:
    """The number of keys: as many as queries, or different."""
    return N if N % 2 else D


def parameters(d: int, D: int) -> list[torch.Tensor]:
    return [*(torch.randn(d, D) / D**0.5 for _ in range(3)), *columns(3, d)]


def any_rank(N: int, D: int) -> Inputs:
    """One to four dimensions, small and large numbers, and `dim` from either end or left out."""
    shape = [(N,), (N, D), (2, N, D), (D, 2, N, 3)][(N + D) % 4]
    x = torch.randn(shape) * 10.0 ** (D % 4) + 10.0 ** (N % 3)
    return (x,) if D == N else (x, random.Random(N * D).randrange(-len(shape), len(shape)))


INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    1: lambda N, D: (columns(N, D), *parameters(D, D)),
    2: lambda N, D: (columns(N, D), columns(keys(N, D), D)),
    3: lambda N, D: (torch.randn(N) * D / 3 if D % 2 else (torch.randn(N) * D / 3).tolist(),),
    4: lambda N, D: ([list(row) for row in torch.randn(N, keys(N, D)) * D / 4],),
    5: lambda N, D: (list(torch.softmax(torch.randn(N, keys(N, D)), dim=1)), columns(keys(N, D), D)),
    6: lambda N, D: (columns(N, D), columns(keys(N, D), D), columns(keys(N, D), D)),
    7: lambda N, D: (torch.randn(D, N), *parameters(D, D)),
    8: lambda N, D: (torch.randn(D, N), *parameters(D // 2, D), *parameters(D // 2, D), torch.randn(D, D)),
}
# Scores of exactly 0, hidden and seen, are among those of exercise 14: a mask must not be made of the scores.
INPUTS |= {
    9: lambda N, D: (torch.randn(N, D), torch.randn(D)),
    10: any_rank,
    11: lambda N, D: (torch.randn(N, D) / D**0.25,),
    14: lambda N, D: (torch.softmax(torch.randn(N, N) * D / 3, dim=1),),
    "causal_softmax": lambda N, D: (torch.randn(N, N) * D if N % 2 else (torch.randn(N, N) * D / 2).round(), D),
    15: lambda N, D: (torch.rand(*[D // 2] * (N % 3), 5 * N, 8 * D) + 0.1, D / 10, N % 4 > 0),
}
# Scores of ±10⁴, so far apart that rounding does not decide which is the largest.
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    10: lambda N, D: (apart(N, D), -1),
    11: lambda N, D: (along_a_line(N, D),),
    "causal_softmax": lambda N, D: (apart(N, N), D),
}
for later in (transformer, fast_attention, modern_attention):
    DEFINITIONS |= later.DEFINITIONS
    INPUTS |= later.INPUTS
    LARGE |= later.LARGE
# Pieces of models: shape, dtype and gradients count.
PIECES = (
    9,
    10,
    11,
    14,
    "causal_softmax",
    *transformer.DEFINITIONS,
    *fast_attention.DEFINITIONS,
    *(name for name in modern_attention.DEFINITIONS if name not in modern_attention.OF_ANY_TYPE),
)

# With one word, there may be nothing to predict, and gradients are only rounding errors.
MORE_THAN_ONE = (25, "next_token_loss", 33)


def apart(*shape: int) -> torch.Tensor:
    numbers = math.prod(shape)
    return (torch.randperm(numbers).reshape(shape) + 0.3) * 2e4 / numbers - 1e4  # none is zero


def along_a_line(words: int, d: int) -> torch.Tensor:
    return classes.lengths(words)[:, None] * torch.rand(d).add(1)


FORMS: dict[int | str, list[Callable[[torch.Tensor], Any]]] = {
    4: [torch.clone, lambda score: score.reshape(1, 1), float]
}


def draw(number: int | str) -> list[Inputs]:
    if number in classes.MODULES:
        torch.manual_seed(number)
        return classes.draw(number)
    if number in learning.NUMBERS:
        torch.manual_seed(number)
        return learning.draw(number)
    smallest = 1 if number in PIECES and number not in MORE_THAN_ONE else 2
    sizes = [(N, D) for N in range(smallest, 10) for D in range(2, 10) if number != 8 or D % 2 == 0]
    random.Random(number).shuffle(sizes)
    torch.manual_seed(number if isinstance(number, int) else 0)
    drawn = [INPUTS[number](N, D) for N, D in sizes]
    drawn += [LARGE[number](N, D) for N, D in sizes[:6] if number in LARGE]
    if number in (*PIECES, 15):
        drawn += [tuple(map(classes.as_double, given)) for given in drawn[:6]]
    if number in PIECES and number not in (*fast_attention.WITHOUT_SLOPES, *modern_attention.WITHOUT_SLOPES):
        drawn += [(*given, {"gradients": True}) for given in drawn[:6] if has_slopes_everywhere(given)]
    if number in fast_attention.REFUSED:
        drawn += [fast_attention.REFUSED[number](N, D) for N, D in sizes[:3]]
    return drawn


def has_slopes_everywhere(given: Inputs) -> bool:
    """Whether gradients can be checked: not if a piece is empty, or without tensors."""
    tensors = [one for one in given if isinstance(one, torch.Tensor)]
    return bool(tensors) and all(bool(one.isfinite().all()) for one in tensors)


def in_form(value: Any, form: Callable[[torch.Tensor], Any]) -> Any:
    """The nested list with every number in this form."""
    return [in_form(item, form) for item in value] if isinstance(value, list) else form(value)


def float64(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.double().numpy() if value.is_floating_point() else value.tolist()
    return [float64(item) for item in value] if isinstance(value, list) else value


def wanted_of(number: int | str, given: Inputs) -> Any:
    """The right result, or, for classes and random results, a function that recognizes a right one."""
    if number in classes.MODULES:
        return classes.Wanted(number, given)
    if number in learning.NUMBERS:
        return learning.wanted_of(number, given)
    if isinstance(given[-1], dict) and "refuses" in given[-1]:
        return functools.partial(operator.eq, {"error": "ValueError"})
    if number in PIECES and isinstance(given[-1], dict):
        told = fast_attention.SLOPES.get(number, DEFINITIONS[number])
        return functools.partial(has_slopes, slopes(told, [float64(one) for one in given[:-1]]))
    if number == 15:
        weights, p, training = given
        return dropout(float64(weights), p, training, weights.dtype)
    value = DEFINITIONS[number](*map(float64, given))
    kind = given[0].dtype if isinstance(given[0], torch.Tensor) else torch.float32
    rough = transformer.SIXTEEN_BITS.get(kind, transformer.ROUGHLY.get(number, TOLERANCE))
    return functools.partial(is_piece, value, kind, tolerance=rough) if number in PIECES else value


def is_piece(want: Any, dtype: torch.dtype, value: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether a result, or each of several, has these numbers and exactly this shape and type."""
    if isinstance(want, tuple):
        several = isinstance(value, list | tuple) and len(value) == len(want)
        return several and all(is_piece(one, dtype, each, tolerance) for one, each in zip(want, value, strict=True))
    if not isinstance(value, torch.Tensor) or value.dtype != dtype or tuple(value.shape) != want.shape:
        return False
    found, finite = value.detach().double().numpy(), np.isfinite(want)
    near = np.abs(found[finite] - want[finite]) <= tolerance * np.abs(want[finite]).max(initial=0.0)
    return bool(near.all()) and np.array_equal(found[~finite], want[~finite])


def slopes(definition: Callable[..., Any], given: list[Any]) -> dict[str, np.ndarray]:
    """The gradients of a weighted sum of the result, or of all results, for each array, by finite differences."""

    def height() -> float:
        returned = definition(*given)
        arrays = returned if isinstance(returned, tuple) else (returned,)
        result = np.concatenate([array.reshape(-1) for array in arrays])
        return float(result @ np.cos(np.arange(result.size)))

    return {str(index): slope(array, height) for index, array in enumerate(given) if isinstance(array, np.ndarray)}


def slope(array: np.ndarray, height: Callable[[], float], step: float = 1e-6) -> np.ndarray:
    found = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        was = array[place]
        array[place] = was + step
        above = height()
        array[place] = was - step
        found[place] = (above - height()) / (2 * step)
        array[place] = was
    return found


def has_slopes(want: dict[str, np.ndarray], value: Any) -> bool:
    """Whether gradients are these, with a tolerance relative to the largest number in all, as for classes."""
    found = value.get("gradients", {}) if isinstance(value, dict) else {}
    pairs = [(found.get(name), slope) for name, slope in want.items()]
    scale = max(float(np.abs(slope).max()) for slope in want.values())
    return all(
        not slope.any()
        if got is None
        else isinstance(got, torch.Tensor)
        and bool((np.abs(got.double().numpy() - slope) <= 10 * TOLERANCE * scale + 1e-7).all())
        for got, slope in pairs
    )


class Oracle:
    def __init__(self, number: int | str) -> None:
        forms = FORMS.get(number, [])
        inputs = draw(number)
        alternatives = [[tuple(in_form(one, form) for one in given) for given in inputs] for form in forms]
        wanted = [wanted_of(number, given) for given in inputs]
        self.alternatives = [list(zip(given, wanted, strict=True)) for given in alternatives or [inputs]]

    def accepts(self, ask: Callable[[Inputs], Answer]) -> bool:
        """Whether a function is right for all inputs, in at least one of their forms."""
        return any(self._all_right(pairs, ask) for pairs in self.alternatives)

    def _all_right(self, pairs: list[tuple[Inputs, Any]], ask: Callable[[Inputs], Answer]) -> bool:
        for index, (given, want) in enumerate(pairs):
            if not is_right(ask(given), given, want):
                pairs.insert(0, pairs.pop(index))  # this input often finds the next wrong function, too
                return False
        return True


def is_right(answer: Answer, given: Inputs, want: Any) -> bool:
    if not isinstance(answer, Returned):
        return False
    right = want(answer.value) if callable(want) else has_numbers(answer.value, want)
    return right and unchanged(answer.inputs_after, list(given))


def has_numbers(value: Any, want: Any) -> bool:
    pairs = list(paired(value, want))
    scale = max(float(np.abs(number).max()) for _, number in pairs)
    return all(got is not None and bool((np.abs(got - number) <= TOLERANCE * scale).all()) for got, number in pairs)


def unchanged(after: Any, before: Any) -> bool:
    if type(after) is not type(before):
        return False
    if isinstance(before, list):
        return len(after) == len(before) and all(map(unchanged, after, before))
    if isinstance(before, dict):
        return unchanged(list(after.values()), list(before.values()))
    return torch.equal(after, before) if isinstance(before, torch.Tensor) else after == before


def paired(got: Any, want: Any) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
    """Pairs of given and wanted numbers, with None for given ones in the wrong form."""
    if isinstance(want, list):
        items = list(got) if isinstance(got, list | tuple) or (isinstance(got, torch.Tensor) and got.dim()) else []
        for one, other in zip(items if len(items) == len(want) else [None] * len(want), want, strict=True):
            yield from paired(one, other)
    elif isinstance(want, float):
        single = isinstance(got, float) or (isinstance(got, torch.Tensor) and got.numel() == 1)
        yield np.array(float(got)) if single else None, np.array(want)
    else:
        column = (*want.shape, 1) if want.ndim == 1 else None
        fits = isinstance(got, torch.Tensor) and tuple(got.shape) in (want.shape, column)
        yield got.detach().double().numpy().reshape(want.shape) if fits else None, want
