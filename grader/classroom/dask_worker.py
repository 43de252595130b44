"""The Dask worker's part in grading a class: one submission after another."""

from __future__ import annotations

import functools
import hashlib
import pickle
import platform
import threading
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from distributed import get_worker

from grader.errors import CourseError, CrewGone
from grader.host.scratch import sweep
from grader.model.submission import Assignment, Graded, Submission
from grader.sandbox.confine import why_not
from grader.sandbox.plain_text import listed

if TYPE_CHECKING:
    from grader.classroom.submission_grader import SubmissionGrader

_one_at_a_time = threading.Lock()  # threads share the steps of a conversion and torch's random numbers


def grade_on_worker(versions: dict[str, str], topic: str, assignment: bytes, submission: Submission) -> Graded:
    """Grade a submission on this worker, which keeps its zygote for the next ones. CrewGone says why it cannot."""
    worker = get_worker()
    name = f"The worker {worker.address}"
    differing = [package for package, number in versions.items() if versions_here().get(package) != number]
    if differing:
        raise CrewGone(f"{name} has another version of {listed(differing)}. Install the same there, then restart it.")
    with _one_at_a_time:
        worker.log_event(topic, submission.student)
        try:
            return _grader_for(assignment).grade(submission)
        except CourseError as error:
            raise CrewGone(f"{name} {error}") from error


@functools.lru_cache(maxsize=2)
def _grader_for(pickled: bytes) -> SubmissionGrader:
    from grader.classroom.submission_grader import SubmissionGrader  # imports torch, unneeded in the main process

    assignment: Assignment = pickle.loads(pickled)
    problem = why_not() if assignment.confined else None
    if problem:
        raise CourseError(f"cannot confine submissions: {problem}. To run them unconfined, add --unconfined.")
    sweep()
    try:
        return SubmissionGrader(assignment)
    except CourseError as error:
        raise CourseError(f"cannot load the course's exercises. {error}") from error
    except Exception as error:
        raise CourseError(f"cannot use nbgrader_config.py: {type(error).__name__}: {error}") from error


@functools.cache
def versions_here() -> dict[str, str]:
    """The versions that must be the same on all machines that grade a class."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)} {path.stat().st_size} ".encode() + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    packages = {name: version(name) for name in ("torch", "nbgrader")}
    return {"the grader": digest.hexdigest(), "Python": python, **packages}
