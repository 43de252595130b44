"""What programs may ask, under /api/v1, and its description in OpenAPI 3.1, which is made of the same table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from grader.pages.page_parts import MARKS
from grader.serving import student_pages
from grader.serving.arrivals import Stage
from grader.serving.class_pages import ClassPage
from grader.serving.exports import ReportFile, TermFile
from grader.serving.handler import Handler, Metrics, NothingThere
from grader.serving.invitations import Role, Scope

API = "/api/v1"
Schema = dict[str, Any]


def _object(**properties: Schema) -> Schema:
    """An object that has all of these, and may have more in later versions."""
    return {"type": "object", "required": [*properties], "properties": properties}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


TEXT, NUMBER, COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer"}
TIME = {**TEXT, "format": "date-time"}
ATTEMPTS_LEFT = {"type": ["integer", "null"], "description": "Attempts that are left; null if there is no limit."}
REFUSAL = {**TEXT, "description": "Why nothing can be submitted now; empty if it can."}
ASSIGNMENT = _object(
    notebook={**TEXT, "description": "The file's name without .ipynb."},
    notebooks={**_list(TEXT), "description": "The same, where there are several."},
    left=ATTEMPTS_LEFT,
    refusal=REFUSAL,
    late={**TEXT, "description": "What to know before submitting now, if that is late; else empty."},
    late_costs_points={"type": "boolean", "description": "Whether it would then replace one that counts."},
)
STAGE = {"enum": [*Stage]}
RECEIPT = _object(student=TEXT, assignment=TEXT, number=COUNT, arrived=TIME, sha256=TEXT, signature=TEXT)
POINTS = {"type": ["number", "null"]}
WAITS = {**_list(TEXT), "description": "Exercises that wait for points from a person."}
LINE = _object(
    id=COUNT, student=TEXT, full_name=TEXT, assignment=TEXT, number=COUNT, arrived=TIME, state=STAGE,
    points={**POINTS, "description": "What counts for the student; null until it is graded."}, waits=WAITS,
)  # fmt: skip
EXERCISE = _object(
    exercise={}, title=TEXT, heading=TEXT, state={"enum": [*MARKS]}, points=NUMBER, max_points=NUMBER, remark=TEXT,
    sentences=_list(TEXT),
)  # fmt: skip
RESULT = {
    "type": "object",
    "description": "As much of it as may be read now.",
    "properties": {
        "error": TEXT,
        "points": {**NUMBER, "description": "As published, or else as the gradebook has it."},
        "max_points": NUMBER,
        "waits": WAITS,
        "penalty": {**NUMBER, "description": "Points taken off for being late."},
        "exercises": _list(EXERCISE),
    },
}
REMARKS = {**_list(TEXT), "description": "Whether it is late, what waits, and which submission counts."}
STATE: Schema = {
    "state": STAGE, "ahead": COUNT, "result": RESULT, "remarks": REMARKS, "feedback": {"type": "boolean"},
}  # fmt: skip
PERSON: Schema = {
    "name": {**TEXT, "description": "The id."},
    "full_name": TEXT,
    "role": {"enum": [*Role]},
    "scopes": _list({"enum": [*Scope]}),
    "until": {"type": ["string", "null"], "format": "date-time"},
    "assignments": _map(ASSIGNMENT),
}
REFUSED = {"description": "Why not.", "content": {"application/json": {"schema": _object(error=TEXT)}}}
SEGMENTS = {"assignment": (r"([^/]+)", TEXT), "submission": (r"(\d{1,9})", COUNT)}  # of addresses


@dataclass(frozen=True)
class Program:
    """An address for programs."""

    place: str
    handler: type[Handler]
    scopes: tuple[Scope, ...]  # the token has one of them
    answer: Schema | str  # JSON like this, or of this type
    method: str = "get"
    status: int = 200
    query: tuple[str, ...] = ()

    @property
    def route(self) -> tuple[str, type[Handler], dict[str, object]]:
        place = re.sub(r"{(\w+)}", lambda segment: SEGMENTS[segment[1]][0], self.place.replace(".", r"\."))
        return API + place, self.handler, {"scopes": self.scopes}

    @property
    def _segments(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.place)

    @property
    def described(self) -> Schema:
        content = {self.answer: {}} if isinstance(self.answer, str) else {"application/json": {"schema": self.answer}}
        parameters: list[Schema] = []
        for name in self._segments:
            parameters.append({"name": name, "in": "path", "required": True, "schema": SEGMENTS[name][1]})
        for name in self.query:
            parameters.append({"name": name, "in": "query", "schema": TEXT})
        return {
            "security": [{"token": [*self.scopes]}],
            "parameters": parameters,
            **({"requestBody": {"content": {"application/x-ipynb+json": {}}}} if self.method == "post" else {}),
            "responses": {
                str(self.status): {"description": self.handler.__doc__, "content": content},
                "default": REFUSED,
            },
        }


READ, SUBMIT, CLASS = ((scope,) for scope in (Scope.READ, Scope.SUBMIT, Scope.CLASS))
PROGRAMS = (
    Program("/me", student_pages.WhoAmI, tuple(Scope), _object(**PERSON)),
    Program(
        "/assignments/{assignment}", student_pages.TakeIn, SUBMIT,
        _object(submission=COUNT, left=ATTEMPTS_LEFT, receipt=RECEIPT), "post", 202,
    ),
    Program("/assignments/{assignment}/release.zip", student_pages.Download, READ, "application/zip"),
    Program("/assignments/{assignment}/report.csv", ReportFile, CLASS, "text/csv"),
    Program("/assignments/{assignment}/report.json", ReportFile, CLASS, _object(students=_list(_object(student=TEXT)))),
    Program("/term.csv", TermFile, CLASS, "text/csv"),
    Program("/submissions/{submission}", student_pages.SubmissionPage, READ, _object(**STATE, receipt=RECEIPT)),
    Program("/submissions/{submission}/events", student_pages.Events, READ, "text/event-stream"),
    Program("/submissions/{submission}/feedback", student_pages.FeedbackFile, READ, "text/html"),
    Program(
        "/class", ClassPage, CLASS, _object(waiting=COUNT, trouble=_map(TEXT), submissions=_list(LINE)),
        query=("student",),
    ),
    Program("/metrics", Metrics, CLASS, "text/plain"),
)  # fmt: skip


class Description(Handler):
    """This description, for anybody."""

    def get(self) -> None:
        paths: dict[str, Schema] = {one.place: {one.method: one.described} for one in PROGRAMS}
        token = {"type": "http", "scheme": "bearer", "description": "The end of a link, or a token with these scopes."}
        self.say(
            {
                "openapi": "3.1.0",
                "info": {"title": "grader serve", "version": "1"},
                "servers": [{"url": self.request.path.removesuffix("/openapi.json")}],
                "paths": paths,
                "components": {"securitySchemes": {"token": token}},
            }
        )


ROUTES = [
    (f"{API}/openapi\\.json", Description),
    *(one.route for one in PROGRAMS),
    (f"{API}/.*", NothingThere, {"scopes": tuple(Scope)}),
]
