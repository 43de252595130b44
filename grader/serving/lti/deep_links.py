"""Choosing an assignment in a course on a platform: the answer for each is signed before anybody has chosen."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from grader.serving.grades import read_grades
from grader.serving.lti.claims import CLAIM, SERVICES, Launch
from grader.serving.lti.registrations import Refusal, Registration, find_url_problem
from grader.serving.lti.tool import Tool
from grader.serving.student_pages import released

SECONDS = 3600  # that an answer is valid
LINK = "ltiResourceLink"


class Choice(NamedTuple):
    """An assignment that can be added to a course, and what our form then sends to the platform."""

    assignment: str
    max_points: float | None  # None if the gradebook does not know it yet
    answer: str


def make_choices(tool: Tool, registration: Registration, launch: Launch, nonce: str) -> list[Choice]:
    """All that there is to choose from. The answer goes where the platform has signed that it should."""
    picker = launch.picker
    if picker is None or find_url_problem(picker.deep_link_return_url, tool.private_hosts):
        raise Refusal("deep_link_return_url", "Your learning platform does not say where the answer goes.")
    if LINK not in picker.accept_types:
        raise Refusal("accept_types", "An assignment cannot be added at this place of your course. Try another one.")
    claims: dict[str, Any] = {"nonce": nonce, f"{CLAIM}message_type": "LtiDeepLinkingResponse"}
    claims |= {f"{CLAIM}version": launch.version, f"{CLAIM}deployment_id": launch.deployment_id}
    if picker.data is not msgspec.UNSET:
        claims[f"{SERVICES}dl/claim/data"] = picker.data
    choices = []
    for assignment in released(tool.course):
        rows = read_grades(tool.course, assignment, ()).rows
        max_points = rows.max_points if rows else None
        item: dict[str, Any] = {"type": LINK, "title": assignment, "url": tool.url("launch", assignment)}
        item["custom"] = {"assignment": assignment}
        if max_points:
            item["lineItem"] = {"label": assignment, "scoreMaximum": max_points, "resourceId": assignment}
        content = {f"{SERVICES}dl/claim/content_items": [item]}
        answer = tool.client.sign(registration.client_id, registration.issuer, claims | content, SECONDS)
        choices.append(Choice(assignment, max_points, answer))
    return choices
