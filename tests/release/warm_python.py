"""Run Python programs in processes that have already imported torch, matplotlib and marimo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# Forks for each line that it reads; the fork then acts as `python ARGUMENTS`. Nothing is computed before.
WARM = """
import gc, json, os, runpy, sys
import torch, matplotlib.pyplot, marimo._cli.cli, nbformat

nbformat.validate(nbformat.v4.new_notebook())  # imports what it needs
gc.freeze()  # what is shared stays shared
torch.set_num_threads(1)
matplotlib.use("agg")
lines = os.fdopen(os.dup(0))
while line := lines.readline():
    if fork := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
        continue
    order = json.loads(line)
    os.chdir(order["folder"])
    for descriptor, path in enumerate((os.devnull, order["stdout"], order["stderr"])):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
    first, *sys.argv[1:] = order["arguments"]
    if first == "-m":
        sys.path[0] = order["folder"]
        runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
    else:
        sys.argv[0] = first
        sys.path[0] = os.path.dirname(first)
        runpy.run_path(first, run_name="__main__")
    break
"""


class WarmPython:
    """A process to fork from; call `close` in the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", WARM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, *arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
        """Do what `python ARGUMENTS` would do in this folder, and return its output."""
        texts = {name: self._folder / name for name in ("stdout", "stderr")}
        for path in texts.values():
            path.unlink(missing_ok=True)
        words = [str(argument) for argument in arguments]
        order = {"arguments": words, "folder": str(folder)} | {name: str(path) for name, path in texts.items()}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        said: Any = {name: path.read_text() for name, path in texts.items()}
        return subprocess.CompletedProcess(words, code, **said)

    def close(self) -> None:
        self._process.communicate()
