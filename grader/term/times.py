"""Times of a term: moments as in nbgrader's database, in UTC but without a time zone, and lengths of time."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

_UNITS = {"day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}
_LENGTH = re.compile(r"(\d{1,4}) (day|hour|minute)s?")


class NoTime(Exception):
    """A time cannot be read: `problem` says what is wrong, and `instead` what to write."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(problem, instead)
        self.problem = problem
        self.instead = instead


def unit(name: str) -> timedelta:
    return _UNITS[name]


def length_of(value: object) -> timedelta:
    """Read a length of time such as 2 days, or 1 day 12 hours."""
    text = value if isinstance(value, str) else ""
    if not re.fullmatch(rf"{_LENGTH.pattern}(?: {_LENGTH.pattern})*", text):
        raise NoTime("this is not a length of time", 'Write it as "2 days", "36 hours" or "1 day 12 hours"')
    return sum((int(count) * _UNITS[name] for count, name in _LENGTH.findall(text)), timedelta())


def moment_of(value: object, zone: str) -> datetime:
    """Read a date and time from TOML, in the time zone that it names or else in `zone`."""
    if not isinstance(value, datetime):
        problem = "a date without a time" if isinstance(value, date) else "this is not a date and time"
        raise NoTime(problem, "Write it as 2026-10-12T10:00:00+02:00, without quotes")
    if value.tzinfo is None:
        value = _in_zone(value, zone)
    return value.astimezone(UTC).replace(tzinfo=None)


def _in_zone(value: datetime, zone: str) -> datetime:
    if not zone:
        raise NoTime(
            "a time without a time zone", f'Write {value.isoformat()}+02:00, or timezone = "Europe/Berlin" at the top'
        )
    first, second = (value.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1))
    if first.utcoffset() != second.utcoffset():
        raise NoTime(
            f"clocks in {zone} change then, so this is not a single moment",
            f"For example, write it as {first.isoformat()}",
        )
    return first


def local(moment: datetime, zone: str) -> datetime:
    """A moment from the database in this time zone, or in UTC if it is empty."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(ZoneInfo(zone) if zone else UTC)


def format_time(moment: datetime, zone: str) -> str:
    """A moment in words, such as 2026-10-12 10:00 CEST."""
    return f"{local(moment, zone):%Y-%m-%d %H:%M %Z}"
