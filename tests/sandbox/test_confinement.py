"""What the kernel keeps a submission from, tried from inside a real sandbox."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError
from grader.host import scratch
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxLost, SandboxProcess
from grader.host.zygote_process import Zygote, fork_sandbox, start_zygote
from grader.model.answer import Loss, Lost
from grader.sandbox import confine
from support.our_course import OURS
from support.places import ROOT

pytestmark = pytest.mark.users

PIPE = "import fcntl, socket; end = socket.socketpair()[0]"
LIBC = "__import__('ctypes').CDLL(None, use_errno=True)"
TIMER = f"{LIBC}.timer_create(1, None, __import__('ctypes').byref(__import__('ctypes').c_void_p()))"
DENIED = {
    "the grader's references": f"open({str(ROOT / 'grader/exercises/ex03_softmax.py')!r})",
    "the instructor's notebook": f"open({str(ROOT / 'source/self_attention/self_attention.ipynb')!r})",
    "the course folder": f"__import__('os').listdir({str(ROOT)!r})",
    "system files": "open('/etc/passwd')",
    "its own /proc": "open('/proc/self/environ')",
    "the grader's addresses": "open(f'/proc/{__import__(\"os\").getppid()}/maps')",
    "the memory behind its own": "open('/proc/self/mem', 'rb')",
    "the grader's /proc": "open(f'/proc/{__import__(\"os\").getppid()}/mem', 'rb')",
    "the network": "__import__('socket').socket()",
    "a fork": "__import__('os').fork()",
    "another program": "__import__('subprocess').run(['true'])",
    "another program through a shell": "__import__('os').posix_spawn('/bin/true', ['true'], {})",
    "a pool of processes": "__import__('multiprocessing').Pool(2)",
    "a signal to its parent": "__import__('os').kill(__import__('os').getppid(), 9)",
    "a signal to init": "__import__('os').kill(1, 0)",
    "a signal to all": "__import__('os').kill(-1, 9)",
    "other file modes": f"__import__('os').chmod({str(ROOT / 'README.md')!r}, 0o600)",
    "other file times": f"__import__('os').utime({str(ROOT / 'README.md')!r})",
    "writing elsewhere": "open('/tmp/canary-of-the-sandbox', 'w')",
    "removing elsewhere": f"__import__('os').remove({str(ROOT / 'README.md')!r})",
    "reading through a link": "__import__('os').symlink('/etc/passwd', 'link') or open('link')",
    "a hard link": "__import__('os').link('/etc/passwd', 'hard')",
    "more of what is limited": "__import__('resource').setrlimit(__import__('resource').RLIMIT_CPU, (9999, 9999))",
    "more memory than allowed": "bytearray(6 * 2**30)",
    "a file that fills the disk": "open('big', 'wb').write(bytes(80 * 2**20))",
    "a descriptor of the grader": "__import__('os').read(5, 1)",
    "another user": "__import__('os').setuid(65534)",
    "memory without a mapping": "__import__('os').memfd_create('hidden')",
    "other processors for its parent": "__import__('os').sched_setaffinity(__import__('os').getppid(), {0})",
    "signals sent by the kernel": f"{PIPE}; fcntl.fcntl(end, fcntl.F_SETOWN, __import__('os').getppid())",
    "a signal of its choice sent by the kernel": f"{PIPE}; fcntl.fcntl(end, 10, 9)",
    "outliving its parent": f"{LIBC}.prctl(1, 0, 0, 0, 0) and fail()",
    "being looked into": f"{LIBC}.prctl(4, 1, 0, 0, 0) and fail()",
    "the same with the upper half of an argument set": f"{LIBC}.syscall(157, 2**32 + 4, 1, 0, 0, 0) and fail()",
    "a socket that can be told where to send": "__import__('socket').socketpair(type=2)",
    "another one": "__import__('socket').socketpair(type=5 | 0o4000)",
    "flags of files that can only be read": "fcntl.ioctl(open(os.__file__), 0x40086602, bytes(8))",
    "a lease on files that can only be read": "fcntl.fcntl(open(os.__file__), 1024, 0)",
    "space that nothing is in": "os.posix_fallocate(os.open('claimed', os.O_CREAT | os.O_RDWR), 0, 2**20)",
    "sending descriptors": "__import__('socket').send_fds(__import__('socket').socketpair()[0], [b'x'], [0])",
    "memory that is never swapped": f"{LIBC}.mlock(bytes(4096), 4096) and fail()",
    "timers without end": f"[{TIMER} and fail() for _ in range(1000)]",
    "queues of messages": f"{LIBC}.mq_open(b'/queue', 0o102, 0o600, None) < 0 and fail()",
    "keys": f"{LIBC}.syscall(248, b'user', b'name', b'x', 1, -3) < 0 and fail()",
    "a view of its own": f"{LIBC}.unshare(0x20000) and fail()",
    "users of its own": f"{LIBC}.unshare(0x10000000) and fail()",
    "requests behind the kernel's back": f"{LIBC}.syscall(425, 8, bytes(120)) < 0 and fail()",
    "larger pipes": "fcntl.fcntl(os.pipe()[1], 1031, 2**20)",
    "more descriptors than allowed": "[os.pipe() for _ in range(100)]",
    "watching folders": f"{LIBC}.inotify_init() < 0 and fail()",
}
ALLOWED = {
    "its own folder": "open('mine.txt', 'w').write('x')",
    "threads": "__import__('concurrent.futures').futures.ThreadPoolExecutor(4).submit(sum, [1, 2]).result()",
    "torch's threads": "torch.set_num_threads(2) or (torch.ones(400, 400) @ torch.ones(400, 400)).sum()",
    "a library not yet imported": "__import__('networkx').__name__",
    "the source of a library": "__import__('inspect').getsource(torch.nn.Linear)",
    "a time zone": "__import__('zoneinfo').ZoneInfo('Europe/Berlin')",
    "a temporary file": "__import__('tempfile').TemporaryFile().write(b'x')",
    "its own addresses": "open('/proc/self/maps').read()",
    "random bytes": "__import__('os').urandom(4)",
    "top-level await": "await __import__('asyncio').sleep(0, 'slept')",
}


@pytest.fixture
def sandbox() -> Any:
    process = SandboxProcess({}, Limits(cell=20, case=5))
    process.run_cell("import fcntl, os, torch\ndef fail(): raise OSError('the C library was told no')", 20)
    yield process
    process.close()


@pytest.mark.parametrize("attempt", DENIED.values(), ids=DENIED.keys())
def test_confinement_denies_attempt(attempt: str, sandbox: SandboxProcess) -> None:
    result = sandbox.run_cell(attempt, 20)
    assert result.error.split(":")[0] in ("PermissionError", "OSError", "MemoryError", "ValueError"), result
    assert sandbox.run_cell("1 + 1", 20).outputs[0].data["text/plain"] == "2"


@pytest.mark.parametrize("attempt", ALLOWED.values(), ids=ALLOWED.keys())
def test_confinement_allows_use(attempt: str, sandbox: SandboxProcess) -> None:
    assert sandbox.run_cell(attempt, 20).error == ""


def test_confinement_denies_unknown_system_calls(sandbox: SandboxProcess) -> None:
    """By number: a library that knows no name for a call cannot deny it by name."""
    source = (
        "import ctypes\n"
        "library = ctypes.CDLL(None, use_errno=True)\n"
        "def error(number): return library.syscall(number, -1, 0, 0, 0, 0, 0), ctypes.get_errno()\n"
        "{error(number) for number in range(450, 1000)}"
    )
    assert sandbox.run_cell(source, 20).outputs[0].data["text/plain"] == "{(-1, 1)}"


def test_same_attempts_without_confinement_succeed() -> None:
    """So it is the confinement that the tests above see."""
    process = SandboxProcess({}, Limits(), confined=False)
    for name in ("the grader's references", "system files", "the network", "a fork", "another program"):
        attempt = DENIED[name].replace(
            "__import__('os').fork()", "__import__('os').fork() or __import__('os')._exit(0)"
        )
        assert process.run_cell(attempt, 20).error == "", name
    process.close()


def test_confinement_drops_capabilities_for_good(sandbox: SandboxProcess) -> None:
    source = (
        "import ctypes\n"
        "header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()\n"
        "assert ctypes.CDLL(None).capget(header, data) == 0\n"
        "[list(data), ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)]"
    )
    assert sandbox.run_cell(source, 20).outputs[0].data["text/plain"] == "[[0, 0, 0, 0, 0, 0], 1]"


MAPS = """import ctypes
library = ctypes.CDLL(None)
for _ in range(100):
    with open("file", "w+b") as file:
        file.write(bytes(32 * 2**20))
        library.mmap(None, 1, 1, 1, file.fileno(), 0)
    os.remove("file")"""
TOO_MUCH = {
    "depth": ("import os\nwhile True: os.mkdir('d'); os.chdir('d')", "more than 50 deep"),
    "bytes": (
        "import itertools\nfor i in itertools.count(): open(str(i), 'wb').write(bytes(32 * 2**20))",
        "MB of files",
    ),
    "files": ("import itertools\nfor i in itertools.count(): open(str(i), 'w').close()", "10000 files"),
    "bytes of removed files": (
        "kept = []\nwhile True: kept.append(open('file', 'wb')); kept[-1].write(bytes(32 * 2**20)); os.remove('file')",
        "MB of files",
    ),
    "bytes of removed files in memory": (MAPS, "MB of files"),
}
THREADS = """import threading, time
threading.stack_size(2**16)
while True:
    try: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
    except RuntimeError: time.sleep(0.1)  # the machine has no more for now"""


@pytest.mark.slow
@pytest.mark.parametrize(("source", "what"), TOO_MUCH.values(), ids=TOO_MUCH.keys())
@pytest.mark.usefixtures("without_disks")
def test_sandbox_when_its_folder_is_too_full_is_ended(source: str, what: str) -> None:
    process = SandboxProcess({}, Limits(cell=60))
    process.run_cell("import os", 20)
    with pytest.raises(SandboxLost, match=what):
        process.run_cell(source, 60)
    process.close()


@pytest.mark.slow
def test_sandbox_with_too_many_threads_is_ended(sandbox: SandboxProcess) -> None:
    with pytest.raises(SandboxLost, match="512 threads"):
        sandbox.run_cell(THREADS, 60)


@pytest.mark.slow
def test_sandbox_that_loops_is_ended_by_processor_time() -> None:
    process = SandboxProcess({}, Limits(patience=1000))
    with pytest.raises(SandboxLost) as lost:
        process.run_cell("import time\nwhile time.time(): pass", 1)  # its text does not show that it never ends
    assert lost.value.lost == Lost(Loss.TIME, 1)
    assert process.cpu_seconds >= 1


@pytest.mark.slow
def test_sandbox_that_gets_no_processor_is_not_ended_early() -> None:
    """As on a machine that is busy with something else."""
    process = SandboxProcess({}, Limits(patience=100))
    process.run_cell("x = 1", 10)
    os.kill(process.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as other:
        running = other.submit(process.run_cell, "x + 1", 0.5)
        with pytest.raises(TimeoutError):
            running.result(timeout=1.5)  # three times as long as it may compute
        os.kill(process.pid, signal.SIGCONT)
        assert running.result().error == ""
    process.close()


@pytest.mark.slow
@pytest.mark.usefixtures("without_disks")
def test_sandbox_folder_is_removed_whatever_is_in_it() -> None:
    """Too deep for Python to remove, and, to an ordinary user, closed."""
    process = SandboxProcess({}, Limits())
    folder = Path(process.run_cell("import os\nos.environ['HOME']", 20).outputs[0].data["text/plain"].strip("'"))
    assert folder.exists()
    with pytest.raises(SandboxLost):
        process.run_cell(
            "os.mkdir('closed', 0o300); open('closed/file', 'w').close()\nwhile True: os.mkdir('d'); os.chdir('d')",
            60,
        )
    assert not folder.exists()


def test_zygote_has_one_thread_and_a_clean_environment(sandbox: SandboxProcess) -> None:
    zygote = int(sandbox.run_cell("import os\nos.getppid()", 20).outputs[0].data["text/plain"])
    assert len(list(Path(f"/proc/{zygote}/task").iterdir())) == 1
    assert "GRADER" not in Path(f"/proc/{zygote}/environ").read_text()


ORDER = {"folder": "/", "environment": {}, "device": "cpu", "confined": False, "amounts": {}}


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()[1])


def test_zygote_for_another_process_ends_alone() -> None:
    """What its sandboxes do is then nobody else's affair: numbers of processes that have ended are its own."""
    zygote = start_zygote()
    another = Zygote(zygote.fork_zygote())
    own, its = zygote.fork(ORDER), another.fork(ORDER)
    assert parent_of(own.pid) != parent_of(its.pid)
    assert parent_of(parent_of(its.pid)) == parent_of(own.pid)
    another.close()
    select.select([its.handle], [], [])  # it goes with its zygote
    assert own.alive
    its.end()
    own.end()


@pytest.mark.slow
def test_zygote_when_it_died_is_replaced() -> None:
    """Nobody waits for its last words while another one, forked from it, could still write some."""
    with start_zygote().fork_zygote():
        _replaces_one_that_died()


def _replaces_one_that_died() -> None:
    first = fork_sandbox(ORDER)
    os.kill(parent_of(first.pid), 9)
    second = fork_sandbox(ORDER)
    assert second.alive
    first.end()  # it went with its zygote
    second.end()


@pytest.mark.slow
def test_grader_and_exercises_in_site_packages_are_hidden(tmp_path: Path) -> None:
    """Beside them, everything that is installed can be read."""
    venv.create(tmp_path, symlinks=True)
    (installed,) = tmp_path.glob("lib/python*/site-packages")
    shutil.copytree(ROOT / "grader", installed / "grader")
    (installed / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    (installed / "beside.py").write_text("x = 1\n")
    (installed / "a_pack/exercises").mkdir(parents=True)
    (installed / "a_pack/exercises/ex1.py").write_text("secret = 1\n")
    cells = [
        "import beside",
        f"open({str(installed / 'grader/exercises/ex03_softmax.py')!r})",
        f"open({str(installed / 'a_pack/exercises/ex1.py')!r})",
        "import a_pack.exercises.ex1 as ex1\nex1.secret",
    ]
    program = (
        "import grader.host.sandbox_process as trusted\n"
        f"process = trusted.SandboxProcess({{}}, trusted.Limits(), hidden=[{str(installed / 'a_pack')!r}])\n"
        f"errors = [process.run_cell(cell, 20).error for cell in {cells}]\n"
        "process.close()\n"
        "print(trusted.__file__, *errors, sep='|')\n"
    )
    result = subprocess.run(
        [tmp_path / "bin/python", "-I", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    where, beside, *hidden = result.stdout.split("|")
    assert where.startswith(str(installed))
    assert beside == ""
    assert [error.split(":")[0] for error in hidden] == ["PermissionError"] * 3


def test_sandboxes_do_not_see_each_other() -> None:
    one, other = SandboxProcess({}, Limits()), SandboxProcess({}, Limits())
    one.run_cell("open('answers.txt', 'w').write('42')", 20)
    folder = one.run_cell("import os\nprint(os.getcwd())", 20).outputs[0].text.strip()
    assert other.run_cell(f"open({folder + '/answers.txt'!r})", 20).error.startswith("FileNotFoundError")
    pid = one.run_cell("print(os.getpid())", 20).outputs[0].text.strip()
    assert other.run_cell(f"import os; os.kill({pid}, 9)", 20).error.startswith("PermissionError")
    one.close()
    other.close()


def test_sandboxes_started_from_many_threads_all_answer() -> None:
    """Threads of the grader share one zygote, one order at a time."""
    results: list[str] = []

    def run() -> None:
        process = SandboxProcess({}, Limits())
        results.append(process.run_cell("6 * 7", 30).outputs[0].data["text/plain"])
        process.close()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["42"] * 8


@pytest.mark.slow
def test_autograde_when_platform_cannot_confine_asks_for_unconfined(
    course: Course, monkeypatch: pytest.MonkeyPatch, submit: Any, solved: Any
) -> None:
    submit(course, "ada", {3: solved[3]})
    monkeypatch.setattr("grader.classroom.run.why_not", lambda: "this kernel has no Landlock")
    with pytest.raises(CourseError, match=r"no Landlock.*--unconfined"):
        list(autograde(course, "self_attention"))
    (result,) = autograde(course, "self_attention", confined=False)
    assert result.points == 2


def test_why_not_without_libseccomp_says_so() -> None:
    code = "import sys; sys.modules['pyseccomp'] = None; from grader.sandbox.confine import why_not; print(why_not())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("libseccomp is missing (")


def test_sandbox_when_confinement_fails_runs_nothing() -> None:
    """A limit that the kernel refuses stands for any step of confinement that fails."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("open('/etc/passwd')")])
    with pytest.raises(confine.CannotConfineError):
        grade_notebook(notebook, None, replace(OURS, limits=Limits(memory=2**70)))
    assert notebook.cells[0].outputs == []


FILL = "for number in range({count}): open(str(number), 'wb').write(bytes({size}))"


@pytest.mark.slow
@pytest.mark.parametrize("fill", [FILL.format(count=20, size="32 * 2**20"), FILL.format(count=20_000, size=0)])
def test_sandbox_disk_when_full_says_no_space_left(fill: str, sandbox: SandboxProcess) -> None:
    assert "No space left" in sandbox.run_cell(fill, 20).error
    assert sandbox.run_cell("os.remove('0'); open('small', 'w').write('there is room again')", 20).error == ""


def test_sandbox_disk_is_none_of_the_machine(sandbox: SandboxProcess) -> None:
    """Told by its number, and not by the room that is left on the machine's, where others write and delete as well."""
    shown = sandbox.run_cell("import os; os.stat('.').st_dev", 20).outputs[0].data["text/plain"]
    mounted = [line.split()[2].split(":") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    machines = {os.makedev(int(major), int(minor)) for major, minor in mounted} | {Path("/tmp").stat().st_dev}
    assert int(shown) not in machines


def test_sandbox_disk_holds_companion_files_with_old_times() -> None:
    process = SandboxProcess({"table.csv": b"1,2", "data/more.csv": b"3"}, Limits(cell=20))
    try:
        shown = process.run_cell("open('table.csv').read(), open('data/more.csv').read()", 20).outputs
        assert shown[0].data["text/plain"] == "('1,2', '3')"
        times = process.run_cell("[__import__('os').stat(f).st_mtime for f in ('table.csv', 'data/more.csv')]", 20)
        assert times.outputs[0].data["text/plain"] == f"[{scratch.LONG_AGO}.0, {scratch.LONG_AGO}.0]"
    finally:
        process.close()


def test_scratch_writes_files_in_name_order_with_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their order in a zip would be a number with many digits, which does not count among what is handed in."""
    written: list[str] = []
    write = Path.write_bytes

    def noted(path: Path, content: bytes) -> int:
        written.append(path.name)
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", noted)
    for order in ("bca", "cab"):
        made = scratch.Scratch({f"{name}/{name}": b"" for name in order})
        try:
            times = {path.stat().st_mtime_ns for path in made.folder.rglob("*") if path.is_file()}
            assert times == {scratch.LONG_AGO * 10**9}
        finally:
            made.remove()
    assert written == [*"abcabc"]


def test_sandbox_has_a_kernel_limit_on_threads(sandbox: SandboxProcess) -> None:
    """For ordinary users: for root it counts none."""
    limit = sandbox.run_cell("__import__('resource').getrlimit(__import__('resource').RLIMIT_NPROC)[0]", 20)
    assert limit.outputs[0].data["text/plain"] == "1024"
