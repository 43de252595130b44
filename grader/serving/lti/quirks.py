"""All that is special about platforms, a small class each. The rest of this folder knows only the standard."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from tornado.httpclient import HTTPResponse

AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"


class Quirks:
    """A platform that does what the standard says."""

    codes: tuple[str, ...] = ()  # what it calls itself: `product_family_code`, in lower case
    hosts: tuple[str, ...] = ()  # how its addresses end, where it is hosted by its makers
    audience = ""  # of requests for tokens; empty: the address for tokens
    line_item_scope = f"{AGS}lineitem"
    resolution = timedelta(milliseconds=1)  # of timestamps of scores

    def status_of(self, response: HTTPResponse) -> int:
        """The status that the standard has for what this response means."""
        return response.code

    def explain(self, response: HTTPResponse) -> str:  # noqa: ARG002
        """Why it refuses, for instructors; empty where only its status is known."""
        return ""

    def adapt_score(self, score: Mapping[str, Any]) -> dict[str, Any]:
        return dict(score)

    def adapt_tool(self, tool: Mapping[str, Any]) -> dict[str, Any]:
        """What it reads about us at registration."""
        return dict(tool)


class CanvasQuirks(Quirks):
    """Canvas.

    - A score is a new submission, made when it arrives, so that old work looks late, unless `new_submission` is false:
      https://canvas.instructure.com/doc/api/score.html, instructure/canvas-lms issue 1799.
    - Too many requests are a 403: https://canvas.instructure.com/doc/api/file.throttling.html.
    - A tool appears only where its registration says so, and learns names only if it asks for them:
      https://developerdocs.instructure.com/services/canvas/external-tools/lti/file.registration.
    """

    codes = ("canvas",)
    hosts = ("instructure.com", "canvaslms.com")

    def status_of(self, response: HTTPResponse) -> int:
        text = (response.body or b"")[:1000].lower()
        is_limit = response.headers.get("X-Rate-Limit-Remaining", "").startswith("0") or b"rate limit" in text
        is_refusal = response.code == HTTPStatus.FORBIDDEN
        return HTTPStatus.TOO_MANY_REQUESTS if is_refusal and is_limit else response.code

    def adapt_score(self, score: Mapping[str, Any]) -> dict[str, Any]:
        return {**score, "https://canvas.instructure.com/lti/submission": {"new_submission": False}}

    def adapt_tool(self, tool: Mapping[str, Any]) -> dict[str, Any]:
        configuration = dict(tool[TOOL])
        placements = {"LtiDeepLinkingRequest": ["assignment_selection"], "LtiResourceLinkRequest": []}
        messages = [{**message, "placements": placements[message["type"]]} for message in configuration["messages"]]
        privacy = {"https://canvas.instructure.com/lti/privacy_level": "public"}
        return {**tool, TOOL: {**configuration, **privacy, "messages": messages}}


class MoodleQuirks(Quirks):
    """Moodle.

    - A score is refused unless its timestamp is newer than the last one, without fractions of seconds: `strtotime` in
      mod/lti/service/gradebookservices/classes/local/resources/scores.php, and in gradebookservices.php beside it.
    - Line items are read only with the scope for reading, too: lineitems.php and lineitem.php there.
    """

    codes = ("moodle",)
    line_item_scope = f"{AGS}lineitem {AGS}lineitem.readonly"
    resolution = timedelta(seconds=1)


class BlackboardQuirks(Quirks):
    """Blackboard: whom it does not know is a 400, with the reason in its text (hypothesis/lms issue 5498).

    https://docs.anthology.com/docs/blackboard/lti/1.3/lti-subsystems/lti-sub-authentication
    """

    codes = ("blackboardlearn", "blackboard")
    hosts = ("blackboard.com",)

    def explain(self, response: HTTPResponse) -> str:
        is_unknown = response.code == HTTPStatus.BAD_REQUEST and b"could not be found" in (response.body or b"")
        return "Blackboard does not know this student, or not in this course." if is_unknown else ""


class BrightspaceQuirks(Quirks):
    """Brightspace: requests for tokens are for one audience, whatever their address; only some roles have grades.

    https://community.d2l.com/brightspace/kb/articles/23659-lti-advantage, and hypothesis/lms, lms/services/ltia_http.py
    """

    codes = ("desire2learn", "brightspace")
    hosts = ("brightspace.com", "d2l.com")
    audience = "https://api.brightspace.com/auth/token"

    def explain(self, response: HTTPResponse) -> str:
        is_refused = response.code == HTTPStatus.FORBIDDEN
        return "Brightspace gives points only to enrolled students whose role can be graded." if is_refused else ""


PRODUCTS: Mapping[str, Quirks] = {
    "canvas": CanvasQuirks(),
    "moodle": MoodleQuirks(),
    "blackboard": BlackboardQuirks(),
    "brightspace": BrightspaceQuirks(),
}
_STANDARD = Quirks()


def quirks_of(family: str) -> Quirks:
    return PRODUCTS.get(family, _STANDARD)


def find_family(code: str, *urls: str) -> str:
    """The product, by what it calls itself or else by addresses; empty if it is none of these."""
    hosts = [f".{urlsplit(url).hostname}" for url in urls]
    for family, quirks in PRODUCTS.items():
        if code.lower() in quirks.codes or any(host.endswith(f".{end}") for host in hosts for end in quirks.hosts):
            return family
    return ""
