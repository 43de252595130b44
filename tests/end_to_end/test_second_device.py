"""Grading on another device than the CPU, on one that second_device.py makes in the sandboxes. `make gpu` has more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from second_device import NAME

from grader.course.folder import Course
from grader.facts.device_facts import MADE
from grader.host import zygote_process
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.model.verdict import Reason, Verdict
from support.our_course import OURS
from support.solution_cells import of_notebook

pytestmark = pytest.mark.slow

ASSIGNMENT = "causal_attention"
MAKES_DEVICE = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
import second_device
second = second_device.make()
del sys.path[0]
"""
COLLECTED_IN_ZEROS = """
def all_context_vectors(inputs):
    vectors = torch.zeros(inputs.shape, dtype=inputs.dtype)
    for i, row in enumerate(torch.softmax(inputs @ inputs.T, dim=1)):
        vectors[i] = row @ inputs
    return vectors
"""
TIMES_IDENTITY = """
def all_context_vectors(inputs):
    identity = torch.eye(len(inputs), dtype=inputs.dtype)
    return torch.softmax(inputs @ inputs.T, dim=1) @ identity @ inputs
"""

Grade = Callable[[dict[Any, str]], dict[Any, Verdict]]


@pytest.fixture(scope="module")
def grade(released_course: Course, make_notebook: Callable[..., Any]) -> Iterator[Grade]:
    """`grade({11: source})`: the verdicts on these solutions, by exercise, on the second device."""
    settings = replace(OURS, device=NAME, limits=Limits(cell=60, case=30, submission=600))

    def verdicts(answers: dict[Any, str]) -> dict[Any, Verdict]:
        notebook = make_notebook(released_course, answers, ASSIGNMENT)
        return {verdict.exercise: verdict for verdict in grade_notebook(notebook, settings=settings)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zygote_process, "PROGRAM", zygote_process.PROGRAM.replace("main(", f"{MAKES_DEVICE}main("))
        zygote_process.close_zygote()
        yield verdicts
        zygote_process.close_zygote()


def test_solutions_on_second_device_earn_full_marks(grade: Grade) -> None:
    solutions = of_notebook(ASSIGNMENT)
    verdicts = grade(solutions)
    assert verdicts.keys() == solutions.keys()
    assert {number: verdict.sentences for number, verdict in verdicts.items() if not verdict.right} == {}


@pytest.mark.parametrize(
    ("code", "sentence"),
    [(COLLECTED_IN_ZEROS, "The numbers are right"), (TIMES_IDENTITY, "Your function stopped with RuntimeError")],
)
def test_tensor_on_cpu_is_named_and_right_once_on_device(code: str, sentence: str, grade: Grade) -> None:
    verdict = grade({11: code})[11]
    assert verdict.reason == Reason.WRONG_DEVICE
    assert verdict.misconceptions == (MADE,)
    assert verdict.sentences[0].startswith(sentence)
    assert grade({11: code.replace("dtype=inputs.dtype", "dtype=inputs.dtype, device=inputs.device")})[11].right
