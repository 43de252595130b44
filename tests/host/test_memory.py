"""Promises of memory: the kernel keeps them, and nothing that a student's code does lifts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from grader.judging.judge import judge
from grader.model.answer import Answer, Loss, Lost, Raised, Returned
from grader.model.exercise import Case, Exercise, Inputs, MemoryPromise, SampledCase
from grader.model.verdict import Reason
from support.unwritten import UnwrittenExercise, mistake

pytestmark = pytest.mark.users

MB = 2**20
BROKEN = "Your code builds a table of T × T."
TABLE = "def f(x):\n    return (x @ x.T).sum(-1)"
STREAM = "def f(x):\n    return torch.cat([(x[i : i + 64] @ x.T).sum(-1) for i in range(0, len(x), 64)])"
OPENED_LATER = """
import ctypes, mmap
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
c.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size = 4 * 8192**2
place = c.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
table = torch.frombuffer((ctypes.c_char * size).from_address(place), dtype=torch.float32).view(8192, 8192)
sums = torch.zeros(8192)
def f(x):
    if c.mprotect(place, size, mmap.PROT_READ | mmap.PROT_WRITE):
        raise MemoryError
    torch.mm(x, x.T, out=table)
    return torch.sum(table, -1, out=sums)"""
# Ways around, each with room for the table, if it worked. 256 MB are what the table of T = 8192 takes.
WAYS_ROUND = {
    "the limit lifted": """
import resource
def f(x):
    try:
        resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1:] * 2)
    except (ValueError, OSError):
        pass
    return (x @ x.T).sum(-1)""",
    "the limit lifted by the C library": """
import ctypes
def f(x):
    lift = ctypes.CDLL(None).prlimit
    lift(0, 9, (ctypes.c_uint64 * 2)(2**32, 2**32), None)
    return (x @ x.T).sum(-1)""",
    "a thread": """
from concurrent.futures import ThreadPoolExecutor
def f(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: (x @ x.T).sum(-1)).result()""",
    "a map that is shared": """
import mmap
def f(x):
    room = mmap.mmap(-1, 4 * len(x) ** 2)
    return torch.mm(x, x.T, out=torch.frombuffer(room, dtype=torch.float32).view(len(x), -1)).sum(-1)""",
    "a file that is mapped": """
def f(x):
    table = torch.from_file("table", shared=True, size=len(x) ** 2).view(len(x), -1)
    return torch.mm(x, x.T, out=table).sum(-1)""",
    "room kept since a cell ran": """
room = torch.empty(8192, 8192)
def f(x):
    return torch.mm(x, x.T, out=room).sum(-1)""",
    "room kept among small things": """
small = [torch.empty(2**19) for _ in range(40)]
room = torch.empty(8192, 8192)
small += [torch.empty(2**19) for _ in range(40)]
def f(x):
    return torch.mm(x, x.T, out=room).sum(-1)""",
    "room reserved, and opened later": OPENED_LATER,
    "room reserved, opened later, and closed again": f"""{OPENED_LATER}
opened = f
def f(x):
    result = opened(x)
    c.mprotect(place, size, 0)
    return result""",
    "MemoryError caught, and tried again": """
def f(x):
    while True:
        try:
            return (x @ x.T).sum(-1)
        except RuntimeError as error:
            raise MemoryError from error""",
    "the process ended": """
import os
def f(x):
    try:
        return (x @ x.T).sum(-1)
    except RuntimeError:
        os._exit(0)""",
}


def long_case(T: int, allowed: int = 64 * MB) -> SampledCase:
    """A case whose table of T × T does not fit, or would."""
    promise = MemoryPromise(allowed, max(4 * T * T, allowed + 1))
    case = Case("long", catches="a table of T × T", inputs=lambda _: (), promise=promise)
    return SampledCase(case, (torch.ones(T, 4),))


def short_case() -> SampledCase:
    return SampledCase(Case("short", catches="", inputs=lambda _: ()), (torch.ones(3, 4),))


@pytest.fixture
def sandbox() -> Iterator[SandboxProcess]:
    process = SandboxProcess({}, Limits(cell=20, case=20))
    process.run_cell("import torch", 20)
    yield process
    process.close()


def answers(sandbox: SandboxProcess, code: str, *cases: SampledCase) -> list[Answer]:
    assert not sandbox.run_cell(f"import torch\n{code}", 20).error
    return list(sandbox.answers("f", cases, {}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "grad", ["", "\nf = torch.no_grad()(f)", "\nf = (lambda g: lambda x: g(x.requires_grad_()))(f)"]
)
def test_memory_limit_stops_a_table_and_not_a_stream(grad: str, sandbox: SandboxProcess) -> None:
    [table] = answers(sandbox, TABLE + grad, long_case(8192))
    [stream] = answers(sandbox, STREAM + grad, long_case(8192))
    assert table == Lost(Loss.MEMORY, 64.0)
    assert isinstance(stream, Returned)


@pytest.mark.parametrize(("T", "fits"), [(1024, True), (3072, True), (6144, False), (8192, False)])
def test_memory_limit_lets_tables_that_fit_pass(T: int, fits: bool, sandbox: SandboxProcess) -> None:
    [answer] = answers(sandbox, TABLE, long_case(T))
    assert isinstance(answer, Returned) == fits


@pytest.mark.parametrize("code", WAYS_ROUND.values(), ids=WAYS_ROUND)
def test_memory_limit_cannot_be_evaded(code: str, sandbox: SandboxProcess) -> None:
    [answer] = answers(sandbox, code, long_case(8192))
    assert not isinstance(answer, Returned)


@pytest.mark.slow
def test_memory_limit_holds_when_process_has_an_odd_name(sandbox: SandboxProcess) -> None:
    named = """
import ctypes
ctypes.CDLL(None).prctl(15, b"\\xff\\nVmHWM: 0 kB")"""
    [stream] = answers(sandbox, f"{named}\n{STREAM}", long_case(8192))
    assert isinstance(stream, Returned)
    [opened] = answers(sandbox, f"{named}\n{OPENED_LATER}", long_case(8192))
    assert isinstance(opened, Lost)


@pytest.mark.slow
def test_memory_limit_does_not_count_what_the_notebook_keeps(sandbox: SandboxProcess) -> None:
    """Such as modules, plots, a model, data."""
    kept = "import torch._dynamo\nkept = torch.rand(8192, 8192)\nmodel = torch.nn.Transformer(512)"
    [answer] = answers(sandbox, f"{kept}\n{STREAM}", long_case(8192))
    assert isinstance(answer, Returned)


def test_memory_limit_leaves_no_room_beside_what_is_allowed(sandbox: SandboxProcess) -> None:
    """Such as a heap that a thread has left behind."""
    collect = """
def f(x):
    kept = []
    try:
        while len(kept) < 100:
            kept.append(torch.empty(2**20, dtype=torch.uint8))
    except RuntimeError:
        return torch.tensor(len(kept))"""
    [answer] = answers(sandbox, collect, long_case(8192, 8 * MB))
    assert isinstance(answer, Returned)
    assert 4 <= int(answer.value) <= 8


@pytest.mark.slow
def test_memory_limit_lets_freed_rows_be_used_again(sandbox: SandboxProcess) -> None:
    rows = """
def f(x):
    kept = []
    for _ in range(len(x)):
        hidden = torch.zeros(len(x), dtype=torch.bool)
        scores = torch.zeros(len(x)).masked_fill(hidden, 1.0)
        kept.append(scores[:4] + 1)
    return torch.stack(kept)"""
    [answer] = answers(sandbox, rows, long_case(8192, 24 * MB))
    assert isinstance(answer, Returned)


def test_memory_limit_holds_only_for_its_case(sandbox: SandboxProcess) -> None:
    got = answers(sandbox, TABLE, short_case(), long_case(8192), short_case())
    assert [type(answer) for answer in got] == [Returned, Lost, Returned]
    [free] = answers(sandbox, TABLE, SampledCase(short_case().case, (torch.ones(4096, 4),)))
    assert isinstance(free, Returned)


def exercise(*cases: Case) -> Exercise:
    return UnwrittenExercise(
        number=1, assignment="a", title="t", entry="f", solution=lambda x: x.sum(-1), cases=cases, mistakes=[]
    )


def small_inputs(rng: torch.Generator) -> Inputs:
    return (torch.randn(3, 4, generator=rng),)


def test_misconceptions_ruled_out_by_short_cases_skip_the_long_one() -> None:
    tried: list[int] = []

    def doubled(x: torch.Tensor) -> torch.Tensor:
        tried.append(len(x))
        return 2 * x.sum(-1)

    long = Case("long", "", lambda rng: (torch.randn(9, 4, generator=rng),), promise=MemoryPromise(1, 2, BROKEN))
    of = replace(exercise(Case("short", "", small_inputs), long), mistakes=[mistake("doubled", doubled)])
    cases = of.sample()
    sums = [case.inputs[0].sum(-1) for case in cases]
    wrong = [3 * right if case.case is long else right for case, right in zip(cases, sums, strict=True)]
    answers = [Returned(value, list(case.inputs)) for case, value in zip(cases, wrong, strict=True)]
    assert judge(of, cases, answers).reason == Reason.WRONG
    assert tried
    assert 9 not in tried


@pytest.mark.parametrize(
    "broken", [Raised("MemoryError"), Raised("RuntimeError", "DefaultCPUAllocator: no"), Lost(Loss.DEATH)]
)
def test_code_beyond_the_memory_limit_earns_half_when_rest_is_right(broken: Answer) -> None:
    promise = MemoryPromise(1, 2, BROKEN)
    of = exercise(Case("short", "", small_inputs), Case("long", "", small_inputs, promise=promise))
    cases = of.sample()
    right: list[Answer] = [Returned(case.inputs[0].sum(-1), list(case.inputs)) for case in cases]
    verdict = judge(of, cases, [*right[:-1], promise.kept_by(broken)])
    assert (verdict.credit, verdict.reason) == (0.5, Reason.MEMORY)
    assert BROKEN in verdict.sentences
    assert len(cases) == 3  # the long one is drawn once
    wrong = [Returned(torch.zeros(3), list(case.inputs)) for case in cases]
    assert judge(of, cases, [*wrong[:-1], promise.kept_by(broken)]).credit == 0


def test_memory_limit_keeps_answers_of_other_errors() -> None:
    promise = MemoryPromise(1, 2)
    for answer in (Raised("RuntimeError", "shapes"), Lost(Loss.TIME, 5.0)):
        assert promise.kept_by(answer) == answer


def test_code_too_slow_only_for_the_long_case_earns_half() -> None:
    of = exercise(Case("short", "", small_inputs), Case("long", "", small_inputs, promise=MemoryPromise(1, 2, BROKEN)))
    cases = of.sample()
    right: list[Answer] = [Returned(case.inputs[0].sum(-1), list(case.inputs)) for case in cases]
    verdict = judge(of, cases, [*right[:-1], Lost(Loss.TIME, 2.0)])
    assert (verdict.credit, verdict.reason) == (0.5, Reason.BESIDE)
    assert "A few operations on large tensors are faster" in verdict.sentences[0]
    assert not any("endless" in said for said in verdict.sentences)
