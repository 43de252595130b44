"""Every way to lose a sandbox, from the code that does it to the class report."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.course.folder import Course
from grader.gradebook.standings import read_class
from grader.host import sandbox_process, scratch
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.model.answer import Loss, Lost, sentence_of
from grader.model.verdict import Picture, Reason, Scored, Verdict
from grader.sandbox.confine import Amounts
from support.made_class import ASSIGNMENT, Paper, grade
from support.our_course import OURS
from support.report_pages import lines_of, text_of, told, written
from support.small_notebooks import SETUP, code, test_cell

pytestmark = pytest.mark.users

GENEROUS = Limits(cell=30, case=30, submission=120, patience=20)
BUSY = "while time.time(): pass"  # whether it ends cannot be seen in its text
UNTIL_ENDED = "\n    while True: time.sleep(0.01)"
# What the function does that is asked, with which limits, and what is made smaller here so that it is soon over.
WAYS: dict[Loss, tuple[str, Limits, dict[str, int]]] = {
    Loss.TIME: (BUSY, Limits(cell=30, case=0.5, patience=100), {}),
    Loss.ENDLESS: ("n = 0\n    while n < 1: pass", GENEROUS, {}),
    Loss.WAITING: ("time.sleep(3600)", Limits(cell=30, case=1, patience=1.5), {}),
    Loss.IDLE: ("time.sleep(3600)", Limits(cell=30, case=30, waiting=1), {}),
    Loss.NOTEBOOK: (BUSY, Limits(cell=30, case=30, submission=1, patience=100), {}),
    Loss.NOT_RUN: ("return 1", Limits(cell=30, case=30, submission=0, patience=100), {}),
    Loss.DEATH: ("os._exit(1)", GENEROUS, {}),
    Loss.BYTES: ("open('file', 'wb').write(bytes(4 * 2**20))" + UNTIL_ENDED, GENEROUS, {"MAX_BYTES": 2**21}),
    Loss.FILES: ("for n in range(99): open(str(n), 'w')" + UNTIL_ENDED, GENEROUS, {"MAX_FILES": 50}),
    Loss.DEPTH: ("os.makedirs('d/' * 20)" + UNTIL_ENDED, GENEROUS, {"MAX_DEPTH": 10}),
    Loss.CLOSED: ("os.mkdir('closed')" + UNTIL_ENDED, GENEROUS, {}),
    Loss.THREADS: (
        "for _ in range(9): threading.Thread(target=time.sleep, args=(3600,)).start()" + UNTIL_ENDED,
        GENEROUS,
        {"MAX_THREADS": 8},
    ),
    Loss.CALLS: ("return [softmax([1.0]) for _ in range(99)]", GENEROUS, {"MAX_STANDIN_CALLS": 20}),
    Loss.FORGED: (
        "os.write(3, struct.pack('>II', 2, 0) + b'{}')" + UNTIL_ENDED,
        GENEROUS,
        {},
    ),
    Loss.DEVICE: ("torch.fails = True", GENEROUS, {}),
}
# As after an index out of range on a GPU, which no test has.
CPU_FAILS = (
    "import torch; from grader.sandbox import accelerator; "
    "accelerator.is_usable = lambda _: not hasattr(torch, 'fails')"
)


# What a sandbox is lost by only where it has no disk of its own, whose bounds the kernel keeps.
WATCHED = (Loss.BYTES, Loss.FILES, Loss.DEPTH, Loss.CLOSED)


@pytest.fixture
def shrink_limits(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, int]], None]:
    """Makes amounts smaller, and folders called closed ones that not even root can look into."""
    look = os.scandir

    def scandir(path: str | int) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError
        return look(path)

    def change(amounts: dict[str, int]) -> None:
        monkeypatch.setattr("grader.host.scratch.os.scandir", scandir)
        for name, amount in amounts.items():
            monkeypatch.setattr(scratch if hasattr(scratch, name) else sandbox_process, name, amount)

    return change


# tests/host/test_memory.py has the others.
@pytest.mark.slow
@pytest.mark.parametrize("loss", [loss for loss in Loss if loss is not Loss.MEMORY])
def test_verdict_says_how_the_sandbox_was_lost(
    loss: Loss, shrink_limits: Callable[[dict[str, int]], None], request: pytest.FixtureRequest
) -> None:
    if loss is Loss.DEVICE:
        request.getfixturevalue("other_zygote")(CPU_FAILS)
    if loss in WATCHED:
        request.getfixturevalue("without_disks")
    does, limits, amounts = WAYS[loss]
    shrink_limits(amounts)
    imports = f"{SETUP}\nimport os, struct, threading, time"
    # The function of exercise 4 calls that of exercise 3, which it is lent when its own answers are wrong.
    asked = 4 if loss == Loss.CALLS else 3
    name = "attention_weights" if asked == 4 else "softmax"
    cells = [code(imports), code(f"def {name}(values):\n    {does}"), test_cell(asked)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    (verdict,) = grade_notebook(notebook, settings=replace(OURS, limits=limits))
    assert verdict.loss == loss
    assert verdict.lost is not None
    assert verdict.reason == Reason.NO_ANSWER
    assert verdict.sentences[0] == sentence_of(verdict.lost)
    (kept,) = (output.metadata.grader for output in notebook.cells[2].outputs if "grader" in output.metadata)
    read = Scored.from_json(json.loads(json.dumps(kept)))
    assert read is not None
    assert read.verdict == verdict


@pytest.mark.slow
@pytest.mark.parametrize("loss", Loss)
def test_report_lists_each_loss(loss: Loss, course: Course) -> None:
    """Whether an exercise was asked or a cell was run when it happened."""
    asked, ran = Lost(loss, 7), Lost(loss, 8)
    grade(course, Paper("grace", lost={5: asked}, stopped={3: ran}))
    takes_long = any(words in sentence_of(asked) for words in ("too long", "seconds", "never ends"))
    kind = "timeout" if takes_long else "crash"
    assert told(course)["stopped"] == [
        {"student": "grace", "exercise": 5, "kind": kind, "said": sentence_of(asked)},
        {"student": "grace", "exercise": 3, "kind": kind, "said": sentence_of(ran)},
    ]
    files = written(course)
    assert sentence_of(asked) in text_of(files[".html"])
    assert f"2 {kind}{'s' if kind == 'timeout' else 'es'}" in text_of(files[".html"]).replace("crashes", "crashes")
    (line,) = lines_of(files[".csv"])
    assert (line["timeouts"], line["crashes"]) == (("2", "") if kind == "timeout" else ("", "2"))


@pytest.mark.parametrize("loss", Loss)
def test_sentence_of_loss_never_says_0_seconds(loss: Loss) -> None:
    assert "0 seconds" not in sentence_of(Lost(loss, 0.2))


def test_report_lists_loss_in_a_cell_of_no_exercise(course: Course) -> None:
    grade(course, Paper("grace", stopped={None: Lost(Loss.DEATH)}))
    assert [line["exercise"] for line in told(course)["stopped"]] == [None]
    assert "another cell" in text_of(written(course)[".html"])


# --- written into a notebook and read back ---------------------------------------------------------------------------


PART = Verdict(14, "Mask", 0.5, Reason.WRONG, ("Wrong.",), cases_right=1, cases=4, lost=Lost(Loss.DEPTH, 50))
WHOLE = Verdict(
    exercise=14,
    title="Causal mask",
    credit=0.5,
    reason=Reason.MISCONCEPTION,
    sentences=("One.", "Two."),
    misconceptions=("not scaled",),
    cases_right=3,
    cases=8,
    explained_in="exercise-2",
    pictures=(Picture(((0.5, "NaN"),), title="a", marked=((0, 1),)),),
    lost=Lost(Loss.TIME, 5),
    functions={"mask": PART, "softmax": Verdict(14, "Mask", 1.0, Reason.RIGHT)},
)


@pytest.mark.parametrize("verdict", [PART, WHOLE, Verdict(None, "an-assertion", 0.0, Reason.NO_ANSWER)])
def test_verdict_from_json_returns_the_verdict(verdict: Verdict) -> None:
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json(), allow_nan=False))) == verdict


def test_scored_from_json_reads_the_old_form() -> None:
    old = {
        "exercise": 0, "title": "an-assertion", "credit": 0.5, "reason": "no answer", "sentences": ["a"],
        "misconceptions": [], "cases_right": 1, "cases": 2, "reread": "section", "points": 1.0, "max_points": 2.0,
    }  # fmt: skip
    verdict = Verdict(None, "an-assertion", 0.5, Reason.NO_ANSWER, ("a",), (), 1, 2, explained_in="section")
    assert Scored.from_json(old) == Scored(verdict, 2.0)


def values() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(list(Loss))
    return st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=5
    )


def changed(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield data
    yield from ({**data, "functions": {"f": data}}, {**data, "lost": data}, {**data, "pictures": [data, data]})


@pytest.mark.slow
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys([*WHOLE.to_json(), "loss", "limit", "numbers", "sums"], values()))
)
def test_scored_from_json_when_data_is_random_is_valid_or_none(data: dict[str, Any]) -> None:
    for version in changed({**Scored(WHOLE, 2.0).to_json(), **data}):
        scored = Scored.from_json(version)
        if scored is not None:
            assert 0 <= scored.verdict.credit <= 1
            assert Scored.from_json(json.loads(json.dumps(scored.to_json(), allow_nan=False))) == scored


def nested(depth: int) -> dict[str, Any]:
    inner = data = PART.to_json()
    for _ in range(depth):
        data = {**inner, "functions": {"f": data}}
    return data


WRONG_VALUES: dict[str, list[Any]] = {
    "exercise": [True, 1.5, 10**6, -1, "3", "a b", "a\n", [1], 10**400],
    "title": [3, None, ["x"], "x" * 10_001],
    "credit": [True, "1", None, math.nan, math.inf, -0.1, 1.1, 2**70, 10**400, [1]],
    "reason": ["unheard of", "RIGHT", None, 1, ["right"], {"right": 1}],
    "sentences": ["text", None, {"a": 1}, [3], [["nested"]], ["x" * 10_001], ["x"] * 201],
    "misconceptions": [["x", None], "not scaled"],
    "cases_right": [True, 1.5, -1, "1", math.nan, 10**6, 2**70, 10**400],
    "cases": [None, [8]],
    "explained_in": [None, 3],
    "pictures": [None, {}, [None], [{}], [{"numbers": [[math.nan]]}], [{"numbers": [[0.5]], "first": 2}]],
    "lost": ["time", {}, {"loss": "luck"}, {"loss": "time", "limit": math.inf}, {"loss": "time", "limit": "5"}],
    "located": [{}, [{}], [{"line": 3, "change": "an axis"}], [{"line": "x", "change": "a word"}]],
    "functions": [[], {"f": None}, {"<b>": PART.to_json()}, {"f\n": PART.to_json()}, {3: PART.to_json()}],
    "symptom": ["luck", 1, []],
    "heading": [1],
    "partly_named": [1, "true", None],
    "in_process": [0, []],
    "max_points": [None, "2", math.nan, 10**6, True],
}


@pytest.mark.parametrize("field", WRONG_VALUES)
def test_scored_from_json_with_one_wrong_value_is_none(field: str) -> None:
    right = json.loads(json.dumps(Scored(WHOLE, 2.0).to_json()))
    assert Scored.from_json(right) == Scored(WHOLE, 2.0)
    assert [value for value in WRONG_VALUES[field] if Scored.from_json({**right, field: value})] == []


@pytest.mark.parametrize("depth", [2, 100, 10_000])
def test_verdict_from_json_when_functions_are_nested_is_none(depth: int) -> None:
    assert Verdict.from_json(nested(1))
    assert Verdict.from_json(nested(depth)) is None


def test_wrong_values_cover_every_field() -> None:
    names = {field.name for field in fields(Verdict)} - {"holds_nan"}  # which is never written
    assert names | {"max_points"} == set(WRONG_VALUES)


def test_verdict_from_json_keeps_the_title_on_one_line() -> None:
    verdict = Verdict.from_json({**PART.to_json(), "title": "a\nb\x1b[31m"})
    assert verdict
    assert verdict.title == "a b [31m"


@pytest.mark.parametrize("data", [None, 3, "x", [], {}, {"credit": 1}])
def test_scored_from_json_when_not_a_verdict_is_none(data: Any) -> None:
    assert Scored.from_json(data) is None


def test_read_class_returns_the_verdicts_that_were_written(course: Course) -> None:
    made = Paper("ada", {2: 0.5}, {2: ["not scaled"]}, lost={5: Lost(Loss.FILES, 10)})
    grade(course, made)
    (standing,) = (one for one in read_class(course, ASSIGNMENT).graded if one.student == "ada")
    assert standing.verdicts == made.verdicts()


def test_held_bytes_when_mappings_are_too_many_is_unseen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All of them may have long paths, and the grader would read hundreds of megabytes ten times a second."""
    assert scratch.bytes_of_removed_files(os.getpid(), tmp_path, 1) == 0
    monkeypatch.setattr(scratch, "MAX_MAPPINGS", 5)
    assert scratch.bytes_of_removed_files(os.getpid(), tmp_path, 1) == scratch.UNSEEN
    assert scratch.UNSEEN * Amounts.file > scratch.MAX_BYTES
