"""What goes back to a platform: assignments that are chosen, members that are read, and points that arrive once."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from lti_platform import (
    AGS,
    CLAIM,
    INSTRUCTOR,
    LEARNER,
    PICKER,
    REMOVED,
    Answer,
    PlatformDouble,
    codes_in,
    running,
)
from lti_server import LtiServer, server_of

from grader.gradebook.published import Publication, PublishedPoints
from grader.gradebook.roster import read_roster
from grader.serving.arrivals import Arrival, Stage
from grader.serving.lti import keys, platform_requests
from grader.serving.lti.keys import ToolKeys
from grader.serving.lti.members import import_members
from grader.serving.lti.outbox import below
from grader.serving.lti.platform_requests import PlatformError
from grader.serving.lti.quirks import PRODUCTS, find_family
from grader.serving.lti.store import COURSES, SCORES
from grader.term.rules import AssignmentRules, Detail, Serving
from support.served import token_in

CANVAS = "https://canvas.instructure.com/lti/submission"


@pytest.fixture
def platform() -> Iterator[PlatformDouble]:
    with running(PlatformDouble()) as platform:
        yield platform


@pytest.fixture
def server(tmp_path: Path, platform: PlatformDouble) -> Iterator[LtiServer]:
    with server_of({"campus": platform}, tmp_path) as server:
        yield server


# --- choosing an assignment ---


def pick(server: LtiServer, platform: PlatformDouble, roles: object = (INSTRUCTOR,), **settings: Any) -> httpx.Response:
    usual = {"deep_link_return_url": f"{platform.address}/return?a=1", "accept_types": ["ltiResourceLink"]}
    claims: dict[str, Any] = {
        f"{CLAIM}message_type": "LtiDeepLinkingRequest",
        f"{CLAIM}resource_link": REMOVED,
        f"{CLAIM}roles": roles,
        PICKER: {**usual, **settings},
    }
    return server.browser().launch(platform, server.tool.url("pick"), **claims)


def choices_in(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="JWT" value="([^"]+)">\s*<button>Add (\w+)', page)) and {
        name: token for token, name in re.findall(r'name="JWT" value="([^"]+)">\s*<button>Add (\w+)', page)
    }


def test_an_instructor_chooses_from_what_is_released(server: LtiServer, platform: PlatformDouble) -> None:
    answer = pick(server, platform)
    assert sorted(choices_in(answer.text)) == ["week1", "week2"]
    token = choices_in(answer.text)["week2"]
    claims = jwt.decode(token, options={"verify_signature": False})
    (item,) = claims["https://purl.imsglobal.org/spec/lti-dl/claim/content_items"]
    assert item["url"] == f"{server.address}/lti/launch?assignment=week2"
    assert "https://purl.imsglobal.org/spec/lti-dl/claim/data" not in claims
    assert f"frame-ancestors https: {platform.address};" in answer.headers["Content-Security-Policy"]


def test_a_choice_goes_where_the_platform_has_signed_and_nowhere_else(
    server: LtiServer, platform: PlatformDouble
) -> None:
    """Whatever else the browser sends, the answer leads to the address of the launch."""
    browser = server.browser()
    asked = browser.log_in(platform, server.tool.url("pick"))
    settings = {"deep_link_return_url": f"{platform.address}/return", "accept_types": ["ltiResourceLink"]}
    claims = browser.claims(platform, asked["nonce"], server.tool.url("pick")) | {
        f"{CLAIM}message_type": "LtiDeepLinkingRequest",
        f"{CLAIM}roles": [INSTRUCTOR],
        PICKER: settings,
    }
    form = {
        "state": asked["state"],
        "id_token": platform.sign(claims),
        "deep_link_return_url": "https://evil.example.org",
    }
    answer = browser.client.post("/lti/launch?deep_link_return_url=https://evil.example.org", data=form)
    assert set(re.findall(r'<form method="post" action="([^"]+)">', answer.text)) == {f"{platform.address}/return"}
    assert "evil" not in answer.text


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"deep_link_return_url": "http://evil.example.org/"}, "deep_link_return_url"),
        ({"deep_link_return_url": "javascript:alert(1)"}, "deep_link_return_url"),
        ({"deep_link_return_url": 'https://a.example.org/"><script>'}, "deep_link_return_url"),
        ({"deep_link_return_url": REMOVED}, "token-deep_link_return_url"),
        ({"accept_types": ["html"]}, "accept_types"),
        ({"accept_types": "ltiResourceLink"}, "token-accept_types"),
    ],
)
def test_a_choice_that_cannot_be_answered_is_refused(
    server: LtiServer, platform: PlatformDouble, settings: dict[str, Any], code: str
) -> None:
    kept = {name: value for name, value in settings.items() if value is not REMOVED}
    answer = pick(server, platform, **kept)
    if kept != settings:
        picker = {"accept_types": ["ltiResourceLink"]}
        claims: dict[str, Any] = {f"{CLAIM}message_type": "LtiDeepLinkingRequest", PICKER: picker}
        answer = server.browser().launch(platform, **claims)
    assert codes_in(answer.text) == [code]


@pytest.mark.parametrize("roles", [[LEARNER], [], [f"{INSTRUCTOR}#x"]])
def test_students_choose_nothing(server: LtiServer, platform: PlatformDouble, roles: list[str]) -> None:
    assert codes_in(pick(server, platform, roles).text) == ["picker"]


# --- the roster ---


MEMBERS = [
    {"user_id": "1", "roles": [LEARNER], "name": "Ada L.", "email": "ada@example.edu", "status": "Active"},
    {"user_id": "2", "roles": ["Learner"], "given_name": "Rosa", "family_name": "Parks", "ext_user_username": "rosa"},
    {"user_id": "3", "roles": [LEARNER], "email": "new@example.edu", "name": "New Student"},
    {"user_id": "4", "roles": [INSTRUCTOR], "email": "prof@example.edu"},
    {"user_id": "5", "roles": [LEARNER], "email": "gone@example.edu", "status": "Inactive"},
    {"user_id": "6", "roles": [LEARNER], "name": "=cmd()", "ext_user_username": "formula"},
    {"user_id": "7", "roles": [LEARNER]},
]


def import_all(server: LtiServer) -> Any:
    (course,) = server.tool.store.rows(COURSES)
    return server.run(import_members(server.tool, course))


@pytest.mark.slow
def test_members_come_into_the_roster_and_are_known_then(server: LtiServer, platform: PlatformDouble) -> None:
    platform.members, platform.page = [*MEMBERS], 2
    done = import_all(server)
    assert sorted(done.imported.new_students) == ["new@example.edu", "rosa"]
    assert len(done.imported.bad_lines) == 1
    assert [person.sub for person in server.tool.people.unknown()] == ["6", "7"]
    roster = read_roster(server.course.root)
    assert {"ada", "emmy", "kurt", "rosa", "new@example.edu"} == set(roster)
    browser = server.browser()
    browser.launch(platform, sub="2", email="", name="")
    assert "Rosa Parks" in browser.client.get("/").text


def test_removed_members_are_shown_and_kept(server: LtiServer, platform: PlatformDouble) -> None:
    platform.members = [*MEMBERS]
    import_all(server)
    platform.members = [member for member in MEMBERS if member["user_id"] != "2"]
    done = import_all(server)
    assert done.removed == ["rosa"]
    assert "rosa" in read_roster(server.course.root)


def test_a_page_at_another_host_is_not_asked_for(server: LtiServer, platform: PlatformDouble) -> None:
    """Our token would go with the question."""
    platform.members = [*MEMBERS]
    with running(PlatformDouble()) as evil:
        platform.next_link = f"{evil.address}/members?from=2"
        with pytest.raises(PlatformError, match="elsewhere"):
            import_all(server)
        assert evil.requests == []
    assert set(read_roster(server.course.root)) == {"ada", "emmy", "kurt"}


def test_pages_without_end_are_left(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.serving.lti.members.MOST_PAGES", 3)
    platform.members = [*MEMBERS]
    platform.next_link = f"{platform.address}/members"
    with pytest.raises(PlatformError, match="more than 3 pages"):
        import_all(server)


def test_an_answer_that_is_no_list_changes_nothing(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "answer_members", lambda _request: Answer(200, {"members": "all"}))
    with pytest.raises(PlatformError):
        import_all(server)


# --- points ---


class Grades:
    """What students may see, as the server reads it from the gradebook."""

    def __init__(self) -> None:
        self.rules = AssignmentRules()
        self.publication: Publication | None = None
        self.points: dict[str, float] = {}
        self.waits: list[str] = []
        self.arrival: Arrival | None = None

    def most(self, _student: str) -> float:
        return 10.0

    def standing(self, student: str) -> PublishedPoints | None:
        points = self.points.get(student)
        return None if points is None else PublishedPoints({}, points, waits=self.waits)

    def counting_arrival(self, _student: str) -> Arrival | None:
        return self.arrival


@pytest.fixture
def grades(monkeypatch: pytest.MonkeyPatch) -> Grades:
    grades = Grades()
    monkeypatch.setattr("grader.serving.lti.outbox.read_grades", lambda *_, **__: grades)
    return grades


def come(server: LtiServer, platform: PlatformDouble, *students: str, **more: Any) -> None:
    """Let students come by the link of an assignment."""
    for student in students or ("ada",):
        custom = {f"{CLAIM}custom": {"assignment": "week1"}}
        claims: dict[str, Any] = {"sub": f"sub-{student}", "email": f"{student}@example.edu", **custom, **more}
        assert server.browser().launch(platform, **claims).status_code == 302


def deliver(server: LtiServer) -> None:
    server.outbox.collect()
    server.run(server.outbox.send())


def make_due(server: LtiServer) -> None:
    for score in server.tool.store.rows(SCORES):
        server.tool.store.change(SCORES, {"id": score.id}, due=0)


def test_points_arrive_with_all_that_the_standard_asks_for(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform)
    when = datetime(2026, 11, 30, 10, tzinfo=UTC)
    grades.points, grades.arrival = {"ada": 7.5}, Arrival(3, "ada", "week1", 1, when, "", Stage.GRADED, {})
    deliver(server)
    (score,) = platform.arrived
    timestamp = score.pop("timestamp")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", timestamp)
    assert score == {
        "userId": "sub-ada",
        "scoreGiven": 7.5,
        "scoreMaximum": 10.0,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
        "submission": {"submittedAt": "2026-11-30T10:00:00+00:00"},
        "comment": f"Feedback: {server.address}/submissions/3",
    }
    assert platform.line_items["1"]["resourceId"] == "week1"
    assert platform.line_items["1"]["scoreMaximum"] == 10.0


def test_only_what_differs_is_sent(server: LtiServer, platform: PlatformDouble, grades: Grades) -> None:
    come(server, platform, "ada", "emmy")
    grades.points = {"ada": 7, "emmy": 8}
    for _ in range(3):
        deliver(server)
    grades.points = {"ada": 7, "emmy": 9}
    deliver(server)
    sent = [(score["userId"], score["scoreGiven"]) for score in platform.arrived]
    assert sent == [("sub-ada", 7), ("sub-emmy", 8), ("sub-emmy", 9)]
    assert [len(platform.line_items), server.outbox.missing()] == [1, []]


def test_a_column_that_is_there_is_used(server: LtiServer, platform: PlatformDouble, grades: Grades) -> None:
    column = {"id": f"{platform.address}/lineitems/9/lineitem?type_id=1", "resourceId": "week1", "label": "Week 1"}
    platform.line_items["9"] = column
    come(server, platform)
    grades.points = {"ada": 7}
    deliver(server)
    assert list(platform.scores) == [("9", "sub-ada")]


def test_a_link_with_a_column_of_its_own_uses_that(server: LtiServer, platform: PlatformDouble, grades: Grades) -> None:
    endpoint = {"lineitem": f"{platform.address}/lineitems/5/lineitem?type_id=1", "scope": [f"{AGS}score"]}
    claims = {
        f"{CLAIM}custom": {"assignment": "week1"},
        "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": endpoint,
    }
    server.browser().launch(platform, **claims)  # type: ignore[arg-type]
    grades.points = {"ada": 7}
    deliver(server)
    assert list(platform.scores) == [("5", "user-1")]
    assert not [request for request in platform.requests if request.path == "/lineitems"]


def test_a_student_in_two_courses_of_a_platform_gets_points_in_both(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    server.confirm_course(platform, "course-2")
    for context in ("course-1", "course-2"):
        address = f"{platform.address}/lineitems/{context}/lineitem"
        endpoint = {"https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": {"lineitem": address}}
        come(server, platform, **{f"{CLAIM}context": {"id": context}}, **endpoint)
    grades.points = {"ada": 7}
    deliver(server)
    assert set(platform.scores) == {("course-1", "sub-ada"), ("course-2", "sub-ada")}
    server.tool.remove_course(1)
    grades.points = {"ada": 8}
    deliver(server)
    assert [platform.scores[name, "sub-ada"]["scoreGiven"] for name in ("course-1", "course-2")] == [7, 8]
    assert server.outbox.missing() == []


def test_a_column_is_looked_for_once_for_a_class(server: LtiServer, platform: PlatformDouble, grades: Grades) -> None:
    come(server, platform, "ada", "emmy", "kurt")
    grades.points = {"ada": 7, "emmy": 8, "kurt": 9}
    deliver(server)
    assert len(platform.arrived) == 3
    assert [request.method for request in platform.requests if request.path == "/lineitems"] == ["GET", "POST"]


def test_where_no_points_are_shown_none_go_out_before_they_are_published(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform)
    grades.points, grades.rules = {"ada": 7}, AssignmentRules(serving=Serving(before=Detail.NOTHING))
    deliver(server)
    assert platform.arrived == []
    grades.publication = Publication(1, "", "", 12.0, {"ada": PublishedPoints({}, 6.0)})
    deliver(server)
    assert [(score["scoreGiven"], score["scoreMaximum"]) for score in platform.arrived] == [(6.0, 12.0)]


def test_what_waits_for_a_person_is_not_said_to_be_final(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform)
    grades.points, grades.waits = {"ada": 7}, ["why"]
    deliver(server)
    assert platform.arrived[0]["gradingProgress"] == "PendingManual"


@pytest.mark.parametrize(
    "problem", [Answer(429), Answer(502), Answer(503), Answer(504), Answer(500), Answer(401), Answer(0)]
)
def test_points_are_sent_again_with_patience(
    server: LtiServer, platform: PlatformDouble, grades: Grades, problem: Answer
) -> None:
    come(server, platform)
    grades.points, platform.planned = {"ada": 7}, [problem, problem, None]
    deliver(server)
    (score,) = server.outbox.missing()
    assert (score.state, score.tries) == ("waiting", 1)
    assert 10 <= score.due - time.time() <= 15
    deliver(server)
    assert platform.planned == [problem, None]  # not yet
    for _ in range(2):
        make_due(server)
        deliver(server)
    assert len(platform.arrived) == 1
    assert server.outbox.missing() == []


def test_a_token_that_ended_early_is_replaced(server: LtiServer, platform: PlatformDouble, grades: Grades) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    deliver(server)
    platform.tokens.clear()
    grades.points = {"ada": 8}
    deliver(server)
    make_due(server)
    deliver(server)
    assert [score["scoreGiven"] for score in platform.arrived] == [7, 8]


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_without_a_token_all_points_wait(
    server: LtiServer, platform: PlatformDouble, grades: Grades, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """It is nobody's points that the platform refuses, and one question is enough."""
    come(server, platform, "ada", "emmy")
    grades.points = {"ada": 7, "emmy": 8}
    with monkeypatch.context() as patch:
        patch.setattr(platform, "give_token", lambda _request: Answer(status))
        deliver(server)
    assert [score.state for score in server.outbox.missing()] == ["waiting", "waiting"]
    assert "It gives no token. It answers" in server.outbox.missing()[0].problem
    assert len([request for request in platform.requests if request.path == "/token"]) == 1
    make_due(server)
    deliver(server)
    assert len(platform.arrived) == 2


def test_what_a_platform_refuses_stops_nobody_else_and_is_shown(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform, "ada", "emmy")
    grades.points, platform.planned = {"ada": 7, "emmy": 8}, [Answer(400)]
    deliver(server)
    assert [score["userId"] for score in platform.arrived] == ["sub-emmy"]
    with server.signed_in("prof") as prof:
        page = prof.get("/platforms").text
        assert "Ada Lovelace (ada)" in page
        assert "It answers 400 Bad Request." in page
        prof.post("/platforms", data={**token_in(page), "decision": "send-again", "key": ""})
    deliver(server)
    assert len(platform.arrived) == 2
    assert server.outbox.missing() == []


def test_points_that_arrived_before_we_were_cut_off_are_not_there_twice(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    """They go out again with the time that they had, and a conflict then means that they are there."""
    come(server, platform)
    grades.points = {"ada": 7}
    deliver(server)
    server.tool.store.change(SCORES, {}, state="waiting")  # as if it had never been written down
    deliver(server)
    assert server.outbox.missing() == []
    assert len(platform.arrived) == 1


def test_points_of_a_person_on_the_platform_are_not_overwritten_without_being_asked(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    server.outbox.collect()
    later = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    platform.scores["1", "sub-ada"] = {"userId": "sub-ada", "scoreGiven": 9, "scoreMaximum": 10, "timestamp": later}
    server.run(server.outbox.send())
    (score,) = server.outbox.missing()
    assert score.state == "refused"
    assert "newer" in score.problem


def test_points_change_while_they_go_out(
    server: LtiServer, platform: PlatformDouble, grades: Grades, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    server.outbox.collect()
    take = platform.take_score

    def take_while_they_change(*arguments: Any) -> Answer:
        grades.points = {"ada": 8}
        server.outbox.collect()
        return take(*arguments)

    monkeypatch.setattr(platform, "take_score", take_while_they_change)
    server.run(server.outbox.send())
    monkeypatch.setattr(platform, "take_score", take)
    deliver(server)
    assert [score["scoreGiven"] for score in platform.arrived] == [7, 8]


def test_a_course_that_is_not_confirmed_gets_no_points(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    server.tool.store.change(COURSES, {}, is_confirmed=0)
    deliver(server)
    assert platform.arrived == []


def test_a_column_at_a_private_address_gets_nothing(
    server: LtiServer, platform: PlatformDouble, grades: Grades
) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    platform.line_items["1"] = {"id": "https://10.0.0.1/1", "resourceId": "week1"}
    deliver(server)
    assert "private address" in server.outbox.missing()[0].problem


@pytest.mark.parametrize("address", ["http://a.example.org/1", "file:///etc/passwd", "https://a.edu/\ud800", 5, None])
def test_a_column_without_an_address_is_not_kept(
    server: LtiServer, platform: PlatformDouble, grades: Grades, address: object
) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    platform.line_items["1"] = {"id": address, "resourceId": "week1"}
    deliver(server)
    assert server.outbox.missing()[0].problem == "It does not say where its column for points is."
    platform.line_items.clear()
    make_due(server)
    deliver(server)
    assert len(platform.arrived) == 1


def test_the_sender_goes_on_whatever_happens(
    server: LtiServer, platform: PlatformDouble, grades: Grades, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    come(server, platform)
    grades.points = {"ada": 7}
    monkeypatch.setattr("grader.serving.lti.outbox.BREATH", 0.01)
    monkeypatch.setattr("grader.serving.lti.outbox.LOOK_AGAIN", 0.01)
    failures = [RuntimeError("once")]
    collect = server.outbox.collect

    def collect_at_last() -> None:
        if failures:
            raise failures.pop()
        collect()

    monkeypatch.setattr(server.outbox, "collect", collect_at_last)

    async def run() -> None:
        task = asyncio.create_task(server.outbox.run())
        while not platform.arrived:
            await asyncio.sleep(0.01)
        task.cancel()

    server.run(run())
    assert len(platform.arrived) == 1


# --- quirks ---


def test_canvas_makes_no_new_submission_and_says_403_when_it_is_too_much(tmp_path: Path, grades: Grades) -> None:
    with (
        running(PlatformDouble(issuer="https://canvas.instructure.com")) as canvas,
        server_of({"canvas": canvas}, tmp_path) as server,
    ):
        come(server, canvas)
        limit = Answer(403, b"403 Forbidden (Rate Limit Exceeded)", headers={"X-Rate-Limit-Remaining": "0.0"})
        grades.points, canvas.planned = {"ada": 7}, [limit, Answer(403)]
        deliver(server)
        assert server.outbox.missing()[0].state == "waiting"
        make_due(server)
        deliver(server)
        assert server.outbox.missing()[0].state == "refused"
        server.outbox.try_again()
        deliver(server)
        assert canvas.arrived[0][CANVAS] == {"new_submission": False}


def test_blackboard_and_brightspace_say_why() -> None:
    from types import SimpleNamespace

    unknown: Any = SimpleNamespace(code=400, body=b'{"message": "User could not be found"}', headers={})
    assert "does not know this student" in PRODUCTS["blackboard"].explain(unknown)
    refused: Any = SimpleNamespace(code=403, body=b"", headers={})
    assert "enrolled" in PRODUCTS["brightspace"].explain(refused)


def test_brightspace_has_one_audience_for_tokens(tmp_path: Path, grades: Grades) -> None:
    with (
        running(PlatformDouble(issuer="https://campus.brightspace.com")) as brightspace,
        server_of({"brightspace": brightspace}, tmp_path) as server,
    ):
        come(server, brightspace)
        grades.points = {"ada": 7}
        audiences = []

        def give_token(request: Any) -> Answer:
            audiences.append(jwt.decode(request.form["client_assertion"], options={"verify_signature": False})["aud"])
            return Answer(400)

        brightspace.give_token = give_token  # type: ignore[method-assign]
        deliver(server)
        assert set(audiences) == {"https://api.brightspace.com/auth/token"}


@pytest.mark.parametrize(
    ("code", "url", "family"),
    [
        ("canvas", "", "canvas"),
        ("", "https://canvas.instructure.com", "canvas"),
        ("BlackboardLearn", "", "blackboard"),
        ("desire2learn", "", "brightspace"),
        ("moodle", "https://moodle.example.edu", "moodle"),
        ("", "https://notinstructure.com", ""),
        ("", "https://instructure.com.evil.example.org", ""),
        ("sakai", "https://sakai.example.edu", ""),
    ],
)
def test_the_product_is_known_by_its_name_or_its_address(code: str, url: str, family: str) -> None:
    assert find_family(code, url) == family


# --- our keys ---


def test_keys_change_without_a_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new key is published for a day before it signs, and the old one for a week after."""
    tool_keys, moment = ToolKeys(tmp_path), datetime.now(UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, _zone: Any = None) -> datetime:  # type: ignore[override]
            return moment

    monkeypatch.setattr(keys, "datetime", Clock)
    (first,) = tool_keys.current()
    second = tool_keys.add()
    published = [[key.kid for key in tool_keys.current()]]
    signing = [tool_keys.signing_key().kid]
    for days in (0.9, 1.1, 6.9, 7.1):
        later = moment
        moment = datetime.now(UTC) + timedelta(days=days)
        published.append([key.kid for key in tool_keys.current()])
        signing.append(tool_keys.signing_key().kid)
        del later
    both = [first.kid, second.kid]
    assert published == [both, both, both, both, [second.kid]]
    assert signing == [first.kid, first.kid, second.kid, second.kid, second.kid]


def test_keys_are_published_without_their_secret_and_kept_from_others(server: LtiServer) -> None:
    (published,) = httpx.get(f"{server.address}/lti/jwks").json()["keys"]
    assert set(published) == {"kty", "n", "e", "kid", "alg", "use"}
    assert (server.course.root / "lti_keys.json").stat().st_mode & 0o077 == 0
    # The example of RFC 7638.
    n = (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj"
        "hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvR"
        "L5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    )
    from jwt.algorithms import RSAAlgorithm

    public: Any = RSAAlgorithm.from_jwk({"kty": "RSA", "n": n, "e": "AQAB"})

    class Private:
        def public_key(self) -> Any:
            return public

    described = keys._describe(Private(), datetime.now(UTC))  # type: ignore[arg-type]
    assert described.kid == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def test_addresses_below_others_keep_their_query() -> None:
    assert below("https://a.example.org/1/lineitem?type_id=3", "scores") == (
        "https://a.example.org/1/lineitem/scores?type_id=3"
    )
    assert below("https://a.example.org/items", resource_id="a b") == "https://a.example.org/items?resource_id=a+b"


def test_an_answer_that_is_too_large_is_none(server: LtiServer, platform: PlatformDouble) -> None:
    platform.instead = Answer(200, b" " * (platform_requests.MOST_BYTES + 1))

    async def ask() -> None:
        await server.tool.client.fetch_json(f"{platform.address}/jwks")

    with pytest.raises(PlatformError):
        server.run(ask())


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX: y", 5, None, "x" * 9000])
def test_a_token_that_is_none_is_not_used(
    server: LtiServer, platform: PlatformDouble, grades: Grades, token: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(server, platform)
    grades.points = {"ada": 7}
    monkeypatch.setattr(platform, "give_token", lambda _request: Answer(200, {"access_token": token}))
    deliver(server)
    assert server.outbox.missing()[0].problem == "It gives no token that can be used."
