"""What students see: sign in, submit, and read the verdict."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError
from tornado.httputil import HTTPInputError, parse_body_arguments
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, stream_request_body

from grader.collecting.identifying import Identifier, ReleasedNotebook, UnknownNotebook, released_notebooks
from grader.course.folder import Course
from grader.gradebook.roster import StudentNames
from grader.pages.headings import headings_of_file
from grader.pages.page_parts import contents_of, join_pages
from grader.sandbox.plain_text import one_line
from grader.serving.allowance import Allowance, shown_to
from grader.serving.arrivals import Arrival
from grader.serving.course_solutions import solutions_beside
from grader.serving.grades import LateWarning, SubmissionGrades
from grader.serving.handler import NOT_VALID, SENTENCES, Handler, SubmissionState
from grader.serving.invitations import Invited, Role, Scope, digest_of, links
from grader.serving.own_code_pages import own_code_beside
from grader.serving.question_pages import questions_about
from grader.serving.receipts import receipt
from grader.serving.room import MOST_BYTES as MOST_BYTES_OF_STUDENT
from grader.serving.room import NoRoomLeft, make_room
from grader.serving.submission_results import Result, published_news, result_of, total_of
from grader.term.rules import Detail

MOST_BYTES = 20 * 2**20  # of a notebook
MOST_WAITING = 5  # submissions of one student
MOST_SENT = 5  # notebooks that one student sends at once
MOST_WATCHED = 20  # streams of events of one person
MOST_WRITTEN = 5  # pages and reports for one person at once
LOOK_AGAIN = 3.0  # seconds, for how many are ahead
SUBMIT = Path(__file__).with_name("submit.py")
# For programs, a feedback page has its styles in itself. In a sandbox, it could do nothing in anybody's name.
POLICY_OF_FILES = (
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)


_WITH_A_LINK = {
    Role.STUDENT: "submit in your name",
    Role.ASSISTANT: "see the points of the whole class",
    Role.INSTRUCTOR: "see the points of the whole class, and change due dates",
}


class EnterPage(Handler):
    """A personal link. It asks before it signs anybody in: nobody is signed in by a link that another site opens."""

    def get(self, code: str) -> None:
        guest = self._guest(code)
        self.show("enter", name=self.names()(guest.name), what=_WITH_A_LINK[guest.role])

    def post(self, code: str) -> None:
        self.sign_in(self._guest(code), digest_of(code))
        self.redirect(self.base)

    def _guest(self, code: str) -> Invited:
        person = links(self.services.course).get(digest_of(code))
        if person is None:
            raise HTTPError(404, NOT_VALID)
        return person


class SignOut(Handler):
    def post(self) -> None:
        self.sign_out()
        self.redirect(self.base)


class HomePage(Handler):
    async def get(self) -> None:
        if self.current_user is None:
            self.set_status(401)
            self.show("message", title="Hello", message=SENTENCES[401])
        elif self.person.sees_class:
            self.redirect(f"{self.base}class")
        else:
            notebooks = released(self.services.course)
            self.show("student", assignments=[await self._assignment(name, notebooks[name]) for name in notebooks])

    async def _assignment(self, name: str, notebooks: Sequence[str]) -> AssignmentNow:
        student, services = self.person.name, self.services
        grades = await self.grades(name, student)
        arrivals = [arrival for arrival in reversed(grades.arrivals) if arrival.student == student]
        detail = shown_to(grades.rules, student, datetime.now(UTC))
        standing = grades.standing(student) if detail is not Detail.NOTHING else None
        return AssignmentNow(
            name,
            notebooks,
            services.allowance(student, name),
            ", ".join(grades.rules.dates(student)),
            grades.warning(student, datetime.now(UTC)),
            total_of(standing, grades.most(student)).total if standing else "",
            published_news(grades, student, detail),
            [(self.visible_part(arrival), result_of(arrival, grades, detail)) for arrival in arrivals],
        )


@dataclass(frozen=True)
class AssignmentNow:
    """An assignment on a student's own page."""

    name: str
    notebooks: Sequence[str]
    allowed: Allowance
    dates: str  # when it is due, in words
    late: LateWarning  # before another submission
    total: str  # the points that count now, in words
    news: Sequence[str]  # about a publication
    submissions: Sequence[tuple[Arrival, Result]]  # the student's, the newest first


class WhoAmI(Handler):
    """For a program: whose token it is, what it may do, and what can be submitted."""

    async def get(self) -> None:
        person, notebooks = self.person, released(self.services.course)
        allowed = {one: self.services.allowance(person.name, one) for one in notebooks}
        late = {one: await self._late_warning(one) for one in notebooks}
        self.say(
            {
                "name": person.name,
                "full_name": self.names()(person.name),
                "role": person.role,
                "scopes": person.usable_scopes,
                "until": person.until and person.until.isoformat(),
                "assignments": {
                    name: {"notebook": notebooks[name][0], "notebooks": notebooks[name]}
                    | {"left": may.left, "refusal": may.refusal}
                    | {"late": late[name].text, "late_costs_points": late[name].costs_points}
                    for name, may in allowed.items()
                },
            }
        )

    async def _late_warning(self, assignment: str) -> LateWarning:
        if self.person.role is not Role.STUDENT:
            return LateWarning()
        return (await self.grades(assignment, self.person.name)).warning(self.person.name, datetime.now(UTC))


def released(course: Course) -> dict[str, Sequence[str]]:
    """The assignments that can be submitted here, with the names of their notebooks."""
    notebooks = {assignment: course.notebooks("release", assignment) for assignment in course.assignments()}
    return {assignment: names for assignment, names in notebooks.items() if names}


def left_out(course: Course) -> dict[str, str]:
    """All other assignments, and why they cannot be submitted here."""
    submittable = released(course)
    unreleased = [assignment for assignment in course.assignments() if assignment not in submittable]
    return {assignment: f"it is not released. Run: grader release {assignment}" for assignment in unreleased}


def _released_by(course: Course, notebooks: Mapping[str, Sequence[str]]) -> Sequence[ReleasedNotebook]:
    """All released notebooks, read again where one has changed."""
    times = []
    for assignment, names in notebooks.items():
        times += [course.notebook("release", assignment, name).stat().st_mtime_ns for name in names]
    return _read_at(course.root, tuple(times))


@functools.lru_cache(1)
def _read_at(root: Path, _changed: tuple[int, ...]) -> Sequence[ReleasedNotebook]:
    return released_notebooks(Course(root))


@dataclass(frozen=True)
class SentFile:
    """A file that a student sends."""

    name: str  # as far as known
    content: bytes


@stream_request_body
class TakeIn(Handler):
    """Takes notebooks: files of a form, or one as the body of a request. Nothing is read of what is refused anyway.

    If an assignment has several, those that are left out stay as the student submitted them last.
    """

    def check_xsrf_cookie(self) -> None:
        """The form's token is in the body, which is not here yet; see `post`."""

    def initialize(self, scopes: Sequence[Scope] = ()) -> None:
        super().initialize(scopes)
        self._received = bytearray()
        self._held = contextlib.ExitStack()  # until everything has been read, or never will be
        connection: Any = self.request.connection
        connection.set_max_body_size(MOST_BYTES)

    async def prepare(self) -> None:
        await super().prepare()
        self.must_be(Role.STUDENT)
        self._notebooks = released(self.services.course)
        self._look(self.path_args[0])
        self._held.enter_context(self.one_of_few(MOST_SENT))

    def on_finish(self) -> None:
        self._held.close()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._held.close()

    def data_received(self, chunk: bytes) -> None:
        if not self._finished:
            self._received += chunk

    async def post(self, assignment: str) -> None:
        files = self._files()
        notebooks = await asyncio.to_thread(self._identify, assignment, files)
        name, services = self.person.name, self.services
        if not self.scopes and "late" not in self.request.arguments:
            await self._must_not_lose_points(assignment)
        look = functools.partial(self._look_and_make_room, assignment, list(notebooks.values()))
        names, group = self._notebooks[assignment], services.rules(assignment).group_of(name)
        try:
            arrival = await asyncio.to_thread(services.arrivals.add, name, assignment, notebooks, look, names, group)
        except (OSError, SQLAlchemyError) as error:  # a full disk, say
            self.warn(f"A submission by {name} could not be stored: {error}")
            self.refuse(507, "Your notebook could not be stored, so it is not submitted. Try again in a minute.")
        services.desk.queue.look_again()
        if self.scopes:
            self.set_status(202)
            attempts_left = services.allowance(name, assignment).left
            self.say({"submission": arrival.id, "left": attempts_left, "receipt": receipt(arrival, services.secret)})
        else:
            self.redirect(f"{self.base}submissions/{arrival.id}")

    def _look(self, assignment: str) -> None:
        """Whether this student may submit now."""
        if assignment not in self._notebooks:
            raise HTTPError(404)
        if self.services.unfinished(self.person.name) >= MOST_WAITING:
            self.refuse(429, "You have submitted often lately. Wait a while, then submit again.")
        refusal = self.services.allowance(self.person.name, assignment).refusal
        if refusal:
            self.refuse(403, refusal)

    def _look_and_make_room(self, assignment: str, contents: Sequence[bytes]) -> None:
        self._look(assignment)
        try:
            make_room(self.services.arrivals, self.person.name, contents, lambda name: self.services.rules(name).best)
        except NoRoomLeft:
            self.refuse(
                413,
                f"Your notebooks take up {MOST_BYTES_OF_STUDENT // 2**20} MB here, the most for a student, so this one "
                "is not submitted. Clear the outputs of your notebook, save it, and submit it again. If it is still "
                "too large, ask your instructor.",
            )

    async def _must_not_lose_points(self, assignment: str) -> None:
        """Refuse a form that was there before it got too late to submit without losing points: it does not say so."""
        grades = await self.grades(assignment, self.person.name)
        late = grades.warning(self.person.name, datetime.now(UTC))
        if late.costs_points:
            self.refuse(409, f"Nothing was submitted. {late.text} To submit it anyway, go back and reload the page.")

    def _identify(self, assignment: str, files: Sequence[SentFile]) -> dict[str, bytes]:
        """The notebooks by name. What is not a whole notebook of this assignment is refused."""
        identifier = Identifier(_released_by(self.services.course, self._notebooks), assignment)
        notebooks: dict[str, bytes] = {}
        for file in files:
            notebook = identifier.identify_content("notebook.ipynb", file.content)
            if isinstance(notebook, UnknownNotebook):
                self.refuse(400, f"{file.name} cannot be graded as {assignment}: {notebook.for_student}")
            if notebook is None:
                self.refuse(400, f"{file.name} is not a notebook. Choose the file that ends in .ipynb.")
            if notebook.name in notebooks:
                self.refuse(400, f"Two of these files are {notebook.name}. Choose the one that you mean.")
            notebooks[notebook.name] = file.content
        return notebooks

    def _files(self) -> list[SentFile]:
        kind, body = self.request.headers.get("Content-Type", ""), bytes(self._received)
        is_form = kind.startswith("multipart/")
        if is_form:
            try:
                parse_body_arguments(kind, body, self.request.arguments, self.request.files)
            except HTTPInputError:
                self.refuse(400, "This form cannot be read.")
        super().check_xsrf_cookie()
        if not is_form:
            return [SentFile("This", body)]
        files = self.request.files.get("notebook")
        if not files:
            self.refuse(400, "No file was chosen.")
        return [SentFile(one_line(file.filename, 100) or "This", bytes(file.body)) for file in files]


class SubmissionPage(Handler):
    """The state of a submission, and as much of the verdict as may be read. A page that waits looks again by itself."""

    async def get(self, key: str) -> None:
        arrival = self.visible_submission(key)
        state, signed = await self.state_of(arrival), receipt(arrival, self.services.secret)
        if self.scopes:
            self.say({**state.to_json(), "receipt": signed})
            return
        names, notebooks = self.names(), self.services.course.notebooks("release", arrival.assignment)
        with self.one_of_few(MOST_WRITTEN):
            title, feedback = await asyncio.to_thread(self._feedback, arrival, state, names)
        if feedback or state.result.exercises is not None:  # it has a student's text in it
            self.add_header("Content-Security-Policy", "script-src 'none'")
        self.show(
            "submission",
            arrival=arrival,
            state=state,
            title=title,
            feedback=feedback,
            names=names,
            dates=", ".join(state.grades.rules.dates(arrival.student)),
            allowed=self.services.allowance(arrival.student, arrival.assignment),
            receipt=json.dumps(signed, indent=1),
            solutions=solutions_beside(state.result, state.grades),
            questions=questions_about(arrival, state, self.services),
            own_code=own_code_beside(arrival, state, self.services),
            total=state.result.total if len(notebooks) > 1 else "",
            refresh=0 if arrival.is_done else min(10, 1 + state.ahead // 10),
        )

    def _feedback(self, arrival: Arrival, state: SubmissionState, names: StudentNames) -> tuple[str, Markup]:
        """The notebook's title, and what may be read of the feedback page: nothing if that is not even the points."""
        course, title = self.services.course, arrival.assignment
        names_of_notebooks = course.notebooks("release", arrival.assignment)
        if len(names_of_notebooks) == 1:
            path = course.notebook("release", arrival.assignment, names_of_notebooks[0])
            title = headings_of_file(path, path.stat().st_mtime_ns).title or title
        feedback = contents_of(whole_feedback(course, arrival, state.grades)) if state.feedback else Markup()
        if not feedback and state.result.points is not None:
            people = map(names, state.grades.rules.group_of(arrival.student))
            feedback = contents_of(state.result.page(title, ", ".join(people)))
        return title, feedback


class Events(Handler):
    """The state of a submission whenever it changes, until there is a verdict, as server-sent events."""

    async def get(self, key: str) -> None:
        arrival = self.visible_submission(key)
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("X-Accel-Buffering", "no")  # for a proxy
        # The client may go, and the server may end.
        with self.one_of_few(MOST_WATCHED), contextlib.suppress(StreamClosedError, asyncio.CancelledError):
            await self._tell(arrival)

    async def _tell(self, arrival: Arrival) -> None:
        while True:
            self.write(f"data: {json.dumps((await self.state_of(arrival)).to_json())}\n\n")
            await self.flush()
            if arrival.is_done:
                return
            await self.services.desk.news.wait(arrival, LOOK_AGAIN)
            arrival = self.visible_submission(str(arrival.id))


class FeedbackFile(Handler):
    """The feedback page of a student's last submission of an assignment."""

    async def get(self, key: str) -> None:
        arrival = self.visible_submission(key)
        state, page = await self.state_of(arrival), ""
        if state.feedback:
            with self.one_of_few(MOST_WRITTEN):
                page = await asyncio.to_thread(whole_feedback, self.services.course, arrival, state.grades)
        if not page:
            raise HTTPError(404)
        self.set_header("Content-Security-Policy", POLICY_OF_FILES)
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(page)


def whole_feedback(course: Course, arrival: Arrival, grades: SubmissionGrades) -> str:
    """The feedback page of the submission that counts: what was published with its points, or else a new one."""
    from grader.pages.feedback_page import pages_of_submission  # imports nbgrader, which takes a second
    from grader.publishing.publish import published_pages

    if grades.publication and grades.published(arrival.student):
        pages = published_pages(course, arrival.assignment, grades.publication, arrival.student)
    else:
        pages = pages_of_submission(Course(course.root), arrival.assignment, arrival.student)
    return pages[0] if len(pages) == 1 else join_pages(pages) if pages else ""


class Download(Handler):
    """The released files of an assignment, as a zip."""

    def get(self, assignment: str) -> None:
        _ = self.person
        if assignment not in released(self.services.course):
            raise HTTPError(404)
        folder = self.services.course.folder("release") / assignment
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(f"{assignment}/{SUBMIT.name}", submit_to(self))
            for path in sorted(folder.rglob("*")):
                place = path.relative_to(folder.parent)
                if path.is_file() and not any(part.startswith((".", "__")) for part in place.parts):
                    file.write(path, place)
        self.set_header("Content-Type", "application/zip")
        self.set_header("Content-Disposition", 'attachment; filename="release.zip"')
        self.finish(archive.getvalue())


def submit_to(handler: Handler) -> str:
    """The file to submit with, which knows this server."""
    address = json.dumps(f"{handler.request.protocol}://{handler.request.host}{handler.base[:-1]}")
    return SUBMIT.read_text(encoding="utf-8").replace('SERVER = ""', f"SERVER = {address}", 1)


class SubmitFile(Handler):
    """That file alone, for anybody: there is nothing secret in it."""

    def get(self) -> None:
        self.set_header("Content-Type", "text/x-python; charset=UTF-8")
        self.finish(submit_to(self))
