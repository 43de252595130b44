"""Grading small notebooks in a real sandbox: limits, losses, follow-through, and the trust boundary."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.host.grading import grade_notebook
from grader.host.limits import MOST_ENDS, Limits, Time
from grader.host.sandbox_process import SandboxProcess
from grader.host.scratch import MustEnd
from grader.model.answer import Loss
from grader.notebooks.cells import demos_of
from support.our_course import OURS
from support.small_notebooks import SETUP, SHORT, code, grade, test_cell

pytestmark = pytest.mark.users

SHORTER = Limits(cell=1, case=1, submission=120)  # where something hangs for certain, and nothing takes long

SCORES = "def attention_scores(q, k):\n    return [[(a * b).sum() / len(a) ** 0.5 for b in k] for a in q]"
SOFTMAX = "def softmax(items_in):\n    return torch.softmax(torch.as_tensor(items_in), 0)"
WEIGHTS = "def attention_weights(all_scores):\n    return [softmax(torch.stack(row)) for row in all_scores]"
SUMS = "def weighted_sums(weights, v):\n    return [sum(w * x for w, x in zip(row, v)) for row in weights]"
ATTENTION = "def self_attention(q, k, v):\n    return weighted_sums(attention_weights(attention_scores(q, k)), v)"


def score(cell: Any) -> float:
    """What nbgrader reads from a test cell."""
    (result,) = (output for output in cell.outputs if output.output_type == "execute_result")
    return float(result.data["text/plain"])


def test_points_are_written_in_the_form_of_nbgrader() -> None:
    _, notebook = grade(
        SOFTMAX, 3, "def attention_scores(q, k):\n    return [[(a * b).sum() for b in k] for a in q]", 2
    )
    assert [score(notebook.cells[index]) for index in (2, 4)] == [2.0, 1.5]
    display = notebook.cells[4].outputs[0]
    assert "not scale" in display.data["text/plain"]
    assert "not scale" in display.data["text/html"]


def test_answers_begin_with_the_same_random_state_of_each_library() -> None:
    draws = """
import random
import numpy as np
seen = set()
def softmax(items_in):
    seen.add((random.random(), np.random.rand(), torch.rand(()).item()))
    assert len(seen) == 1
    return torch.softmax(torch.as_tensor(items_in), 0)
"""
    verdicts, _ = grade(draws, 3)
    assert verdicts[3].right, verdicts[3].sentences


def test_outputs_of_ordinary_cells_are_kept() -> None:
    _, notebook = grade("print('hello')\n1 + 1", "import matplotlib.pyplot as plt\nplt.plot([1, 2]);", "1 / 0")
    kinds = [[output.output_type for output in cell.outputs] for cell in notebook.cells[1:]]
    assert kinds == [["stream", "execute_result"], ["display_data"], ["error"]]
    assert "image/png" in notebook.cells[2].outputs[0].data


@pytest.mark.slow
def test_case_that_hangs_costs_only_its_exercise() -> None:
    verdicts, _ = grade("def softmax(x):\n    while True: pass", 3, "n = 1", SCORES, 2, limits=SHORTER)
    assert verdicts[3].reason == "no answer"
    assert "`while` loop in line 2 of its cell never ends" in verdicts[3].sentences[0]
    assert verdicts[2].right


@pytest.mark.slow
def test_function_that_hangs_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def counted(*arguments: Any) -> SandboxProcess:
        started.append(SandboxProcess(*arguments))
        return started[-1]

    monkeypatch.setattr("grader.host.grading.SandboxProcess", counted)
    hangs = "def softmax(x):\n    while True: pass"
    verdicts, _ = grade(SCORES, 2, hangs, 3, WEIGHTS, 4, SUMS, 5, ATTENTION, 6, limits=SHORTER)
    assert [verdicts[number].right for number in (2, 3, 4, 5, 6)] == [True, False, True, True, True]
    assert len(started) == 2


MODES = "torch.set_grad_enabled(False); torch.set_default_dtype(torch.float64)"
STABLE = "def softmax_stable(x, dim=-1):\n    {}\n    return torch.softmax(x, dim)"
NORM = """class RMSNorm(torch.nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        y = x.double()
        return (y / (y.pow(2).mean(-1, keepdim=True) + self.eps).sqrt() * self.weight).to(x.dtype)"""


def test_torch_modes_that_a_cell_sets_cost_nothing() -> None:
    verdicts, _ = grade(f"{MODES}\n{STABLE.format('')}", 10, NORM, 23)
    assert [verdicts[number].right for number in (10, 23)] == [True, True]


def test_torch_modes_that_an_answer_leaves_cost_only_its_exercise() -> None:
    verdicts, _ = grade(STABLE.format(MODES), 10, NORM, 23)
    assert verdicts[10].misconceptions == ("gradients cut off",)
    assert verdicts[23].right


@pytest.mark.slow
def test_torch_compile_runs_the_function_uncompiled() -> None:
    """A compiler is a program, which no sandbox may start."""
    compiled = "@torch.compile\ndef softmax_stable(x, dim=-1):\n    return torch.softmax(x, dim)"
    verdicts, _ = grade(f"import torch\n{compiled}", 10, limits=Limits())  # to import the compiler takes a while
    assert verdicts[10].right, verdicts[10].sentences


@pytest.mark.slow
def test_cell_that_hangs_is_stopped_and_the_rest_goes_on() -> None:
    verdicts, notebook = grade(SOFTMAX, "while True: pass", 3, limits=SHORTER)
    assert verdicts[3].right
    assert notebook.cells[2].outputs[0].ename == "CellStopped"


@pytest.mark.parametrize("death", ["import os; os._exit(0)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
def test_cell_that_ends_the_process_costs_only_itself(death: str) -> None:
    verdicts, notebook = grade(SOFTMAX, death, 3)
    assert verdicts[3].right
    assert "ended the Python process" in notebook.cells[2].outputs[0].evalue


def test_function_that_ends_the_process_costs_only_its_exercise() -> None:
    verdicts, _ = grade("import os\ndef softmax(x):\n    os._exit(0)", 3, SCORES, 2)
    assert (verdicts[3].reason, verdicts[2].reason) == ("no answer", "right")


@pytest.mark.slow
def test_cell_that_sleeps_is_stopped_without_word_of_endless_loop() -> None:
    patient = Limits(cell=1, case=1, submission=60, patience=1.5)
    notebook = nbformat.v4.new_notebook(cells=[code("import time\ntime.sleep(3600)")])
    grade_notebook(notebook, settings=replace(OURS, limits=patient))
    (error,) = notebook.cells[0].outputs
    assert error.evalue.startswith("Your code had not finished after 2 seconds and was stopped")
    assert "endless loop" not in error.evalue
    assert notebook.cells[0].metadata.grader == {"stopped": {"loss": "waiting", "limit": 1.5}}


@pytest.mark.slow
def test_notebook_that_waits_too_long_is_stopped() -> None:
    """Cells that compute are still run after the first time, and none after the second."""
    sleeps = "import time\ntime.sleep(3600)"
    verdicts, notebook = grade(sleeps, SOFTMAX, 3, sleeps, SCORES, 2, limits=Limits(waiting=1))
    stopped = [cell for cell in notebook.cells if cell.metadata.get("grader", {}).get("stopped")]
    waited = "Your notebook waited, without computing, for more than 1 second in all, so your code was stopped."
    assert [cell.outputs[0].evalue.partition(" Does")[0] for cell in stopped] == [waited] * 2
    assert verdicts[3].right
    assert verdicts[2].reason != "right"


LOOP = """
def softmax(items_in):
    x, i = torch.as_tensor(items_in), 0
    while i < {limit}:
        y = items_in[0]
    return torch.softmax(x, 0)
"""


def test_endless_loop_is_given_up_at_once_with_its_line() -> None:
    """Limits of time have no part in it, nor have other losses; what else the notebook does is graded."""
    verdicts, _ = grade(
        LOOP.format(limit="len(items_in)"), 3, SCORES, 2, limits=Limits(cell=10**6, case=10**6, submission=10**6)
    )
    assert verdicts[3].sentences[0].startswith("Your `while` loop in line 4 of its cell never ends")
    assert verdicts[2].right


def test_endless_loop_when_never_entered_or_left_costs_nothing() -> None:
    verdicts, _ = grade(LOOP.format(limit=0), 3)
    assert verdicts[3].right
    leaves = "    try:\n        while True:\n            items_in['x']\n    except Exception: pass\n"
    verdicts, _ = grade(f"def softmax(items_in):\n{leaves}    return torch.softmax(torch.as_tensor(items_in), 0)", 3)
    assert verdicts[3].right


def test_time_adds_up_all_waiting_of_a_notebook() -> None:
    time = Time(60, 5, waiting=1)
    time.count_waiting(0.6)
    with pytest.raises(MustEnd):
        time.count_waiting(0.6)
    assert not time.is_over
    time.count_waiting(0.5)
    part = Time(3, 5, time)
    with pytest.raises(MustEnd):
        part.count_waiting(0.5)
    assert time.is_over
    assert part.is_over


def test_code_that_gets_no_processor_does_not_count_as_waiting() -> None:
    """It has the lowest priority on a processor that others use."""
    process = SandboxProcess({}, Limits(waiting=0.2, patience=1000))
    rival = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        process.run_cell("1", 60)
        processor = {min(os.sched_getaffinity(0))}
        os.sched_setaffinity(process.pid, processor)
        os.sched_setaffinity(rival.pid, processor)
        os.setpriority(os.PRIO_PROCESS, process.pid, 19)
        busy = "import time\nuntil = time.process_time() + 0.2\nwhile time.process_time() < until: pass"
        assert process.run_cell(busy, 60).error == ""
    finally:
        process.close()
        rival.kill()
        rival.wait()


@pytest.mark.slow
def test_notebook_time_limit_is_named_as_that_of_the_notebook() -> None:
    """However little of it is left."""
    busy = "import time\nuntil = time.process_time() + {}\nwhile time.process_time() < until: pass"
    sources = (SETUP, busy.format(1), busy.format(60), "print('not run')")
    notebook = nbformat.v4.new_notebook(cells=[*map(code, sources), test_cell(3)])
    limits = Limits(cell=30, case=30, submission=2, patience=50)
    (verdict,) = grade_notebook(notebook, settings=replace(OURS, limits=limits))
    whole = "The notebook took too long in total"
    assert [output.evalue for cell in notebook.cells[2:4] for output in cell.outputs] == [
        f"{whole}, so your code was stopped.",
        f"{whole}, so this cell was not run.",
    ]
    assert notebook.cells[2].metadata.grader["stopped"]["loss"] == Loss.NOTEBOOK
    assert verdict.loss == Loss.NOT_RUN
    assert verdict.sentences[0] == f"{whole}, so this exercise was not run."


def test_cells_after_too_much_waiting_say_not_run() -> None:
    naps = [code("import time\ntime.sleep(9)") for _ in range(MOST_ENDS)]
    notebook = nbformat.v4.new_notebook(cells=[code(SETUP), *naps, code("print('not run')"), test_cell(3)])
    limits = Limits(cell=30, case=30, waiting=1, patience=50)
    (verdict,) = grade_notebook(notebook, settings=replace(OURS, limits=limits))
    waited = "Your notebook waited, without computing, for more than 1 second in all"
    assert [output.evalue for output in notebook.cells[-2].outputs] == [f"{waited}, so this cell was not run."]
    assert verdict.sentences[0] == f"{waited}, so this exercise was not run."


def test_system_exit_is_an_error_like_others() -> None:
    verdicts, _ = grade("def softmax(x):\n    raise SystemExit('bye')", 3, "exit()", SCORES, 2)
    assert (verdicts[3].reason, verdicts[2].reason) == ("error", "right")


def test_missing_function_and_syntax_error_have_different_sentences() -> None:
    verdicts, _ = grade("x = 1", 3, "def attention_scores(q, k)\n    return []", 2)
    assert verdicts[3].sentences == ("There is no function called softmax.",)
    assert "SyntaxError" in " ".join(verdicts[2].sentences)


def test_wrong_softmax_costs_exercise_3_and_not_4() -> None:
    verdicts, _ = grade("def softmax(x):\n    return torch.exp(torch.as_tensor(x))", 3, WEIGHTS, 4)
    assert verdicts[3].misconceptions == ("not normalized",)
    assert verdicts[4].right


@pytest.mark.slow
def test_exercise_6_is_judged_with_standins_for_wrong_parts() -> None:
    todo = "def attention_scores(q, k):\n    raise NotImplementedError()"
    verdicts, _ = grade(todo, 2, SOFTMAX, 3, WEIGHTS, 4, "def weighted_sums(w, v):\n    return v", 5, ATTENTION, 6)
    assert [verdicts[number].right for number in (2, 3, 4, 5, 6)] == [False, True, True, False, True]


@pytest.mark.slow
def test_right_parts_that_do_not_fit_do_not_cost_exercise_6() -> None:
    """Numbers from exercise 2 and torch.stack in exercise 4 are right each for itself."""
    numbers = SCORES.replace("(a * b).sum()", "(a * b).sum().item()")
    verdicts, _ = grade(numbers, 2, SOFTMAX, 3, WEIGHTS, 4, SUMS, 5, ATTENTION, 6)
    assert all(verdict.right for verdict in verdicts.values())


def test_mistake_of_exercise_6_itself_is_not_forgiven() -> None:
    wrong = ATTENTION.replace("attention_scores(q, k)", "attention_scores(k, q)")
    verdicts, _ = grade(SCORES, 2, SOFTMAX, 3, WEIGHTS, 4, SUMS, 5, wrong, 6)
    assert verdicts[6].misconceptions == ("queries and keys exchanged",)


def test_standin_cannot_be_kept_for_another_exercise() -> None:
    """The stand-in for softmax answers in a sandbox of its own, which ends with exercise 4."""
    thief = (
        "import builtins\n"
        "def attention_weights(all_scores):\n"
        "    builtins.kept = softmax\n"
        "    return [softmax(torch.stack(row)) for row in all_scores]"
    )
    late = "import builtins\nsoftmax = getattr(builtins, 'kept', softmax)"
    verdicts, _ = grade("def softmax(x):\n    return x", thief, 4, late, 3)
    assert verdicts[4].right
    assert not verdicts[3].right


def test_attention_scores_come_as_tensors_or_numbers_as_code_needs() -> None:
    cat = (
        "def attention_weights(all_scores):\n"
        "    return [torch.softmax(torch.cat(row).flatten(), 0) for row in all_scores]"
    )
    floats = (
        "def attention_weights(all_scores):\n"
        "    assert isinstance(all_scores[0][0], float)\n"
        "    return [torch.softmax(torch.tensor(row), 0) for row in all_scores]"
    )
    for source in (cat, floats, SOFTMAX + "\n" + WEIGHTS):
        verdicts, _ = grade(source, 4)
        assert verdicts[4].right, source


@pytest.mark.slow
def test_answer_that_prints_warns_and_draws_is_right() -> None:
    noisy = (
        "import sys, warnings\nimport matplotlib.pyplot as plt\n"
        "def softmax(x):\n"
        "    print('x' * 100000); print('!', file=sys.stderr); warnings.warn('careful')\n"
        "    plt.plot([1, 2]); plt.show()\n"
        "    return torch.softmax(torch.as_tensor(x), 0)"
    )
    verdicts, notebook = grade(noisy, 3)
    assert verdicts[3].right
    assert len(notebook.cells[2].outputs) == 2


def test_input_says_that_nobody_answers() -> None:
    _, notebook = grade("input('name? ')")
    assert "nobody is there to answer" in notebook.cells[1].outputs[0].evalue


def test_sandbox_holds_nothing_of_the_judge() -> None:
    _, notebook = grade(
        "import sys, gc\n"
        "print([name for name in sys.modules if name.startswith('grader.')])\n"
        "print([type(one).__name__ for one in gc.get_objects() "
        "if type(one).__name__ in ('Case', 'Exercise', 'Misconception')])",
        "import grader.course.loading",
    )
    assert notebook.cells[1].outputs[0].text == "[]\n[]\n"
    assert notebook.cells[2].outputs[0].ename == "ModuleNotFoundError"


def test_sandbox_sees_nothing_of_the_instructors_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "canary")
    _, notebook = grade("import os\nprint('canary' in str(dict(os.environ)), os.environ['HOME'] == os.getcwd())")
    assert notebook.cells[1].outputs[0].text == "False True\n"


def test_patching_torch_in_the_sandbox_changes_no_verdict() -> None:
    patch = (
        "torch.allclose = torch.equal = lambda *a, **k: True\n"
        "torch.Tensor.__eq__ = lambda *a: True\n"
        "def softmax(x):\n    return torch.zeros(3)"
    )
    verdicts, _ = grade(patch, 3)
    assert verdicts[3].credit == 0


def test_companion_files_can_be_imported_but_shadow_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("answer = 42")
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "link.txt").symlink_to("/etc/hostname")
    _, notebook = grade("import json, mine\nimport os\nprint(mine.answer, os.path.exists('link.txt'))", files=tmp_path)
    assert notebook.cells[1].outputs[0].text == "42 False\n"


def test_grading_leaves_nothing_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    grade("open('big', 'w').write('x')", "import os; os._exit(1)", SOFTMAX, 3)
    assert list(tmp_path.iterdir()) == []


def test_test_cell_of_no_exercise_gets_zero_and_says_why() -> None:
    _, notebook = grade(99)
    assert score(notebook.cells[1]) == 0
    assert "does not belong to an exercise" in notebook.cells[1].outputs[0].data["text/plain"]


@pytest.mark.slow
def test_inputs_are_the_same_on_every_run_and_differ_by_seed() -> None:
    spy = "seen = []\ndef softmax(x):\n    seen.append(str(x))\n    return x\n"
    runs = []
    for seed in ("1", "1", "2"):
        notebook = nbformat.v4.new_notebook(cells=[code(SETUP), code(spy), test_cell(3), code("print(seen)")])
        grade_notebook(notebook, None, replace(OURS, seed=seed, limits=SHORT))
        runs.append(notebook.cells[3].outputs[0].text)
    assert runs[0] == runs[1] != runs[2]


def test_demo_when_given_is_not_run_and_when_changed_is() -> None:
    demo = "seen = 'the given demo'"
    changed = demo.replace("given", "changed")
    _, notebook = grade(demo, changed, "print(seen)", demos=frozenset({demo}))
    assert [cell.execution_count for cell in notebook.cells] == [1, None, 3, 4]
    assert notebook.cells[-1].outputs[0].text == "the changed demo\n"


def test_demo_whose_names_the_student_uses_is_run() -> None:
    demo = "print('drawn')\nzero_dim = 0"
    own = "axis = zero_dim\ndef softmax(x):\n    return torch.softmax(torch.as_tensor(x), axis)"
    verdicts, notebook = grade(demo, own, 3, "no_such_name", demos=frozenset({demo}))
    assert verdicts[3].right
    assert notebook.cells[1].outputs[0].text == "drawn\n"
    assert notebook.cells[-1].outputs[0].ename == "NameError"


def test_demos_of_returns_cells_tagged_demo() -> None:
    demo, other = code("plot()"), code("plot_more()")
    demo.metadata.tags, other.metadata.tags = ["demo"], ["remove-input"]
    release = nbformat.v4.new_notebook(cells=[demo, other, code("x = 1")])
    assert demos_of(release) == {"plot()"}


SPY = "seen = []\ndef softmax(items_in):\n    seen.append(torch.as_tensor(items_in).tolist())\n    return items_in"


def inputs_seen(*after: str, files: Path | None = None, seed: str = "ada") -> str:
    """The hidden inputs of exercise 3, which code can print that has answered them."""
    _, notebook = grade(SPY, 3, "print(seen)", *after, files=files, seed=seed)
    return str(notebook.cells[3].outputs[0].text)


@pytest.mark.slow
def test_inputs_depend_on_seed_code_and_files_of_a_submission(tmp_path: Path) -> None:
    """So that a table of answers to inputs that somebody has printed is worth nothing."""
    (tmp_path / "table.txt").write_text("1")
    first = inputs_seen(files=tmp_path)
    assert inputs_seen(files=tmp_path) == first
    assert inputs_seen(files=tmp_path, seed="eve") != first
    assert inputs_seen("# other bytes", files=tmp_path) != first
    (tmp_path / "table.txt").write_text("2")
    assert inputs_seen(files=tmp_path) != first


@pytest.mark.slow
def test_inputs_depend_on_names_and_limits_of_files(tmp_path: Path) -> None:
    """Nor anywhere else that the code can look at: where one file ends and the next begins, or how they are called."""
    seen = []
    for number, files in enumerate(
        ({"a": "12", "b": "3"}, {"a": "1", "b": "23"}, {"a": "12", "c": "3"}, {"a12b": "3"})
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content)
        seen.append(inputs_seen(files=folder))
    assert len(set(seen)) == len(seen)


UNSCALED = """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    return V @ torch.softmax(K.T @ Q, dim=0)
"""
TWO_HEADS = """
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    one = scaled_dot_product_self_attention(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    two = scaled_dot_product_self_attention(X, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ torch.cat([one, two])
"""


def test_definitions_in_the_exercise_cell_are_not_replaced_by_standins() -> None:
    """An earlier exercise's function is one in another cell; only there is a right one lent in place of it."""
    assert grade(UNSCALED, 7, TWO_HEADS, 8)[0][8].right
    own = grade(UNSCALED + TWO_HEADS, 8)[0][8]
    assert not own.right
    assert own.misconceptions == ("not scaled",)


@pytest.mark.parametrize(
    "definition",
    [
        "softmax = lambda x: torch.as_tensor(x) * 0 + 1",
        "from torch import sigmoid as softmax",
        "for softmax in [lambda x: torch.ones(len(x))]:\n    pass",
        "if True:\n    def softmax(x):\n        return torch.ones(len(x))",
        "class softmax(list):\n    pass",
    ],
)
def test_name_defined_in_any_way_in_the_exercise_cell_is_judged(definition: str) -> None:
    assert not grade(SOFTMAX, 3, f"{definition}\n{WEIGHTS}", 4)[0][4].right


@pytest.mark.slow
def test_local_name_or_method_is_no_definition_of_the_cell() -> None:
    """So a wrong softmax of exercise 3 costs exercise 3 alone."""
    wrong = "def softmax(items_in):\n    return torch.as_tensor(items_in) * 3"
    beside = "class Mine:\n    def softmax(self, x):\n        return x\n\ndef other(softmax):\n    return softmax"
    found, _ = grade(wrong, 3, f"{beside}\n{WEIGHTS}", 4)
    assert not found[3].right
    assert found[4].right
