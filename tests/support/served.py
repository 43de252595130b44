"""`grader serve` in a process of its own, with people who have links."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from grader.course.folder import Course
from grader.gradebook.roster import StudentNames, read_roster
from grader.serving import invitations
from grader.serving.arrivals import Stage
from grader.serving.invitations import Role

API = "/api/v1"
ASSIGNMENT = "self_attention"
PATIENCE = 300  # seconds, for a busy machine


class Served:
    """A server in a process of its own, with people who have links."""

    def __init__(self, course: Course, *options: str) -> None:
        self.course = course
        self.codes = invitations.invite(course, ["ada", "emmy"])
        self.codes |= invitations.invite(course, ["prof"], Role.INSTRUCTOR)
        self.codes |= invitations.invite(course, ["grace"], Role.ASSISTANT)
        self.start(*options)

    def start(self, *options: str, descriptors: int = 0) -> None:
        """Start it; if a number of descriptors is given, it may have no more."""
        within = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh"] if descriptors else []
        program = str(Path(sys.executable).with_name("grader"))
        command = [*within, program, "serve", "--port", "0", "--jobs", "1", *options]
        self.process = subprocess.Popen(
            command, cwd=self.course.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout
        first_line = self.process.stdout.readline()
        match = re.search(r"http://\S+:\d+", first_line)
        assert match, first_line + self.process.stdout.read()
        self.address = match[0]

    def stop(self, sent_signal: signal.Signals = signal.SIGTERM) -> str:
        self.process.send_signal(sent_signal)
        first_line, _ = self.process.communicate()
        return str(first_line)

    def get(self, name: str, place: str) -> httpx.Response:
        """What a program of this person gets, or one of nobody's."""
        return self._ask("GET", name, place)

    def post(self, name: str, place: str, content: bytes) -> httpx.Response:
        return self._ask("POST", name, place, content)

    def _ask(self, method: str, name: str, place: str, content: bytes = b"") -> httpx.Response:
        address, headers = self.address + API + place, self._headers(name)
        try:
            return httpx.request(method, address, content=content, headers=headers, timeout=PATIENCE)
        except httpx.ConnectError as error:
            status = self.process.poll()
            if status is not None and self.process.stdout:
                error.add_note(f"The server has ended with {status}. It printed: {self.process.stdout.read()}")
            raise

    def _headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.codes[name]}"} if name else {}

    @contextlib.contextmanager
    def browser(self, name: str) -> Iterator[httpx.Client]:
        """Somebody who has opened the personal link, and has clicked on the button."""
        with httpx.Client(base_url=self.address, follow_redirects=True, timeout=PATIENCE) as client:
            page = client.get(f"/enter/{self.codes[name]}")
            student_names = StudentNames(read_roster(self.course.root))
            assert f"Hello, {student_names(name)}" in page.text
            assert client.post(f"/enter/{self.codes[name]}", data=token_in(page.text)).status_code == 200
            yield client

    def submit(self, name: str, content: bytes) -> dict[str, Any]:
        answer = self.post(name, f"/assignments/{ASSIGNMENT}", content)
        assert answer.status_code == 202, answer.text
        answer_json: dict[str, Any] = answer.json()
        return answer_json

    def verdict(self, name: str, number: int) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            answer_json: dict[str, Any] = self.get(name, f"/submissions/{number}").json()
            if answer_json["state"] in (Stage.GRADED, Stage.FAILED):
                return answer_json
            time.sleep(0.1)
        raise AssertionError(f"submission {number} is not graded")


def token_in(page: str) -> dict[str, str]:
    match = re.search(r'name="_xsrf" value="([^"]+)"', page)
    assert match
    return {"_xsrf": match[1]}


@contextlib.contextmanager
def serving(course: Course, *options: str) -> Iterator[Served]:
    server = Served(course, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)
