"""The tests by which 1EdTech certifies tools, one of ours for each, by their names.

The names are those of its certification suite, in the guide's tables as they were before they were shortened; the guide
has them in sections 6.1 to 6.4: https://www.imsglobal.org/spec/lti/v1p3/cert/. What is said there is all that is known
of each, so this is no certificate.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

import httpx
import jwt
import pytest
from jwt.algorithms import RSAAlgorithm
from lti_platform import (
    AGS,
    CLAIM,
    INSTRUCTOR,
    LEARNER,
    NRPS,
    OF_ITEM,
    OF_ITEMS,
    OF_MEMBERS,
    OF_RESULTS,
    OF_SCORE,
    PICKER,
    REMOVED,
    Answer,
    PlatformDouble,
    Request,
    codes_in,
    running,
)
from lti_server import LtiServer, server_of

from grader.gradebook.published import PublishedPoints
from grader.serving.lti.members import read_members
from grader.serving.lti.store import COURSES
from grader.term.rules import AssignmentRules

DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/"
STAFF = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Staff"
STUDENT = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Student"
UNKNOWN = "http://purl.imsglobal.org/vocab/lis/v2/unknown/unknown#Helper"
NO_NAMES = {"name": REMOVED, "given_name": REMOVED, "family_name": REMOVED}


@pytest.fixture(scope="module")
def platform() -> Iterator[PlatformDouble]:
    with running(PlatformDouble()) as platform:
        yield platform


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, platform: PlatformDouble) -> Iterator[LtiServer]:
    with server_of({"suite": platform}, tmp_path_factory.mktemp("certified")) as server:
        server.confirm_course(platform, context="")
        yield server


# --- 6.1.1 Known "Bad" Payloads ---

BAD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "No KID Sent in JWT header": ({}, {"kid": REMOVED}),
    "Incorrect KID in JWT header": ({}, {"kid": "wrong"}),
    "Wrong LTI Version": ({f"{CLAIM}version": "11.3"}, {}),
    "No LTI Version": ({f"{CLAIM}version": REMOVED}, {}),
    "Missing LTI Claims": ({f"{CLAIM}{name}": REMOVED for name in ("version", "message_type", "deployment_id")}, {}),
    "Timestamps Incorrect": ({"iat": 11111, "exp": 22222}, {}),
    "messsage_type Claim Missing": ({f"{CLAIM}message_type": REMOVED}, {}),
    "role Claim Missing": ({f"{CLAIM}roles": REMOVED}, {}),
    "deployment_id Claim Missing": ({f"{CLAIM}deployment_id": REMOVED}, {}),
    "resource_link_id Claim Missing": ({f"{CLAIM}resource_link": {"title": "no id"}}, {}),
    "user Claim Missing": ({"sub": REMOVED}, {}),
}


def is_refused(answer: httpx.Response) -> bool:
    return answer.status_code >= 400 and len(codes_in(answer.text)) == 1


@pytest.mark.parametrize("title", BAD)
def test_bad_payload(server: LtiServer, platform: PlatformDouble, title: str) -> None:
    claims, headers = BAD[title]
    browser = server.browser()
    asked = browser.log_in(platform)
    token = platform.sign(browser.claims(platform, asked["nonce"]) | claims, headers=headers)
    assert is_refused(browser.send(asked["state"], token))
    assert browser.client.get("/").status_code == 401


@pytest.mark.parametrize("title", ["Invalid LTI message"])
def test_bad_message(server: LtiServer, platform: PlatformDouble, title: str) -> None:
    browser = server.browser()
    asked = browser.log_in(platform)
    assert is_refused(browser.send(asked["state"], platform.sign({"name": "badltilaunch"}))), title


# --- 6.1.2 and 6.1.3 Valid Teacher and Student Launches ---

INSTRUCTORS: dict[str, dict[str, Any]] = {
    "Valid Instructor Launch": {},
    "Valid Instructor Launch with Roles": {f"{CLAIM}roles": [INSTRUCTOR, STAFF]},
    "Valid Instructor Launch Short Role": {f"{CLAIM}roles": ["Instructor"]},
    "Valid Instructor Launch Unknown Role": {f"{CLAIM}roles": [UNKNOWN]},
    "Valid Instructor Launch No Role": {f"{CLAIM}roles": []},
    "Valid Instructor Launch Email Only": NO_NAMES,
    "Valid Instructor Launch Names Only": {"email": REMOVED},
    "Valid Instructor No PII": {**NO_NAMES, "email": REMOVED},
    "Valid Instructor Email Without Context": {**NO_NAMES, f"{CLAIM}context": REMOVED},
    "Valid Instructor New resource_id": {f"{CLAIM}resource_link": {"id": "another link"}},
}
STUDENTS: dict[str, dict[str, Any]] = {
    "Valid Student Launch": {},
    "Valid Student Launch with Roles": {f"{CLAIM}roles": [LEARNER, STUDENT]},
    "Valid Student Launch Short Role": {f"{CLAIM}roles": ["Learner"]},
    "Valid Student Launch Unknown Role": {f"{CLAIM}roles": [UNKNOWN]},
    "Valid Student Launch No Role": {f"{CLAIM}roles": [""]},
    "Valid Student Launch Email Only": NO_NAMES,
    "Valid Student Launch Names Only": {"email": REMOVED},
    "Valid Student No PII": {**NO_NAMES, "email": REMOVED},
    "Valid Student Email Without Context": {**NO_NAMES, f"{CLAIM}context": REMOVED},
    "Valid Student New resource_id": {f"{CLAIM}resource_link": {"id": "another link"}},
}


@pytest.mark.parametrize("title", INSTRUCTORS)
def test_instructor(server: LtiServer, platform: PlatformDouble, title: str) -> None:
    """Without a role that we know, somebody comes as a student, and this one is known by address."""
    claims = {"sub": title, f"{CLAIM}roles": [INSTRUCTOR], **INSTRUCTORS[title]}
    browser = server.browser()
    answer = browser.launch(platform, **claims)
    if INSTRUCTOR in claims[f"{CLAIM}roles"] or "Instructor" in claims[f"{CLAIM}roles"]:
        assert answer.headers["Location"] == "/class"
        assert browser.client.get("/class").status_code == 200
    else:
        assert browser.client.get("/class").status_code in (401, 404)
        assert answer.status_code == 302 or "This course does not know you yet." in answer.text


@pytest.mark.parametrize("title", STUDENTS)
def test_student(server: LtiServer, platform: PlatformDouble, title: str) -> None:
    """One who has come before is known, whatever the platform tells this time."""
    browser = server.browser()
    browser.launch(platform, sub="certified student", email="emmy@example.edu")
    claims: dict[str, Any] = {f"{CLAIM}roles": [LEARNER], **STUDENTS[title]}
    answer = browser.launch(platform, sub="certified student", **claims)
    assert answer.headers["Location"] == "/#"
    assert "Emmy Noether" in browser.client.get("/").text


# --- 6.2 Deep Linking ---


@pytest.fixture(scope="module")
def picked(server: LtiServer, platform: PlatformDouble) -> dict[str, Any]:
    """What a platform gets when an instructor has chosen an assignment."""
    settings = {
        "deep_link_return_url": f"{platform.address}/deep-links?id=5",
        "accept_types": ["link", "ltiResourceLink"],
        "accept_presentation_document_targets": ["iframe"],
        "data": "csrf:5",
    }
    claims: dict[str, Any] = {f"{CLAIM}message_type": "LtiDeepLinkingRequest", f"{CLAIM}resource_link": REMOVED}
    browser = server.browser()
    answer = browser.launch(
        platform, server.tool.url("pick"), **claims, **{f"{CLAIM}roles": [INSTRUCTOR], PICKER: settings}
    )
    assert answer.status_code == 200, answer.text
    forms = re.findall(
        r'<form method="post" action="([^"]+)">\s*<input type="hidden" name="JWT" value="([^"]+)">', answer.text
    )
    token = forms[0][1]
    (key,) = server.tool.keys.current()
    public: Any = RSAAlgorithm.from_jwk(key.public)
    return {
        "page": answer,
        "forms": forms,
        "header": jwt.get_unverified_header(token),
        "kid": key.kid,
        "claims": jwt.decode(token, public, ["RS256"], audience=platform.name, issuer=platform.client_id),
        "settings": settings,
    }


def send_the_request_payload(picked: dict[str, Any]) -> bool:
    return "Add week1" in picked["page"].text


def receive_the_response_payload(picked: dict[str, Any]) -> bool:
    return {url for url, _ in picked["forms"]} == {picked["settings"]["deep_link_return_url"]}


def response_format_valid(picked: dict[str, Any]) -> bool:
    return bool(picked["claims"][f"{CLAIM}message_type"] == "LtiDeepLinkingResponse")


def response_timestamps_valid(picked: dict[str, Any]) -> bool:
    claims = picked["claims"]
    return bool(claims["iat"] <= time.time() < claims["exp"] <= claims["iat"] + 3600)


def signature_valid(picked: dict[str, Any]) -> bool:
    return bool(picked["header"]["alg"] == "RS256" and picked["header"]["kid"] == picked["kid"])


def required_claims_verified(picked: dict[str, Any]) -> bool:
    claims = picked["claims"]
    required = {f"{CLAIM}version": "1.3.0", f"{CLAIM}deployment_id": "deployment-1", f"{DEEP_LINK}data": "csrf:5"}
    return all(claims[name] == value for name, value in required.items()) and bool(claims["nonce"])


def affirm_response(picked: dict[str, Any]) -> bool:
    (item,) = picked["claims"][f"{DEEP_LINK}content_items"]
    return bool((item["type"], item["title"], item["custom"]) == ("ltiResourceLink", "week1", {"assignment": "week1"}))


@pytest.mark.parametrize(
    ("title", "holds"),
    [
        ("Send the Request Payload", send_the_request_payload),
        ("Receive the Response Payload", receive_the_response_payload),
        ("Response Format Valid", response_format_valid),
        ("Response Timestamps Valid", response_timestamps_valid),
        ("Signature Valid", signature_valid),
        ("Required Claims Verified", required_claims_verified),
        ("Affirm Response", affirm_response),
    ],
)
def test_deep_linking(picked: dict[str, Any], title: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    assert holds(picked), title


# --- 6.3 and 6.4 Services ---


@dataclass
class Served:
    """The request of a service, with what the platform knows of its token."""

    request: Request
    scopes: str
    answer: Any  # what we made of the answer

    @property
    def has_header(self) -> bool:
        wanted = {"GET": "Accept", "POST": "Content-Type"}[self.request.method]
        return self.request.headers[wanted] in (OF_MEMBERS, OF_ITEMS, OF_ITEM, OF_SCORE, OF_RESULTS)

    @property
    def has_token(self) -> bool:
        return self.request.headers["Authorization"].startswith("Bearer ") and bool(self.scopes)


@pytest.fixture(scope="module")
def used(server: LtiServer, platform: PlatformDouble) -> Mapping[str, Served]:
    """All services, each used once: the roster, columns, a column made, a score and, where it may be there, results."""
    platform.members = [{"user_id": "certified student", "roles": [LEARNER], "name": "Emmy Noether"}]
    (course,) = server.tool.store.rows(COURSES, context="course-1")
    members = server.run(read_members(server.tool, course))
    student = server.browser()
    custom: dict[str, Any] = {f"{CLAIM}custom": {"assignment": "week1"}}
    student.launch(platform, sub="certified student", email="emmy@example.edu", **custom)
    grades = Mock(rules=AssignmentRules(), publication=None, most=lambda _student: 10.0)
    grades.standing = lambda _student: PublishedPoints({}, 8.0)
    grades.counting_arrival = lambda _student: None
    platform.planned = [Answer(409)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grader.serving.lti.outbox.read_grades", lambda *_, **__: grades)
        server.outbox.collect()
        server.run(server.outbox.send())
        server.outbox.try_again()
        server.run(server.outbox.send())
    requests = {}
    for request in platform.requests:
        name = f"{request.method} {request.path.rpartition('/')[2]}"
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        requests[name] = Served(request, platform.tokens.get(token, ""), None)
    requests["GET members"].answer = members
    requests["GET lineitems"].answer = requests["POST lineitems"].answer = platform.line_items
    requests["POST scores"].answer = platform.arrived
    requests["GET results"].answer = server.outbox.missing()
    return requests


def request_received(served: Served) -> bool:
    return bool(served.request.path)


def verify_json_header(served: Served) -> bool:
    return served.has_header


def verify_bearer_token(served: Served) -> bool:
    return served.has_token


STEPS = {
    "Verify JSON Header": verify_json_header,
    "Verify Bearer Token": verify_bearer_token,
}
SCOPES = {
    "GET members": NRPS,
    "GET lineitems": f"{AGS}lineitem",
    "POST lineitems": f"{AGS}lineitem",
    "POST scores": f"{AGS}score",
    "GET results": f"{AGS}result.readonly",
}
OUTCOMES: dict[str, Callable[[Any], bool]] = {
    "GET members": lambda members: set(members) == {"certified student"},
    "GET lineitems": lambda items: len(items) == 1,  # none was there, so one was made
    "POST lineitems": lambda items: items["1"]["resourceId"] == "week1" and items["1"]["scoreMaximum"] == 10.0,
    "POST scores": lambda scores: (
        {(score["userId"], score["scoreGiven"]) for score in scores} >= {("certified student", 8.0)}
    ),
    "GET results": lambda missing: missing == [],  # after a conflict, it said that there were none yet
}
GRADE_SERVICES = {
    "Receive lineitems Request": "GET lineitems",
    "Receive lineitem Request": "POST lineitems",
    "Receive score POST Request": "POST scores",
    "Receive result GET Request": "GET results",
}


@pytest.mark.parametrize(
    "title",
    ["Receive Request", *STEPS, "Verify Bearer Scope", "Generate and Send Response", "Affirm Response Received"],
)
def test_names_and_roles(used: Mapping[str, Served], title: str) -> None:
    assert step_holds(used, "GET members", title)


@pytest.mark.parametrize("title", [*STEPS, "Verify Bearer Scope", "Generate and Send Response"])
@pytest.mark.parametrize("received", GRADE_SERVICES)
def test_grade_service(used: Mapping[str, Served], received: str, title: str) -> None:
    assert step_holds(used, GRADE_SERVICES[received], title)


@pytest.mark.parametrize("title", [*GRADE_SERVICES, "Affirm Response Received"])
def test_grade_service_is_used(used: Mapping[str, Served], title: str) -> None:
    assert all(step_holds(used, service, title) for service in [GRADE_SERVICES.get(title, "POST scores")])


def step_holds(used: Mapping[str, Served], service: str, title: str) -> bool:
    served = used[service]
    if title in STEPS:
        return STEPS[title](served)
    if title == "Verify Bearer Scope":
        return SCOPES[service] in served.scopes.split()
    if title in ("Generate and Send Response", "Affirm Response Received"):
        return OUTCOMES[service](served.answer)
    return request_received(served)


def count(*tests: Any) -> int:
    """How many cases these tests have."""
    return sum(math.prod(len(mark.args[1]) for mark in test.pytestmark) for test in tests)


def test_there_are_as_many_as_in_the_suite() -> None:
    launches = [count(test_bad_payload, test_bad_message), count(test_instructor), count(test_student)]
    services = [count(test_names_and_roles), count(test_grade_service, test_grade_service_is_used)]
    assert [*launches, count(test_deep_linking), *services] == [12, 10, 10, 7, 6, 21]
    assert sum(launches) + count(test_deep_linking) + sum(services) == 66
