"""Grades in the forms that Canvas, Moodle and Gradescope import. docs/export.md says where these forms come from.

Importers find a student by an identifier, so identifiers are written exactly as they are. Where one would be a formula
in a spreadsheet, or is missing, or belongs to two, the student is left out and named: a wrong row is worse than none.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.standings import ClassGrades, Standing, read_class
from grader.pages.spreadsheet import defused, is_formula, number
from grader.sandbox.plain_text import one_line

FOLDER = "export"
IDENTIFIERS: dict[str, tuple[str, Callable[[Standing], str]]] = {  # what Moodle calls them, and where we have them
    "username": ("Username", lambda one: one.student),
    "email": ("Email address", lambda one: one.person.email or (one.student if "@" in one.student else "")),
    "idnumber": ("ID number", lambda one: one.person.lms_user_id),
}
_CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID")
_CANVAS_COLUMNS = ("Student", *_CANVAS_IDS, "Section")
_POINTS_POSSIBLE = "    Points Possible"
_FROM_CANVAS = "the file that Canvas saves: choose Grades, Export, Export Entire Gradebook there."
_READ_ONLY = "(read only)"
_TITLE_WITH_ID = re.compile(r"(.*?)(?: \(\d+\))?", re.DOTALL)
_GRADESCOPE = Path(__file__).parent / "templates" / "gradescope"

Tell = Callable[[str], None]


def export_canvas(course: Course, assignment: str, roster: Path | None, title: str, tell: Tell) -> Path:
    """A gradebook CSV for Canvas: with `roster`, one that was exported from there, with our column filled in."""
    grades = _grades(course, assignment, tell)
    title = title or assignment
    rows = _fill_in(roster, grades, title, tell) if roster else _canvas_rows(grades, title, tell)
    return _write(course, f"{assignment}-canvas.csv", _csv(rows))


def export_moodle(course: Course, assignment: str, by: str, title: str, tell: Tell) -> Path:
    """A CSV for Moodle's grade import: one column that tells who it is, and one with the points.

    Only those who have a grade are in it. A line without an identifier would be taken for the student of the line
    before, and an unknown one makes Moodle refuse the whole file.
    """
    grades = _grades(course, assignment, tell)
    heading, identifier = IDENTIFIERS[by]
    rows = [[heading, defused(title or assignment)]]
    rows += [[name, number(one.total)] for name, one in _identified(grades.graded, identifier, heading, tell)]
    return _write(course, f"{assignment}-moodle.csv", _csv(rows))


def export_gradescope(course: Course, assignment: str, tell: Tell) -> Path:
    """An autograder for Gradescope that runs nothing and hands out our grades."""
    grades = _grades(course, assignment, tell)
    heading, identifier = IDENTIFIERS["email"]
    results = {
        name.casefold(): _gradescope_results(one, grades)
        for name, one in _identified(grades.graded, identifier, heading, tell)
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            _add(archive, name, (_GRADESCOPE / name).read_text(), 0o755)
        _add(archive, "grades.json", json.dumps(results, indent=1), 0o644)
    return _write(course, f"{assignment}-gradescope.zip", content.getvalue())


def _grades(course: Course, assignment: str, tell: Tell) -> ClassGrades:
    grades = read_class(course, assignment, tell)
    if waiting := [one.student for one in grades.graded if one.waits]:
        wait = "waits" if len(waiting) == 1 else "wait"
        tell(f"Not final: {_listed(waiting)} {wait} for points by hand. Give them in the formgrader, and export again.")
    return grades


def _write(course: Course, name: str, content: str | bytes) -> Path:
    path = course.root / FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _listed(students: Sequence[str]) -> str:
    shown = ", ".join(one_line(student, 60) for student in students[:10])
    return shown if len(students) <= 10 else f"{shown} and {len(students) - 10} more"


def _identified(
    standings: Iterable[Standing], identifier: Callable[[Standing], str], heading: str, tell: Tell
) -> list[tuple[str, Standing]]:
    """Each student with the identifier that an importer takes; who has none that can be used is named."""
    named = [(identifier(one), one) for one in standings]
    counts = Counter(name.casefold() for name, _ in named)
    usable = [(name, one) for name, one in named if _is_identifier(name) and counts[name.casefold()] == 1]
    hint = "The gradebook takes them from a table: nbgrader db student import FILE"
    if not usable:
        raise CourseError(f"The gradebook has no usable {heading} for anybody. {hint}")
    students = {one.student for _, one in usable}
    if left_out := [one.student for _, one in named if one.student not in students]:
        tell(f"Left out, because the gradebook has no usable {heading} for them: {_listed(left_out)}. {hint}")
    return usable


def _is_identifier(name: str) -> bool:
    """Moodle takes 0 for nothing."""
    return name not in ("", "0") and name.isprintable() and not is_formula(name)


def _canvas_rows(grades: ClassGrades, title: str, tell: Tell) -> list[list[str]]:
    """Without a file from Canvas: it finds students by their login, else by their SIS id, else by name."""
    rows = [
        [*_CANVAS_COLUMNS, defused(title)],
        [_POINTS_POSSIBLE, "", "", "", "", number(grades.max_points)],
    ]
    for login, one in _identified(grades.graded, lambda one: one.student, "SIS Login ID", tell):
        sis = one.person.lms_user_id
        name = ", ".join(filter(None, (one.person.last_name, one.person.first_name))) or one.student
        rows.append([defused(name), "", sis if _is_identifier(sis) else "", login, "", number(one.total)])
    return rows


def _read_roster(path: Path) -> list[list[str]]:
    """The lines of a gradebook that Canvas has exported."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise CourseError(f"{path} cannot be read: {reason}. Name with --roster {_FROM_CANVAS}") from None
    for rows in (_split(text, ","), _split(text, ";")):
        if rows and "Section" in rows[0] and set(_CANVAS_IDS) & set(rows[0]):
            return rows
    raise CourseError(
        f"{path} is no gradebook from Canvas: its first line has no columns ID and Section. Name {_FROM_CANVAS}"
    )


def _split(text: str, delimiter: str) -> list[list[str]]:
    """The lines that have anything in them; none if this is no CSV."""
    try:
        return [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    except csv.Error:
        return []


def _fill_in(roster: Path, grades: ClassGrades, title: str, tell: Tell) -> list[list[str]]:
    """Who they are, as Canvas has written it, and our column. Canvas leaves alone who is not in a file."""
    head, *lines = _read_roster(roster)
    known = head.index("Section") + 1
    column = _column(head[known:], title)
    if column is None:
        tell(f"Canvas has no assignment “{one_line(title)}” yet, and will ask whether to make one.")
    rows = [[*head[:known], defused(title) if column is None else head[known + column]]]
    for line in lines:
        line.extend([""] * (len(head) - len(line)))
        if line[0].strip() == _POINTS_POSSIBLE.strip():
            before = "" if column is None else line[known + column].strip()
            _compare_points(before, grades.max_points, rows[0][-1], tell)
            rows.append([*line[:known], before or number(grades.max_points)])
    left = {one.student for one in grades.graded}
    formulas = []
    identity = [head.index(name) for name in _CANVAS_IDS if name in head]
    for row, one in _matched(head, lines, grades.graded):
        left.discard(one.student)
        if any(is_formula(row[place]) for place in identity):
            formulas.append(one.student)
        else:
            who = [text if place in identity else defused(text) for place, text in enumerate(row[:known])]
            rows.append([*who, number(one.total)])
    if len(left) == len(grades.graded):
        raise CourseError(
            f"Nobody in {roster} has a grade here: the gradebook knows students neither by ID nor by SIS User ID "
            "nor by SIS Login ID. It takes such ids from a table: nbgrader db student import FILE"
        )
    if left:
        tell(f"Not in the file from Canvas, so left out: {_listed(sorted(left))}.")
    if formulas:
        tell(
            "Left out, because a spreadsheet would take the identifier in the file from Canvas for a formula: "
            f"{_listed(sorted(formulas))}. Type in their points in Canvas."
        )
    return rows


def _compare_points(there: str, here: float, title: str, tell: Tell) -> None:
    """Points of another scale would be imported without a word."""
    column = f"“{one_line(title)}”"
    if there == _READ_ONLY:
        tell(f"Canvas computes {column} itself, and takes no points for it. Name another assignment with --column.")
    elif there and not _is_number(there, here):
        tell(
            f"In Canvas, {column} has {one_line(there, 30)} points; here, it has {number(here)}. Change that in "
            "Canvas before you import the file, or name another assignment with --column."
        )


def _is_number(text: str, value: float) -> bool:
    """Some languages write a comma for the point."""
    try:
        return abs(float(text.replace(",", ".")) - value) < 0.005
    except ValueError:
        return False


def _matched(
    head: Sequence[str], lines: Sequence[Sequence[str]], standings: Sequence[Standing]
) -> list[tuple[Sequence[str], Standing]]:
    """The lines with their students, by the one column and the one identifier of ours that find the most.

    By just one, since the numbers of a university and those of Canvas are easily confused.
    """
    candidates = [
        (column, _found([line[head.index(column)] for line in lines], standings, identifier))
        for column, (_, identifier) in itertools.product(filter(head.__contains__, _CANVAS_IDS), IDENTIFIERS.values())
    ]
    best_column, best = max(candidates, key=lambda candidate: len(candidate[1]))  # the first of the largest
    for column, found in candidates:
        if len(found) == len(best) and found != best:
            raise CourseError(
                f"{best_column} and {column} find different students. Empty the wrong one of these columns in the file "
                "from Canvas, and export again."
            )
    by_name = {one.student: one for one in standings}
    return [(lines[place], by_name[student]) for place, student in best.items()]


def _found(
    names: Sequence[str], standings: Sequence[Standing], identifier: Callable[[Standing], str]
) -> dict[int, str]:
    """The students who have these names, by place. A name that two students have tells nobody."""
    own = [identifier(one).casefold() for one in standings]
    counts = Counter(own)
    students = {name: one.student for name, one in zip(own, standings, strict=True) if name and counts[name] == 1}
    keys = [name.strip().casefold() for name in names]
    return {place: students[key] for place, key in enumerate(keys) if key in students}


def _column(titles: Sequence[str], title: str) -> int | None:
    """Which column is the assignment. Canvas writes its own number behind the title."""

    def plain(text: str) -> str:
        match = _TITLE_WITH_ID.fullmatch(text)
        return re.sub(r"[\W_]+", " ", match[1] if match else text).strip().casefold()

    if title in titles:
        return titles.index(title)
    found = [index for index, one in enumerate(titles) if plain(one) == plain(title)]
    if len(found) > 1:
        raise CourseError(
            f"Canvas has {len(found)} assignments called “{one_line(title)}”. "
            f"Say which, such as: --column '{one_line(titles[found[0]])}'"
        )
    return found[0] if found else None


def _gradescope_results(one: Standing, grades: ClassGrades) -> dict[str, Any]:
    """One student's results.json. Everything in it is text, which Gradescope shows as it is."""
    verdicts = {scored.verdict.exercise: scored.verdict for scored in one.verdicts}
    tests = []
    for item in grades.items:
        verdict = None if item.number is None else verdicts.get(item.number)
        title = f": {verdict.title}" if verdict else ""
        tests.append({
            "name": item.name if item.number is None else f"Exercise {item.label}{title}",
            "number": item.label,
            "score": round(one.points.get(item.cell, 0.0), 2),
            "max_score": item.max_points,
            "output": "\n".join(one_line(text, 1000) for text in (verdict.sentences if verdict else ())),
        })  # fmt: skip
    late = f" {number(one.penalty)} points were taken off, since it was handed in late." if one.penalty else ""
    return {
        "score": round(one.total, 2),
        "output": f"Graded outside of Gradescope.{late}",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "tests": tests,
    }


def _add(archive: zipfile.ZipFile, name: str, content: str, mode: int) -> None:
    information = zipfile.ZipInfo(name)
    information.external_attr = mode << 16
    information.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(information, content)
