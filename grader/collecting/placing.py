"""Put uploads into submitted/, whole or not at all: a new one is written beside its place, then moved there."""

from __future__ import annotations

import os

from grader.classroom import attempts
from grader.classroom.submitted_files import TIMESTAMP, NotTakenIn, SubmittedFiles, take_in
from grader.collecting.choosing import ChosenUpload
from grader.course.folder import Course
from grader.gradebook.due_dates import LATE_FILE, is_late_without_time
from grader.host.scratch import remove, replace_folder
from grader.sandbox.plain_text import one_line
from grader.term.times import format_time

_TIME_FILES = (TIMESTAMP, LATE_FILE)  # files that we write beside a submission

NEW, REPLACED, SAME, OLDER, WAITS = "new", "replaced", "the same is there", "a newer one is there", "waits"
KEPT = "kept beside a newer one"  # if the best counts


def recover(course: Course, assignment: str) -> None:
    """Clean up after a run that was cut off."""
    submitted = course.folder("submitted")
    students = [path.name for path in submitted.iterdir()] if submitted.is_dir() else []
    for student in students:
        SubmissionFolder(course, student, assignment).recover()


class SubmissionFolder:
    """The folder of one student's submission."""

    def __init__(self, course: Course, student: str, assignment: str, keeps_older: bool = False) -> None:
        self._course = course
        self.keeps_older = keeps_older  # since the best counts
        self._submitted = course.folder("submitted")
        self.student = student
        self._assignment = assignment
        self._above = self._submitted / student
        self.path = self._above / assignment
        self._new = self._above / f".{assignment}.new"
        self._old = self._above / f".{assignment}.old"

    def recover(self) -> None:
        """Clean up after a run that was cut off."""
        if self._above.is_symlink() or not self._above.is_dir():
            return
        if os.path.lexists(self._old) and not os.path.lexists(self.path):
            self._old.rename(self.path)
        remove(self._new)
        remove(self._old)

    def decide(self, chosen: ChosenUpload, is_newer: bool) -> tuple[str, str]:
        """Decide what to do with an upload, and why; `is_newer` if the user says so."""
        if self._above.is_symlink() or self.path.is_symlink():
            return WAITS, f"{self._shown_path} is a link"
        if os.path.lexists(self._above) and not self._above.is_dir():
            return WAITS, f"{self._submitted.name}/{one_line(self.student)} is not a folder"
        if not os.path.lexists(self.path) or (self.path.is_dir() and not any(self.path.iterdir())):
            return NEW, ""
        existing = self._read_existing(chosen)
        is_same = existing is not None and self._holds(existing, chosen)
        time, existing_time = chosen.upload.time, existing.time if existing else None
        if time and existing_time and time != existing_time:
            shown_time = format_time(existing_time, self._course.rules(self._assignment).zone)
            return (REPLACED, f"one of {shown_time}") if time > existing_time else (OLDER, f"of {shown_time}")
        if is_same and time and not existing_time:
            return REPLACED, "the same, now with its time"
        if is_same and chosen.upload.late_platform and not existing_time and not is_late_without_time(self.path):
            return REPLACED, "the same, now known to be late"
        if is_same:
            return SAME, ""
        if time and time == existing_time:
            return SAME, "with the same time"
        if is_newer:
            return REPLACED, "because of --newer"
        return WAITS, (
            f"there is another one in {self._shown_path}, with no times to show which is newer: "
            "if this one is, use --newer"
        )

    @property
    def _shown_path(self) -> str:
        return f"{self._submitted.name}/{one_line(self.student)}/{self._assignment}"

    def _read_existing(self, chosen: ChosenUpload) -> SubmittedFiles | None:
        """The submission that is in place, if it can be graded."""
        try:
            return take_in(self._submitted, self.student, self._assignment, notebooks=list(chosen.notebooks))
        except NotTakenIn:
            return None

    def _holds(self, existing: SubmittedFiles, chosen: ChosenUpload) -> bool:
        """Whether the submission that is in place has just the content of this one."""
        if {path.stem for path in self.path.glob("*.ipynb")} != set(chosen.notebooks):
            return False
        files = {path: content for path, content in existing.files.items() if path not in _TIME_FILES}
        return existing.notebooks == chosen.notebooks and files == chosen.files

    def keep(self, chosen: ChosenUpload, dry_run: bool) -> tuple[str, str]:
        """Keep an upload that is older than the submission in place, since the best attempt counts."""
        older = SubmittedFiles({**chosen.notebooks}, {**chosen.files, **_time_file(chosen)})
        if attempts.is_kept(self._course, self.student, self._assignment, older):
            return SAME, ""
        if not dry_run:
            attempts.keep(self._course, self.student, self._assignment, older)
        return KEPT, ""

    def put(self, chosen: ChosenUpload) -> None:
        """Put an upload in place; what was there is kept if it may count."""
        if self.keeps_older:
            attempts.keep_submitted(self._course, self.student, self._assignment)
        notebooks = {f"{name}.ipynb": content for name, content in chosen.notebooks.items()}
        files = {**notebooks, **chosen.files, **_time_file(chosen)}
        self._new.mkdir(parents=True)
        for name, content in files.items():
            path = self._new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        replace_folder(self._new, self.path, self._old)


def _time_file(chosen: ChosenUpload) -> dict[str, bytes]:
    """The file that says when an upload was submitted, or that it was late; none if nothing is known."""
    time, platform = chosen.upload.time, chosen.upload.late_platform
    if time:
        return {TIMESTAMP: f"{time:%Y-%m-%d %H:%M:%S.%f} UTC\n".encode()}
    if platform:
        return {LATE_FILE: f"{platform} says that this is late, but not by how much.\n".encode()}
    return {}
