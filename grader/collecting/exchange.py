"""nbgrader's exchange."""

from __future__ import annotations

import pwd
import re
from collections.abc import Sequence
from datetime import datetime

from nbgrader.utils import parse_utc

from grader.classroom.submitted_files import MAX_TIMESTAMP
from grader.collecting.files import File, Listing, Refused
from grader.collecting.students import ID, OWNER, Key
from grader.collecting.uploads import Asked, Upload, grouped, inside, unnamed
from grader.sandbox.plain_text import one_line


class Exchange:
    """nbgrader's exchange: a folder for each hand-in, which the student's nbgrader has named."""

    name = "exchange"
    called = "the inbound folder of nbgrader's exchange"
    _NAMED = re.compile(
        r"(?P<student>.+)\+(?P<assignment>[^+]+)"
        r"\+(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]{5,20}(?: [\w:+-]{1,20}?)?)(?:\+[\w-]+={0,2})?"
    )

    def fits(self, listing: Listing) -> int:
        return sum(map(bool, map(self._NAMED.fullmatch, listing.tops)))

    def uploads(self, listing: Listing, asked: Asked) -> list[Upload]:
        found = []
        for top, files in grouped(listing, str).items():
            if not (named := self._NAMED.fullmatch(top)):
                found.append(unnamed(listing, files, "nbgrader"))
            elif named["assignment"] == asked.assignment:
                key = _key(named["student"], listing.owners.get(top, ""))
                found.append(Upload(key, inside(files), listing.within(top), time=time_in(named["time"])))
        return found


def _key(student: str, owner: str) -> Key:
    """Whoever hands in writes the name of the folder, and cannot change to whom it belongs."""
    if owner and owner != student and is_user(student):
        return Key.in_doubt(student, f"it belongs to {one_line(owner, 60)} on this machine, where this is another user")
    return Key.of(student, (ID, student), user=(OWNER, owner) if owner else None)


def is_user(name: str) -> bool:
    """Whether this machine knows somebody of this name."""
    try:
        return bool(pwd.getpwnam(name))
    except (KeyError, ValueError):
        return False


def time_in(text: str) -> datetime | None:
    """What nbgrader writes as a time; None if it is none."""
    try:
        return parse_utc(text) if len(text) <= MAX_TIMESTAMP else None
    except Exception:  # dateutil has many
        return None


# What nbgrader's own collecting has brought from ngshare.

_TIME = ("timestamp.txt",)  # which ngshare says, and which takes the place of one that was handed in


class Ngshare:
    """A folder laid out as submitted/, in which a time lies beside what each student has handed in."""

    name = "ngshare"
    called = "what nbgrader has collected from ngshare"

    def fits(self, _listing: Listing) -> int:
        """Only the user knows: whoever hands in a folder could lay it out so, with a time of their own."""
        return 0

    def uploads(self, listing: Listing, asked: Asked) -> list[Upload]:
        found = []
        for student, files in grouped(listing, str).items():
            inside = [file.below(2) for file in files if file.parts[1:2] == (asked.assignment,) and len(file.parts) > 2]
            if inside:
                place = listing.within(f"{student}/{asked.assignment}")
                found.append(Upload(Key.of(student, (ID, student)), inside, place, time=_time_beside(inside)))
        return found


def _time_beside(files: Sequence[File]) -> datetime | None:
    for file in files:
        if file.parts == _TIME:
            try:
                return time_in(file.read(MAX_TIMESTAMP).decode().strip())
            except (Refused, UnicodeDecodeError):
                return None
    return None
