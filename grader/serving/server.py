"""Run the server: one process, with a thread that grades and a crew of processes."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tornado.netutil import bind_sockets

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.hidden_seed import secret_of
from grader.sandbox.confine import why_not
from grader.serving.arrivals import Arrivals
from grader.serving.asking import Asking
from grader.serving.connections import BoundedServer
from grader.serving.desk import Desk, GradingOptions
from grader.serving.handler import Services
from grader.serving.invitations import Proxy
from grader.serving.lti.registrations import LtiSettings, read_settings
from grader.serving.questions import Questions
from grader.serving.repeated import log_seldom
from grader.serving.sessions import Sessions
from grader.serving.web import application

if TYPE_CHECKING:
    from grader.serving.hub import Hub
    from grader.serving.lti.outbox import Outbox

MOST_OF_FORMS = 2**16  # bytes
SLOWEST = 30.0  # seconds for a client to send a request


@dataclass(frozen=True)
class ServerAddress:
    """Where the server listens, and how browsers reach it."""

    host: str
    port: int
    https: bool  # by a proxy in front of it
    proxy: Proxy | None = None  # if it signs people in
    hub: bool = False  # whether a JupyterHub does


def serve(course: Course, address: ServerAddress, options: GradingOptions, ready: Callable[[int], None]) -> None:
    """Serve until SIGTERM or Ctrl-C. What is being graded then is finished; the rest waits for the next start.

    `ready` is called with the port, which the system chooses if it is 0.
    """
    reason = why_not()
    if reason:
        raise CourseError(f"Submissions cannot be confined here: {reason}. `grader doctor` says more.")
    log_seldom()
    hub = _hub(address)
    lti = _read_lti(course, address, hub)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each open page is a file
    try:
        sockets = bind_sockets(address.port, address.host)
    except OSError as error:
        raise CourseError(
            f"{address.host}:{address.port} cannot be used: {error.strerror}. Name another --port."
        ) from None
    with _desk(course, options, address, hub, lti) as services:
        asyncio.run(_serve(services, address, sockets, ready))


def _hub(address: ServerAddress) -> Hub | None:
    if not address.hub:
        return None
    try:
        from grader.serving.hub import Hub
    except ImportError:
        raise CourseError("--hub needs JupyterHub's own package. Run: pip install 'attention-grader[hub]'") from None
    return Hub(secure=address.https)


def _read_lti(course: Course, address: ServerAddress, hub: Hub | None) -> LtiSettings:
    """What course.toml says of learning platforms, if this server can do it."""
    settings = read_settings(course.root)
    if settings.address and not (importlib.util.find_spec("jwt") and importlib.util.find_spec("cryptography")):
        raise CourseError("LTI needs more packages. Run: pip install 'attention-grader[lti]'")
    if settings.address.startswith("https:") and not address.https:
        raise CourseError("The address of [lti] in course.toml begins with https://. Add --https.")
    if settings.address and f"{urlsplit(settings.address).path}/" != (hub.base if hub else "/"):
        raise CourseError("The address of [lti] in course.toml has another path than this server's pages.")
    return settings


@contextlib.contextmanager
def _desk(
    course: Course, options: GradingOptions, address: ServerAddress, hub: Hub | None, lti: LtiSettings
) -> Iterator[Services]:
    with contextlib.closing(Arrivals(course)) as arrivals:
        desk = Desk(course, arrivals, options)
        asking = Asking(course, arrivals, desk.queue)
        desk.hand_on = asking.add
        desk.start()
        asking.start()
        with contextlib.closing(asking), contextlib.closing(desk), ThreadPoolExecutor(1) as writing:
            sessions, questions = Sessions(arrivals.engine), Questions(arrivals.engine)
            secret, outbox = secret_of(course.root), _outbox(course, arrivals, lti)
            yield Services(
                course, arrivals, desk, asking, sessions, questions, secret, writing, address.proxy, hub, outbox
            )


def _outbox(course: Course, arrivals: Arrivals, settings: LtiSettings) -> Outbox | None:
    """Whatever sends points to learning platforms; None if course.toml says nothing of any."""
    if not settings.address:
        return None
    from grader.serving.lti.outbox import Outbox
    from grader.serving.lti.tool import Tool

    return Outbox(Tool(course, arrivals.engine, settings), arrivals)


async def _serve(
    services: Services, address: ServerAddress, sockets: list[socket.socket], ready: Callable[[int], None]
) -> None:
    stopped = asyncio.Event()
    outbox = services.outbox
    services.desk.news.listen(*([outbox.wake] if outbox else []))
    sending = asyncio.create_task(outbox.run()) if outbox else None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = BoundedServer(
        application(services, secure=address.https),
        xheaders=address.https,
        max_body_size=MOST_OF_FORMS,  # notebooks may be larger
        max_header_size=2**14,
        body_timeout=SLOWEST,
        idle_connection_timeout=SLOWEST,
    )
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    server.most = min(server.most, descriptors // 2)  # the rest is for the database, files and those who grade
    server.add_sockets(sockets)
    ready(sockets[0].getsockname()[1])
    await stopped.wait()
    server.stop()
    if sending:
        sending.cancel()
    await server.close_all_connections()
    if services.hub:
        await services.hub.close()
