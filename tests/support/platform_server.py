"""A small server for the documented calls of Canvas and Moodle that we make, and no others."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

TOKEN = "not-for-others"
PAGE = 2  # people on a page of Canvas, however many are asked for
Planned = tuple[int, dict[str, str], str] | None  # code, headers, text; a code of 0 cuts the connection


@dataclass
class Held:
    """The data of the platform."""

    people: list[dict[str, Any]] = field(default_factory=list)
    score: dict[int, float | None] = field(default_factory=dict)
    comments: dict[int, list[str]] = field(default_factory=dict)
    excused: set[int] = field(default_factory=set)
    max_points: float = 30.0
    grading_type: str = "points"
    teams: int = 0
    calls: list[str] = field(default_factory=list)
    # Answers to the first calls, in place of the right ones; None stands for the right one.
    first: list[Planned] = field(default_factory=list)
    first_writes: list[Planned] = field(default_factory=list)
    link: str = ""  # where the next page is, if not here


class Handler(BaseHTTPRequestHandler):
    held: Held

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        self.held.calls.append(f"GET {path}")
        if not self._instead(self.held.first):
            self._canvas(path, int(query.get("page", ["1"])[0]))

    def do_PUT(self) -> None:
        self.held.calls.append(f"PUT {self.path}")
        form = self._form()
        if self._instead(self.held.first_writes) or self._forbidden():
            return
        found = re.fullmatch(r"/api/v1/courses/101/assignments/4711/submissions/(\d+)", self.path)
        assert found, self.path
        assert set(form) == {"submission[posted_grade]", "comment[text_comment]"}
        user = int(found[1])
        self.held.score[user] = float(form["submission[posted_grade]"])
        self.held.comments.setdefault(user, []).append(form["comment[text_comment]"])
        self._answer(200, {"user_id": user, "score": self.held.score[user]})

    def do_POST(self) -> None:
        form = self._form()
        assert self.path == "/webservice/rest/server.php"
        assert form["moodlewsrestformat"] == "json"
        function = form["wsfunction"]
        self.held.calls.append(function)
        writes = function == "mod_assign_save_grades"
        if self._instead(self.held.first_writes if writes else self.held.first):
            return
        if form["wstoken"] != TOKEN:  # Moodle reports it with status 200
            said = {"exception": "moodle_exception", "errorcode": "invalidtoken", "message": "Invalid token"}
            self._answer(200, said)
        else:
            self._answer(200, getattr(self, f"_{function}")(form))

    # --- Canvas ---

    def _forbidden(self) -> bool:
        if self.headers["Authorization"] == f"Bearer {TOKEN}":
            return False
        self._answer(401, {"errors": [{"message": "Invalid access token."}]})
        return True

    def _canvas(self, path: str, page: int) -> None:
        held = self.held
        if self._forbidden():
            return
        known: dict[str, list[Any]] = {
            "users": [{key: value for key, value in one.items() if key != "username"} for one in held.people],
            "assignments/4711/submissions": [
                {"user_id": user, "score": score, "excused": user in held.excused} for user, score in held.score.items()
            ],
        }
        place = path.removeprefix("/api/v1/courses/101/")
        if place == "assignments/4711":
            said = {"name": "Self-attention", "points_possible": held.max_points, "grading_type": held.grading_type}
            self._answer(200, said)
        elif place in known:
            last = page * PAGE >= len(known[place])
            following = held.link or f"http://{self.headers['Host']}{path}?page={page + 1}"
            links = f'<{following}>; rel="current",' + ("" if last else f'<{following}>; rel="next"')
            self._answer(200, known[place][(page - 1) * PAGE : page * PAGE], {"Link": links})
        else:
            self._answer(404, {"errors": [{"message": "The specified resource does not exist."}]})

    # --- Moodle ---

    def _mod_assign_get_assignments(self, form: dict[str, str]) -> Any:
        assert form["courseids[0]"] == "101"
        one = {"id": 4711, "cmid": 9, "name": "Self-attention", "grade": self.held.max_points}
        return {"courses": [{"id": 101, "assignments": [one | {"teamsubmission": self.held.teams}]}], "warnings": []}

    def _core_enrol_get_enrolled_users(self, form: dict[str, str]) -> Any:
        options = {form[f"options[{n}][name]"]: form[f"options[{n}][value]"] for n in range(3)}
        first, number = int(options["limitfrom"]), int(options["limitnumber"])
        return self.held.people[first : first + number]

    def _mod_assign_get_grades(self, form: dict[str, str]) -> Any:
        assert form["assignmentids[0]"] == "4711"
        grades = [
            {"userid": user, "attemptnumber": 1, "grade": "-1.00000" if score is None else f"{score:.5f}"}
            for user, score in self.held.score.items()
        ] + [{"userid": user, "attemptnumber": 0, "grade": "0.50000"} for user in self.held.score]
        return {"assignments": [{"assignmentid": 4711, "grades": grades}], "warnings": []}

    def _mod_assign_save_grades(self, form: dict[str, str]) -> None:
        assert (form["assignmentid"], form["applytoall"]) == ("4711", "0")
        for place in range(sum(name.endswith("[userid]") for name in form)):
            here = f"grades[{place}]"
            assert (form[f"{here}[attemptnumber]"], form[f"{here}[addattempt]"]) == ("-1", "0")
            user, editor = int(form[f"{here}[userid]"]), f"{here}[plugindata][assignfeedbackcomments_editor]"
            self.held.score[user] = float(form[f"{here}[grade]"])
            self.held.comments[user] = [form[f"{editor}[text]"]]

    # --- both ---

    def _form(self) -> dict[str, str]:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        return dict(parse_qsl(text, keep_blank_values=True))

    def _instead(self, planned: list[Planned]) -> bool:
        if not planned or (now := planned.pop(0)) is None:
            return False
        code, headers, text = now
        if code:
            self._answer(code, text, headers)
        else:
            self.close_connection = True
        return True

    def _answer(self, code: int, said: Any, headers: dict[str, str] | None = None) -> None:
        body = said.encode("utf-8", "surrogateescape") if isinstance(said, str) else json.dumps(said).encode()
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(held: Held) -> Iterator[str]:
    """Serve this data, and yield the address."""
    handler = type("OneHandler", (Handler,), {"held": held})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
