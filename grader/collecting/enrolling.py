"""Add a table of students to the roster, for `grader students import`. Nobody is ever removed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.collecting.rosters import MORE, BadLine, in_gradebook, read_line, read_lines, same_as, student_of
from grader.collecting.students import Roster, normal
from grader.course.folder import Course
from grader.gradebook.roster import COLUMNS, Enrolled, enter_students, read_roster, write_roster
from grader.sandbox.plain_text import one_line

_NOBODY = "Student, Test"  # made up by Canvas, for teachers
_LONGEST = 128  # characters of a cell that fit into nbgrader's table
_OF_ONE = ("email", "username", "lms_user_id", "canvas_id", "moodle_id", "github")  # no two students share one
# A spreadsheet takes any other beginning for a formula, also after something that it takes for the end of a cell.
_BEGINNING = re.compile(r"\s*(?:[\w('’]|$)")
_CELL_ENDS = re.compile(r"[;|\"]")


@dataclass
class Imported:
    """The result of importing a table."""

    new: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)  # by id: the changes, in words
    same: int = 0
    bad: dict[int, str] = field(default_factory=dict)  # by number of line: why it was left out


def import_students(course: Course, table: Path) -> Imported:
    """Merge a table into the roster and into nbgrader's own table. Bad lines are left out, and reported."""
    roster = read_roster(course.root, to_write=True)
    before = in_gradebook(course)
    known = Roster([*before, *map(student_of, roster.values())])
    owners = {("email", normal(one.email)): one.id for one in before if one.email}
    owners |= {key: one.id for one in roster.values() for key in _keys(one)}
    lines: dict[str, int] = {}  # by id
    found = Imported()
    for line, row in read_lines(table, "Use a table of students."):
        try:
            if one := _enrolled(row):
                one = same_as(one, known, by_id=row.get("id") == one.id)
                _must_be_its_own(one, owners, lines)
                lines[one.id] = line
                owners |= dict.fromkeys(_keys(one), one.id)
                roster[one.id] = _merged(roster.get(one.id), one, found)
        except BadLine as error:
            found.bad[line] = str(error)
    enter_students(course, roster)
    write_roster(course.root, [roster[student] for student in sorted(roster)])
    return found


def _enrolled(row: Mapping[str, str]) -> Enrolled | None:
    one, from_canvas = read_line(row), {"student", "section"} <= row.keys()
    if one is None or (from_canvas and row["student"] == _NOBODY):
        if any(row.values()) and not from_canvas:  # tables from Canvas have such lines, such as points possible
            raise BadLine("it has no id")
        return None
    if row.get(MORE):
        raise BadLine("it has more cells than the first line. Put quotes around a cell with a comma in it")
    for column in COLUMNS[1:]:
        text = getattr(one, column)
        said = f"its {column} “{one_line(text, 60)}”"
        if len(text) > _LONGEST:
            raise BadLine(f"{said} is longer than {_LONGEST} characters")
        if not text.isprintable():
            raise BadLine(f"{said} has characters that cannot be shown")
        if not all(map(_BEGINNING.match, _CELL_ENDS.split(text))):
            raise BadLine(f"{said} would be a formula in a spreadsheet")
    if one.email and "@" not in one.email:
        raise BadLine(f"its email “{one_line(one.email, 60)}” is not an address")
    return one


def _keys(one: Enrolled) -> set[tuple[str, str]]:
    return {(column, normal(text)) for column in _OF_ONE if (text := getattr(one, column))}


def _must_be_its_own(one: Enrolled, owners: Mapping[tuple[str, str], str], lines: Mapping[str, int]) -> None:
    if one.id in lines:
        raise BadLine(f"{one.id} is also on line {lines[one.id]}")
    for column, text in sorted(_keys(one)):
        if (owner := owners.get((column, text), one.id)) != one.id:
            raise BadLine(f"its {column} “{one_line(text, 60)}” belongs to {owner}")


def _merged(before: Enrolled | None, one: Enrolled, found: Imported) -> Enrolled:
    """The student with the values of the line, and with old ones where it has none."""
    if before is None:
        found.new.append(one.id)
        return one
    said = {column: text for column in COLUMNS if (text := getattr(one, column)) != getattr(before, column) and text}
    if said:
        found.changed[one.id] = [f"{column}: {getattr(before, column) or '–'} → {said[column]}" for column in said]
    else:
        found.same += 1
    return replace(before, **said)
