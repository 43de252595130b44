"""Measure `grader serve`: how soon students know that a submission has arrived, and how soon they have the verdict.

Run it in a course: `python benchmarks/serving_bench.py`; or with `--rush` for the last minutes before the due date, and
with `--kill`, too, if the server is killed among them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

import nbformat
import psutil
from nbformat.v4 import new_output
from rich import box
from rich.console import Console
from rich.table import Table
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.simple_httpclient import HTTPStreamClosedError

from class_mix import Notebooks, kind, members, notebooks_of_class
from grader.checks.demo import demonstrated
from grader.course.folder import Course, copy_course, open_course
from grader.notebooks.cells import fill_in, solutions
from grader.release.compiling import compile_release
from grader.serving.invitations import Role, invite
from grader.serving.student_pages import MOST_BYTES

# Submissions, and how many of them arrive in a second.
LOADS = ((30, 1), (150, 3), (300, 5), (300, 20))
RUSH = (300, 0.5)
FIRST = "s0000-first"  # a student before all others
PATIENCE = 900.0  # seconds
AT_ONCE = 2000  # open connections
PAUSE = 1.0  # seconds until a student who has lost the connection tries again
SLEEPING = 2  # students of a rush
SLEEPS = "def {}(*arguments, **named):\n    import time\n\n    time.sleep(10_000)\n"


@dataclass
class Load:
    """What students waited, in seconds, when this many submitted."""

    LEFT_OUT: ClassVar[Sequence[str]] = ("hangs",)  # kinds whose wait for the verdict does not count
    assignment: str
    submissions: int
    a_second: float
    arrived: list[float] = field(default_factory=list)
    verdicts: list[float] = field(default_factory=list)
    seconds: float = 0.0  # until all were graded
    graded: int = 0  # students who have points then
    memory: int = 0  # the most bytes that the server's own process took
    memory_of_all: int = 0  # the same with the processes that grade; what several of them share counts for each
    kills: bool = False  # whether the server is killed once half of them have submitted
    attempts: int = 0  # to go on after that

    @property
    def moments(self) -> list[float]:
        """When each student submits."""
        return [place / self.a_second for place in range(self.submissions)]

    def students(self, notebooks: Notebooks) -> list[tuple[str, str]]:
        """Those who submit, in this order, each with a notebook."""
        return list(itertools.islice(members(notebooks), self.submissions))


@dataclass
class Rush(Load):
    """The last minutes before the due date: the usual class, two whose code sleeps, and a notebook of 20 MB."""

    LEFT_OUT = ()

    @property
    def moments(self) -> list[float]:
        """Ever more students submit in a second: a quarter of all in the last tenth of the time."""
        length = self.submissions / self.a_second
        return [length * (place / self.submissions) ** (1 / 3) for place in range(1, self.submissions + 1)]

    def students(self, notebooks: Notebooks) -> list[tuple[str, str]]:
        students = super().students(notebooks)
        right = [place for place, (student, _) in enumerate(students) if kind(student) == "right"]
        for turn in range(SLEEPING):
            place = right[(turn + 1) * len(right) // (SLEEPING + 2)]
            students[place] = f"s{place + 1:04}-sleeps", notebooks["sleeps"][0]
        students[right[-1]] = f"s{right[-1] + 1:04}-large", notebooks["large"][0]
        return students


class Server:
    """`grader serve` in a process of its own."""

    def __init__(self, course: Course, students: Sequence[str]) -> None:
        self.codes = invite(course, [*students, FIRST]) | invite(course, ["prof"], Role.INSTRUCTOR)
        self._course = course
        self.start(0)

    def start(self, port: int) -> None:
        command = [sys.executable, "-m", "grader", "serve", "--port", str(port)]
        self._process = subprocess.Popen(command, cwd=self._course.root, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        address = re.search(r"http://\S+:\d+", self._process.stdout.readline())
        assert address, "the server did not start"
        self.address = address[0]

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate()

    def kill_and_start(self) -> None:
        """As with `kill -9`; and start it at the same address, as systemd does."""
        self._process.kill()
        self._process.communicate()
        self.start(urlsplit(self.address).port or 0)

    def memory(self) -> list[int]:
        """The bytes that each of its processes takes, its own first."""
        sizes = []
        with contextlib.suppress(psutil.NoSuchProcess):
            server = psutil.Process(self._process.pid)
            for process in (server, *server.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    sizes.append(process.memory_info().rss)
        return sizes


def measure(course: Course, assignment: str, loads: Sequence[Load]) -> Iterator[Load]:
    """Put each load on a server of its own, which has graded one submission before."""
    notebooks = {**notebooks_of_class(course, assignment)}
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        released = copy_course(course, Path(scratch, "released"))
        compile_release(released, assignment)
        notebooks |= {"sleeps": [_sleeping(course, assignment)], "large": [_enlarged(notebooks["right"][0])]}
        for number, load in enumerate(loads):
            fresh = Course(Path(shutil.copytree(released.root, Path(scratch, str(number)))))
            with _serving(fresh, load, notebooks) as server:
                asyncio.run(_put(load, server, notebooks))
            yield load


def _sleeping(course: Course, assignment: str) -> str:
    """A right notebook, but for the first exercise, which sleeps."""
    label, exercise = next(iter(course.exercises(assignment).items()))
    answers = {**solutions(course.read("source", assignment)), label: SLEEPS.format(exercise.entry)}
    text: str = nbformat.writes(fill_in(course.read("release", assignment), answers))
    return text


def _enlarged(text: str) -> str:
    """The same notebook, with a picture that makes it almost as large as the server takes."""
    notebook = nbformat.reads(text, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    size = MOST_BYTES - len(text.encode()) - 2**10
    cell.outputs = [new_output("display_data", {"image/png": "A" * size})]
    enlarged: str = nbformat.writes(notebook)
    return enlarged


@contextmanager
def _serving(course: Course, load: Load, notebooks: Notebooks) -> Iterator[Server]:
    server = Server(course, [student for student, _ in load.students(notebooks)])
    try:
        yield server
    finally:
        server.stop()


async def _put(load: Load, server: Server, notebooks: Notebooks) -> None:
    client = AsyncHTTPClient(max_clients=AT_ONCE)
    await _submit(client, server, FIRST, notebooks["right"][0], Load(load.assignment, 1, 1))
    watch = asyncio.create_task(_watch_memory(load, server))
    began = time.perf_counter()
    tasks = []
    students = load.students(notebooks)
    for place, (moment, (student, notebook)) in enumerate(zip(load.moments, students, strict=True)):
        await asyncio.sleep(began + moment - time.perf_counter())
        tasks.append(asyncio.create_task(_submit(client, server, student, notebook, load)))
        if load.kills and place == len(students) // 2:
            tasks.append(asyncio.create_task(asyncio.to_thread(server.kill_and_start)))
    await asyncio.gather(*tasks)
    load.seconds = time.perf_counter() - began
    watch.cancel()
    load.graded = await _count_graded(client, server, [student for student, _ in students])


async def _watch_memory(load: Load, server: Server) -> None:
    while True:
        sizes = await asyncio.to_thread(server.memory)
        load.memory = max([load.memory, *sizes[:1]])
        load.memory_of_all = max(load.memory_of_all, sum(sizes))
        await asyncio.sleep(1)


async def _submit(client: AsyncHTTPClient, server: Server, student: str, notebook: str, load: Load) -> None:
    headers = {"Authorization": f"Bearer {server.codes[student]}"}
    began = time.perf_counter()
    address = f"{server.address}/api/v1/assignments/{load.assignment}"
    answer = await _fetch(client, HTTPRequest(address, "POST", headers, notebook, request_timeout=PATIENCE), load)
    load.arrived.append(time.perf_counter() - began)
    place = f"{server.address}/api/v1/submissions/{json.loads(answer.body)['submission']}/events"
    await _fetch(client, HTTPRequest(place, "GET", headers, request_timeout=PATIENCE), load)  # ends with the verdict
    if kind(student) not in load.LEFT_OUT:
        load.verdicts.append(time.perf_counter() - began)


async def _fetch(client: AsyncHTTPClient, request: HTTPRequest, load: Load) -> HTTPResponse:
    """The server's answer. Whoever loses the connection tries again; whatever else goes wrong is an error."""
    while True:
        try:
            return await client.fetch(request)
        except (OSError, HTTPStreamClosedError):
            if not load.kills:
                raise
            load.attempts += 1
            await asyncio.sleep(PAUSE)


async def _count_graded(client: AsyncHTTPClient, server: Server, students: Sequence[str]) -> int:
    """How many of these students have points for what they submitted last, as the class page has it."""
    headers = {"Authorization": f"Bearer {server.codes['prof']}"}
    answer = await client.fetch(f"{server.address}/api/v1/class", headers=headers)
    lines = {line["student"]: line for line in json.loads(answer.body)["submissions"]}
    return sum(student in lines and lines[student]["points"] is not None for student in students)


def table(loads: Sequence[Load]) -> Table:
    loads_table = Table(title="Seconds until students see their verdict", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("submissions", "a second", "arrived, p50", "p95", "verdict, p50", "p95", "all graded"):
        loads_table.add_column(name, justify="right")
    for load in loads:
        halves = [f"{at:.2f}" for values in (load.arrived, load.verdicts) for at in (_at(values, 50), _at(values, 95))]
        loads_table.add_row(str(load.submissions), f"{load.a_second:g}", *halves, f"{load.seconds:.0f} s")
    return loads_table


def rush_table(rush: Rush) -> Table:
    title = "The last minutes" + (", with a server that was killed" if rush.kills else "")
    columns = {
        "students": str(rush.submissions),
        "minutes": f"{rush.moments[-1] / 60:g}",
        "arrived, p95": f"{_at(rush.arrived, 95):.2f} s",
        "verdict, p50": f"{_at(rush.verdicts, 50):.2f} s",
        "p95": f"{_at(rush.verdicts, 95):.2f} s",
        "longest": f"{max(rush.verdicts):.1f} s",
        "tried again": str(rush.attempts),
        "graded": str(rush.graded),
        "memory": f"{rush.memory / 2**20:.0f} MB",
        "of all": f"{rush.memory_of_all / 2**20:.0f} MB",
    }
    table = Table(*columns, title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_row(*columns.values())
    return table


def _at(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rush", action="store_true", help="the last ten minutes of 300 students")
    parser.add_argument("--kill", action="store_true", help="kill the server in the middle of them")
    options = parser.parse_args()
    course, assignment = open_course(), next(iter(demonstrated()))
    if options.rush or options.kill:
        rush = Rush(assignment, *RUSH, kills=options.kill)
        list(measure(course, assignment, [rush]))
        Console().print(rush_table(rush))
    else:
        loads = [Load(assignment, *load) for load in LOADS]
        Console().print(table(list(measure(course, assignment, loads))))


if __name__ == "__main__":
    main()
