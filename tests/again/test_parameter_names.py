"""A class whose parameters have other names is asked again under these names: half, if all else is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from grader.again.parameter_names import OTHER_NAMES, variants_by_parameters
from grader.model.answer import UNCHANGED, Returned
from grader.model.verdict import Verdict
from support.our_course import EXERCISES
from support.records import Piece, judging
from support.solution_cells import of_notebook

pytestmark = pytest.mark.slow

Judged = Callable[[int, dict[str, str]], Verdict]


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    """The verdict on a solution in which some words are written otherwise."""
    with judging() as verdict_on:

        def verdict(number: int, changes: dict[str, str]) -> Verdict:
            cell = of_notebook(EXERCISES[number].assignment)[number]
            for words, others in changes.items():
                assert words in cell
                cell = cell.replace(words, others)
            return verdict_on(Piece(number, "wrong/other_names", cell))

        yield verdict


RENAMED = {
    "one name in the plural": (12, {"self.W_key": "self.W_keys"}, "Rename W_keys to W_key."),
    "all names shortened": (
        12,
        {"self.W_query": "self.Wq", "self.W_key": "self.Wk", "self.W_value": "self.Wv"},
        "Rename Wq to W_query, Wk to W_key and Wv to W_value.",
    ),
    "layers, with and without biases": (16, {"self.W_query": "self.query"}, "Rename query to W_query."),
    "a layer with a bias": (18, {"self.out_proj": "self.projection"}, "Rename projection to out_proj."),
    "layers of two sequences": (19, {"self.fc_out": "self.out"}, "Rename out to fc_out."),
    "a vector": (23, {"self.weight": "self.g"}, "Rename g to weight."),
}


@pytest.mark.parametrize(("number", "changes", "renamed"), RENAMED.values(), ids=RENAMED)
def test_class_right_but_for_parameter_names_earns_half(
    number: int, changes: dict[str, str], renamed: str, judged: Judged
) -> None:
    verdict = judged(number, changes)
    assert (verdict.credit, verdict.misconceptions) == (0.5, (OTHER_NAMES,))
    assert verdict.sentences == (
        f"{renamed} Your parameters need the names in the text: weights are loaded by name.",
        "Apart from that, your code gives the right numbers.",
    )


def test_other_parameter_names_beside_a_mistake_are_both_named(judged: Judged) -> None:
    verdict = judged(23, {"self.weight": "self.gamma", ".mean(dim=-1": ".sum(dim=-1"})
    assert (verdict.credit, verdict.misconceptions) == (0.25, (OTHER_NAMES, "sum of squares"))


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        pytest.param(12, {"self.W_value = nn.Parameter(torch.rand(d_in, d_out))": "pass"}, id="a missing one"),
        pytest.param(
            12,
            {
                "self.W_key": "self.W_keys",
                "W_keys = nn.Parameter(torch.rand(d_in, d_out": "W_keys = nn.Parameter(torch.rand(d_out, d_in",
                "k = x @ self.W_keys": "k = x @ self.W_keys.T",
            },
            id="one of another shape",
        ),
    ],
)
def test_missing_or_misshaped_parameter_is_not_called_renamed(
    number: int, changes: dict[str, str], judged: Judged
) -> None:
    assert OTHER_NAMES not in judged(number, changes).misconceptions


def test_ambiguous_parameter_names_name_no_other_mistake(judged: Judged) -> None:
    layers = {
        "self.W_query": "self.first_key_like", "self.W_key": "self.then_query_like", "self.W_value": "self.third",
    }  # fmt: skip
    assert judged(12, layers).misconceptions == (OTHER_NAMES,)
    assert judged(12, layers | {"scores = scores / math.sqrt(k.shape[-1])": "pass"}).misconceptions == ()


ARRAY, TENSOR = np.ones(2), torch.ones(2)
FORGED = [{"a": ARRAY, "b": ARRAY, "c": ARRAY}, {"a": TENSOR, "b": TENSOR, "c": [TENSOR]}, ["W"], None]


@pytest.mark.parametrize("shapes", FORGED, ids=str)
def test_variants_by_parameters_when_shapes_are_forged_are_none(shapes: Any) -> None:
    answer = Returned({"parameters": shapes}, UNCHANGED)
    cases = EXERCISES[12].sample()[:1]
    assert list(variants_by_parameters(EXERCISES[12], cases, lambda _: [answer])) == []
