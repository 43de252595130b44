"""Measure `grader serve`: how soon students know that a submission has arrived, and how soon they have the verdict.

Run it in a course: python benchmarks/serving_bench.py
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from tornado.httpclient import AsyncHTTPClient, HTTPRequest

from class_mix import Notebooks, kind, members, notebooks_of_class
from grader.checks.demo import demonstrated
from grader.course.folder import Course, copy_course, open_course
from grader.release.compiling import compile_release
from grader.serving.invitations import invite

# Submissions, and how many of them arrive in a second.
LOADS = ((30, 1), (150, 3), (300, 5), (300, 20))
PATIENCE = 900.0  # seconds
AT_ONCE = 2000  # open connections


@dataclass
class Load:
    """What students waited, in seconds, when this many submitted."""

    assignment: str
    submissions: int
    a_second: float
    arrived: list[float] = field(default_factory=list)
    verdicts: list[float] = field(default_factory=list)  # of those that do not hang
    seconds: float = 0.0  # until all were graded


@dataclass(frozen=True)
class Server:
    address: str
    codes: Mapping[str, str]


def measure(course: Course, assignment: str, loads: Sequence[tuple[int, float]]) -> Iterator[Load]:
    """Put each load on a server of its own, which has graded one submission before."""
    notebooks = notebooks_of_class(course, assignment)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        released = copy_course(course, Path(scratch, "released"))
        compile_release(released, assignment)
        for number, (submissions, a_second) in enumerate(loads):
            load = Load(assignment, submissions, a_second)
            fresh = Course(Path(shutil.copytree(released.root, Path(scratch, str(number)))))
            with _serving(fresh, notebooks, submissions) as server:
                asyncio.run(_put(load, server, notebooks))
            yield load


@contextmanager
def _serving(course: Course, notebooks: Notebooks, submissions: int) -> Iterator[Server]:
    names = [name for name, _ in itertools.islice(members(notebooks), submissions)]
    codes = invite(course, [*names, "first"])
    command = [sys.executable, "-m", "grader", "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=course.root, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        address = re.search(r"http://\S+:\d+", process.stdout.readline())
        assert address, "the server did not start"
        yield Server(address[0], codes)
    finally:
        process.terminate()
        process.communicate()


async def _put(load: Load, server: Server, notebooks: Notebooks) -> None:
    client = AsyncHTTPClient(max_clients=AT_ONCE)
    await _submit(client, server, "first", notebooks["right"][0], Load(load.assignment, 1, 1))
    began = time.perf_counter()
    tasks = []
    for place, (student, notebook) in enumerate(itertools.islice(members(notebooks), load.submissions)):
        await asyncio.sleep(began + place / load.a_second - time.perf_counter())
        tasks.append(asyncio.create_task(_submit(client, server, student, notebook, load)))
    await asyncio.gather(*tasks)
    load.seconds = time.perf_counter() - began


async def _submit(client: AsyncHTTPClient, server: Server, student: str, notebook: str, load: Load) -> None:
    headers = {"Authorization": f"Bearer {server.codes[student]}"}
    began = time.perf_counter()
    address = f"{server.address}/api/v1/assignments/{load.assignment}"
    answer = await client.fetch(HTTPRequest(address, "POST", headers, notebook, request_timeout=PATIENCE))
    load.arrived.append(time.perf_counter() - began)
    place = f"{server.address}/api/v1/submissions/{json.loads(answer.body)['submission']}/events"
    await client.fetch(HTTPRequest(place, "GET", headers, request_timeout=PATIENCE))  # it ends with the verdict
    if student == "first" or kind(student) != "hangs":
        load.verdicts.append(time.perf_counter() - began)


def table(loads: Sequence[Load]) -> Table:
    loads_table = Table(title="Seconds until students see their verdict", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("submissions", "a second", "arrived, p50", "p95", "verdict, p50", "p95", "all graded"):
        loads_table.add_column(name, justify="right")
    for load in loads:
        halves = [f"{at:.2f}" for values in (load.arrived, load.verdicts) for at in (_at(values, 50), _at(values, 95))]
        loads_table.add_row(str(load.submissions), f"{load.a_second:g}", *halves, f"{load.seconds:.0f} s")
    return loads_table


def _at(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    Console().print(table(list(measure(open_course(), next(iter(demonstrated())), LOADS))))
