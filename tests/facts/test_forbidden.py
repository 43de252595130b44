"""What an exercise forbids: refused whatever comes out, wherever it is written; and nothing else is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from grader.course.folder import Course
from grader.facts.forbidden import OTHERWISE, first_forbidden, said_of_hidden
from grader.facts.reached import MOST_READ, reached
from grader.host.grading import grade_notebook
from grader.model.exercise import Allowed
from grader.model.submission import Files
from grader.model.verdict import Reason, Verdict
from support.our_course import EXERCISES, OURS
from support.places import ROOT
from support.solution_cells import corpus, from_notebook

EXERCISE = EXERCISES[33]
OUTSIDE = """
    with torch.inference_mode(False), torch.enable_grad():
        inputs = [x.clone().requires_grad_() for x in (queries, keys, values)]
        q, k, v = inputs
        output = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v
"""
HEAD = "def attention_backward(queries, keys, values, grad_output):"
GOES_AROUND = f"{HEAD}{OUTSIDE}        return torch.autograd.grad(output, inputs, grad_output.clone())"


IMPORTS = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"


def said_of(cells: list[str], files: Files | None = None) -> str:
    """What is said of the first thing that is not allowed; empty if all is."""
    assert EXERCISE.allowed
    found = first_forbidden(reached(EXERCISE.entry, [IMPORTS, *cells], files or {}), EXERCISE.allowed)
    return found.said(EXERCISE.allowed) if found else ""


def body(lines: str) -> list[str]:
    return [f"{HEAD}\n    {lines}"]


@pytest.mark.parametrize(
    ("cells", "used"),
    [
        ([GOES_AROUND], "torch.autograd.grad"),
        (body("return torch.autograd.grad(1, 2)"), "torch.autograd.grad"),
        (["from torch.autograd import grad as g", *body("return g(1, 2)")], "torch.autograd.grad"),
        (["import torch.autograd as ag", *body("return ag.grad(1, 2)")], "torch.autograd"),
        (["import functools", *body("return functools.wraps(torch.Tensor, ('x',), ())(1)")], "functools.wraps"),
        (["import functools", *body("return functools.wraps(torch.Tensor)(1, assigned=('x',))")], "functools.wraps"),
        (["from functools import wraps as w", *body("return w(torch.Tensor)")], "functools.wraps"),
        (["from functools import wraps", *body("return wraps(torch.Tensor)")], "wraps"),
        (body("return type('Box', (), {'__setattr__': print})"), "type"),
        (body("return type(type(queries))('Box', (), {})"), "type"),
        (["class Kind(type):\n    pass", *body("return Kind")], "type"),
        (["class A(torch.Tensor):\n    __match_args__ = ('backward',)", *body("return A")], "__match_args__"),
        (["class A:\n    def __setattr__(self, name, value):\n        pass", *body("return A()")], "__setattr__"),
        (["class A:\n    import math as __match_args__", *body("return A()")], "__match_args__"),
        (["step = torch.jit.script(len)", *body("return step")], "torch.jit.script"),
        (["from torch.jit import script", *body("return script(len)")], "torch.jit.script"),
        (body("return torch.compile(len)"), "torch.compile"),
        (["import enum", *body("return enum.Enum('E', {'__annotations__': {}})")], "enum"),
        (["ag = torch.autograd", *body("return ag.grad(1, 2)")], "torch.autograd"),
        (["def helper(x):\n    return torch.func.vjp(x)", *body("return helper(1)")], "torch.func.vjp"),
        (["if True:\n    def helper(x):\n        return torch.func.vjp(x)", *body("helper(1)")], "torch.func.vjp"),
        (["class A:\n    def f(self):\n        return torch.ops.aten", *body("A().f()")], "torch.ops"),
        (body("return torch._softmax_backward_data(1, 2)"), "torch._softmax_backward_data"),
        (body('return getattr(torch, "auto" + "grad")'), "getattr"),
        (body('return getattr(torch, "autograd")'), "torch.autograd"),
        (["import torch as t", *body("return t.autograd.grad(1, 2)")], "t.autograd.grad"),
        (body("with F.torch._C.DisableTorchFunction():\n        pass"), "F.torch._C.DisableTorchFunction"),
        ([f"%time\n{HEAD}\n    return torch.autograd.grad(1, 2)"], "torch.autograd.grad"),
        (["attention_backward = lambda *x: torch.autograd.grad(*x)"], "torch.autograd.grad"),
        # What others have tried.
        (body('return torch.__getattribute__("auto" + "grad")'), "torch.__getattribute__"),
        (body("match torch:\n        case object(autograd=ag):\n            return ag"), "torch"),
        (body("match queries:\n        case object(grad_fn=ag):\n            return ag"), "grad_fn"),
        (body("with torch._C.DisableTorchFunction():\n        pass"), "torch._C"),
        (body("x = queries.clone().requires_grad_()\n    return x.mul(2).backward()"), "requires_grad_"),
        (body('return eval("torch.autograd")'), "eval"),
        (body("for eval in []:\n        pass\n    return [eval for eval in [exec]]"), "exec"),
        (body("return [0 for eval in [0]], eval('torch')"), "eval"),
        (["class A:\n    x = eval('torch')\n    eval = 1", *body("return A.x")], "eval"),
        (["eval = eval", *body("return eval('torch')")], "eval"),
        (body("t = torch\n    return t.autograd"), "torch"),
        (body("return [m.autograd for m in [torch]]"), "m.autograd"),
        (body("return vars(torch)"), "vars"),
        (body("return print.__self__"), "print.__self__"),
        (body("return (lambda: 0).__globals__"), "__globals__"),
        (body("return (x for x in ()).gi_frame.f_builtins"), "gi_frame"),
        (["class A:\n    gi_frame = f_builtins = 1", *body("return (x for x in ()).gi_frame")], "gi_frame"),
        (["class A:\n    autograd = 1", *body("return torch.autograd")], "torch.autograd"),
        (["class A:\n    torch = 1", *body("return torch.random.torch")], "torch.random"),
        (["class A:\n    ctypes = 1", *body("return queries.numpy().ctypes")], "ctypes"),
        (["from operator import attrgetter", *body("return attrgetter('autograd')")], "operator.attrgetter"),
        (["import functools", *body("return functools.partial(getattr, queries)")], "getattr"),
        (["import sys", *body("return sys.modules")], "sys"),
        (["import numpy as np", *body("return np.load('answers.npy', allow_pickle=True)")], "numpy.load"),
        (["from torch import *", *body("return autograd")], "autograd"),
        (body("return get_ipython().user_ns"), "get_ipython"),
        (body("return In"), "In"),
        (["import typing", *body("return typing.get_type_hints(queries)")], "typing.get_type_hints"),
        (body("from torch._decomp import decompositions as ways\n    return ways"), "torch._decomp.decompositions"),
        (["async def f():\n    return 1", *body("return f()")], "async def"),
        (["import torch as t\nt.softmax = torch.func.vjp", *body("return torch.softmax(1, -1)")], ""),
        # What anybody may write.
        (["found = {}\nfound[0] = torch.func.vjp(1)", *body("return torch.cumprod(1)")], ""),
        (body("with torch.no_grad():\n        return softmax_backward(1)"), "softmax_backward"),
        (["def softmax_backward(x):\n    return x", *body("return softmax_backward(1)")], ""),
        (body('"""Without torch.autograd."""  # nor backward\n    return 1'), ""),
        (["class A:\n    def backward(self, x):\n        return x", *body("return A().backward(1)")], ""),
        (body("with torch.inference_mode():\n        return torch.softmax(1, -1)"), ""),
        (["found = torch.autograd.grad(1, 2)", *body("found = 2\n    return found")], ""),
        (["def q_of(x):\n    return x", "q.requires_grad_()\nloss.backward()", *body("return q_of(1)")], ""),
        (["from torch import autograd, nn", *body("return nn.Softmax(-1)(queries)")], ""),
        (["import torch.autograd", *body("return torch.softmax(1, -1)")], ""),
        (body("vars = getattr = 1\n    return vars + getattr"), ""),
        (body("F = 3\n    x = [F]\n    return x"), ""),
        (["import numpy as np\nxp = np", *body("return xp.exp(queries)")], ""),
        ([*body("return torch.autograd.grad(1)"), *body("return torch.exp(queries)")], ""),
        (["def helper():\n    return torch.func.vjp", "def helper():\n    return 1", *body("return helper()")], ""),
    ],
)  # fmt: skip
def test_what_is_used_is_found_and_nothing_else(cells: list[str], used: str) -> None:
    said = said_of(cells)
    assert (f"`{used}" in said) if used else not said


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (body("x = 1\n    return torch.autograd.grad(x)"), "(line 3 of its cell: `return torch.autograd.grad(x)`)"),
        (body("return torch.autograd.grad(1)"), "Write out the formulas: softmax, matrix products and sums"),
        (body('return eval("1")'), "Write what you mean"),
        (body("t = torch"), "instead of passing on the whole module"),
        (body("plt.show()"), "Do that in a separate cell"),
    ],
)
def test_the_line_is_told_and_what_to_write_instead(cells: list[str], says: str) -> None:
    assert says in said_of(cells)


@pytest.mark.parametrize("style", corpus(33))
def test_no_style_uses_what_is_not_allowed(style: str) -> None:
    assert not said_of([from_notebook()[32], corpus(33)[style]])


def test_no_listed_name_of_a_listed_module_is_a_module_that_is_not_listed() -> None:
    """From which one could go anywhere."""
    assert EXERCISE.allowed
    listed = [sys.modules[name] for name in EXERCISE.allowed.modules if name in sys.modules]
    further = {
        found.__name__
        for module in listed
        for name in EXERCISE.allowed.names
        if isinstance(found := getattr(module, name, None), ModuleType)
        and f"{module.__name__}.{name}" not in sys.modules
    }
    assert further <= EXERCISE.allowed.modules


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
    code = f"import torch\n{GOES_AROUND}".replace("attention_backward", "of_attention").encode()
    files = {"helper.py": code, "package/helper.py": code, "image.png": b"\xff"}
    assert "`torch.autograd.grad`" in said_of([cell], files)
    assert not said_of([f"import helper\n{HEAD}\n    return 1"], files)


PADDED = "#" * MOST_READ


@pytest.mark.parametrize(
    ("cells", "hides"),
    [
        ([f"{HEAD}\n    return 1"], False),
        ([f"{HEAD}\n    return 1", "def f(:"], False),
        ([f"{HEAD}\n    return 1", f"'''{'x' * 100_000}'''"], False),
        ([f"{HEAD}\n    return 1{PADDED}"], True),
        ([f"import padded\n{HEAD}\n    return padded.f()"], True),
        (['globals()["attention_backward"] = f'], True),
        ([], True),
    ],
)
def test_code_that_cannot_be_read_earns_nothing(cells: list[str], hides: bool) -> None:
    files = {"padded.py": PADDED.encode() * 2, "checking.py": PADDED.encode() * 2}
    assert bool(said_of_hidden(reached(EXERCISE.entry, cells, files))) is hides


@pytest.mark.parametrize("source", ["def f(:", "x = " + "(" * 5000, "", "#" * 300_000, "\0", "f = " + "-" * 5000 + "1"])
def test_what_cannot_be_read_does_no_harm(source: str) -> None:
    allowed = Allowed(modules=frozenset(), names=frozenset(), builtins=frozenset(), says="")
    assert first_forbidden(reached("f", [source], {}), allowed) is None


@pytest.fixture
def verdict(released_course: Course, make_notebook: Callable[..., Any]) -> Callable[[str], Verdict]:
    """The verdict on a solution of exercise 33, in a notebook."""

    def graded(source: str) -> Verdict:
        earlier = {number: cell for number, cell in from_notebook().items() if 28 <= number < 33}
        notebook = make_notebook(released_course, {**earlier, 33: source}, "fast_attention")
        (found,) = (one for one in grade_notebook(notebook, settings=OURS) if one.exercise == 33)
        return found

    return graded


@pytest.mark.slow
def test_code_out_of_sight_that_is_right_earns_nothing_and_is_told(verdict: Callable[[str], Verdict]) -> None:
    found = verdict(from_notebook()[33] + PADDED)
    assert (found.credit, found.reason) == (0, Reason.FORBIDDEN)
    assert "more than 200,000 characters" in found.sentences[0]


@pytest.mark.slow
def test_what_goes_around_earns_nothing_and_is_told(verdict: Callable[[str], Verdict]) -> None:
    found = verdict(GOES_AROUND)
    assert (found.credit, found.reason) == (0, Reason.FORBIDDEN)
    assert "`torch.autograd.grad`" in found.sentences[0]


WAYS_BACK = {
    "autograd": GOES_AROUND.replace("torch.inference_mode(False), ", ""),
    "the mode left": GOES_AROUND,
    "another thread": f"""import threading
def of_thread(found, queries, keys, values, grad_output):{OUTSIDE}
        found += torch.autograd.grad(output, inputs, grad_output.clone())
{HEAD}
    thread = threading.Thread(target=of_thread, args=(found := [], queries, keys, values, grad_output))
    thread.start()
    thread.join()
    return found""",
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
    found = []
    for q, k, v, g in zip(*(x.flatten(0, 1) for x in (queries, keys, values, grad_output))):
        inputs = [x.clone().requires_grad_() for x in (q, k, v)]
        scores = (inputs[0] @ inputs[1].mT / math.sqrt(q.shape[-1])).to_sparse()
        output = torch.sparse.mm(torch.sparse.softmax(scores, 1), inputs[2])
        found.append(torch.autograd.grad(output, inputs, g))
    return [torch.stack(one).view(queries.shape) for one in zip(*found)]""",
}
# What the function uses is innocent by its text; something else of the notebook is not.
OUT_OF_SIGHT = {
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


@pytest.mark.slow
def test_ways_back_lead_nowhere_where_autograd_is_no_more() -> None:
    """In a process of its own, since it is for good."""
    begin = """
import math, torch, torch.nn.functional as F
from grader.sandbox.child import take_autograd_away
four = torch.randn(4, 1, 2, 3, 4)
take_autograd_away("cpu")
"""
    right = f"{from_notebook()[33]}\nright = torch.stack(attention_backward(*four))"
    tried = """
try:
    found = torch.stack(tuple(attention_backward(*four)))
except (RuntimeError, TypeError):
    found = torch.zeros(1)
assert not torch.allclose(found, right, atol=0.01)
"""
    program = "\n".join([begin, right, *(f"{source}{tried}" for source in WAYS_BACK.values())])
    assert subprocess.run([sys.executable, "-c", program], check=False, cwd=ROOT).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("does", ["autograd", "a ready-made function"])
def test_code_that_hides_what_it_calls_has_no_gradients_either(
    does: str, verdict: Callable[[str], Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.decide.first_forbidden", lambda *_: None)
    found = verdict(WAYS_BACK[does])
    assert (found.credit, found.reason, found.sentences) == (0, Reason.FORBIDDEN, (OTHERWISE,))


@pytest.mark.slow
@pytest.mark.parametrize("source", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_what_is_done_out_of_sight_is_not_there_where_only_what_was_read_runs(
    source: str, verdict: Callable[[str], Verdict]
) -> None:
    found = verdict(source)
    assert (found.credit, found.reason, found.sentences) == (0, Reason.FORBIDDEN, (OTHERWISE,))


OF_THE_JUDGE = {
    "asked by hand": """
        tiled_attention.__closure__[0].cell_contents([q, k, v, 2], [], [], [g, torch.zeros_like(g[:, 0])])[:3]""",
    "as cases ask for them": 'tiled_attention(q, k, v, 2, False, {"gradients": True})["gradients"].values()',
}


@pytest.mark.slow
@pytest.mark.parametrize("gradients", OF_THE_JUDGE.values(), ids=OF_THE_JUDGE)
def test_the_judge_lends_no_gradients_where_they_are_asked_for(
    gradients: str, verdict: Callable[[str], Verdict]
) -> None:
    found = verdict(f"""{HEAD}
    q, k, v, g = (x[0, 0, :, :64] for x in (queries, keys, values, grad_output))
    raise ValueError(*{{type(one).__name__ for one in {gradients}}})""")
    assert (found.credit, found.reason) == (0, Reason.ERROR)
    assert re.search("ValueError: NoneType|the arguments do not fit|too many positional arguments", found.sentences[0])


@pytest.mark.slow
@pytest.mark.parametrize("style", ["", *corpus(33)])
def test_formulas_are_right_in_every_style(style: str, verdict: Callable[[str], Verdict]) -> None:
    assert verdict(corpus(33)[style] if style else from_notebook()[33]).right


def test_finite_differences_have_too_many_entries_to_go_through() -> None:
    """Two answers for each, of some tens of microseconds."""
    entries = [sum(one.numel() for one in case.inputs[:3]) for case in EXERCISE.sample()]
    assert max(entries) > 100_000
