"""What takes long to start: the process that a crew's processes are forked from, and the one that forks sandboxes.

Both import torch while the head imports the rest. Every second counts there, so the head imports this module before
everything else, and so does the first of them.
"""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.forkserver
import sys

from grader.host.machine import cores
from grader.host.zygote_process import start_zygote

# Imports make half a million objects, and no garbage. By itself the collector looks through them some hundred times.
gc.set_threshold(10_000)

# nbformat brings jsonschema, which builds a grammar for international web addresses when it finds this package: most of
# a second, for a format that no notebook has.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # how Python spells "not importable"


PRELOADED = ["grader.classroom.tied_to_head", "grader.classroom.fork_server", "grader.classroom.submission_grader"]


def preloaded() -> multiprocessing.context.ForkServerContext:
    """Makes processes that are forked from it: torch is imported once for all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def start_early() -> None:
    """Have both import what they need. With one core, they would only be in the way."""
    preloaded()
    if cores() > 1:
        multiprocessing.forkserver.ensure_running()
        start_zygote()
