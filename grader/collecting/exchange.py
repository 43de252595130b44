"""nbgrader's exchange."""

from __future__ import annotations

import re
from datetime import datetime

from nbgrader.utils import parse_utc

from grader.classroom.handed_in import MAX_TIMESTAMP
from grader.collecting.files import Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped
from grader.collecting.students import ID, Key


class Exchange:
    """nbgrader's exchange: a folder for each hand-in, which nbgrader has named."""

    name = "exchange"
    called = "the inbound folder of nbgrader's exchange"
    _NAMED = re.compile(r"(?P<student>.+)\+(?P<assignment>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d .*?)(?:\+[\w-]+={0,2})?")

    def recognises(self, listing: Listing) -> bool:
        return bool(listing.tops) and all(map(self._NAMED.fullmatch, listing.tops))

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        found = []
        for top, files in grouped(listing, str).items():
            named = self._NAMED.fullmatch(top)
            if named and named["assignment"] != asked.assignment:
                continue
            key = Key.of(named["student"], (ID, named["student"])) if named else Key.of("", shown=top)
            found.append(
                HandIn(
                    key,
                    [file.below(1) for file in files],
                    listing.within(top),
                    time=time_in(named["time"]) if named else None,
                    owner=listing.owners.get(top, ""),
                )
            )
        return found


def time_in(text: str) -> datetime | None:
    """What nbgrader writes as a time; None if it is none."""
    try:
        return parse_utc(text) if len(text) <= MAX_TIMESTAMP else None
    except Exception:  # dateutil has many
        return None
