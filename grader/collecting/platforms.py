"""Where hand-ins come from, and how that is told from what a source looks like."""

from __future__ import annotations

from itertools import product

from grader.collecting.canvas import Canvas
from grader.collecting.exchange import Exchange
from grader.collecting.files import Listing
from grader.collecting.hand_ins import Asked, HandIn, Platform
from grader.collecting.moodle import Moodle
from grader.collecting.ngshare import Ngshare
from grader.collecting.plain_folder import Clones, Folder
from grader.errors import CourseError

_SPECIAL: tuple[Platform, ...] = (Exchange(), Ngshare(), Moodle(), Canvas(), Clones())
_FOLDER = Folder()  # what is none of these
PLATFORMS = {platform.name: platform for platform in (*_SPECIAL, _FOLDER)}


def must_be_known(named: str) -> None:
    if named and named not in PLATFORMS:
        raise CourseError(f"There is no platform “{named}”. There are: {', '.join(PLATFORMS)}.")


def hand_ins_of(listing: Listing, asked: Asked, named: str = "") -> tuple[Platform, list[HandIn]]:
    """What a source holds, and where that comes from: as it looks, or as `named`."""
    inner = listing.unwrapped()
    for platform, seen in product(_SPECIAL, (listing, inner)):
        if named in ("", platform.name) and platform.recognises(seen):
            return platform, platform.hand_ins(seen, asked)
    platform = PLATFORMS[named or _FOLDER.name]
    one_student = inner is not listing and asked.knows(listing.tops[0])
    return platform, platform.hand_ins(listing if one_student else inner, asked)
