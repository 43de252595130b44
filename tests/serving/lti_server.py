"""The server with LTI in this process, where nothing is graded, and browsers that come from platforms."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from lti_platform import CLAIM, PlatformDouble
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from grader.authoring.beginnings import new_assignment, new_course
from grader.course.folder import Course
from grader.gradebook.hidden_seed import secret_of
from grader.gradebook.roster import RosterLine, write_roster
from grader.serving import invitations
from grader.serving.arrivals import Arrivals
from grader.serving.asking import Asking
from grader.serving.desk import Desk, GradingOptions
from grader.serving.handler import Services
from grader.serving.invitations import Role
from grader.serving.lti.outbox import Outbox
from grader.serving.lti.registrations import read_settings
from grader.serving.lti.store import COURSES
from grader.serving.lti.tool import Tool
from grader.serving.questions import Questions
from grader.serving.sessions import Sessions
from grader.serving.web import application
from support.served import PATIENCE, token_in

ASSIGNMENTS = ("week1", "week2")
ROSTER = [
    RosterLine("ada", "Ada", "Lovelace", email="ada@example.edu"),
    RosterLine("emmy", "Emmy", "Noether", email="emmy@example.edu", lms_user_id="4711"),
    RosterLine("kurt", "Kurt", "Gödel", email="kurt@example.edu", username="kgoedel", canvas_id="77"),
]


def small_course(root: Path) -> Course:
    """A course with two released assignments, whose gradebook does not know them yet."""
    new_course(root)
    course = Course(root)
    for assignment in ASSIGNMENTS:
        new_assignment(course, assignment)
        shutil.copytree(course.folder("source") / assignment, course.folder("release") / assignment)
    return course


@contextlib.contextmanager
def server_of(platforms: Mapping[str, PlatformDouble], root: Path, **options: Any) -> Iterator[LtiServer]:
    """A server of a small course, where an instructor has confirmed a course of each platform."""
    server = LtiServer(small_course(root), platforms, **options)
    for platform in platforms.values():
        server.confirm_course(platform)
    try:
        yield server
    finally:
        server.close()


class LtiServer:
    """Our server, with platforms in its course.toml."""

    def __init__(
        self, course: Course, platforms: Mapping[str, PlatformDouble], *, secure: bool = False, family: str = ""
    ) -> None:
        self.course = course
        sockets = bind_sockets(0, "127.0.0.1")
        self.address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        more = f'\nfamily = "{family}"' if family else ""
        tables = [f"[lti.platforms.{name}]\n{platform.course_toml}{more}" for name, platform in platforms.items()]
        lines = ["[lti]", f'address = "{self.address}"', 'private = ["127.0.0.1"]', *tables]
        (course.root / "course.toml").write_text("\n".join(lines))
        write_roster(course.root, ROSTER)
        self.codes = invitations.invite(course, ["prof"], Role.INSTRUCTOR)
        self.arrivals = Arrivals(course)
        self.tool = Tool(course, self.arrivals.engine, read_settings(course.root))
        self.outbox = Outbox(self.tool, self.arrivals)
        self._browsers: list[Browser] = []
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(sockets, secure)), daemon=True)
        self._thread.start()
        self._started.wait()
        for platform in platforms.values():
            self.trust(platform)

    async def _serve(self, sockets: Any, secure: bool) -> None:
        self.loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        with ThreadPoolExecutor(1) as writing:
            desk, sessions = Desk(self.course, self.arrivals, GradingOptions(1)), Sessions(self.arrivals.engine)
            asking = Asking(self.course, self.arrivals, desk.queue)
            questions, secret = Questions(self.arrivals.engine), secret_of(self.course.root)
            services = Services(
                self.course, self.arrivals, desk, asking, sessions, questions, secret, writing, outbox=self.outbox
            )
            server = HTTPServer(application(services, secure=secure), max_body_size=2**16, max_header_size=2**14)
            server.add_sockets(sockets)
            self._started.set()
            await self._stopped.wait()
            server.stop()
            await server.close_all_connections()

    def close(self) -> None:
        for browser in self._browsers:
            browser.client.close()
        self.loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        self.arrivals.close()

    def run(self, task: Any) -> Any:
        """The result of a task, run where the server runs."""
        return asyncio.run_coroutine_threadsafe(task, self.loop).result()

    def trust(self, platform: PlatformDouble) -> None:
        """Make a platform know our keys."""
        platform.keys_of_tool = self.tool.keys.current  # type: ignore[method-assign]

    @property
    def target(self) -> str:
        return self.tool.url("launch")

    def confirm_course(self, platform: PlatformDouble, context: str = "course-1") -> int:
        """What an instructor does with a course that somebody has come from."""
        (key,) = [
            key
            for key, each in self.tool.registrations.by_key().items()
            if (each.issuer, each.client_id) == (platform.name, platform.client_id)
        ]
        keys = {"registration": key, "deployment": platform.deployment, "context": context}
        members = f"{platform.address}/members"
        row = self.tool.store.save(COURSES, keys, title="Machine Learning", is_confirmed=1, members_url=members)
        return int(row.id)

    def browser(self) -> Browser:
        self._browsers.append(Browser(self))
        return self._browsers[-1]

    @contextlib.contextmanager
    def signed_in(self, name: str) -> Iterator[httpx.Client]:
        """Somebody with a personal link."""
        with httpx.Client(base_url=self.address, follow_redirects=True, timeout=PATIENCE) as client:
            page = client.get(f"/enter/{self.codes[name]}")
            client.post(f"/enter/{self.codes[name]}", data=token_in(page.text))
            yield client


class Browser:
    """A browser that comes from a platform."""

    def __init__(self, server: LtiServer) -> None:
        self.server = server
        self.client = httpx.Client(base_url=server.address, timeout=PATIENCE)

    def log_in(self, platform: PlatformDouble, target: str = "", **more: str) -> dict[str, str]:
        """The first step of a launch; returns what we then ask the platform for."""
        answer = self.client.get("/lti/login", params=platform.login(target or self.server.target, **more))
        assert answer.status_code == 302, answer.text
        location = urlsplit(answer.headers["Location"])
        assert answer.headers["Location"].startswith(f"{platform.address}/authorize?")
        return {name: values[0] for name, values in parse_qs(location.query).items()}

    def send(self, state: str, token: str) -> httpx.Response:
        """The second step."""
        return self.client.post("/lti/launch", data={"state": state, "id_token": token})

    def launch(self, platform: PlatformDouble, target: str = "", **claims: Any) -> httpx.Response:
        """Both steps, with other claims than usual."""
        asked = self.log_in(platform, target)
        return self.send(asked["state"], platform.sign(self.claims(platform, asked["nonce"], target, **claims)))

    def claims(self, platform: PlatformDouble, nonce: str, target: str = "", /, **claims: Any) -> dict[str, Any]:
        """What the platform signs, with other claims than usual; `roles` are those of LTI."""
        changed = {f"{CLAIM}roles" if name == "roles" else name: value for name, value in claims.items()}
        return {**platform.claims(target or self.server.target, nonce), **changed}
