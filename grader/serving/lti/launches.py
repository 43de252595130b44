"""A launch in two steps: a browser comes from a platform and is sent back, and returns with what the platform signed.

State and nonce are in a signed cookie of this browser alone, so that strangers cannot fill any memory of ours.
"""

from __future__ import annotations

import hmac
import json
import secrets
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec

from grader.model.untrusted import converted
from grader.serving.grades import read_grades
from grader.serving.handler import BY_LTI, Handler
from grader.serving.invitations import Role
from grader.serving.lti.claims import (
    CLAIM,
    SERVICES,
    TEST_STUDENT,
    Endpoint,
    Launch,
    read_launch,
    read_role,
    refuse_token,
    text_in,
)
from grader.serving.lti.outbox import Outbox
from grader.serving.lti.registrations import OPEN_AGAIN, LtiRefusal, Registration, find_url_problem, origin_of
from grader.serving.lti.store import ITEMS
from grader.serving.lti.tool import Tool
from grader.serving.student_pages import released

MINUTES = 10  # between the two steps
COOKIES = 8  # launches of one browser at once
LONGEST_HINT = 4000
ANSWER_LASTS = 3600  # seconds that the answer of a picker is valid
RESOURCE_LINK = "ltiResourceLink"
FIELDS = ("iss", "login_hint", "target_link_uri", "lti_message_hint", "client_id")


class FirstStep(NamedTuple):
    """What the first step of a launch tells the second."""

    state: str
    nonce: str
    registration: str


class LtiHandler(Handler):
    """What all pages that platforms lead to have in common."""

    @property
    def tool(self) -> Tool:
        return self.outbox.tool

    @property
    def outbox(self) -> Outbox:
        assert self.services.outbox
        return self.services.outbox

    def log_exception(self, typ: object, value: object, tb: object) -> None:
        """Write down the code, and nothing that was sent: it may be a token."""
        if isinstance(value, LtiRefusal):
            self.warn(f"LTI: refused: {value.code}")
        else:
            super().log_exception(typ, value, tb)

    def write_error(self, status_code: int, **details: object) -> None:
        self.allow_frames()
        super().write_error(status_code, **details)

    def allow_frames(self, *sources: str) -> None:
        """Platforms may show this answer in a frame, and its forms may lead to these."""
        policy = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors https:"
        allowed = " ".join(["", *sources])
        self.set_header("Content-Security-Policy", f"{policy}{allowed}; form-action 'self' https:{allowed}")


class FromPlatform(LtiHandler):
    """What another site sends. Its forms have no token of ours, but a state that says whether they were meant."""

    def check_xsrf_cookie(self) -> None: ...

    def show(self, page: str, **values: Any) -> None:
        """These pages may be in a frame, so they say nothing of whoever is signed in, and sign nobody out."""
        super().show(page, **{"person": None, **values})

    def keep(self, step: FirstStep) -> None:
        name = _cookie(step.state)
        value = self.create_signed_value(name, json.dumps(step)).decode()
        # In a frame, browsers keep it only so. Python's own cookies know no `Partitioned` before 3.14.
        scope = "Secure; SameSite=None; Partitioned" if self.settings["secure"] else "SameSite=Lax"
        self.add_header(
            "Set-Cookie", f"{name}={value}; Path={self.base}lti/; Max-Age={60 * MINUTES}; HttpOnly; {scope}"
        )

    def take(self, state: str) -> FirstStep:
        """The first step of this browser that made this state."""
        cookie = self.get_signed_cookie(_cookie(state), max_age_days=MINUTES / (24 * 60))
        step: FirstStep | None = converted(json.loads(cookie), FirstStep) if cookie else None
        if step is None or not hmac.compare_digest(step.state.encode(), state.encode("utf-8", "surrogatepass")):
            sentence = f"This was not opened just now in this browser, or it keeps no cookies here. {OPEN_AGAIN}"
            raise LtiRefusal("state", sentence, 403)
        return step


def _cookie(state: str) -> str:
    """One of a few names, so that nobody fills a browser with cookies."""
    return f"lti_{ord(state[:1] or '0') % COOKIES}"


class LtiLogin(FromPlatform):
    """Sends a browser back to the platform that it came from. In a frame, a button opens a new window first."""

    def get(self) -> None:
        values = {name: self.get_argument(name, "", strip=False) for name in FIELDS}
        if any(len(value) > LONGEST_HINT for value in values.values()) or not (values["iss"] and values["login_hint"]):
            raise LtiRefusal("login", f"This is not how learning platforms send people here. {OPEN_AGAIN}")
        registration = self.tool.registrations.find(values["iss"], values["client_id"])
        target = values["target_link_uri"]
        if not self.tool.is_ours(target):
            raise LtiRefusal("target", "The link in your course leads elsewhere. Ask your instructor to add it again.")
        fields = {name: value for name, value in values.items() if value}
        # A picker belongs into the frame that waits for its answer; everything else has a window of its own.
        is_picker = urlsplit(target).path == urlsplit(self.tool.url("pick")).path
        if self.request.headers.get("Sec-Fetch-Dest") == "iframe" and not is_picker:
            self.allow_frames(origin_of(registration.login_url))
            self.show("new_window", fields=fields)
            return
        step = FirstStep(secrets.token_urlsafe(32), secrets.token_urlsafe(32), registration.key)
        self.keep(step)
        query = {name: value for name, value in fields.items() if name.endswith("hint")}
        query |= {"scope": "openid", "response_type": "id_token", "response_mode": "form_post", "prompt": "none"}
        query |= {"client_id": registration.client_id, "redirect_uri": self.tool.url("launch")}
        query |= {"state": step.state, "nonce": step.nonce}
        separator = "&" if urlsplit(registration.login_url).query else "?"
        self.redirect(f"{registration.login_url}{separator}{urlencode(query)}")

    post = get


class LtiLaunch(FromPlatform):
    """Where platforms send people back to, with what they have signed."""

    async def post(self) -> None:
        step = self.take(self.get_body_argument("state", ""))
        if self.get_body_argument("error", ""):
            raise LtiRefusal("platform-refused", f"Your learning platform did not sign you in. {OPEN_AGAIN}", 403)
        registration = self.tool.registrations.get(step.registration)
        token = self.get_body_argument("id_token", "")
        launch = await read_launch(self.tool.client, registration, step.nonce, token)
        if not self.tool.is_ours(launch.target_link_uri):
            raise refuse_token("target_link_uri")
        if not self.tool.store.use_nonce(step.nonce):
            raise refuse_token("replayed")
        self.clear_cookie(_cookie(step.state), path=f"{self.base}lti/")
        course, role = self.tool.enter_course(registration, launch), read_role(launch.roles)
        if launch.message_type == "LtiDeepLinkingRequest":
            self._show_picker(registration, launch, role, step.nonce)
            return
        if TEST_STUDENT in launch.roles:
            raise LtiRefusal("test-student", "A test student of your learning platform cannot submit here.", 403)
        membership = self.tool.people.enter(course, launch.identity, role)
        assignment = self._assignment(launch)
        if assignment and launch.endpoint:
            self._keep_column(course.id, assignment, launch.endpoint)
        guest = self.tool.guest(membership.id)
        if guest is None:
            sentence = "This course does not know you yet. Your instructor says who you are; then open the link again."
            raise LtiRefusal(f"person-{membership.person}", sentence, 403)
        self.outbox.wake()
        self.sign_in(guest, str(membership.id), BY_LTI)
        self.redirect(f"{self.base}class" if guest.sees_class else f"{self.base}#{quote(assignment, safe='')}")

    def _assignment(self, launch: Launch) -> str:
        """The assignment that a link is for; empty if it does not say."""
        query = parse_qs(urlsplit(launch.target_link_uri).query)
        name = text_in(launch.custom, "assignment") or query.get("assignment", [""])[0]
        return name if name in released(self.services.course) else ""

    def _keep_column(self, course_id: int, assignment: str, endpoint: Endpoint) -> None:
        """Remember where the points of an assignment go."""
        urls = {"line_item": endpoint.lineitem, "line_items": endpoint.lineitems}
        columns = {name: url for name, url in urls.items() if url}
        if columns:
            self.tool.store.save(ITEMS, {"course": course_id, "assignment": assignment}, **columns)

    def _show_picker(self, registration: Registration, launch: Launch, role: Role, nonce: str) -> None:
        if role is not Role.INSTRUCTOR or launch.picker is None:
            raise LtiRefusal("picker", "Only instructors can add assignments to a course.", 403)
        url = launch.picker.deep_link_return_url
        if find_url_problem(url, self.tool.private_hosts):
            raise LtiRefusal("deep_link_return_url", "Your learning platform does not say where the answer goes.")
        if RESOURCE_LINK not in launch.picker.accept_types:
            sentence = "An assignment cannot be added at this place of your course. Try another one."
            raise LtiRefusal("accept_types", sentence)
        self.allow_frames(origin_of(url))
        self.show("pick", choices=make_choices(self.tool, registration, launch, nonce), url=url)


class PickerChoice(NamedTuple):
    """An assignment that can be added to a course, and what our form then sends to the platform."""

    assignment: str
    max_points: float | None  # None if the gradebook does not know it yet
    answer: str


def make_choices(tool: Tool, registration: Registration, launch: Launch, nonce: str) -> list[PickerChoice]:
    """All that there is to choose from."""
    claims: dict[str, Any] = {"nonce": nonce, f"{CLAIM}message_type": "LtiDeepLinkingResponse"}
    claims |= {f"{CLAIM}version": launch.version, f"{CLAIM}deployment_id": launch.deployment_id}
    if launch.picker and launch.picker.data is not msgspec.UNSET:
        claims[f"{SERVICES}dl/claim/data"] = launch.picker.data
    choices = []
    for assignment in released(tool.course):
        rows = read_grades(tool.course, assignment, ()).rows
        max_points = rows.max_points if rows else None
        item: dict[str, Any] = {"type": RESOURCE_LINK, "title": assignment, "url": tool.url("launch", assignment)}
        item["custom"] = {"assignment": assignment}
        if max_points:
            item["lineItem"] = {"label": assignment, "scoreMaximum": max_points, "resourceId": assignment}
        content = {f"{SERVICES}dl/claim/content_items": [item]}
        answer = tool.client.sign(registration.client_id, registration.issuer, claims | content, ANSWER_LASTS)
        choices.append(PickerChoice(assignment, max_points, answer))
    return choices
