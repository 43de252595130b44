"""What an exercise forbids: refused whatever comes out, wherever it is written; and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from our_course import EXERCISES, OURS
from solution_cells import corpus, from_notebook

from grader.course import Course
from grader.judging.forbidden import MOST_READ, said_of_forbidden
from grader.model.forbidden import Forbidden
from grader.model.verdict import Reason, Verdict
from grader.running.grading import grade_notebook

EXERCISE = EXERCISES[33]
OUTSIDE = """
    with torch.inference_mode(False), torch.enable_grad():
        inputs = [x.clone().requires_grad_() for x in (queries, keys, values)]
        q, k, v = inputs
        output = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v
"""
HEAD = "def attention_backward(queries, keys, values, grad_output):"
GOES_AROUND = f"{HEAD}{OUTSIDE}        return torch.autograd.grad(output, inputs, grad_output.clone())"


@pytest.mark.parametrize(
    ("cells", "used"),
    [
        ([GOES_AROUND], "torch.autograd.grad"),
        ([f"{HEAD}\n    return torch.autograd.grad(1, 2)"], "torch.autograd.grad"),
        ([f"from torch.autograd import grad as g\n{HEAD}\n    return g(1, 2)"], "torch.autograd.grad"),
        (["import torch.autograd as ag", f"{HEAD}\n    return ag.grad(1, 2)"], "torch.autograd"),
        (["ag = torch.autograd", f"{HEAD}\n    return ag.grad(1, 2)"], "torch.autograd"),
        (["def helper(x):\n    return torch.func.vjp(x)", f"{HEAD}\n    return helper(1)"], "torch.func.vjp"),
        (
            ["if True:\n    def helper(x):\n        return torch.func.vjp(x)", f"{HEAD}\n    helper(1)"],
            "torch.func.vjp",
        ),
        (["class A:\n    def f(self):\n        return torch.ops.aten", f"{HEAD}\n    A().f()"], "torch.ops.aten"),
        ([f"{HEAD}\n    return torch._softmax_backward_data(1, 2)"], "torch._softmax_backward_data"),
        ([f'{HEAD}\n    return getattr(torch, "auto" + "grad")'], "getattr"),
        ([f"{HEAD}\n    import threading\n    threading.Thread()"], "threading"),
        (["import torch as t", f"{HEAD}\n    return t.autograd.grad(1, 2)"], "t.autograd.grad"),
        ([f"{HEAD}\n    with F.torch._C.DisableTorchFunction():\n        pass"], "F.torch._C.DisableTorchFunction"),
        (
            ['setattr(torch, "cumprod", lambda x: torch.func.vjp(x))', f"{HEAD}\n    return torch.cumprod(1)"],
            "torch.func.vjp",
        ),
        (['vars(torch)["cumprod"] = lambda x: torch.ops', f"{HEAD}\n    return torch.cumprod(1)"], "torch.ops"),
        (["found = {}\nfound[0] = torch.func.vjp(1)", f"{HEAD}\n    return torch.cumprod(1)"], ""),
        ([f"%time\n{HEAD}\n    return torch.autograd.grad(1, 2)"], "torch.autograd.grad"),
        (["attention_backward = lambda *x: torch.autograd.grad(*x)"], "torch.autograd.grad"),
        # What anybody may write.
        ([f"{HEAD}\n    with torch.no_grad():\n        return softmax_backward(1)"], ""),
        (["def softmax_backward(x):\n    return x", f"{HEAD}\n    return softmax_backward(1)"], ""),
        ([f'{HEAD}\n    """Without torch.autograd."""  # nor backward\n    return 1'], ""),
        (
            [
                "class Layer:\n    def softmax_backward(self, x):\n        return x",
                f"{HEAD}\n    Layer().softmax_backward(1)",
            ],
            "",
        ),
        ([f"{HEAD}\n    with torch.inference_mode():\n        return torch.softmax(1, -1)"], ""),
        (["found = torch.autograd.grad(1, 2)", f"{HEAD}\n    found = 2\n    return found"], ""),
        (["q.requires_grad_()\nloss.backward()", f"{HEAD}\n    return q_of(1)"], ""),
        (["import torch\nfrom torch import nn", f"{HEAD}\n    return torch.softmax(1, -1)"], ""),
    ],
)
def test_what_is_used_is_found_and_nothing_else(cells: list[str], used: str) -> None:
    said = said_of_forbidden(EXERCISE, cells)
    assert (f"`{used}`" in said) if used else not said


@pytest.mark.parametrize(
    "cell",
    [
        "from helper import *",
        "from helper import of_attention as attention_backward",
        f"import helper\n{HEAD}\n    return helper.of_attention(1)",
        f"{HEAD}\n    from package.helper import of_attention as back\n    return back(1)",
    ],
)
def test_modules_beside_the_notebook_are_read_where_they_are_used(cell: str) -> None:
    code = GOES_AROUND.replace("attention_backward", "of_attention").encode()
    files = {"helper.py": code, "package/helper.py": code, "image.png": b"\xff"}
    assert "`torch.autograd.grad`" in said_of_forbidden(EXERCISE, [cell], files)
    assert not said_of_forbidden(EXERCISE, ["import helper", f"{HEAD}\n    return 1"], files)


PADDED = "#" * MOST_READ


@pytest.mark.parametrize(
    ("cells", "hides"),
    [
        ([f"{HEAD}\n    return 1"], False),
        ([f"{HEAD}\n    return 1", "def f(:"], False),
        ([f"{HEAD}\n    return 1", f"'''{'x' * 100_000}'''"], False),
        ([f"{HEAD}\n    return 1{PADDED}"], True),
        ([f"def helper():\n    return 1{PADDED}", f"{HEAD}\n    return helper()"], True),
        ([f"import padded\n{HEAD}\n    return padded.f()"], True),
        (['globals()["attention_backward"] = f'], True),
        ([], True),
    ],
)
def test_code_that_cannot_be_read_earns_nothing(cells: list[str], hides: bool) -> None:
    files = {"padded.py": PADDED.encode() * 2, "checking.py": PADDED.encode() * 2}
    assert bool(said_of_forbidden(EXERCISE, cells, files, earns=True)) is hides


@pytest.mark.parametrize("source", ["def f(:", "x = " + "(" * 5000, "", "#" * 300_000, "\0"])
def test_what_cannot_be_read_does_no_harm(source: str) -> None:
    forbidden = Forbidden(modules=("torch",), names=("f",), says="{}")
    assert said_of_forbidden(replace(EXERCISE, entry="f", forbidden=forbidden), [source]) == ""


@pytest.fixture
def verdict(released_course: Course, make_notebook: Callable[..., Any]) -> Callable[[str], Verdict]:
    """The verdict on a solution of exercise 33, in a notebook."""

    def graded(source: str) -> Verdict:
        notebook = make_notebook(released_course, {33: source}, "fast_attention")
        (found,) = (one for one in grade_notebook(notebook, settings=OURS) if one.exercise == 33)
        return found

    return graded


def test_code_out_of_sight_that_is_right_earns_nothing_and_is_told(verdict: Callable[[str], Verdict]) -> None:
    found = verdict(from_notebook()[33] + PADDED)
    assert (found.credit, found.reason) == (0, Reason.FORBIDDEN)
    assert "more than 200,000 characters" in found.sentences[0]


def test_what_goes_around_earns_nothing_and_is_told(verdict: Callable[[str], Verdict]) -> None:
    found = verdict(GOES_AROUND)
    assert (found.credit, found.reason) == (0, Reason.FORBIDDEN)
    assert "`torch.autograd.grad`" in found.sentences[0]


WAYS_BACK = {
    "autograd": GOES_AROUND.replace("torch.inference_mode(False), ", ""),
    "the mode left": GOES_AROUND,
    "the function API": f"""{HEAD}
    _, back = torch.func.vjp(F.scaled_dot_product_attention, queries, keys, values)
    return back(grad_output)""",
    "a ready-made function": f"""{HEAD}
    root = math.sqrt(queries.shape[-1])
    p = torch.softmax(queries @ keys.mT / root, -1)
    ds = torch.ops.aten._softmax_backward_data(grad_output @ values.mT, p, -1, p.dtype) / root
    return ds @ keys, ds.mT @ queries, p.mT @ grad_output""",
}


@pytest.mark.slow
@pytest.mark.parametrize("source", WAYS_BACK.values(), ids=WAYS_BACK)
def test_ways_back_fail_by_the_mode_alone(
    source: str, verdict: Callable[[str], Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So code that hides what it calls has no gradients either."""
    monkeypatch.setattr("grader.running.definitions.said_of_forbidden", lambda *_, **__: "")
    found = verdict(source)
    assert (found.credit, found.reason) == (0, Reason.ERROR)


OF_THE_JUDGE = {
    "asked by hand": """
        tiled_attention.__closure__[0].cell_contents([q, k, v, 2], [], [], [g, torch.zeros_like(g[:, 0])])[:3]""",
    "as cases ask for them": 'tiled_attention(q, k, v, 2, False, {"gradients": True})["gradients"].values()',
}


@pytest.mark.parametrize("gradients", OF_THE_JUDGE.values(), ids=OF_THE_JUDGE)
def test_the_judge_lends_no_gradients_where_they_are_asked_for(
    gradients: str, verdict: Callable[[str], Verdict]
) -> None:
    found = verdict(f"""{HEAD}
    q, k, v, g = (x[0, 0, :, :64] for x in (queries, keys, values, grad_output))
    raise ValueError(*{{type(one).__name__ for one in {gradients}}})""")
    assert (found.credit, found.reason) == (0, Reason.ERROR)
    assert re.search("ValueError: NoneType|the arguments do not fit", found.sentences[0])


def test_formulas_are_right_in_every_style(verdict: Callable[[str], Verdict]) -> None:
    for source in (from_notebook()[33], *corpus(33).values()):
        assert verdict(source).right


def test_finite_differences_have_too_many_entries_to_go_through() -> None:
    """Two answers for each, of some tens of microseconds."""
    entries = [sum(one.numel() for one in case.inputs[:3]) for case in EXERCISE.sample()]
    assert max(entries) > 100_000
