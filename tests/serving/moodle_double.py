"""Moodle as a platform: what its service for grades and its logins refuse, read in its source, rule by rule.

mod/lti/auth.php, and in mod/lti/service/gradebookservices/classes/local: resources/scores.php, resources/lineitems.php,
and service/gradebookservices.php (save_grade_item, result_for_json). Nothing here is copied: the rules are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lti_platform import AGS, OF_ITEM, OF_ITEMS, OF_RESULTS, OF_SCORE, Answer, PlatformDouble, Request


@dataclass
class GradeItem:
    resource_id: str
    max_points: float
    grades: dict[str, tuple[float | None, int, str]] = field(default_factory=dict)  # points, time and feedback by user


@dataclass
class MoodleDouble(PlatformDouble):
    """Moodle with one course and one tool, whose number is 7."""

    product: str = "moodle"
    users: set[str] = field(default_factory=set)  # who can be graded
    items: dict[str, GradeItem] = field(default_factory=dict)

    def authenticate(self, query: dict[str, str], user: str, hint: str) -> str:
        """What auth.php says to a login that comes back: an error, or nothing."""
        required = ("scope", "response_type", "client_id", "redirect_uri", "login_hint", "nonce")
        if not all(query.get(name) for name in required):
            return "invalid_request"
        if query["scope"] != "openid":
            return "invalid_scope"
        if query["response_type"] != "id_token":
            return "unsupported_response_type"
        if query["client_id"] != self.client_id:
            return "unauthorized_client"
        if query["login_hint"] != user:
            return "access_denied"
        uris = self.registered[0]["redirect_uris"] if self.registered else [query["redirect_uri"]]
        if query["redirect_uri"] not in uris:
            return "invalidrequest"  # an error page, and no answer to that address
        if query.get("response_mode") != "form_post" or query.get("prompt", "none") != "none":
            return "invalid_request"
        return "" if query.get("lti_message_hint") == hint else "invalid_request"

    def _is_ours(self, request: Request, *scopes: str) -> bool:
        """The number of the tool is in each address, and the token must allow what is asked."""
        return request.query.get("type_id") == ["7"] and self.is_allowed(request, *scopes)

    def answer_line_items(self, request: Request) -> Answer:
        is_get = request.method == "GET"
        kind = request.headers.get("Accept" if is_get else "Content-Type", "")
        if not self._is_ours(request, f"{AGS}lineitem", *([f"{AGS}lineitem.readonly"] if is_get else [])):
            return Answer(401)
        if kind != (OF_ITEMS if is_get else OF_ITEM):
            return Answer(400)
        if is_get:
            wanted = request.query.get("resource_id", [None])[0]
            items = [
                self._describe(number) for number, item in self.items.items() if wanted in (None, item.resource_id)
            ]
            return Answer(200, items, OF_ITEMS)
        item = json.loads(request.body)
        if not item.get("label") or not isinstance(item.get("scoreMaximum"), (int, float)):
            return Answer(400)
        number = str(len(self.items) + 1)
        self.items[number] = GradeItem(item.get("resourceId", ""), float(item["scoreMaximum"]))
        return Answer(201, {**item, "id": f"{self.address}/lineitems/{number}/lineitem?type_id=7"}, OF_ITEM)

    def _describe(self, number: str) -> dict[str, Any]:
        item = self.items[number]
        address = f"{self.address}/lineitems/{number}/lineitem?type_id=7"
        return {
            "id": address,
            "label": item.resource_id,
            "scoreMaximum": item.max_points,
            "resourceId": item.resource_id,
        }

    def answer_score(self, request: Request, number: str) -> Answer:
        if not self._is_ours(request, f"{AGS}score"):
            return Answer(401)
        planned = self.planned.pop(0) if self.planned else None
        return planned or self.take_score(request, number)

    def take_score(self, request: Request, number: str) -> Answer:
        if request.method != "POST":
            return Answer(405)
        if request.headers.get("Content-Type") != OF_SCORE:
            return Answer(400)
        if number not in self.items:
            return Answer(404)
        score = request.json
        required = ("userId", "timestamp", "gradingProgress", "activityProgress")
        numbers = [score.get(name, 0) for name in ("scoreGiven", "scoreMaximum")]
        if any(name not in score for name in required) or not all(isinstance(each, (int, float)) for each in numbers):
            return Answer(400)
        if score["userId"] not in self.users:
            return Answer(400)
        seconds = int(datetime.fromisoformat(score["timestamp"]).timestamp())  # strtotime knows no fractions
        item = self.items[number]
        before = item.grades.get(score["userId"])
        if before and before[1] >= seconds:
            return Answer(409)
        points = score.get("scoreGiven") if score["gradingProgress"] == "FullyGraded" else None
        if points is not None:
            points = points * item.max_points / (score.get("scoreMaximum") or 1)
        item.grades[score["userId"]] = (points, seconds, score.get("comment", ""))
        self.arrived.append(score)
        return Answer(200, [], OF_SCORE)

    def answer_results(self, request: Request, number: str) -> Answer:
        if not self._is_ours(request, f"{AGS}result.readonly"):
            return Answer(401)
        user = request.query.get("user_id", [""])[0]
        grade = self.items[number].grades.get(user)
        result: dict[str, Any] = {"userId": user}
        if grade and grade[0]:  # no points and none yet are the same to it
            result |= {"resultScore": grade[0], "resultMaximum": self.items[number].max_points}
        return Answer(200, [result] if grade else [], OF_RESULTS)
