"""Put uploads into submitted/, whole or not at all: a new one is written beside its place, then moved there."""

from __future__ import annotations

import os

from grader.classroom import attempts
from grader.classroom.submitted_files import TIMESTAMP, NotTakenIn, SubmittedFiles, take_in
from grader.collecting.choosing import Chosen
from grader.course.folder import Course
from grader.gradebook.due_dates import LATE_FILE, is_late_without_time
from grader.host.scratch import remove, replace_folder
from grader.sandbox.plain_text import one_line
from grader.term.times import said

_SAID_BESIDE = (TIMESTAMP, LATE_FILE)  # files that we write beside a submission

NEW, REPLACED, SAME, OLDER, WAITS = "new", "replaced", "the same is there", "a newer one is there", "waits"
KEPT = "kept beside a newer one"  # if the best counts


def recover(course: Course, assignment: str) -> None:
    """Clean up after a run that was cut off."""
    submitted = course.folder("submitted")
    for student in [path.name for path in submitted.iterdir()] if submitted.is_dir() else []:
        Place(course, student, assignment).recover()


class Place:
    """The folder of one student's submission."""

    def __init__(self, course: Course, student: str, assignment: str, keeps: bool = False) -> None:
        self._course = course
        self.keeps = keeps  # whether older ones are kept, since the best counts
        self._submitted = course.folder("submitted")
        self.student = student
        self._assignment = assignment
        self._above = self._submitted / student
        self.path = self._above / assignment
        self._new, self._old = (self._above / f".{assignment}.{name}" for name in ("new", "old"))

    def recover(self) -> None:
        """Clean up after a run that was cut off."""
        if self._above.is_symlink() or not self._above.is_dir():
            return
        if os.path.lexists(self._old) and not os.path.lexists(self.path):
            self._old.rename(self.path)
        for left in (self._new, self._old):
            remove(left)

    def decide(self, chosen: Chosen, newer: bool) -> tuple[str, str]:
        """Decide what to do with an upload, and why; `newer` if the user says that it is newer."""
        if self._above.is_symlink() or self.path.is_symlink():
            return WAITS, f"{self._shown} is a link"
        if os.path.lexists(self._above) and not self._above.is_dir():
            return WAITS, f"{self._submitted.name}/{one_line(self.student)} is not a folder"
        if not os.path.lexists(self.path) or (self.path.is_dir() and not any(self.path.iterdir())):
            return NEW, ""
        there = self._there(chosen)
        time, before, same = chosen.upload.time, there.time if there else None, self._is_same(there, chosen)
        if time and before and time != before:
            shown = said(before, self._course.rules(self._assignment).zone)
            return (REPLACED, f"one of {shown}") if time > before else (OLDER, f"of {shown}")
        if same and time and not before:
            return REPLACED, "the same, now with its time"
        if same and chosen.upload.late and not before and not is_late_without_time(self.path):
            return REPLACED, "the same, now known to be late"
        if same or (time and time == before):
            return SAME, "" if same else "with the same time"
        if newer:
            return REPLACED, "because of --newer"
        return (
            WAITS,
            f"there is another one in {self._shown}, with no times to show which is newer: if this one is, use --newer",
        )

    @property
    def _shown(self) -> str:
        return f"{self._submitted.name}/{one_line(self.student)}/{self._assignment}"

    def _there(self, chosen: Chosen) -> SubmittedFiles | None:
        """The submission that is in place, if it can be graded."""
        try:
            return take_in(self._submitted, self.student, self._assignment, notebooks=list(chosen.notebooks))
        except NotTakenIn:
            return None

    def _is_same(self, there: SubmittedFiles | None, chosen: Chosen) -> bool:
        if there is None or {path.stem for path in self.path.glob("*.ipynb")} != set(chosen.notebooks):
            return False
        files = {place: content for place, content in there.files.items() if place not in _SAID_BESIDE}
        return (there.notebooks, files) == (chosen.notebooks, chosen.files)

    def keep(self, chosen: Chosen, dry_run: bool) -> tuple[str, str]:
        """Keep an upload that is older than the submission in place, since the best attempt counts."""
        older = SubmittedFiles({**chosen.notebooks}, {**chosen.files, **_time_file(chosen)})
        if attempts.is_there(self._course, self.student, self._assignment, older):
            return SAME, ""
        if not dry_run:
            attempts.write(self._course, self.student, self._assignment, older)
        return KEPT, ""

    def put(self, chosen: Chosen) -> None:
        """Put an upload in place; what was there is kept if it may count."""
        if self.keeps:
            attempts.keep(self._course, self.student, self._assignment)
        files = {f"{name}.ipynb": content for name, content in chosen.notebooks.items()} | chosen.files
        files |= _time_file(chosen)
        self._new.mkdir(parents=True)
        for place, content in files.items():
            path = self._new / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        replace_folder(self._new, self.path, self._old)


def _time_file(chosen: Chosen) -> dict[str, bytes]:
    time, late = chosen.upload.time, chosen.upload.late
    if time:
        return {TIMESTAMP: f"{time:%Y-%m-%d %H:%M:%S.%f} UTC\n".encode()}
    return {LATE_FILE: f"{late} says that this is late, but not by how much.\n".encode()} if late else {}
