"""Start the two slow processes early: the one that a crew is forked from, and the one that forks sandboxes.

Both import torch while the main process imports the rest. Every second counts, so the main process and the first of
them import this module before everything else.
"""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.forkserver
import sys

from grader.host.machine import cores
from grader.host.zygote_process import start_zygote

# Imports make half a million objects and no garbage, but the collector would search them some hundred times.
gc.set_threshold(10_000)

# If jsonschema, which nbformat imports, finds this package, it builds a grammar for international web addresses. That
# takes most of a second, for a format that no notebook has.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # Python's way to say "not importable"


PRELOADED = ["grader.classroom.tied_to_head", "grader.classroom.fork_server", "grader.classroom.submission_grader"]


def preloaded() -> multiprocessing.context.ForkServerContext:
    """The context whose processes are all forked from one, so that torch is imported only once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def start_early() -> None:
    """Let both processes start importing. With only one core, they would be in the way."""
    preloaded()
    if cores() > 1:
        multiprocessing.forkserver.ensure_running()
        start_zygote()
