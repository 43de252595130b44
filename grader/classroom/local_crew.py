"""Crews on this machine: this process alone, several others, or several that crews of some assignments share."""

from __future__ import annotations

import contextlib
import gc
import itertools
import multiprocessing
import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

from grader.classroom.fork_server import preloaded
from grader.errors import CourseError, CrewGone
from grader.host.zygote_process import GPUS, start_zygote, use_zygote
from grader.model.submission import Assignment, Graded, Submission
from grader.sandbox.confine import die_with_parent

TICK = 0.25  # seconds between two looks at the clock


class InThisProcess:
    """A crew of one: this process grades one submission after another, and starts no others."""

    def __init__(self, assignment: Assignment) -> None:
        from grader.classroom.submission_grader import SubmissionGrader  # imports torch, which takes long

        try_a_sandbox(assignment)
        self._grader = SubmissionGrader(assignment)

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        for submission in submissions:
            yield self._grader.grade(submission)

    def running(self) -> dict[str, float]:
        return {}

    def close(self) -> None: ...


class LocalCrew:
    """A crew of processes on this machine, all forked from one, each with its own zygote."""

    def __init__(self, assignment: Assignment, count: int) -> None:
        context = preloaded()
        gpus = itertools.cycle(gpu_names(assignment.device))
        self._processes = [CrewProcess(context, assignment, gpu) for gpu in itertools.islice(gpus, count)]
        try:  # while they start
            try_a_sandbox(assignment)
        except BaseException:
            self.close()
            raise

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        queue = iter(submissions)
        while True:
            for process in self._processes:
                if process.submission is None:
                    submission = next(queue, None)
                    if submission is not None:
                        process.start(submission)
            busy = {process.connection: process for process in self._processes if process.submission is not None}
            if not busy:
                return
            for connection in wait(list(busy), TICK):
                graded = busy[connection].result()  # type: ignore[index]
                if graded is not None:
                    yield graded
            yield None

    def running(self) -> dict[str, float]:
        return _running(self._processes)

    def close(self) -> None:
        for process in self._processes:
            process.end()


class SharedProcesses:
    """Processes on this machine for crews of several assignments, so that no crew waits for another one.

    Each process is for one assignment, and stays until its place is needed for another one.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: list[CrewProcess] = []

    @property
    def is_free(self) -> bool:
        """Whether another submission can be graded at once."""
        return sum(process.submission is not None for process in self._processes) < self._count

    def start(self, assignment: Assignment, submission: Submission) -> None:
        """Grade a submission, now that a process is free."""
        free = [process for process in self._processes if process.submission is None]
        process = next((process for process in free if process.assignment == assignment), None)
        (process or self._new(assignment, free)).start(submission)

    def _new(self, assignment: Assignment, free: list[CrewProcess]) -> CrewProcess:
        if len(self._processes) == self._count:
            self._end([min(free, key=lambda process: process.since)])
        gpu = min(gpu_names(assignment.device), key=[process.gpu for process in self._processes].count)
        process = CrewProcess(preloaded(), assignment, gpu)
        self._processes.append(process)
        try_a_sandbox(assignment)  # while it starts
        return process

    def busy(self, assignment: str) -> dict[Connection, CrewProcess]:
        processes = [process for process in self._processes if process.submission is not None]
        return {process.connection: process for process in processes if process.assignment.name == assignment}

    def wait(self) -> None:
        """Wait until there is a result, but no longer than a tick."""
        wait([process.connection for process in self._processes if process.submission is not None], TICK)

    def end(self, assignment: str) -> None:
        """End the processes of an assignment, whatever they are grading."""
        self._end([process for process in self._processes if process.assignment.name == assignment])

    def _end(self, processes: list[CrewProcess]) -> None:
        for process in processes:
            self._processes.remove(process)
            with contextlib.suppress(Exception):  # it has not even started
                process.end()

    def close(self) -> None:
        self._end(list(self._processes))


class SharingCrew:
    """A crew of whichever shared processes are free. It does not wait for results: that is done for all such crews."""

    def __init__(self, assignment: Assignment, processes: SharedProcesses) -> None:
        self._assignment = assignment
        self._processes = processes

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        queue = iter(submissions)
        while True:
            busy = self._processes.busy(self._assignment.name)
            for connection in wait(list(busy), 0):
                graded = busy[connection].result()  # type: ignore[index]
                if graded is not None:
                    yield graded
            is_at_end = False
            while self._processes.is_free and not is_at_end:
                submission = next(queue, None)
                if submission is None:
                    is_at_end = True
                else:
                    self._processes.start(self._assignment, submission)
            if is_at_end and not self._processes.busy(self._assignment.name):
                return
            yield None

    def running(self) -> dict[str, float]:
        return _running(self._processes.busy(self._assignment.name).values())

    def close(self) -> None: ...


class CrewProcess:
    """One process of a crew, which is started again if it dies."""

    def __init__(self, context: multiprocessing.context.ForkServerContext, assignment: Assignment, gpu: str) -> None:
        self._context = context
        self.gpu = gpu
        self.assignment = assignment
        self.submission: Submission | None = None
        self.since = 0.0
        self._deaths = 0
        self._start()

    def _start(self) -> None:
        self.connection, other_end = self._context.Pipe()
        with start_zygote().fork_zygote() as zygote:
            self._process = self._context.Process(
                target=_serve,
                args=(self.assignment, other_end, zygote, tempfile.gettempdir(), self.gpu),
                daemon=True,
            )
            self._process.start()
        other_end.close()  # so that we notice when the process's own end is gone

    def start(self, submission: Submission) -> None:
        self.submission, self.since, self._deaths = submission, time.monotonic(), 0
        self._send()

    def _send(self) -> None:
        with contextlib.suppress(OSError):  # it has died, as reading its result will show
            self.connection.send(self.submission)

    def result(self) -> Graded | None:
        """The result that it has sent. If it has died, try once more."""
        assert self.submission is not None
        try:
            graded: Graded | CourseError = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            self._start()
            self._deaths += 1
            if self._deaths == 1:
                self._send()
                return None
            graded = self.submission.result("the process that grades it was killed twice")
        if isinstance(graded, CourseError):
            raise graded
        self.submission = None
        return graded

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _running(processes: Iterable[CrewProcess]) -> dict[str, float]:
    now = time.monotonic()
    return {process.submission.student: now - process.since for process in processes if process.submission}


def gpu_names(device: str) -> list[str]:
    """The names of the GPUs to spread a crew over; one empty name if there is no choice."""
    if device != "cuda":
        return [""]
    from grader.host.devices import gpus

    return gpus() or [""]


def try_a_sandbox(assignment: Assignment) -> None:
    """Try one sandbox before all others. Only this imports torch."""
    from grader.host.devices import must_start

    must_start(assignment.device, assignment.confined, assignment.hidden)


def _serve(assignment: Assignment, connection: Connection, zygote: socket.socket, temporary: str, gpu: str) -> None:
    """Grade what comes over the connection, until the main process closes it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the main process, which then ends its crew
    die_with_parent(os.getppid())
    gc.freeze()  # the collector then leaves shared pages alone
    tempfile.tempdir = temporary
    if gpu:
        os.environ[GPUS] = gpu
    use_zygote(zygote)
    from grader.classroom.submission_grader import SubmissionGrader

    try:
        grader = SubmissionGrader(assignment)
    except CourseError as error:  # it concerns the whole class
        connection.send(CrewGone(str(error)))
        return
    while True:
        try:
            submission = connection.recv()
        except EOFError:
            return
        try:
            graded: Graded | CourseError = grader.grade(submission)
        except CourseError as error:
            graded = CrewGone(str(error))
        connection.send(graded)
