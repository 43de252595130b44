"""A crew of Dask's workers, on whatever machines. They need this package, and neither a database nor shared files."""

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

# The head's end of a Dask scheduler: nothing that it or its workers send is run, or even unpickled.
#
# Dask's own client unpickles results, errors, types and events that any worker has made, and a pickle may be a command.
# Here, messages are read as plain data, and what was pickled is left out of them. Should Dask find another pickle to
# read, then no name of a class or a function is looked up for it, and without one it can do nothing.

_ENCRYPTED = ("tls", "wss")
_FAILED = "A worker or the scheduler has reported an error."


def connect(address: str, seconds: float, without_tls: bool = False) -> Client:
    """A client that hears plain data only. With tls://, certificates are those of Dask's own configuration."""
    _must_be_private(address, address, without_tls)
    if any(scheduler.status == Status.running for scheduler in list(Scheduler._instances)):
        raise CourseError("A Dask scheduler runs in this process, beside the gradebook. Start it in one of its own.")
    _hear_plain_data_only()
    # What goes wrong is told by our errors.
    for name in ("distributed", "distributed.client", "distributed.protocol.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})  # a large submission is not a mistake
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        reason = one_line(error.__cause__ or error, 400)
        raise CourseError(f"There is no connection to a Dask scheduler at {address}: {reason}") from error
    try:  # one that is asked on this machine may listen to others as well
        _must_be_private(address, str(client.scheduler_info(n_workers=0).get("address")), without_tls)
    except CourseError:
        client.close()
        raise
    return client


def _must_be_private(asked: str, address: str, without_tls: bool) -> None:
    if not (without_tls or _is_private(asked if parse_address(asked)[0] in _ENCRYPTED else address)):
        raise CourseError(
            f"Anyone who reaches the scheduler {one_line(address)} can read all submissions and give any grade, for it "
            "does not ask for a certificate. Start it with TLS (docs/many_machines.md says how), or with --host "
            "127.0.0.1; or add --dask-without-tls, if nobody else is on that network."
        )


def _is_private(address: str) -> bool:
    """Whether it asks for certificates, or never leaves this machine."""
    scheme, place = parse_address(address)
    host = urlsplit(f"//{place}").hostname or ""
    try:
        return scheme in _ENCRYPTED or host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@functools.cache
def _hear_plain_data_only() -> None:
    """From now on, for all of this process: none of this can be undone by a message that comes late."""
    sys.addaudithook(_look_up_no_names)
    protocol.loads = _plain_message  # type: ignore[attr-defined]
    Client._default_event_handlers = {}  # they print and warn, whatever a worker says


def _look_up_no_names(event: str, _: object) -> None:
    """Python asks here before a pickle gets what it names, in whatever way it is read."""
    if event == "pickle.find_class" and _dask_reads(sys._getframe(1)):
        raise TypeError("A pickle from outside names something of Python's.")  # Dask goes on after this one


def _dask_reads(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("distributed."):
            return True
        frame = frame.f_back
    return False


def _plain_message(frames: Sequence[Any], deserialize: bool = True, deserializers: object = None) -> Any:  # noqa: ARG001
    """Takes the place of `distributed.protocol.loads`. Whatever one worker has put into a message, the rest is read."""
    return msgpack.loads(frames[0], object_hook=functools.partial(_plain, frames), use_list=False, strict_map_key=False)


def _plain(frames: Sequence[Any], found: dict[Any, Any]) -> Any:
    """An object in a message, without what was pickled."""
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
    """What a task returned, if that was bytes."""
    try:
        header: Mapping[str, Any] = msgpack.loads(frames[place], use_list=False, strict_map_key=False)
        if header["serializer"] != "dask" or any(header.get("compression", ())):
            return None
        return b"".join(frames[place + 1 : place + 1 + header["num-sub-frames"]])
    except Exception:  # the header, too, is what a worker has made of it
        return None


CONNECT_SECONDS = 10  # until a scheduler has answered
PATIENCE = 60.0  # seconds without any worker; who starts them again when they die needs a few
GATHER_SECONDS = 5.0  # until a result is here, before others are looked at
CLOSE_SECONDS = 1.0
PER_THREAD = 2  # submissions under way: one that runs, and one that waits for it


class DaskCrew:
    """A crew of the workers that one Dask scheduler has.

    A bounded number of submissions is under way; the others are not even read.
    """

    def __init__(self, assignment: Assignment, address: str, without_tls: bool = False) -> None:
        self._assignment = assignment
        self._address = address
        self._client = connect(address, CONNECT_SECONDS, without_tls)
        self._topic = f"grader-{uuid.uuid4()}"
        self._under_way: dict[Future[bytes], Submission] = {}
        self._suspects: list[Submission] = []  # a worker died while it had them; another submission may be to blame
        self._alone: Submission | None = None  # the suspect that is under way, beside nothing else
        self._since: dict[str, float] = {}  # when a worker has begun with those who are under way
        self._threads, self._seen = 0, time.monotonic()
        self._next_look = 0.0
        # A task, and not scattered data: if a worker dies with the only copy, the scheduler makes another. The
        # address of the database is not for workers.
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
        except CancelledError:  # this is how futures learn that the scheduler has gone
            raise self._lost() from None

    def _result(self, future: Future[bytes]) -> Graded | None:
        """The result; None if it has died with its worker, or if the submission is to be tried again."""
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
        except Exception:  # what it says is not known: it comes as a pickle
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
            return submission.result(f"what the worker {self._who_had(future)} sent is not a result: {error}")

    def _who_had(self, future: Future[bytes]) -> str:
        (workers,) = self._client.who_has([future]).values()
        return one_line(", ".join(workers))

    def _blame(self, submission: Submission) -> Graded | None:
        """Suspect a submission whose workers died or failed. Alone, it will show whether it is to blame."""
        if self._alone is submission:
            return submission.result("no worker has a result: they were killed, or failed, again and again")
        self._suspects.append(submission)
        return None

    def _note(self, event: tuple[float, object]) -> None:
        student = event[1]
        if isinstance(student, str) and student in self._since:  # anybody may have said it
            self._since[student] = time.monotonic()

    def _lost(self) -> CrewGone:
        return CrewGone(f"The connection to the scheduler {self._address} is lost. {_GO_ON}")


_GO_ON = "What is graded is written down; run this again for the others."
