"""What has arrived, in a table beside the gradebook: who submitted what and when, and what came of it.

A submission is on the disk, and its row in the table, before anybody hears that it has arrived.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from grader.course.folder import Course
from grader.host.scratch import write_whole
from grader.model.verdict import Scored

FOLDER = "arrived"  # in the course folder
TABLE = "serving.db"  # in that folder, where the gradebook is a file, too


class Stage(StrEnum):
    WAITING = "waiting"
    GRADING = "grading"
    GRADED = "graded"
    FAILED = "failed"  # there is no result, and it is not the student's fault
    ARRIVED = "arrived"  # never in the table: what a student reads of the first three where no verdict is shown


_ROWS = sql.MetaData()
_SUBMISSIONS = sql.Table(
    "served_submissions",
    _ROWS,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("student", sql.String(128), nullable=False, index=True),
    sql.Column("assignment", sql.String(128), nullable=False),
    sql.Column("number", sql.Integer, nullable=False),
    sql.Column("arrived", sql.String(40), nullable=False),
    sql.Column("sha256", sql.String(64), nullable=False),
    sql.Column("state", sql.String(12), nullable=False, index=True),
    sql.Column("result", sql.Text, nullable=False),
    sql.Column("turn", sql.Integer, nullable=False, server_default="0"),  # 1 is the first that was ever graded
    sql.Column("graded", sql.String(40), nullable=False, server_default=""),
    sql.Column("notebooks", sql.Text, nullable=False, server_default=""),
    sql.UniqueConstraint("student", "assignment", "number"),
)
# Columns that a table of an earlier version does not have.
_NEWER_COLUMNS = {
    "turn": "INTEGER NOT NULL DEFAULT 0",
    "graded": "VARCHAR(40) NOT NULL DEFAULT ''",
    "notebooks": "TEXT NOT NULL DEFAULT ''",
}


@dataclass(frozen=True)
class Arrival:
    """A submission that has arrived."""

    id: int
    student: str
    assignment: str
    number: int  # how many of this student's submissions of this assignment it makes
    arrived: datetime
    sha256: str  # of its notebook, or of the digests of all of them
    state: Stage
    result: dict[str, Any]  # what the student reads; empty until it is graded
    graded: datetime | None = None  # when
    notebooks: Mapping[str, str] = field(default_factory=dict)  # digests by name; empty if a single one is not named

    @property
    def is_done(self) -> bool:
        return self.state not in (Stage.WAITING, Stage.GRADING)

    @property
    def scored(self) -> list[Scored]:
        """The verdicts in its result, with their points."""
        return list(filter(None, map(Scored.from_json, self.result.get("exercises", ()))))

    @property
    def digests(self) -> set[str]:
        """The digests of its notebooks, by which their files are called."""
        return set(self.notebooks.values()) or {self.sha256}


class Arrivals:
    """The table, and the files of the notebooks."""

    def __init__(self, course: Course) -> None:
        self._folder = course.root / FOLDER
        self._folder.mkdir(exist_ok=True, mode=0o700)
        url = str(course.api().coursedir.db_url)
        self.engine = _engine(url if not url.startswith("sqlite") else f"sqlite:///{self._folder / TABLE}")
        _ROWS.create_all(self.engine)
        _add_missing_columns(self.engine)
        self._one_by_one = threading.Lock()

    def add(
        self,
        student: str,
        assignment: str,
        notebooks: Mapping[str, bytes],
        look: Callable[[], None] = lambda: None,
        names: Sequence[str] = (),
        group: Sequence[str] = (),
    ) -> Arrival:
        """Keep notebooks. Once this returns, they are not lost, whatever happens.

        Just before, `look` may object by raising an error, with nothing else arriving in between. `names` are all that
        the assignment has: those that are not among these stay as the student, or anybody of the group, submitted them
        last.
        """
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in notebooks.items()}
        with self._one_by_one:
            look()
            for name, content in notebooks.items():
                path = self._path(digests[name])
                if not path.exists():
                    write_whole(path, content, lasting=True)
            earlier: dict[str, str] = {}
            for arrival in self.of_group([student, *group], assignment):
                earlier |= arrival.notebooks
            digests = {name: earlier[name] for name in names if name in earlier} | digests
            with self.engine.begin() as connection:
                number = 1 + (connection.scalar(_last_number(student, assignment)) or 0)
                now, sha256 = datetime.now(UTC), _digest_of_all(digests)
                values = {"student": student, "assignment": assignment, "number": number, "sha256": sha256}
                values |= {"arrived": now.isoformat(), "state": Stage.WAITING, "result": ""}
                added = connection.execute(_SUBMISSIONS.insert().values(**values, notebooks=json.dumps(digests)))
                (key,) = added.inserted_primary_key or (0,)
        return Arrival(key, student, assignment, number, now, sha256, Stage.WAITING, {}, notebooks=digests)

    def contents(self, arrival: Arrival, names: Sequence[str]) -> dict[str, bytes]:
        """The notebooks of a submission, by name; `names` are all that the assignment has."""
        notebooks = arrival.notebooks or {names[0]: arrival.sha256}
        return {name: self._path(sha256).read_bytes() for name, sha256 in notebooks.items() if name in names}

    def sizes(self, arrivals: Sequence[Arrival]) -> dict[str, int]:
        """How many bytes the notebooks of these take up, by digest. Some may have been removed."""
        paths = {sha256: self._path(sha256) for arrival in arrivals for sha256 in arrival.digests}
        return {sha256: path.stat().st_size for sha256, path in paths.items() if path.exists()}

    def with_contents_of(self, arrivals: Sequence[Arrival]) -> list[Arrival]:
        """All submissions, of anybody, that have a notebook of one of these."""
        digests = {sha256 for arrival in arrivals for sha256 in arrival.digests}
        return [arrival for arrival in self.of_class() if not digests.isdisjoint(arrival.digests)]

    def remove_contents(self, digests: Sequence[str]) -> None:
        for sha256 in digests:
            self._path(sha256).unlink(missing_ok=True)

    def _path(self, sha256: str) -> Path:
        return self._folder / f"{sha256}.ipynb"

    def in_line(self, resting: Collection[str] = ()) -> list[Arrival]:
        """The next submission of each student: first, of whoever has waited longest since their last turn.

        Students of whom one is being graded are left out, and so are assignments that are `resting`.
        """
        with self.engine.connect() as connection:
            line = sql.select(_SUBMISSIONS, _last_turn.label("last_turn")).where(*_is_next(resting))
            return [_arrival(row) for row in connection.execute(line.order_by("last_turn", _SUBMISSIONS.c.id))]

    def ahead_of(self, arrival: Arrival, resting: Collection[str] = ()) -> int:
        """How many students, at most, have a turn before this submission."""
        with self.engine.connect() as connection:
            last_turn = connection.scalar(sql.select(_last_turn).where(_SUBMISSIONS.c.id == arrival.id)) or 0
            is_earlier = (_last_turn < last_turn) | ((_last_turn == last_turn) & (_SUBMISSIONS.c.id < arrival.id))
            earlier_students = sql.select(sql.func.count()).select_from(_SUBMISSIONS)
            earlier_students = earlier_students.where(
                *_is_next(resting), _SUBMISSIONS.c.student != arrival.student, is_earlier
            )
            return connection.scalar(earlier_students) or 0

    def begin(self, arrival: Arrival) -> None:
        """It is this submission's turn."""
        last = sql.select(sql.func.max(_SUBMISSIONS.c.turn)).scalar_subquery()
        self._set(arrival.id, state=Stage.GRADING, turn=last + 1)

    def put_back(self, assignment: str | None = None) -> None:
        """What was being graded, of all assignments or of one, waits again: each is its student's next."""
        is_left = _SUBMISSIONS.c.state == Stage.GRADING
        if assignment is not None:
            is_left &= _SUBMISSIONS.c.assignment == assignment
        with self.engine.begin() as connection:
            connection.execute(_SUBMISSIONS.update().where(is_left).values(state=Stage.WAITING))

    def finish(self, arrival: Arrival, state: Stage, result: dict[str, Any]) -> None:
        self._set(arrival.id, state=state, result=json.dumps(result), graded=datetime.now(UTC).isoformat())

    def once_more(self, arrival: Arrival) -> bool:
        """Whether it waits again from now on: it does unless it has not been graded yet."""
        is_graded = (_SUBMISSIONS.c.id == arrival.id) & _SUBMISSIONS.c.state.in_([Stage.GRADED, Stage.FAILED])
        with self.engine.begin() as connection:
            changed = connection.execute(_SUBMISSIONS.update().where(is_graded).values(state=Stage.WAITING, result=""))
            return bool(changed.rowcount)

    def get(self, key: int) -> Arrival | None:
        arrivals = self._select(_SUBMISSIONS.c.id == key)
        return arrivals[0] if arrivals else None

    def of_student(self, student: str) -> list[Arrival]:
        """All of a student's submissions, the newest first."""
        return self._select(_SUBMISSIONS.c.student == student)[::-1]

    def of_group(self, students: Sequence[str], assignment: str) -> list[Arrival]:
        """All submissions of an assignment by any of these, the oldest first."""
        return self._select(_SUBMISSIONS.c.student.in_(students) & (_SUBMISSIONS.c.assignment == assignment))

    def is_last(self, arrival: Arrival) -> bool:
        """Whether this student has submitted nothing more of the assignment since."""
        with self.engine.connect() as connection:
            return bool(connection.scalar(_last_number(arrival.student, arrival.assignment)) == arrival.number)

    def of_class(self) -> list[Arrival]:
        return self._select(_SUBMISSIONS.c.id > 0)

    def by_stage(self) -> dict[str, int]:
        """How many submissions there are at each stage."""
        counted = sql.select(_SUBMISSIONS.c.state, sql.func.count()).group_by(_SUBMISSIONS.c.state)
        with self.engine.connect() as connection:
            return {str(stage): int(count) for stage, count in connection.execute(counted)}

    def close(self) -> None:
        self.engine.dispose()

    def _select(self, condition: Any) -> list[Arrival]:
        with self.engine.connect() as connection:
            rows = connection.execute(sql.select(_SUBMISSIONS).where(condition).order_by(_SUBMISSIONS.c.id))
            return [_arrival(row) for row in rows]

    def _set(self, key: int, **values: object) -> None:
        with self.engine.begin() as connection:
            connection.execute(_SUBMISSIONS.update().where(_SUBMISSIONS.c.id == key).values(**values))


_of_student = _SUBMISSIONS.alias()
_last_turn = (
    sql.select(sql.func.max(_of_student.c.turn))
    .where(_of_student.c.student == _SUBMISSIONS.c.student)
    .correlate(_SUBMISSIONS)
    .scalar_subquery()
)


def _is_next(resting: Collection[str]) -> list[sql.ColumnElement[bool]]:
    """The conditions for a submission to be its student's next, while none of theirs is being graded."""
    column = _SUBMISSIONS.c
    first = sql.select(sql.func.min(column.id)).where(column.state == Stage.WAITING).group_by(column.student)
    busy = sql.select(column.student).where(column.state == Stage.GRADING)
    return [column.id.in_(first), column.student.not_in(busy), column.assignment.not_in(resting)]


def _add_missing_columns(engine: sql.Engine) -> None:
    present = {column["name"] for column in sql.inspect(engine).get_columns(_SUBMISSIONS.name)}
    for name, definition in _NEWER_COLUMNS.items():
        if name not in present:
            with engine.begin() as connection:
                connection.execute(sql.text(f"ALTER TABLE {_SUBMISSIONS.name} ADD COLUMN {name} {definition}"))


def _last_number(student: str, assignment: str) -> sql.Select[Any]:
    of_student = (_SUBMISSIONS.c.student == student) & (_SUBMISSIONS.c.assignment == assignment)
    return sql.select(sql.func.max(_SUBMISSIONS.c.number)).where(of_student)


def _arrival(row: sql.Row[Any]) -> Arrival:
    return Arrival(
        row.id,
        row.student,
        row.assignment,
        row.number,
        datetime.fromisoformat(row.arrived),
        row.sha256,
        Stage(row.state),
        json.loads(row.result) if row.result else {},
        datetime.fromisoformat(row.graded) if row.graded else None,
        json.loads(row.notebooks) if row.notebooks else {},
    )


def _digest_of_all(digests: Mapping[str, str]) -> str:
    """The digest of a submission: that of its notebook, or of the digests of all of them, by name."""
    if len(digests) == 1:
        return next(iter(digests.values()))
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def _engine(url: str) -> sql.Engine:
    engine = sql.create_engine(url, pool_pre_ping=True)  # a server may have been restarted
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _safely)
    return engine


def _safely(connection: Any, _record: object) -> None:
    """What is committed stays, even if the power fails; readers never wait for a writer; no row outlives its owner."""
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def newest(arrivals: Sequence[Arrival]) -> dict[tuple[str, str], Arrival]:
    """The last submission of each student and assignment."""
    oldest_first = sorted(arrivals, key=lambda arrival: arrival.number)
    return {(arrival.student, arrival.assignment): arrival for arrival in oldest_first}
