"""What a hostile client sends: nothing is held, nothing is logged that opens a door, and everybody else is served."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from grader.course.folder import Course
from grader.serving.server import MOST_OF_FORMS
from grader.serving.student_pages import MOST_BYTES, MOST_SENT
from support.served import API, ASSIGNMENT, PATIENCE, Served, serving

pytestmark = pytest.mark.slow

PLACE = f"/assignments/{ASSIGNMENT}"


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as one:
        yield one


def send_request(served: Served, request: str, content: bytes = b"") -> socket.socket:
    """A connection on which this was sent, and perhaps not all that it announces."""
    host, port = served.address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    connection.sendall(request.replace("\n", "\r\n").encode() + content)
    return connection


def begin_notebook_upload(served: Served, length: int) -> socket.socket:
    """A notebook of Ada's of which nothing comes."""
    headers = f"Host: x\nAuthorization: Bearer {served.codes['ada']}\nContent-Length: {length}"
    return send_request(served, f"POST {API}{PLACE} HTTP/1.1\n{headers}\n\n")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=x", b"--x\r\n\x00\r\n\r\nx\r\n--x--"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 100_000 + b"--x--",
        ),
    ],
)
def test_form_when_unreadable_is_a_bad_request(served: Served, kind: str, content: bytes) -> None:
    headers = {"Authorization": f"Bearer {served.codes['ada']}", "Content-Type": kind}
    answer = httpx.post(served.address + API + PLACE, content=content, headers=headers, timeout=PATIENCE)
    assert (answer.status_code, answer.json()) == (400, {"error": "This form cannot be read."})


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 1_000_000,
        b'{"cells": ' + b"9" * 100_000 + b"}",
        b'{"cells": [], "cells": 1}',
        json.dumps({"cells": [{"cell_type": "code", "source": "", "metadata": {}}] * 100_000}).encode(),
        '{"cells": []}'.encode("utf-16"),
    ],
    ids=["nested", "number", "twice", "cells", "encoding"],
)
def test_submit_when_notebook_is_odd_gives_a_sentence(served: Served, content: bytes) -> None:
    answer = served.post("ada", PLACE, content)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("This cannot be graded as self_attention: ")


def test_large_requests_are_accepted_only_for_notebooks(served: Served) -> None:
    """Of a form, anything is held until all of it is here; of what nobody may send, nothing is."""
    large = b"x" * (MOST_OF_FORMS + 1)
    for place in ("/leave", f"/enter/{served.codes['ada']}", f"{PLACE}/closed"):
        with contextlib.suppress(httpx.TransportError):  # the connection may be cut
            assert httpx.post(served.address + place, content=large, timeout=PATIENCE).status_code in (400, 413)
    assert served.post("", PLACE, large).status_code == 401


def test_student_with_many_open_requests_is_refused_for_a_while(served: Served) -> None:
    for _ in range(MOST_SENT + 1):
        with begin_notebook_upload(served, MOST_BYTES + 1) as connection:
            connection.recv(100)  # it is too large
    held = [begin_notebook_upload(served, 10) for _ in range(MOST_SENT)]
    until = time.monotonic() + PATIENCE
    while (answer := served.post("ada", PLACE, b"{}")).status_code != 429 and time.monotonic() < until:
        time.sleep(0.05)  # until all of them have been seen
    assert answer.json()["error"].startswith("You have too many requests open")
    assert served.post("emmy", PLACE, b"{}").status_code == 400
    for connection in held:
        connection.close()
    while (answer := served.post("ada", PLACE, b"{}")).status_code == 429 and time.monotonic() < until:
        time.sleep(0.05)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "lengths",
    [
        "Content-Length: 6\nTransfer-Encoding: chunked",
        "Content-Length: 6\nContent-Length: 5",
        "Content-Length: +6",
        "Content-Length: -1",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
    ],
)
def test_request_with_ambiguous_length_is_refused(served: Served, lengths: str) -> None:
    request = f"POST /leave HTTP/1.1\nHost: x\n{lengths}\n\n"
    smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with send_request(served, request, smuggled) as connection:
        said = b""
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(1000):
                said += more
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"trouble" not in said


def test_forged_host_header_does_not_redirect(served: Served) -> None:
    for host in ("evil.example", 'x";import os#'):
        answer = httpx.get(f"{served.address}/enter/x", headers={"Host": host}, follow_redirects=False)
        assert "evil" not in answer.text
    for place in ("//evil.example/..", "/%0d%0aLocation:%20https://evil.example", "/class/..//evil.example"):
        answer = httpx.get(served.address + place, follow_redirects=False)
        assert (answer.status_code in (401, 404), answer.headers.get("Location")) == (True, None)


def test_pages_cannot_be_framed_by_another_site(served: Served, make_notebook: Any, solved: dict[int, str]) -> None:
    content = json.dumps(make_notebook(served.course, solved)).encode()
    number = served.submit("emmy", content)["submission"]
    served.verdict("emmy", number)
    with served.browser("emmy") as browser:
        for place in ("/", f"/submissions/{number}", f"/submissions/{number}/feedback"):
            assert "frame-ancestors 'none'" in browser.get(place).headers["Content-Security-Policy"]


def test_idle_connections_keep_nobody_out_and_fill_no_log(
    new_course: Callable[[], Course], make_notebook: Any, solved: dict[int, str]
) -> None:
    with serving(new_course()) as one, contextlib.ExitStack() as opened:
        one.stop()
        one.start(descriptors=256)
        for _ in range(300):
            opened.enter_context(send_request(one, ""))
            opened.enter_context(send_request(one, "GET / HTTP/1.1\nHost: x\n"))
        content = json.dumps(make_notebook(one.course, solved)).encode()
        assert one.verdict("ada", one.submit("ada", content)["submission"])["result"]["points"] == 30
        assert one.stop() == ""


def test_same_problem_of_many_requests_is_logged_once(new_course: Callable[[], Course]) -> None:
    with serving(new_course()) as one:
        (one.course.root / "course.toml").write_text("[serving]\nattempts = 0\n")
        for number in range(20):
            cookies = {"who": f"eHh4|1700000000|{number:040x}"}
            assert httpx.get(f"{one.address}/", cookies=cookies).status_code == 401
            assert one.get("ada", "/me").status_code == 500
        lines = one.stop().splitlines()
    assert len(lines) == 2
    assert "Invalid cookie signature" in lines[0]
    assert "attempts: 0 is not a whole number" in lines[1]


def test_concurrent_submissions_do_not_exceed_the_attempts(
    new_course: Callable[[], Course], make_notebook: Any, solved: dict[int, str]
) -> None:
    with serving(new_course()) as one:
        (one.course.root / "course.toml").write_text("[serving]\nattempts = 2\n")
        content = json.dumps(make_notebook(one.course, solved)).encode()
        with ThreadPoolExecutor(8) as clients:
            answers = list(clients.map(lambda _: one.post("ada", PLACE, content).status_code, range(8)))
        assert answers.count(202) == 2
        assert set(answers) <= {202, 403, 429}


def test_student_names_are_escaped_on_pages(new_course: Callable[[], Course]) -> None:
    course = new_course()
    (course.root / "roster.csv").write_text("id\n<script>alert(1)</script>\n")
    with serving(course) as one:
        with one.browser("prof") as browser:
            page = browser.get("/class").text
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page


def test_log_holds_no_code_of_a_link(new_course: Callable[[], Course]) -> None:
    with serving(new_course()) as one:
        place = f"{one.address}/enter/{one.codes['ada']}"
        assert httpx.post(place).status_code == 403  # without the form's token
        assert httpx.put(place).status_code == 403
        assert httpx.get(f"{place}x").status_code == 404
        assert httpx.post(f"{one.address}{PLACE}", headers={"Content-Type": "multipart/form-data"}).status_code == 401
        said = one.stop()
    assert one.codes["ada"] not in said
    assert "Traceback" not in said
