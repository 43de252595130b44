"""Canvas: a CSV for its gradebook, and its REST interface for submissions."""

from __future__ import annotations

import csv
import io
import itertools
import logging
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.collecting.rosters import read_text
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.points import (
    IDENTIFIERS,
    as_csv,
    grades_to_export,
    is_identifier,
    warn_of_maximum,
    with_identifiers,
    write_export,
)
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
    _, username = IDENTIFIERS["username"]
    for login, standing in with_identifiers(grades.graded, username, "SIS Login ID"):
        person = standing.person
        canvas_id = person.canvas_id if is_identifier(person.canvas_id) else ""
        sis_id = person.lms_user_id if is_identifier(person.lms_user_id) else ""
        name = ", ".join(filter(None, (person.last_name, person.first_name))) or person.id
        rows.append([defused(name), canvas_id, sis_id, login, "", number(standing.total)])
    return rows


def _read_roster(path: Path) -> list[list[str]]:
    """Read the lines of a gradebook exported from Canvas."""
    text = read_text(path, f"Use --roster with {_FROM_CANVAS}")
    for delimiter in (",", ";"):
        rows = _split(text, delimiter)
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
    width = head.index("Section") + 1  # the columns for students; those of assignments follow
    column = _find_column(head[width:], title)
    if column is None:
        log.warning(f"Canvas has no assignment “{one_line(title)}” yet. It will ask whether to create one.")
    heading = defused(title) if column is None else head[width + column]
    rows = [[*head[:width], heading]]
    for line in lines:
        line.extend([""] * (len(head) - len(line)))
        if line[0].strip() == _POINTS_POSSIBLE.strip():
            canvas_points = "" if column is None else line[width + column].strip()
            _compare_points(canvas_points, grades.max_points, heading)
            rows.append([*line[:width], canvas_points or number(grades.max_points)])
    missing = {standing.student for standing in grades.graded}
    formulas = []
    id_columns = [head.index(name) for name in _CANVAS_IDS if name in head]
    for matched, standing in _match_lines(head, lines, grades.graded):
        missing.discard(standing.student)
        if any(is_formula(matched[index]) for index in id_columns):
            formulas.append(standing.student)
        else:
            cells = [text if index in id_columns else defused(text) for index, text in enumerate(matched[:width])]
            rows.append([*cells, number(standing.total)])
    if len(missing) == len(grades.graded):
        raise CourseError(
            f"Nobody in {roster} has a grade here: no ID, SIS User ID or SIS Login ID matches the gradebook. "
            "To import these ids from a table, run: grader students import FILE"
        )
    if missing:
        log.warning(f"Not in the file from Canvas, so left out: {listed(sorted(missing))}.")
    if formulas:
        log.warning(
            "Left out, because a spreadsheet would read their identifier in the file from Canvas as a formula: "
            f"{listed(sorted(formulas))}. Enter their points in Canvas."
        )
    return rows


def _compare_points(canvas_points: str, max_points: float, title: str) -> None:
    """Warn if the maximum differs in Canvas: points on another scale would be imported without a word."""
    column = f"“{one_line(title)}”"
    if canvas_points == _READ_ONLY:
        log.warning(
            f"Canvas calculates {column} itself, and cannot import points for it. Use --column with another assignment."
        )
    elif canvas_points and not _is_number(canvas_points, max_points):
        log.warning(
            f"In Canvas, {column} has {one_line(canvas_points, 30)} points; here, it has {number(max_points)}. Change "
            "that in Canvas before you import the file, or use --column with another assignment."
        )


def _is_number(text: str, value: float) -> bool:
    """Whether a text is this number; some languages write a comma for the point."""
    try:
        return abs(float(text.replace(",", ".")) - value) < 0.005
    except ValueError:
        return False


def _match_lines(
    head: Sequence[str], lines: Sequence[Sequence[str]], standings: Sequence[Standing]
) -> list[tuple[Sequence[str], Standing]]:
    """Match lines with students, by the one column and the one identifier of ours that find the most.

    Only one pair is used, since a university's numbers and those of Canvas are easily confused.
    """
    identifiers = [identifier for _, identifier in IDENTIFIERS.values()]
    pairs = [*itertools.product(_CANVAS_IDS, identifiers), ("ID", lambda standing: standing.person.canvas_id)]
    candidates = []
    for column, identifier in pairs:
        if column in head:
            names = [line[head.index(column)] for line in lines]
            candidates.append((column, _students_by_index(names, standings, identifier)))
    best_column, best = max(candidates, key=lambda candidate: len(candidate[1]))  # the first of the largest
    for column, students in candidates:
        if len(students) == len(best) and students != best:
            raise CourseError(
                f"{best_column} and {column} match different students. Clear the wrong column in the file from Canvas, "
                "then export again."
            )
    standing_of = {standing.student: standing for standing in standings}
    return [(lines[index], standing_of[student]) for index, student in best.items()]


def _students_by_index(
    names: Sequence[str], standings: Sequence[Standing], identifier: Callable[[Standing], str]
) -> dict[int, str]:
    """The students with these names, by index. A name that two students share matches nobody."""
    counts = Counter(identifier(standing).casefold() for standing in standings)
    student_of: dict[str, str] = {}
    for standing in standings:
        name = identifier(standing).casefold()
        if name and counts[name] == 1:
            student_of[name] = standing.student
    keys = [name.strip().casefold() for name in names]
    return {index: student_of[key] for index, key in enumerate(keys) if key in student_of}


def _find_column(titles: Sequence[str], title: str) -> int | None:
    """The column of the assignment; None if there is none. Canvas writes its own number after the title."""

    def plain(text: str) -> str:
        match = _TITLE_WITH_ID.fullmatch(text)
        return re.sub(r"[\W_]+", " ", match[1] if match else text).strip().casefold()

    if title in titles:
        return titles.index(title)
    columns = [index for index, existing in enumerate(titles) if plain(existing) == plain(title)]
    if len(columns) > 1:
        raise CourseError(
            f"Canvas has {len(columns)} assignments called “{one_line(title)}”. "
            f"Choose one, such as: --column '{one_line(titles[columns[0]])}'"
        )
    return columns[0] if columns else None
