"""Platforms that others have written, and one that refuses exactly what Moodle does."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration as TheirRegistration
from lti_platform import CLAIM, INSTRUCTOR, LEARNER, PICKER, Answer, PlatformDouble, private_key, running
from lti_server import Browser, LtiServer, server_of, small_course
from moodle_double import GradeItem, MoodleDouble
from selenium.webdriver import Chrome
from test_lti_services import Grades, come, deliver, make_due

from grader.serving.lti.store import SCORES
from support.accessibility import violations
from support.chromium import Page

# --- Moodle ---


@pytest.fixture
def moodle() -> Iterator[MoodleDouble]:
    with running(MoodleDouble(users={"sub-ada", "sub-emmy"})) as moodle:
        assert isinstance(moodle, MoodleDouble)
        yield moodle


@pytest.fixture
def grades(monkeypatch: pytest.MonkeyPatch) -> Grades:
    grades = Grades()
    monkeypatch.setattr("grader.serving.lti.outbox.read_grades", lambda *_, **__: grades)
    return grades


@pytest.fixture
def server(tmp_path: Path, moodle: MoodleDouble) -> Iterator[LtiServer]:
    with server_of({"moodle": moodle}, tmp_path, family="moodle") as server:
        yield server


def of_link(moodle: MoodleDouble) -> dict[str, Any]:
    """Where points go, as Moodle says it in a launch."""
    scopes = ("lineitem", "lineitem.readonly", "score", "result.readonly")
    endpoint = {"scope": [f"https://purl.imsglobal.org/spec/lti-ags/scope/{scope}" for scope in scopes]}
    endpoint["lineitems"] = f"{moodle.address}/lineitems?type_id=7"  # type: ignore[assignment]
    return {"https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": endpoint}


def test_moodle_lets_our_login_through(server: LtiServer, moodle: MoodleDouble) -> None:
    """Each rule of auth.php, with the hints as it has sent them."""
    asked = server.browser().log_in(moodle, login_hint="2", lti_message_hint="17")
    assert moodle.authenticate(asked, "2", "17") == ""


def test_moodle_takes_points_and_newer_ones_within_a_second(
    server: LtiServer, moodle: MoodleDouble, grades: Grades
) -> None:
    come(server, moodle, "ada", "emmy", **of_link(moodle))
    for points in (5, 6, 7):
        grades.points = {"ada": points, "emmy": 1}
        deliver(server)
    assert server.outbox.missing() == []
    assert [score["scoreGiven"] for score in moodle.arrived if score["userId"] == "sub-ada"] == [5, 6, 7]
    assert moodle.items["1"].grades["sub-ada"][0] == 7


def test_moodle_scales_points_and_has_none_while_some_wait(
    server: LtiServer, moodle: MoodleDouble, grades: Grades
) -> None:
    moodle.items["1"] = GradeItem("week1", 100.0)
    come(server, moodle, **of_link(moodle))
    grades.points = {"ada": 5}
    deliver(server)
    assert moodle.items["1"].grades["sub-ada"][0] == 50
    grades.waits = ["why"]
    deliver(server)
    assert moodle.items["1"].grades["sub-ada"][0] is None


def test_moodle_refuses_a_student_who_left_and_the_page_says_so(
    server: LtiServer, moodle: MoodleDouble, grades: Grades
) -> None:
    come(server, moodle, "ada", "emmy", **of_link(moodle))
    moodle.users.remove("sub-ada")
    grades.points = {"ada": 5, "emmy": 6}
    deliver(server)
    assert [score["userId"] for score in moodle.arrived] == ["sub-emmy"]
    (score,) = server.outbox.missing()
    assert (score.state, score.problem) == ("refused", "It answers 400 Bad Request.")


def test_moodle_gets_points_once_when_we_are_cut_off(server: LtiServer, moodle: MoodleDouble, grades: Grades) -> None:
    come(server, moodle, **of_link(moodle))
    grades.points = {"ada": 5}
    deliver(server)
    server.tool.store.change(SCORES, {}, state="waiting")
    make_due(server)
    deliver(server)
    assert server.outbox.missing() == []
    assert len(moodle.arrived) == 1


def test_moodle_has_no_points_for_zero_and_we_do_not_send_them_for_ever(
    server: LtiServer, moodle: MoodleDouble, grades: Grades
) -> None:
    come(server, moodle, **of_link(moodle))
    grades.points = {"ada": 0}
    deliver(server)
    server.tool.store.change(SCORES, {}, state="waiting")
    deliver(server)
    assert server.outbox.missing() == []


# --- lti1p3platform ---


class TheirPlatform(LTI1P3PlatformConfAbstract):  # type: ignore[misc, unused-ignore]
    def init_platform_config(self, **kwargs: Any) -> None:
        self._registration = kwargs["registration"]

    def get_registration_by_params(self, **_: Any) -> Any:
        return self._registration


class TheirLogin(OIDCLoginAbstract):  # type: ignore[misc, unused-ignore]
    def set_lti_message_hint(self, **kwargs: Any) -> None:
        self._lti_message_hint = kwargs["hint"]

    def get_redirect(self, url: str) -> Any:
        return url


class TheirLaunch(LTIAdvantageMessageLaunchAbstract):  # type: ignore[misc, unused-ignore]
    def render_launch_form(self, launch_data: dict[str, Any], **_: Any) -> Any:
        return launch_data


@pytest.fixture
def other() -> Iterator[PlatformDouble]:
    with running(PlatformDouble(client_id="theirs", deployment="1", key=private_key(1))) as platform:
        yield platform


@pytest.fixture
def their_server(tmp_path: Path, other: PlatformDouble) -> Iterator[LtiServer]:
    with server_of({"theirs": other}, tmp_path) as server:
        yield server


@pytest.fixture
def theirs(other: PlatformDouble, their_server: LtiServer) -> TheirPlatform:
    """Their library in place of our double, which only serves their keys."""
    pem = other.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = other.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    registration = TheirRegistration()
    registration.set_iss(other.name)
    registration.set_client_id(other.client_id)
    registration.set_deployment_id(other.deployment)
    registration.set_platform_private_key(pem)
    registration.set_platform_public_key(public)
    registration.set_launch_url(their_server.target)
    registration.set_deeplink_launch_url(their_server.tool.url("pick"))
    registration.set_oidc_login_url(their_server.tool.url("login"))
    registration.set_tool_key_set_url(their_server.tool.url("jwks"))
    other.kid = registration.get_kid()
    return TheirPlatform(registration=registration)


def launch_theirs(browser: Browser, platform: TheirPlatform, roles: list[str], picker: str = "") -> httpx.Response:
    login = TheirLogin(None, platform)
    login.set_lti_message_hint(hint="link-1")
    if picker:
        login.set_deeplinking_launch_url()
    first = browser.client.get(login.initiate_login("user-1"))
    asked = dict(httpx.URL(first.headers["Location"]).params)

    class Asked:
        get_data = asked
        form_data = None

    launch: Any = TheirLaunch(Asked(), platform)
    launch.set_user_data("user-1", roles, full_name="Ada", email_address="ada@example.edu")
    launch.set_resource_link_claim("link-1")
    launch.set_launch_context_claim("course-1")
    launch.set_ags("https://theirs.example.edu/lineitems")
    launch.set_nrps("https://theirs.example.edu/members")
    if picker:
        launch.set_dl(picker, accept_types={"ltiResourceLink"})
    data = launch.lti_launch()
    assert data["launch_url"] == browser.server.tool.url("launch")
    return browser.send(data["state"], data["id_token"])


def test_the_library_lti1p3platform_launches_students_and_instructors(
    their_server: LtiServer, theirs: TheirPlatform
) -> None:
    browser = their_server.browser()
    assert launch_theirs(browser, theirs, [LEARNER]).headers["Location"] == "/#"
    assert "Ada Lovelace" in browser.client.get("/").text
    assert launch_theirs(their_server.browser(), theirs, [INSTRUCTOR]).headers["Location"] == "/class"


def test_the_library_lti1p3platform_reads_what_was_chosen(
    their_server: LtiServer, theirs: TheirPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theirs, "fetch_public_key", lambda url: httpx.get(url).json())
    page = launch_theirs(their_server.browser(), theirs, [INSTRUCTOR], "https://theirs.example.edu/return")
    tokens = re.findall(r'name="JWT" value="([^"]+)"', page.text)
    (item,) = theirs.validate_deeplinking_resp({"JWT": tokens[0]})
    assert item["custom"] == {"assignment": "week1"}
    assert item["url"] == their_server.tool.url("launch", "week1")


def test_the_library_lti1p3platform_gives_us_a_token(
    their_server: LtiServer,
    theirs: TheirPlatform,
    other: PlatformDouble,
    monkeypatch: pytest.MonkeyPatch,
    grades: Grades,
) -> None:
    """It checks what we sign, and gives a token that it takes for points."""
    monkeypatch.setattr(theirs, "fetch_public_key", lambda url: httpx.get(url).json())
    monkeypatch.setattr(other, "give_token", lambda request: Answer(200, theirs.get_access_token(request.form)))
    seen: list[bool] = []

    def is_allowed(request: Any, *scopes: str) -> bool:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        seen.append(bool(theirs.validate_token(token, list(scopes))))
        return seen[-1]

    monkeypatch.setattr(other, "is_allowed", is_allowed)
    come(their_server, other)
    grades.points = {"ada": 7}
    deliver(their_server)
    assert len(other.arrived) == 1
    assert seen == [True, True, True]


# --- lti-provider-mock, through a browser ---


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.browser
def test_in_a_frame_a_window_opens_and_a_picker_stays(
    their_server: LtiServer, other: PlatformDouble, browser: Chrome
) -> None:
    """Both as a browser does it, with its own idea of frames and cookies."""
    page, target = Page(browser), their_server.target
    other.target = target
    url = f"{their_server.tool.url('login')}?{urlencode(other.login(target))}"
    browser.get(f"{other.address}/frame?{urlencode({'src': url})}")
    browser.switch_to.frame(0)
    page.wait(lambda: page.find("form[target=_blank] button"), "no button")
    page.find("button")[0].click()
    browser.switch_to.window(browser.window_handles[-1])
    page.wait(lambda: "Ada Lovelace" in browser.page_source, "not signed in")
    assert violations(browser) == []
    browser.close()
    browser.switch_to.window(browser.window_handles[0])
    picker = {"deep_link_return_url": f"{other.address}/return", "accept_types": ["ltiResourceLink"]}
    other.target = their_server.tool.url("pick")
    other.changed = {f"{CLAIM}message_type": "LtiDeepLinkingRequest", f"{CLAIM}roles": [INSTRUCTOR], PICKER: picker}
    url = f"{their_server.tool.url('login')}?{urlencode(other.login(other.target))}"
    browser.get(f"{other.address}/frame?{urlencode({'src': url})}")
    browser.switch_to.frame(0)
    page.wait(lambda: page.find("input[name=JWT]"), "nothing to choose from")
    assert "Sign out" not in browser.page_source
    page.find("button")[0].click()
    page.wait(lambda: "It was added." in browser.page_source, "it did not go back")
    assert len(other.returned) == 1


@pytest.mark.browser
def test_the_page_of_platforms_can_be_used_by_everybody(
    their_server: LtiServer, other: PlatformDouble, browser: Chrome
) -> None:
    their_server.browser().launch(other, sub="new", email="")
    page = Page(browser)
    browser.get(f"{their_server.address}/enter/{their_server.codes['prof']}")
    page.find("main button")[0].click()
    page.wait(lambda: page.find("a[href$=platforms]"), "no link")
    browser.get(f"{their_server.address}/platforms")
    page.wait(lambda: page.find("select"), "nobody to decide about")
    assert violations(browser) == []


@pytest.mark.browser
def test_a_student_comes_from_lti_provider_mock_in_a_browser(tmp_path: Path, browser: Chrome) -> None:
    """Its page, its login, its token, with a real browser's cookies in between."""
    port = free_port()
    mock = PlatformDouble(client_id="lti-provider-mock", deployment="1", address=f"http://127.0.0.1:{port}")
    server = LtiServer(small_course(tmp_path), {"mock": mock})
    server.confirm_course(mock, "ml")
    settings = {
        "USERS": json.dumps([{"id": "u1", "given_name": "Ada", "family_name": "L.", "email": "ada@example.edu"}]),
        "COURSES": json.dumps([{"id": "ml", "name": "ml"}]),
        "LTI": json.dumps(
            {"iss": mock.name, "login_url": server.tool.url("login"), "launch_url": server.tool.url("launch")}
        ),
    }
    environment = os.environ | {f"LTI_PROVIDER_MOCK__{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "uvicorn", "--port", str(port), "lti_provider_mock.server:app"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, cwd=tmp_path)
    try:
        page = Page(browser)
        until = time.monotonic() + 100
        while time.monotonic() < until:
            try:
                httpx.get(f"{mock.address}/jwks")
                break
            except httpx.TransportError:
                time.sleep(0.2)
        browser.get(f"{mock.address}/login")
        page.find("button")[0].click()
        page.wait(lambda: page.find("a[href*='courses/ml']"), "no course")
        page.find("a[href*='courses/ml']")[0].click()
        # It tells no address, so an instructor says who this is.
        page.wait(lambda: "This course does not know you yet" in browser.page_source, "no launch")
        (person,) = server.tool.people.unknown()
        assert (person.sub, person.name) == ("u1", "Ada L.")
        assert server.tool.people.link(person.id, "ada")
        browser.get(f"{mock.address}/courses/ml")
        page.wait(lambda: "Ada Lovelace" in browser.page_source, "not signed in")
        assert browser.current_url.split("#")[0] == f"{server.address}/"
    finally:
        process.terminate()
        process.wait()
        server.close()
