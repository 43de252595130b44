"""What LTI keeps, in tables beside those of the arrivals: platforms, their courses and people, and points to send."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sql
from sqlalchemy.schema import SchemaItem

ROWS = sql.MetaData()
NONCES_LAST = 1200  # seconds: longer than a launch may take
UNCONFIRMED_LAST = 7 * 24 * 3600  # seconds that a platform, or a course, waits for an instructor


def _table(name: str, keys: list[sql.Column[Any]], texts: str, numbers: str = "", *extra: SchemaItem) -> sql.Table:
    """A table whose rows differ in their keys. Numbers of rows are never used again: sessions name them."""
    columns: list[SchemaItem] = [sql.Column("id", sql.Integer, primary_key=True), *keys]
    columns += [sql.Column(text, sql.Text, nullable=False, server_default="") for text in texts.split()]
    columns += [sql.Column(number, sql.Integer, nullable=False, server_default="0") for number in numbers.split()]
    key = sql.UniqueConstraint(*(column.name for column in keys))
    return sql.Table(name, ROWS, *columns, key, *extra, sqlite_autoincrement=True)


def _id(name: str) -> sql.Column[Any]:
    return sql.Column(name, sql.String(255), nullable=False)


def _row(name: str, table: sql.Table) -> sql.Column[Any]:
    """A row of another table. When it is removed, so is the one that has this column."""
    return sql.Column(name, sql.ForeignKey(table.c.id, ondelete="CASCADE"), nullable=False)


# Platforms that came by dynamic registration; `came` is when, in seconds.
_OF_PLATFORM = "issuer client_id deployment login_url token_url keys_url audience family name"
REGISTRATIONS = _table("lti_registrations", [_id("key")], _OF_PLATFORM, "is_confirmed came")
# Courses on platforms: whoever teaches another course there is nobody here. `came` is when somebody last came from it.
_OF_COURSE = [_id("registration"), _id("deployment"), _id("context")]
COURSES = _table("lti_courses", _OF_COURSE, "title members_url", "is_confirmed came")
# Who came from a platform. `student` is an id of the roster, and null while nobody knows who it is.
_STUDENT = sql.Column("student", sql.String(255)), sql.UniqueConstraint("registration", "student")
PEOPLE = _table("lti_people", [_id("registration"), _id("sub")], "name email", "", *_STUDENT)
# In which courses they are, and what they are there.
MEMBERSHIPS = _table("lti_memberships", [_row("course", COURSES), _row("person", PEOPLE)], "role")
# Columns of a platform's gradebook; the second address finds or makes the first.
ITEMS = _table("lti_items", [_row("course", COURSES), _id("assignment")], "line_item line_items")
# Points of a person in such a column. `content` is JSON, without the time; `due` is when to try again.
_OF_SCORE = "state content timestamp problem"
SCORES = _table("lti_scores", [_row("item", ITEMS), _row("person", PEOPLE)], _OF_SCORE, "tries due")
# Of launches within the last minutes, digests.
NONCES = _table("lti_nonces", [_id("nonce")], "", "used")


class Store:
    """The tables."""

    def __init__(self, engine: sql.Engine) -> None:
        self._engine = engine
        ROWS.create_all(engine)

    def select(self, query: sql.Select[Any]) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.execute(query))

    def rows(self, table: sql.Table, **values: object) -> list[Any]:
        """The rows with these values, the oldest first."""
        return self.select(sql.select(table).where(_has(table, values)).order_by(table.c.id))

    def save(self, table: sql.Table, keys: Mapping[str, object], **values: object) -> Any:
        """Change the row with these keys, or add one, and return it."""
        if not self.change(table, keys, **values):
            with self._engine.begin() as connection:
                connection.execute(table.insert().values(**keys, **values))
        return self.rows(table, **keys)[0]

    def change(self, table: sql.Table, keys: Mapping[str, object], **values: object) -> bool:
        """Change the rows with these keys, if there are any."""
        with self._engine.begin() as connection:
            return bool(connection.execute(table.update().where(_has(table, keys)).values(**values)).rowcount)

    def remove(self, table: sql.Table, **values: object) -> None:
        """Remove the rows with these values, and those of other tables that belong to them."""
        self._delete(table.delete().where(_has(table, values)))

    def remove_strangers(self) -> None:
        """Remove people who are in no course any more."""
        self._delete(PEOPLE.delete().where(PEOPLE.c.id.not_in(sql.select(MEMBERSHIPS.c.person))))

    def remove_unconfirmed(self) -> None:
        """Remove the platforms and courses that have waited too long for an instructor."""
        earliest = int(time.time()) - UNCONFIRMED_LAST
        for table in (REGISTRATIONS, COURSES):
            self._delete(table.delete().where(table.c.is_confirmed == 0, table.c.came < earliest))

    def _delete(self, statement: sql.Delete) -> None:
        with self._engine.begin() as connection:
            connection.execute(statement)

    def use_nonce(self, nonce: str) -> bool:
        """Whether this is the first use. Only what a platform has signed comes here, so strangers fill nothing."""
        digest, now = hashlib.sha256(nonce.encode()).hexdigest(), int(time.time())
        try:
            with self._engine.begin() as connection:
                connection.execute(NONCES.delete().where(NONCES.c.used < now - NONCES_LAST))
                connection.execute(NONCES.insert().values(nonce=digest, used=now))
        except sql.exc.IntegrityError:
            return False
        return True


def _has(table: sql.Table, values: Mapping[str, object]) -> sql.ColumnElement[bool]:
    return sql.and_(sql.true(), *(table.c[name] == value for name, value in values.items()))
