"""A real JupyterHub, whose students submit to `grader serve` and sign in there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import nbformat
import pytest
from jupyter_hub import Hub, serving

from grader.course.folder import Course
from grader.model.label import Label
from grader.notebooks.cells import fill_in
from support import served
from support.command_line import grader

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
STUDENTS = """\
student_id,first_name,last_name,email
ada,Ada,Lovelace,ada@example.edu
kurt,Kurt,Gödel,kurt@example.edu
"""


class Class:
    """A teacher and two students."""

    def __init__(self, hub: Hub, course: Course) -> None:
        self.course = course
        self.url = hub.url
        self.server = f"{hub.url}/services/grader"
        self.password = hub.password
        self._hub = hub
        self._servers = hub.start("teacher", "ada", "kurt")

    def token_of_another(self, browser: httpx.Client) -> str:
        return self._hub.token_of_another(browser)

    def token_for_us(self, name: str) -> str:
        """A token that somebody made for programs that submit here."""
        scopes = {"scopes": ["access:services!service=grader"]}
        return str(self._hub.ask("POST", f"/hub/api/users/{name}/tokens", scopes)["token"])

    def hub_is_silent(self) -> AbstractContextManager[None]:
        return self._hub.is_silent()

    def hub_user(self, token: str) -> Any:
        """Whose token it is, as the hub says."""
        return self._hub.ask("GET", "/hub/api/user", token=token)

    def do(self, student: str, command: str) -> str:
        return self._servers[student].run(command)

    def home(self, student: str) -> Path:
        return self._hub.home(student)


@pytest.fixture(scope="module")
def people(new_course: Callable[[], Course], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    course = new_course()
    (course.root / "students.csv").write_text(STUDENTS)
    known = grader("students", "import", "students.csv", folder=course.root)
    assert known.returncode == 0, known.stderr
    with serving(tmp_path_factory.mktemp("hub"), course.root, "teacher", "ada", "kurt") as hub:
        yield Class(hub, course)


@contextmanager
def signed_in(people: Class, name: str) -> Iterator[httpx.Client]:
    """A browser in which somebody has signed in at the hub, on the way to the server."""
    with httpx.Client(base_url=f"{people.server}/", follow_redirects=True, timeout=served.PATIENCE) as browser:
        page = browser.get("sign-in")
        assert "/hub/login?next=" in str(page.url)
        form = served.token_in(page.text) | {"username": name, "password": people.password}
        browser.post(str(page.url), data=form)
        yield browser


def test_hub_student_submits_under_hub_name(people: Class, solved: dict[Label, str]) -> None:
    release = people.course.read("release", ASSIGNMENT)
    place = people.home("ada") / ASSIGNMENT
    place.mkdir()
    nbformat.write(fill_in(release, {1: solved[1], 2: solved[2]}), place / f"{ASSIGNMENT}.ipynb")
    assert httpx.get(f"{people.server}/api/v1/me", headers={"Authorization": "Bearer made-up"}).status_code == 401
    (place / "submit.py").write_text(httpx.get(f"{people.server}/submit.py").text)
    said = people.do("ada", f"cd {ASSIGNMENT} && python submit.py {ASSIGNMENT}.ipynb")
    assert "6 of 30 points." in said
    with signed_in(people, "ada") as browser:
        assert "<strong>6</strong> of 30 points" in browser.get("submissions/1").text
    with signed_in(people, "kurt") as browser:
        assert browser.get("submissions/1").status_code == 404


def test_hub_sign_in_with_browser_leads_to_own_page(people: Class) -> None:
    with httpx.Client(base_url=f"{people.server}/") as browser:
        assert 'href="/services/grader/sign-in"' in browser.get("").text
    with signed_in(people, "kurt") as browser:
        home = browser.get("").text
        assert f'action="/services/grader/assignments/{ASSIGNMENT}"' in home
        assert browser.get("style.css").status_code == 200
        assert browser.get("class").status_code == 404
        form = served.token_in(home)
        assert {cookie.path for cookie in browser.cookies.jar if cookie.name == "service-grader"} == {
            "/services/grader/"
        }
        assert "Sign in with JupyterHub" in browser.post("leave", data=form).text
    with signed_in(people, "teacher") as browser:  # whom the hub knows, and the course does not
        assert "teacher is not in this course" in browser.get("sign-in").text


def test_hub_token_of_another_service_is_refused(people: Class) -> None:
    """Whoever runs the other service has a token of everybody who signs in there."""
    with signed_in(people, "ada") as browser:
        token = people.token_of_another(browser)
        me = people.hub_user(token)
        assert (me["kind"], me["name"]) == ("user", "ada")
        headers = {"Authorization": f"Bearer {token}"}
        for place in ("me", "submissions/1", f"assignments/{ASSIGNMENT}/release.zip"):
            answer = httpx.get(f"{people.server}/api/v1/{place}", headers=headers)
            assert (answer.status_code, "not for this server" in answer.json()["error"]) == (403, True)
        answer = httpx.post(f"{people.server}/api/v1/assignments/{ASSIGNMENT}", content=b"{}", headers=headers)
        assert answer.status_code == 403
        service = httpx.get(f"{people.server}/api/v1/me", headers={"Authorization": f"Bearer {people.password}"})
        assert service.status_code == 403


def test_hub_sign_out_ends_session_and_copies_of_its_cookie(people: Class) -> None:
    with signed_in(people, "ada") as browser, signed_in(people, "ada") as another:
        (name,) = [cookie.name for cookie in browser.cookies.jar if cookie.name == "service-grader"]
        copied = {name: browser.cookies[name]}
        assert httpx.get(f"{people.server}/", cookies=copied).status_code == 200
        browser.post("leave", data=served.token_in(browser.get("").text))
        assert httpx.get(f"{people.server}/", cookies=copied).status_code == 401
        assert another.get("").status_code == 200


def test_hub_sign_in_when_next_is_foreign_leads_to_own_page(people: Class) -> None:
    with signed_in(people, "ada") as browser:
        browser.post("leave", data=served.token_in(browser.get("").text))
        sent = browser.get("sign-in", params={"next": "https://elsewhere.example/"})
        assert sent.url == browser.base_url


def test_hub_callback_in_another_browser_signs_nobody_in(people: Class) -> None:
    """Nobody is signed in as somebody else by a link to the end of that person's sign-in."""
    with signed_in(people, "ada") as browser, httpx.Client(base_url=f"{people.server}/") as victim:
        browser.post("leave", data=served.token_in(browser.get("").text))
        answer = browser.get("sign-in", follow_redirects=False)
        while "/oauth_callback?" not in (place := people.url + answer.headers["location"]):
            answer = browser.get(place, follow_redirects=False)
        assert victim.get(place).status_code == 403
        assert victim.get("").status_code == 401


def test_hub_when_silent_gives_503_and_accepts_token_later(people: Class) -> None:
    headers = {"Authorization": f"Bearer {people.token_for_us('ada')}"}
    with people.hub_is_silent():
        answer = httpx.get(f"{people.server}/api/v1/me", headers=headers, timeout=served.PATIENCE)
        assert (answer.status_code, "does not answer" in answer.json()["error"]) == (503, True)
    answer = httpx.get(f"{people.server}/api/v1/me", headers=headers, timeout=served.PATIENCE)
    assert (answer.status_code, answer.json()["name"]) == (200, "ada")
