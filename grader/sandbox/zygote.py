"""The warm process: it has imported what notebooks need, computed nothing, and forks a sandbox for each submission.

Where several processes grade, it forks a process like itself for each of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import platform
import socket
import sys
import tempfile
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch

from grader.sandbox import accelerator, child, confine, own_disk, own_user, wire
from grader.sandbox.notes import hand_over_memory, watch
from grader.sandbox.restoring import InitialState
from grader.sandbox.shell import Shell, remember_colors, start_shell

# Memory that is freed goes back to the kernel at once, so that what a sandbox holds is what its code needs.

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # of glibc's malloc.h
_LARGE = 4 * 2**10  # bytes, a page: a loop that keeps little of each row then strands no more than that of it


def give_back_what_is_freed() -> None:
    """Set this where the C library is glibc: others have no such function."""
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(_M_MMAP_THRESHOLD, _LARGE)
        set_option(_M_ARENA_MAX, 1)  # a thread's own heap reserves more addresses than a case may take


# Zygotes alone import this module; importing torch on the way takes its time.


Order: TypeAlias = dict[str, Any]  # for a sandbox: its folder, device, amounts, and what is hidden from it
MESSAGE_BYTES = 2**16
MAX_THREADS = 1024  # the kernel's bound; the grader ends a sandbox with half as many


def main(descriptor: int) -> None:
    """Fork a sandbox whenever the grader asks for one, until it closes the connection."""
    control = socket.socket(fileno=descriptor)
    shell = _warm_up()
    initial = InitialState(shell)
    gc.freeze()  # the collector leaves shared pages alone, so they stay shared; looking for garbage now would cost more
    gc.enable()  # the parent turned collection off during imports, which make objects and no garbage
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 2)
        if not message:
            return
        _reap()
        order = json.loads(message)
        if order.get("another"):
            control = _fork_zygote(control, *descriptors)
        else:
            _fork_sandbox(shell, initial, control, descriptors, order)


def _fork_zygote(control: socket.socket, child_descriptor: int) -> socket.socket:
    """Fork a process like this one. The value is the connection on which each of the two goes on."""
    child_control = socket.socket(fileno=child_descriptor)
    try:
        is_child = os.fork() == 0
    except OSError:  # the process waiting for it notices that nobody answers, and starts one
        is_child = False
    if is_child:
        control.close()
        return child_control
    child_control.close()
    return control


def _load(modules: list[str]) -> None:
    """Import what has not been: once for all sandboxes that follow."""
    missing = [name for name in modules if name not in sys.modules]
    if missing:
        for name in missing:
            importlib.import_module(name)
        tempfile.tempdir = None  # which it has looked up; each sandbox has its own
        gc.freeze()


def _fork_sandbox(
    shell: Shell, initial: InitialState, control: socket.socket, descriptors: list[int], order: Order
) -> None:
    """Fork a sandbox, and send a handle on it."""
    _load(order.get("loaded", []))
    if order["confined"]:
        order["by_user"] = order["by_user"] and bool(confine.why_no_landlock())
        confine.prepare(order["device"], order["hidden"])
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:  # the grader waits, and asks again
        pid, error_number = -1, error.errno
    if pid == 0:
        _become_sandbox(shell, initial, descriptors, order, parent)
    for descriptor in descriptors:
        os.close(descriptor)
    if pid < 0:
        control.send(json.dumps({"short": error_number}).encode())
        return
    handle = os.pidfd_open(pid)
    user = own_user.USER if order["confined"] and order["by_user"] else None
    socket.send_fds(control, [json.dumps({"pid": pid, "user": user}).encode()], [handle])
    os.close(handle)


def _warm_up() -> Shell:
    """Import everything slow. No thread may run and no tensor be computed before a fork."""
    torch.set_num_threads(1)
    # On a machine with a GPU, PyTorch looks for it at the first gradient, and warns where a sandbox has none.
    warnings.filterwarnings("ignore", "CUDA initialization")
    shell = start_shell()
    # These look for the shell when they are imported, and draw into the notebook if there is one.
    import matplotlib_inline.backend_inline  # noqa: F401

    # What is imported, compiled and read when the first cell is run, when a stack is formatted, and when an error is
    # shown, need not be done in every sandbox again.
    shell.run_cell("import traceback; traceback.format_stack(); del traceback", silent=True)  # type: ignore[no-untyped-call]
    remember_colors()
    _show_an_error(shell)
    socket.has_ipv6 = False  # there is no network, so libraries need not try whether it has such addresses
    platform.platform()  # starts a program the first time; a notebook that asks for it later starts none

    _forget_the_grader()
    return shell


def _show_an_error(shell: Shell) -> None:
    """To nobody, and leave no trace of it: a notebook begins without one."""
    shell.run_cell("1 / 0", silent=True)  # type: ignore[no-untyped-call]
    for name in ("last_exc", "last_traceback", "last_type", "last_value"):
        vars(sys).pop(name, None)


def _forget_the_grader() -> None:
    """Nothing of the grader is for notebooks; what sandboxes need of it is already imported."""
    for name in [name for name in sys.modules if name.split(".")[0] == "grader"]:
        del sys.modules[name]
    sys.modules["grader"] = None  # type: ignore[assignment]  # how Python spells "not importable"


def _reap() -> None:
    """Take note of sandboxes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _become_sandbox(shell: Shell, initial: InitialState, descriptors: list[int], order: Order, parent: int) -> None:
    """Cut every tie to the world, then serve. Never returns."""
    try:
        confine.die_with_parent(parent)
        channel, notes = _keep_only(descriptors)
        hand_over_memory(notes)
        os.setsid()
        folder = Path(order["folder"])
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(order["environment"])
        has_disk = False
        give_back_what_is_freed()
        amounts = confine.Amounts(**order["amounts"])
        start = partial(_start_device, order["device"], amounts.memory)
        if order["confined"]:
            by_user = order["by_user"]
            has_disk = not by_user and _has_disk(folder, amounts, order["device"])  # which would be root's
            # The kernel counts threads for a user, whom it must know to be this sandbox alone.
            threads = MAX_THREADS if has_disk or by_user else None
            amounts = replace(amounts, threads=threads, watched=not has_disk and not by_user)
            confine.confine(folder, amounts, order["device"], order["hidden"], by_user, start)
            watch(folder, notes)
        else:
            start()
        child.serve(shell, initial, channel, order["device"], has_disk)
    except confine.CannotConfineError as error:
        wire.send(channel, {"refused": str(error), "full": accelerator.is_full(error)}, {})
    finally:
        os._exit(0)


def _start_device(device: str, memory: int) -> None:
    """What the machine lacks would otherwise look like a fault of the submission."""
    try:
        accelerator.start(device, memory)
    except Exception as error:
        raise confine.CannotConfineError(f"{device} cannot be used in a sandbox: {error}") from error


def _has_disk(folder: Path, amounts: confine.Amounts, device: str) -> bool:
    """Whether there is a disk of its own now. If the kernel gives none, the grader watches the folder."""
    try:
        # The driver of a device listens on a socket, which nobody shall reach.
        own_disk.mount(folder, amounts.disk, amounts.files, network=device != "cpu")
    except OSError:
        return False
    return True


def _keep_only(descriptors: list[int]) -> list[socket.socket]:
    """Close all other descriptors; the standard ones lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    first = 3
    # Out of the way first: one of them may have the number that another one is to get.
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, first + len(descriptors)) for descriptor in descriptors]
    for standard in range(first):
        os.dup2(nowhere, standard)
    for number, descriptor in enumerate(moved, start=first):
        os.dup2(descriptor, number)
    os.closerange(first + len(moved), os.sysconf("SC_OPEN_MAX"))
    return [socket.socket(fileno=number) for number in range(first, first + len(moved))]
