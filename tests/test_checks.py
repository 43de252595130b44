"""The visible checks beside the notebook."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.exercises import EXERCISES

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "release" / "self_attention"
NUMBERS = range(1, 9)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A notebook's namespace, with `check` and `solved` and right solutions."""
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("checks_of_self_attention", FOLDER / "checks.py")
    assert spec is not None
    assert spec.loader is not None
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    right = {EXERCISES[number].entry: EXERCISES[number].reference for number in NUMBERS}
    return {"check": checks.check, "solved": checks.solved, "torch": torch, **right}


@pytest.mark.parametrize("number", NUMBERS)
def test_right_is_one_green_line(number: int, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert out.startswith("\x1b[32m✓")
    assert out.count("\n") == 1
    assert err == ""


@pytest.mark.parametrize(
    ("source", "number", "words"),
    [
        ("def softmax(x): raise NotImplementedError()", 3, "still to do"),
        ("def softmax(x): pass", 3, "returned None"),
        ("def softmax(x): return torch.softmax(x, 0)", 3, "plain list, softmax stopped with TypeError"),
        ("def softmax(x): return 1 / 0", 3, "ZeroDivisionError"),
        ("softmax = 3", 3, "there is no function softmax yet"),
        ("def softmax(x): return torch.softmax(torch.as_tensor(x), 0) * 2", 3, "expected 0.8438, your code gave 1.687"),
        ("def softmax(x): return torch.softmax(torch.as_tensor(x), 0).tolist()", 3, "a torch tensor was expected"),
        ("def self_attention(q, k, v): return v[:1]", 6, "list of 1"),
        ("old = self_attention\ndef self_attention(q, k, v): return [x.T for x in old(q, k, v)]", 6, "transposed"),
        ("old = attention_scores\ndef attention_scores(q, k): return old(k, q)", 2, "Rows and columns look exchanged"),
        ("def attention_weights(s):\n  s.append(0); return []", 4, "empty list"),
        (
            "old = weighted_sums\ndef weighted_sums(w, v):\n  out = old(w, v); v[0] += 1; return out",
            5,
            "changes its input",
        ),
    ],
)
def test_wrong_is_said_in_words(
    source: str, number: int, words: str, notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(source, notebook)
    exec(f"check({number})", notebook)
    out, err = capsys.readouterr()
    assert words in err
    assert "Traceback" not in err
    assert out == ""


def test_solved_is_quiet_when_all_is_right_and_says_what_is_missing_when_not(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert eval("solved(1, 2, 3)", notebook)
    assert capsys.readouterr().out == ""
    exec("del softmax, compute_qkv", notebook)
    assert not eval("solved(1, 2, 3)", notebook)
    assert "exercises 1 and 3" in capsys.readouterr().out


def test_a_check_leaves_the_random_numbers_of_the_notebook_alone(notebook: dict[str, Any]) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    for number in NUMBERS:
        exec(f"check({number})", notebook)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_checks_need_nothing_but_torch() -> None:
    """In a process where the grader, nbgrader, IPython and numpy's friends cannot be imported."""
    program = (
        "import sys\n"
        "for name in ('grader', 'nbgrader', 'IPython', 'matplotlib', 'nbformat'): sys.modules[name] = None\n"
        f"sys.path.insert(0, {str(FOLDER)!r})\n"
        "from checks import check\n"
        "check(1)\n"
    )
    result = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert "there is no function compute_qkv yet" in result.stderr
