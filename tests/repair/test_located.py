"""Where nothing names a mistake, the line is told in which it lies: the student's own code, changed there, is right.

The proof searches four hundred of what the mutator makes of right solutions.
"""

from __future__ import annotations

import ast
import math
import random
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest

from grader.facts.student_text import StudentText, definitions_in
from grader.host.grading import Grading, grade_notebook
from grader.host.limits import Limits, Time
from grader.host.sandbox_process import SandboxProcess
from grader.host.trial import MOST_LOST, Trial
from grader.host.zygote_process import ForkedProcess
from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge
from grader.model.answer import Answer, Lost, Missing, Returned
from grader.model.change import Change
from grader.model.edited import EditedSource
from grader.model.exercise import DEFAULT_SEED, Exercise, SampledCase
from grader.model.verdict import Reason, Verdict
from grader.repair.edits import edits_of
from grader.repair.locating import TrialEnded
from grader.repair.version import Version
from grader.sandbox import wire
from grader.sandbox.child import VERSION_CALLS
from support.corpus import corpus
from support.mutator import Mutant, mutants
from support.our_course import EXERCISES, OURS, of_assignment
from support.solution_cells import from_notebook, functions
from support.solution_cells import source as source_notebook

pytestmark = pytest.mark.slow

STYLES, MUTANTS = 3, 4  # of each exercise, and of each style

WORDS = re.compile(r"[A-Za-z_]\w*")
BESIDE_A_WORD = ("torch", "dim", "keepdim", "True", "False", "pass", "return", "not", "inf")

BEFORE = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"

AXES = corpus(11, "wrong")["squared_sum"]


SOFTMAX_PLUS_ONE = "def softmax_stable(x, dim=-1):\n    return torch.softmax(x, dim) + torch.exp(x) ** 2 + 0.1"


def verdict_on(source: str, number: int, *beside: str) -> Verdict:
    before = given_cells(EXERCISES[number].functions[0]) if number >= 9 else [BEFORE]
    cells = [nbformat.v4.new_code_cell(text, metadata={"nbgrader": {"locked": True}}) for text in before]
    cells += [nbformat.v4.new_code_cell(text) for text in (*beside, source)]
    cells.append(exercise_test_cell(number))
    (verdict,) = grade_notebook(nbformat.v4.new_notebook(cells=cells), settings=OURS)
    return verdict


def exercise_test_cell(number: int) -> Any:
    """The test of an exercise."""
    return nbformat.v4.new_code_cell(
        "", metadata={"nbgrader": {"grade_id": f"test-exercise-{number}", "grade": True, "points": 4}}
    )


def test_located_line_is_shown_without_the_change() -> None:
    verdict = verdict_on(AXES, 11)
    assert [place.line for place in verdict.located] == ["weights = powers / powers.sum(dim=-1, keepdim=True) ** 2"]
    assert verdict.reason == Reason.LOCATED
    assert verdict.sentences[0].startswith("One small change in the line `weights = powers /")
    assert Verdict.from_json(verdict.to_json()) == verdict


@pytest.mark.parametrize(
    ("source", "credit"),
    [
        pytest.param(AXES, 0.5, id="four of five statements are right"),
        pytest.param("def all_context_vectors(inputs):\n    return inputs @ inputs.T / inputs", 0, id="one line"),
    ],
)
def test_located_line_earns_credit_only_in_mostly_right_code(source: str, credit: float) -> None:
    assert verdict_on(source, 11).credit == credit


FLOORED = """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    values, queries, keys = [W @ X + b for W, b in [(W_v, b_v), (W_q, b_q), (W_k, b_k)]]
    return values @ torch.softmax(keys.T @ queries // queries.shape[0] ** 0.5, dim=0)
"""
ONE_CHANGE = [
    (7, FLOORED),
    (11, AXES.replace("    scores", "    out = torch.zeros_like(inputs)\n    scores", 1)),  # what is left of the stub
    (11, AXES),
    *(
        (number, corpus(number, "wrong")[name])
        for number, name in [
            (8, "another_scale_in_the_second"),
            (13, "key_never_made"),
            (10, "exp2_of_brackets"),
            (1, "keys_are_their_bias"),
            (10, "axis_not_given"),
            (24, "attention_for_think"),
        ]
    ),
]


@pytest.mark.parametrize(("number", "source"), ONE_CHANGE)
def test_small_change_in_one_line_earns_half_in_any_code(number: int, source: str) -> None:
    verdict = verdict_on(source, number)
    assert verdict.credit == 0.5
    assert "makes all values right" in " ".join(verdict.sentences)


@pytest.mark.parametrize("source", ["def softmax_stable(x, dim=-1):\n    return x.exp() * x.exp().sum(dim, True)"])
def test_located_change_of_much_of_the_function_is_not_small(source: str) -> None:
    verdict = verdict_on(source, 10)
    assert "makes all values right" not in " ".join(verdict.sentences)
    assert verdict.credit == 0


def test_right_code_and_named_mistakes_are_not_searched() -> None:
    assert verdict_on(from_notebook()[11], 11).located == ()
    named = verdict_on(AXES.replace(" ** 2", "").replace("scores = inputs @", "scores = inputs @ inputs.T @"), 11)
    assert named.credit < 1


def test_versions_that_hang_or_crash_do_not_change_the_verdict() -> None:
    source = AXES.replace("    scores =", "    n = 3\n    while n > 0:\n        n = n - 1\n    scores =")  # n + 1, too
    assert [place.change for place in verdict_on(source, 11).located] == [Change.NUMBER]


def test_search_goes_on_when_a_version_calls_a_function_endlessly() -> None:
    called: list[Any] = []

    def softmax(items_in: Any) -> Any:
        called.append(items_in)
        return EXERCISES[3].reference(items_in)

    head, right = "def attention_weights(all_attention_scores):\n    ", from_notebook()[4]
    endless = f"{head}for scores in all_attention_scores:\n        while True:\n            softmax(scores)"
    key = AnswerKey(EXERCISES[4], EXERCISES[4].sample(DEFAULT_SEED)[:1])
    with closing(
        Trial(lambda time: SandboxProcess({}, Limits(), time=time), Time(60, 5), [BEFORE], key, {"softmax": softmax})
    ) as trial:
        answers = trial.ask([EditedSource(source) for source in (endless, right, endless)], key.cases[0])
    assert [getattr(answer, "type", "returned") for answer in answers] == ["TimeoutError", "returned", "TimeoutError"]
    assert 2 * VERSION_CALLS < len(called) < 2 * VERSION_CALLS + 100


def test_search_that_takes_too_long_does_not_change_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.repair.locating.SECONDS", 0.0)
    verdict = verdict_on(AXES, 11)
    assert (verdict.reason, verdict.located) == (Reason.WRONG, ())
    assert "first wrong number" in verdict.sentences[0]


def test_locating_changes_nothing_after_the_line_of_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = versions_asked(monkeypatch)
    lines = [
        "def softmax_stable(x, dim=-1):",
        "    largest = x.max(dim=dim, keepdim=True)",
        "    powers = torch.exp(x - largest)",
        "    return powers / powers.sum(dim=dim, keepdim=True)",
    ]
    verdict = verdict_on("\n".join(lines), 10)
    assert [place.line for place in verdict.located] == [lines[1].strip()]
    assert [version.source for version in asked if lines[3] not in version.source] == []


def test_trial_that_has_ended_starts_no_sandbox() -> None:
    exercise = EXERCISES[10].functions[0]
    key = AnswerKey(exercise, exercise.sample(DEFAULT_SEED)[:1])
    trial = Trial(lambda _: pytest.fail("a sandbox was started"), Time(60, 5), [], key, {}, lost=MOST_LOST + 1)
    with pytest.raises(TrialEnded):
        trial.ask([EditedSource("")], key.cases[0])


# Code that notices when it runs again, and then sleeps: in its cells, in what they leave behind, or in its answers.
# `calls` counts those of the first exercise, of which there are none yet where all cells run one after the other.
ASKED_AT_FIRST = """
import atexit, sys, time
calls = []
def sleep_if_again(*_):
    if not calls or sys._getframe(1).f_code.co_filename == "<edited>":
        time.sleep(3600)
def simple_attention_scores(inputs, query):
    calls.append(1)
    return inputs @ query
"""
STALLS = {
    "in a cell": "sleep_if_again()",
    "in an import": "import beside",
    "in __del__": "class Gone:\n    __del__ = sleep_if_again\nGone()",
    "at exit": "atexit.register(sleep_if_again)\nif not calls:\n    sys.exit()",
    "in a hook": "get_ipython().events.register('post_run_cell', sleep_if_again)",
    "in an answer": "def softmax_stable(x, dim=-1):\n    sleep_if_again()\n    return torch.exp(x) + 1",
    "in what is returned": """
class Slow(list):
    def __iter__(self):
        sleep_if_again()
        return super().__iter__()
class Late:
    shape = property(sleep_if_again)
    __len__ = __iter__ = __array__ = sleep_if_again
def softmax_stable(x, dim=-1):
    return [Slow([x, Late()]), Late()]
""",
}


@pytest.mark.parametrize("stall", STALLS.values(), ids=STALLS)
def test_locating_when_code_stalls_waits_no_longer_than_its_notebook(
    stall: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.host.trial.PATIENCE", 1)
    deadlines: list[float] = []
    receive = wire.receive

    def noted(channel: Any, deadline: float, *meanwhile: Any) -> wire.Frame:
        deadlines.extend([deadline] if meanwhile else [])  # the start of a process is not the student's
        return receive(channel, deadline, *meanwhile)

    monkeypatch.setattr("grader.host.sandbox_process.wire.receive", noted)
    sources = [f"{BEFORE}\n{ASKED_AT_FIRST}", stall, *([] if "softmax_stable" in stall else [SOFTMAX_PLUS_ONE])]
    first, *others = [nbformat.v4.new_code_cell(source) for source in sources]
    cells = [first, exercise_test_cell(9), *others, exercise_test_cell(10)]
    limits = Limits(submission=3, patience=20)  # by the clock, a single one of all cells could take longer than that
    files = {"beside.py": b"import __main__\n__main__.sleep_if_again()"}
    grading = Grading(nbformat.v4.new_notebook(cells=cells), files, replace(OURS, limits=limits))
    with closing(grading.sandbox):
        right, wrong = grading.run()
    assert (right.right, wrong.reason, wrong.located) == (True, Reason.WRONG, ())
    ends = max(grading.time.ends_at, grading.search_time.ends_at)
    assert [deadline for deadline in deadlines if deadline > ends] == []


def test_time_of_a_notebook_is_shared_by_sandboxes() -> None:
    time = Time(1, 5)
    part = Time(3, 5, time)
    one, other = (SimpleNamespace(cpu_seconds=seconds) for seconds in (0.25, 0.5))
    time.count(cast(ForkedProcess, one))
    part.count(cast(ForkedProcess, other))
    time._began = part._began = -math.inf  # the clock is not what there is too little of
    assert (time.seconds_left(), part.seconds_left(), part.ends_at) == (0.25, 0.25, time.ends_at)
    other.cpu_seconds = 9  # also once it is gone
    assert time.is_over
    assert part.is_over


def test_search_asks_no_version_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = versions_asked(monkeypatch)
    source = "def softmax_stable(x, dim=-1):\n    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))\n    return x\n"
    assert verdict_on(source, 10).located == ()
    assert len(asked) > 50
    assert len({(version.source, repr(version.lent)) for version in asked}) == len(asked)


def versions_asked(monkeypatch: pytest.MonkeyPatch) -> list[EditedSource]:
    """Those that are asked with others, in the one case that is asked of all."""
    asked: list[EditedSource] = []
    ask = Trial.ask

    def noted(trial: Trial, versions: Sequence[EditedSource], case: SampledCase) -> list[Answer]:
        asked.extend(versions if len(versions) > 1 else [])
        return ask(trial, versions, case)

    monkeypatch.setattr(Trial, "ask", noted)
    return asked


@pytest.mark.parametrize("number", EXERCISES)
def test_edits_of_a_right_solution_compile(number: int) -> None:
    text = StudentText(definitions_in(from_notebook()[number]))
    edits = edits_of(text)
    assert len(edits) > 30
    assert edits == sorted(edits, key=lambda edit: edit.cost)
    for edit in edits:
        compile(text.with_splices(*edit.splices), "changed", "exec")


@pytest.mark.parametrize("number", EXERCISES)
def test_edits_bring_in_at_most_one_new_word(number: int) -> None:
    text = StudentText(definitions_in(from_notebook()[number]))
    own = {*WORDS.findall(text.source), *BESIDE_A_WORD}
    for edit in edits_of(text):
        new = {word for splice in edit.splices for word in WORDS.findall(splice.text)} - own
        assert len(new) <= 1 or edit.change == Change.COPIED, edit


UNREAD = """
def f(x, scale, unused):
    size = len(x)
    y = x + 1
    return y
"""


def test_edits_with_unread_names_are_tried_first() -> None:
    edits = [edit for edit in edits_of(StudentText(UNREAD)) if edit.cost == 1]
    names = [edit.splices[0].text for edit in edits if edit.is_likely]
    assert set(names) == {"scale", "unused", "size"}
    assert [edit.is_likely for edit in edits] == sorted((edit.is_likely for edit in edits), reverse=True)


@pytest.mark.parametrize("source", ["def f(:", "x = " + "(" * 5000, "%matplotlib inline\n", "", "#" * 30_000])
def test_unreadable_code_is_not_searched(source: str) -> None:
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
    """Some mutants of right solutions of all exercises in several styles: the same for everybody."""
    found = Tally()
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("repair.locating.SECONDS", "host.trial.SECONDS", "host.trial.SECONDS_IN_ALL"):
            patch.setattr(f"grader.{limit}", 60.0)  # what is found is the same on a slow machine
        for number in EXERCISES:
            for exercise in functions(number).values():
                _locate_mutants(exercise, found)
    return found


def _locate_mutants(exercise: Exercise, found: Tally) -> None:
    key = AnswerKey(exercise, exercise.sample(DEFAULT_SEED))
    for mutant in some_mutants(exercise):
        cells = [*given_cells(exercise), mutant.source]  # as in a notebook, where it is run first
        with closing(
            Trial(lambda time: SandboxProcess({}, Limits(), time=time), Time(999, 5), cells, key, {})
        ) as trial:
            answers = [trial.ask([EditedSource(mutant.source)], case)[0] for case in key.cases]
            verdict = Judge().verdict(key, answers)
            if verdict.right or any(isinstance(answer, Lost | Missing) for answer in answers):
                continue
            found.all += 1
            about_numbers = [answers[index] for index in key.about_numbers]
            returned = any(isinstance(answer, Returned) and answer.value is not None for answer in about_numbers)
            # That nothing is returned is told, and a cause.
            unnamed = not verdict.misconceptions and verdict.reason in (Reason.WRONG, Reason.ERROR, Reason.CONSTANT)
            if unnamed and (returned or verdict.reason == Reason.ERROR):
                line = mutant.source.splitlines()[mutant.line - 1].strip()
                _note(found, line, trial.explain(mutant.source, "cpu"), verdict)


def _note(found: Tally, line: str, repair: Version | Verdict | None, verdict: Verdict) -> None:
    if isinstance(repair, Verdict):  # a mutant has one mistake, not three
        found.others.append(f"{verdict.exercise}: {line} | {repair.misconceptions}")
        return
    told = [place.line for place in repair.located] if repair else []
    if line in told:
        found.own += 1
    elif told:
        found.others.append(f"{verdict.exercise}: {line} | {told}")
    elif not explains_itself(verdict):
        found.unexplained.append(f"{verdict.exercise}: {line}")


def explains_itself(verdict: Verdict) -> bool:
    """An error shows the line where it stopped; a layer that is not made is known by its parameters."""
    return verdict.reason == Reason.ERROR or any("has no parameter" in said for said in verdict.sentences)


def given_cells(exercise: Exercise) -> list[str]:
    """What a solution finds defined."""
    cells = source_notebook(exercise.assignment).cells
    given = [
        cell.source for cell in cells if str(cell.metadata.get("nbgrader", {}).get("grade_id")).startswith("given-")
    ]
    earlier = [one.number for one in of_assignment(exercise.assignment) if one.number < exercise.number]
    return [BEFORE, "import numpy as np", *given, *(from_notebook()[one] for one in earlier)]


def some_mutants(exercise: Exercise) -> list[Mutant]:
    """A few of each exercise."""
    chance = random.Random(exercise.entry)
    found: list[Mutant] = []
    for style in chance.sample(list(corpus(exercise.number).values()), STYLES):
        changed = list(mutants(ast.unparse(ast.parse(style))))
        found += chance.sample(changed, min(len(changed), MUTANTS))
    return found


@pytest.mark.proof
def test_located_line_of_mutants_is_the_mutated_line(tally: Tally) -> None:
    assert tally.own > tally.all / 2 > 10
    assert len(tally.others) <= 0.05 * (tally.own + len(tally.others)), tally.others


@pytest.mark.proof
def test_mutants_are_hardly_ever_unexplained(tally: Tally) -> None:
    assert len(tally.unexplained) <= 0.03 * tally.all, tally.unexplained
