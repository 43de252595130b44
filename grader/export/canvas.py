"""Canvas: its REST interface for submissions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.errors import CourseError
from grader.export.platform import Grade, There, entries, identity, must_be_worth, points_of
from grader.export.rest import Rest
from grader.pages.spreadsheet import number
from grader.sandbox.plain_text import one_line

_NAMES = {"canvas_id": "id", "username": "login_id", "email": "email", "idnumber": "sis_user_id"}
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="next"')
MOST_PAGES = 1000


class Canvas:
    name = "Canvas"
    at_once = 1

    def __init__(self, rest: Rest, course: str, assignment: str) -> None:
        self._rest = rest
        self._course = f"api/v1/courses/{course}"
        self._assignment = f"{self._course}/assignments/{assignment}"

    def look(self, max_points: float) -> None:
        found = self._rest.get(self._assignment).data
        title = one_line(found.get("name", ""), 100)
        if found.get("grading_type") != "points":
            raise CourseError(f"In Canvas, “{title}” is not graded with points. Change that there, and run this again.")
        worth = found.get("points_possible")
        must_be_worth(self.name, title, None if worth is None else points_of(worth), max_points)

    def people(self) -> list[There]:
        query = {"enrollment_type[]": "student", "per_page": "100"}
        return [
            There(identity(one["id"]), {ours: str(one.get(theirs) or "") for ours, theirs in _NAMES.items()})
            for one in self._all(f"{self._course}/users", query)
        ]

    def points(self) -> dict[str, float | None]:
        """Who is excused has none that could be another one."""
        found = [
            one for one in self._all(f"{self._assignment}/submissions", {"per_page": "100"}) if not one.get("excused")
        ]
        return {identity(one["user_id"]): None if one["score"] is None else points_of(one["score"]) for one in found}

    def save(self, grades: Sequence[Grade]) -> None:
        """Grade and comment in one request: there is never one without the other."""
        (grade,) = grades
        form = {"submission[posted_grade]": number(grade.points), "comment[text_comment]": grade.comment}
        self._rest.send("PUT", f"{self._assignment}/submissions/{grade.id}", form)

    def _all(self, path: str, query: Mapping[str, str]) -> Iterator[Any]:
        """Page after page: each says where the next one is."""
        reply = self._rest.get(path, query)
        for _ in range(MOST_PAGES):
            yield from entries(reply.data)
            following = _NEXT.search(reply.headers.get("Link", ""))
            if not following:
                return
            reply = self._rest.get(following[1])
        raise CourseError("Canvas has given far too many pages. Nothing is sent.")
