"""Add a table of students to the roster, for `grader students import`. Nobody is ever removed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.collecting.rosters import (
    MORE,
    BadLine,
    read_line,
    read_lines,
    student_of,
    students_in_gradebook,
    with_roster_id,
)
from grader.collecting.students import Roster, normal
from grader.course.folder import Course
from grader.gradebook.roster import COLUMNS, RosterLine, enter_students, read_roster, write_roster
from grader.sandbox.plain_text import one_line

_TEST_STUDENT = "Student, Test"  # made up by Canvas, for teachers
_LONGEST = 128  # characters of a cell that fit into nbgrader's table
_UNIQUE_COLUMNS = ("email", "username", "lms_user_id", "canvas_id", "moodle_id", "github")
# A spreadsheet takes any other beginning for a formula, also after something that it takes for the end of a cell.
_BEGINNING = re.compile(r"\s*(?:[\w('’]|$)")
_CELL_ENDS = re.compile(r"[;|\"]")


@dataclass
class ImportResult:
    """The result of importing a table."""

    new_students: list[str] = field(default_factory=list)
    changes: dict[str, list[str]] = field(default_factory=dict)  # in words, by student
    unchanged: int = 0
    bad_lines: dict[int, str] = field(default_factory=dict)  # by number of line: why it was left out


def import_students(course: Course, table: Path) -> ImportResult:
    """Merge a table into the roster and into nbgrader's own table."""
    return merge_lines(course, read_lines(table, "Use a table of students."))


def merge_lines(course: Course, lines: Iterable[tuple[int, Mapping[str, str]]]) -> ImportResult:
    """Merge the lines of a table, with their numbers. Bad ones are left out, and reported."""
    roster = read_roster(course.root, to_write=True)
    gradebook_students = students_in_gradebook(course)
    students = Roster([*gradebook_students, *map(student_of, roster.values())])
    owners = {("email", normal(student.email)): student.id for student in gradebook_students if student.email}
    for line in roster.values():
        owners |= dict.fromkeys(_unique_cells(line), line.id)
    numbers: dict[str, int] = {}  # of lines, by id
    result = ImportResult()
    for number, row in lines:
        try:
            new_line = _read_new_line(row)
            if new_line:
                new_line = with_roster_id(new_line, students, by_id=row.get("id") == new_line.id)
                _check_owners(new_line, owners, numbers)
                numbers[new_line.id] = number
                owners |= dict.fromkeys(_unique_cells(new_line), new_line.id)
                roster[new_line.id] = _merge(roster.get(new_line.id), new_line, result)
        except BadLine as error:
            result.bad_lines[number] = str(error)
    enter_students(course, roster)
    write_roster(course.root, [roster[student] for student in sorted(roster)])
    return result


def _read_new_line(row: Mapping[str, str]) -> RosterLine | None:
    """The student in a line; None if there is none. BadLine is raised if it cannot be used."""
    line = read_line(row)
    is_from_canvas = {"student", "section"} <= row.keys()
    if line is None:
        if any(row.values()) and not is_from_canvas:  # tables from Canvas have such lines, such as points possible
            raise BadLine("it has no id")
        return None
    if is_from_canvas and row["student"] == _TEST_STUDENT:
        return None
    if row.get(MORE):
        raise BadLine("it has more cells than the first line. Put quotes around a cell with a comma in it")
    for column in COLUMNS[1:]:
        text = getattr(line, column)
        cell = f"its {column} “{one_line(text, 60)}”"
        if len(text) > _LONGEST:
            raise BadLine(f"{cell} is longer than {_LONGEST} characters")
        if not text.isprintable():
            raise BadLine(f"{cell} has characters that cannot be shown")
        if not all(map(_BEGINNING.match, _CELL_ENDS.split(text))):
            raise BadLine(f"{cell} would be a formula in a spreadsheet")
    if line.email and "@" not in line.email:
        raise BadLine(f"its email “{one_line(line.email, 60)}” is not an address")
    return line


def _unique_cells(line: RosterLine) -> Iterator[tuple[str, str]]:
    """The columns and texts that no other student may have."""
    for column in _UNIQUE_COLUMNS:
        text = getattr(line, column)
        if text:
            yield column, normal(text)


def _check_owners(line: RosterLine, owners: Mapping[tuple[str, str], str], numbers: Mapping[str, int]) -> None:
    """Raise BadLine if another line or another student has the id, or an address or number, of this one."""
    if line.id in numbers:
        raise BadLine(f"{line.id} is also on line {numbers[line.id]}")
    for column, text in sorted(_unique_cells(line)):
        owner = owners.get((column, text), line.id)
        if owner != line.id:
            raise BadLine(f"its {column} “{one_line(text, 60)}” belongs to {owner}")


def _merge(old_line: RosterLine | None, new_line: RosterLine, result: ImportResult) -> RosterLine:
    """The student with the values of the new line, and with old ones where it has none."""
    if old_line is None:
        result.new_students.append(new_line.id)
        return new_line
    changes: dict[str, str] = {}
    changes_in_words = []
    for column in COLUMNS:
        old_text, new_text = getattr(old_line, column), getattr(new_line, column)
        if new_text and new_text != old_text:
            changes[column] = new_text
            changes_in_words.append(f"{column}: {old_text or '–'} → {new_text}")
    if changes:
        result.changes[new_line.id] = changes_in_words
    else:
        result.unchanged += 1
    return replace(old_line, **changes)
