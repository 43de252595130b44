"""Which browsers have signed out: their cookies no longer count, wherever copies of them are."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import sqlalchemy as sql

LONGEST = timedelta(days=30)  # that a browser stays signed in
MOST_A_DAY = 100  # times that a person signs out: each is kept until the cookie has expired by itself

_ROWS = sql.MetaData()
_ENDED = sql.Table(
    "served_sessions_ended",
    _ROWS,
    sql.Column("cookie", sql.String(64), primary_key=True),  # a digest
    sql.Column("name", sql.String(128), nullable=False, index=True),
    sql.Column("ended", sql.String(40), nullable=False),
)


class Sessions:
    """The table of sessions that have ended, beside that of the arrivals."""

    def __init__(self, engine: sql.Engine) -> None:
        self._engine = engine
        _ROWS.create_all(engine)

    def end(self, name: str, cookie: str) -> None:
        """From now on, this person's cookie signs nobody in."""
        now = datetime.now(UTC)
        gone = (_ENDED.c.cookie == _digest(cookie)) | (_ENDED.c.ended < (now - LONGEST).isoformat())
        with self._engine.begin() as connection:
            connection.execute(_ENDED.delete().where(gone))
            connection.execute(_ENDED.insert().values(cookie=_digest(cookie), name=name, ended=now.isoformat()))

    def has_ended(self, cookie: str) -> bool:
        query = sql.select(_ENDED.c.cookie).where(_ENDED.c.cookie == _digest(cookie))
        with self._engine.connect() as connection:
            return connection.scalar(query) is not None

    def are_too_many(self, name: str) -> bool:
        """Whether this person has signed out too often within a day to sign in again."""
        since = (datetime.now(UTC) - timedelta(days=1)).isoformat()
        query = sql.select(sql.func.count()).where((_ENDED.c.name == name) & (_ENDED.c.ended > since))
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0) >= MOST_A_DAY


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
