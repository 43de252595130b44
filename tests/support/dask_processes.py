"""A Dask scheduler and its workers, as real processes on loopback."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import dask
import psutil
from distributed import Client

from grader.classroom.fork_server import PRELOADED
from grader.course.folder import CONFIG_FILE
from grader.sandbox.confine import die_with_parent
from support.places import ROOT

START_SECONDS = 60
ROLES = {role: f"distributed.cli.dask_{role}" for role in ("scheduler", "worker")}


class Process(Protocol):
    """The methods of a process that are used here; subprocess.Popen has them."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


class Forked:
    """A process forked from one that has already imported Dask, torch and nbgrader."""

    def __init__(self, role: str, options: tuple[str, ...], log: Path, environment: dict[str, str]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([*PRELOADED, *ROLES.values()])
        self._process = context.Process(target=_become, args=(role, options, log, {**os.environ, **environment}))
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def _become(role: str, options: tuple[str, ...], log: Path, environment: dict[str, str]) -> None:
    die_with_parent(os.getppid())
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.chdir("/")
    # A worker has no course on its path, but the process that it is forked from may.
    sys.path[:] = [entry for entry in sys.path if entry == str(ROOT) or not Path(entry, CONFIG_FILE).exists()]
    os.environ.clear()
    os.environ.update(environment)
    dask.config.refresh()  # it read the old environment when it was imported
    importlib.import_module(ROLES[role]).main(list(options))


class Cluster:
    """A scheduler and its workers. `close` ends all their processes."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self._folder = folder
        self._folder.mkdir()
        self._processes: list[Process] = []
        file = self._folder / "scheduler.json"
        where = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--no-dashboard")
        self.scheduler = self._forked("scheduler", *where, "--scheduler-file", str(file), *options, **environment)
        self.address = str(_when_written(file, self.scheduler)["address"])

    def worker(self, preload: str = "", *options: str, **environment: str) -> Process:
        return self._forked("worker", *self._for_worker(preload, *options), **environment)

    def fresh_worker(self, preload: str = "", *options: str, packages: str = str(ROOT)) -> Process:
        """A worker that has imported nothing yet, and finds our package in the folder `packages`."""
        with (self._folder / "worker.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", ROLES["worker"], *self._for_worker(preload, *options)],
                env={**os.environ, "PYTHONPATH": packages},
                cwd="/",
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process

    def wait_for(self, count: int) -> None:
        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(count, timeout=START_SECONDS)

    def _for_worker(self, preload: str, *options: str) -> tuple[str, ...]:
        if preload:
            path = self._folder / f"preload_{len(self._processes)}.py"
            path.write_text(preload)
            options = ("--preload", str(path), *options)
        if "--nanny" not in options:
            options = ("--no-nanny", *options)
        where = (self.address, "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-dashboard")
        return (*where, "--nthreads", "1", *options)

    def _forked(self, role: str, *options: str, **environment: str) -> Process:
        process = Forked(role, options, self._folder / f"{role}.log", environment)
        self._processes.append(process)
        return process

    def close(self) -> None:
        started = [psutil.Process(process.pid) for process in self._processes if process.poll() is None]
        for process in [*(child for one in started for child in one.children(recursive=True)), *started]:
            if process.is_running():
                process.kill()
        for ended in self._processes:
            ended.wait()


def _when_written(path: Path, process: Process) -> Any:
    """Wait until a JSON file is complete, and return its content."""
    ends_at = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < ends_at:
        try:
            return json.loads(path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.02)
    raise RuntimeError(f"The scheduler does not start: {(path.parent / 'scheduler.log').read_text()}")
