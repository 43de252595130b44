"""What all pages have in common: who asks, what they may see, and how it is said."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import Template
from tornado.log import app_log
from tornado.web import HTTPError, RequestHandler

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.roster import StudentNames, read_roster
from grader.pages.page_parts import template
from grader.pages.text_html import sentence_html
from grader.serving.allowance import Allowance, allowance, shown_to
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.asking import Asking
from grader.serving.desk import Desk
from grader.serving.grades import SubmissionGrades, read_grades
from grader.serving.invitations import Invited, Proxy, Role, Scope, admitted, digest_of, find_person, links
from grader.serving.questions import Questions
from grader.serving.repeated import Repeated
from grader.serving.sessions import LONGEST, Sessions
from grader.serving.submission_results import Result, result_of
from grader.term.page_changes import CHANGES_FILE
from grader.term.reading import COURSE_FILE
from grader.term.rules import AssignmentRules, Detail
from grader.term.times import format_time

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from grader.serving.hub import Hub
    from grader.serving.lti.outbox import Outbox

BY_LINK = "who"  # the cookie
BY_LTI = "who_from_platform"  # … of somebody from a learning platform
COOKIES: dict[str, float] = {BY_LINK: LONGEST.days, BY_LTI: 1}  # and how many days they last
A_WHILE = timedelta(minutes=10)
TEMPLATES = Path(__file__).parent / "templates"
# Nothing is loaded from elsewhere, and no script runs but watch.js. Cells of heat maps and bars have a style each, and
# pictures that a student's code drew are in the page.
POLICY = (
    "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@dataclass(frozen=True)
class Services:
    """What the handlers work with."""

    course: Course
    arrivals: Arrivals
    desk: Desk
    asking: Asking
    sessions: Sessions
    questions: Questions
    secret: bytes
    writing: Executor  # of reports, one at a time
    proxy: Proxy | None = None
    hub: Hub | None = None
    outbox: Outbox | None = None  # of points for learning platforms
    repeated: Repeated = field(default_factory=Repeated)
    going: Counter[tuple[str, str]] = field(default_factory=Counter)  # what goes on, by person and handler

    @property
    def course_now(self) -> Course:
        """The course, opened again where a file that its rules are in has changed."""
        root = self.course.root
        return _course_of(root, _stamp(root / COURSE_FILE), _stamp(root / CHANGES_FILE))

    def rules(self, assignment: str) -> AssignmentRules:
        """The rules as they are now."""
        return self.course_now.rules(assignment)

    def grades(self, assignment: str, student: str, *, as_published: bool) -> SubmissionGrades:
        """Where a student stands in an assignment; `as_published`, as students are told. It reads the gradebook."""
        course = self.course_now
        arrivals = self.arrivals.of_group(course.rules(assignment).group_of(student), assignment)
        return read_grades(course, assignment, arrivals, [student], as_published=as_published)

    def unfinished(self, student: str) -> int:
        """How many of a student's submissions wait.

        Where no verdict is shown, those of the last minutes do, graded or not, so that nothing tells which.
        """
        now, count = datetime.now(UTC), 0
        for arrival in self.arrivals.of_student(student):
            is_recent = now < arrival.arrived + A_WHILE
            if is_recent or arrival.state is Stage.WAITING:
                detail = shown_to(self.rules(arrival.assignment), student, now)
                count += is_recent if detail is Detail.NOTHING else arrival.state is Stage.WAITING
        return count

    def allowance(self, student: str, assignment: str) -> Allowance:
        """What this student may still submit. The attempts of a group are counted together."""
        rules = self.rules(assignment)
        earlier = self.arrivals.of_group(rules.group_of(student), assignment)
        return allowance(rules, earlier, datetime.now(UTC))


def _stamp(path: Path) -> tuple[int, ...]:
    """What is different where a file has changed."""
    with contextlib.suppress(FileNotFoundError):
        status = path.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size
    return ()


@functools.lru_cache(1)
def _course_of(root: Path, *_changed: tuple[int, ...]) -> Course:
    return Course(root)


@functools.cache
def _template(page: str) -> Template:
    return template(f"{page}.html", TEMPLATES, code=sentence_html)


@dataclass(frozen=True)
class SubmissionState:
    """How far a submission is, and what may be read of it."""

    stage: Stage
    ahead: int  # how many are graded before it
    result: Result
    feedback: bool  # whether all of its feedback page may be read
    grades: SubmissionGrades  # where all of this was read

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.stage,
            "ahead": self.ahead,
            "result": self.result.to_json(),
            "remarks": list(self.result.remarks),
            "feedback": self.feedback,
        }


class Handler(RequestHandler):
    """What all handlers have in common.

    With scopes, it is for programs: they send a token that has one of these, and read JSON. Cookies and proxies count
    only without scopes, for browsers.
    """

    def initialize(self, scopes: Sequence[Scope] = ()) -> None:
        self.services: Services = self.settings["services"]
        self.name_at_hub = ""  # who is signed in at the hub, in the course or not
        self.scopes = scopes

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def get_current_user(self) -> Invited | None:
        """Who asks: a program by its token, a browser by its cookie. Both are an invitation that still holds."""
        course = self.services.course
        if self.scopes:
            return admitted(course).get(digest_of(self._token()))
        session = self._session(BY_LINK, LONGEST.days)
        if session:
            return links(course).get(session.partition(" ")[0])
        session = self._session(BY_LTI, COOKIES[BY_LTI])
        if session and self.services.outbox:
            return self.services.outbox.tool.guest(int(session.partition(" ")[0]))
        name = self._name_from_proxy()
        return find_person(course, name) if name else None

    async def prepare(self) -> None:
        """A token that is not ours may be one of a JupyterHub; a browser may have one, too."""
        if self.services.hub and self.current_user is None:
            await self._ask_hub(self.services.hub)
        if self.scopes and not self.person.may(*self.scopes):
            self.refuse(403, f"This token may not do this. It needs --scope {' or '.join(self.scopes)}.")

    async def _ask_hub(self, hub: Hub) -> None:
        """The hub knows its users, of whom some may not be in the course."""
        token = self._token() if self.scopes else self._session(hub.cookie, hub.days)
        self.name_at_hub = await hub.name_of(token) if token else ""
        if self.name_at_hub:
            self.current_user = find_person(self.services.course, self.name_at_hub)

    def sign_in(self, guest: Invited, link: str, cookie: str = BY_LINK) -> None:
        """Sign this browser in, and whoever was signed in before out."""
        if self.services.sessions.are_too_many(guest.name):
            self.refuse(429, "You have signed out too often today. Sign in again tomorrow.")
        self.sign_out()
        session = f"{link} {secrets.token_urlsafe(16)}"
        attributes: dict[str, Any] = {"httponly": True, "samesite": "Lax", "secure": self.settings["secure"]}
        self.set_signed_cookie(cookie, session, COOKIES[cookie], path=self.base, **attributes)

    def sign_out(self) -> None:
        """Forget this browser, and end its session, so that no copy of its cookie is of use."""
        hub = self.services.hub
        cookies = COOKIES | ({hub.cookie: hub.days} if hub else {})
        for cookie, days in cookies.items():
            if self.current_user is not None and self._session(cookie, days):
                self.services.sessions.end(self.person.name, self.get_cookie(cookie, ""))
            self.clear_cookie(cookie, path=self.base)

    def _session(self, cookie: str, days: float) -> str:
        """What a signed cookie holds, unless it has expired or its session has ended."""
        session = self.get_signed_cookie(cookie, max_age_days=days)
        has_ended = session is None or self.services.sessions.has_ended(self.get_cookie(cookie, ""))
        return "" if session is None or has_ended else session.decode()

    @property
    def base(self) -> str:
        """What all addresses begin with."""
        return str(self.settings["base"])

    def _name_from_proxy(self) -> str:
        """Whom the proxy has signed in. From any other address, its header means nothing."""
        proxy = self.services.proxy
        names = self.request.headers.get_list(proxy.header) if proxy else []
        if proxy is None or len(names) != 1:
            return ""
        connection: Any = self.request.connection
        return names[0] if connection.stream.socket.getpeername()[0] in proxy.addresses else ""

    def check_xsrf_cookie(self) -> None:
        """Browsers never send tokens by themselves, so a request of a program is meant."""
        if not self.scopes:
            super().check_xsrf_cookie()

    def _token(self) -> str:
        kind, _, token = self.request.headers.get("Authorization", "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else ""

    @property
    def person(self) -> Invited:
        if isinstance(self.current_user, Invited):
            return self.current_user
        raise HTTPError(401, NOT_VALID if self._token() else "")

    def must_see_class(self) -> None:
        if not self.person.sees_class:
            raise HTTPError(404)

    def must_be(self, role: Role) -> None:
        if self.person.role is not role:
            raise HTTPError(404)

    @contextlib.contextmanager
    def one_of_few(self, most: int) -> Iterator[None]:
        """Refuse a person who has begun this more than so many times, and has not ended it."""
        key = self.person.name, type(self).__name__
        if self.services.going[key] >= most:
            self.refuse(429, "You have too many requests open at once. Wait until some have finished.")
        self.services.going[key] += 1
        try:
            yield
        finally:
            self.services.going[key] -= 1

    def visible_submission(self, key: str) -> Arrival:
        """A submission that this person may see. Of others, nobody learns even that they exist."""
        arrival = self.services.arrivals.get(int(key))
        person = self.person
        if arrival is None or not (person.sees_class or arrival.student == person.name):
            raise HTTPError(404)
        return self.visible_part(arrival)

    def visible_part(self, arrival: Arrival) -> Arrival:
        """What this person may see of a submission.

        Where no verdict is shown, neither is whether there is one: how long grading takes depends on what is right.
        """
        detail = self.detail_for(arrival)
        is_hidden = detail is Detail.NOTHING and arrival.state is not Stage.FAILED
        return replace(arrival, state=Stage.ARRIVED, result={}) if is_hidden else arrival

    def detail_for(self, arrival: Arrival) -> Detail:
        """How much of a verdict this person may read."""
        if self.person.sees_class:
            return Detail.EVERYTHING
        return shown_to(self.services.rules(arrival.assignment), arrival.student, datetime.now(UTC))

    async def state_of(self, arrival: Arrival) -> SubmissionState:
        """What a person, or a program, learns of a submission."""
        detail, services = self.detail_for(arrival), self.services
        if arrival.is_done:
            grades = await self.grades(arrival.assignment, arrival.student)
        else:  # it is asked for often, and the gradebook does not know it yet
            course = services.course_now
            grades = SubmissionGrades(course, arrival.assignment, course.rules(arrival.assignment), [arrival])
        waits = arrival.state is Stage.WAITING
        return SubmissionState(
            stage=arrival.state,
            ahead=await asyncio.to_thread(services.desk.queue.ahead_of, arrival) if waits else 0,
            result=await asyncio.to_thread(result_of, arrival, grades, detail),
            # There is a page for the submission that counts only.
            feedback=detail is Detail.EVERYTHING and arrival.state is Stage.GRADED and grades.counts(arrival),
            grades=grades,
        )

    async def grades(self, assignment: str, student: str) -> SubmissionGrades:
        """Where a student stands in an assignment: for instructors by the gradebook, else as students are told."""
        as_published = not self.person.sees_class
        return await asyncio.to_thread(self.services.grades, assignment, student, as_published=as_published)

    def names(self) -> StudentNames:
        """The names of the students, as the roster has them now."""
        return StudentNames(read_roster(self.services.course.root))

    def show(self, page: str, **values: Any) -> None:
        person: Invited | None = self.current_user
        common = {
            "xsrf": self.xsrf_token.decode(),
            "person": person,
            "full_name": self.names()(person.name) if person else "",
            "base": self.base,
            "hub": bool(self.services.hub),
            "refresh": 0,
            "when": self._format_arrival,
        }
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(_template(page).render(**common | values))

    def _format_arrival(self, arrival: Arrival) -> str:
        """When it arrived, in the course's time zone, or in UTC if course.toml cannot be read."""
        try:
            zone = self.services.rules(arrival.assignment).zone
        except CourseError:
            zone = ""
        return format_time(arrival.arrived, zone)

    def say(self, data: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(data))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """No address is written down: it may hold a code. A mistake in course.toml is the instructors' to read."""
        if isinstance(value, CourseError):
            self.warn(str(value))
        elif not isinstance(value, HTTPError):
            app_log.error("Uncaught exception in %s", type(self).__name__, exc_info=(typ, value, tb))

    def warn(self, text: str) -> None:
        """Log a warning for those who run the server, unless they have just read it."""
        if self.services.repeated.is_new(text):
            log.warning(text)

    def write_error(self, status_code: int, **details: Any) -> None:
        error = details.get("exc_info", (None, None))[1]
        text = ""
        if isinstance(error, HTTPError) and error.log_message:
            text = error.log_message % error.args  # Tornado doubles each percent sign of a text without arguments
        text = text or SENTENCES.get(status_code, SENTENCES[500])
        if self.scopes:
            self.say({"error": text})
        else:
            self.show("message", title="Sorry", message=text)

    def refuse(self, status: int, sentence: str) -> NoReturn:
        raise HTTPError(status, sentence)


NOT_VALID = "This link or token is not valid, or no longer works. Ask your instructor for a new one."
SENTENCES = {
    401: "Please use the personal link that your instructor has sent you.",
    403: "This form is out of date. Go back, reload the page, and try again.",
    404: "There is nothing here.",
    405: "This cannot be done here.",
    500: "Something went wrong on our side. Try again in a minute, and tell your instructor if that does not help.",
}


class NothingThere(Handler):
    async def prepare(self) -> None:
        raise HTTPError(404)


class IsWell(Handler):
    def get(self) -> None:
        """Not how many wait: this would tell anybody how long grading takes."""
        self.say({"trouble": bool(self.services.desk.trouble)})


class Metrics(Handler):
    """Numbers for Prometheus, which sends the token of somebody who sees the class."""

    def get(self) -> None:
        self.must_see_class()
        stages = self.services.arrivals.by_stage()
        counted = [stage for stage in Stage if stage is not Stage.ARRIVED]
        lines = [f'grader_submissions{{state="{stage}"}} {stages.get(stage, 0)}' for stage in counted]
        lines += [f"grader_assignments_in_trouble {len(self.services.desk.trouble)}"]
        self.set_header("Content-Type", "text/plain; version=0.0.4")
        self.finish("\n".join([*lines, ""]))
