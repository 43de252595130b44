"""A real server with a platform: a notebook is graded and its points arrive, even if the server is killed meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from lti_platform import CLAIM, Answer, PlatformDouble, Request, running
from lti_server import ROSTER, small_course

from grader.course.folder import Course
from grader.gradebook.roster import write_roster
from grader.serving.arrivals import Arrivals
from grader.serving.lti.registrations import Registration, registration_code
from grader.serving.lti.store import COURSES, ITEMS, PEOPLE, SCORES, Store
from support.command_line import grader
from support.served import ASSIGNMENT, PATIENCE, Served, serving, token_in

pytestmark = pytest.mark.slow


@pytest.fixture
def platform() -> Iterator[PlatformDouble]:
    with running(PlatformDouble(product="moodle")) as platform:
        yield platform


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def connected(course: Course, platform: PlatformDouble) -> Iterator[Served]:
    """A server whose course.toml has this platform, with a course there that an instructor has confirmed."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    lines = ["[lti]", f'address = "{address}"', 'private = ["127.0.0.1"]']
    (course.root / "course.toml").write_text("\n".join([*lines, "[lti.platforms.campus]", platform.course_toml]))
    write_roster(course.root, ROSTER)
    platform.tool_keys = f"{address}/lti/jwks"
    with contextlib.closing(Arrivals(course)) as arrivals:
        keys = {"registration": key_of(platform), "deployment": platform.deployment, "context": "course-1"}
        Store(arrivals.engine).save(COURSES, keys, title="Machine Learning", is_confirmed=1)
    with serving(course, "--port", str(port)) as served:
        assert served.address == address
        yield served


def key_of(platform: PlatformDouble) -> str:
    return Registration(platform.name, platform.client_id, "", "", "", "").key


def launch(address: str, platform: PlatformDouble, **claims: Any) -> httpx.Client:
    browser = httpx.Client(base_url=address, timeout=PATIENCE)
    target = f"{address}/lti/launch"
    asked = browser.get("/lti/login", params=platform.login(target)).headers["Location"]
    query = {name: values[0] for name, values in parse_qs(urlsplit(asked).query).items()}
    token = platform.sign({**platform.claims(target, query["nonce"]), **claims})
    answer = browser.post("/lti/launch", data={"state": query["state"], "id_token": token})
    assert answer.status_code == 302, answer.text
    return browser


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_student_submits_from_a_platform_and_the_points_go_back(
    new_course: Callable[[], Course],
    platform: PlatformDouble,
    make_notebook: Callable[..., Any],
    solved: dict[int, str],
) -> None:
    course = new_course()
    notebook = json.dumps(make_notebook(course, solved)).encode()
    custom = {f"{CLAIM}custom": {"assignment": ASSIGNMENT}}
    with connected(course, platform) as served, closing(launch(served.address, platform, **custom)) as ada:
        files = {"notebook": ("mine.ipynb", notebook)}
        sent = ada.post(f"/assignments/{ASSIGNMENT}", data=token_in(ada.get("/").text), files=files)
        assert sent.status_code == 302, sent.text
        wait_until(lambda: bool(platform.arrived))
        (score,) = platform.arrived
        assert (score["userId"], score["scoreGiven"], score["scoreMaximum"]) == ("user-1", 30, 30)
        assert score["comment"] == f"Feedback: {served.address}{sent.headers['Location']}"
        assert served.stop().count("Traceback") == 0
    shown = grader("lti", folder=course.root)
    assert (shown.returncode, shown.stdout) == (0, "All points have arrived.\n")


STUDENTS = 12


def test_points_arrive_once_though_the_server_is_killed_while_they_go_out(
    tmp_path: Path, platform: PlatformDouble
) -> None:
    course = small_course(tmp_path)
    with connected(course, platform) as served:
        served.stop()
        with contextlib.closing(Arrivals(course)) as arrivals:
            store = Store(arrivals.engine)
            (lti_course,) = store.rows(COURSES)
            keys = {"course": lti_course.id, "assignment": "week1"}
            item = store.save(ITEMS, keys, line_items=f"{platform.address}/lineitems?a=1")
            for number in range(STUDENTS):
                person = store.save(PEOPLE, {"registration": key_of(platform), "sub": f"user-{number}"}, name="")
                content = {"userId": person.sub, "scoreGiven": number, "scoreMaximum": STUDENTS}
                values = {"content": json.dumps(content), "timestamp": "2026-11-30T10:00:00.000+00:00"}
                store.save(SCORES, {"item": item.id, "person": person.id}, state="waiting", **values)
        kills = {3: "after", 4: "before", 7: "after", 9: "before"}  # … the platform has written it down
        take, count = platform.take_score, [0]

        def take_and_kill(request: Request, number: str) -> Answer:
            count[0] += 1
            when = kills.get(count[0])
            answer = Answer(0) if when == "before" else take(request, number)
            if when:
                os.kill(served.process.pid, signal.SIGKILL)
            return Answer(0) if when else answer

        platform.take_score = take_and_kill  # type: ignore[method-assign]
        for _ in kills:
            served.start("--port", served.address.rpartition(":")[2])
            served.process.communicate(timeout=PATIENCE)
        served.start("--port", served.address.rpartition(":")[2])
        wait_until(lambda: len(platform.arrived) == STUDENTS)
        with contextlib.closing(Arrivals(course)) as arrivals:
            store = Store(arrivals.engine)
            wait_until(lambda: {row.state for row in store.rows(SCORES)} == {"arrived"})
    points = {score["userId"]: score["scoreGiven"] for score in platform.arrived}
    assert len(platform.arrived) == STUDENTS
    assert points == {f"user-{number}": number for number in range(STUDENTS)}
    assert len(platform.line_items) == 1


def test_the_server_says_where_platforms_register(tmp_path: Path, platform: PlatformDouble) -> None:
    course = small_course(tmp_path)
    with connected(course, platform) as served:
        printed = served.stop()
        address = f"{served.address}/lti/register/{registration_code(course.root)}"
        assert f"Learning platforms register at {address}\n" in printed


def test_commands_list_what_is_missing_read_the_roster_and_rotate_keys(
    tmp_path: Path, platform: PlatformDouble
) -> None:
    course = small_course(tmp_path)
    with connected(course, platform) as served:
        platform.members = [
            {"user_id": "1", "roles": ["Learner"], "email": "ada@example.edu", "name": "Ada L."},
            {"user_id": "2", "roles": ["Learner"], "ext_user_username": "rosa", "name": "Rosa Parks"},
            {"user_id": "3", "roles": ["Learner"], "name": "Nobody"},
        ]
        launch(served.address, platform, sub="1").close()
        imported = grader("students", "import", "--lti", folder=course.root)
        assert "New: rosa." in imported.stdout, imported.stdout + imported.stderr
        shown = grader("lti", folder=course.root)
        assert (shown.returncode, "Not known yet: Nobody." in shown.stdout) == (3, True)
        platform.members = platform.members[:1]
        again = grader("students", "import", "--lti", folder=course.root)
        assert "No longer in Machine Learning: Nobody and rosa." in again.stdout
        before = httpx.get(f"{served.address}/lti/jwks").json()["keys"]
        rotated = grader("lti", "rotate", folder=course.root)
        after = httpx.get(f"{served.address}/lti/jwks").json()["keys"]
        assert [len(before), len(after)] == [1, 2]
        assert after[1]["kid"] in rotated.stdout


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["address = 5"], "address: 5 is not a text"),
        (['address = "grader.example.edu"'], "is not a plain address"),
        (['address = "http://grader.example.edu"'], "does not begin with https://"),
        (['address = "https://grader.example.edu"'], "Add --https."),
        (["adress = 5"], "Did you mean address?"),
        (['address = "http://127.0.0.1:8000/here"'], "another path"),
        (['address = "http://127.0.0.1:8000"', "[lti.platforms.a]"], "platforms.a.issuer: it is missing"),
    ],
)
def test_mistakes_in_the_settings_are_sentences(tmp_path: Path, lines: list[str], sentence: str) -> None:
    course = small_course(tmp_path)
    (course.root / "course.toml").write_text("\n".join(["[lti]", *lines]))
    done = grader("serve", "--port", "0", folder=course.root)
    assert done.returncode != 0
    assert sentence in " ".join(done.stderr.split())
