"""Moodle: a CSV for its grade import, and its web services for assignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.platform import Grade, PlatformStudent, check_max_points, checked_id, checked_list, checked_points
from grader.export.points import IDENTIFIERS, as_csv, grades_to_export, warn_of_maximum, with_identifiers, write_export
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
    for name, standing in with_identifiers(grades.graded, identifier, heading):
        rows.append([name, number(standing.total)])
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
        self._people: list[PlatformStudent] | None = None

    def check_assignment(self, max_points: float) -> None:
        answer = self._call("mod_assign_get_assignments", {"courseids[0]": self._course})
        assignments = {}
        for course in checked_list(answer["courses"]):
            for assignment in checked_list(course["assignments"]):
                assignments[checked_id(assignment["id"])] = assignment
        if self._assignment not in assignments:
            ids = [f"{number} ({one_line(existing['name'], 40)})" for number, existing in assignments.items()]
            raise CourseError(
                f"Moodle has no assignment {self._assignment} in course {self._course}. There are: "
                f"{', '.join(ids) or 'none'}."
            )
        assignment = assignments[self._assignment]
        title = one_line(assignment["name"], 100)
        if assignment.get("teamsubmission"):
            raise CourseError(
                f"In Moodle, “{title}” is a group assignment. Import a CSV file instead: grader export --to moodle"
            )
        check_max_points(self.name, title, checked_points(assignment["grade"]), max_points)

    def people(self) -> list[PlatformStudent]:
        if self._people is None:
            people = []
            for user in self._users():
                names = {name: str(user.get(name) or "") for name in _NAMES}
                people.append(PlatformStudent(checked_id(user["id"]), names))
            self._people = people
        return self._people

    def _users(self) -> list[Any]:
        """Everyone in the course, page by page."""
        users: list[Any] = []
        for page in range(MOST_PAGES):
            options = {"limitfrom": str(page * PAGE), "limitnumber": str(PAGE), "sortby": "id"}
            form = {"courseid": self._course}
            for index, (name, value) in enumerate(options.items()):
                form |= {f"options[{index}][name]": name, f"options[{index}][value]": value}
            users_on_page = checked_list(self._call("core_enrol_get_enrolled_users", form))
            users += users_on_page
            if len(users_on_page) < PAGE:
                return users
        raise CourseError("Moodle returned too many pages. Nothing was sent.")

    def points(self) -> dict[str, float | None]:
        answer = self._call("mod_assign_get_grades", {"assignmentids[0]": self._assignment})
        grades = []
        for assignment in checked_list(answer["assignments"]):
            grades += checked_list(assignment["grades"])
        points: dict[str, float | None] = {student.id: None for student in self.people()}
        for grade in sorted(grades, key=lambda grade: int(grade.get("attemptnumber", 0))):  # the last attempt counts
            value = checked_points(grade["grade"])
            points[checked_id(grade["userid"])] = value if value >= 0 else None  # in Moodle, a negative one means none
        return points

    def save(self, grades: Sequence[Grade]) -> None:
        """Send grades and comments. A comment replaces the last one, so that sending it twice does no harm."""
        form = {"assignmentid": self._assignment, "applytoall": "0"}
        for index, grade in enumerate(grades):
            key = f"grades[{index}]"
            form |= {
                f"{key}[userid]": grade.id,
                f"{key}[grade]": number(grade.points),
                f"{key}[attemptnumber]": "-1",
                f"{key}[addattempt]": "0",
                f"{key}[workflowstate]": "",
                f"{key}[plugindata][assignfeedbackcomments_editor][text]": escape(grade.comment),
                f"{key}[plugindata][assignfeedbackcomments_editor][format]": _HTML,
            }
        self._call("mod_assign_save_grades", form)

    def _call(self, function: str, form: Mapping[str, str]) -> Any:
        """Call a function of Moodle's, with the token in the body: logs of addresses miss it. Repeating is harmless."""
        common = {"wstoken": self._token, "wsfunction": function, "moodlewsrestformat": "json"}
        answer = self._rest.send("POST", "webservice/rest/server.php", {**common, **form}, harmless=True).data
        if isinstance(answer, dict) and "exception" in answer:
            message, code = one_line(answer.get("message", ""), 300), one_line(answer.get("errorcode", ""), 60)
            raise CourseError(f"Moodle refuses {function}: {message} ({code})")
        return answer
