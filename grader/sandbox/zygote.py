"""The warm process: it has imported what notebooks need, computed nothing, and forks a sandbox for each submission."""

from __future__ import annotations

import gc
import json
import os
import socket
from pathlib import Path
from typing import Any

MESSAGE_BYTES = 2**16


def main(descriptor: int) -> None:
    """Fork a sandbox whenever the grader asks for one, until it closes the connection."""
    control = socket.socket(fileno=descriptor)
    shell = _warm_up()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 1)
        if not message:
            return
        _reap()
        pid = os.fork()
        if pid == 0:
            _become_sandbox(shell, descriptors[0], json.loads(message))
        os.close(descriptors[0])
        handle = os.pidfd_open(pid)
        socket.send_fds(control, [json.dumps({"pid": pid}).encode()], [handle])
        os.close(handle)


def _warm_up() -> Any:
    """Import everything slow. No thread may run and no tensor be computed before a fork."""
    import torch

    from grader.sandbox import blocked, child, confine  # noqa: F401
    from grader.sandbox.shell import start_shell

    torch.set_num_threads(1)
    shell = start_shell()
    # These look for the shell when they are imported, and draw into the notebook if there is one.
    import matplotlib_inline.backend_inline  # noqa: F401

    gc.collect()
    gc.freeze()  # the collector leaves shared pages alone, so they stay shared
    return shell


def _reap() -> None:
    """Take note of sandboxes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _become_sandbox(shell: Any, descriptor: int, order: dict[str, Any]) -> None:
    """Cut every tie to the world, then serve. Never returns."""
    from grader.sandbox import blocked, child, confine, wire

    try:
        confine.die_with_parent(order["zygote"])
        channel = _keep_only(descriptor)
        os.setsid()
        folder = Path(order["folder"])
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(order["environment"])
        if order["confined"]:
            confine.confine(folder, confine.Amounts(**order["amounts"]), order["device"])
        child.serve(shell, channel, order["device"], blocked.Blocked(folder, order["confined"]))
    except confine.CannotConfineError as error:
        wire.send(channel, {"refused": str(error)}, {})
    finally:
        os._exit(0)


def _keep_only(descriptor: int) -> socket.socket:
    """Close all other descriptors; the standard ones lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.dup2(descriptor, 3)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=3)
