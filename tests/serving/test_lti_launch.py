"""Launches from a platform: who gets in and as whom, and every attack that we know of."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from lti_platform import (
    CLAIM,
    ENDPOINT,
    INSTRUCTOR,
    LEARNER,
    MEMBERS,
    MEMBERSHIP,
    NRPS,
    OF_MEMBERS,
    REMOVED,
    Answer,
    PlatformDouble,
    codes_in,
    private_key,
    running,
)
from lti_server import LtiServer, server_of
from sqlalchemy.exc import IntegrityError

from grader.errors import CourseError
from grader.serving.lti import platform_requests, registrations
from grader.serving.lti.launches import _cookie
from grader.serving.lti.registrations import LtiSettings
from grader.serving.lti.store import COURSES, NONCES, PEOPLE, REGISTRATIONS
from support.served import token_in

TA = "http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant"


@pytest.fixture
def platform() -> Iterator[PlatformDouble]:
    with running(PlatformDouble()) as platform:
        yield platform


@pytest.fixture
def server(tmp_path: Path, platform: PlatformDouble) -> Iterator[LtiServer]:
    with server_of({"campus": platform}, tmp_path) as server:
        yield server


def refused(answer: httpx.Response) -> str:
    """The code of a refusal, which has a page with one sentence for the person."""
    assert answer.status_code >= 400, answer.headers
    (code,) = codes_in(answer.text)
    assert "<h1>Sorry</h1>" in answer.text
    return code


# --- who gets in ---


def test_a_student_comes_from_a_course_and_is_signed_in(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    answer = browser.launch(platform)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/#"), answer.text
    assert "Ada Lovelace" in browser.client.get("/").text


def test_a_launch_asks_for_what_the_standard_says_and_returns_hints_as_they_are(
    server: LtiServer, platform: PlatformDouble
) -> None:
    asked = server.browser().log_in(platform)
    assert (asked.pop("state"), asked.pop("nonce")) != ("", "")
    assert asked == {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": "tool-1",
        "redirect_uri": f"{server.address}/lti/launch",
        "login_hint": "hint +/=&",
        "lti_message_hint": "message&hint=1",
    }


def test_a_login_may_be_posted(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    answer = browser.client.post("/lti/login", data=platform.login(server.target))
    assert answer.headers["Location"].startswith(f"{platform.address}/authorize?")


@pytest.mark.parametrize(
    ("roles", "place"),
    [
        ([INSTRUCTOR], "/class"),
        ([INSTRUCTOR, TA], "/class"),
        ([LEARNER], "/#"),
        ([], "/#"),
        (["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"], "/#"),
        (["http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"], "/#"),
        (["https://evil.example.org/membership#Instructor"], "/#"),
    ],
)
def test_roles_in_the_course_decide_what_somebody_sees(
    server: LtiServer, platform: PlatformDouble, roles: list[str], place: str
) -> None:
    browser = server.browser()
    assert browser.launch(platform, roles=roles).headers["Location"] == place
    assert browser.client.get("/class").status_code == (200 if place == "/class" else 404)


def test_an_assistant_whom_canvas_calls_an_instructor_too_changes_nothing(
    server: LtiServer, platform: PlatformDouble
) -> None:
    browser = server.browser()
    browser.launch(platform, roles=[INSTRUCTOR, TA])
    page = browser.client.get("/platforms")
    assert page.status_code == 200
    form = {**token_in(page.text), "decision": "confirm-course", "key": "1"}
    assert browser.client.post("/platforms", data=form).status_code == 404


def test_a_test_student_is_refused_with_a_sentence(server: LtiServer, platform: PlatformDouble) -> None:
    roles = [LEARNER, "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"]
    answer = server.browser().launch(platform, roles=roles)
    assert refused(answer) == "test-student"
    assert "A test student of your learning platform cannot submit here." in answer.text


@pytest.mark.parametrize(
    ("claims", "student"),
    [
        ({"email": "EMMY@example.edu"}, "Emmy Noether"),
        ({"email": "", f"{CLAIM}custom": {"username": "kgoedel"}}, "Kurt Gödel"),
        ({"email": "", f"{CLAIM}custom": {"username": "kurt"}}, "Kurt Gödel"),
        ({"email": "", f"{CLAIM}custom": {"canvas_id": "77"}}, "Kurt Gödel"),
        ({"email": "", f"{CLAIM}lis": {"person_sourcedid": "4711"}}, "Emmy Noether"),
        ({"email": "home@example.org", f"{CLAIM}custom": {"username": "emmy"}}, "Emmy Noether"),
        ({"email": "", "name": "Ada Lovelace"}, ""),
        ({"email": "", f"{CLAIM}custom": {"username": "$User.username"}}, ""),
        ({"email": "ada@example.edu", f"{CLAIM}custom": {"username": "emmy"}}, ""),  # which of the two?
        ({"email": "", f"{CLAIM}custom": {"canvas_id": "4711"}}, ""),
    ],
)
def test_a_student_is_known_by_ids_or_address_and_never_by_name(
    server: LtiServer, platform: PlatformDouble, claims: dict[str, Any], student: str
) -> None:
    browser = server.browser()
    answer = browser.launch(platform, sub="new", **claims)
    if student:
        assert student in browser.client.get("/").text
    else:
        assert refused(answer).startswith("person-")
        assert browser.client.get("/").status_code == 401


def test_an_instructor_says_who_somebody_is(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    refused(browser.launch(platform, sub="new", email="", name="E. Noether"))
    with server.signed_in("prof") as prof:
        page = prof.get("/platforms").text
        assert "E. Noether came from campus." in page
        assert "1 person came from a platform, and is not known yet" in prof.get("/class").text
        key = server.tool.people.unknown()[0].id
        form = {**token_in(page), "decision": "link-person", "key": str(key), "student": "emmy"}
        assert prof.post("/platforms", data=form).status_code == 200
        assert prof.post("/platforms", data={**form, "student": "ada"}).status_code == 409
    browser.launch(platform, sub="new", email="", name="E. Noether")
    assert "Emmy Noether" in browser.client.get("/").text


def test_a_student_who_is_known_stays_the_same_whatever_the_address(
    server: LtiServer, platform: PlatformDouble
) -> None:
    browser = server.browser()
    browser.launch(platform)
    browser.launch(platform, email="emmy@example.edu")
    assert "Ada Lovelace" in browser.client.get("/").text


def test_nobody_else_becomes_a_student_who_has_come_before(server: LtiServer, platform: PlatformDouble) -> None:
    server.browser().launch(platform)
    assert refused(server.browser().launch(platform, sub="another")).startswith("person-")


def test_a_student_who_left_the_roster_is_no_longer_signed_in(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    browser.launch(platform)
    (server.course.root / "roster.csv").write_text("id\nemmy\n")
    assert browser.client.get("/").status_code == 401


def test_a_course_waits_until_an_instructor_has_confirmed_it(server: LtiServer, platform: PlatformDouble) -> None:
    """Anybody may teach another course on the same platform, and would be an instructor here."""
    other: dict[str, Any] = {f"{CLAIM}context": {"id": "course-2", "title": "Knitting"}, "roles": [INSTRUCTOR]}
    browser = server.browser()
    assert refused(browser.launch(platform, **other)) == "course-2"
    assert browser.client.get("/class").status_code == 401
    with server.signed_in("prof") as prof:
        page = prof.get("/platforms").text
        assert "Course: Knitting" in page
        prof.post("/platforms", data={**token_in(page), "decision": "confirm-course", "key": "2"})
    assert browser.launch(platform, **other).headers["Location"] == "/class"


def test_whoever_came_from_a_course_that_is_removed_is_signed_out(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    browser.launch(platform, roles=[INSTRUCTOR])
    assert browser.client.get("/class").status_code == 200
    with server.signed_in("prof") as prof:
        form = {**token_in(prof.get("/platforms").text), "decision": "remove-course", "key": "1"}
        prof.post("/platforms", data=form)
    assert browser.client.get("/class").status_code == 401
    assert [server.tool.store.rows(table) for table in (COURSES, PEOPLE)] == [[], []]


def test_whoever_came_from_a_platform_that_is_gone_from_the_settings_is_signed_out(
    server: LtiServer, platform: PlatformDouble
) -> None:
    browser = server.browser()
    browser.launch(platform, roles=[INSTRUCTOR])
    by_hand: Any = server.tool.registrations._by_hand
    by_hand.clear()
    assert browser.client.get("/class").status_code == 401


def test_a_role_is_that_of_the_course_somebody_came_from(server: LtiServer, platform: PlatformDouble) -> None:
    """Whoever teaches in one course of a platform may be a student in another, in two browsers at once."""
    server.confirm_course(platform, "course-2")
    other: dict[str, Any] = {f"{CLAIM}context": {"id": "course-2"}}
    teacher, student = server.browser(), server.browser()
    assert teacher.launch(platform, roles=[INSTRUCTOR]).headers["Location"] == "/class"
    assert student.launch(platform, **other).headers["Location"] == "/#"
    assert [browser.client.get("/class").status_code for browser in (teacher, student)] == [200, 404]
    server.tool.remove_course(1)
    assert [browser.client.get("/").status_code for browser in (teacher, student)] == [401, 200]


def test_a_student_is_one_person_on_a_platform_even_for_the_database(
    server: LtiServer, platform: PlatformDouble
) -> None:
    server.browser().launch(platform)
    server.browser().launch(platform, sub="another")
    (another,) = server.tool.people.unknown()
    with pytest.raises(IntegrityError):
        server.tool.store.change(PEOPLE, {"id": another.id}, student="ada")
    assert not server.tool.people.link(another.id, "ada")
    assert server.tool.people.link(another.id, "emmy")


def test_a_session_is_never_another_persons(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    browser.launch(platform, roles=[INSTRUCTOR])
    server.tool.store.remove(PEOPLE)
    server.browser().launch(platform, sub="another", roles=[INSTRUCTOR])
    assert browser.client.get("/class").status_code == 401


def test_signing_out_ends_the_session(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    browser.launch(platform)
    copied = dict(browser.client.cookies)
    browser.client.post("/leave", data=token_in(browser.client.get("/").text))
    assert httpx.get(server.address, cookies=copied).status_code == 401


def test_a_link_names_its_assignment(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    assert browser.launch(platform, f"{server.target}?assignment=week1").headers["Location"] == "/#week1"
    custom: dict[str, Any] = {f"{CLAIM}custom": {"assignment": "week2"}}
    assert browser.launch(platform, **custom).headers["Location"] == "/#week2"
    assert browser.launch(platform, f"{server.target}?assignment=../../x").headers["Location"] == "/#"


# --- frames and cookies ---


def test_in_a_frame_a_button_opens_a_window(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    login = platform.login(server.target, login_hint='"><script>alert(1)</script>')
    answer = browser.client.post("/lti/login", data=login, headers={"Sec-Fetch-Dest": "iframe"})
    assert answer.status_code == 200
    assert 'target="_blank"' in answer.text
    assert "<script>alert" not in answer.text
    assert "frame-ancestors https:" in answer.headers["Content-Security-Policy"]
    assert not [name for name in browser.client.cookies if name.startswith("lti_")]


def test_a_state_is_kept_in_a_frame_only_by_a_partitioned_cookie(tmp_path: Path, platform: PlatformDouble) -> None:
    with server_of({"campus": platform}, tmp_path, secure=True) as server:
        answer = httpx.get(f"{server.address}/lti/login", params=platform.login(server.target))
        (cookie,) = [text for text in answer.headers.get_list("Set-Cookie") if text.startswith("lti_")]
        assert cookie.endswith("; Path=/lti/; Max-Age=600; HttpOnly; Secure; SameSite=None; Partitioned")


def test_pages_of_the_course_are_in_no_frame(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    browser.launch(platform)
    assert "frame-ancestors 'none'" in browser.client.get("/").headers["Content-Security-Policy"]


# --- attacks ---


def test_a_launch_counts_once(server: LtiServer, platform: PlatformDouble) -> None:
    """Even in the same browser, with the cookie that was there before."""
    browser = server.browser()
    asked = browser.log_in(platform)
    cookies = dict(browser.client.cookies)
    token = platform.sign(browser.claims(platform, asked["nonce"]))
    assert browser.send(asked["state"], token).status_code == 302
    assert refused(browser.send(asked["state"], token)) == "state"
    form = {"state": asked["state"], "id_token": token}
    again = httpx.post(f"{server.address}/lti/launch", data=form, cookies=cookies)
    assert refused(again) == "token-replayed"


def test_another_browser_cannot_use_a_state(server: LtiServer, platform: PlatformDouble) -> None:
    browser, victim = server.browser(), server.browser()
    asked = browser.log_in(platform)
    token = platform.sign(browser.claims(platform, asked["nonce"]))
    assert refused(victim.send(asked["state"], token)) == "state"
    while _cookie(victim.log_in(platform)["state"]) != _cookie(asked["state"]):
        pass  # until it has a state of its own under the same name
    assert refused(victim.send(asked["state"], token)) == "state"
    assert browser.send(asked["state"], token).status_code == 302


def test_a_nonce_belongs_to_its_state(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    first = browser.log_in(platform)
    second = browser.log_in(platform)
    token = platform.sign(browser.claims(platform, first["nonce"]))
    assert refused(browser.send(second["state"], token)) in ("token-nonce", "state")


def test_a_state_that_is_too_old_is_refused(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = server.browser()
    asked = browser.log_in(platform)
    later = time.time() + 601
    monkeypatch.setattr("tornado.web.time.time", lambda: later)
    assert refused(browser.send(asked["state"], "")) == "state"


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS384", "RS512", "PS256"])
def test_only_one_algorithm_signs(server: LtiServer, platform: PlatformDouble, algorithm: str) -> None:
    browser = server.browser()
    asked = browser.log_in(platform)
    keys = {"none": None, "HS256": "a secret of at least thirty-two bytes"}
    with pytest.MonkeyPatch.context() as patch:  # nobody else would sign so
        patch.setattr("jwt.algorithms.HMACAlgorithm.prepare_key", lambda _self, key: key.encode())
        token = jwt.encode(
            browser.claims(platform, asked["nonce"]), keys.get(algorithm, platform.key),  # type: ignore[arg-type]
            algorithm=algorithm, headers={"kid": platform.kid},
        )  # fmt: skip
    assert refused(browser.send(asked["state"], token)) == "token-algorithm"


def test_a_secret_made_of_the_public_key_signs_nothing(server: LtiServer, platform: PlatformDouble) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    browser = server.browser()
    asked = browser.log_in(platform)
    pem = platform.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jwt.algorithms.HMACAlgorithm.prepare_key", lambda _self, key: key)
        token = jwt.encode(browser.claims(platform, asked["nonce"]), pem, "HS256", headers={"kid": platform.kid})
    assert refused(browser.send(asked["state"], token)) == "token-algorithm"


def test_a_key_at_another_host_is_not_asked_for(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    with running(PlatformDouble(key=private_key(1), kid="key-2")) as evil:
        asked = browser.log_in(platform)
        headers = {"jku": f"{evil.address}/jwks", "x5u": f"{evil.address}/jwks", "jwk": {"kty": "RSA"}}
        claims = browser.claims(platform, asked["nonce"])
        token = platform.sign(claims, key=evil.key, headers={**headers, "kid": "key-2"})
        assert refused(browser.send(asked["state"], token)) == "token-kid"
        assert evil.requests == []


def test_another_key_of_the_same_name_is_refused(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    asked = browser.log_in(platform)
    token = platform.sign(browser.claims(platform, asked["nonce"]), key=private_key(1))
    assert refused(browser.send(asked["state"], token)) == "token-invalid"


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_token_that_was_changed_is_refused(server: LtiServer, platform: PlatformDouble, part: int) -> None:
    browser = server.browser()
    asked = browser.log_in(platform)
    parts = platform.sign(browser.claims(platform, asked["nonce"])).split(".")
    parts[part] = parts[part][:10] + ("A" if parts[part][10] != "A" else "B") + parts[part][11:]
    assert refused(browser.send(asked["state"], ".".join(parts))).startswith("token-")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"aud": "another tool"}, "token-invalidaudience"),
        ({"aud": ["tool-1", "another"]}, "token-azp"),
        ({"aud": ["tool-1", "another"], "azp": "another"}, "token-azp"),
        ({"azp": "another"}, "token-azp"),
        ({"iss": "https://evil.example.org"}, "token-invalidissuer"),
        ({"exp": int(time.time()) - 120}, "token-expired"),
        ({"iat": int(time.time()) + 7200}, "token-immature"),
        ({"nbf": int(time.time()) + 7200}, "token-immature"),
        ({"nonce": "another"}, "token-nonce"),
        ({"nonce": 5}, "token-nonce"),
        ({"nonce": REMOVED}, "token-missingrequiredclaim"),
        ({"sub": "x" * 256}, "token-sub"),
        ({"sub": ""}, "token-sub"),
        ({"sub": "user\0"}, "token-sub"),
        ({"sub": "\ud800"}, "token-sub"),
        ({f"{CLAIM}context": {"id": "\ud800"}}, "token-id"),
        ({MEMBERS: {"context_memberships_url": "https://a.example.org/\ud800"}}, "token-context_memberships_url"),
        ({ENDPOINT: {"lineitem": "https://a.example.org/\ud800"}}, "token-lineitem"),
        ({f"{CLAIM}deployment_id": "another"}, "token-deployment_id"),
        ({f"{CLAIM}roles": "Instructor"}, "token-roles"),
        ({f"{CLAIM}roles": [{"a": 1}]}, "token-roles"),
        ({f"{CLAIM}version": "1.1"}, "token-version"),
        ({f"{CLAIM}message_type": "LtiStartProctoring"}, "token-message_type"),
        ({f"{CLAIM}target_link_uri": "https://evil.example.org/"}, "token-target_link_uri"),
    ],
)
def test_each_claim_is_checked(server: LtiServer, platform: PlatformDouble, change: dict[str, Any], code: str) -> None:
    assert refused(server.browser().launch(platform, **change)) == code


def test_odd_characters_in_names_and_titles_stop_nobody(server: LtiServer, platform: PlatformDouble) -> None:
    context: dict[str, Any] = {f"{CLAIM}context": {"id": "course-1", "title": "\ud800\0\nCourse"}}
    custom: dict[str, Any] = {f"{CLAIM}custom": {"assignment": "\ud800", "username": "\ud800"}}
    roles = [LEARNER, "\ud800"]
    answer = server.browser().launch(platform, name="\ud800\0", roles=roles, **context, **custom)
    assert answer.status_code == 302


def test_several_audiences_are_fine_with_the_right_party(server: LtiServer, platform: PlatformDouble) -> None:
    assert server.browser().launch(platform, aud=["tool-1", "another"], azp="tool-1").status_code == 302


def test_clocks_may_differ_a_little(server: LtiServer, platform: PlatformDouble) -> None:
    now = int(time.time())
    assert server.browser().launch(platform, iat=now + 40, exp=now + 340).status_code == 302
    assert server.browser().launch(platform, iat=now - 340, exp=now - 40).status_code == 302


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example.org/",
        "{address}.evil.example.org/",
        "{address}@evil.example.org/",
        "//evil.example.org/",
        "javascript:alert(1)",
        "{address}/\\evil",
        "{address}/lti/launch\r\nLocation: https://evil.example.org",
        "",
    ],
)
def test_a_link_that_leads_elsewhere_is_refused(server: LtiServer, platform: PlatformDouble, target: str) -> None:
    login = platform.login(target.format(address=server.address))
    assert refused(httpx.get(f"{server.address}/lti/login", params=login)) == "target"


@pytest.mark.parametrize("rest", [".evil.example.org/", "@evil.example.org/", ":8000/", "x"])
def test_an_address_that_only_begins_like_ours_is_another(server: LtiServer, rest: str) -> None:
    server.tool.address = "https://grader.example.edu"
    assert server.tool.is_ours("https://grader.example.edu/lti/launch")
    assert not server.tool.is_ours(f"https://grader.example.edu{rest}")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"iss": "https://stranger.example.org"}, "platform-unknown"),
        ({"client_id": "another"}, "platform-unknown"),
        ({"iss": ""}, "login"),
        ({"login_hint": ""}, "login"),
        ({"login_hint": "x" * 5000}, "login"),
    ],
)
def test_a_login_of_a_stranger_is_refused(
    server: LtiServer, platform: PlatformDouble, change: dict[str, str], code: str
) -> None:
    answer = httpx.get(f"{server.address}/lti/login", params={**platform.login(server.target), **change})
    assert refused(answer) == code


def test_two_platforms_with_one_issuer_are_two(tmp_path: Path) -> None:
    """All of hosted Canvas has one issuer: a token for one customer of it is nothing for another."""
    issuer = "https://canvas.instructure.com"
    with (
        running(PlatformDouble(issuer=issuer, client_id="1")) as one,
        running(PlatformDouble(issuer=issuer, client_id="2", key=private_key(1))) as two,
        server_of({"one": one, "two": two}, tmp_path) as server,
    ):
        assert server.browser().launch(one).status_code == 302
        browser = server.browser()
        asked = browser.log_in(one)
        token = two.sign(browser.claims(two, asked["nonce"]))
        assert refused(browser.send(asked["state"], token)) == "token-invalid"
        token = two.sign(browser.claims(one, asked["nonce"]))
        assert refused(browser.send(asked["state"], token)) == "token-invalid"
        login = {name: value for name, value in one.login(server.target).items() if name != "client_id"}
        assert refused(httpx.get(f"{server.address}/lti/login", params=login)) == "platform-ambiguous"


def test_one_sub_on_two_platforms_is_two_people(tmp_path: Path) -> None:
    with (
        running(PlatformDouble()) as one,
        running(PlatformDouble(key=private_key(1))) as two,
        server_of({"one": one, "two": two}, tmp_path) as server,
    ):
        server.browser().launch(one)
        other = server.browser()
        other.launch(two, email="emmy@example.edu")
        assert "Emmy Noether" in other.client.get("/").text


def test_no_token_is_in_a_log_or_on_a_page(
    server: LtiServer, platform: PlatformDouble, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    browser = server.browser()
    asked = browser.log_in(platform)
    token = platform.sign(browser.claims(platform, asked["nonce"], aud="another"))
    page = browser.send(asked["state"], token).text
    browser.launch(platform)
    said = [record.getMessage() for record in caplog.records if record.name.startswith(("grader", "tornado"))]
    assert "LTI: refused: token-invalidaudience" in said
    logged = "\n".join(said) + "".join(capfd.readouterr()) + page
    parts = token.split(".")
    assert not [part for part in (*parts, asked["state"], asked["nonce"], "ada@example.edu") if part in logged]


def test_no_token_of_services_or_registrations_is_in_a_log(
    server: LtiServer, platform: PlatformDouble, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither when all is well, nor when a platform or a request is broken."""
    caplog.set_level(logging.DEBUG)
    with running(PlatformDouble(client_id="new")) as stranger:
        pages = [register(server, stranger, registration_token="a-secret-token").text]
        url = f"{server.tool.url(f'register/{server.tool.registration_code}')}?registration_token=a-secret-token"
        for configuration in ("https://localhost/", "%FF"):
            pages.append(httpx.post(f"{url}&openid_configuration={configuration}").text)
        stranger.instead = Answer(500)
        pages.append(register(server, stranger, registration_token="a-secret-token").text)
    row = server.tool.registrations.find(platform.name, platform.client_id)
    for answer in (None, Answer(401), Answer(200, b"no JSON")):
        if answer:
            platform.answer_members = lambda _request, answer=answer: answer  # type: ignore[method-assign, misc]
        with contextlib.suppress(platform_requests.PlatformError):
            call = server.tool.client.call(row, NRPS, "GET", f"{platform.address}/members", OF_MEMBERS)
            platform_requests.read_body(server.run(call))
    texts = [record.getMessage() for record in caplog.records if record.name.startswith(("grader", "tornado"))]
    logged = "\n".join([*texts, *capfd.readouterr(), *pages])
    assert "LTI: refused: openid_configuration" in logged
    secrets = [*platform.tokens, *(jti["jti"] for jti in platform.assertions), server.tool.registration_code]
    assert len(platform.tokens) == 2
    assert not [secret for secret in ["a-secret-token", *secrets] if secret in logged]


def test_a_flood_of_logins_fills_nothing(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    with httpx.Client(base_url=server.address) as stranger:
        for _ in range(60):
            stranger.get("/lti/login", params=platform.login(server.target))
        assert len(stranger.cookies) <= 8
    assert server.tool.store.rows(NONCES) == []
    assert browser.launch(platform).status_code == 302
    assert len(server.tool.store.rows(NONCES)) == 1


def test_nonces_are_forgotten_when_no_launch_can_use_them(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.browser().launch(platform)
    later = time.time() + 1300
    monkeypatch.setattr("grader.serving.lti.store.time.time", lambda: later)
    assert server.tool.store.use_nonce("next")
    assert len(server.tool.store.rows(NONCES)) == 1


def test_courses_of_strangers_fill_no_table(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.serving.lti.tool.MOST_COURSES_WAITING", 3)
    contexts: list[dict[str, Any]] = [{f"{CLAIM}context": {"id": f"other-{number}"}} for number in range(5)]
    codes = [refused(server.browser().launch(platform, **context)) for context in contexts]
    assert codes == ["course-2", "course-3", "course-4", "courses-wait", "courses-wait"]


# --- keys of platforms ---


def test_a_platforms_new_key_is_fetched_once(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.browser().launch(platform)
    platform.kid, platform.key = "key-2", private_key(1)
    monkeypatch.setattr(platform_requests, "ASK_AGAIN", -1.0)
    assert server.browser().launch(platform).status_code == 302
    assert server.browser().launch(platform).status_code == 302
    assert [request.path for request in platform.requests] == ["/jwks", "/jwks"]


def test_unknown_keys_do_not_make_us_ask_again_and_again(server: LtiServer, platform: PlatformDouble) -> None:
    server.browser().launch(platform)
    for number in range(5):
        browser = server.browser()
        asked = browser.log_in(platform)
        token = platform.sign(browser.claims(platform, asked["nonce"]), headers={"kid": f"made-up-{number}"})
        assert refused(browser.send(asked["state"], token)) == "token-kid"
    assert len(platform.requests) == 1


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"keys": 5}', b'{"keys": [5, {"kty": "RSA", "kid": "key-1", "n": 5}]}']
)
def test_keys_that_cannot_be_read_are_none(server: LtiServer, platform: PlatformDouble, content: bytes) -> None:
    platform.instead = Answer(200, content)
    assert refused(server.browser().launch(platform)) in ("platform-keys", "token-kid")


def test_a_platform_that_is_away_is_a_sentence(server: LtiServer, platform: PlatformDouble) -> None:
    platform.instead = Answer(503)
    answer = server.browser().launch(platform)
    assert (refused(answer), answer.status_code) == ("platform-keys", 502)


# --- platforms by hand ---


def platforms_by_hand(root: Path, *deployments: str) -> LtiSettings:
    lines = ["[lti]", 'address = "https://grader.example.edu"']
    for name, deployment in zip("ab", deployments, strict=False):
        lines += [f"[lti.platforms.{name}]", 'issuer = "https://blackboard.com"', 'client_id = "7"', deployment]
        lines += [f'{key} = "https://blackboard.com/{key}"' for key in ("login", "token", "keys")]
    (root / "course.toml").write_text("\n".join(lines))
    return registrations.read_settings(root)


def test_a_platform_with_one_client_id_for_all_is_written_down_once(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"lti\.platforms\.b: it has the issuer and the client_id of a\."):
        platforms_by_hand(tmp_path, 'deployment = "1"', 'deployment = "2"')
    (platform,) = platforms_by_hand(tmp_path, "").registrations.values()
    assert (platform.deployment, platform.family) == ("", "blackboard")


def test_another_deployment_of_a_platform_waits_until_an_instructor_has_confirmed_it(
    server: LtiServer, platform: PlatformDouble
) -> None:
    (key,) = server.tool.registrations.by_key()
    by_hand: Any = server.tool.registrations._by_hand
    by_hand[key] = replace(by_hand[key], deployment="")
    assert server.browser().launch(platform).status_code == 302
    platform.deployment = "deployment-2"
    assert refused(server.browser().launch(platform, roles=[INSTRUCTOR])) == "course-2"


# --- addresses ---


@pytest.mark.parametrize(
    "url",
    [
        "http://canvas.example.edu/keys",
        "ftp://canvas.example.edu/",
        "https://user:secret@canvas.example.edu/",
        "https://canvas.example.edu/#part",
        "https:///keys",
        "https://canvas.example.edu:port/",
        "https://canvas example.edu/",
        "http://localhost/",
        f"https://canvas.example.edu/{'x' * 1000}",
    ],
)
def test_only_plain_addresses_with_https_are_asked(url: str) -> None:
    assert registrations.find_url_problem(url, frozenset())


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"]
)
def test_no_private_address_is_asked_unless_it_is_allowed(server: LtiServer, host: str) -> None:
    client = platform_requests.PlatformClient(server.tool.keys, frozenset())

    async def ask() -> None:
        await client.fetch_json(f"https://{host}:1/")

    with pytest.raises(platform_requests.PlatformError, match="private address"):
        server.run(ask())


def test_a_name_that_leads_to_a_private_address_is_not_asked(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the address that is connected to that is checked, not one that was looked up before."""

    async def lead_home(*_: object, **__: object) -> list[tuple[int, Any]]:
        return [(2, ("127.0.0.1", int(platform.address.rpartition(":")[2])))]

    monkeypatch.setattr("tornado.netutil.DefaultLoopResolver.resolve", lead_home)
    client = platform_requests.PlatformClient(server.tool.keys, frozenset())

    async def ask() -> None:
        await client.fetch_json("https://canvas.example.edu/jwks")

    with pytest.raises(platform_requests.PlatformError, match="private address"):
        server.run(ask())
    assert platform.requests == []


def test_redirections_are_not_followed(server: LtiServer, platform: PlatformDouble) -> None:
    with running(PlatformDouble()) as other:
        platform.instead = Answer(302, headers={"Location": f"{other.address}/jwks"})
        assert refused(server.browser().launch(platform)) == "platform-keys"
        assert other.requests == []


# --- registration ---


def register(server: LtiServer, platform: PlatformDouble, method: str = "POST", **query: str) -> httpx.Response:
    configuration = {"openid_configuration": f"{platform.address}/.well-known/openid-configuration"}
    url = server.tool.url(f"register/{server.tool.registration_code}")
    return httpx.request(method, url, params={**configuration, "registration_token": "once", **query})


def test_a_platform_registers_itself_and_an_instructor_confirms_it(server: LtiServer) -> None:
    with running(PlatformDouble(client_id="new", product="moodle", key=private_key(1))) as moodle:
        asked = register(server, moodle, "GET")
        assert "Connect 127.0.0.1?" in asked.text
        assert moodle.registered == []
        assert server.tool.store.rows(REGISTRATIONS) == []
        done = register(server, moodle)
        assert "An instructor now has to confirm this platform" in done.text
        (tool,) = moodle.registered
        assert tool["authorization"] == "Bearer once"
        assert tool["redirect_uris"] == [f"{server.address}/lti/launch"]
        assert tool["jwks_uri"] == f"{server.address}/lti/jwks"
        login = httpx.get(f"{server.address}/lti/login", params=moodle.login(server.target))
        assert refused(login) == "platform-unknown"
        (row,) = server.tool.store.rows(REGISTRATIONS)
        assert (row.family, row.deployment, row.is_confirmed) == ("moodle", "deployment-1", 0)
        with server.signed_in("prof") as prof:
            page = prof.get("/platforms").text
            assert "Nobody has confirmed this platform." in page
            prof.post("/platforms", data={**token_in(page), "decision": "confirm-platform", "key": row.key})
        server.confirm_course(moodle)
        assert server.browser().launch(moodle).status_code == 302


def test_a_stranger_registers_nothing(server: LtiServer, platform: PlatformDouble) -> None:
    url = server.tool.url(f"register/{'0' * 32}")
    query = {"openid_configuration": f"{platform.address}/.well-known/openid-configuration"}
    for method in ("GET", "POST"):
        assert httpx.request(method, url, params=query).status_code == 404
    assert platform.requests == []


def test_without_a_token_none_is_sent(server: LtiServer) -> None:
    with running(PlatformDouble(client_id="new")) as platform:
        register(server, platform, registration_token="")
        assert platform.registered[0]["authorization"] is None


def test_a_token_with_a_line_break_is_not_sent(server: LtiServer) -> None:
    """It would be a header of its own."""
    with running(PlatformDouble(client_id="new")) as platform:
        assert register(server, platform, registration_token="once\r\nX-Other: yes").status_code == 200
        assert platform.registered[0]["authorization"] is None
        assert "X-Other" not in platform.requests[-1].headers


def test_no_platform_registers_by_the_name_of_another_or_over_it(server: LtiServer, platform: PlatformDouble) -> None:
    with running(PlatformDouble(client_id="new", issuer="https://canvas.instructure.com")) as liar:
        assert refused(register(server, liar)) == "issuer"
        assert liar.registered == []
    assert refused(register(server, platform)) == "platform-exists"


def test_registrations_that_wait_are_few(server: LtiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registrations, "MOST_WAITING", 1)
    with running(PlatformDouble()) as platform:
        platform.client_id = "one"
        assert register(server, platform).status_code == 200
        platform.client_id = "two"
        assert refused(register(server, platform)) == "platforms-wait"


def test_what_nobody_confirms_is_forgotten_after_a_week(
    server: LtiServer, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(PlatformDouble(client_id="new")) as stranger:
        register(server, stranger)
    other: dict[str, Any] = {f"{CLAIM}context": {"id": "course-2"}}
    refused(server.browser().launch(platform, **other))
    week, now = 7 * 24 * 3600, time.time()
    monkeypatch.setattr("grader.serving.lti.outbox.BREATH", 0.0)
    monkeypatch.setattr("grader.serving.lti.outbox.LOOK_AGAIN", 0.01)
    counts = []
    for later in (week - 60, week + 60):
        monkeypatch.setattr("grader.serving.lti.store.time.time", lambda moment=now + later: moment)
        with contextlib.suppress(TimeoutError):
            server.run(asyncio.wait_for(server.outbox.run(), 0.2))
        counts.append([len(server.tool.store.rows(table)) for table in (REGISTRATIONS, COURSES)])
    assert counts == [[1, 2], [0, 1]]


@pytest.mark.parametrize(
    "configuration", ["http://169.254.169.254/", "https://10.0.0.1/", "file:///etc/passwd", "https://localhost/"]
)
def test_a_registration_asks_no_private_address(
    server: LtiServer, platform: PlatformDouble, configuration: str
) -> None:
    assert refused(register(server, platform, openid_configuration=configuration)) == "openid_configuration"


def test_canvas_is_told_where_the_tool_appears(server: LtiServer) -> None:
    with running(PlatformDouble(client_id="new", product="canvas")) as canvas:
        register(server, canvas)
        tool = canvas.registered[0]["https://purl.imsglobal.org/spec/lti-tool-configuration"]
        assert tool["https://canvas.instructure.com/lti/privacy_level"] == "public"
        placements = {message["type"]: message["placements"] for message in tool["messages"]}
        assert placements["LtiDeepLinkingRequest"] == ["assignment_selection"]


def test_only_instructors_decide(server: LtiServer, platform: PlatformDouble) -> None:
    browser = server.browser()
    browser.launch(platform)
    assert browser.client.get("/platforms").status_code == 404
    form = {**token_in(browser.client.get("/").text), "decision": "remove-course", "key": "1"}
    assert browser.client.post("/platforms", data=form).status_code == 404
    with server.signed_in("prof") as prof:
        form = {"decision": "remove-course", "key": "1"}
        assert prof.post("/platforms", data=form).status_code == 403  # a form of another site
    assert len(server.tool.store.rows(COURSES)) == 1


def test_short_names_of_roles_are_those_of_the_course(server: LtiServer, platform: PlatformDouble) -> None:
    assert server.browser().launch(platform, roles=["Instructor"]).headers["Location"] == "/class"
    assert server.browser().launch(platform, roles=[f"{MEMBERSHIP}Mentor"]).headers["Location"] == "/#"
