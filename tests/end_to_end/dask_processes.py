"""A Dask scheduler and its workers, as real processes on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
from distributed import Client

from support.places import ROOT

START_SECONDS = 60
LOOPBACK = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-dashboard")


class Cluster:
    """A scheduler and its workers. `close` ends all their processes."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self._folder = folder
        self._folder.mkdir()
        self._processes: list[subprocess.Popen[bytes]] = []
        file = self._folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", *LOOPBACK, "--port", "0", "--scheduler-file", str(file), *options, **environment
        )
        self.address = _address_in(file, self.scheduler)

    def worker(
        self, preload: str = "", *options: str, packages: Path = ROOT, **environment: str
    ) -> subprocess.Popen[bytes]:
        """A worker that runs the code `preload` first, and finds our package in the folder `packages`."""
        if preload:
            path = self._folder / f"preload_{len(self._processes)}.py"
            path.write_text(preload)
            options = ("--preload", str(path), *options)
        if "--nanny" not in options:
            options = ("--no-nanny", *options)
        environment["PYTHONPATH"] = str(packages)
        return self._start("worker", self.address, *LOOPBACK, "--nthreads", "1", *options, **environment)

    def wait_for(self, count: int) -> None:
        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(count, timeout=START_SECONDS)

    def _start(self, role: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{role}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{role}", *options],
                env={**os.environ, **environment},
                cwd="/",
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
                process.kill()
            process.wait()


def _address_in(path: Path, scheduler: subprocess.Popen[bytes]) -> str:
    """The address that a scheduler writes into a file once it has started."""
    ends_at = time.monotonic() + START_SECONDS
    while scheduler.poll() is None and time.monotonic() < ends_at:
        try:
            return str(json.loads(path.read_text())["address"])
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.02)
    raise RuntimeError(f"The scheduler does not start: {(path.parent / 'scheduler.log').read_text()}")
