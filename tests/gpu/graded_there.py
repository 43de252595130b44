"""A course that is graded on the GPU, sandboxes there, and the table of what they show."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.places import ROOT

# Before nbformat, which builds a grammar otherwise that nobody needs.
from grader.classroom import fork_server  # noqa: F401  # isort: skip
import nbformat

from grader.classroom.run import autograde
from grader.course.folder import Course, copy_course, open_course
from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from grader.model.submission import Graded
from grader.model.verdict import Verdict
from grader.notebooks.cells import fill_in
from grader.release.compiling import compile_release

LONG = Limits(cell=60, case=30, submission=600)
CORES = len(os.sched_getaffinity(0))
DEVICE = os.environ.get("GRADER_CHECK_DEVICE", "cuda")  # the processor, to try this script itself


@dataclass
class Table:
    """Rows as they come, each printed at once."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def row(self, what: str, found: object, ok: bool = True) -> None:
        self.rows.append({"what": what, "found": str(found), "ok": ok})
        print(f"{time.monotonic() - self.started:6.1f} s {'ok ' if ok else 'BAD'} {what:44} {found}", flush=True)


def new_course() -> Course:
    course = copy_course(open_course(ROOT), Path(tempfile.mkdtemp(prefix="gpu-")) / "course")
    for assignment in course.assignments():
        compile_release(course, assignment)
    return course


def hand_in(course: Course, assignment: str, student: str, answers: Mapping[Any, str]) -> None:
    path = course.notebook(f"submitted/{student}", assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(filled(course, assignment, answers)))


def filled(course: Course, assignment: str, answers: Mapping[Any, str]) -> Any:
    made = fill_in(course.read("release", assignment), answers)
    made.cells = [cell for cell in made.cells if "nbgrader" in cell.metadata]
    return made


def graded(
    course: Course,
    assignment: str,
    students: Iterable[str],
    device: str = DEVICE,
    jobs: int = CORES,
    force: bool = False,
) -> dict[str, Graded]:
    run = autograde(course, assignment, list(students), device=device, jobs=jobs, force=force)
    return {one.student: one for one in run}


def verdicts(one: Graded) -> dict[Any, Verdict]:
    return {scored.verdict.exercise: scored.verdict for scored in one.verdicts}


def told(found: Verdict) -> str:
    return f"{found.exercise}: {' '.join(found.sentences)[:160]}"


@contextlib.contextmanager
def sandbox(limits: Limits = LONG) -> Iterator[SandboxProcess]:
    process = SandboxProcess({}, limits, DEVICE)
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.close()


def text_of(process: SandboxProcess, code: str) -> str:
    result = process.run_cell(code, 60)
    return result.error or "".join(output.get("text", "") for output in result.outputs).strip()
