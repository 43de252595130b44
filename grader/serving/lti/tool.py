"""This server as platforms see it: a tool, with addresses and keys."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql

from grader.course.folder import Course
from grader.sandbox.plain_text import one_line
from grader.serving.invitations import Invited
from grader.serving.lti.claims import Context, Launch
from grader.serving.lti.keys import ToolKeys
from grader.serving.lti.people import People
from grader.serving.lti.platform_requests import PlatformClient
from grader.serving.lti.registrations import (
    LtiRefusal,
    LtiSettings,
    Registration,
    Registrations,
    find_url_problem,
    registration_code,
)
from grader.serving.lti.store import COURSES, MEMBERSHIPS, REGISTRATIONS, Store

MOST_COURSES_WAITING = 100


class Tool:
    """What the handlers of LTI, and whatever sends points, work with."""

    def __init__(self, course: Course, engine: sql.Engine, settings: LtiSettings) -> None:
        self.course = course
        self.store = Store(engine)
        self.address = settings.address
        self.private_hosts = settings.private_hosts
        self.registrations = Registrations(self.store, settings.registrations)
        self.keys = ToolKeys(course.root)
        self.client = PlatformClient(self.keys, settings.private_hosts)
        self.people = People(course, self.store)
        self.registration_code = registration_code(course.root)

    def url(self, place: str, assignment: str = "") -> str:
        """An address of ours, for platforms."""
        query = f"?assignment={quote(assignment, safe='')}" if assignment else ""
        return f"{self.address}/lti/{place}{query}"

    def is_ours(self, url: str) -> bool:
        """Whether a link in a course leads here, and nowhere else."""
        hosts = self.private_hosts | {"127.0.0.1", "localhost"}
        is_below = url == self.address or url.startswith((f"{self.address}/", f"{self.address}?"))
        return is_below and not find_url_problem(url, hosts)

    def enter_course(self, registration: Registration, launch: Launch) -> Any:
        """The row of the course that somebody comes from. One that is not confirmed is put on the instructors' list."""
        context = launch.context or Context(id="")
        keys = {"registration": registration.key, "deployment": launch.deployment_id, "context": context.id}
        waiting = self.store.rows(COURSES, is_confirmed=0)
        if len(waiting) >= MOST_COURSES_WAITING and not self.store.rows(COURSES, **keys):
            raise LtiRefusal("courses-wait", "Too many courses wait for your instructor to confirm them.", 429)
        members = launch.members.context_memberships_url if launch.members else ""
        title, now = one_line(context.title or "", 200), int(time.time())
        course = self.store.save(COURSES, keys, title=title, members_url=members, came=now)
        if not course.is_confirmed:
            sentence = "This course is not connected yet. An instructor confirms it here, on the page “Platforms”."
            raise LtiRefusal(f"course-{course.id}", sentence, 403)
        return course

    def confirmed_courses(self) -> dict[int, Any]:
        """The rows of the courses that belong to ours now, by id."""
        platforms = self.registrations.confirmed()
        rows = self.store.rows(COURSES, is_confirmed=1)
        return {row.id: row for row in rows if row.registration in platforms}

    def remove_course(self, course_id: int) -> None:
        """Forget a course on a platform, its points, and everybody who came from no other."""
        self.store.remove(COURSES, id=course_id)
        self.store.remove_strangers()

    def remove_platform(self, key: str) -> None:
        """Forget a platform that has registered, and all that came from it."""
        self.store.remove(REGISTRATIONS, key=key)
        self.store.remove(COURSES, registration=key)
        self.store.remove_strangers()

    def guest(self, membership_id: int) -> Invited | None:
        """As whom somebody from a course is signed in, as long as that course belongs to ours."""
        courses = self.confirmed_courses()
        for membership in self.store.rows(MEMBERSHIPS, id=membership_id):
            if membership.course in courses:
                return self.people.guest(membership)
        return None
