"""Classes that hand a cache on, and functions that refuse arguments: how they are observed, and what is believed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.exercises.ex28_grouped_queries import Refusing
from grader.exercises.ex29_cached_attention import CACHE, OUTPUTS, stacked
from grader.exercises.ex29_cached_attention import run as run_in_chunks
from grader.judging.judge import Judge
from grader.model.forms.function import Malformed
from grader.model.forms.module import MODULE
from grader.model.verdict import Verdict
from support.answer_keys import answer_key
from support.small_notebooks import grade
from support.solution_cells import from_notebook, notebook, run, undisturbed


def verdict(number: int, *changes: tuple[str, str]) -> Verdict:
    """On the notebook's solution with some of its text changed."""
    source = from_notebook()[number]
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    key = answer_key(number)
    with undisturbed():
        ask = run(source, key.exercise, notebook(number))
        return Judge().verdict(key, [ask(case.inputs) for case in key.cases])


RETURNED = "return context, cache"


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [(RETURNED, "return [context, [k, v]]")],
        [(RETURNED, "return context, torch.stack([k, v])")],
        [(RETURNED, "return context, (k.clone(), v.contiguous())")],
    ],
)
def test_cache_as_pair_list_or_stack_is_right(changes: list[tuple[str, str]]) -> None:
    found = verdict(29, *changes)
    assert found.right, found.sentences


def test_state_that_a_module_keeps_is_observed() -> None:
    found = verdict(
        29,
        ("past_k, past_v = cache", "past_k, past_v = self.kept"),
        (RETURNED, "self.kept = (k, v)\n        return context, (k, v)"),
    )
    assert found.misconceptions == ("cache kept by the module, until a new text",)


@pytest.mark.slow
def test_argument_cache_that_is_modified_costs_marks() -> None:
    """Also where new numbers are written into its tensors."""
    assert (
        verdict(29, (RETURNED, "if cache is not None: cache[0].mul_(1.5)\n        return context, (k, v)")).credit < 1
    )


@pytest.mark.parametrize(
    "returned",
    [
        "return context",
        "return context, None",
        "return context, 5",
        "return context, (k,)",
        "return context, (k, v, 1)",
        "return context, (k, v[:, :1])",
    ],
)
def test_value_that_is_no_cache_costs_marks_without_stopping_the_run(returned: str) -> None:
    found = verdict(29, (RETURNED, returned))
    assert found.credit < 1
    assert found.sentences


HOSTILE = {
    "a cache without end": "return context, [k] * 10**6",
    "a cache that says it is a tensor": "return context, type('T', (), {'__class__': torch.Tensor})()",
    "keys of another kind": "return context, (k.to(torch.complex64), v.to(torch.complex64))",
    "sparse keys": "return context, (k.to_sparse(), v.to_sparse())",
}


@pytest.mark.slow
@pytest.mark.parametrize("returned", HOSTILE.values(), ids=HOSTILE)
def test_hostile_caches_get_no_marks_without_stopping_the_run(returned: str) -> None:
    """In a sandbox, as students' code is run."""
    imports = "import math\nimport torch\nfrom torch import nn"
    verdicts, _ = grade(imports, from_notebook()[29].replace(RETURNED, returned), 29)
    assert verdicts[29].credit < 1


def test_run_begins_with_a_cache_in_the_form_of_the_student_code() -> None:
    given: list[Any] = []

    class Stacking(torch.nn.Module):
        def forward(self, x: torch.Tensor, cache: Any = None) -> Any:
            given.append(cache)
            return x, torch.zeros(2, 1, 1, 1, 1)

    keys, values = torch.ones(2, 1, 1, 3, 4)
    run_in_chunks(Stacking(), torch.zeros(1, 3, 4), [2, 1], OUTPUTS, keys, values)
    assert given[0] is None
    assert torch.equal(given[1], torch.stack([keys, values]))


def test_value_that_is_no_pair_of_tensors_is_read_as_empty() -> None:
    ones = torch.ones(2)
    for cache in (None, 3, "kv", [ones], (ones, 1), (ones, torch.ones(3))):
        assert stacked(cache).numel() == 0
    assert stacked((torch.ones(3), torch.zeros(3))).shape == (2, 3)
    assert CACHE != OUTPUTS


@pytest.mark.parametrize("value", [None, [], {"outputs": {}}, {"error": "ValueError"}])
def test_cached_when_observation_is_forged_is_malformed(value: Any) -> None:
    with pytest.raises(Malformed):
        MODULE.observed(value)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("got", "is_right"),
    [
        ({"error": "ValueError"}, True),
        ({"error": "another"}, False),
        ({"error": ""}, False),
        ({"error": 1}, False),
        (torch.ones(2), False),
        (None, False),
    ],
)
def test_only_a_value_error_counts_as_a_refusal(got: Any, is_right: bool) -> None:
    assert (Refusing().finding(got, {"error": "ValueError"}, 1e-5) is None) == is_right


def test_subclass_of_value_error_counts_as_a_refusal() -> None:
    own = 'raise type("NoMultiple", (ValueError,), {})('
    assert verdict(28, ("raise ValueError(", own)).right


def test_missing_refusal_is_named_beside_wrong_numbers() -> None:
    """Or the page would say that everything else is right."""
    found = verdict(28, (" / math.sqrt(d)", ""), ("raise ValueError(", "raise TypeError("))
    assert found.misconceptions == ("another error than ValueError", "not scaled")


@pytest.mark.slow
def test_merge_with_detached_maximum_is_right() -> None:
    assert verdict(31, ("m = torch.maximum(m1, m2)", "m = torch.maximum(m1, m2).detach()")).right
    detached = verdict(31, ("torch.exp(m1 - subtracted)", "torch.exp(m1.detach() - subtracted)"))
    assert not detached.right
    assert isinstance(answer_key(31).expected[0], tuple)
