"""The head's end of a Dask scheduler: nothing that workers or the scheduler send is run, or so much as unpickled.

Dask's own client unpickles results, errors, types and events that any worker has made, and a pickle may be a command.
Here, messages are read as plain data, and what was pickled is left out of them. Should Dask find another pickle to
read, then no name of a class or a function is looked up for it, and without one it can do nothing.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import dask
import msgpack
from distributed import Client, Scheduler, Status, protocol
from distributed.comm.addressing import parse_address

from grader.errors import CourseError
from grader.sandbox.plain_text import one_line

_ENCRYPTED = ("tls", "wss")
_FAILED = "A worker or the scheduler has told of an error."


def connect(address: str, seconds: float, without_tls: bool = False) -> Client:
    """A client that hears plain data only. With tls://, certificates are those of Dask's own configuration."""
    _must_be_private(address, address, without_tls)
    if any(scheduler.status == Status.running for scheduler in list(Scheduler._instances)):
        raise CourseError("A Dask scheduler runs in this process, beside the gradebook. Start it in one of its own.")
    _hear_plain_data_only()
    # What goes wrong is told by our errors.
    for name in ("distributed", "distributed.client", "distributed.protocol.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})  # a large submission is no mistake
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        reason = one_line(error.__cause__ or error, 400)
        raise CourseError(f"There is no connection to a Dask scheduler at {address}: {reason}") from error
    try:  # one that is asked on this machine may listen to others as well
        _must_be_private(address, str(client.scheduler_info(n_workers=0).get("address")), without_tls)
    except CourseError:
        client.close()
        raise
    return client


def _must_be_private(asked: str, address: str, without_tls: bool) -> None:
    if not (without_tls or _is_private(asked if parse_address(asked)[0] in _ENCRYPTED else address)):
        raise CourseError(
            f"Whoever reaches the scheduler {one_line(address)} can read all submissions and give any grade, for it "
            "does not ask for a certificate. Start it with TLS (docs/many_machines.md says how), or with --host "
            "127.0.0.1; or add --dask-without-tls, if nobody else is on that network."
        )


def _is_private(address: str) -> bool:
    """Whether it asks for certificates, or never leaves this machine."""
    scheme, place = parse_address(address)
    host = urlsplit(f"//{place}").hostname or ""
    try:
        return scheme in _ENCRYPTED or host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@functools.cache
def _hear_plain_data_only() -> None:
    """From now on, for all of this process: none of this can be undone by a message that comes late."""
    sys.addaudithook(_look_up_no_names)
    protocol.loads = _plain_message  # type: ignore[attr-defined]
    Client._default_event_handlers = {}  # they print and warn, whatever a worker says


def _look_up_no_names(event: str, _: object) -> None:
    """Python asks here before a pickle gets what it names, in whatever way it is read."""
    if event == "pickle.find_class" and _dask_reads(sys._getframe(1)):
        raise TypeError("A pickle from outside names something of Python's.")  # Dask goes on after this one


def _dask_reads(frame: Any) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("distributed."):
            return True
        frame = frame.f_back
    return False


def _plain_message(frames: Sequence[Any], deserialize: bool = True, deserializers: object = None) -> Any:  # noqa: ARG001
    """Takes the place of `distributed.protocol.loads`. Whatever one worker has put into a message, the rest is read."""
    return msgpack.loads(frames[0], object_hook=functools.partial(_plain, frames), use_list=False, strict_map_key=False)


def _plain(frames: Sequence[Any], found: dict[Any, Any]) -> Any:
    """One of the objects in a message, as it is used."""
    if "__Serialized__" in found:
        return _plain_bytes(frames, found["__Serialized__"])
    if "__Pickled__" in found or "__Enum__" in found or "__Set__" in found:
        return None
    if isinstance(found.get("type"), bytes):
        found["type"] = None  # a pickle
    if "exception" in found:
        found.update(exception=_FAILED, traceback=None)
    return found


def _plain_bytes(frames: Sequence[Any], place: Any) -> bytes | None:
    """What a task returned, if that was bytes."""
    try:
        header: Mapping[str, Any] = msgpack.loads(frames[place], use_list=False, strict_map_key=False)
        if header["serializer"] != "dask" or any(header.get("compression", ())):
            return None
        return b"".join(frames[place + 1 : place + 1 + header["num-sub-frames"]])
    except Exception:  # the header, too, is what a worker has made of it
        return None
