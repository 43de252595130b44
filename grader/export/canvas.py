"""Canvas: a CSV for its gradebook, and its REST interface for submissions."""

from __future__ import annotations

import csv
import io
import itertools
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.collecting.rosters import read_text
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.platform import Grade, There, entries, identity, must_be_worth, points_of
from grader.export.points import (
    IDENTIFIERS,
    as_csv,
    grades_to_export,
    identified,
    is_identifier,
    warn_of_maximum,
    write_export,
)
from grader.export.rest import Rest
from grader.gradebook.standing import Standing
from grader.gradebook.standings import ClassGrades
from grader.pages.spreadsheet import defused, is_formula, number
from grader.sandbox.plain_text import listed, one_line

log = logging.getLogger(__name__)

_CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")
_CANVAS_COLUMNS = ("Student", *_CANVAS_IDS, "Section")
_POINTS_POSSIBLE = "    Points Possible"
_FROM_CANVAS = "the file from Canvas: choose Grades, Export, Export Entire Gradebook there."
_READ_ONLY = "(read only)"
_TITLE_WITH_ID = re.compile(r"(.*?)(?: \(\d+\))?", re.DOTALL)


def export_canvas(course: Course, assignment: str, roster: Path | None, title: str) -> Path:
    """Write a gradebook CSV for Canvas: a new one, or `roster`, exported from there, with our column filled in."""
    grades = grades_to_export(course, assignment)
    title = title or assignment
    rows = _fill_in(roster, grades, title) if roster else _canvas_rows(grades, title)
    return write_export(course, f"{assignment}-canvas.csv", as_csv(rows))


def _canvas_rows(grades: ClassGrades, title: str) -> list[list[str]]:
    """The lines of a new CSV: Canvas finds students by their login, else by their SIS id, else by name."""
    warn_of_maximum(grades, "the assignment in Canvas")
    rows = [
        [*_CANVAS_COLUMNS, defused(title)],
        [_POINTS_POSSIBLE, "", "", "", "", number(grades.max_points)],
    ]
    for login, standing in identified(grades.graded, IDENTIFIERS["username"][1], "SIS Login ID"):
        person = standing.person
        own, sis = (name if is_identifier(name) else "" for name in (person.canvas_id, person.lms_user_id))
        name = ", ".join(filter(None, (person.last_name, person.first_name))) or person.id
        rows.append([defused(name), own, sis, login, "", number(standing.total)])
    return rows


def _read_roster(path: Path) -> list[list[str]]:
    """Read the lines of a gradebook exported from Canvas."""
    text = read_text(path, f"Use --roster with {_FROM_CANVAS}")
    for rows in (_split(text, ","), _split(text, ";")):
        if rows and "Section" in rows[0] and set(_CANVAS_IDS) & set(rows[0]):
            return rows
    raise CourseError(
        f"{path} is not a gradebook from Canvas: its first line has no columns ID and Section. Use {_FROM_CANVAS}"
    )


def _split(text: str, delimiter: str) -> list[list[str]]:
    """The lines that are not empty; none if the text is not CSV."""
    try:
        return [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    except csv.Error:
        return []


def _fill_in(roster: Path, grades: ClassGrades, title: str) -> list[list[str]]:
    """The lines from Canvas, cut down to its columns for students and ours. Students not in the file keep theirs."""
    head, *lines = _read_roster(roster)
    known = head.index("Section") + 1
    column = _column(head[known:], title)
    if column is None:
        log.warning(f"Canvas has no assignment “{one_line(title)}” yet. It will ask whether to create one.")
    rows = [[*head[:known], defused(title) if column is None else head[known + column]]]
    for line in lines:
        line.extend([""] * (len(head) - len(line)))
        if line[0].strip() == _POINTS_POSSIBLE.strip():
            before = "" if column is None else line[known + column].strip()
            _compare_points(before, grades.max_points, rows[0][-1])
            rows.append([*line[:known], before or number(grades.max_points)])
    left = {standing.student for standing in grades.graded}
    formulas = []
    identity = [head.index(name) for name in _CANVAS_IDS if name in head]
    for row, standing in _matched(head, lines, grades.graded):
        left.discard(standing.student)
        if any(is_formula(row[place]) for place in identity):
            formulas.append(standing.student)
        else:
            who = [text if place in identity else defused(text) for place, text in enumerate(row[:known])]
            rows.append([*who, number(standing.total)])
    if len(left) == len(grades.graded):
        raise CourseError(
            f"Nobody in {roster} has a grade here: no ID, SIS User ID or SIS Login ID matches the gradebook. "
            "To import these ids from a table, run: grader students import FILE"
        )
    if left:
        log.warning(f"Not in the file from Canvas, so left out: {listed(sorted(left))}.")
    if formulas:
        log.warning(
            "Left out, because a spreadsheet would read their identifier in the file from Canvas as a formula: "
            f"{listed(sorted(formulas))}. Enter their points in Canvas."
        )
    return rows


def _compare_points(there: str, here: float, title: str) -> None:
    """Warn if the maximum differs in Canvas: points on another scale would be imported without a word."""
    column = f"“{one_line(title)}”"
    if there == _READ_ONLY:
        log.warning(
            f"Canvas calculates {column} itself, and cannot import points for it. Use --column with another assignment."
        )
    elif there and not _is_number(there, here):
        log.warning(
            f"In Canvas, {column} has {one_line(there, 30)} points; here, it has {number(here)}. Change that in "
            "Canvas before you import the file, or use --column with another assignment."
        )


def _is_number(text: str, value: float) -> bool:
    """Whether a text is this number; some languages write a comma for the point."""
    try:
        return abs(float(text.replace(",", ".")) - value) < 0.005
    except ValueError:
        return False


def _matched(
    head: Sequence[str], lines: Sequence[Sequence[str]], standings: Sequence[Standing]
) -> list[tuple[Sequence[str], Standing]]:
    """Match lines with students, by the one column and the one identifier of ours that find the most.

    Only one pair is used, since a university's numbers and those of Canvas are easily confused.
    """
    ours = [identifier for _, identifier in IDENTIFIERS.values()]
    pairs = [*itertools.product(_CANVAS_IDS, ours), ("ID", lambda standing: standing.person.canvas_id)]
    candidates = [
        (column, _found([line[head.index(column)] for line in lines], standings, identifier))
        for column, identifier in pairs
        if column in head
    ]
    best_column, best = max(candidates, key=lambda candidate: len(candidate[1]))  # the first of the largest
    for column, found in candidates:
        if len(found) == len(best) and found != best:
            raise CourseError(
                f"{best_column} and {column} match different students. Clear the wrong column in the file from Canvas, "
                "then export again."
            )
    by_name = {standing.student: standing for standing in standings}
    return [(lines[place], by_name[student]) for place, student in best.items()]


def _found(
    names: Sequence[str], standings: Sequence[Standing], identifier: Callable[[Standing], str]
) -> dict[int, str]:
    """The students with these names, by place. A name that two students share matches nobody."""
    own = [identifier(standing).casefold() for standing in standings]
    counts = Counter(own)
    students = {
        name: standing.student for name, standing in zip(own, standings, strict=True) if name and counts[name] == 1
    }
    keys = [name.strip().casefold() for name in names]
    return {place: students[key] for place, key in enumerate(keys) if key in students}


def _column(titles: Sequence[str], title: str) -> int | None:
    """The column of the assignment; None if there is none. Canvas writes its own number after the title."""

    def plain(text: str) -> str:
        match = _TITLE_WITH_ID.fullmatch(text)
        return re.sub(r"[\W_]+", " ", match[1] if match else text).strip().casefold()

    if title in titles:
        return titles.index(title)
    found = [index for index, found_title in enumerate(titles) if plain(found_title) == plain(title)]
    if len(found) > 1:
        raise CourseError(
            f"Canvas has {len(found)} assignments called “{one_line(title)}”. "
            f"Choose one, such as: --column '{one_line(titles[found[0]])}'"
        )
    return found[0] if found else None


_NAMES = {"canvas_id": "id", "username": "login_id", "email": "email", "idnumber": "sis_user_id"}
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="next"')
MOST_PAGES = 1000


class CanvasApi:
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
            raise CourseError(
                f"In Canvas, “{title}” is not graded with points. Change that there, then run this again."
            )
        worth = found.get("points_possible")
        must_be_worth(self.name, title, None if worth is None else points_of(worth), max_points)

    def people(self) -> list[There]:
        query = {"enrollment_type[]": "student", "per_page": "100"}
        return [
            There(identity(one["id"]), {ours: str(one.get(theirs) or "") for ours, theirs in _NAMES.items()})
            for one in self._all(f"{self._course}/users", query)
        ]

    def points(self) -> dict[str, float | None]:
        """The points in Canvas now, without excused students: theirs must not be changed."""
        found = [
            one for one in self._all(f"{self._assignment}/submissions", {"per_page": "100"}) if not one.get("excused")
        ]
        return {identity(one["user_id"]): None if one["score"] is None else points_of(one["score"]) for one in found}

    def save(self, grades: Sequence[Grade]) -> None:
        """Send grade and comment in one request, so that there is never one without the other."""
        (grade,) = grades
        form = {"submission[posted_grade]": number(grade.points), "comment[text_comment]": grade.comment}
        self._rest.send("PUT", f"{self._assignment}/submissions/{grade.id}", form)

    def _all(self, path: str, query: Mapping[str, str]) -> Iterator[Any]:
        """All entries, page by page: each page says where the next one is."""
        reply = self._rest.get(path, query)
        for _ in range(MOST_PAGES):
            yield from entries(reply.data)
            following = _NEXT.search(reply.headers.get("Link", ""))
            if not following:
                return
            reply = self._rest.get(following[1])
        raise CourseError("Canvas returned too many pages. Nothing was sent.")
