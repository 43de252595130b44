"""Moodle: a CSV for its grade import, and its web services for assignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.platform import Grade, There, entries, identity, must_be_worth, points_of
from grader.export.points import IDENTIFIERS, as_csv, grades_to_export, identified, warn_of_maximum, write_export
from grader.export.rest import Rest
from grader.pages.spreadsheet import defused, number
from grader.sandbox.plain_text import one_line


def export_moodle(course: Course, assignment: str, by: str, title: str) -> Path:
    """Write a CSV for Moodle: a column that identifies students, and one with their points.

    Only students with a grade are in it. Moodle would take a line without an identifier for the student of the line
    before, and an unknown identifier makes it refuse the whole file.
    """
    grades = grades_to_export(course, assignment)
    warn_of_maximum(grades, "the grade item in Moodle")
    heading, identifier = IDENTIFIERS[by]
    rows = [[heading, defused(title or assignment)]]
    rows += [[name, number(standing.total)] for name, standing in identified(grades.graded, identifier, heading)]
    return write_export(course, f"{assignment}-moodle.csv", as_csv(rows))


_NAMES = ("username", "email", "idnumber")
_HTML = "1"  # Moodle's name for that form of a text
PAGE = 200
MOST_PAGES = 1000


class MoodleApi:
    name = "Moodle"
    at_once = 25

    def __init__(self, rest: Rest, token: str, course: str, assignment: str) -> None:
        self._rest = rest
        self._token = token
        self._course = course
        self._assignment = assignment
        self._people: list[There] | None = None

    def look(self, max_points: float) -> None:
        found = self._call("mod_assign_get_assignments", {"courseids[0]": self._course})
        given = [one for course in entries(found["courses"]) for one in entries(course["assignments"])]
        known = {identity(one["id"]): one for one in given}
        if self._assignment not in known:
            ids = ", ".join(f"{name} ({one_line(one['name'], 40)})" for name, one in known.items()) or "none"
            raise CourseError(
                f"Moodle has no assignment {self._assignment} in course {self._course}. There are: {ids}."
            )
        found = known[self._assignment]
        title = one_line(found["name"], 100)
        if found.get("teamsubmission"):
            raise CourseError(
                f"In Moodle, “{title}” is a group assignment. Import a CSV file instead: grader export --to moodle"
            )
        must_be_worth(self.name, title, points_of(found["grade"]), max_points)

    def people(self) -> list[There]:
        if self._people is None:
            self._people = [
                There(identity(one["id"]), {name: str(one.get(name) or "") for name in _NAMES}) for one in self._all()
            ]
        return self._people

    def _all(self) -> list[Any]:
        """Everyone in the course, page by page."""
        found: list[Any] = []
        for page in range(MOST_PAGES):
            options = {"limitfrom": str(page * PAGE), "limitnumber": str(PAGE), "sortby": "id"}
            form = {"courseid": self._course}
            for place, (name, value) in enumerate(options.items()):
                form |= {f"options[{place}][name]": name, f"options[{place}][value]": value}
            here = entries(self._call("core_enrol_get_enrolled_users", form))
            found += here
            if len(here) < PAGE:
                return found
        raise CourseError("Moodle returned too many pages. Nothing was sent.")

    def points(self) -> dict[str, float | None]:
        found = self._call("mod_assign_get_grades", {"assignmentids[0]": self._assignment})
        given = [grade for one in entries(found["assignments"]) for grade in entries(one["grades"])]
        points: dict[str, float | None] = {one.id: None for one in self.people()}
        for grade in sorted(given, key=lambda grade: int(grade.get("attemptnumber", 0))):  # the last attempt counts
            value = points_of(grade["grade"])
            points[identity(grade["userid"])] = value if value >= 0 else None  # in Moodle, a negative grade means none
        return points

    def save(self, grades: Sequence[Grade]) -> None:
        """Send grades and comments. A comment replaces the last one, so that sending it twice does no harm."""
        form = {"assignmentid": self._assignment, "applytoall": "0"}
        for place, grade in enumerate(grades):
            here = f"grades[{place}]"
            form |= {
                f"{here}[userid]": grade.id,
                f"{here}[grade]": number(grade.points),
                f"{here}[attemptnumber]": "-1",
                f"{here}[addattempt]": "0",
                f"{here}[workflowstate]": "",
                f"{here}[plugindata][assignfeedbackcomments_editor][text]": escape(grade.comment),
                f"{here}[plugindata][assignfeedbackcomments_editor][format]": _HTML,
            }
        self._call("mod_assign_save_grades", form)

    def _call(self, function: str, form: Mapping[str, str]) -> Any:
        """Call a function of Moodle's, with the token in the body: logs of addresses miss it. Repeating is harmless."""
        common = {"wstoken": self._token, "wsfunction": function, "moodlewsrestformat": "json"}
        found = self._rest.send("POST", "webservice/rest/server.php", {**common, **form}, harmless=True).data
        if isinstance(found, dict) and "exception" in found:
            said = one_line(found.get("message", ""), 300)
            raise CourseError(f"Moodle refuses {function}: {said} ({one_line(found.get('errorcode', ''), 60)})")
        return found
