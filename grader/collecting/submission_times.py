"""Times of submission, if names of files do not have them: from Moodle's grading worksheet, from Canvas's submissions
as JSON, or from a table of ids and times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

from grader.collecting.rosters import read_line, read_lines, read_text
from grader.collecting.students import CANVAS, ID, MOODLE, Alias, Roster, StudentReference
from grader.collecting.uploads import Upload
from grader.errors import CourseError
from grader.model.untrusted import NotJSON, read_json
from grader.sandbox.plain_text import one_line
from grader.term.times import NoTime, moment_of

_COLUMNS = ("last modified (submission)", "submitted_at", "submitted at", "timestamp", "time")
_NO_TIME = ("", "-")  # in Moodle
# Moodle's ways to write a time in English, and those of others.
_DATES = ("%A, %d %B %Y", "%A, %B %d, %Y", "%d %B %Y", "%B %d, %Y")
_FORMATS = tuple(f"{date}, {clock}" for date, clock in product(_DATES, ("%I:%M %p", "%H:%M")))
_INSTEAD = "For --times, use Moodle's grading worksheet, Canvas's submissions as JSON, or a table: id,submitted_at."


class SubmissionTimes:
    """The times of submission in one file, by student."""

    def __init__(self, path: Path, zone: str, roster: Roster) -> None:
        self._path, self._zone, self._roster = path, zone, roster
        self._times: dict[Alias, tuple[datetime | None, str]] = {}  # the time, or why it is unknown
        rows = self._read_canvas() if path.suffix.lower() == ".json" else self._read_table()
        for aliases, text in rows:
            reference = StudentReference.of("", *(alias for alias in aliases if alias[1]))
            self._times |= dict.fromkeys(reference.aliases, self._parse_time(text))
        if not any(time for time, _ in self._times.values()):
            problem = next((problem for _, problem in self._times.values()), "nobody in it has a time")
            raise CourseError(f"{path} has no times: {problem}. {_INSTEAD}")

    def find_time(self, upload: Upload, student: str) -> tuple[datetime | None, str]:
        """The time of an upload, or why it is unknown."""
        (student_id,) = StudentReference.of("", (ID, student)).aliases
        for alias in (*sorted(upload.reference.aliases), student_id):
            if alias in self._times:
                return self._times[alias]
        return None, f"{self._path.name} has no time for it"

    def _parse_time(self, text: str) -> tuple[datetime | None, str]:
        quotation = f"{self._path.name} says “{one_line(text, 60)}”"
        time = _parse(text)
        if time is None:
            return None, f"{quotation}, which it cannot read as a time"
        try:
            return moment_of(time, self._zone), ""
        except NoTime as error:
            advice = f"{error.instead[:1].lower()}{error.instead[1:]} of course.toml"
            return None, f"{quotation}, {error.problem}: {advice}"

    def _read_table(self) -> Iterator[tuple[set[Alias], str]]:
        for _, row in read_lines(self._path, _INSTEAD):
            text = next((row[column] for column in _COLUMNS if row.get(column)), "")
            line = read_line(row)
            if line is None or text in _NO_TIME:
                continue
            students: set[str] = set()
            for name in filter(None, (line.id, line.email)):
                students |= self._roster.students_named(name)
            ids = students if len(students) == 1 else {line.id}
            yield {(MOODLE, line.moodle_id), (CANVAS, line.canvas_id), *((ID, student) for student in ids)}, text

    def _read_canvas(self) -> Iterator[tuple[set[Alias], str]]:
        for submission in self._read_submissions():
            text, anonymous_id = submission.get("submitted_at"), submission.get("anonymous_id")
            users = {(CANVAS, str(submission.get("user_id") or ""))}
            if anonymous_id:
                users.add((CANVAS, f"anon_{anonymous_id}"))
            if isinstance(text, str):
                yield users, text

    def _read_submissions(self) -> list[dict[str, Any]]:
        try:
            submissions = read_json(read_text(self._path, _INSTEAD))
        except NotJSON:
            raise CourseError(f"{self._path} cannot be read: it is not JSON. {_INSTEAD}") from None
        if not isinstance(submissions, list):
            return []
        return [submission for submission in submissions if isinstance(submission, dict)]


def _parse(text: str) -> datetime | None:
    """The time in a text, with a time zone if it names one; None if it cannot be read."""
    plain = " ".join(text.split())
    iso_text = plain.removesuffix(" UTC") + "+00:00" if plain.endswith(" UTC") else plain
    try:
        return datetime.fromisoformat(iso_text)
    except ValueError:
        pass
    for time_format in _FORMATS:
        try:
            return datetime.strptime(plain, time_format)
        except ValueError:
            continue
    return None
