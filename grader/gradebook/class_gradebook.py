"""nbgrader's gradebook, read once for a class and written in batches. A batch is in it whole, or not at all.

Beside nbgrader's tables stands one of ours: what each grade was given for. It is written in the same transaction.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import (
    URL,
    Column,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError

from grader.errors import CourseError
from grader.model.submission import Graded
from grader.model.verdict import Scored

PATIENCE = 60.0  # seconds to wait for a gradebook that somebody else has locked, or whose server is down
PAUSE = 0.2
# A server that does not answer, a network that is gone and a row that somebody else holds are errors after seconds, so
# that we can say for what we wait. By themselves, they would take hours or for ever.
_LIMITS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "tcp_user_timeout": "20000",
    "options": "-c lock_timeout=1000",
}
_WHOLE = "Nothing is half-written; run this again when it can."
_AGAIN = "Run this again when it can."
_MEND = "Mend that, or put back a copy that is whole, and run this again."

RECORDS = Table(
    "grader_record",
    MetaData(),
    Column("submission_id", String(32), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("result", Text, nullable=False),  # JSON
)

T = TypeVar("T")


@dataclass(frozen=True)
class Record:
    """What is known of a submission that has a grade."""

    fingerprint: str  # of all that the grade depends on
    digest: str  # of the autograded notebook
    verdicts: Sequence[Scored]
    blocked: Sequence[str]


@dataclass(frozen=True)
class Entry:
    """What a batch writes for one submission."""

    graded: Graded
    record: Record
    timestamp: datetime | None  # when it was handed in, if that is known


def open_gradebook(api: Any, tell: Callable[[str], None]) -> Gradebook:
    """nbgrader's gradebook, as the configuration has it. Close it in the end."""
    try:
        url = make_url(api.coursedir.db_url)
        url.get_dialect().import_dbapi()
    except (ArgumentError, ImportError) as error:
        raise CourseError(
            f"c.CourseDirectory.db_url is not for us: {error}. For PostgreSQL it begins with postgresql+psycopg://, "
            "and needs: pip install 'psycopg[binary]'"
        ) from None
    limited = _with_limits(url).render_as_string(hide_password=False)
    return _patiently(url, lambda: Gradebook(limited, api.course_id), tell, undo=lambda: None)


def check_gradebook(api: Any, tell: Callable[[str], None]) -> None:
    """Read the gradebook before nbgrader does, whose errors would blame something else."""
    gradebook = open_gradebook(api, tell)
    url = gradebook.engine.url
    query = text("PRAGMA quick_check(1)" if url.get_backend_name() == "sqlite" else "SELECT 'ok'")
    try:
        found = _patiently(url, lambda: gradebook.db.execute(query).scalar(), tell, undo=gradebook.db.rollback)
    finally:
        gradebook.close()
    if found != "ok":
        raise CourseError(f"The gradebook {_where(url)} cannot be used: it is damaged. {_MEND}")


class ClassGradebook:
    """The rows of one assignment."""

    def __init__(
        self, gradebook: Gradebook, assignment: str, penalties: AssignLatePenalties | None, tell: Callable[[str], None]
    ) -> None:
        self._session = gradebook.db
        self._engine = gradebook.engine
        self._penalties = penalties
        self._tell = tell
        self._file = _identity(self._engine.url)
        self._patiently(lambda: self._read(gradebook, assignment))

    def _read(self, gradebook: Gradebook, assignment: str) -> None:
        try:
            row = gradebook.find_assignment(assignment)
            self.notebook = gradebook.find_notebook(assignment, assignment)
        except MissingEntry:
            raise CourseError(f"{assignment} is not in the gradebook yet. Run: grader release {assignment}") from None
        RECORDS.create(self._engine, checkfirst=True)
        self._assignment_id = row.id
        self._notebook_id = self.notebook.id
        self.duedate = row.duedate
        # For each notebook, the cells that have a row of their own in every submission.
        self._graded = {one.id: [cell.id for cell in (*one.grade_cells, *one.task_cells)] for one in row.notebooks}
        self._commented = {
            one.id: [cell.id for cell in (*one.solution_cells, *one.task_cells)] for one in row.notebooks
        }
        cells = (*self.notebook.grade_cells, *self.notebook.solution_cells, *self.notebook.task_cells)
        self._grade_cells = {cell.id: cell.name for cell in cells if cell.id in self._graded[self._notebook_id]}
        self._comment_cells = {cell.id: cell.name for cell in cells if cell.id in self._commented[self._notebook_id]}

    def _all(self, query: Any) -> Sequence[Any]:
        def read() -> Sequence[Any]:
            found = self._session.execute(query).all()
            self._session.rollback()  # or a server would have a transaction open for as long as the class takes
            return found  # type: ignore[no-any-return]

        return self._patiently(read)

    def records(self) -> dict[str, Record]:
        """What is known of each student's submission."""
        query = (
            select(SubmittedAssignment.student_id, RECORDS)
            .join(RECORDS, RECORDS.c.submission_id == SubmittedAssignment.id)
            .where(SubmittedAssignment.assignment_id == self._assignment_id)
        )
        return {row.student_id: read_record(row) for row in self._all(query)}

    def extensions(self) -> dict[str, Any]:
        """By how much each student may be late."""
        query = select(SubmittedAssignment.student_id, SubmittedAssignment.extension).where(
            SubmittedAssignment.assignment_id == self._assignment_id
        )
        return dict(row._tuple() for row in self._all(query))

    def write(self, entries: Sequence[Entry]) -> None:
        """All of these, or none."""
        if entries:
            self._patiently(lambda: self._write(entries))

    def _write(self, entries: Sequence[Entry]) -> None:
        submissions = self._submissions(entries)
        times = [
            {"one": submissions[entry.graded.student], "value": entry.timestamp} for entry in entries if entry.timestamp
        ]
        self._update(SubmittedAssignment, "timestamp", times)
        self._write_grades(entries, submissions)
        if self._penalties is not None:
            self._write_penalties(submissions)
        self._session.execute(delete(RECORDS).where(RECORDS.c.submission_id.in_(submissions.values())))
        self._session.execute(
            insert(RECORDS),
            [{"submission_id": submissions[entry.graded.student], **_row(entry.record)} for entry in entries],
        )
        self._must_be_there()
        self._session.commit()

    def _must_be_there(self) -> None:
        if self._file != _identity(self._engine.url):
            raise CourseError("The gradebook was removed or replaced meanwhile. Put it back, and run this again.")

    def _submissions(self, entries: Sequence[Entry]) -> dict[str, str]:
        """The id of each student's submission. Who has none gets one, with empty grades and comments."""
        students = [entry.graded.student for entry in entries]
        known = set(self._session.scalars(select(Student.id).where(Student.id.in_(students))))
        self._add(Student, [{"id": student} for student in students if student not in known])
        query = select(SubmittedAssignment.student_id, SubmittedAssignment.id).where(
            SubmittedAssignment.assignment_id == self._assignment_id, SubmittedAssignment.student_id.in_(students)
        )
        ids: dict[str, str] = dict(row._tuple() for row in self._session.execute(query))
        new = {student: _new_id() for student in students if student not in ids}
        self._add(
            SubmittedAssignment,
            [{"id": one, "assignment_id": self._assignment_id, "student_id": student} for student, one in new.items()],
        )
        notebooks = [(_new_id(), notebook, one) for one in new.values() for notebook in self._graded]
        self._add(
            SubmittedNotebook,
            [{"id": one, "notebook_id": notebook, "assignment_id": above} for one, notebook, above in notebooks],
        )
        for kind, cells in ((Grade, self._graded), (Comment, self._commented)):
            rows = [(one, cell) for one, notebook, _ in notebooks for cell in cells[notebook]]
            self._add(kind, [{"id": _new_id(), "notebook_id": one, "cell_id": cell} for one, cell in rows])
        return ids | new

    def _write_grades(self, entries: Sequence[Entry], submissions: dict[str, str]) -> None:
        """Scores and comments. What a person has given stays, and is to be looked at again, as nbgrader has it."""
        by_id = {submissions[entry.graded.student]: entry.graded for entry in entries}
        scores = [
            {"one": row.id, "score": (score := by_id[row.submission].scores[name]),
             "manual": row.manual_score is not None or score is None}
            for row in self._rows(Grade, Grade.manual_score, by_id)
            if (name := self._grade_cells.get(row.cell_id, "")) in by_id[row.submission].scores
        ]  # fmt: skip
        table = Grade.__table__
        if scores:
            self._session.execute(
                update(table)
                .where(table.c.id == bindparam("one"))
                .values(auto_score=bindparam("score"), needs_manual_grade=bindparam("manual")),
                scores,
            )
        comments = [
            {"one": row.id, "value": by_id[row.submission].comments[name]}
            for row in self._rows(Comment, Comment.manual_comment, by_id)
            if (name := self._comment_cells.get(row.cell_id, "")) in by_id[row.submission].comments
        ]
        self._update(Comment, "auto_comment", comments)

    def _rows(self, kind: Any, column: Any, submissions: Iterable[str]) -> Sequence[Any]:
        """The rows of the cells of these submissions."""
        query = (
            select(kind.id, kind.cell_id, column, SubmittedNotebook.assignment_id.label("submission"))
            .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
            .where(
                SubmittedNotebook.assignment_id.in_(submissions),
                SubmittedNotebook.notebook_id == self._notebook_id,
            )
        )
        return list(self._session.execute(query))

    def _write_penalties(self, submissions: dict[str, str]) -> None:
        """What nbgrader's AssignLatePenalties does, in our transaction."""
        assert self._penalties is not None
        self._penalties.init_plugin()
        self._session.expire_all()
        query = select(SubmittedNotebook).where(
            SubmittedNotebook.assignment_id.in_(submissions.values()),
            SubmittedNotebook.notebook_id == self._notebook_id,
        )
        for notebook in self._session.scalars(query):
            notebook.late_submission_penalty = None
            late = notebook.assignment.total_seconds_late
            if late > 0:
                student = notebook.assignment.student_id
                penalty = self._penalties.plugin_inst.late_submission_penalty(student, notebook.score, late)
                if penalty is not None:
                    notebook.late_submission_penalty = self._penalties._check_late_penalty(notebook, penalty)
        self._session.flush()

    def _add(self, kind: Any, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self._session.execute(insert(kind), rows)

    def _update(self, kind: Any, column: str, rows: Sequence[dict[str, Any]]) -> None:
        """Set one column of the rows `one` to `value`."""
        table = kind.__table__
        if rows:
            statement = update(table).where(table.c.id == bindparam("one")).values({column: bindparam("value")})
            self._session.execute(statement, rows)

    def _patiently(self, work: Callable[[], T]) -> T:
        try:
            return _patiently(self._engine.url, work, self._tell, self._undo, _WHOLE)
        except BaseException:
            self._session.rollback()
            raise

    def _undo(self) -> None:
        self._session.rollback()
        self._must_be_there()


def _patiently(
    url: URL, work: Callable[[], T], tell: Callable[[str], None], undo: Callable[[], None], again: str = _AGAIN
) -> T:
    """Wait while somebody else has the gradebook; say so."""
    until = time.monotonic() + PATIENCE
    told = False
    while True:
        try:
            return work()
        except DBAPIError as error:
            undo()
            if not _may_pass(url, error) or time.monotonic() > until:
                hint = again if _may_pass(url, error) else _MEND
                raise CourseError(f"The gradebook {_where(url)} cannot be used: {_reason(error)}. {hint}") from error
            if not told:
                tell(f"The gradebook does not answer ({_reason(error)}). Waiting for it …")
                told = True
            time.sleep(PAUSE)


def _may_pass(url: URL, error: DBAPIError) -> bool:
    """Whether waiting can help: another program has locked it, has added the same student, or restarts the server."""
    if url.get_backend_name() == "sqlite":
        return isinstance(error, OperationalError) and "locked" in str(error.orig)
    return isinstance(error, (OperationalError, IntegrityError))


def _with_limits(url: URL) -> URL:
    if url.get_driver_name() not in ("psycopg", "psycopg2"):
        return url
    return url.set(query={**_LIMITS, **url.query})


def _where(url: URL) -> str:
    """Without a password, however it is given."""
    return str(url.database) if url.get_backend_name() == "sqlite" else url.set(query={}).render_as_string()


def read_record(row: Any) -> Record:
    result = json.loads(row.result)
    verdicts = [verdict for data in result["verdicts"] if (verdict := Scored.from_json(data))]
    return Record(row.fingerprint, row.digest, verdicts, result["blocked"])


def _row(record: Record) -> dict[str, str]:
    result = {"verdicts": [verdict.to_json() for verdict in record.verdicts], "blocked": list(record.blocked)}
    return {"fingerprint": record.fingerprint, "digest": record.digest, "result": json.dumps(result)}


def _new_id() -> str:
    return uuid.uuid4().hex


def _reason(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__


def _identity(url: URL) -> tuple[int, int] | None:
    """Which file the gradebook is; a server has none."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    try:
        status = Path(url.database).stat()
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)
