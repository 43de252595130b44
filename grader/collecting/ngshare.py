"""What nbgrader's own collecting has brought from ngshare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from grader.classroom.handed_in import MAX_TIMESTAMP
from grader.collecting.exchange import time_in
from grader.collecting.files import File, Listing, Refused
from grader.collecting.hand_ins import Asked, HandIn, grouped
from grader.collecting.students import ID, Key

_TIME = ("timestamp.txt",)  # which ngshare says, and which takes the place of one that was handed in


class Ngshare:
    """A folder laid out as submitted/, in which a time lies beside what each student has handed in."""

    name = "ngshare"
    called = "what nbgrader has collected from ngshare"

    def fits(self, _listing: Listing) -> int:
        """Only the user knows: whoever hands in a folder could lay it out so, with a time of their own."""
        return 0

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        found = []
        for student, files in grouped(listing, str).items():
            inside = [file.below(2) for file in files if file.parts[1:2] == (asked.assignment,) and len(file.parts) > 2]
            if inside:
                place = listing.within(f"{student}/{asked.assignment}")
                found.append(HandIn(Key.of(student, (ID, student)), inside, place, time=_time_beside(inside)))
        return found


def _time_beside(files: Sequence[File]) -> datetime | None:
    for file in files:
        if file.parts == _TIME:
            try:
                return time_in(file.read(MAX_TIMESTAMP).decode().strip())
            except (Refused, UnicodeDecodeError):
                return None
    return None
