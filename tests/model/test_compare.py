"""The comparison that checks and grader share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from grader.model.compare import describe_form, difference
from support.places import ROOT

MATRIX = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
SQUARE = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_released_compare_module_equals_that_of_the_grader() -> None:
    """One implementation: the file beside the released notebook is a copy of the grader's."""
    own = ROOT / "grader/model/compare.py"
    assert (ROOT / "release/self_attention/compare.py").read_bytes() == own.read_bytes()


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (MATRIX, MATRIX),
        (MATRIX.double(), MATRIX),
        (MATRIX + 1e-6, MATRIX),
        (list(MATRIX), list(MATRIX)),
        (MATRIX, list(MATRIX)),
        (tuple(MATRIX), list(MATRIX)),
        (torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0])),
        (np.float32(2.0), 2.0),
        (np.array([2.0]), 2.0),
        (2, 2.0),
        (torch.tensor([[2]]), 2.0),
        ([[1.0, -torch.inf]], [[1.0, -torch.inf]]),
        ([], []),
    ],
)
def test_difference_of_equal_answers_is_none(got: Any, want: Any) -> None:
    assert difference(got, want, 1e-5) is None


@pytest.mark.parametrize(
    ("got", "want", "kind", "words"),
    [
        (MATRIX.T, MATRIX, "transposed", "(3, 2), but (2, 3)"),
        (SQUARE.T, SQUARE, "transposed", "swapped"),
        ([[1.0, 3.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], "transposed", "swapped"),
        (MATRIX.reshape(6), MATRIX, "shape", "(6,), but (2, 3)"),
        (MATRIX + 1, MATRIX, "value", "result[0, 0] is the first wrong number. The largest error is about 1."),
        (3.5, 1.5, "value", "the result is off by about 2."),
        ([MATRIX, MATRIX * 2], [MATRIX, MATRIX], "value", "result[1][0, 0]"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "length", "list of 2"),
        (MATRIX.tolist(), MATRIX, "type", "a torch tensor was expected"),
        (MATRIX.numpy(), MATRIX, "type", "numpy.ndarray"),
        (MATRIX + torch.nan, MATRIX, "nan", "NaN"),
        (MATRIX.to(torch.complex64), MATRIX, "complex", "complex"),
        (True, 1.0, "type", "bool"),
        ("1.0", 1.0, "type", "str"),
        ({"a": 1}, MATRIX, "type", "dict"),
        (None, [1.0], "type", "None"),
        ([1.0, -torch.inf], [1.0, 2.0], "nan", "infinity"),
        ([1.0, torch.inf], [1.0, -torch.inf], "nan", "infinity"),
    ],
)
def test_difference_says_kind_and_words(got: Any, want: Any, kind: str, words: str) -> None:
    found = difference(got, want, 1e-5)
    assert found is not None
    assert found.kind == kind
    assert words in found.sentence()


def test_difference_sentence_hides_expected_numbers() -> None:
    found = difference(torch.tensor([1.2345]), torch.tensor([9.8765]), 1e-5)
    assert found is not None
    assert "9.8765" not in found.sentence()
    assert found.numbers == "expected 9.8765, your code gave 1.2345"


def test_difference_measures_errors_on_the_scale_of_the_answer() -> None:
    """Terms near 100 that cancel leave an error near 1e-5 in a small result."""
    assert difference([100.0, 1e-5], [100.0, 0.0], 1e-6) is None
    assert difference([1.0, 1e-5], [1.0, 0.0], 1e-6) is not None


@pytest.mark.parametrize(
    ("got", "want"),
    [(MATRIX, list(MATRIX)), (torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0]))],
)
def test_difference_when_strict_compares_types_and_shapes(got: Any, want: Any) -> None:
    assert difference(got, want, 1e-5, strict=True) is not None


def test_describe_form_in_words() -> None:
    assert describe_form([MATRIX, MATRIX]) == "a list of 2 items (each a tensor of shape (2, 3))"
    assert describe_form(torch.tensor(1.0)) == "a tensor with one number"
    assert describe_form([]) == "an empty list"
    assert describe_form((1.0, MATRIX)) == "a tuple of 2 items of different forms"


def test_difference_beside_infinity_still_finds_errors() -> None:
    want = torch.tensor([1.0, float("-inf"), 2.0])
    assert difference(torch.tensor([1.0, float("-inf"), 2.0]), want, 1e-5) is None
    assert difference(torch.tensor([1.0, float("-inf"), 3.0]), want, 1e-5) is not None


def test_right_numbers_is_true_only_if_all_are_right() -> None:
    """The first one's shape is wrong; the others may be anything."""
    want = [torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [4.0]])]
    rows = [one.mT for one in want]
    wrong = difference([rows[0], torch.zeros(2, 1)], want, 1e-5)
    right = difference([rows[0], want[1]], want, 1e-5)
    assert wrong is not None
    assert right is not None
    assert not wrong.right_numbers
    assert right.right_numbers


def test_difference_with_zero_tolerance_keeps_all_digits() -> None:
    """Where nothing at all may differ, as for an input that must not be changed."""
    assert difference([0.1, [-2.886872]], [0.1, [-2.886872]], 0.0) is None
