"""A real JupyterHub with ngshare: from the release to the students, back to points, and to feedback in their homes."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import nbformat
import pytest

from grader.course.folder import Course
from grader.model.label import Label
from grader.notebooks.cells import fill_in
from support import served
from support.command_line import export, grader
from support.jupyter_hub import Hub, serving

pytestmark = pytest.mark.user

ASSIGNMENT = "self_attention"
NOTEBOOK = f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
OTHER_NAME = f"{ASSIGNMENT}/Self Attention (1).ipynb"
NOT_SCALED = """\
def attention_scores(all_queries, all_keys):
    return [[torch.sum(query * key) for key in all_keys] for query in all_queries]
"""
STUDENTS = """\
student_id,first_name,last_name,email
ada,Ada,Lovelace,ada@example.edu
kurt,Kurt,Gödel,kurt@example.edu
"""
ELSEWHERE = "--CourseDirectory.submitted_directory=from_ngshare"


class Class:
    """A teacher, in whose terminal the course is, and two students."""

    def __init__(self, hub: Hub, course: Course) -> None:
        self.course = course
        self.url = hub.url
        self.server = f"{hub.url}/services/grader"
        self.password = hub.password
        self._hub = hub
        self._servers = hub.start("teacher", "ada", "kurt")

    def teach(self, command: str) -> str:
        return self._servers["teacher"].run(f"cd {self.course.root} && {command}")

    def do(self, student: str, command: str) -> str:
        return self._servers[student].run(command)

    def home(self, student: str) -> Path:
        return self._hub.home(student)

    def work(self, student: str, answers: dict[Label, str]) -> None:
        notebook = self.home(student) / NOTEBOOK
        nbformat.write(fill_in(nbformat.read(notebook, as_version=4), answers), notebook)

    def submit(self, student: str) -> str:
        """When that was, as ngshare has it."""
        said = self.do(student, f"nbgrader submit {ASSIGNMENT}")
        submitted = re.search(rf"Submitted as: attention {ASSIGNMENT} (\S+ \S+)\r", said)
        assert submitted, said
        return submitted[1]


@pytest.fixture(scope="module")
def people(new_course: Callable[[], Course], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    course = new_course()
    with serving(tmp_path_factory.mktemp("hub"), course.root, "teacher", "ada", "kurt") as hub:
        config = course.root / "nbgrader_config.py"
        config.write_text(config.read_text() + hub.settings)
        (course.root / "students.csv").write_text(STUDENTS)
        known = grader("students", "import", "students.csv", folder=course.root)
        assert known.returncode == 0, known.stderr
        yield Class(hub, course)


@pytest.fixture(scope="module")
def times(people: Class, solved: dict[Label, str]) -> dict[str, str]:
    """When each student's last hand-in came. ada hands in twice; kurt makes up a name and a time."""
    assert "Successfully created" in people.teach("ngshare-course-management create_course attention teacher")
    said = people.teach("ngshare-course-management add_students attention students.csv")
    assert said.count("was successfully added") == 2, said
    said = people.teach(f"nbgrader release_assignment {ASSIGNMENT}")
    assert f"Successfully released {ASSIGNMENT}" in said
    for student in ("ada", "kurt"):
        said = people.do(student, f"nbgrader fetch_assignment {ASSIGNMENT}")
        assert f"Successfully decoded {ASSIGNMENT}" in said
    people.work("ada", {2: NOT_SCALED})
    people.submit("ada")
    assert "Collecting submission: ada" in people.teach(f"nbgrader collect {ASSIGNMENT}")
    people.work("ada", {1: solved[1], 2: solved[2]})
    people.work("kurt", {1: solved[1], 2: NOT_SCALED})
    (people.home("kurt") / NOTEBOOK).rename(people.home("kurt") / OTHER_NAME)
    (people.home("kurt") / ASSIGNMENT / "timestamp.txt").write_text("2000-01-01 00:00:00 UTC")
    return {student: people.submit(student) for student in ("ada", "kurt")}


def test_what_was_handed_in_is_graded(people: Class, times: dict[str, str]) -> None:
    """Some of it is collected into submitted/ by nbgrader alone, the rest by way of `grader collect`."""
    course = people.course
    assert people.teach(f"nbgrader collect {ASSIGNMENT} {ELSEWHERE}").count("Collecting submission") == 2
    collected = grader("collect", ASSIGNMENT, "from_ngshare", "--from", "ngshare", folder=course.root)
    assert collected.returncode == 0, collected.stdout
    graded = grader("autograde", ASSIGNMENT, folder=course.root)
    assert graded.returncode == 0, graded.stderr
    points = export(ASSIGNMENT, "canvas", f"export/{ASSIGNMENT}-canvas.csv", course.root)
    with points.open(newline="") as file:
        assert {row["SIS Login ID"]: row[ASSIGNMENT] for row in csv.DictReader(file)} == {
            "": "30",
            "ada": "6",
            "kurt": "4.5",
        }
    with course.api().gradebook as gradebook:
        submitted = {one.student.id: str(one.timestamp) for one in gradebook.assignment_submissions(ASSIGNMENT)}
    assert submitted == times


def test_feedback_comes_back(people: Class, times: dict[str, str]) -> None:
    written = grader("feedback", ASSIGNMENT, folder=people.course.root)
    assert written.returncode == 0, written.stderr
    assert people.teach(f"nbgrader release_feedback {ASSIGNMENT}").count("Feedback released") == 2
    people.do("kurt", f"nbgrader fetch_feedback {ASSIGNMENT}")
    page = people.home("kurt") / ASSIGNMENT / "feedback" / times["kurt"] / f"{ASSIGNMENT}.html"
    assert page.read_bytes() == (people.course.folder("feedback") / "kurt" / ASSIGNMENT / page.name).read_bytes()


@contextmanager
def signed_in(people: Class, name: str) -> Iterator[httpx.Client]:
    """A browser in which somebody has signed in at the hub, on the way to the server."""
    with httpx.Client(base_url=f"{people.server}/", follow_redirects=True, timeout=served.PATIENCE) as browser:
        page = browser.get("sign-in")
        assert "/hub/login?next=" in str(page.url)
        form = served.token_in(page.text) | {"username": name, "password": people.password}
        browser.post(str(page.url), data=form)
        yield browser


def test_students_submit_as_whom_the_hub_knows(people: Class, times: dict[str, str]) -> None:
    assert "ada" in times
    assert httpx.get(f"{people.server}/api/v1/me", headers={"Authorization": "Bearer made-up"}).status_code == 401
    (people.home("ada") / ASSIGNMENT / "submit.py").write_text(httpx.get(f"{people.server}/submit.py").text)
    said = people.do("ada", f"cd {ASSIGNMENT} && python submit.py {ASSIGNMENT}.ipynb")
    assert "6 of 30 points." in said
    with signed_in(people, "ada") as browser:
        assert "<strong>6</strong> of 30 points" in browser.get("submissions/1").text
    with signed_in(people, "kurt") as browser:
        assert browser.get("submissions/1").status_code == 404


def test_students_sign_in_at_the_hub_with_a_browser(people: Class, times: dict[str, str]) -> None:
    assert "kurt" in times
    with httpx.Client(base_url=f"{people.server}/") as browser:
        assert 'href="/services/grader/sign-in"' in browser.get("").text
    with signed_in(people, "kurt") as browser:
        home = browser.get("").text
        assert f'action="/services/grader/assignments/{ASSIGNMENT}"' in home
        assert browser.get("style.css").status_code == 200
        assert browser.get("class").status_code == 404
        form = served.token_in(home)
        assert {cookie.path for cookie in browser.cookies.jar if cookie.name == "hub"} == {"/services/grader/"}
        assert "Sign in with JupyterHub" in browser.post("leave", data=form).text
    with signed_in(people, "teacher") as browser:  # whom the hub knows, and the course does not
        assert "teacher is not in this course" in browser.get("sign-in").text


def callback(people: Class, browser: httpx.Client) -> str:
    """Where the hub sends a browser that begins to sign in, which does not go there."""
    answer = browser.get("sign-in", follow_redirects=False)
    while "/oauth_callback?" not in (place := people.url + answer.headers["location"]):
        answer = browser.get(place, follow_redirects=False)
    return place


def test_only_the_browser_that_began_is_signed_in_and_once(people: Class, times: dict[str, str]) -> None:
    assert "ada" in times
    with signed_in(people, "ada") as browser, httpx.Client(base_url=f"{people.server}/") as other:
        place = callback(people, browser)
        browser.get("sign-in")  # begun anew: what began before is void
        other.get("sign-in")
        for one in (browser, other):
            refused = one.get(place)
            assert refused.status_code == 403
            assert "did not start in this browser" in refused.text
            assert "hub" not in refused.cookies
        place = callback(people, browser)
        kept = {"signing_in": browser.cookies["signing_in"]}
        changed = place.replace("state=", "state=x")
        assert httpx.get(changed, cookies=kept).status_code == 403
        assert browser.get(place).url == browser.base_url
        assert browser.get(place).status_code == 403
        replayed = httpx.get(place, cookies=kept)  # by somebody who has the cookie, too
        assert replayed.status_code == 403
        assert "has not signed you in" in replayed.text


def test_the_hub_sends_nobody_elsewhere(people: Class, times: dict[str, str]) -> None:
    assert "ada" in times
    with signed_in(people, "ada") as browser:
        place = people.url + browser.get("sign-in", follow_redirects=False).headers["location"]
        foreign = place.replace("redirect_uri=", "redirect_uri=https%3A%2F%2Felsewhere.example")
        assert browser.get(place).url == browser.base_url
        assert browser.get(foreign, follow_redirects=False).status_code == 400
        sent = browser.get("sign-in", params={"next": "https://elsewhere.example/"}, follow_redirects=False)
        assert "elsewhere" not in sent.headers["location"]
