"""What a submission tries and the kernel denies is told to the student and flagged for the instructor."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from grader.classroom.progress import results_table
from grader.classroom.run import autograde
from grader.course import Course
from grader.notebooks.cells import METADATA_KEY
from grader.notebooks.verdict_cells import BLOCKED_KEY
from grader.running import sandbox_process
from grader.running.grading import grade_notebook
from grader.running.sandbox_process import MAX_BLOCKED, Limits, SandboxLost, SandboxProcess
from grader.running.scratch import files_beside
from grader.terminal import console

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
def test_an_attempt_is_noted_even_if_its_error_is_hushed_up(
    attempt: str, sentence: str, sandbox: SandboxProcess
) -> None:
    sandbox.run_cell(f"try:\n    {attempt}\nexcept BaseException:\n    pass", 20)
    assert sandbox.take_blocked()[:1] == [sentence]
    assert sandbox.take_blocked() == []


@pytest.mark.parametrize("source", HARMLESS)
def test_what_is_allowed_is_not_noted(source: str, sandbox: SandboxProcess) -> None:
    assert sandbox.run_cell(source, 20).error == ""
    assert sandbox.take_blocked() == []


def test_notes_are_bounded(sandbox: SandboxProcess) -> None:
    sandbox.run_cell("import os\nfor pid in range(100000, 101000):\n  try: os.kill(pid, 0)\n  except OSError: pass", 20)
    assert len(sandbox.take_blocked()) == MAX_BLOCKED


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "while True: pass"])
def test_an_attempt_is_noted_even_if_the_process_ends_next(end: str) -> None:
    process = SandboxProcess({}, Limits())
    with pytest.raises(SandboxLost):
        process.run_cell(f"import os\ntry: open('/etc/passwd')\nexcept OSError: pass\n{end}", 3)
    assert process.take_blocked() == ["read /etc/passwd"]


NOTES = [
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
]


@pytest.mark.parametrize("note", NOTES)
def test_a_note_that_is_none_is_dropped(note: bytes) -> None:
    assert sandbox_process._blocked_sentence(note) == ""


def test_student_and_instructor_read_it(course: Course, submit: Any, solved: Any) -> None:
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
    assert "It tried to read /etc/passwd." in notices["exercise-3"]


def test_the_solved_course_notebook_raises_no_flag(released_course: Course, solved: Any, make_notebook: Any) -> None:
    notebook = make_notebook(released_course, solved, demos=True)
    grade_notebook(notebook, files_beside(released_course.root / "release/self_attention"))
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [one for one in outputs if BLOCKED_KEY in one.get("metadata", {}).get(METADATA_KEY, {})]
