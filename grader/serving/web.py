"""The pages and the interface of the server."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import hmac
import io
import json
import zipfile
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import Template
from tornado.httputil import parse_body_arguments
from tornado.iostream import StreamClosedError
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler, stream_request_body

from grader.course.folder import Course
from grader.errors import CourseError
from grader.pages.page_parts import template
from grader.serving.allowance import Allowance, allowance, shown_to, visible
from grader.serving.arrivals import Arrival, Arrivals, Stage, newest
from grader.serving.desk import Desk
from grader.serving.invitations import Invited, Role, digest_of, people
from grader.serving.receipts import receipt
from grader.term.reading import COURSE_FILE
from grader.term.rules import AssignmentRules, Shown

MOST_BYTES = 20 * 2**20  # of a notebook
MOST_WAITING = 5  # submissions of one student
COOKIE = "who"
DAYS = 30  # that a browser stays signed in
LOOK_AGAIN = 3.0  # seconds, for how many are ahead
SUBMIT = Path(__file__).with_name("submit.py")
TEMPLATES = Path(__file__).parent / "templates"
# Nothing is loaded from elsewhere, and no page runs a script.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# A feedback page has its styles in itself. In a sandbox, it could do nothing in the name of the person who reads it.
POLICY_OF_PAGES = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Services:
    """What the handlers work with."""

    course: Course
    arrivals: Arrivals
    desk: Desk
    secret: bytes
    writing: Executor  # nbgrader writes one feedback page at a time

    def rules(self, assignment: str) -> AssignmentRules:
        """The rules as they are now: the course is opened again where course.toml has changed."""
        with contextlib.suppress(FileNotFoundError):
            status = (self.course.root / COURSE_FILE).stat()
            return _course_of(self.course.root, (status.st_mtime_ns, status.st_size)).rules(assignment)
        return AssignmentRules()

    def allowance(self, student: str, assignment: str) -> Allowance:
        """What this student may still submit. The attempts of a group are counted together."""
        rules = self.rules(assignment)
        earlier = self.arrivals.of_group(rules.group_of(student), assignment)
        return allowance(rules, earlier, datetime.now(UTC))


@functools.lru_cache(1)
def _course_of(root: Path, _changed: tuple[int, int]) -> Course:
    return Course(root)


def application(services: Services, *, secure: bool) -> Application:
    """All addresses. `secure` says whether browsers reach it by https, for cookies."""
    handlers: list[Any] = [
        (r"/", HomePage),
        (r"/enter/([\w-]{1,64})", EnterPage),
        (r"/leave", SignOut),
        (r"/assignments/([^/]+)", TakeIn),
        (r"/assignments/([^/]+)/release.zip", Download),
        (r"/submissions/(\d{1,12})", SubmissionPage),
        (r"/submissions/(\d{1,12})/events", Events),
        (r"/submissions/(\d{1,12})/feedback", VerdictPage),
        (r"/class", ClassPage),
        (r"/healthz", IsWell),
        (r"/(style\.css)", StaticFileHandler, {"path": str(TEMPLATES)}),
    ]
    key = hmac.new(services.secret, b"cookies", hashlib.sha256).hexdigest()
    return Application(
        handlers,
        services=services,
        secure=secure,
        cookie_secret=key,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict", "secure": secure},
        log_function=_no_log,
        default_handler_class=NothingThere,
    )


def _no_log(_handler: RequestHandler) -> None:
    """Addresses hold codes: none of them is written down."""


@functools.cache
def _template(page: str) -> Template:
    return template(f"{page}.html", TEMPLATES)


class Handler(RequestHandler):
    """What all handlers have in common."""

    def initialize(self) -> None:
        self.services: Services = self.settings["services"]

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def get_current_user(self) -> Invited | None:
        """Who asks: a program by its token, a browser by its cookie. Both are an invitation that still holds."""
        digest = ""
        if token := self._token():
            digest = digest_of(token)
        elif cookie := self.get_signed_cookie(COOKIE, max_age_days=DAYS):
            digest = cookie.decode()
        return people(self.services.course).get(digest)

    def check_xsrf_cookie(self) -> None:
        """Browsers never send tokens by themselves, so a request with one is meant."""
        if not self._token():
            super().check_xsrf_cookie()

    def _token(self) -> str:
        kind, _, token = self.request.headers.get("Authorization", "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else ""

    @property
    def person(self) -> Invited:
        if isinstance(self.current_user, Invited):
            return self.current_user
        raise HTTPError(401, NOT_VALID if self._token() else "")

    @property
    def wants_json(self) -> bool:
        return "application/json" in self.request.headers.get("Accept", "") or bool(self._token())

    def must_be(self, role: Role) -> None:
        if self.person.role is not role:
            raise HTTPError(404)

    def own(self, key: str) -> Arrival:
        """A submission that this person may see. Of others, nobody learns even that they exist."""
        found = self.services.arrivals.get(int(key))
        person = self.person
        if found is None or (person.role is Role.STUDENT and found.student != person.name):
            raise HTTPError(404)
        return found

    def shown(self, arrival: Arrival) -> Shown:
        """How much of a verdict this person may read."""
        if self.person.role is Role.INSTRUCTOR:
            return Shown.EVERYTHING
        return shown_to(self.services.rules(arrival.assignment), arrival.student, datetime.now(UTC))

    def state_of(self, arrival: Arrival) -> dict[str, Any]:
        """What a person, or a program, learns of a submission."""
        shown = self.shown(arrival)
        return {
            "state": arrival.state,
            "ahead": self.services.desk.queue.ahead_of(arrival) if arrival.state is Stage.WAITING else 0,
            "result": visible(arrival.result, shown),
            "feedback": shown is Shown.EVERYTHING and arrival.state is Stage.GRADED and self.is_last(arrival),
        }

    def is_last(self, arrival: Arrival) -> bool:
        """Whether it is the last of its student and assignment: only of that one there is a feedback page."""
        of_student = self.services.arrivals.of_group([arrival.student], arrival.assignment)
        return of_student[-1].id == arrival.id

    def show(self, page: str, **values: Any) -> None:
        common = {"xsrf": self.xsrf_token.decode(), "person": self.current_user, "refresh": 0}
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(_template(page).render(**common | values))

    def say(self, data: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(data))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """A mistake in course.toml is the instructors', who read about it."""
        if isinstance(value, CourseError):
            self.services.desk.tell(str(value))
        else:
            super().log_exception(typ, value, tb)

    def write_error(self, status_code: int, **more: Any) -> None:
        error = more.get("exc_info", (None, None))[1]
        said = (error.log_message if isinstance(error, HTTPError) else "") or SAID.get(status_code, SAID[500])
        if self.wants_json:
            self.say({"error": said})
        else:
            self.show("said", title="Sorry", said=said)

    def refuse(self, status: int, said: str) -> NoReturn:
        raise HTTPError(status, said.replace("%", "%%"))


NOT_VALID = "This link is not valid, or no longer. Ask your instructor for a new one."
SAID = {
    401: "Please use the personal link that your instructor has sent you.",
    403: "This form is out of date. Go back, reload the page, and try again.",
    404: "There is nothing here.",
    405: "This cannot be done here.",
    500: "Something went wrong on our side. What you have submitted is safe.",
}


class NothingThere(Handler):
    def prepare(self) -> None:
        raise HTTPError(404)


class EnterPage(Handler):
    """A personal link. It asks before it signs anybody in: nobody is signed in by a link that another site opens."""

    def get(self, code: str) -> None:
        self.show("enter", guest=self._guest(code))

    def post(self, code: str) -> None:
        self._guest(code)
        self.set_signed_cookie(
            COOKIE, digest_of(code), DAYS, httponly=True, samesite="Lax", secure=self.settings["secure"]
        )
        self.redirect("/")

    def _guest(self, code: str) -> Invited:
        found = people(self.services.course).get(digest_of(code))
        if found is None:
            raise HTTPError(404, NOT_VALID)
        return found


class SignOut(Handler):
    def post(self) -> None:
        self.clear_cookie(COOKIE)
        self.redirect("/")


class HomePage(Handler):
    def get(self) -> None:
        if self.current_user is None and not self.wants_json:
            self.set_status(401)
            self.show("said", title="Hello", said=SAID[401])
        elif self.wants_json:
            self.say({"name": self.person.name, "assignments": released(self.services.course)})
        elif self.person.role is Role.INSTRUCTOR:
            self.redirect("/class")
        else:
            own = self.services.arrivals.of_student(self.person.name)
            may = {name: self.services.allowance(self.person.name, name) for name in released(self.services.course)}
            lines = [(one, visible(one.result, self.shown(one))) for one in own]
            self.show("student", assignments=may, submissions=lines)


def released(course: Course) -> dict[str, str]:
    """The assignments that can be submitted here, with the names of their notebooks: those with a single one."""
    found = {name: course.notebooks("release", name) for name in course.assignments()}
    return {name: notebooks[0] for name, notebooks in found.items() if len(notebooks) == 1}


@stream_request_body
class TakeIn(Handler):
    """Takes a notebook: as a form's file, or as the body of a request. Nothing is read of what is refused anyway."""

    def check_xsrf_cookie(self) -> None:
        """The form's token is in the body, which is not here yet; see `post`."""

    def prepare(self) -> None:
        self.must_be(Role.STUDENT)
        self._received = bytearray()
        self._look(self.path_args[0])

    def data_received(self, chunk: bytes) -> None:
        if not self._finished:
            self._received += chunk

    async def post(self, assignment: str) -> None:
        content = self._content()
        if not content.lstrip().startswith(b"{"):
            self.refuse(400, "This is not a notebook. Choose the file that ends in .ipynb.")
        name, services = self.person.name, self.services
        look = functools.partial(self._look, assignment)
        arrival = await asyncio.to_thread(services.arrivals.add, name, assignment, content, look)
        services.desk.queue.put(arrival)
        if self.wants_json:
            self.set_status(202)
            left = services.allowance(name, assignment).left
            self.say({"submission": arrival.id, "left": left, "receipt": receipt(arrival, services.secret)})
        else:
            self.redirect(f"/submissions/{arrival.id}")

    def _look(self, assignment: str) -> None:
        """Whether this student may submit now."""
        if assignment not in released(self.services.course):
            raise HTTPError(404)
        if self.services.desk.queue.waiting_of(self.person.name) >= MOST_WAITING:
            self.refuse(429, "Several of your submissions are waiting already. Wait until they are graded.")
        if refusal := self.services.allowance(self.person.name, assignment).refusal:
            self.refuse(403, refusal)

    def _content(self) -> bytes:
        kind, body = self.request.headers.get("Content-Type", ""), bytes(self._received)
        if not kind.startswith("multipart/"):
            super().check_xsrf_cookie()
            return body
        parse_body_arguments(kind, body, self.request.arguments, self.request.files)
        super().check_xsrf_cookie()
        if not (files := self.request.files.get("notebook")):
            self.refuse(400, "No file was chosen.")
        return bytes(files[0].body)


class SubmissionPage(Handler):
    """The state of a submission, and the verdict. A page that waits looks again by itself."""

    def get(self, key: str) -> None:
        arrival = self.own(key)
        state, signed = self.state_of(arrival), receipt(arrival, self.services.secret)
        if self.wants_json:
            self.say({**state, "receipt": signed})
            return
        refresh = 0 if arrival.is_done else min(10, 1 + state["ahead"] // 10)
        self.show("submission", one=arrival, **state, receipt=json.dumps(signed, indent=1), refresh=refresh)


class Events(Handler):
    """The state of a submission whenever it changes, until there is a verdict, as server-sent events."""

    async def get(self, key: str) -> None:
        arrival = self.own(key)
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("X-Accel-Buffering", "no")  # for a proxy
        while True:
            self.write(f"data: {json.dumps(self.state_of(arrival))}\n\n")
            try:
                await self.flush()
            except StreamClosedError:
                return
            if arrival.is_done:
                return
            await self.services.desk.news.wait(arrival, LOOK_AGAIN)
            arrival = self.own(key)


class VerdictPage(Handler):
    """The feedback page of a student's last submission of an assignment."""

    async def get(self, key: str) -> None:
        arrival = self.own(key)
        if not self.state_of(arrival)["feedback"]:
            raise HTTPError(404)
        page = await asyncio.get_running_loop().run_in_executor(self.services.writing, self._page, arrival)
        self.set_header("Content-Security-Policy", POLICY_OF_PAGES)
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(page)

    def _page(self, arrival: Arrival) -> bytes:
        from grader.pages.feedback import write_feedback

        course = Course(self.services.course.root)
        pages = write_feedback(course, arrival.assignment, self.services.desk.tell, [arrival.student])
        return pages[0].read_bytes()


class Download(Handler):
    """The released files of an assignment, as a zip."""

    def get(self, assignment: str) -> None:
        _ = self.person
        if assignment not in released(self.services.course):
            raise HTTPError(404)
        folder = self.services.course.folder("release") / assignment
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(f"{assignment}/submit.py", self._submit())
            for path in sorted(folder.rglob("*")):
                place = path.relative_to(folder.parent)
                if path.is_file() and not any(part.startswith((".", "__")) for part in place.parts):
                    file.write(path, place)
        self.set_header("Content-Type", "application/zip")
        self.set_header("Content-Disposition", 'attachment; filename="release.zip"')
        self.finish(held.getvalue())

    def _submit(self) -> str:
        """The file to submit with, which knows this server."""
        address = json.dumps(f"{self.request.protocol}://{self.request.host}")
        return SUBMIT.read_text(encoding="utf-8").replace('SERVER = ""', f"SERVER = {address}", 1)


class ClassPage(Handler):
    """The class, as it is now."""

    def get(self) -> None:
        self.must_be(Role.INSTRUCTOR)
        arrivals = self.services.arrivals.of_class()
        last = sorted(newest(arrivals).values(), key=lambda one: (one.assignment, one.student))
        lines = [(one, one.result) for one in last]
        queue, trouble = self.services.desk.queue, dict(self.services.desk.trouble)
        for assignment in released(self.services.course):
            try:
                self.services.rules(assignment)
            except CourseError as error:
                trouble.setdefault(assignment, str(error))
        self.show("class", lines=lines, waiting=len(queue), trouble=trouble, refresh=5)


class IsWell(Handler):
    def get(self) -> None:
        self.say({"waiting": len(self.services.desk.queue), "trouble": bool(self.services.desk.trouble)})
