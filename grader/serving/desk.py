"""The thread that grades what arrives, like `grader autograde`, several assignments side by side."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from grader.classroom.attempts import NoRoom
from grader.classroom.local_crew import SharedProcesses, SharingCrew
from grader.classroom.run import alone, open_run
from grader.collecting.choosing import ChosenUpload
from grader.collecting.placing import SubmissionFolder
from grader.collecting.students import StudentReference
from grader.collecting.uploads import Upload
from grader.course.folder import Course
from grader.errors import CourseBusy, CourseError
from grader.model.submission import Graded
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.queue import Queue

log = logging.getLogger(__name__)

LONGEST = 5.0  # seconds in which all that is free goes to one assignment while others wait
AGAIN = 5.0  # seconds until the next try, where something of ours went wrong
BUSY = 0.5  # … and where somebody else grades or publishes
ARRIVALS = "what has arrived"  # in place of an assignment, where that cannot be read
SORRY = "something went wrong on our side. Please tell your instructor."


# Notebooks that submit themselves do so while they are graded, too: there, it must be there and do nothing.
BESIDE = {
    "submit.py": b"def sign_in(*_: object) -> None: ...\n\n\ndef submit(*_: object, **__: object) -> None: ...\n",
}


class News:
    """Wakes those who wait for news of a submission. The thread that grades tells; tasks of the server wait."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[int, set[asyncio.Event]] = {}  # by submission
        self._hear: Callable[[], None] = lambda: None

    def listen(self, hear: Callable[[], None] = lambda: None) -> None:
        """From now on, tasks of this loop are woken, and `hear` is called whatever the news."""
        self._loop, self._hear = asyncio.get_running_loop(), hear

    def tell(self, arrival: Arrival) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._wake, arrival.id)

    def _wake(self, key: int) -> None:
        self._hear()
        for event in self._waiting.get(key, ()):
            event.set()

    async def wait(self, arrival: Arrival, seconds: float) -> None:
        """Wait until this submission has news, but no longer than this."""
        event = asyncio.Event()
        self._waiting.setdefault(arrival.id, set()).add(event)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), seconds)
        finally:
            self._waiting[arrival.id].discard(event)
            if not self._waiting[arrival.id]:
                del self._waiting[arrival.id]


@dataclass(frozen=True)
class GradingOptions:
    """How to grade."""

    jobs: int
    device: str = "cpu"


class Desk:
    """Grades in a thread of its own until it is closed. After a crash, what was not done is done."""

    def __init__(self, course: Course, arrivals: Arrivals, options: GradingOptions) -> None:
        self._course = course
        self._arrivals = arrivals
        self._options = options
        self.queue = Queue(arrivals)
        self.trouble: dict[str, str] = {}  # by assignment: why it cannot be graded, for instructors
        self.news = News()
        self.hand_on: Callable[[Arrival], None] = lambda _: None  # called with what has been graded
        self._grading: dict[str, Arrival] = {}  # by student
        self._processes = SharedProcesses(options.jobs)
        self._turn = ""  # the assignment that is next: a process that changes to another one starts again
        self._turn_ends = 0.0
        self._thread = threading.Thread(target=self._work, name="grading", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Finish what is being graded, and leave the rest for the next start."""
        self.queue.close()
        self._thread.join()
        self._processes.close()

    def _work(self) -> None:
        while not self.queue.is_closed:
            assignment = ""
            try:
                self._grading = {}
                self._arrivals.put_back()  # after a crash, too
                assignment = self.queue.next_assignment()
                self.trouble.pop(ARRIVALS, None)
                if assignment:
                    with alone(self._course):
                        self._grade_all()
            except CourseBusy:
                self.queue.rest(assignment, BUSY)
            except Exception as error:
                self._note_trouble(assignment or ARRIVALS, error)
                if not assignment:
                    self.queue.pause(AGAIN)

    def _grade_all(self) -> None:
        """Grade what waits. Runs over several assignments go on side by side, so none waits for a slow submission."""
        runs: dict[str, Iterator[None]] = {}
        while True:
            arrival = self._next_arrival()
            if arrival and arrival.assignment not in runs:
                runs[arrival.assignment] = self._grade(arrival.assignment)
            runs = {assignment: run for assignment, run in runs.items() if self._goes_on(assignment, run)}
            if not runs:
                return
            if not self._next_arrival():
                self._processes.wait()

    def _goes_on(self, assignment: str, run: Iterator[None]) -> bool:
        """Let a run go on for a moment. False at its end."""
        try:
            next(run)
        except StopIteration:
            self.trouble.pop(assignment, None)
        except Exception as error:  # whatever it is, the server goes on, and tries again
            self._fail(assignment, error)
        else:
            return True
        return False

    def _next_arrival(self) -> Arrival | None:
        """The submission that can be begun now: the next one of the assignment whose turn it is, or of any other."""
        line = self.queue.line() if self._processes.is_free else []
        if not line:
            return None
        if time.monotonic() > self._turn_ends or all(arrival.assignment != self._turn for arrival in line):
            self._begin_turn(line[0].assignment)
        return next(arrival for arrival in line if arrival.assignment == self._turn)

    def _begin_turn(self, assignment: str) -> None:
        self._turn, self._turn_ends = assignment, time.monotonic() + LONGEST

    def _fail(self, assignment: str, error: Exception) -> None:
        """Try what was being graded again, later. Other assignments go on."""
        self._note_trouble(assignment, error)
        self._grading = {
            student: arrival for student, arrival in self._grading.items() if arrival.assignment != assignment
        }
        self._arrivals.put_back(assignment)

    def _note_trouble(self, assignment: str, error: Exception) -> None:
        text = str(error) if isinstance(error, CourseError) else repr(error)
        if self.trouble.get(assignment) != text:
            log.warning(f"{assignment}: {text}")
        self.trouble[assignment] = text
        self._processes.end(assignment)
        self.queue.rest(assignment, AGAIN)

    def _grade(self, assignment: str) -> Iterator[None]:
        """Grade an assignment until nobody of it is left, and yield when there is nothing to do but wait."""
        course = Course(self._course.root)  # its rules, and its notebooks, may have changed

        def coming() -> str | None:
            while True:
                arrival = self._next_arrival()
                if arrival is None or arrival.assignment != assignment:
                    return None
                self._arrivals.begin(arrival)
                self._grading[arrival.student] = arrival
                if self._is_in_place(arrival, course):
                    return arrival.student

        with open_run(course, assignment, device=self._options.device, force=False, confined=True) as run:
            self._begin_turn(assignment)  # however long that took
            for batch in run.grade_whoever_comes(coming, SharingCrew(run.assignment, self._processes)):
                for graded in batch:
                    self._finish(graded)
                if not batch:
                    yield

    def _is_in_place(self, arrival: Arrival, course: Course) -> bool:
        """Put a submission into submitted/. If only this one cannot be, it fails alone."""
        try:
            self._put_in_place(arrival, course)
        except NoRoom:  # with all that failed on our side, too
            self._finish(Graded(arrival.student, error="you have submitted too often for all of it to be kept."))
            return False
        except OSError:  # a full disk, say: nothing can be graded
            raise
        except Exception as error:
            log.warning(f"{arrival.student}, {arrival.assignment}, no. {arrival.number}: {error!r}")
            self._finish(Graded(arrival.student, error=SORRY))
            return False
        return True

    def _put_in_place(self, arrival: Arrival, course: Course) -> None:
        notebooks = self._arrivals.contents(arrival, course.notebooks("release", arrival.assignment))
        upload = Upload(StudentReference.of(arrival.student), [], "", arrival.arrived.replace(tzinfo=None))
        keeps_older = course.rules(arrival.assignment).best
        folder = SubmissionFolder(course, arrival.student, arrival.assignment, keeps_older)
        folder.recover()
        folder.put(ChosenUpload(upload, notebooks, dict(BESIDE), ()))
        self.news.tell(arrival)

    def _finish(self, graded: Graded) -> None:
        arrival = self._grading.pop(graded.student)
        if graded.error:
            log.warning(f"{graded.student}, {arrival.assignment}: {graded.error}")
        state = Stage.FAILED if graded.error else Stage.GRADED
        # What the tests say of this submission. What it earns is worked out from the gradebook when somebody asks.
        result = replace(graded, verdicts=graded.newest_verdicts or graded.verdicts)
        self._arrivals.finish(arrival, state, result.to_json())
        self.news.tell(arrival)
        if state is Stage.GRADED:
            self.hand_on(arrival)
