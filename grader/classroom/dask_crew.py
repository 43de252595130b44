"""A crew of Dask workers on any machines, trusted like this one. They need neither a database nor shared files."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import pickle
import time
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError

import dask
from distributed import Client, Future, KilledWorker, Security, wait

from grader.classroom.dask_worker import grade_on_worker, versions_here
from grader.classroom.local_crew import TICK
from grader.errors import CourseError, CrewGone
from grader.model.submission import Assignment, Graded, Submission
from grader.sandbox.plain_text import one_line

CONNECT_SECONDS = 10  # for a scheduler to answer
PATIENCE = 60.0  # seconds without any worker; restarting them takes a few
CLOSE_SECONDS = 1.0
PER_THREAD = 2  # submissions under way: one running, one waiting
GO_ON = "Everything graded so far is saved. To grade the rest, run this again."


def connect(address: str) -> Client:
    """A client of the scheduler at this address. With tls://, its certificates come from Dask's own configuration."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # our own errors say what goes wrong
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})  # a large submission is no mistake
    try:
        security = Security(require_encryption=address.startswith("tls://"))
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False, security=security)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        reason = one_line(error.__cause__ or error, 400)
        raise CourseError(f"Cannot connect to a Dask scheduler at {address}: {reason}") from error


class DaskCrew:
    """A crew of all the workers of a Dask scheduler.

    Only a limited number of submissions is under way; the others are not even read yet.
    """

    def __init__(self, assignment: Assignment, address: str) -> None:
        self._address = address
        self._client = connect(address)
        self._topic = f"grader-{uuid.uuid4()}"
        self._under_way: dict[Future[Graded], Submission] = {}
        self._begun: dict[str, float] = {}  # by student: when a worker began
        self._suspects: list[Submission] = []  # their workers were killed; another submission may be to blame
        self._threads = 0
        self._last_worker = time.monotonic()  # when there was one
        # A task instead of scattered data: if a worker dies with the only copy, the scheduler makes another. The
        # address of the database stays here: it may hold a password.
        pickled = pickle.dumps(dataclasses.replace(assignment, db_url=""))
        self._assignment = self._client.submit(bytes, pickled)
        self._client.subscribe_topic(self._topic, self._note_beginning)

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        yield from self._follow(iter(submissions))
        suspects, self._suspects = self._suspects, []
        for submission in suspects:  # alone, which shows who is to blame
            yield from self._follow(iter([submission]))
        for submission in self._suspects:
            yield submission.result("the workers that grade it were killed, again and again")

    def running(self) -> dict[str, float]:
        now = time.monotonic()
        students = [submission.student for submission in self._under_way.values()]
        return {student: now - self._begun[student] for student in students if student in self._begun}

    def close(self) -> None:
        """Disconnect. The scheduler drops tasks that nobody wants any more, but running ones run to their end."""
        try:
            self._client.close(timeout=CLOSE_SECONDS)
        except (OSError, CancelledError):
            logging.getLogger(__name__).debug("The scheduler did not close the connection.", exc_info=True)

    def _follow(self, waiting: Iterator[Submission]) -> Iterator[Graded | None]:
        """Keep all workers busy until no submission is left."""
        while True:
            self._look_at_workers()
            room = max(PER_THREAD * self._threads, 2) - len(self._under_way)
            for submission in itertools.islice(waiting, max(room, 0)):
                self._under_way[self._send(submission)] = submission
            if not self._under_way:
                return
            for future in self._finished():
                graded = self._result(future, self._under_way.pop(future))
                if graded is not None:
                    yield graded
            yield None

    def _look_at_workers(self) -> None:
        """Count the workers, which come and go while a class is graded."""
        if self._client.status != "running":
            raise self._lost()
        now = time.monotonic()
        self._threads = self._client.scheduler_info(n_workers=0).get("total_threads", 0)
        if self._threads:
            self._last_worker = now
        elif now > self._last_worker + PATIENCE:
            raise CrewGone(
                f"The scheduler {self._address} has had no workers for {PATIENCE:.0f} seconds. A worker that lacks "
                f"this package ends by itself. {GO_ON}"
            )

    def _send(self, submission: Submission) -> Future[Graded]:
        return self._client.submit(
            grade_on_worker, versions_here(), self._topic, self._assignment, submission, pure=False
        )

    def _finished(self) -> list[Future[Graded]]:
        """What has ended by the next tick of the clock."""
        try:
            with self._client.as_current():
                return list(wait(list(self._under_way), TICK, "FIRST_COMPLETED").done)
        except TimeoutError:
            return []
        except CancelledError:
            raise self._lost() from None

    def _result(self, future: Future[Graded], submission: Submission) -> Graded | None:
        """The result, or None if the submission is suspected of killing workers."""
        try:
            return future.result()
        except KilledWorker:
            self._suspects.append(submission)
            return None
        except CrewGone:
            raise
        except CancelledError:
            raise self._lost() from None
        except Exception as error:  # a worker that has no grader, or not the same Python
            reason = one_line(f"{type(error).__name__}: {error.__cause__ or error}", 400)
            raise CrewGone(f"The Dask workers cannot grade. Install the same package there. {reason}") from error

    def _note_beginning(self, event: tuple[float, str]) -> None:
        self._begun[event[1]] = time.monotonic()

    def _lost(self) -> CrewGone:
        return CrewGone(f"Lost the connection to the scheduler {self._address}. {GO_ON}")
