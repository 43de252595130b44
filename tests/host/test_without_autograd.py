"""Autograd earns nothing where gradients are computed by formulas, and is there for all other exercises."""

from __future__ import annotations

import re

import nbformat
import pytest

from grader.host.grading import Grading, grade_notebook
from grader.judging.wording import NO_AUTOGRAD
from grader.model.verdict import Reason, Verdict
from support.our_course import EXERCISES, OURS
from support.records import Piece, notebook_with
from support.solution_cells import from_notebook

OUTSIDE = """
    with torch.inference_mode(False), torch.enable_grad():
        inputs = [x.clone().requires_grad_() for x in (queries, keys, values)]
        q, k, v = inputs
        output = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v
"""
HEAD = "def attention_backward(queries, keys, values, grad_output):"
GOES_AROUND = f"{HEAD}{OUTSIDE}        return torch.autograd.grad(output, inputs, grad_output.clone())"


WAYS_BACK = {
    "autograd": GOES_AROUND.replace("torch.inference_mode(False), ", ""),
    "the mode left": GOES_AROUND,
    "another thread": f"""import threading
def of_thread(gradients, queries, keys, values, grad_output):{OUTSIDE}
        gradients += torch.autograd.grad(output, inputs, grad_output.clone())
{HEAD}
    gradients = []
    thread = threading.Thread(target=of_thread, args=(gradients, queries, keys, values, grad_output))
    thread.start()
    thread.join()
    return gradients""",
    "without functions of modes": GOES_AROUND.replace("torch.enable_grad()", "torch._C.DisableTorchFunction()"),
    "the function API": f"""{HEAD}
    _, back = torch.func.vjp(F.scaled_dot_product_attention, queries, keys, values)
    return back(grad_output)""",
    "forward mode": f"""{HEAD}
    of_all = (queries, keys, values)
    return torch.func.grad(lambda *x: (F.scaled_dot_product_attention(*x) * grad_output).sum(), (0, 1, 2))(*of_all)""",
    "a ready-made function": f"""{HEAD}
    root = math.sqrt(queries.shape[-1])
    p = torch.softmax(queries @ keys.mT / root, -1)
    with torch.inference_mode():
        ds = torch.ops.aten._softmax_backward_data(grad_output @ values.mT, p, -1, p.dtype) / root
    return ds @ keys, ds.mT @ queries, p.mT @ grad_output""",
    "a layer of autograd": f"""
class Way(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return F.scaled_dot_product_attention(q, k, v)

    @staticmethod
    def backward(ctx, g):
        return torch.func.vjp(F.scaled_dot_product_attention, *ctx.saved_tensors)[1](g)
{HEAD}
    inputs = [x.clone().requires_grad_() for x in (queries, keys, values)]
    return torch.autograd.grad(Way.apply(*inputs), inputs, grad_output)""",
    "sparse tables": f"""{HEAD}
    gradients = []
    for q, k, v, g in zip(*(x.flatten(0, 1) for x in (queries, keys, values, grad_output))):
        inputs = [x.clone().requires_grad_() for x in (q, k, v)]
        scores = (inputs[0] @ inputs[1].mT / math.sqrt(q.shape[-1])).to_sparse()
        output = torch.sparse.mm(torch.sparse.softmax(scores, 1), inputs[2])
        gradients.append(torch.autograd.grad(output, inputs, g))
    return [torch.stack(heads).view(queries.shape) for heads in zip(*gradients)]""",
    "traced without numbers": f"""
from torch.fx.experimental.proxy_tensor import make_fx
def of_all(queries, keys, values, grad_output):{OUTSIDE}
        return torch.autograd.grad(output, inputs, grad_output.clone())
{HEAD}
    of_shapes = [x.to("meta") for x in (queries, keys, values, grad_output)]
    return make_fx(of_all, torch._decomp.core_aten_decompositions())(*of_shapes)(queries, keys, values, grad_output)""",
    "in a compiled program": f"""
@torch.jit.script
def of_program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    powers = torch.exp(torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5)
    return torch.matmul(powers / powers.sum(-1, keepdim=True), v)
{HEAD}
    inputs = [x.clone().requires_grad_() for x in (queries, keys, values)]
    outputs = [of_program(*inputs) for _ in range(3)]
    return torch.autograd.grad(outputs[-1], inputs, grad_output)""",
    "a function of torch's changed": f"""
def of_torch(queries, keys, values, grad_output):{OUTSIDE}
        return torch.autograd.grad(output, inputs, grad_output.clone())
torch.cumprod = of_torch
{HEAD}
    return torch.cumprod(queries, keys, values, grad_output)""",
    "a method given to tensors": f"""
def of_tensors(queries, keys, values, grad_output):{OUTSIDE}
        return torch.autograd.grad(output, inputs, grad_output.clone())
torch.Tensor.mul = of_tensors
{HEAD}
    return queries.mul(keys, values, grad_output)""",
    "code of a function exchanged": f"""
def of_code(queries, keys, values, grad_output):{OUTSIDE}
        return torch.autograd.grad(output, inputs, grad_output.clone())
{HEAD}
    return None
vars()["attention_backward"].__code__ = of_code.__code__""",
}


def verdict_on(source: str) -> Verdict:
    """The verdict on a solution of exercise 33, in a notebook where everything else is right."""
    (verdict,) = grade_notebook(notebook_with(Piece(33, "wrong/autograd", source)), settings=OURS)
    return verdict


@pytest.fixture
def without_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for the line takes seconds, and finds none."""
    monkeypatch.setattr(Grading, "explain", lambda *_: None)


@pytest.mark.slow
@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize("source", WAYS_BACK.values(), ids=WAYS_BACK)
def test_exercise_33_with_autograd_earns_nothing(source: str) -> None:
    judged = verdict_on(source)
    assert judged.credit == 0
    assert (NO_AUTOGRAD in judged.sentences) is ("does not require grad" in judged.sentences[0])


@pytest.mark.slow
def test_locating_in_exercise_33_runs_without_autograd() -> None:
    """With it, one small change would make all values right."""
    assert verdict_on(WAYS_BACK["autograd"].replace("grad_output.clone()", "-grad_output")).credit == 0


@pytest.mark.slow
def test_notebook_cells_keep_autograd() -> None:
    """It is away only where the answers come from."""
    notebook = notebook_with(Piece(33, "right/solution", from_notebook()[33]))
    compared = """
inputs = [torch.randn(1, 1, 2, 2, requires_grad=True) for _ in range(3)]
tiled_attention(*inputs, 1)[0].sum().backward()
inputs[0].grad.shape"""
    notebook.cells.insert(-1, nbformat.v4.new_code_cell(compared))
    notebook.cells.append(nbformat.v4.new_code_cell(compared))
    (judged,) = grade_notebook(notebook, settings=OURS)
    assert judged.right
    before, after = (notebook.cells[place].outputs[-1].data["text/plain"] for place in (-3, -1))
    assert before == after == "torch.Size([1, 1, 2, 2])"


OF_THE_JUDGE = {
    "asked by hand": """
        tiled_attention.__closure__[0].cell_contents([q, k, v, 2], [], [], [g, torch.zeros_like(g[:, 0])])[:3]""",
    "as cases ask for them": 'tiled_attention(q, k, v, 2, False, {"gradients": True})["gradients"].values()',
}


@pytest.mark.slow
@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize("gradients", OF_THE_JUDGE.values(), ids=OF_THE_JUDGE)
def test_standin_gives_no_gradients_in_exercise_33(gradients: str) -> None:
    judged = verdict_on(f"""{HEAD}
    q, k, v, g = (x[0, 0, :, :64] for x in (queries, keys, values, grad_output))
    raise ValueError(*{{type(gradient).__name__ for gradient in {gradients}}})""")
    assert (judged.credit, judged.reason) == (0, Reason.ERROR)
    assert re.search("ValueError: NoneType|the arguments do not fit|too many positional arguments", judged.sentences[0])


def test_exercise_33_inputs_are_too_large_for_finite_differences() -> None:
    """Two answers for each, of some tens of microseconds."""
    entries = [sum(tensor.numel() for tensor in case.inputs[:3]) for case in EXERCISES[33].sample()]
    assert max(entries) > 100_000
