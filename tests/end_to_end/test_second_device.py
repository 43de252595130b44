"""Grading on another device than the CPU, end to end, on one that support/second_device.py makes in the sandboxes.

What only a GPU can show is not shown here: its driver, its rounding, and its way of ending a process.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from test_attacks import FOLDER, read

from grader.course.folder import Course
from grader.facts.device_facts import KEPT, MADE, MOVED
from grader.host import zygote_process
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxLost, SandboxProcess
from grader.model.answer import Loss, Lost
from grader.model.verdict import Reason, Verdict
from grader.sandbox.confine import CannotConfineError
from grader.sandbox.values import tensors_in
from support.answer_keys import FUNCTIONS, some_misconceptions
from support.corpus import RIGHT, WRONG, Entry
from support.device_made import MAKES_DEVICE, NAME
from support.our_course import ASSIGNMENTS, EXERCISES, OURS, of_assignment
from support.outside import Outside, changes
from support.places import TESTS
from support.solution_cells import from_notebook, of_notebook

pytestmark = pytest.mark.slow

SUBMISSIONS = 1  # made of the corpus, for each assignment
# On the way to this device, a weight that two layers share becomes two.
TAKEN_APART = {"head and embedding tied"}
TOLD_IN = "The inputs are not on the CPU"
LONG = Limits(cell=60, case=30, submission=600)
# Files are limited as without a device; or calls are before the device starts.
AS_ON_THE_CPU = """
from grader.sandbox import confine
limit_files, limit_calls = confine._limit_files, confine._limit_calls
if {limit!r} == "_limit_files":
    confine._limit_files = lambda folder, device, hidden: limit_files(folder, "cpu", hidden)
else:
    confine._limit_files = lambda *given: (limit_files(*given), limit_calls("cpu", None))
    confine._limit_calls = lambda *_: None
"""

Grade = Callable[..., dict[int, Verdict]]


@pytest.fixture(scope="module", autouse=True)
def _with_a_second_device() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        before = "sys.path.remove("
        patch.setattr(zygote_process, "PROGRAM", zygote_process.PROGRAM.replace(before, f"{MAKES_DEVICE}{before}", 1))
        zygote_process.close_zygote()
        yield
        zygote_process.close_zygote()


@pytest.fixture(scope="module")
def grade(released_course: Course, make_notebook: Callable[..., Any]) -> Grade:
    """`grade({3: source}, device=…)`: the verdicts on solutions of one assignment, by exercise."""

    def verdicts(answers: dict[int, str], device: str = NAME, limits: Limits = LONG) -> dict[int, Verdict]:
        assignment = EXERCISES[min(answers)].assignment
        notebook = make_notebook(released_course, {**of_notebook(assignment), **answers}, assignment)
        asked = {f"test-exercise-{number}" for number in answers}
        notebook.cells = [
            cell
            for cell in notebook.cells
            if cell.metadata["nbgrader"]["grade_id"] in asked or not cell.metadata["nbgrader"]["grade"]
        ]
        found = grade_notebook(notebook, settings=replace(OURS, device=device, limits=limits))
        return {verdict.exercise: verdict for verdict in found if verdict.exercise in answers}

    return verdicts


@pytest.fixture
def sandbox() -> Iterator[SandboxProcess]:
    process = SandboxProcess({}, LONG, NAME)
    assert process.run_cell("import torch\nfrom torch import nn", 30).error == ""
    yield process
    process.close()


@pytest.fixture
def outside(released_course: Course, tmp_path: Path) -> Iterator[Outside]:
    made = Outside(tmp_path, released_course)
    yield made
    made.close()


def wrong_of(verdicts: dict[int, Verdict]) -> dict[int, tuple[str, ...]]:
    return {number: verdict.sentences for number, verdict in verdicts.items() if not verdict.right}


# --- what is right and wrong on the CPU is so there -------------------------------------------------------------------


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_solutions_earn_full_marks(assignment: str, grade: Grade) -> None:
    numbers = [exercise.number for exercise in of_assignment(assignment)]
    found = grade(of_notebook(assignment))
    assert list(found) == numbers
    assert wrong_of(found) == {}


@pytest.fixture(scope="module")
def on_second_device(request: pytest.FixtureRequest) -> dict[str, dict[str, tuple[list[str], float, list[str]] | None]]:
    """By exercise and misconception: who is named, the credit, and where the answers were. None where an index out of
    range took the device down."""
    test = test_every_reference_is_right_and_misconceptions_are_named.__name__
    functions = [item for item in request.session.items if isinstance(item, pytest.Function)]
    tried = [function.callspec.params["name"] for function in functions if function.originalname == test]
    order = [sys.executable, "-m", "support.on_second_device", json.dumps(tried)]
    done = subprocess.run(order, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, tuple[list[str], float, list[str]] | None]] = json.loads(done.stdout)
    return found


@pytest.mark.proof
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_reference_is_right_and_misconceptions_are_named(
    name: int | str, on_second_device: dict[str, dict[str, tuple[list[str], float, list[str]] | None]]
) -> None:
    told = on_second_device[str(name)]
    found = {held: one for held, one in told.items() if one is not None and held not in TAKEN_APART}
    assert sum(one is None for one in told.values()) <= 1, "hardly any takes the device down"
    *_, places = found.pop("")
    given = [case.inputs for case in FUNCTIONS[name].sample()]
    if list(tensors_in(given)):  # what is made of numbers alone may be anywhere
        assert NAME in places
    expected = {one.name: ([one.name], one.credit) for one in some_misconceptions(FUNCTIONS[name]) if one.name in found}
    assert {held: (named, credit) for held, (named, credit, _) in found.items()} == expected


def some_of(entries: list[Entry], assignment: str) -> list[dict[int, Entry]]:
    """A few submissions, each with a file of each exercise that a run tries, by its number."""
    chosen = {}
    for number in [exercise.number for exercise in of_assignment(assignment)][::3]:
        files = [entry for entry in entries if entry.number == number]
        chosen[number] = files[:: len(files) // SUBMISSIONS][:SUBMISSIONS]
    return [{number: files[index] for number, files in chosen.items()} for index in range(SUBMISSIONS)]


def sources_of(entries: dict[int, Entry]) -> dict[int, str]:
    return {number: entry.cell for number, entry in entries.items()}


@pytest.mark.parametrize("assignment", ASSIGNMENTS[1:2])
def test_what_is_right_on_any_device_earns_full_marks(assignment: str, grade: Grade) -> None:
    """As right answers are, from exercise 9 on: see tests/data/corpus/README.md."""
    known = [entry for entry in RIGHT if "complex" not in entry.cell]  # of which this device computes no gradients
    for entries in some_of(known, assignment):
        assert wrong_of(grade(sources_of(entries))) == {}


@pytest.mark.parametrize("assignment", ASSIGNMENTS[:1])
def test_what_students_write_is_named_as_on_the_cpu(assignment: str, grade: Grade) -> None:
    elsewhere = 0
    for entries in some_of(WRONG, assignment):
        for number, verdict in grade(sources_of(entries)).items():
            assert verdict.credit < 1
            if TOLD_IN in " ".join(verdict.sentences):  # it makes tensors on the CPU: another mistake, and told first
                assert "device" not in entries[number].cell
                elsewhere += 1
            else:
                assert set(verdict.misconceptions) == entries[number].named, verdict.sentences
    assert elsewhere <= 2


# --- what is right on the CPU only ------------------------------------------------------------------------------------


class OnCPU(NamedTuple):
    """Code with a tensor on the CPU, what is told, and what makes it right everywhere."""

    number: int
    code: str
    told: str
    wrong: str  # in the code, …
    right: str  # … and in its place
    named: str = MADE


ON_DEVICE = "but your result is not on the device of the input"
NO_NUMPY = "not on the CPU, where numpy computes"
HEAD = """
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        {mask}

    def forward(self, x):
        b, T, d_in = x.shape
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / k.shape[-1] ** 0.5
        scores = scores.masked_fill({hidden}, -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v
"""
BUFFER = 'self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())'
WRAPPER = """
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        out = torch.zeros(*x.shape[:2], len(self.heads) * self.d_out, dtype=x.dtype)
        for i, head in enumerate(self.heads):
            out[:, :, i * self.d_out : (i + 1) * self.d_out] = head(x)
        return out
"""
ON_CPU = {
    "a list of numbers made a tensor": OnCPU(
        4,
        "def attention_weights(all_scores):\n    return [softmax(torch.tensor(row)) for row in all_scores]",
        ON_DEVICE,
        "torch.tensor(row)",
        "torch.stack([torch.as_tensor(one) for one in row])",
    ),
    "results collected in zeros": OnCPU(
        5,
        """
def weighted_sums(all_weights, all_values):
    sums = torch.zeros(len(all_weights), *all_values[0].shape)
    for n, weights in enumerate(all_weights):
        sums[n] = sum(weight * value for weight, value in zip(weights, all_values))
    return list(sums)
""",
        ON_DEVICE,
        "*all_values[0].shape)",
        "*all_values[0].shape, device=all_values[0].device)",
    ),
    "a sum that begins with zeros": OnCPU(
        5,
        """
def weighted_sums(all_weights, all_values):
    sums = []
    for weights in all_weights:
        total = torch.zeros(all_values[0].shape)
        for weight, value in zip(weights, all_values):
            total += weight * value
        sums.append(total)
    return sums
""",
        TOLD_IN,
        "torch.zeros(all_values[0].shape)",
        "torch.zeros_like(all_values[0])",
    ),
    "back to the CPU in the middle": OnCPU(
        9, "def simple_attention_scores(inputs, query):\n    return inputs.cpu() @ query", TOLD_IN, ".cpu()", "", MOVED
    ),
    "back to the CPU for good": OnCPU(
        11,
        "def all_context_vectors(inputs):\n    x = inputs.to('cpu')\n    return torch.softmax(x @ x.T, dim=1) @ x",
        ON_DEVICE,
        ".to('cpu')",
        "",
        MOVED,
    ),
    "by way of numpy": OnCPU(
        7,
        """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    scores = K.numpy().T @ Q.numpy() / len(K) ** 0.5
    return V @ torch.softmax(torch.from_numpy(scores), dim=0)
""",
        NO_NUMPY,
        "K.numpy().T @ Q.numpy() / len(K) ** 0.5\n    return V @ torch.softmax(torch.from_numpy(scores), dim=0)",
        "K.T @ Q / len(K) ** 0.5\n    return V @ torch.softmax(scores, dim=0)",
        MOVED,
    ),
    "a mask of ones": OnCPU(
        14,
        """
def mask_then_renormalize(attn_weights):
    T = attn_weights.shape[0]
    masked = attn_weights * torch.tril(torch.ones(T, T))
    return masked / masked.sum(dim=1, keepdim=True)
def causal_softmax(attn_scores, d_k):
    later = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(later, -torch.inf) / d_k**0.5, dim=1)
""",
        TOLD_IN,
        "torch.ones(T, T)",
        "torch.ones(T, T, device=attn_weights.device)",
    ),
    "positions": OnCPU(
        16,
        HEAD.format(mask=BUFFER, hidden="torch.arange(T) > torch.arange(T)[:, None]"),
        f"{TOLD_IN}, and your code has a tensor there",
        "torch.arange(T) > torch.arange(T)[:, None]",
        "torch.arange(T, device=x.device) > torch.arange(T, device=x.device)[:, None]",
    ),
    "a mask that is no buffer": OnCPU(
        16,
        HEAD.format(
            mask="self.mask = torch.ones(context_length, context_length).triu(1) > 0", hidden="self.mask[:T, :T]"
        ),
        "such as a mask, moves with it once register_buffer has it",
        "self.mask = torch.ones(context_length, context_length).triu(1) > 0",
        BUFFER,
        KEPT,
    ),
    "heads collected in zeros": OnCPU(
        17, WRAPPER, ON_DEVICE, "self.d_out, dtype=x.dtype)", "self.d_out, dtype=x.dtype, device=x.device)"
    ),
}


@pytest.mark.parametrize("name", ON_CPU)
def test_a_tensor_on_the_cpu_is_told_and_the_right_way_is_right(name: str, grade: Grade) -> None:
    number, code, told, wrong, right, _ = ON_CPU[name]
    assert code.count(wrong) == 1
    others = {3: from_notebook()[3]} if number == 4 else {}
    on_cpu = grade(others | {number: code}, "cpu")[number]
    assert on_cpu.right or on_cpu.misconceptions == ("mask is a plain attribute",)  # wherever it is
    verdict = grade(others | {number: code})[number]
    assert not verdict.right
    assert verdict.reason == Reason.WRONG_DEVICE
    assert verdict.misconceptions == (ON_CPU[name].named,)
    assert told in " ".join(verdict.sentences)
    assert wrong_of(grade(others | {number: code.replace(wrong, right)})) == {}


def test_an_error_of_a_device_is_told_with_its_line(grade: Grade) -> None:
    (sentence,) = grade({9: ON_CPU["back to the CPU in the middle"].code})[9].sentences[:1]
    assert sentence.startswith("Your function stopped with RuntimeError: Expected all tensors to be on the same device")
    assert "at the line `return inputs.cpu() @ query`. The inputs are not on the CPU, and" in sentence
    assert "device=x.device" in sentence


def test_numbers_in_lists_are_on_no_device(grade: Grade) -> None:
    """Exercise 3 is asked with a list of plain numbers, too."""
    assert grade({3: "def softmax(items_in):\n    return torch.softmax(torch.as_tensor(items_in), 0)"})[3].right


def test_right_versions_of_earlier_functions_answer_on_the_device_of_their_arguments(grade: Grade) -> None:
    wrong = "def softmax(items_in):\n    return torch.as_tensor(items_in) * 3"
    calls = "def attention_weights(all_scores):\n    return [softmax({}) for row in all_scores]"
    stacked, elsewhere = (calls.format(how) for how in ("torch.stack(row)", "torch.stack(row).cpu()"))
    assert grade({3: wrong, 4: stacked})[4].right
    assert grade({3: wrong, 4: elsewhere})[4].reason == Reason.WRONG_DEVICE


# --- what a driver is allowed, and nobody else ---------------------------------------------------------------------

# Called by the notebook's own thread, and by the one that the driver has left behind.
NOT_ALLOWED = {
    "another file": "open('/etc/passwd')",
    "a socket": "socket.socket()",
    "a socket such as the driver has": "socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)",
    "to listen again": "torch.second.driver.listens.listen()",
    "to meet somebody": "torch.second.driver.listens.accept()",
    "another program": "os.posix_spawn('/bin/true', ['true'], {})",
    "a signal": "os.kill(os.getppid(), 0)",
    "the name of another process": "open(f'/proc/{os.getppid()}/comm', 'w')",
    "a driver's own request to what is no device": "fcntl.ioctl(open('/dev/null'), ord('F') << 8)",
}
ATTACKS = ("names_of_threads", "socket_of_the_driver")


@pytest.mark.parametrize("what", NOT_ALLOWED)
def test_no_thread_is_freer_than_another(what: str, sandbox: SandboxProcess) -> None:
    call = f"lambda: {NOT_ALLOWED[what]}"
    own = sandbox.run_cell(f"import fcntl, os, socket\n({call})()", 30).error
    told = sandbox.run_cell(f"print(torch.second.driver.ask({call}))", 30).outputs[0].text
    assert own.startswith("PermissionError")
    assert told.startswith("PermissionError")


def test_a_driver_names_its_threads(sandbox: SandboxProcess) -> None:
    named = "print(open(torch.second.driver.path, 'w').write('seen'))"
    assert sandbox.run_cell(named, 30).error == ""
    names = [path.read_text().strip() for path in Path(f"/proc/{sandbox.pid}/task").glob("*/comm")]
    assert "seen" in names


def test_nobody_reaches_the_socket_of_a_driver(sandbox: SandboxProcess) -> None:
    """It has a network of its own, in which its name means something."""
    address = f"\0second-device-{sandbox.pid}"
    shown = sandbox.run_cell("print(ascii(torch.second.driver.listens.getsockname()))", 30).outputs[0].text
    assert address == shown.strip()[2:-1].encode().decode("unicode_escape")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as ours, pytest.raises(ConnectionRefusedError):
        ours.connect(address)


@pytest.mark.parametrize("name", ATTACKS)
def test_what_a_driver_has_is_of_no_use_to_an_attacker(name: str, sandbox: SandboxProcess, outside: Outside) -> None:
    attack = read(FOLDER / f"escaping/{name}.py")
    before = outside.state()
    world = outside.world()
    told = sandbox.run_cell(f"open('world.py', 'w').write({world!r})\n{attack.text}", 60)
    text = "".join(output.get("text", "") for output in told.outputs)
    assert told.error == ""
    assert text.strip() == attack.gets
    assert changes(before, outside.state(), "") == []


def test_a_driver_that_is_allowed_nothing_cannot_start(other_zygote: Callable[[str], None]) -> None:
    """So what is shown above is what lets it."""
    for limit in ("_limit_files", "_limit_calls"):
        other_zygote(AS_ON_THE_CPU.format(limit=limit))
        process = SandboxProcess({}, LONG, NAME)
        try:
            with pytest.raises(CannotConfineError, match="second cannot be used in a sandbox"):
                process.wait_until_ready()
        finally:
            process.close()


# --- what a GPU does, and the engine with it --------------------------------------------------------------------------

LATE = "x[torch.tensor([99], device=x.device)]"  # nobody knows yet that there is no such entry
UNSTABLE = "def softmax_stable(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)"


def test_an_answer_is_read_when_it_is_computed(grade: Grade) -> None:
    """Work in another stream is done when all is waited for, and not before."""
    code = """
def softmax_stable(x, dim=-1):
    out = torch.zeros_like(x)
    torch.second.synchronize = lambda: out.copy_(torch.softmax(x, dim))
    return out if not x.requires_grad else torch.softmax(x, dim)
"""
    assert grade({10: code})[10].right


def test_a_device_that_fails_costs_the_exercise_in_which_it_did(grade: Grade) -> None:
    """The function does not even look at what it has read. What follows is computed by a new process."""
    code = f"def softmax_stable(x, dim=-1):\n    {LATE}\n    return torch.softmax(x, dim)"
    found = grade({9: from_notebook()[9], 10: code, 11: from_notebook()[11], 12: from_notebook()[12]})
    assert list(wrong_of(found)) == [10]
    assert found[10].loss == Loss.DEVICE
    assert found[10].sentences[0].startswith("Your code made the GPU fail")


def test_what_fails_while_an_answer_is_read_is_no_fault_of_the_next_one(grade: Grade) -> None:
    """Of two functions of an exercise, one fails; the cases of the other are asked afterwards."""
    code = f"""
def mask_then_renormalize(attn_weights):
    x = attn_weights
    return {LATE}
def causal_softmax(attn_scores, d_k):
    later = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(later, -torch.inf) / d_k**0.5, dim=1)
"""
    verdict = grade({14: code})[14]
    assert (verdict.credit, verdict.loss) == (0.5, Loss.DEVICE)


def test_a_device_that_fails_in_a_cell_costs_that_cell(grade: Grade) -> None:
    code = f"{UNSTABLE}\nx = torch.zeros(3, device='second')\n{LATE}"
    found = grade({9: from_notebook()[9], 10: code, 11: from_notebook()[11]})
    assert list(wrong_of(found)) == [10]
    assert found[10].loss == Loss.DEVICE
    assert found[10].reason == Reason.MISSING


def test_a_device_that_fails_in_one_sandbox_works_in_another(sandbox: SandboxProcess) -> None:
    other = SandboxProcess({}, LONG, NAME)
    try:
        assert other.run_cell("import torch\nx = torch.ones(3, device='second')", 30).error == ""
        with pytest.raises(SandboxLost) as lost:
            sandbox.run_cell(f"x = torch.zeros(3, device='second')\n{LATE}", 30)
        assert lost.value.lost == Lost(Loss.DEVICE)
        assert other.run_cell("assert (x + 1).tolist() == [2, 2, 2]", 30).error == ""
    finally:
        other.close()


def test_memory_that_is_not_there_is_told_and_costs_its_exercise(grade: Grade) -> None:
    code = "def softmax_stable(x, dim=-1):\n    return torch.zeros(10**6, 10**5, device=x.device)"
    found = grade({9: from_notebook()[9], 10: code, 11: from_notebook()[11]})
    assert list(wrong_of(found)) == [10]
    assert "OutOfMemoryError: second out of memory" in found[10].sentences[0]


def test_memory_of_the_device_is_bounded_as_that_of_the_cpu(sandbox: SandboxProcess) -> None:
    takes = "import torch\nlarge = torch.zeros(2**19, device='second')"  # 2 MB
    assert sandbox.run_cell(takes, 30).error == ""
    small = SandboxProcess({}, Limits(memory=2**20), NAME)
    try:
        assert small.run_cell(takes, 30).error.startswith("OutOfMemoryError")
    finally:
        small.close()


def test_a_device_that_cannot_be_used_is_no_fault_of_the_submission() -> None:
    process = SandboxProcess({}, LONG, "third")
    try:
        with pytest.raises(CannotConfineError, match="third cannot be used in a sandbox"):
            process.run_cell("1", 30)
    finally:
        process.close()


def test_expected_values_are_never_there(grade: Grade) -> None:
    """What is not known here cannot hold a tensor of ours. To name a mistake, everything is computed."""
    verdict = grade({10: UNSTABLE})[10]
    assert verdict.misconceptions
    with pytest.raises(RuntimeError, match="second"):
        torch.zeros(1, device=NAME)
