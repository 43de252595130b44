"""Folders that no platform has laid out: names of folders and of files tell the student."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from grader.collecting.files import MAX_NAME, Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped, inside
from grader.collecting.students import NAME, Key, normal


class Clones:
    """A folder of clones of git: one for each student."""

    name = "clones"
    called = "a folder of clones of git"

    def fits(self, listing: Listing) -> int:
        return len(listing.clones.intersection(listing.tops))

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        """Classrooms of git hosts write the assignment in front of all names. How much of what names share that is,
        nobody can tell, so that a name must mean one student however much of it is taken away."""
        tops = listing.tops
        words = [top.split("-") for top in tops]
        shared = list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))) if len(tops) > 1 else []
        return [
            HandIn(
                _named_by(top, ["-".join(top.split("-")[cut:]) for cut in range(1, len(shared) + 1)], asked),
                inside(files),
                listing.within(top),
            )
            for top, files in grouped(listing, str).items()
        ]


class Folder:
    """Any folder or zip, such as Google Classroom's: names of folders or of files tell the student."""

    name = "folder"
    called = "a folder of files"

    def fits(self, _listing: Listing) -> int:
        """Nobody writes the names but whoever has put the files there."""
        return 0

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        folders = {file.parts[0] for file in listing.files if len(file.parts) > 1}
        keys = {top: _named_by(top if top in folders else _stem(top), [], asked) for top in listing.tops}
        return [
            HandIn(keys[files[0].parts[0]], inside(files), listing.within(files[0].parts[0]))
            for files in grouped(listing, lambda top: keys[top].own or top).values()
        ]


_ENDING = re.compile(r"(?:\.(?:ipynb|py|zip|json|txt|html?|pdf))+$", re.IGNORECASE)
_COPY = re.compile(r"\s*\(\d+\)$| - copy$", re.IGNORECASE)  # as browsers and systems name a second file


def _stem(name: str) -> str:
    if len(name) > MAX_NAME:  # which takes its time, and is nobody's
        return name
    stem = _COPY.sub("", _ENDING.sub("", name))
    return stem if stem != name or "." not in name.strip(".") else name.rpartition(".")[0]


def _named_by(name: str, more: Sequence[str], asked: Asked) -> Key:
    """A key of all that a name may say of its student: itself, and what is left without the name of a notebook. What
    stands behind a dash may be the student's own title."""
    if len(name) > MAX_NAME:
        return Key.of("", shown=name)
    titles = ["[ _-]+".join(map(re.escape, re.split(r"[ _-]+", title))) for title in asked.notebooks]
    patterns = [pattern for title in titles for pattern in (rf"{title}[ _-]+(.+)", rf"(.+?)[ _-]+{title}")]
    without = [left[1] for pattern in patterns if (left := re.fullmatch(pattern, name, re.IGNORECASE))]
    before, dash, behind = name.partition(" - ")
    notebooks = set(map(plain, asked.notebooks))
    found = [*without, name, *more, *([before] if dash else ())]
    forms = [form for form in dict.fromkeys(found) if form and plain(form) not in notebooks]
    rivals = [(NAME, behind)] if dash else []
    return Key.of(forms[0] if forms else "", *((NAME, form) for form in forms), shown=name, rivals=rivals)


def plain(title: str) -> str:
    """As titles are compared, which names of files write in several ways."""
    return re.sub("[ _-]+", " ", normal(title))
