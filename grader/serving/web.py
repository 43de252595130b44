"""The pages and the interface of the server."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import hmac
import io
import json
import threading
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import Template
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler

from grader.course.folder import Course
from grader.pages.page_parts import template
from grader.serving.arrivals import Arrival, Arrivals, Stage, newest
from grader.serving.desk import Desk
from grader.serving.invitations import Invited, Role, digest_of, people
from grader.serving.receipts import receipt

MOST_BYTES = 20 * 2**20  # of a notebook
MOST_WAITING = 5  # submissions of one student
COOKIE = "who"
DAYS = 30  # that a browser stays signed in
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
    writing: threading.Lock  # nbgrader writes one feedback page at a time


def application(services: Services, *, secure: bool) -> Application:
    """All addresses. `secure` says whether browsers reach it by https, for cookies."""
    handlers: list[Any] = [
        (r"/", HomePage),
        (r"/enter/([\w-]{1,64})", EnterPage),
        (r"/leave", SignOut),
        (r"/assignments/([^/]+)", TakeIn),
        (r"/assignments/([^/]+)/release.zip", Download),
        (r"/submissions/(\d{1,12})", SubmissionPage),
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
        raise HTTPError(401)

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

    def show(self, page: str, **values: Any) -> None:
        common = {"xsrf": self.xsrf_token.decode(), "person": self.current_user, "refresh": 0}
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(_template(page).render(**common | values))

    def say(self, data: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(data))

    def write_error(self, status_code: int, **more: Any) -> None:
        error = more.get("exc_info", (None, None))[1]
        said = (error.log_message if isinstance(error, HTTPError) else "") or SAID.get(status_code, SAID[500])
        if self.wants_json:
            self.say({"error": said})
        else:
            self.show("said", title="Sorry", said=said)

    def refuse(self, status: int, said: str) -> NoReturn:
        raise HTTPError(status, said.replace("%", "%%"))


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
            self.refuse(404, "This link is not valid, or no longer. Ask your instructor for a new one.")
        return found


class SignOut(Handler):
    def post(self) -> None:
        self.clear_cookie(COOKIE)
        self.redirect("/")


class HomePage(Handler):
    def get(self) -> None:
        if self.current_user is None:
            self.set_status(401)
            self.show("said", title="Hello", said=SAID[401])
        elif self.person.role is Role.INSTRUCTOR:
            self.redirect("/class")
        else:
            own = self.services.arrivals.of_student(self.person.name)
            self.show("student", assignments=_released(self.services.course), submissions=own)


def _released(course: Course) -> list[str]:
    """The assignments that can be submitted here: those with a single notebook."""
    return [name for name in course.assignments() if len(course.notebooks("release", name)) == 1]


class TakeIn(Handler):
    """Takes a notebook: as a form's file, or as the body of a request."""

    async def post(self, assignment: str) -> None:
        self.must_be(Role.STUDENT)
        if assignment not in _released(self.services.course):
            raise HTTPError(404)
        content = self._content()
        if not content.lstrip().startswith(b"{"):
            self.refuse(400, "This is not a notebook. Choose the file that ends in .ipynb.")
        if self.services.desk.queue.waiting_of(self.person.name) >= MOST_WAITING:
            self.refuse(429, "Several of your submissions are waiting already. Wait until they are graded.")
        arrival = await asyncio.to_thread(self.services.arrivals.add, self.person.name, assignment, content)
        self.services.desk.queue.put(arrival)
        if self.wants_json:
            self.set_status(202)
            self.say({"submission": arrival.id, "receipt": receipt(arrival, self.services.secret)})
        else:
            self.redirect(f"/submissions/{arrival.id}")

    def _content(self) -> bytes:
        files = self.request.files.get("notebook")
        if files:
            return bytes(files[0].body)
        if self.request.headers.get("Content-Type", "").startswith("multipart/"):
            self.refuse(400, "No file was chosen.")
        return self.request.body


class SubmissionPage(Handler):
    """The state of a submission, and the verdict. A page that waits looks again by itself."""

    def get(self, key: str) -> None:
        arrival = self.own(key)
        ahead = self.services.desk.queue.ahead_of(arrival) if arrival.state is Stage.WAITING else 0
        signed = receipt(arrival, self.services.secret)
        if self.wants_json:
            self.say({"state": arrival.state, "ahead": ahead, "result": arrival.result, "receipt": signed})
            return
        self.show(
            "submission", one=arrival, ahead=ahead, receipt=json.dumps(signed, indent=1),
            refresh=0 if arrival.is_done else 1,
        )  # fmt: skip


class VerdictPage(Handler):
    """The feedback page of a student's last submission of an assignment."""

    async def get(self, key: str) -> None:
        arrival = self.own(key)
        last = newest(self.services.arrivals.of_student(arrival.student))[arrival.student, arrival.assignment]
        if arrival.state is not Stage.GRADED or last.id != arrival.id:
            raise HTTPError(404)
        page = await asyncio.to_thread(self._page, arrival)
        self.set_header("Content-Security-Policy", POLICY_OF_PAGES)
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(page)

    def _page(self, arrival: Arrival) -> bytes:
        from grader.pages.feedback import write_feedback

        with self.services.writing:
            course = Course(self.services.course.root)
            pages = write_feedback(course, arrival.assignment, self.services.desk.tell, [arrival.student])
            return pages[0].read_bytes()


class Download(Handler):
    """The released files of an assignment, as a zip."""

    def get(self, assignment: str) -> None:
        _ = self.person
        if assignment not in _released(self.services.course):
            raise HTTPError(404)
        folder = self.services.course.folder("release") / assignment
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(folder.rglob("*")):
                place = path.relative_to(folder.parent)
                if path.is_file() and not any(part.startswith((".", "__")) for part in place.parts):
                    file.write(path, place)
        self.set_header("Content-Type", "application/zip")
        self.set_header("Content-Disposition", 'attachment; filename="release.zip"')
        self.finish(held.getvalue())


class ClassPage(Handler):
    """The class, as it is now."""

    def get(self) -> None:
        self.must_be(Role.INSTRUCTOR)
        arrivals = self.services.arrivals.of_class()
        lines = sorted(newest(arrivals).values(), key=lambda one: (one.assignment, one.student))
        queue = self.services.desk.queue
        self.show("class", lines=lines, waiting=len(queue), trouble=dict(self.services.desk.trouble), refresh=5)


class IsWell(Handler):
    def get(self) -> None:
        self.say({"waiting": len(self.services.desk.queue), "trouble": bool(self.services.desk.trouble)})
