"""The students of a course on a platform, by its service for names and roles, brought into the roster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urljoin

from grader.collecting.enrolling import ImportResult, merge_lines
from grader.model.untrusted import is_object
from grader.sandbox.plain_text import one_line
from grader.serving.invitations import Role
from grader.serving.lti.claims import read_role, text_in
from grader.serving.lti.people import Identity
from grader.serving.lti.platform_requests import PlatformError, read_body
from grader.serving.lti.registrations import origin_of
from grader.serving.lti.tool import Tool

SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
KIND = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
MOST_PAGES = 200
_NEXT = re.compile(r'<([^<>\s]+)>\s*;[^,<]*\brel\s*=\s*["”“]?next\b')
# Columns of a table of students, and what a member's entry calls them.
_NAMES = {
    "username": "ext_user_username",
    "id number": "lis_person_sourcedid",
    "email address": "email",
    "name": "name",
    "first name": "given_name",
    "last name": "family_name",
}


class CourseImport(NamedTuple):
    """What has come of the members of a course."""

    imported: ImportResult
    removed: list[str]  # students who were there earlier, and are no longer active members


async def import_members(tool: Tool, course: Any) -> CourseImport:
    """Merge the students of a course into the roster, and link those whom it then knows for sure."""
    members = await read_members(tool, course)
    lines = {sub: _read_line(member) for sub, member in members.items()}
    imported = merge_lines(tool.course, enumerate(lines.values(), start=1))
    for sub, line in lines.items():
        ids = {"username": line["username"], "number": line["id number"]}
        identity = Identity(sub, one_line(line["name"], 100), line["email address"], ids)
        tool.people.enter(course, identity, Role.STUDENT)
    earlier = tool.people.students_in(course.id)
    removed = [person.student or person.name or person.sub for person in earlier if person.sub not in members]
    return CourseImport(imported, sorted(removed))


async def read_members(tool: Tool, course: Any) -> dict[str, Any]:
    """All active students of a course by `sub`. Our token goes to no server but that of the first page."""
    url, registration = course.members_url, tool.registrations.get(course.registration)
    members: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        if origin_of(url) != origin_of(course.members_url):
            raise PlatformError(f"Its next page of members is elsewhere, at {one_line(url, 100)}.")
        response = await tool.client.call(registration, SCOPE, "GET", url, KIND)
        answer = read_body(response)
        entries = answer.get("members") if is_object(answer) else None
        if not isinstance(entries, list):
            raise PlatformError("It does not answer with a list of members.")
        students = [entry for entry in entries if is_object(entry) and _is_student(entry)]
        members |= {text_in(student, "user_id"): student for student in students}
        match = _NEXT.search(response.headers.get("Link", ""))
        if match is None:
            return members
        url = urljoin(url, match[1])
    raise PlatformError(f"It has more than {MOST_PAGES} pages of members.")


def _read_line(member: Mapping[str, Any]) -> dict[str, str]:
    """A member as a line of a table of students."""
    return {column: text_in(member, name).strip() for column, name in _NAMES.items()}


def _is_student(member: Mapping[str, Any]) -> bool:
    roles, is_active = member.get("roles"), member.get("status", "Active") == "Active"
    has_role = isinstance(roles, list) and read_role(roles) is Role.STUDENT
    return bool(is_active and has_role and text_in(member, "user_id"))
