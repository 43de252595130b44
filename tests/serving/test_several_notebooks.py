"""An assignment with two notebooks: submitted together or one by one, with one page and one total."""

from __future__ import annotations

import copy
import io
import zipfile
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.notebooks.cells import solved
from grader.release.compiling import compile_release
from grader.serving import invitations
from grader.serving.invitations import Role
from grader.term.reading import COURSE_FILE
from support.command_line import grader
from support.report_pages import text_of
from support.second_course import copy_of_second_course
from support.served import Served, token_in

pytestmark = pytest.mark.slow

NUMBERS, FIRST, SECOND = "numbers", "first", "second"
CELLS = {FIRST: slice(0, 5), SECOND: slice(5, None)}  # of the notebook that both are made of


class ServedNumbers(Served):
    """A server of the second course, with its assignment `numbers` in two notebooks."""

    def __init__(self, course: Course) -> None:
        self.course = course
        whole: Any = course.read("source", NUMBERS)
        course.notebook("source", NUMBERS).unlink()
        for name, cells in CELLS.items():
            notebook = copy.deepcopy(whole)
            notebook.cells = [whole.cells[1], *whole.cells[cells]] if name == SECOND else whole.cells[cells]
            if name == SECOND:
                notebook.cells[0].metadata.nbgrader["grade_id"] = "given-imports-again"
            nbformat.write(notebook, course.notebook("source", NUMBERS, name))
        compile_release(course, NUMBERS)
        (course.root / COURSE_FILE).write_text('groups = {blue = ["kurt", "max"]}\n')
        self.codes = invitations.invite(course, ["ada", "emmy", "zoe", "kurt", "max"])
        self.codes |= invitations.invite(course, ["prof"], Role.INSTRUCTOR)
        self.start()

    def right(self, name: str) -> bytes:
        """One of the two notebooks, with everything right."""
        released: Any = self.course.read("release", NUMBERS, name)
        text: str = nbformat.writes(solved(released, self.course.read("source", NUMBERS, name)))
        return text.encode()

    def verdict_on(self, name: str, content: bytes) -> dict[str, Any]:
        answer = self.post(name, f"/assignments/{NUMBERS}", content)
        assert answer.status_code == 202, answer.text
        return self.verdict(name, answer.json()["submission"])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedNumbers]:
    server = ServedNumbers(copy_of_second_course(tmp_path_factory.mktemp("numbers") / "course"))
    try:
        yield server
    finally:
        server.stop()


def test_notebooks_when_sent_one_by_one_count_together(served: ServedNumbers) -> None:
    first = served.verdict_on("ada", served.right(FIRST))
    assert (first["result"]["points"], first["result"]["max_points"]) == (3, 5)
    assert "Not submitted yet: second." in first["remarks"]
    both = served.verdict_on("ada", served.right(SECOND))
    assert (both["result"]["points"], both["result"]["max_points"]) == (5, 5)
    assert not any("Not submitted yet" in remark for remark in both["remarks"])
    assert served.get("ada", "/me").json()["assignments"][NUMBERS]["notebooks"] == [FIRST, SECOND]
    points = {line["student"]: line["points"] for line in served.get("prof", "/class").json()["submissions"]}
    assert points["ada"] == 5


def test_notebooks_when_sent_by_two_of_a_group_count_together(served: ServedNumbers) -> None:
    served.verdict_on("kurt", served.right(FIRST))
    both = served.verdict_on("max", served.right(SECOND))
    assert (both["result"]["points"], both["result"]["max_points"]) == (5, 5)
    assert not any("Not submitted yet" in remark for remark in both["remarks"])


def test_notebooks_when_sent_together_are_one_attempt(served: ServedNumbers) -> None:
    files = [("notebook", (f"{name}.ipynb", served.right(name))) for name in (FIRST, SECOND)]
    with served.browser("emmy") as browser:
        home = browser.get("/")
        assert "multiple" in home.text
        place = f"/assignments/{NUMBERS}"
        answer = browser.post(place, data=token_in(home.text), files=files, follow_redirects=False)
        assert answer.status_code == 302, answer.text
    number = int(answer.headers["Location"].rpartition("/")[2])
    assert served.verdict("emmy", number)["result"]["points"] == 5
    with served.browser("emmy") as browser:
        text = " ".join(text_of(browser.get(f"/submissions/{number}").text).split())
    assert "Exercise 1" in text
    assert "Exercise 2" in text
    assert "5 of 5" in text


def test_notebooks_when_two_files_are_the_same_one_are_refused(served: ServedNumbers) -> None:
    files = [("notebook", (f"{name}.ipynb", served.right(FIRST))) for name in ("first", "first (1)")]
    with served.browser("zoe") as browser:
        token = token_in(browser.get("/").text)
        page = browser.post(f"/assignments/{NUMBERS}", data=token, files=files)
    assert page.status_code == 400
    assert "Two of these files are first." in page.text
    assert not served.get("prof", "/class?student=zoe").json()["submissions"]


def test_notebooks_are_downloaded_as_one_archive(served: ServedNumbers) -> None:
    content = served.get("ada", f"/assignments/{NUMBERS}/release.zip").content
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert {f"{NUMBERS}/{name}.ipynb" for name in (FIRST, SECOND)} <= set(names)


def test_notebook_submitted_in_a_terminal_is_found_by_its_name(
    served: ServedNumbers, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "second (1).ipynb").write_bytes(served.right(SECOND))
    run = grader(
        "submit", "second (1).ipynb", "--link", f"{served.address}/enter/{served.codes['zoe']}", folder=tmp_path
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 of 5 points" in run.stdout
    assert "Not submitted yet: first." in run.stdout
