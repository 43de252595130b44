"""The Dask worker's part in grading a class: it grades one submission after another, and answers in plain bytes."""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import platform
import threading
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from distributed import get_worker

from grader.classroom.worker_results import pack
from grader.errors import CourseError, CrewGone
from grader.host.scratch import sweep
from grader.model.submission import Assignment, Submission
from grader.sandbox.confine import why_not
from grader.sandbox.plain_text import listed

if TYPE_CHECKING:
    from grader.classroom.submission_grader import SubmissionGrader

INSTALL = "Install the same package there, then restart it."
UNFIT = "unfit"  # in an answer: why this worker must not grade

# Imported when the task runs: a worker that cannot find a function that is sent to it ends without a word.
ORDER = "exec(code, names := {'order': order}) or names['answer']"
CODE = f"""
try:
    from grader.classroom.dask_worker import grade_here
except ImportError as error:
    import json
    answer = json.dumps({{"{UNFIT}": f"lacks the grader ({{error}}). {INSTALL}"}}).encode()
else:
    answer = grade_here(*order)
"""

_one_at_a_time = threading.Lock()  # threads share the steps of a conversion and torch's random numbers


def grade_here(wanted: dict[str, str], assignment: bytes, topic: str, submission: bytes) -> bytes:
    """Grade a submission on this Dask worker, which keeps its zygote for the next ones."""
    if differing := [name for name, value in wanted.items() if this_grader().get(name) != value]:
        return _unfit(f"has another version of {listed(differing)}. {INSTALL}")
    with _one_at_a_time:
        order: Submission = pickle.loads(submission)
        get_worker().log_event(topic, order.student)
        try:
            return pack(_grader_for(assignment).grade(order))
        except (_UnfitError, CrewGone) as error:
            return _unfit(str(error))
        except Exception as error:
            return pack(order.result(f"{type(error).__name__}: {error}"))


def _unfit(reason: str) -> bytes:
    return json.dumps({UNFIT: reason}).encode()


class _UnfitError(Exception):
    """This worker cannot grade; the text says why."""


@functools.lru_cache(maxsize=2)
def _grader_for(pickled: bytes) -> SubmissionGrader:
    from grader.classroom.submission_grader import SubmissionGrader  # imports torch, unneeded in the main process

    assignment: Assignment = pickle.loads(pickled)
    if assignment.confined and (reason := why_not()):
        raise _UnfitError(f"cannot confine submissions: {reason}. To run them unconfined, add --unconfined.")
    sweep()
    try:
        return SubmissionGrader(assignment)
    except CourseError as error:
        raise _UnfitError(f"cannot load the course's exercises. {error}") from error
    except Exception as error:
        raise _UnfitError(f"cannot use nbgrader_config.py: {type(error).__name__}: {error}") from error


@functools.cache
def this_grader() -> dict[str, str]:
    """The versions that must be the same on all machines that grade a class."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)} {path.stat().st_size} ".encode() + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return {
        "the grader": digest.hexdigest(),
        "Python": python,
        **{name: version(name) for name in ("torch", "nbgrader")},
    }
