"""The thread that has questions made about right code, in a process of its own, whenever nobody waits for a verdict."""

from __future__ import annotations

import logging
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from grader.classroom.fork_server import preloaded
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.asked_questions import AskedQuestion, add_questions, own_code_by_student
from grader.host.zygote_process import start_zygote, use_zygote
from grader.model.label import Label
from grader.sandbox.confine import die_with_parent
from grader.serving.arrivals import Arrival, Arrivals, Stage, newest
from grader.serving.desk import BESIDE
from grader.serving.queue import Queue
from grader.term.rules import AskAfter

log = logging.getLogger(__name__)

PAUSE = 1.0  # seconds between two looks at whether somebody waits for a verdict
LONGEST = 300.0  # seconds for the questions about one submission


@dataclass(frozen=True)
class RightCode:
    """A submission to ask about, for the process that makes questions."""

    root: Path  # of the course
    assignment: str
    student: str
    notebooks: Mapping[str, bytes]
    exercises: Sequence[Label]  # that have full marks
    known_entries: Sequence[str]  # functions and classes that the student was asked about before
    count: int


class Asking:
    """Has questions made about what is graded, one submission at a time, until it is closed."""

    def __init__(self, course: Course, arrivals: Arrivals, queue: Queue) -> None:
        self._course = course
        self._arrivals = arrivals
        self._queue = queue
        self._changed = threading.Condition()
        self._line: list[int] = []  # the submissions to ask about, by id
        self._is_closed = False
        self._process = QuestionProcess()
        self._thread = threading.Thread(target=self._work, name="asking", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Leave the rest for the next start."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        while self._thread.is_alive():
            self._process.end()
            self._thread.join(PAUSE)

    def add(self, arrival: Arrival) -> None:
        """Ask about a submission that has just been graded, if course.toml says so."""
        with self._changed:
            self._line.append(arrival.id)
            self._changed.notify_all()

    def is_coming(self, arrival: Arrival) -> bool:
        """Whether a submission is still to be looked at."""
        return arrival.id in self._line

    def _work(self) -> None:
        unasked = self._left_by_earlier_server()
        with self._changed:
            self._line[:0] = unasked
        while True:
            with self._changed:
                while not self._is_closed and (not self._line or self._queue.line()):
                    self._changed.wait(PAUSE if self._line else None)
                if self._is_closed:
                    return
            arrival = self._arrivals.get(self._line[0])
            try:
                if arrival is not None:
                    self._ask(arrival)
            except Exception as error:  # whatever it is, the next ones are asked
                log.warning(f"No questions about submission {self._line[0]}: {error!r}")
            if not self._is_closed:
                del self._line[0]

    def _left_by_earlier_server(self) -> list[int]:
        """The last graded submissions of students that nobody has looked at."""
        arrivals = [arrival for arrival in newest(self._arrivals.of_class()).values() if arrival.state is Stage.GRADED]
        digests: dict[str, dict[str, str]] = {}  # of the submissions that were looked at, by assignment and student
        for assignment in {arrival.assignment for arrival in arrivals}:
            try:
                if self._course.rules(assignment).explain.after is not AskAfter.NEVER:
                    own_code = own_code_by_student(self._course, assignment)
                    digests[assignment] = {student: asked.submission for student, asked in own_code.items()}
            except CourseError as error:
                log.warning(f"{assignment}: {error}")
        unasked = []
        for arrival in arrivals:
            digest_by_student = digests.get(arrival.assignment)
            if digest_by_student is not None and digest_by_student.get(arrival.student) != arrival.sha256:
                unasked.append(arrival.id)
        return unasked

    def _ask(self, arrival: Arrival) -> None:
        course = Course(self._course.root)
        explain = course.rules(arrival.assignment).explain
        verdicts = [scored.verdict for scored in arrival.scored]
        right = [verdict.exercise for verdict in verdicts if verdict.right and verdict.exercise is not None]
        if not right or explain.after is AskAfter.NEVER:
            return
        before = own_code_by_student(course, arrival.assignment, [arrival.student]).get(arrival.student)
        known_entries = [question.entry for question in before.questions] if before else []
        notebooks = self._arrivals.contents(arrival, course.notebooks("release", arrival.assignment))
        count = explain.questions - len(known_entries)
        code = RightCode(course.root, arrival.assignment, arrival.student, notebooks, right, known_entries, count)
        questions = self._process.make_questions(code) if count > 0 else []
        if not self._is_closed:
            add_questions(course, arrival.assignment, arrival.student, arrival.sha256, questions)


class QuestionProcess:
    """The process that makes questions. It is started when it is needed, and again if it dies."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def make_questions(self, code: RightCode) -> list[AskedQuestion]:
        """Questions about this code; none if it takes too long, or if the process dies."""
        connection = self._connection or self._start()
        try:
            connection.send(code)
            if connection.poll(LONGEST):
                return list(connection.recv())
        except (EOFError, OSError):
            pass
        self.end()
        return []

    def _start(self) -> Connection:
        context = preloaded()
        self._connection, other_end = context.Pipe()
        with start_zygote().fork_zygote() as zygote:
            arguments = (other_end, zygote, tempfile.gettempdir())
            process = context.Process(target=_serve, args=arguments, daemon=True)
            process.start()
        other_end.close()
        self._process = process
        return self._connection

    def end(self) -> None:
        process, self._process, self._connection = self._process, None, None
        if process is not None:
            process.kill()
            process.join()


def _serve(connection: Connection, zygote: socket.socket, temporary: str) -> None:
    """Make questions about what comes over the connection, until the main process closes it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the main process
    die_with_parent(os.getppid())
    tempfile.tempdir = temporary
    use_zygote(zygote)
    while True:
        try:
            code = connection.recv()
        except EOFError:
            return
        try:
            questions = _make_questions(code)
        except CourseError as error:
            log.warning(f"No questions about {code.assignment} by {code.student}: {error}")
            questions = []
        connection.send(questions)


def _make_questions(code: RightCode) -> list[AskedQuestion]:
    from grader.host.asked_code import ask_student  # imports torch, which takes long
    from grader.host.notebook_settings import settings_for
    from grader.host.scratch import files_for_students
    from grader.notebooks.parsing import parse_notebook

    course = Course(code.root)
    exercises = course.exercises(code.assignment)
    right = [exercise for label, exercise in exercises.items() if label in code.exercises]
    files = files_for_students(course.folder("source") / code.assignment) | BESIDE
    notebooks = [parse_notebook(content) for content in code.notebooks.values()]
    settings = settings_for(course, exercises)
    questions = []
    for asked_exercise in ask_student(code.student, notebooks, files, settings, right, code.count, code.known_entries):
        for question in asked_exercise.questions:
            questions.append(
                AskedQuestion(asked_exercise.heading, asked_exercise.exercise.entry, asked_exercise.source, question)
            )
    return questions
