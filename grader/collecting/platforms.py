"""Where hand-ins come from, and how that is told from what a source looks like."""

from __future__ import annotations

from itertools import product
from pathlib import PurePath

from grader.collecting.canvas import Canvas
from grader.collecting.exchange import Exchange
from grader.collecting.files import Listing
from grader.collecting.hand_ins import Asked, HandIn, Platform
from grader.collecting.moodle import Moodle
from grader.collecting.ngshare import Ngshare
from grader.collecting.plain_folder import Clones, Folder, plain
from grader.errors import CourseError
from grader.sandbox.plain_text import one_line

_SPECIAL: tuple[Platform, ...] = (Exchange(), Ngshare(), Moodle(), Canvas(), Clones())
_FOLDER = Folder()  # what is none of these
PLATFORMS = {platform.name: platform for platform in (*_SPECIAL, _FOLDER)}


def must_be_known(named: str) -> None:
    if named and named not in PLATFORMS:
        raise CourseError(f"There is no platform “{named}”. There are: {', '.join(PLATFORMS)}.")


def hand_ins_of(listing: Listing, asked: Asked, named: str = "") -> tuple[Platform, list[HandIn], str]:
    """What a source holds, and where that comes from, as it looks or as `named`; and what could be meant otherwise.

    It looks so if all of its names do: one could be a student's.
    """
    unwrapped = listing.unwrapped()
    inner = unwrapped if _is_wrapped(listing, asked) else listing
    if named:
        platform = PLATFORMS[named]
        seen = next((one for one in (listing, unwrapped) if platform.fits(one)), inner)
        return platform, platform.hand_ins(seen, asked), ""
    for seen in (listing, inner):
        if len(fitting := [one for one in _SPECIAL if 0 < one.fits(seen) == len(seen.tops)]) == 1:
            return fitting[0], fitting[0].hand_ins(seen, asked), ""
    is_one = inner is listing and unwrapped is not listing and asked.knows(listing.tops[0])
    doubt = _doubt(listing, listing if is_one else unwrapped, inner is not listing)
    return _FOLDER, _FOLDER.hand_ins(inner, asked), doubt


def _is_wrapped(listing: Listing, asked: Asked) -> bool:
    """Whether all lies in one folder that is called like the source, or like what is collected: as any other one, it
    could be the only student's, and what is in it is called as that student likes."""
    if len(listing.tops) != 1 or asked.knows(top := listing.tops[0]):
        return False
    name, source = plain(top), plain(PurePath(listing.called).stem)
    alike = source == name or source.startswith(f"{name} ") or name.startswith(f"{source} ")
    return alike or name in map(plain, asked.notebooks)


def _doubt(listing: Listing, unwrapped: Listing, is_unwrapped: bool) -> str:
    """What the user can say of a source that is not quite what it looks like."""
    for seen, platform in product((listing, unwrapped), _SPECIAL):
        if number := platform.fits(seen):
            names = "1 name in it looks" if number == 1 else f"{number} names in it look"
            return f" {names} like {platform.called}: if all of it is that, say --from {platform.name}."
    if unwrapped is not listing and not is_unwrapped and len(unwrapped.tops) > 1:
        return (
            f" All of it lies in “{one_line(listing.tops[0], 60)}”, which is read as one student's folder. "
            "If it holds those of all, name that folder; unpack a zip first."
        )
    return ""
