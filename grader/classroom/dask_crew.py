"""A crew of Dask's workers, on whatever machines. They need this package, and neither a database nor shared files."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import logging
import pickle
import platform
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, get_worker, wait

from grader.classroom.local_crew import TICK
from grader.errors import CourseError, CrewGone
from grader.model.submission import Assignment, Graded, Submission
from grader.running.scratch import sweep
from grader.sandbox.confine import why_not

CONNECT_SECONDS = 10  # until a scheduler has answered
PATIENCE = 60.0  # seconds without any worker; who starts them again when they die needs a few
GATHER_SECONDS = 5.0  # until a result is here, before others are looked at
CLOSE_SECONDS = 1.0
PER_THREAD = 2  # submissions under way: one that runs, and one that waits for it


class DaskCrew:
    """A crew of the workers that one Dask scheduler has.

    A bounded number of submissions is under way; the others are not even read.
    """

    def __init__(self, assignment: Assignment, address: str) -> None:
        self._address = address
        self._client = _connect(address)
        self._topic = f"grader-{uuid.uuid4()}"
        self._under_way: dict[Future[Graded | Unfit], Submission] = {}
        self._suspects: list[Submission] = []  # a worker died while it had them; another submission may be to blame
        self._alone = ""  # the suspect that is under way, beside nothing else
        self._since: dict[str, float] = {}  # when a worker has begun with a student
        self._threads, self._seen = 0, time.monotonic()
        self._next_look = 0.0
        # A task, and not scattered data: whoever dies with the only copy, the scheduler makes another. Where the
        # database is, and who may write there, is no affair of the workers.
        self._assignment = self._client.submit(bytes, pickle.dumps(dataclasses.replace(assignment, db_url="")))
        self._client.subscribe_topic(self._topic, self._note)

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        waiting = iter(submissions)
        while True:
            self._look_at_workers()
            room = max(PER_THREAD * self._threads, 2) - len(self._under_way)
            for submission in itertools.islice(waiting, max(room, 0)):
                self._send(submission)
            if not self._under_way and self._suspects:
                self._send_alone(self._suspects.pop())
            if not self._under_way:
                return
            for future in self._done():
                if (graded := self._result(future)) is not None:
                    yield graded
            yield None

    def running(self) -> dict[str, float]:
        now = time.monotonic()
        students = {submission.student for submission in self._under_way.values()}
        return {student: now - since for student, since in dict(self._since).items() if student in students}

    def close(self) -> None:
        """Leave. The scheduler forgets what nobody wants any longer; what runs at this moment runs to its end."""
        try:
            self._client.close(timeout=CLOSE_SECONDS)
        except (OSError, CancelledError):
            logging.getLogger(__name__).debug("The scheduler has not said goodbye.", exc_info=True)

    def _look_at_workers(self) -> None:
        """Workers come and go while a class is graded."""
        now = time.monotonic()
        self._must_be_there()
        if now < self._next_look:
            return
        self._next_look = now + 1
        self._threads = self._client.scheduler_info(n_workers=0).get("total_threads", 0)
        if self._threads:
            self._seen = now
        elif now > self._seen + PATIENCE:
            raise CrewGone(f"The scheduler {self._address} has had no worker for {PATIENCE:.0f} s. {_GO_ON}")

    def _must_be_there(self) -> None:
        if self._client.status != "running":
            raise self._lost()

    def _send(self, submission: Submission) -> None:
        order = [this_grader(), self._assignment, self._topic, pickle.dumps(submission)]
        future = self._client.submit(eval, _CALL, {"order": order}, key=f"grade-{uuid.uuid4()}")
        self._under_way[future] = submission

    def _send_alone(self, submission: Submission) -> None:
        self._alone = submission.student
        self._send(submission)

    def _done(self) -> list[Future[Graded | Unfit]]:
        try:
            with self._client.as_current():
                return list(wait(list(self._under_way), TICK, "FIRST_COMPLETED").done)
        except TimeoutError:
            return []
        except CancelledError:  # this is how futures learn that the scheduler has gone
            raise self._lost() from None

    def _result(self, future: Future[Graded | Unfit]) -> Graded | None:
        """What has come of it; nothing yet if its result has died with a worker, or if it is to be tried again."""
        submission = self._under_way[future]
        result: Graded | Unfit | None
        try:
            result = future.result(timeout=GATHER_SECONDS)
        except TimeoutError:
            return None
        except CancelledError:
            raise self._lost() from None
        except KilledWorker:
            result = self._blame(submission)
        except ImportError as error:
            raise CrewGone(f"A worker lacks the grader ({error}). {_INSTALL}") from error
        except Exception as error:
            self._must_be_there()
            result = Graded(submission.student, error=f"{type(error).__name__}: {error}")
        if isinstance(result, Unfit):
            raise CrewGone(f"The worker {result.worker} {result.reason}")
        del self._under_way[future]
        self._since.pop(submission.student, None)
        return result

    def _blame(self, submission: Submission) -> Graded | None:
        """Workers have died while they had it. Whether that is its own doing shows when it is alone."""
        if self._alone == submission.student:
            return Graded(submission.student, error="the workers that grade it were killed, again and again")
        self._suspects.append(submission)
        return None

    def _note(self, event: tuple[float, str]) -> None:
        self._since[event[1]] = time.monotonic()

    def _lost(self) -> CrewGone:
        return CrewGone(f"The connection to the scheduler {self._address} is lost. {_GO_ON}")


# Looked up when the task runs: where a function that is sent cannot be found, a worker ends itself without a word.
_CALL = "__import__('grader.classroom.dask_crew', fromlist=['grade_here']).grade_here(*order)"
_GO_ON = "What is graded is written down; run this again for the others."
_INSTALL = "Install the same package there, and start it again."


def _connect(address: str) -> Client:
    # What goes wrong is told by our errors. With tls://, certificates are those of Dask's own configuration.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})  # a large submission is no mistake
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        reason = str(error.__cause__ or error)
        raise CourseError(f"There is no connection to a Dask scheduler at {address}: {reason}") from error


# --- on the side of the workers --------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()  # the steps of a conversion, and torch's random numbers, are one for all threads


@dataclasses.dataclass(frozen=True)
class Unfit:
    """What a worker answers that must grade nobody."""

    worker: str
    reason: str


def grade_here(wanted: dict[str, str], assignment: bytes, topic: str, submission: bytes) -> Graded | Unfit:
    """Grade on the Dask worker that this runs on. It keeps its zygote from submission to submission."""
    worker = get_worker()
    if differing := [name for name, value in wanted.items() if this_grader().get(name) != value]:
        return Unfit(worker.address, f"has another version of {' and '.join(differing)}. {_INSTALL}")
    with _one_at_a_time:
        order: Submission = pickle.loads(submission)
        worker.log_event(topic, order.student)
        try:
            graded: Graded = _grader_for(assignment).grade(order)
        except _UnfitError as error:
            return Unfit(worker.address, str(error))
        return graded


class _UnfitError(Exception):
    """Nobody can be graded here; the text says why."""


@functools.lru_cache(maxsize=2)
def _grader_for(pickled: bytes) -> Any:
    from grader.classroom.submission_grader import SubmissionGrader  # brings torch, which a scheduler has no use for

    assignment: Assignment = pickle.loads(pickled)
    if assignment.confined and (reason := why_not()):
        raise _UnfitError(f"cannot confine submissions: {reason}. To run them unconfined, add --unconfined.")
    sweep()
    try:
        return SubmissionGrader(assignment)
    except Exception as error:
        raise _UnfitError(f"cannot use nbgrader_config.py: {type(error).__name__}: {error}") from error


@functools.cache
def this_grader() -> dict[str, str]:
    """What must be the same wherever a class is graded."""
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
