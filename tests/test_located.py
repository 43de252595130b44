"""Where nothing names a mistake, the line is told in which it lies: the student's own code, changed there, is right."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import nbformat
import pytest
from mutator import mutants
from our_course import EXERCISES, OURS, of_assignment
from part import ALL
from solution_cells import corpus, from_notebook, functions
from solution_cells import source as source_notebook

from grader.judging.answer_key import AnswerKey
from grader.judging.edits import edits_of
from grader.judging.judge import judge_by
from grader.judging.locating import Repair
from grader.judging.student_text import StudentText, definitions_in
from grader.model.answer import Answer, Lost, Missing, Returned
from grader.model.edited import EditedSource
from grader.model.exercise import DEFAULT_SEED, Exercise, SampledCase
from grader.model.located import Change
from grader.model.verdict import Reason, Verdict
from grader.running.grading import grade_notebook
from grader.running.limits import Limits
from grader.running.sandbox_process import SandboxProcess
from grader.running.trial import Trial

STYLES, MUTANTS = 2, 3 if ALL else 2  # of each exercise, and of each style

BEFORE = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"

TWO_SPOTS = """
def softmax_stable(x, dim=-1):
    largest = x.max(dim=dim, keepdim=True).values
    shifted = largest - x
    powers = torch.exp(shifted)
    total = powers.sum(dim=dim, keepdim=True) ** 3
    return powers / total
"""
AXES = """
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    largest = scores.max(dim=-1, keepdim=True).values
    powers = torch.exp(scores - largest)
    weights = powers / powers.sum(dim=-1, keepdim=True) ** 2
    return weights @ inputs
"""


TWO_HEADS = """
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    q1, k1, v1 = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    q2, k2, v2 = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    s1 = torch.softmax(k1.T @ q1 / math.sqrt(k1.shape[0]), dim=0)
    s2 = torch.softmax(k2.T @ q2 / math.log(k2.shape[0] + 2) ** 0.7, dim=0)
    return W_c @ torch.cat([v1 @ s1, v2 @ s2])
"""
THREE = """
def all_context_vectors(inputs):
    scores = inputs @ inputs.T / inputs.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return (weights @ inputs).T
"""


def verdict_on(source: str, number: int) -> Verdict:
    earlier = [from_notebook()[one] for one in range(9, number)] if number >= 9 else []
    cells = [nbformat.v4.new_code_cell(text) for text in (BEFORE, *earlier, source)]
    tested = {"grade_id": f"test-exercise-{number}", "grade": True, "points": 4}
    cells.append(nbformat.v4.new_code_cell("", metadata={"nbgrader": tested}))
    (verdict,) = grade_notebook(nbformat.v4.new_notebook(cells=cells), settings=OURS)
    return verdict


def test_the_line_is_told_and_never_the_change() -> None:
    verdict = verdict_on(AXES, 11)
    assert [place.line for place in verdict.located] == ["weights = powers / powers.sum(dim=-1, keepdim=True) ** 2"]
    assert verdict.reason == Reason.LOCATED
    assert verdict.sentences[0].startswith("With one small change in the line `weights = powers /")
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_two_mistakes_have_two_lines() -> None:
    verdict = verdict_on(TWO_SPOTS, 10)
    assert {place.line for place in verdict.located} == {
        "shifted = largest - x",
        "total = powers.sum(dim=dim, keepdim=True) ** 3",
    }


def test_of_two_copied_lines_the_one_that_differs_is_told() -> None:
    lines = TWO_HEADS.splitlines()
    wrong = next(line for line in lines if line.startswith("    s2")).strip()
    verdict = verdict_on(TWO_HEADS, 8)
    assert [(place.line, place.change) for place in verdict.located] == [(wrong, Change.COPIED)]


def test_three_known_mistakes_at_once_have_three_names() -> None:
    verdict = verdict_on(THREE, 11)
    assert verdict.misconceptions == ("scaled by √d", "softmax down the columns", "result transposed")
    assert verdict.sentences[0] == "Three things at once:"
    assert verdict.located == ()


@pytest.mark.parametrize(
    ("source", "credit"),
    [
        pytest.param(AXES, 0.5, id="four of five statements are right"),
        pytest.param("def all_context_vectors(inputs):\n    return inputs @ inputs.T / inputs", 0, id="one line"),
    ],
)
def test_only_code_that_is_mostly_right_earns_by_its_line(source: str, credit: float) -> None:
    assert verdict_on(source, 11).credit == credit


def test_right_code_and_what_has_a_name_are_not_searched() -> None:
    assert verdict_on(from_notebook()[11], 11).located == ()
    named = verdict_on(AXES.replace(" ** 2", "").replace("scores = inputs @", "scores = inputs @ inputs.T @"), 11)
    assert named.credit < 1


def test_what_hangs_or_breaks_when_it_is_changed_costs_nobody_anything() -> None:
    source = AXES.replace("    scores =", "    n = 3\n    while n > 0:\n        n = n - 1\n    scores =")  # n + 1, too
    assert [place.change for place in verdict_on(source, 11).located] == [Change.NUMBER]


def test_a_search_that_takes_too_long_leaves_the_verdict_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judging.locating.SECONDS", 0.0)
    verdict = verdict_on(TWO_SPOTS, 10)
    assert (verdict.reason, verdict.located) == (Reason.WRONG, ())
    assert "first wrong number" in verdict.sentences[0]


def test_nothing_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, int]] = []
    ask = Trial.ask

    def noted(trial: Trial, versions: Sequence[EditedSource], case: SampledCase) -> list[Answer]:
        asked.extend((version.source, repr(version.lent), id(case)) for version in versions if len(versions) > 1)
        return ask(trial, versions, case)

    monkeypatch.setattr(Trial, "ask", noted)
    source = "def softmax_stable(x, dim=-1):\n    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))\n    return x\n"
    assert verdict_on(source, 10).located == ()
    assert len(asked) > 500
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("number", EXERCISES)
def test_every_change_of_a_right_solution_can_be_read(number: int) -> None:
    text = StudentText(definitions_in(from_notebook()[number]))
    edits = edits_of(text)
    assert len(edits) > 50
    assert edits == sorted(edits, key=lambda edit: edit.cost)
    for edit in edits:
        compile(text.with_splices(*edit.splices), "changed", "exec")


@pytest.mark.parametrize("source", ["def f(:", "x = " + "(" * 5000, "%matplotlib inline\n", "", "#" * 30_000])
def test_what_cannot_be_read_is_not_searched(source: str) -> None:
    verdict = verdict_on(f"{source}\ndef all_context_vectors(inputs):\n    return inputs * 2\n", 11)
    assert verdict.credit == 0


@dataclass
class Tally:
    """Of the mutants that nothing names: how many have their own line told, another one, or none."""

    own: int = 0
    others: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    all: int = 0


@pytest.fixture(scope="module")
def tally() -> Tally:
    """Some mutants of right solutions of the first three assignments in many styles: the same for everybody."""
    found = Tally()
    for number in range(1, 20):
        for exercise in functions(number).values():
            _tell(exercise, found)
    return found


def _tell(exercise: Exercise, found: Tally) -> None:
    key = AnswerKey(exercise, exercise.sample(DEFAULT_SEED))
    for line, source in some_mutants(exercise):
        with closing(Trial(lambda: SandboxProcess({}, Limits()), given_cells(exercise), key, {})) as trial:
            answers = [trial.ask([EditedSource(source)], case)[0] for case in key.cases]
            verdict = judge_by(key, answers)
            if verdict.right or any(isinstance(answer, Lost | Missing) for answer in answers):
                continue
            found.all += 1
            returned = any(isinstance(answer, Returned) and answer.value is not None for answer in answers)
            # That nothing is returned is told, and a cause.
            unnamed = not verdict.misconceptions and verdict.reason in (Reason.WRONG, Reason.ERROR, Reason.CONSTANT)
            if unnamed and (returned or verdict.reason == Reason.ERROR):
                repair = trial.explain(source, "cpu")
                _note(found, source.splitlines()[line - 1].strip(), repair, verdict)


def _note(found: Tally, line: str, repair: Repair | Verdict | None, verdict: Verdict) -> None:
    if isinstance(repair, Verdict):  # a mutant has one mistake, not three
        found.others.append(f"{verdict.exercise}: {line} | {repair.misconceptions}")
        return
    told = [place.line for place in repair.located] if repair else []
    if line in told:
        found.own += 1
    elif told:
        found.others.append(f"{verdict.exercise}: {line} | {told}")
    elif verdict.reason != Reason.ERROR:  # which shows the line where it stopped
        found.unexplained.append(f"{verdict.exercise}: {line}")


def given_cells(exercise: Exercise) -> list[str]:
    """What a solution finds defined."""
    cells = source_notebook(exercise.assignment).cells
    given = [
        cell.source for cell in cells if str(cell.metadata.get("nbgrader", {}).get("grade_id")).startswith("given-")
    ]
    earlier = [one.number for one in of_assignment(exercise.assignment) if one.number < exercise.number]
    return [BEFORE, "import numpy as np", *given, *(from_notebook()[one] for one in earlier)]


def some_mutants(exercise: Exercise) -> list[tuple[int, str]]:
    """The changed line and the changed solution, a few of each exercise."""
    chance = random.Random(exercise.entry)
    found = []
    for style in chance.sample(list(corpus(exercise.number).values()), STYLES):
        changed = list(mutants(ast.unparse(ast.parse(style))))
        for described, mutant in chance.sample(changed, min(len(changed), MUTANTS)):
            match = re.match(r"line (\d+)", described)
            assert match
            found.append((int(match[1]), mutant))
    return found


def test_the_line_told_is_the_line_that_was_changed(tally: Tally) -> None:
    assert tally.own > 20
    assert len(tally.others) <= 0.05 * (tally.own + len(tally.others)), tally.others


def test_hardly_any_mutant_is_unexplained(tally: Tally) -> None:
    assert len(tally.unexplained) <= 0.03 * tally.all, tally.unexplained
