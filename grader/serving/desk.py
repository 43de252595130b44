"""The thread that grades what arrives, like `grader autograde`, with a crew that stays."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grader.classroom.attempts import NoRoom
from grader.classroom.local_crew import LocalCrew
from grader.classroom.run import open_run
from grader.collecting.choosing import Chosen
from grader.collecting.placing import Place
from grader.collecting.students import Key
from grader.collecting.uploads import Upload
from grader.course.folder import Course
from grader.errors import CourseBusy, CourseError
from grader.model.submission import Assignment, Graded
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.queue import Queue

LONGEST = 5.0  # seconds with one assignment while others wait
AGAIN = 5.0  # seconds until the next try, where something of ours went wrong
BUSY = 0.5  # … and where somebody else grades or publishes
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

    def listen(self) -> None:
        """From now on, tasks of this loop are woken."""
        self._loop = asyncio.get_running_loop()

    def tell(self, arrival: Arrival) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._wake, arrival.id)

    def _wake(self, key: int) -> None:
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
class How:
    """How to grade."""

    jobs: int
    device: str = "cpu"


class Desk:
    """Grades in a thread of its own until it is closed. After a crash, what was not done is done."""

    def __init__(self, course: Course, arrivals: Arrivals, how: How, tell: Callable[[str], None]) -> None:
        self._course = course
        self._arrivals = arrivals
        self._how = how
        self.tell = tell
        self.queue = Queue()
        self.trouble: dict[str, str] = {}  # by assignment: why it cannot be graded, for instructors
        self.news = News()
        self._grading: dict[str, Arrival] = {}  # by student
        self._crew: LocalCrew | None = None
        self._crew_of: Assignment | None = None
        for arrival in arrivals.not_done():
            self.queue.put(arrival)
        self._thread = threading.Thread(target=self._work, name="grading", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Finish what is being graded, and leave the rest for the next start."""
        self.queue.close()
        self._thread.join()
        if self._crew:
            self._crew.close()

    def look(self, running: Mapping[str, float]) -> None:
        """What a run tells while it goes on is not needed here."""

    def _work(self) -> None:
        while (assignment := self.queue.next_assignment()) is not None:
            try:
                self._grade(assignment)
                self.trouble.pop(assignment, None)
            except CourseBusy:
                self._once_more(assignment, BUSY)
            except Exception as error:  # whatever it is, the server goes on, and tries again
                self.trouble[assignment] = str(error) if isinstance(error, CourseError) else repr(error)
                self.tell(f"{assignment}: {self.trouble[assignment]}")
                self._close_crew()
                self._once_more(assignment, AGAIN)

    def _once_more(self, assignment: str, later: float) -> None:
        """Try what was being graded again, later. Other assignments go on."""
        self.queue.rest(assignment, later)
        for arrival in list(self._grading.values()):
            self.queue.put_back(arrival)
        self._grading.clear()

    def _grade(self, assignment: str) -> None:
        began = time.monotonic()

        def coming() -> str | None:
            if time.monotonic() > began + LONGEST and self.queue.others_wait(assignment):
                return None
            while (arrival := self.queue.take(assignment)) is not None:
                self._grading[arrival.student] = arrival
                if self._is_in_place(arrival):
                    return arrival.student
            return None

        self._course = Course(self._course.root)  # its rules, and its notebooks, may have changed
        device = self._how.device
        opened = open_run(self._course, assignment, device=device, force=False, confined=True, watcher=self)
        with opened as run:
            for graded in run.grade_whoever_comes(coming, self._crew_for(run.assignment)):
                self._finish(graded)

    def _crew_for(self, assignment: Assignment) -> LocalCrew:
        """The crew, which stays as long as nothing changes that all submissions have in common."""
        if self._crew is None or self._crew_of != assignment:
            self._close_crew()
            self._crew, self._crew_of = LocalCrew(assignment, self._how.jobs), assignment
        return self._crew

    def _close_crew(self) -> None:
        if self._crew:
            with contextlib.suppress(Exception):
                self._crew.close()
        self._crew = self._crew_of = None

    def _is_in_place(self, arrival: Arrival) -> bool:
        """Put a submission into submitted/. If only this one cannot be, it fails alone."""
        try:
            self._put_in_place(arrival)
        except NoRoom:  # with all that failed on our side, too
            self._finish(Graded(arrival.student, error="you have submitted too often for all of it to be kept."))
            return False
        except OSError:  # a full disk, say: nothing can be graded
            raise
        except Exception as error:
            self.tell(f"{arrival.student}, {arrival.assignment}, no. {arrival.number}: {error!r}")
            self._finish(Graded(arrival.student, error=SORRY))
            return False
        return True

    def _put_in_place(self, arrival: Arrival) -> None:
        self._arrivals.begin(arrival)
        (name,) = self._course.notebooks("release", arrival.assignment)
        upload = Upload(Key.of(arrival.student), [], "", arrival.arrived.replace(tzinfo=None))
        keeps = self._course.rules(arrival.assignment).best
        place = Place(self._course, arrival.student, arrival.assignment, keeps)
        place.recover()
        place.put(Chosen(upload, {name: self._arrivals.content(arrival)}, dict(BESIDE), ()))
        self.news.tell(arrival)

    def _finish(self, graded: Graded) -> None:
        arrival = self._grading.pop(graded.student)
        if graded.error:
            self.tell(f"{graded.student}, {arrival.assignment}: {graded.error}")
        state = Stage.FAILED if graded.error else Stage.GRADED
        self._arrivals.finish(arrival, state, result_of(graded))
        self.queue.done(graded.student)
        self.news.tell(arrival)


def result_of(graded: Graded) -> dict[str, Any]:
    """What the tests say of this submission. What it earns is worked out from the gradebook when somebody asks."""
    if graded.error:
        return {"error": graded.error}
    verdicts = graded.newest_verdicts or graded.verdicts
    return {
        "points": sum(scored.points for scored in verdicts),
        "max_points": sum(scored.max_points for scored in verdicts),
        "exercises": [scored.to_json() for scored in verdicts],
    }
