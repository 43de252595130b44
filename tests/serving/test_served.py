"""A real server, with a browser's forms and a program's requests: who may do what, and that nothing is lost."""

from __future__ import annotations

import configparser
import contextlib
import io
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import nbformat
import pytest
from jupyter_client.manager import run_kernel

from grader.classroom.run import alone
from grader.course.folder import Course
from grader.gradebook.hidden_seed import secret_of
from grader.serving import invitations
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.queue import Queue
from grader.serving.receipts import is_ours, receipt
from grader.serving.sessions import MOST_A_DAY, Sessions
from grader.serving.student_pages import MOST_BYTES
from support.command_line import grader
from support.places import ROOT
from support.report_pages import text_of
from support.served import API, ASSIGNMENT, PATIENCE, Served, serving, token_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as one:
        yield one


@pytest.fixture(scope="module")
def right(served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> bytes:
    return json.dumps(make_notebook(served.course, solved)).encode()


@pytest.fixture(scope="module")
def wrong(served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> bytes:
    code = "def softmax(items):\n    exp = torch.exp(torch.as_tensor(items))\n    return exp / exp.mean()"
    changed = solved | {3: code}
    return json.dumps(make_notebook(served.course, changed)).encode()


def test_program_submits_and_reads_verdict_and_receipt(served: Served, wrong: bytes) -> None:
    told = served.submit("ada", wrong)
    found = served.verdict("ada", told["submission"])
    assert found["receipt"] == told["receipt"]
    assert is_ours(told["receipt"], secret_of(served.course.root))
    (softmax,) = [one for one in found["result"]["exercises"] if one["exercise"] == 3]
    assert softmax["misconceptions"] == ["divided by the mean"]
    assert softmax["sentences"][0].startswith("Your values sum to their count")
    assert found["result"]["points"] == found["result"]["max_points"] - softmax["max_points"] + softmax["points"]


def test_notebook_with_much_pasted_data_is_graded(served: Served, right: bytes) -> None:
    """It is not run, and the server goes on."""
    notebook = json.loads(right)
    notebook["cells"].insert(0, nbformat.v4.new_code_cell("data = [\n" + "    1.0,\n" * 215_000 + "]"))
    notebook["nbformat_minor"] = 5
    told = served.submit("ada", json.dumps(notebook).encode())
    assert served.verdict("ada", told["submission"])["result"]["points"] == 30


def test_students_invite_works_while_the_class_is_graded(new_course: Callable[[], Course]) -> None:
    course = new_course()
    with alone(course):
        made = grader("students", "invite", "--assistant", "eve", folder=course.root)
        token = grader("students", "token", "eve", "--scope", "read", folder=course.root)
        revoked = grader("students", "invite", "--assistant", "eve", "--revoke", folder=course.root)
    assert (made.returncode, token.returncode) == (0, 0), made.stderr + token.stderr
    assert revoked.stdout == "Revoked: eve.\n"


def test_submission_is_in_the_report(served: Served, right: bytes) -> None:
    served.verdict("emmy", served.submit("emmy", right)["submission"])
    done = grader("report", ASSIGNMENT, folder=served.course.root)
    assert done.returncode == 0, done.stderr
    said = json.loads((served.course.root / f"report/{ASSIGNMENT}.json").read_text())
    assert {"emmy"} <= {one["student"] for one in said["students"]}


def test_browser_submits_with_form_and_reads_feedback(served: Served, right: bytes) -> None:
    with served.browser("ada") as browser:
        home = browser.get("/").text
        assert f'action="/assignments/{ASSIGNMENT}"' in home
        sent = browser.post(
            f"/assignments/{ASSIGNMENT}", data=token_in(home), files={"notebook": ("mine.ipynb", right)}
        )
        number = int(str(sent.url).rpartition("/")[2])
        assert served.verdict("ada", number)["result"]["points"] == 30
        page = browser.get(f"/submissions/{number}")
        assert "30</strong> of 30 points" in page.text
        assert "data-again" not in page.text
        assert "Exercise 3: Softmax" in page.text
        assert page.headers.get_list("Content-Security-Policy")[1:] == ["script-src 'none'"]
        assert "img-src data:" in page.headers.get_list("Content-Security-Policy")[0]
        assert browser.get(f"/submissions/{number}/feedback").status_code == 404
        assert browser.get("/class").status_code == 404
        assert "Please use the personal link" in browser.post("/leave", data=token_in(home)).text


def test_submissions_of_others_are_not_readable(served: Served, wrong: bytes) -> None:
    number = served.submit("ada", wrong)["submission"]
    served.verdict("ada", number)
    for place in (f"/submissions/{number}", f"/submissions/{number}/feedback"):
        assert served.get("emmy", place).status_code == 404
        assert served.get("", place).status_code == 401
        assert served.get("prof", place).status_code == 200
    assert served.get("emmy", "/submissions/99999").status_code == 404
    assert served.post("prof", f"/assignments/{ASSIGNMENT}", wrong).status_code == 404
    assert served.post("", f"/assignments/{ASSIGNMENT}", wrong).status_code == 401
    with served.browser("prof") as browser:
        assert "ada" in browser.get("/").text


@pytest.mark.parametrize(
    ("place", "content", "status"),
    [
        (f"/assignments/{ASSIGNMENT}", b"PK\x03\x04", 400),
        (f"/assignments/{ASSIGNMENT}", b"", 400),
        (f"/assignments/{ASSIGNMENT}", b"[1]", 400),
        (f"/assignments/{ASSIGNMENT}", b'{"cells": [', 400),
        ("/assignments/another", b"{}", 404),
        ("/assignments/..%2f..%2fgradebook.db", b"{}", 404),
        ("/assignments/self_attention%0d%0aSet-Cookie:x=1", b"{}", 404),
    ],
)
def test_bad_request_gets_a_sentence(served: Served, place: str, content: bytes, status: int) -> None:
    answer = served.post("ada", place, content)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")
    assert "x" not in answer.cookies


def test_notebook_of_another_assignment_is_refused(served: Served, right: bytes) -> None:
    answer = served.post("ada", "/assignments/transformer", right)
    assert answer.status_code == 400
    assert answer.json() == {"error": "This cannot be graded as transformer: it is for self_attention."}


def test_submission_that_is_too_large_is_refused(served: Served) -> None:
    before = served.get("prof", "/class").json()
    with contextlib.suppress(httpx.TransportError):  # the connection may be cut
        answer = served.post("ada", f"/assignments/{ASSIGNMENT}", b"{" + b" " * MOST_BYTES)
        assert answer.status_code in (400, 413)
    assert served.get("prof", "/class").json() == before


def test_refused_request_is_answered_before_its_content(served: Served) -> None:
    host, port = served.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        request = f"POST {API}/assignments/{ASSIGNMENT} HTTP/1.1\r\nHost: x\r\nContent-Length: {MOST_BYTES}\r\n\r\n"
        connection.sendall(request.encode())  # and not a byte of the content
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")


def test_sign_out_ends_only_the_session_of_this_browser(served: Served) -> None:
    with served.browser("ada") as browser, served.browser("ada") as another:
        copied = {"who": browser.cookies["who"]}
        assert httpx.get(f"{served.address}/", cookies=copied).status_code == 200
        assert browser.post("/leave", data=token_in(browser.get("/").text)).status_code == 401
        assert httpx.get(f"{served.address}/", cookies=copied).status_code == 401
        assert another.get("/").status_code == 200
        copied = {"who": another.cookies["who"]}
        page = another.get(f"/enter/{served.codes['emmy']}")  # somebody else signs in on the same machine
        assert "emmy" in another.post(f"/enter/{served.codes['emmy']}", data=token_in(page.text)).text
        assert httpx.get(f"{served.address}/", cookies=copied).status_code == 401


def test_ended_session_stays_ended_after_a_restart(new_course: Callable[[], Course]) -> None:
    with serving(new_course()) as one:
        with one.browser("ada") as browser:
            copied = {"who": browser.cookies["who"]}
            browser.post("/leave", data=token_in(browser.get("/").text))
        one.stop()
        one.start()
        assert httpx.get(f"{one.address}/", cookies=copied).status_code == 401
        with one.browser("ada") as browser:
            assert browser.get("/").status_code == 200


def test_ended_sessions_are_limited_a_day(course: Course) -> None:
    arrivals = Arrivals(course)
    sessions = Sessions(arrivals.engine)
    for number in range(MOST_A_DAY):
        assert not sessions.are_too_many("ada")
        sessions.end("ada", str(number))
    assert sessions.are_too_many("ada")
    assert not sessions.are_too_many("emmy")
    assert sessions.has_ended("0")
    assert not sessions.has_ended("another")
    arrivals.close()


def test_form_without_its_token_is_refused(served: Served, right: bytes) -> None:
    with served.browser("ada") as browser:
        files = {"notebook": ("mine.ipynb", right)}
        assert browser.post(f"/assignments/{ASSIGNMENT}", files=files).status_code == 403
        assert browser.post(f"/assignments/{ASSIGNMENT}", data={"_xsrf": "x"}, files=files).status_code == 403


def test_pages_have_a_strict_policy_and_a_safe_cookie(served: Served) -> None:
    with served.browser("ada") as browser:
        page = browser.get("/")
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "Server" not in page.headers
        assert "<script" not in page.text
        assert browser.get("/watch.js").status_code == 200
        (cookie,) = [one for one in browser.cookies.jar if one.name == "who"]
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.has_nonstandard_attr("SameSite")
        assert served.codes["ada"] not in str(cookie.value)
        assert browser.get(f"/assignments/{ASSIGNMENT}/release.zip").content.startswith(b"PK")


def test_revoked_link_ends_session_and_token(served: Served) -> None:
    served.codes |= invitations.invite(served.course, ["zoe"])
    with served.browser("zoe") as browser:
        assert browser.get("/").status_code == 200
        done = grader("students", "invite", "zoe", "--revoke", folder=served.course.root)
        assert done.stdout == "Revoked: zoe.\n"
        assert browser.get("/").status_code == 401
        assert browser.get(f"/enter/{served.codes['zoe']}").status_code == 404
    assert served.get("zoe", "/me").status_code == 401


def test_serve_demo_serves_a_class_that_has_submitted() -> None:
    command = [str(Path(sys.executable).with_name("grader")), "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = [next(process.stdout) for _ in range(4)]
        address, code = said[2].partition(": ")[2].strip().rsplit("/enter/")
        answer = httpx.get(f"{address}{API}/class", headers={"Authorization": f"Bearer {code}"}, timeout=PATIENCE)
        assert "emmy" in [one["student"] for one in answer.json()["submissions"]]
        address, code = said[3].partition(": ")[2].strip().rsplit("/enter/")
        told = httpx.get(f"{address}{API}/me", headers={"Authorization": f"Bearer {code}"}, timeout=PATIENCE).json()
        assert (told["name"], list(told["assignments"])) == ("ada", ["self_attention"])
        process.terminate()
    assert process.returncode == 0


def test_systemd_unit_of_the_docs_starts_and_stops_the_server(course: Course) -> None:
    (unit,) = re.findall(r"```ini\n(.*?)```", (ROOT / "docs/operator.md").read_text(), re.DOTALL)
    settings = configparser.ConfigParser()
    settings.read_string(unit)
    service = settings["Service"]
    folder = service["WorkingDirectory"]
    program, *arguments = service["ExecStart"].split()
    assert program == f"{folder}/.venv/bin/grader"
    assert service["KillMode"] == "mixed"  # SIGTERM is for the server alone: what is being graded goes on
    command = [str(Path(sys.executable).with_name("grader")), *arguments, "--port", "0"]
    with subprocess.Popen(command, cwd=course.root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert next(process.stdout).startswith("Serving at ")
        process.terminate()
    assert process.returncode == 0


def test_acknowledged_submission_is_graded_after_a_kill(
    new_course: Callable[[], Course], wrong: bytes, right: bytes
) -> None:
    with serving(new_course()) as one:
        numbers = {name: one.submit(name, content)["submission"] for name, content in (("ada", wrong), ("emmy", right))}
        one.stop(signal.SIGKILL)
        arrivals = Arrivals(one.course)
        arrivals.add(
            "adam", "no longer there", {"no longer there": b"{}"}
        )  # and it keeps nobody else from being graded
        arrivals.close()
        one.start()
        assert one.verdict("ada", numbers["ada"])["result"]["points"] < 30
        assert one.verdict("emmy", numbers["emmy"])["result"]["points"] == 30
        with one.browser("prof") as browser:
            assert "no longer there cannot be graded at the moment" in browser.get("/class").text
        said = one.stop()
        assert "Traceback" not in said
        assert not any(code in said for code in one.codes.values())


def test_acknowledged_submissions_are_graded_once_after_many_kills(
    new_course: Callable[[], Course], wrong: bytes, right: bytes
) -> None:
    numbers: list[tuple[str, int]] = []
    with serving(new_course()) as one:
        for moment in range(0, 20, 5):
            for name, number in numbers[-4:-2]:  # not too many wait
                one.verdict(name, number)
            for name, content in (("ada", wrong), ("emmy", right)):
                numbers.append((name, one.submit(name, content)["submission"]))
            time.sleep(0.1 * moment)  # so the kill comes while something else is going on
            one.stop(signal.SIGKILL)
            one.start()
        for name, number in numbers:
            points = one.verdict(name, number)["result"]["points"]
            assert (points < 30) == (name == "ada")
    arrivals = Arrivals(one.course)
    assert [(arrival.student, arrival.id) for arrival in arrivals.of_class()] == numbers
    arrivals.close()


def test_submission_when_disk_is_full_is_not_acknowledged(
    new_course: Callable[[], Course], wrong: bytes, right: bytes
) -> None:
    with serving(new_course()) as one:
        before = one.submit("emmy", right)["submission"]
        one.verdict("emmy", before)
        _, most = resource.prlimit(one.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(one.process.pid, resource.RLIMIT_FSIZE, (4096, most))  # to it, the disk is full
        refused = one.post("ada", f"/assignments/{ASSIGNMENT}", wrong)
        assert refused.status_code == 507
        assert "not submitted" in refused.json()["error"]
        assert one.get("emmy", f"/submissions/{before}").json()["result"]["points"] == 30
        resource.prlimit(one.process.pid, resource.RLIMIT_FSIZE, (most, most))
        assert one.verdict("ada", one.submit("ada", wrong)["submission"])["state"] == Stage.GRADED
        assert sorted(path.suffix for path in (one.course.root / "arrived").glob("*.ipynb*")) == [".ipynb"] * 2
        assert "by ada could not be stored" in one.stop()


# --- those who see the class -----------------------------------------------------------------------------------------


def test_instructor_sees_report_finds_students_and_grades_again(served: Served, wrong: bytes) -> None:
    first, last = (served.submit("ada", wrong)["submission"] for _ in range(2))
    served.verdict("ada", last)
    with served.browser("prof") as browser:
        page = browser.get("/class").text
        assert "Softmax" in page
        assert "divided by the mean" in page
        found = browser.get("/class", params={"student": "AD"}).text
        assert "/students/ada" in found
        assert "/students/emmy" not in found
        assert f"/submissions/{last}" in browser.get("/students/ada").text
        assert browser.get("/students/nobody").status_code == 404
        again = token_in(browser.get(f"/submissions/{last}").text)
        assert browser.post(f"/submissions/{last}/again").status_code == 403
        assert browser.post(f"/submissions/{first}/again", data=again).status_code == 409
        assert browser.post(f"/submissions/{last}/again", data=again).status_code == 200
    assert served.verdict("ada", last)["result"]["points"] < 30


def test_assistant_sees_the_class_and_changes_nothing(served: Served, right: bytes) -> None:
    number = served.submit("emmy", right)["submission"]
    served.verdict("emmy", number)
    with served.browser("grace") as browser:
        assert "emmy" in browser.get("/").text
        page = browser.get(f"/submissions/{number}").text
        assert "Grade again" not in page
        assert browser.post(f"/submissions/{number}/again", data=token_in(browser.get("/").text)).status_code == 404
        assert "all 6 hidden cases" in page
    with served.browser("emmy") as browser:
        assert browser.post(f"/submissions/{number}/again", data=token_in(browser.get("/").text)).status_code == 404
        assert browser.get("/students/ada").status_code == 404
    assert served.get("emmy", "/class").status_code == 404
    assert served.get("emmy", "/metrics").status_code == 404
    numbers = dict(line.rsplit(" ", 1) for line in served.get("grace", "/metrics").text.splitlines())
    assert numbers['grader_submissions{state="waiting"}'] == "0"
    assert int(numbers['grader_submissions{state="graded"}']) >= 1


@pytest.mark.parametrize(("trusted", "known"), [("127.0.0.1", True), ("10.1.2.3", False)])
def test_user_header_counts_only_from_a_trusted_proxy(
    new_course: Callable[[], Course], *, trusted: str, known: bool
) -> None:
    with serving(new_course(), "--user-header", "X-Remote-User", "--trust", trusted) as one:
        invitations.invite(one.course, ["zoe"])

        def seen_by(*names: str) -> int:
            return httpx.get(one.address + "/", headers=[("X-Remote-User", name) for name in names]).status_code

        assert seen_by("zoe") == (200 if known else 401)
        assert seen_by("nobody") == seen_by("zoe", "prof") == seen_by() == 401
        as_prof = httpx.get(one.address + "/class", headers={"X-Remote-User": "prof"})
        assert as_prof.status_code == (200 if known else 401)


# --- from a notebook, and from a terminal ----------------------------------------------------------------------------


@pytest.fixture
def student(served: Served, tmp_path: Path, right: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder: what the server hands out, with a notebook that is solved."""
    content = served.get("ada", f"/assignments/{ASSIGNMENT}/release.zip").content
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    folder = tmp_path / ASSIGNMENT
    cells = json.loads(right)
    (solution,) = [one for one in cells["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") == "exercise-3"]
    solution["source"] = f"from submit import submit\n{solution['source']}"
    cells["cells"].append(nbformat.v4.new_code_cell("submit()"))
    (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(cells))
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def in_terminal(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-I", "submit.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_submit_script_signs_in_and_submits_in_a_terminal(served: Served, student: Path) -> None:
    notebook = f"{ASSIGNMENT}.ipynb"
    assert "First sign in" in in_terminal(student, notebook)
    assert "not valid" in in_terminal(student, "--link", f"{served.address}/enter/wrong")
    assert "is for http" in in_terminal(student, "--link", f"http://elsewhere.example/enter/{served.codes['ada']}")
    assert in_terminal(student, "--link", f"{served.address}/enter/{served.codes['ada']}") == "Signed in as ada.\n"
    (kept,) = (student.parent / ".config").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    said = in_terminal(student, notebook).splitlines()
    assert said[0].startswith(f"{notebook}, as saved at ")
    assert "30 of 30 points." in said, "what submits does no harm where it is graded"
    assert "✓ Exercise 3: Softmax, 2 of 2" in said
    assert said[-1].startswith(f"More, and the receipt: {served.address}/submissions/")
    (student / notebook).rename(student / "another.ipynb")
    assert "with one of: causal_attention, " in in_terminal(student, "another.ipynb")
    for content in ("[" * 100_000, "9" * 10_000):
        (student / "broken.ipynb").write_text(content)
        assert in_terminal(student, "broken.ipynb") == "broken.ipynb is not a notebook that can be read.\n"
    assert in_terminal(student, "nowhere.ipynb") == f"There is no file nowhere.ipynb in {student}.\n"


def test_notebook_submits_itself_and_shows_feedback(
    served: Served, student: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", f"course/{ASSIGNMENT}.ipynb")
    link = f"{served.address}/enter/{served.codes['ada']}"
    path = student / f"{ASSIGNMENT}.ipynb"
    shown: list[Any] = []

    def run(client: Any, code: str) -> str:
        shown.clear()
        client.execute_interactive(code, timeout=PATIENCE, output_hook=shown.append)
        return "".join(one["content"].get("text", "") for one in shown)

    with run_kernel(kernel_name="python3", cwd=str(student)) as client:
        assert run(client, f'from submit import sign_in, submit\nsign_in("{link}")') == "Signed in as ada.\n"
        assert "30 of 30 points." in run(client, "submit()")
        (page,) = [one["content"]["data"] for one in shown if one["msg_type"] == "display_data"]
        assert page["text/html"].startswith("<iframe sandbox ")
        assert "Softmax" in page["text/html"]
        run(client, "def softmax(items):\n    return items")
        assert "softmax is not as you last ran it. Save the notebook" in run(client, "submit()")
        run(client, "def helper():\n    return 1")  # and its cell was deleted
        saved = json.loads(path.read_text())
        saved["cells"].append(nbformat.v4.new_code_cell("def softmax(items):\n    return items"))
        path.write_text(json.dumps(saved))
        assert "of 30 points." in run(client, "submit()")


# --- what the rules allow, and what they show ------------------------------------------------------------------------


def test_rules_limit_attempts_and_what_is_shown(new_course: Callable[[], Course], right: bytes) -> None:
    with serving(new_course()) as one:
        rules = one.course.root / "course.toml"
        rules.write_text('timezone = "Europe/Berlin"\n[serving]\nattempts = 2\nbefore = "points"\n')
        told = one.submit("ada", right)
        assert told["left"] == 1
        found = one.verdict("ada", told["submission"])
        assert found["result"] == {"points": 30, "max_points": 30, "waits": [], "penalty": 0}
        assert found["feedback"] is False
        assert one.get("ada", f"/submissions/{told['submission']}/feedback").status_code == 404
        assert one.get("prof", f"/submissions/{told['submission']}/feedback").status_code == 200
        assert one.submit("ada", right)["left"] == 0
        refused = one.post("ada", f"/assignments/{ASSIGNMENT}", right)
        assert (refused.status_code, refused.json()) == (403, {"error": "You have used all 2 attempts."})
        with one.browser("ada") as browser:
            assert "You have used all 2 attempts." in browser.get("/").text
        due = "[assignments.self_attention]\ndue = 2099-10-12T10:00:00\n"
        rules.write_text(f'timezone = "Europe/Berlin"\n{due}[serving]\nbefore = "nothing"\n')
        hidden = one.get("ada", f"/submissions/{told['submission']}").json()
        assert (hidden["state"], hidden["result"]) == ("arrived", {})
        with one.browser("ada") as browser:
            home, page = (browser.get(place).text for place in ("/", f"/submissions/{told['submission']}"))
        assert "Due on 2099-10-12 10:00 CEST." in home
        assert re.search(r"<td>2\d{3}-\d\d-\d\d \d\d:\d\d CES?T</td><td>arrived</td>", home)
        assert "Results are hidden for now." in page
        without_times = re.sub(r"2\d{3}-\d\d-\d\d \d\d:\d\d", "", text_of(page).partition("Receipt")[0])
        assert "30" not in without_times  # not in the tags: a form's token is random
        assert "points" not in without_times
        rules.write_text("[assignments.self_attention.serving]\nclosed = true\n")
        assert "is closed" in one.post("ada", f"/assignments/{ASSIGNMENT}", right).json()["error"]
        rules.write_text("[serving]\nattempts = 0\n")
        assert one.post("ada", f"/assignments/{ASSIGNMENT}", right).status_code == 500
        with one.browser("prof") as browser:
            assert "attempts" in browser.get("/class").text
        assert "course.toml, serving.attempts: 0 is not a whole number" in one.stop()


# --- parts -----------------------------------------------------------------------------------------------------------


def test_arrivals_are_numbered_and_kept(course: Course) -> None:
    arrivals = Arrivals(course)
    first, second = (arrivals.add("ada", ASSIGNMENT, {ASSIGNMENT: content}) for content in (b"{}", b"{ }"))
    other = arrivals.add("emmy", ASSIGNMENT, {ASSIGNMENT: b"{}"})
    assert [one.number for one in (first, second, other)] == [1, 2, 1]
    arrivals.begin(first)
    arrivals.finish(second, Stage.GRADED, {"points": 1.0})
    arrivals.close()
    again = Arrivals(course)
    assert [one.id for one in again.of_class() if not one.is_done] == [first.id, other.id]
    assert again.contents(second, [ASSIGNMENT]) == {ASSIGNMENT: b"{ }"}
    assert [one.id for one in again.of_student("ada")] == [second.id, first.id]
    again.close()
    assert (course.root / "arrived").stat().st_mode & 0o077 == 0


def test_arrival_with_some_of_several_notebooks_keeps_the_others(course: Course) -> None:
    arrivals, names = Arrivals(course), ["one", "two"]
    arrivals.add("ada", "a", {"one": b"1", "gone": b"0"}, names=names)
    arrivals.add("emmy", "a", {"two": b"9"}, names=names)
    second = arrivals.add("ada", "a", {"two": b"2"}, names=names)
    third = arrivals.add("ada", "a", {"one": b"3"}, names=names)
    again = arrivals.add("ada", "a", {"two": b"2"}, names=names)
    assert arrivals.contents(second, names) == {"one": b"1", "two": b"2"}
    assert arrivals.contents(third, names) == {"one": b"3", "two": b"2"}
    assert again.sha256 == third.sha256 != second.sha256
    assert [one.notebooks for one in arrivals.of_student("ada")][:2] == [again.notebooks, third.notebooks]
    arrivals.close()


def test_arrival_of_a_group_keeps_the_notebooks_that_others_of_it_submitted_last(course: Course) -> None:
    arrivals, names, group = Arrivals(course), ["one", "two"], ["ada", "emmy"]
    arrivals.add("ada", "a", {"one": b"1"}, names=names, group=group)
    arrivals.add("ada", "a", {"one": b"2"}, names=names, group=group)
    of_emmy = arrivals.add("emmy", "a", {"two": b"3"}, names=names, group=group)
    assert arrivals.contents(of_emmy, names) == {"one": b"2", "two": b"3"}
    of_zoe = arrivals.add("zoe", "a", {"two": b"4"}, names=names, group=["zoe"])
    assert arrivals.contents(of_zoe, names) == {"two": b"4"}
    arrivals.close()


def test_receipt_holds_only_for_what_was_signed(course: Course) -> None:
    arrivals = Arrivals(course)
    arrival = arrivals.add("ada", ASSIGNMENT, {ASSIGNMENT: b"{}"})
    arrivals.close()
    secret = secret_of(course.root)
    signed = receipt(arrival, secret)
    assert is_ours(json.loads(json.dumps(signed)), secret)
    for name in signed:
        assert not is_ours(signed | {name: "x"}, secret)
        assert not is_ours({key: value for key, value in signed.items() if key != name}, secret)
    others: list[object] = [None, [], "x", signed | {"more": 1}, receipt(arrival, b"another")]
    for bad in others:
        assert not is_ours(bad, secret)
    (course.root / "receipt.json").write_text(json.dumps(signed))
    said = grader("receipt", "receipt.json", folder=course.root).stdout
    assert said.startswith("The receipt is genuine: submission 1 of self_attention by ada arrived at ")


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "changes",
    [
        {"number": "2"},
        {"number": "9" * 10_000},
        {"number": "1e999"},
        {"signature": r'"\ud800"'},
        *({name: nested(depth)} for name in ("signature", "student") for depth in (100, 900, 970, 100_000)),
    ],
    ids=lambda changes: " ".join(f"{name} {value[:6]} {len(value)}" for name, value in changes.items()),
)
def test_receipt_command_when_receipt_is_odd_says_not_genuine(
    course: Course, changes: dict[str, str], tmp_path: Path
) -> None:
    arrival = Arrival(1, "ada", ASSIGNMENT, 1, datetime.now(UTC), "0" * 64, Stage.WAITING, {})
    signed = {name: json.dumps(value) for name, value in receipt(arrival, secret_of(course.root)).items()} | changes
    parts = ", ".join(f'"{name}": {value}' for name, value in signed.items())
    (tmp_path / "receipt.json").write_text(f"{{{parts}}}")
    done = grader("receipt", str(tmp_path / "receipt.json"), folder=course.root)
    assert done.returncode == 1
    assert " ".join(done.stderr.split()).endswith("This receipt is not from this course, or somebody has changed it.")


def test_receipt_command_when_file_is_no_receipt_says_so(course: Course, tmp_path: Path) -> None:
    for content in (b"", nested(100_000).encode(), b'{"a":' * 100_000, b"\xff", b"[1]"):
        (tmp_path / "receipt.json").write_bytes(content)
        assert "not from this course" in grader("receipt", str(tmp_path / "receipt.json"), folder=course.root).stderr


def test_invite_again_replaces_the_link_and_stores_none(course: Course) -> None:
    old = invitations.invite(course, ["ada"])["ada"]
    new = invitations.invite(course, ["ada", "emmy"])["ada"]
    assert invitations.digest_of(old) not in invitations.people(course)
    assert invitations.people(course)[invitations.digest_of(new)].name == "ada"
    file = course.root / invitations.FILE
    assert new not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    unknown = grader("students", "invite", "nobody", folder=course.root)
    assert "There is no student called nobody" in unknown.stderr


def test_link_ends_at_its_time(course: Course) -> None:
    now = datetime.now(UTC)
    soon = invitations.invite(course, ["ada"], until=now + timedelta(days=1))["ada"]
    past = invitations.invite(course, ["emmy"], until=now - timedelta(seconds=1))["emmy"]
    assert invitations.digest_of(soon) in invitations.people(course)
    assert invitations.digest_of(past) not in invitations.people(course)
    grader("students", "invite", "ada", "--instructor", "--days", "3", folder=course.root)
    (found,) = invitations.people(course).values()
    assert found.until is not None
    assert timedelta(days=2) < found.until - now < timedelta(days=4)


@pytest.fixture
def arrivals(course: Course) -> Iterator[Arrivals]:
    table = Arrivals(course)
    yield table
    table.close()


def take(queue: Queue, arrivals: Arrivals, assignment: str) -> Arrival | None:
    """Begin the turn of the next submission of an assignment, if there is one."""
    for arrival in queue.line():
        if arrival.assignment == assignment:
            arrivals.begin(arrival)
            return arrival
    return None


def test_queue_takes_students_in_turn(arrivals: Arrivals) -> None:
    queue = Queue(arrivals)
    ada = [arrivals.add("ada", "a", {"a": b"{}"}) for _ in range(4)]
    emmy = arrivals.add("emmy", "a", {"a": b"{}"})
    assert queue.next_assignment() == "a"
    assert take(queue, arrivals, "b") is None
    assert take(queue, arrivals, "a") == ada[0]
    assert take(queue, arrivals, "a") == emmy
    assert take(queue, arrivals, "a") is None, "of each student, one at a time"
    arrivals.finish(ada[0], Stage.GRADED, {})
    assert take(queue, arrivals, "a") == ada[1]
    arrivals.put_back()
    arrivals.finish(emmy, Stage.GRADED, {})
    assert take(queue, arrivals, "a") == ada[1]
    late = arrivals.add("emmy", "a", {"a": b"{}"})
    arrivals.finish(ada[1], Stage.GRADED, {})
    assert queue.ahead_of(late) == 0
    assert queue.ahead_of(ada[2]) == 1
    zoe = arrivals.add("zoe", "b", {"b": b"{}"})
    queue.rest("a", 600)
    assert queue.next_assignment() == "b"
    assert take(queue, arrivals, "b") == zoe
    queue.close()
    assert queue.next_assignment() == ""
    assert take(queue, arrivals, "a") is None


def test_queue_after_a_restart_remembers_turns(course: Course, arrivals: Arrivals) -> None:
    """Which also grades what the last one was grading when it crashed."""
    ada = [arrivals.add("ada", "a", {"a": b"{}"}) for _ in range(2)]
    assert take(Queue(arrivals), arrivals, "a") == ada[0]
    arrivals.finish(ada[0], Stage.GRADED, {})
    emmy = arrivals.add("emmy", "a", {"a": b"{}"})
    with contextlib.closing(Arrivals(course)) as others:
        assert [arrival.id for arrival in others.in_line()] == [emmy.id, ada[1].id]
        assert take(Queue(others), others, "a") == emmy
        others.put_back()
        assert [arrival.id for arrival in others.in_line()] == [ada[1].id, emmy.id]


def test_arrivals_reads_a_table_without_turns(course: Course, arrivals: Arrivals) -> None:
    ada = arrivals.add("ada", "a", {"a": b"{}"})
    with arrivals.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE served_submissions DROP COLUMN turn")
    with contextlib.closing(Arrivals(course)) as table:
        assert take(Queue(table), table, "a") == ada
