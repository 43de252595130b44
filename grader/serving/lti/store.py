"""What LTI keeps, in tables beside those of the arrivals: platforms, their courses and people, and points to send."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sql

ROWS = sql.MetaData()
NONCES_LAST = 1200  # seconds: longer than a launch may take


def _table(name: str, keys: str, texts: str, numbers: str = "") -> sql.Table:
    """A table whose rows differ in their keys. Numbers of rows are never used again: sessions name them."""
    columns: list[sql.Column[Any]] = [sql.Column("id", sql.Integer, primary_key=True)]
    columns += [sql.Column(each, sql.String(255), nullable=False) for each in keys.split()]
    columns += [sql.Column(each, sql.Text, nullable=False, server_default="") for each in texts.split()]
    columns += [sql.Column(each, sql.Integer, nullable=False, server_default="0") for each in numbers.split()]
    return sql.Table(name, ROWS, *columns, sql.UniqueConstraint(*keys.split()), sqlite_autoincrement=True)


# Platforms that came by dynamic registration.
_OF_PLATFORM = "issuer client_id deployment login_url token_url keys_url audience family name"
REGISTRATIONS = _table("lti_registrations", "key", _OF_PLATFORM, "is_confirmed")
# Courses on platforms: whoever teaches another course there is nobody here.
COURSES = _table("lti_courses", "registration deployment context", "title members_url", "is_confirmed")
# Who came from a platform; student: an id of the roster, or empty.
PEOPLE = _table("lti_people", "registration sub", "student role name email came", "course")
# Columns of a platform's gradebook; the second address finds or makes the first.
ITEMS = _table("lti_items", "course assignment", "line_item line_items")
# Points of a person in such a column; content: as JSON, without the time; due: when to try again.
SCORES = _table("lti_scores", "item person", "state content timestamp problem", "tries due")
# Of launches within the last minutes, digests.
NONCES = _table("lti_nonces", "nonce", "", "used")


class Store:
    """The tables."""

    def __init__(self, engine: sql.Engine) -> None:
        self._engine = engine
        ROWS.create_all(engine)

    def rows(self, table: sql.Table, **values: object) -> list[Any]:
        """The rows with these values, the oldest first."""
        with self._engine.connect() as connection:
            return list(connection.execute(sql.select(table).where(_has(table, values)).order_by(table.c.id)))

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
        with self._engine.begin() as connection:
            connection.execute(table.delete().where(_has(table, values)))

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
