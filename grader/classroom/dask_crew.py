"""A crew of Dask workers on any machines. They need this package, but neither a database nor shared files."""

from __future__ import annotations

import dataclasses
import functools
import ipaddress
import itertools
import logging
import math
import pickle
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import dask
import msgpack
from distributed import Client, Future, Scheduler, Status, protocol, wait
from distributed.comm.addressing import parse_address

from grader.classroom.dask_worker import CODE, ORDER, UNFIT, this_grader
from grader.classroom.local_crew import TICK
from grader.classroom.worker_results import NoResult, read_json, unpack
from grader.errors import CourseError, CrewGone
from grader.model.submission import Assignment, Graded, Submission
from grader.sandbox.plain_text import one_line

# The main process's connection to a Dask scheduler: nothing that comes from it is run, or even unpickled.
#
# Dask's own client unpickles results, errors, types and events from any worker, and a pickle can be a command. Here,
# messages are read as plain data, without pickles. Should Dask find another pickle to read, no class or function is
# looked up for it, and without one it can do nothing.

_ENCRYPTED = ("tls", "wss")
_FAILED = "A worker or the scheduler has reported an error."


def connect(address: str, seconds: float, without_tls: bool = False) -> Client:
    """A client that reads only plain data. With tls://, its certificates come from Dask's own configuration."""
    _must_be_private(address, address, without_tls)
    if any(scheduler.status == Status.running for scheduler in list(Scheduler._instances)):
        raise CourseError("The Dask scheduler runs in the same process as the gradebook. Start it in its own process.")
    _hear_plain_data_only()
    # Our own errors say what goes wrong.
    for name in ("distributed", "distributed.client", "distributed.protocol.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})  # a large submission is not a mistake
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        reason = one_line(error.__cause__ or error, 400)
        raise CourseError(f"Cannot connect to a Dask scheduler at {address}: {reason}") from error
    try:  # a scheduler on this machine may also listen to others
        _must_be_private(address, str(client.scheduler_info(n_workers=0).get("address")), without_tls)
    except CourseError:
        client.close()
        raise
    return client


def _must_be_private(asked: str, address: str, without_tls: bool) -> None:
    if not (without_tls or _is_private(asked if parse_address(asked)[0] in _ENCRYPTED else address)):
        raise CourseError(
            f"Anyone who can reach the scheduler {one_line(address)} can read all submissions and set any grade: it "
            "does not ask for a certificate. Start it with TLS (see docs/many_machines.md) or with --host 127.0.0.1. "
            "If nobody else is on that network, you can add --dask-without-tls."
        )


def _is_private(address: str) -> bool:
    """Whether the connection needs certificates, or never leaves this machine."""
    scheme, place = parse_address(address)
    host = urlsplit(f"//{place}").hostname or ""
    try:
        return scheme in _ENCRYPTED or host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@functools.cache
def _hear_plain_data_only() -> None:
    """Read only plain data in this process, for good, so that late messages are read safely, too."""
    sys.addaudithook(_look_up_no_names)
    protocol.loads = _plain_message  # type: ignore[attr-defined]
    Client._default_event_handlers = {}  # these would print any text from a worker


def _look_up_no_names(event: str, _: object) -> None:
    """Refuse the names in Dask's pickles. Python calls this before any pickle gets a named object."""
    if event == "pickle.find_class" and _dask_reads(sys._getframe(1)):
        raise TypeError("A pickle from outside names something of Python's.")  # Dask survives this kind of error


def _dask_reads(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("distributed."):
            return True
        frame = frame.f_back
    return False


def _plain_message(frames: Sequence[Any], deserialize: bool = True, deserializers: object = None) -> Any:  # noqa: ARG001
    """Replaces `distributed.protocol.loads`: if one worker puts nonsense into a message, the rest is still read."""
    return msgpack.loads(frames[0], object_hook=functools.partial(_plain, frames), use_list=False, strict_map_key=False)


def _plain(frames: Sequence[Any], found: dict[Any, Any]) -> Any:
    """An object in a message, without its pickles."""
    if "__Serialized__" in found:
        return _plain_bytes(frames, found["__Serialized__"])
    if "__Pickled__" in found or "__Enum__" in found or "__Set__" in found:
        return None
    if isinstance(found.get("type"), bytes):
        found["type"] = None  # a pickle
    if "exception" in found:
        found.update(exception=_FAILED, traceback=None)
    return found


def _plain_bytes(frames: Sequence[Any], place: Any) -> bytes | None:
    """The bytes that a task returned; None for anything else."""
    try:
        header: Mapping[str, Any] = msgpack.loads(frames[place], use_list=False, strict_map_key=False)
        if header["serializer"] != "dask" or any(header.get("compression", ())):
            return None
        return b"".join(frames[place + 1 : place + 1 + header["num-sub-frames"]])
    except Exception:  # a worker has made the header, too
        return None


CONNECT_SECONDS = 10  # for a scheduler to answer
PATIENCE = 60.0  # seconds without any worker; restarting them takes a few
GATHER_SECONDS = 5.0  # for one result to arrive, before we turn to others
CLOSE_SECONDS = 1.0
PER_THREAD = 2  # submissions under way: one running, one waiting


class DaskCrew:
    """A crew of all the workers of a Dask scheduler.

    Only a limited number of submissions is under way; the others are not even read yet.
    """

    def __init__(self, assignment: Assignment, address: str, without_tls: bool = False) -> None:
        self._assignment = assignment
        self._address = address
        self._client = connect(address, CONNECT_SECONDS, without_tls)
        self._topic = f"grader-{uuid.uuid4()}"
        self._under_way: dict[Future[bytes], Submission] = {}
        self._suspects: list[Submission] = []  # their worker died; another submission may be to blame
        self._alone: Submission | None = None  # the suspect that is under way, with nothing else
        self._since: dict[str, float] = {}  # by student under way: when a worker began
        self._threads, self._seen = 0, time.monotonic()
        self._next_look = 0.0
        # A task instead of scattered data: if a worker dies with the only copy, the scheduler makes another. Workers
        # must not know the address of the database.
        self._sent = self._client.submit(bytes, pickle.dumps(dataclasses.replace(assignment, db_url="")))
        self._client.subscribe_topic(self._topic, self._note)

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        waiting = iter(submissions)
        while True:
            self._look_at_workers()
            room = max(PER_THREAD * self._threads, 2) - len(self._under_way)
            for submission in itertools.islice(waiting, max(room, 0)):
                self._send(submission)
            if not self._under_way and self._suspects:
                self._alone = self._suspects.pop()
                self._send(self._alone)
            if not self._under_way:
                return
            for future in self._done():
                if (graded := self._result(future)) is not None:
                    yield graded
            yield None

    def running(self) -> dict[str, float]:
        now = time.monotonic()
        return {student: now - since for student, since in dict(self._since).items() if since <= now}

    def close(self) -> None:
        """Disconnect. The scheduler drops tasks that nobody wants any more, but running ones run to their end."""
        try:
            self._client.close(timeout=CLOSE_SECONDS)
        except (OSError, CancelledError):
            logging.getLogger(__name__).debug("The scheduler did not close the connection.", exc_info=True)

    def _look_at_workers(self) -> None:
        """Count the workers, which come and go while a class is graded."""
        now = time.monotonic()
        self._must_be_there()
        if now < self._next_look:
            return
        self._next_look = now + 1
        self._threads = self._client.scheduler_info(n_workers=0).get("total_threads", 0)
        if self._threads:
            self._seen = now
        elif now > self._seen + PATIENCE:
            raise CrewGone(f"The scheduler {self._address} has had no workers for {PATIENCE:.0f} seconds. {_GO_ON}")

    def _must_be_there(self) -> None:
        if self._client.status != "running":
            raise self._lost()

    def _send(self, submission: Submission) -> None:
        order = [this_grader(), self._sent, self._topic, pickle.dumps(submission)]
        self._since[submission.student] = math.inf
        future = self._client.submit(eval, ORDER, {"code": CODE, "order": order}, key=f"grade-{uuid.uuid4()}")
        self._under_way[future] = submission

    def _done(self) -> list[Future[bytes]]:
        try:
            with self._client.as_current():
                return list(wait(list(self._under_way), TICK, "FIRST_COMPLETED").done)
        except TimeoutError:
            return []
        except CancelledError:  # the scheduler is gone
            raise self._lost() from None

    def _result(self, future: Future[bytes]) -> Graded | None:
        """The result; None if it was lost with its worker, or if the submission is to be tried again."""
        submission = self._under_way[future]
        graded: Graded | None
        try:
            graded = self._read(future, submission)
        except TimeoutError:
            return None
        except CancelledError:
            raise self._lost() from None
        except CrewGone:
            raise
        except Exception:  # its text is unknown: it comes as a pickle
            self._must_be_there()
            graded = self._blame(submission)
        del self._under_way[future]
        self._since.pop(submission.student, None)
        return graded

    def _read(self, future: Future[bytes], submission: Submission) -> Graded:
        content = future.result(timeout=GATHER_SECONDS)
        try:
            if (reason := read_json(content).get(UNFIT)) is not None:
                raise CrewGone(f"The worker {self._who_had(future)} {one_line(reason, 1000)}")
            return unpack(content, submission, self._assignment)
        except NoResult as error:
            return submission.result(f"the worker {self._who_had(future)} did not send a valid result: {error}")

    def _who_had(self, future: Future[bytes]) -> str:
        (workers,) = self._client.who_has([future]).values()
        return one_line(", ".join(workers))

    def _blame(self, submission: Submission) -> Graded | None:
        """Suspect a submission whose workers died or failed. Running alone will show whether it is to blame."""
        if self._alone is submission:
            return submission.result("no worker has a result: they were killed, or failed, again and again")
        self._suspects.append(submission)
        return None

    def _note(self, event: tuple[float, object]) -> None:
        student = event[1]
        if isinstance(student, str) and student in self._since:  # anybody may have sent it
            self._since[student] = time.monotonic()

    def _lost(self) -> CrewGone:
        return CrewGone(f"Lost the connection to the scheduler {self._address}. {_GO_ON}")


_GO_ON = "Everything graded so far is saved. To grade the rest, run this again."
