"""Times of submission, if names of files do not have them: from Moodle's grading worksheet, from Canvas's submissions
as JSON, or from a table of ids and times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.collecting.rosters import read_line, read_lines, read_text
from grader.collecting.students import CANVAS, ID, MOODLE, Form, Key, Roster
from grader.collecting.uploads import Upload
from grader.errors import CourseError
from grader.model.untrusted import NotJSON, read_json
from grader.sandbox.plain_text import one_line
from grader.term.times import NoTime, moment_of

_COLUMNS = ("last modified (submission)", "submitted_at", "submitted at", "timestamp", "time")
_NOTHING = ("", "-")  # no time, in Moodle
# Moodle's ways to write a time in English, and those of others.
_FORMS = tuple(
    f"{day}, {clock}"
    for day in ("%A, %d %B %Y", "%A, %B %d, %Y", "%d %B %Y", "%B %d, %Y")
    for clock in ("%I:%M %p", "%H:%M")
)
_INSTEAD = "For --times, use Moodle's grading worksheet, Canvas's submissions as JSON, or a table: id,submitted_at."


class Times:
    """The times of submission in one file, by student."""

    def __init__(self, path: Path, zone: str, roster: Roster) -> None:
        self._path, self._zone, self._roster = path, zone, roster
        self._times: dict[Form, datetime | str] = {}  # or why it is unknown
        for forms, text in self._of_canvas() if path.suffix.lower() == ".json" else self._of_table():
            said = [form for form in forms if form[1]]
            self._times |= dict.fromkeys(Key.of("", *said).forms, self._moment(text))
        known = [time for time in self._times.values() if isinstance(time, datetime)]
        if not known:
            why = next((why for why in self._times.values() if isinstance(why, str)), "nobody in it has a time")
            raise CourseError(f"{path} has no times: {why}. {_INSTEAD}")

    def of(self, upload: Upload, student: str) -> tuple[datetime | None, str]:
        """The time of an upload, or why it is unknown."""
        numbers = sorted(form for form in upload.key.forms if form in self._times)
        (own,) = Key.of("", (ID, student)).forms
        time = self._times.get(numbers[0] if numbers else own, f"{self._path.name} has no time for it")
        return (time, "") if isinstance(time, datetime) else (None, time)

    def _moment(self, text: str) -> datetime | str:
        said = f"{self._path.name} says “{one_line(text, 60)}”"
        if (moment := _read(text)) is None:
            return f"{said}, which it cannot read as a time"
        try:
            return moment_of(moment, self._zone)
        except NoTime as error:
            return f"{said}, {error.what}: {error.instead[:1].lower()}{error.instead[1:]} of course.toml"

    def _of_table(self) -> Iterator[tuple[set[Form], str]]:
        for _, row in read_lines(self._path, _INSTEAD):
            text = next((row[column] for column in _COLUMNS if row.get(column)), "")
            one = read_line(row)
            if one is None or text in _NOTHING:
                continue
            numbers = {(MOODLE, one.moodle_id), (CANVAS, one.canvas_id)}
            found = {student for name in (one.id, one.email) if name for student in self._roster.called_exactly(name)}
            names = found if len(found) == 1 else {one.id}
            yield {*numbers, *((ID, name) for name in names)}, text

    def _of_canvas(self) -> Iterator[tuple[set[Form], str]]:
        for one in self._submissions():
            text, anonymous = one.get("submitted_at"), one.get("anonymous_id")
            users = [str(one.get("user_id") or ""), f"anon_{anonymous}" if anonymous else ""]
            if isinstance(text, str):
                yield {(CANVAS, user) for user in users}, text

    def _submissions(self) -> list[dict[str, Any]]:
        try:
            submissions = read_json(read_text(self._path, _INSTEAD))
        except NotJSON:
            raise CourseError(f"{self._path} cannot be read: it is not JSON. {_INSTEAD}") from None
        return [one for one in submissions if isinstance(one, dict)] if isinstance(submissions, list) else []


def _read(text: str) -> datetime | None:
    """The time in a text, with a time zone if it names one; None if it cannot be read."""
    plain = " ".join(text.split())
    try:
        return datetime.fromisoformat(plain.removesuffix(" UTC") + "+00:00" * plain.endswith(" UTC"))
    except ValueError:
        pass
    for form in _FORMS:
        try:
            return datetime.strptime(plain, form)
        except ValueError:
            continue
    return None
