"""What `grader doctor` says of a machine: each line where all is well, and where something is missing."""

from __future__ import annotations

import contextlib
import importlib.abc
import io
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from rich.console import Console

from grader.cli import doctor
from grader.cli.doctor import Line
from grader.course.folder import CONFIG_FILE, Course
from grader.host import machine
from support.command_line import grader

pytestmark = pytest.mark.user

PASSWORD = "s3cret-Word"


def in_a_process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(doctor.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (doctor.python_line((3, 12, 1)), "3.12.1"),
        (doctor.torch_line("2.13.0"), "2.13.0"),
        (doctor.landlock_line(3), "version 3"),
        (doctor.seccomp_line(""), "blocks"),
        (doctor.sandbox_line(""), "ran PyTorch"),
        (doctor.disk_line(""), "256 MB"),
        (doctor.cores_line(8), "8 submissions"),
        (doctor.memory_line(16.0, 8), "Enough for 8"),
        (doctor.nbgrader_line("0.9.6"), "0.9.6"),
        (doctor.jupyter_line("4.6.6"), "JupyterLab 4.6.6"),
        (doctor.cuda_line("12.8", ["NVIDIA H200"], 16), "--device cuda grades 16 at once"),
        (
            doctor.extra_line("marimo", "0.25.2", "grader release --marimo works"),
            "With it, grader release --marimo works.",
        ),
    ],
)
def test_doctor_line_when_all_is_there_is_good(line: Line, words: str) -> None:
    assert line.state == "good"
    assert words in f"{line.finding} {line.meaning}"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (doctor.python_line((3, 10, 9)), "Install Python 3.11"),
        (doctor.torch_line(""), "pip install torch"),
        (doctor.torch_line("2.13.0", "libcudart.so.13: cannot open shared object file"), "--force-reinstall torch"),
        (doctor.nbgrader_line("0.9.6", "No module named 'sqlalchemy'"), "import fails"),
        (doctor.landlock_line("Function not implemented"), "lsm=landlock"),
        (doctor.landlock_line("no module", "no module"), "--force-reinstall landlock"),
        (doctor.landlock_line(2), "Boot Linux 6.2 or newer"),
        (doctor.seccomp_line("Unable to find libseccomp"), "apt-get install libseccomp2"),
        (doctor.sandbox_line("No module named 'safetensors'"), "docs/installing.md"),
        (doctor.nbgrader_line(""), "pip install 'nbgrader"),
        (doctor.nbgrader_line("0.10.0"), "pip install 'nbgrader"),
        (doctor.nbgrader_line("0.9.4"), "pip install 'nbgrader"),
    ],
)
def test_doctor_line_when_a_requirement_is_missing_is_bad(line: Line, words: str) -> None:
    assert line.state == "bad"
    assert words in line.meaning


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (doctor.disk_line("PermissionError: [Errno 1] Operation not permitted: 'unshare'"), "checked now and then"),
        (doctor.cores_line(1), "one at a time"),
        (doctor.memory_line(2.0, 16), "--jobs 4"),
        (doctor.memory_line(0.5, 2), "Close other programs"),
        (doctor.jupyter_line(""), "pip install jupyter"),
        (doctor.cuda_line("12.8", []), "nvidia-smi"),
        (doctor.cuda_line("12.8", ["NVIDIA H200"], "Error 304"), "A sandbox cannot use it"),
        (doctor.cuda_line("", []), "CUDA build"),
        (doctor.cuda_line(None, []), "cannot be imported"),
        (doctor.extra_line("dask", "", "more machines"), "pip install 'attention-grader[dask]'"),
    ],
)
def test_doctor_line_when_something_optional_is_missing_is_a_note(line: Line, words: str) -> None:
    assert line.state == "note"
    assert words in line.meaning


def test_database_line_outside_of_a_course_is_a_note(tmp_path: Path) -> None:
    line = doctor.database_line(tmp_path)
    assert line.state == "note"
    assert "course folder" in line.meaning


def test_database_line_when_gradebook_answers_is_good(course: Course) -> None:
    line = doctor.database_line(course.root)
    assert (line.state, line.meaning) == ("good", "It works.")
    assert line.finding == str(course.root / "gradebook.db")


def test_database_line_when_gradebook_is_not_made_is_good(course: Course) -> None:
    (course.root / "gradebook.db").unlink()
    line = doctor.database_line(course.root)
    assert line.state == "good"
    assert "grader release creates it" in line.meaning
    assert not (course.root / "gradebook.db").exists(), "looking makes none"


def test_database_line_when_file_is_no_gradebook_is_bad(course: Course) -> None:
    (course.root / "gradebook.db").write_text("no database at all, but of some length\n" * 100)
    line = doctor.database_line(course.root)
    assert line.state == "bad"
    assert "Is it a gradebook" in line.meaning


def test_database_line_when_config_is_unreadable_is_bad(course: Course) -> None:
    (course.root / CONFIG_FILE).write_text("c = get_config(\n")
    line = doctor.database_line(course.root)
    assert line.state == "bad"
    assert CONFIG_FILE in line.meaning


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql+psycopg://grader:{PASSWORD}@127.0.0.1:{{port}}/course",
        f"postgresql+psycopg://127.0.0.1:{{port}}/course?user=grader&password={PASSWORD}",
    ],
)
def test_connection_line_when_server_is_silent_hides_the_password(address: str) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        line = doctor.connection_line(address.format(port=taken.getsockname()[1]))
    assert line.state == "bad"
    assert "does not respond" in line.meaning
    assert "127.0.0.1" in line.finding
    assert PASSWORD not in f"{line.finding} {line.meaning}"


@pytest.mark.parametrize("address", [f"nonsense://x:{PASSWORD}@host/db", PASSWORD, f"postgres://a:{PASSWORD}@host"])
def test_connection_line_when_address_is_malformed_is_bad(address: str) -> None:
    line = doctor.connection_line(address)
    assert line.state == "bad"
    assert "postgresql+psycopg://" in line.meaning
    assert PASSWORD not in f"{line.finding} {line.meaning}"


@pytest.mark.slow
def test_doctor_in_a_course_says_that_grading_can_run(course: Course) -> None:
    done = in_a_process(course.root, "-m", "grader", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^[✓·] ", done.stdout, re.MULTILINE)) == 15
    assert "✗" not in done.stdout
    assert "This machine can grade" in done.stdout


@pytest.mark.slow
def test_doctor_outside_of_a_course_succeeds(tmp_path: Path) -> None:
    done = grader("doctor", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no course here" in done.stdout


@pytest.mark.slow
def test_doctor_when_gradebook_is_unreachable_exits_with_1(course: Course) -> None:
    settings = course.root / CONFIG_FILE
    address = f"postgresql+psycopg://grader:{PASSWORD}@127.0.0.1:1/course"
    settings.write_text(f"{settings.read_text()}\nc.CourseDirectory.db_url = {address!r}\n")
    done = grader("doctor", folder=course.root)
    assert done.returncode == 1
    assert "Fix this first, as described above: gradebook." in " ".join(done.stdout.split())
    assert PASSWORD not in done.stdout + done.stderr


class Damaged(importlib.abc.MetaPathFinder):
    """Comes first and finds a package damaged, as where a library of the system is missing."""

    def __init__(self, module: str, error: type[Exception]) -> None:
        self._module, self._error = module, error

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name == self._module:
            raise self._error("it is damaged")


@contextlib.contextmanager
def damaged(module: str, error: type[Exception]) -> Iterator[None]:
    """What has been imported of it, or needs it, is imported again, our command line included."""
    again = {module, "grader", "nbgrader"} - ({"nbgrader"} if module in ("landlock", "torch") else set())
    with mock.patch.dict(sys.modules), mock.patch.object(sys, "meta_path", [Damaged(module, error), *sys.meta_path]):
        for name in [name for name in sys.modules if name.partition(".")[0] in again]:
            del sys.modules[name]
        yield


@pytest.mark.slow
@pytest.mark.parametrize("error", [ImportError, OSError])
@pytest.mark.parametrize(
    ("module", "bad"),
    [
        ("landlock", "Landlock"),
        ("nbgrader", "nbgrader, gradebook"),
        ("nbformat", "sandbox, nbgrader, gradebook"),
        ("sqlalchemy", "nbgrader, gradebook"),
        ("torch", "PyTorch"),
    ],
)
def test_doctor_when_a_package_is_damaged_names_it(
    module: str, bad: str, error: type[Exception], course: Course
) -> None:
    with damaged(module, error):
        done = grader("doctor", folder=course.root)
    assert done.returncode == 1
    assert "it is damaged" in " ".join(done.stdout.split())
    assert f"Fix this first, as described above: {bad}" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_doctor_when_a_package_was_never_importable_names_it(course: Course) -> None:
    """From the way in on, in a Python that has imported nothing yet."""
    program = "import sys; sys.modules['nbformat'] = None; sys.argv = ['grader', 'doctor']; from grader import __main__"
    done = in_a_process(course.root, "-c", f"{program}; __main__.main()")
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    assert "Fix this first, as described above: sandbox, nbgrader, gradebook" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_why_no_sandbox_when_it_is_not_confined_says_so(other_zygote: Callable[[str], None]) -> None:
    assert doctor.why_no_sandbox() == ""
    other_zygote("from grader.sandbox import confine; confine._limit_files = lambda *_: None")
    assert doctor.why_no_sandbox() == "it could read /etc/passwd"
    other_zygote("from grader.sandbox import confine; confine._limit_calls = lambda *_: None")
    assert doctor.why_no_sandbox() == "it could open a socket"


@pytest.mark.slow
def test_why_no_sandbox_when_it_cannot_start_says_its_last_words(other_zygote: Callable[[str], None]) -> None:
    """Whatever ends the process that forks them: it is waited for, and asked."""
    other_zygote("import time; time.sleep(0.5); sys.modules['safetensors'] = None")
    assert doctor.why_no_sandbox() == "import of safetensors halted; None in sys.modules"
    other_zygote("import os; os._exit(3)")
    assert (
        doctor.why_no_sandbox() == "the process that forks them does not answer ([Errno 104] Connection reset by peer)"
    )


@pytest.mark.slow
def test_why_no_sandbox_when_device_computes_wrongly_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.host.devices.RIGHT", 215.0)
    assert doctor.why_no_sandbox() == "cpu computes 216.0 where 215.0 is right"


def test_why_no_disk_says_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert machine.why_no_disk() == ""
    monkeypatch.setattr(machine, "DISK_TRIAL", machine.DISK_TRIAL.replace("sys.argv[1]", "'/nowhere'"))
    assert machine.why_no_disk() == "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere'"
    monkeypatch.setattr(machine, "DISK_TRIAL", machine.DISK_TRIAL.replace("own_disk.mount", "print"))
    monkeypatch.chdir(tmp_path)
    assert machine.why_no_disk() == "the limit did not hold"


def test_why_no_sandbox_when_nothing_can_be_written_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container whose /tmp belongs to somebody else."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert "No such file or directory" in doctor.why_no_sandbox()


def test_doctor_table_escapes_markup() -> None:
    console = Console(file=io.StringIO(), width=200)
    console.print(doctor.table([Line("Landlock", "bad", "[red]\x1b[31m", "[bold]do this[/bold]")]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red] [31m" in shown
    assert "[bold]do this[/bold]" in shown
