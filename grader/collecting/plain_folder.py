"""Folders that no platform has laid out: names of folders and of files tell the student."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from grader.collecting.files import File, Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped
from grader.collecting.students import NAME, Key, normal


class Clones:
    """A folder of clones of git: one for each student."""

    name = "clones"
    called = "a folder of clones of git"

    def recognises(self, listing: Listing) -> bool:
        return bool(listing.clones)

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        """Classrooms of git hosts write the assignment in front of all names."""
        tops = listing.tops
        words = [top.split("-") for top in tops]
        shared = list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))) if len(tops) > 1 else []
        own = {top: "-".join(parts[len(shared) :]) for top, parts in zip(tops, words, strict=True)}
        return [
            HandIn(_named_by(top, [own[top]], asked), _inside(files), listing.within(top))
            for top, files in grouped(listing, str).items()
        ]


class Folder:
    """Any folder or zip, such as Google Classroom's: names of folders or of files tell the student."""

    name = "folder"
    called = "a folder of files"

    def recognises(self, _listing: Listing) -> bool:
        return True

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        folders = {file.parts[0] for file in listing.files if len(file.parts) > 1}
        keys = {top: _named_by(top if top in folders else _stem(top), [], asked) for top in listing.tops}
        return [
            HandIn(keys[files[0].parts[0]], _inside(files), listing.within(files[0].parts[0]))
            for files in grouped(listing, lambda top: keys[top].own or top).values()
        ]


def _inside(files: Iterable[File]) -> list[File]:
    return [file.below(1) if len(file.parts) > 1 else file for file in files]


_ENDING = re.compile(r"(?:\.(?:ipynb|py|zip|json|txt|html?|pdf))+$", re.IGNORECASE)
_COPY = re.compile(r"\s*\(\d+\)$| - copy$", re.IGNORECASE)  # as browsers and systems name a second file


def _stem(name: str) -> str:
    stem = _COPY.sub("", _ENDING.sub("", name))
    return stem if stem != name or "." not in name.strip(".") else name.rpartition(".")[0]


def _named_by(name: str, more: Sequence[str], asked: Asked) -> Key:
    """A key of all that a name may say of its student: itself, and what is left without the name of a notebook."""
    titles = ["[ _-]+".join(map(re.escape, re.split(r"[ _-]+", title))) for title in asked.notebooks]
    patterns = [pattern for title in titles for pattern in (rf"{title}[ _-]+(.+)", rf"(.+?)[ _-]+{title}")]
    without = [left[1] for pattern in patterns if (left := re.fullmatch(pattern, name, re.IGNORECASE))]
    before, dash, behind = name.partition(" - ")
    notebooks = {_plain(title) for title in asked.notebooks}
    found = [*without, name, *more, *((before, behind) if dash else ())]
    forms = [form for form in dict.fromkeys(found) if form and _plain(form) not in notebooks]
    return Key.of(forms[0] if forms else "", *((NAME, form) for form in forms), shown=name)


def _plain(title: str) -> str:
    return re.sub("[ _-]+", " ", normal(title))
