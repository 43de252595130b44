"""The check of a function that calls earlier ones, where those do not fit together or are not right."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from grader.course.folder import Course
from grader.kit.checking import Checks, Entry, Example
from grader.notebooks.cells import solutions
from support.places import ROOT

# Both are green by themselves, and stop when one is called with what the other returns.
NUMBERS = (
    "def attention_scores(q, k): return [[float((a * b).sum()) / len(a) ** 0.5 for b in k] for a in q]",
    "def attention_weights(all_scores): return [softmax(torch.stack(row)) for row in all_scores]",
)
WITH_RIGHT_ONES = (
    "is right on the examples of this notebook, with right functions of earlier exercises in place of yours."
)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The variables of the first notebook, with its checks and right solutions."""
    folder = ROOT / "source" / "self_attention"
    monkeypatch.syspath_prepend(str(folder))
    variables = runpy.run_path(str(folder / "checks.py"))
    exec("import math", variables)
    for code in solutions(Course(ROOT).read("source", "self_attention")).values():
        exec(code, variables)
    return variables


def check_output(
    code: str, number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> tuple[str, str]:
    exec(code, notebook)
    capsys.readouterr()
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    return " ".join(out.split()), " ".join(err.split())


def test_check_when_earlier_functions_do_not_fit_uses_right_ones(
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number in (2, 4):
        assert check_output("\n".join(NUMBERS), number, notebook, capsys)[1] == ""
    out, err = check_output("", 6, notebook, capsys)
    assert err == ""
    assert f"self_attention {WITH_RIGHT_ONES}" in out
    assert "attention_weights of exercise 4 stopped with TypeError: expected Tensor as element 0" in out
    assert "There, all_scores is a list of 3 items (each a list of 3 items (each a number))." in out
    assert "is not right yet" not in out
    exec("check()", notebook)
    assert "✓ 6 done" in capsys.readouterr().out
    assert not eval("solved(1, 6)", notebook)
    assert "once exercise 6 also works with your own earlier functions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mistake", "number", "exercise"),
    [
        ("def softmax(x): return torch.softmax(torch.as_tensor(x), 0) * 2", 6, 3),
        ("def softmax(x): return torch.softmax(torch.as_tensor(x), 0) * 2", 4, 3),
        ("def attention_scores(q, k): return [[(a * b).sum() for b in k] for a in q]", 6, 2),
        ("def attention_weights(s): return [softmax(torch.stack([*x])) for x in zip(*s)]", 6, 4),
        ("def weighted_sums(w, v): return v[: len(w)]", 6, 5),
    ],
)
def test_check_when_earlier_function_is_wrong_uses_right_one(
    mistake: str,
    number: int,
    exercise: int,
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = dict(notebook)
    out, err = check_output(mistake, number, notebook, capsys)
    assert err == ""
    assert WITH_RIGHT_ONES in out
    assert f"so look there first: exercise {exercise} is not right yet." in out
    changed = {name for name, value in own.items() if notebook[name] is not value}
    assert len(changed - {"__builtins__"}) == 1, "the student's own functions are back"


def test_check_when_function_itself_is_wrong_stays_red(
    notebook: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    swapped = "def self_attention(q, k, v): return weighted_sums(attention_weights(attention_scores(k, q)), v)"
    out, err = check_output("\n".join([*NUMBERS, swapped]), 6, notebook, capsys)
    assert out == ""
    assert "attention_weights of exercise 4 stopped with TypeError" in err


def test_check_without_right_earlier_function_claims_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    checks = Checks(
        Entry(1, "double", lambda: (Example("two", (2.0,), 4.0),)),
        Entry(2, "square", lambda: (Example("three", (3.0,), 9.0),), builds_on=(1,)),
    )
    notebook: dict[str, Any] = {"check": checks.check}
    out, err = check_output("def double(x): return x\ndef square(x): return x * double(x) / 2", 2, notebook, capsys)
    assert out == ""
    assert "It calls double, so look there first: exercise 1 is not right yet." in err
