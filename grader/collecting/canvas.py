"""Canvas, where all submissions of an assignment are downloaded as a zip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from grader.collecting.files import File, Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped, unnamed
from grader.collecting.students import CANVAS, CANVAS_NAME, Key

_NUMBER = re.compile(r"[0-9]+")
_LONGEST = 1000  # of a name that is read: Canvas's part and a file's name are shorter
_LATE, _ANONYMOUS = "LATE", "anon"
_ENTERED = ("text.html", "link.html")  # what was typed into Canvas, and is no file


@dataclass(frozen=True)
class _Reading:
    """One way to read the name of a file: NAME_[LATE_]USER_NUMBER_FILE, where a name is nobody's number."""

    name: str
    is_late: bool
    user: str
    file: str

    @property
    def key(self) -> Key:
        shown = f"{self.name} ({self.user})" if self.name else self.user
        user = (CANVAS, self.user)
        return Key.of(self.user, user, (CANVAS_NAME, self.name), shown=shown, user=user)


class Canvas:
    """All submissions of an assignment, in one folder; the names of files tell the student."""

    name = "canvas"
    called = "what Canvas gives out of an assignment"

    def fits(self, listing: Listing) -> int:
        return sum(any(_readings(top)) for top in listing.tops)

    def hand_ins(self, listing: Listing, asked: Asked) -> list[HandIn]:
        read = {top: _read(top, asked) for top in listing.tops}
        users = {top: (one.user, one.name) if isinstance(one, _Reading) else (top, None) for top, one in read.items()}
        found = []
        for files in grouped(listing, users.__getitem__).values():
            top = files[0].parts[0]
            one = read[top]
            if isinstance(one, _Reading):
                own = [_named(file, read[file.parts[0]]) for file in files]
                found.append(HandIn(one.key, own, listing.within(top), late="Canvas" if one.is_late else ""))
            elif one:
                found.append(HandIn(Key.in_doubt(top, one), files, listing.within(top)))
            else:
                found.append(unnamed(listing, files, "Canvas"))
        return found


def _readings(top: str) -> Iterator[_Reading]:
    """All ways to read a name. Students may have numbers in their names, and in those of files, and between them stand
    only Canvas's own."""
    words = top[:_LONGEST].split("_")
    hidden = words[1:] if words[0] == _LATE else words
    is_hidden = hidden[0] == _ANONYMOUS and len(hidden) > 2 and hidden[1].isalnum()  # then there is no name
    if is_hidden and (file := _file(hidden[2:])):
        yield _Reading("", hidden is not words, f"{_ANONYMOUS}_{hidden[1]}", file)
    for place in range(1, len(words) - 1):
        if _NUMBER.fullmatch(words[place]) and (file := _file(words[place + 1 :])):
            is_late = words[place - 1] == _LATE
            name = "_".join(words[: place - is_late])
            yield _Reading(name, is_late, words[place], file)


def _file(words: list[str]) -> str:
    """What the student has called a file, before which stands its number; empty if these words are no file."""
    if len(words) == 1:
        return words[0] if words[0] in _ENTERED else ""
    return "_".join(words[1:]) if _NUMBER.fullmatch(words[0]) else ""


def _read(top: str, asked: Asked) -> _Reading | str:
    """The one way to read a name, or why there is none; empty if it is not Canvas's at all. Of several, it is the one
    whose name and number are those of one student, if no other one could be anybody's."""
    readings = list(_readings(top))
    if len(readings) < 2:
        return readings[0] if readings else ""
    means = {student for one in readings for student in asked.roster.called(one.key)}
    sure = [one for one in readings if asked.roster.called_in_all(one.key) == means]
    if means and len(sure) == 1:
        return sure[0]
    users = " or ".join(f"user {one.user}" for one in readings[:3])
    return (
        f"it can be read as a file of {users}, since a name in it has numbers between “_”. "
        "Name with --students the gradebook that Canvas exports: it has the numbers of users"
    )


def _named(file: File, one: _Reading | str) -> File:
    own = one.file if isinstance(one, _Reading) else file.parts[0]
    return replace(file, parts=(own, *file.parts[1:]))
