"""What a submission tries and the kernel denies is told to the student and flagged for the instructor."""

from __future__ import annotations

import json
import os
from typing import Any

import nbformat
import pytest

from grader.classroom.progress import results_table
from grader.classroom.run import autograde
from grader.cli.terminal import console
from grader.course.folder import Course
from grader.host.denials import MOST_CALLS, denied_in_note
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.sandbox_process import MAX_SOURCE, SandboxLost, SandboxProcess
from grader.host.scratch import files_beside
from grader.model.denied import DeniedCall, Tried
from grader.notebooks.cells import METADATA_KEY
from grader.notebooks.verdict_cells import BLOCKED_KEY
from support.our_course import OURS

pytestmark = pytest.mark.users

ATTEMPTS = {
    "open('/etc/passwd')": "read /etc/passwd",
    "__import__('pathlib').Path('/root').iterdir().__next__()": "read /root",
    "open('/tmp/elsewhere', 'w')": "write /tmp/elsewhere",
    "__import__('os').open('/tmp/elsewhere', 66)": "write /tmp/elsewhere",
    "__import__('os').rename('/tmp/a', '/tmp/b')": "write /tmp/a",
    "__import__('socket').socket()": "use the network",
    "__import__('urllib.request').request.urlopen('http://example.com')": "use the network (example.com)",
    "__import__('os').fork()": "start another program",
    "__import__('subprocess').run(['nice', 'ls'])": "start another program (nice)",
    "__import__('os').system('ls')": "start another program (ls)",
    "!ls": "start another program",
    "__import__('os').kill(1, 9)": "send a signal to another process (1)",
    "open('mine', 'w').close() or __import__('os').chmod('mine', 0o777)": "change the mode, owner or time of mine",
}
HARMLESS = [
    "open('mine', 'w').write('x'), open('mine').read(), __import__('os').remove('mine')",
    "__import__('os').mkdir('new') or __import__('os').listdir('.')",
    "__import__('socket').socketpair()",
    "await __import__('asyncio').sleep(0)",
    "import networkx, tempfile; tempfile.TemporaryFile().write(b'x')",
    "%matplotlib inline\nimport matplotlib.pyplot as plt; plt.plot([1, 2]); plt.savefig('figure.pdf')",
    "__import__('os').kill(__import__('os').getpid(), 0)",
]


@pytest.fixture(scope="module")
def sandbox() -> Any:
    process = SandboxProcess({}, Limits())
    yield process
    process.close()


@pytest.mark.parametrize(("attempt", "sentence"), ATTEMPTS.items())
def test_take_denied_reports_an_attempt_whose_error_is_caught(
    attempt: str, sentence: str, sandbox: SandboxProcess
) -> None:
    sandbox.run_cell(f"try:\n    {attempt}\nexcept BaseException:\n    pass", 20)
    assert [one.for_instructor for one in sandbox.take_denied()][:1] == [sentence]
    assert sandbox.take_denied() == []


@pytest.mark.parametrize("source", HARMLESS)
def test_take_denied_after_harmless_code_is_empty(source: str, sandbox: SandboxProcess) -> None:
    assert sandbox.run_cell(source, 20).error == ""
    assert sandbox.take_denied() == []


def test_take_denied_before_the_sandbox_is_ready_is_empty() -> None:
    """The first notes hand over what the grader holds it by."""
    process = SandboxProcess({}, Limits())
    try:
        assert process.run_cell("#" * MAX_SOURCE, 20).error.startswith("CellTooLong")
        assert process.take_denied() == []
        assert process.run_cell("1 + 1", 20).error == ""
    finally:
        process.close()


@pytest.mark.parametrize(("letter", "error"), [("x", ""), ("ä", "CellTooLong"), ("語", "CellTooLong")])
def test_run_cell_measures_length_in_bytes_sent(letter: str, error: str, sandbox: SandboxProcess) -> None:
    """Letters of other alphabets take more room."""
    assert sandbox.run_cell(f"'{letter * (MAX_SOURCE // 3)}'; 1", 20).error.partition(":")[0] == error


@pytest.mark.slow
def test_take_denied_is_bounded(sandbox: SandboxProcess) -> None:
    sandbox.run_cell("import os\nfor pid in range(100000, 100200):\n  try: os.kill(pid, 0)\n  except OSError: pass", 20)
    assert len(sandbox.take_denied()) == MOST_CALLS


RAW = [  # system calls past Python, which knows nothing of them
    "socket(2, 1, 0)",
    "syscall(57)",  # fork
    "execve(b'/bin/true', None, None)",
    "kill(1, 9)",
    "ptrace(0, 0, 0, 0)",
    "unshare(0x10000000)",
    "mount(b'none', b'/', b'tmpfs', 0, None)",
    "process_vm_readv(1, None, 0, None, 0, 0)",
]


@pytest.mark.parametrize("call", RAW)
def test_system_call_past_python_is_denied(call: str, sandbox: SandboxProcess) -> None:
    sandbox.run_cell("import ctypes; library = ctypes.CDLL(None, use_errno=True)", 20)
    result = sandbox.run_cell(f"library.{call}, ctypes.get_errno()", 20)
    assert result.outputs[0].data["text/plain"] == "(-1, 1)"


ENDS = "import os; os._exit(0)"
FIRST_RUN = 4  # what In[…] shows of the second cell then; when cells run again, it is another number
OTHERWISE_A_TRY = f"""
if get_ipython().execution_count {{}} {FIRST_RUN}:
    try: open("/etc/passwd")
    except OSError: pass
"""


@pytest.mark.parametrize(("when", "told_at"), [("!=", 4), ("==", 2)])
def test_attempt_of_a_cell_that_runs_again_is_shown_once(when: str, told_at: int) -> None:
    sources = ["import torch", ENDS, OTHERWISE_A_TRY.format(when), ENDS, "torch"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    grade_notebook(notebook, settings=OURS)
    assert [number for number, cell in enumerate(notebook.cells) if "/etc/passwd" in str(cell.outputs)] == [told_at]


def test_platform_question_starts_no_program() -> None:
    process = SandboxProcess({}, Limits(cell=20))
    try:
        assert process.run_cell("import platform; platform.platform(), platform.processor()", 20).error == ""
        assert process.take_denied() == []
    finally:
        process.close()


def test_take_denied_when_code_sends_empty_notes_misses_nothing() -> None:
    process = SandboxProcess({}, Limits(cell=20))
    try:
        process.run_cell("import os, socket\nnotes = socket.socket(fileno=4)\nfor _ in range(5): notes.send(b'')", 20)
        process.run_cell("try: os.fork()\nexcept OSError: pass", 20)
        process.run_cell("try: os.kill(1, 9)\nexcept OSError: pass", 20)
        assert [one.kind for one in process.take_denied()] == ["program", "signal"]
        process.run_cell("notes.detach()", 20)
    finally:
        process.close()


@pytest.mark.slow
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "while True: pass"])
def test_take_denied_reports_an_attempt_before_the_process_ends(end: str) -> None:
    process = SandboxProcess({}, Limits())
    with pytest.raises(SandboxLost):
        process.run_cell(f"import os\ntry: open('/etc/passwd')\nexcept OSError: pass\n{end}", 3)
    assert [one.for_instructor for one in process.take_denied()] == ["read /etc/passwd"]


NOTES = [
    b'"\\ud800"',
    b'["\\ud800", "/etc"]',
    b"",
    b"\xff",
    b"[",
    b"[" * 4000,
    b"null",
    b"3",
    b"[1]",
    b'["read"]',
    b'["read", "a", "b"]',
    b'["other", "x"]',
    b"{}",
    b'["read", 3]',
    b'["read", null]',
    b'["read", ["a"]]',
    b'[["read"], "a"]',
    b'["read", "a", ' + b"9" * 4000 + b"]",
    b'["read", NaN]',
]


@pytest.mark.parametrize("note", NOTES)
def test_denied_in_note_when_malformed_is_none(note: bytes) -> None:
    assert denied_in_note(note) is None


def test_denied_in_note_reads_odd_file_names() -> None:
    """Python writes the half of a character that stands for a byte, as in names of files."""
    note = json.dumps(["read", os.fsdecode(b"/etc/\xff")]).encode()
    assert denied_in_note(note) == DeniedCall(Tried.READ, "/etc/")


@pytest.mark.slow
def test_attempts_are_shown_to_student_and_instructor(course: Course, submit: Any, solved: Any) -> None:
    """In the student's notebook below the cell and above the verdict, and in the instructor's table."""
    curious = solved[3] + "\n\ntry:\n    open('/etc/passwd')\nexcept OSError:\n    pass\n"
    asks = solved[5].replace(":\n", ":\n    try:\n        open('/etc/shadow')\n    except OSError:\n        pass\n", 1)
    submit(course, "eve", {**solved, 3: curious, 5: asks})
    submit(course, "ada", solved)
    ada, eve = autograde(course, "self_attention")
    assert (ada.points, eve.points) == (30, 30)
    assert ada.blocked == ()
    assert eve.blocked == ("read /etc/passwd", "read /etc/shadow")
    with console.capture() as capture:
        console.print(results_table([ada, eve]))
    assert "⚑ tried to read /etc/passwd" in capture.get()

    notebook = nbformat.read(course.notebook("autograded/eve", "self_attention"), 4)
    notices = {
        cell.metadata.nbgrader.grade_id: output.data["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if BLOCKED_KEY in output.get("metadata", {}).get(METADATA_KEY, {})
    }
    assert list(notices) == ["exercise-3", "test-exercise-5", "test-exercise-6"]  # 6 calls 5
    assert "The code tried to read a file that is neither its own nor a library's." in notices["exercise-3"]
    assert "passwd" not in notices["exercise-3"]


@pytest.mark.slow
def test_solved_notebook_has_no_blocked_attempts(released_course: Course, solved: Any, make_notebook: Any) -> None:
    notebook = make_notebook(released_course, solved, demos=True)
    grade_notebook(notebook, files_beside(released_course.root / "release/self_attention"), OURS)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [one for one in outputs if BLOCKED_KEY in one.get("metadata", {}).get(METADATA_KEY, {})]
