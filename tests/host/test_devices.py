"""Which devices there are, how many sandboxes fit, and what is told where none can start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.classroom import local_crew
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError, CrewGone
from grader.facts.device_facts import KEPT, MADE, MOVED, with_device_named
from grader.host import devices, patience
from grader.host.grading import grade_notebook
from grader.host.zygote_process import GPUS, inherited
from grader.model.verdict import Reason, Verdict
from grader.sandbox.accelerator import is_full
from support.our_course import OURS

SHOWS_ITS_GPU = f"import os\n\ndef softmax(items_in):\n    raise ValueError('sees ' + os.environ.get({GPUS!r}, ''))"
NO_PACKAGE = "sys.modules['safetensors'] = None"
FULL_DEVICE = """
import torch
from grader.sandbox import accelerator
def start(device, memory):
    raise torch.OutOfMemoryError(device + " is out of memory")
accelerator.start = start"""


@pytest.mark.parametrize(
    ("said", "count", "names"),
    [
        (None, 2, ["0", "1"]),
        ("", 0, []),
        ("3", 1, ["3"]),
        ("2, 0", 2, ["2", "0"]),
        ("GPU-8932f937,GPU-1", 2, ["GPU-8932f937", "GPU-1"]),
        ("0,-1,1", 1, ["0"]),  # what stands behind a number that is none, CUDA does not see
    ],
)
def test_gpus_returns_the_name_of_each(
    said: str | None, count: int, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.delenv(GPUS, raising=False)
    if said is not None:
        monkeypatch.setenv(GPUS, said)
    assert devices.gpus() == names


def test_seeing_sets_the_gpu_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GPUS, "0,1")
    with devices.seeing("1"):
        assert inherited()[GPUS] == "1"
    assert inherited()[GPUS] == "0,1"
    monkeypatch.delenv(GPUS)
    with devices.seeing("1"):
        assert inherited()[GPUS] == "1"
    assert GPUS not in inherited()


@pytest.mark.parametrize(
    ("free", "processors", "jobs"),
    [([80], 16, 16), ([3.5], 16, 3), ([3.5, 2.1], 16, 5), ([0.1], 16, 1), ([80, 80], 64, 64), ([10], 1, 1)],
)
def test_jobs_on_gpus_are_as_many_as_have_room(free: list[float], processors: int, jobs: int) -> None:
    assert devices.jobs_on_gpus([int(one * 2**30) for one in free], processors) == jobs


@pytest.mark.slow
def test_autograde_spreads_a_class_over_all_gpus(course: Course, submit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_crew, "gpu_names", lambda _: ["a", "b", "c"])
    students = [f"student{number}" for number in range(9)]
    for student in students:
        submit(course, student, {3: SHOWS_ITS_GPU})
    assert [one.error for one in autograde(course, "self_attention", jobs=3)] == [""] * 9
    shown = {str(course.read(f"autograded/{student}", "self_attention")) for student in students}
    assert {gpu for gpu in "abc" if any(f"sees {gpu}" in one for one in shown)} == {"a", "b", "c"}


# --- where nothing can start ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_autograde_when_no_sandbox_can_start_says_so_once(
    jobs: int, course: Course, submit: Any, other_zygote: Callable[[str], None]
) -> None:
    for student in ("ada", "grace", "kurt"):
        submit(course, student, {})
    other_zygote(NO_PACKAGE)
    with pytest.raises(CrewGone, match=r"^Cannot start a sandbox: import of safetensors halted"):
        list(autograde(course, "self_attention", jobs=jobs))
    assert not (course.root / "autograded/ada").exists()


@pytest.mark.slow
def test_autograde_when_sandboxes_stop_starting_keeps_its_results(
    course: Course, submit: Any, monkeypatch: pytest.MonkeyPatch, other_zygote: Callable[[str], None]
) -> None:
    """The first sandbox of all works, and that of the first student; then something is gone."""
    monkeypatch.setattr("grader.classroom.run.BATCH", 1)
    for student in ("ada", "grace"):
        submit(course, student, {})
    run = autograde(course, "self_attention")
    assert next(run).student == "ada"
    other_zygote(NO_PACKAGE)
    with pytest.raises(CourseError, match="Cannot start a sandbox"):
        list(run)
    assert (course.root / "autograded/ada").is_dir()
    assert not (course.root / "autograded/grace").exists()


def test_cannot_start_when_package_is_missing_names_a_way_out() -> None:
    said = str(devices.cannot_start(ModuleNotFoundError("No module named 'safetensors'")))
    assert said.startswith("Cannot start a sandbox: No module named 'safetensors'. Sandboxes only use packages in")
    assert str(devices.cannot_start(OSError("too many files."))).endswith(
        "too many files. For details, run: grader doctor"
    )


@pytest.mark.slow
def test_grading_when_gpu_is_full_waits(
    course: Course, make_notebook: Any, monkeypatch: pytest.MonkeyPatch, other_zygote: Callable[[str], None]
) -> None:
    """It is no fault of the submission, and may have room again."""
    waited: list[float] = []
    monkeypatch.setattr(patience, "PAUSES", (0.1, 0.2))
    monkeypatch.setattr("grader.host.patience.time.sleep", waited.append)
    other_zygote(FULL_DEVICE)
    with pytest.raises(OSError, match="gpu is out of memory"):
        grade_notebook(make_notebook(course, {}), settings=replace(OURS, device="gpu"))
    assert waited == [0.1, 0.2]


def test_is_full_looks_at_the_cause_of_an_error() -> None:
    assert is_full(torch.OutOfMemoryError("CUDA out of memory"))
    assert is_full(RuntimeError("CUDA error: out of memory"))
    led_to = ValueError("a driver")
    led_to.__cause__ = torch.OutOfMemoryError("CUDA out of memory")
    assert is_full(led_to)
    assert not is_full(RuntimeError("CUDA error: unknown"))


# --- what keeps to the CPU --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "named", "quoted"),
    [
        ("def f(x):\n    return x + torch.zeros(3)", MADE, "`torch.zeros(3)`"),
        ("def f(x):\n    m = torch.tril(torch.ones(len(x), len(x)))\n    return x * m", MADE, "`torch.ones("),
        ("def f(x):\n    return torch.tensor([s for s in x])", MADE, "`torch.tensor("),
        ("def f(x):\n    return x.cpu()", MOVED, "`x.cpu()`"),
        ("def f(x):\n    return x.to('cpu', torch.float64)", MOVED, "`x.to('cpu', torch.float64)`"),
        ("def f(x):\n    return x.to(device='cpu')", MOVED, "`x.to(device='cpu')`"),
        ("def f(x):\n    return torch.from_numpy(x.detach().numpy())", MOVED, "`x.detach().numpy()`"),
        (
            "class M(nn.Module):\n    def __init__(self):\n        self.mask = torch.ones(3, 3).triu(1)",
            KEPT,
            "`self.mask`",
        ),
    ],
)
def test_with_device_named_names_code_that_keeps_to_the_cpu(code: str, named: str, quoted: str) -> None:
    found = named_verdict(code)
    assert found.misconceptions == (named,)
    assert found.sentences[0] == "elsewhere"
    assert quoted in found.sentences[1]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return x + torch.zeros(3, device=x.device)",
        "def f(x):\n    return x + torch.zeros(3, **where)",
        "def f(x):\n    return x + torch.zeros(3).to(x.device)",
        "def f(x):\n    m = torch.zeros(3)\n    m = m.to(x)\n    return x + m",
        "def f(x):\n    return x / torch.sqrt(torch.tensor(3.0))",
        "def f(x):\n    return x + numpy.zeros(3)",
        "class M(nn.Module):\n    def __init__(self):\n        self.register_buffer('mask', torch.ones(3, 3))",
        "class M(nn.Module):\n    def __init__(self):\n        self.W = nn.Parameter(torch.rand(3, 3))",
        "class M(nn.Module):\n    def forward(self, x):\n        self.m = torch.ones(3)\n        self.m = self.m.to(x)",
        "this is no Python",
    ],
)
def test_with_device_named_when_code_follows_the_device_names_nothing(code: str) -> None:
    assert named_verdict(code).misconceptions == ()


def named_verdict(code: str) -> Verdict:
    return with_device_named(Verdict(1, "Title", 0.0, Reason.WRONG_DEVICE, ("elsewhere",)), code)


def test_with_device_named_when_reason_differs_keeps_the_verdict() -> None:
    verdict = Verdict(1, "Title", 0.0, Reason.WRONG, ("elsewhere",))
    assert with_device_named(verdict, "def f(x):\n    return x.cpu()") is verdict


def test_folder_of_alembic_finds_it_beside_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the interpreter as a rule; tests/end_to_end/test_installations.py has the other ways."""
    from grader.course.folder import folder_of_alembic

    assert (folder_of_alembic() / "alembic").is_file()
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert (folder_of_alembic() / "alembic").is_file()
