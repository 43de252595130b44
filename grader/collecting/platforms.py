"""The platforms that submissions come from, and how to recognize each by the names that it writes."""

from __future__ import annotations

import pwd
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile
from pathlib import PurePath

from grader.classroom.submitted_files import time_in
from grader.collecting.files import MAX_NAME, File, Listing
from grader.collecting.students import CANVAS, CANVAS_NAME, ID, MOODLE, MOODLE_NAME, NAME, OWNER, Key, normal
from grader.collecting.uploads import Asked, Platform, Upload, grouped, inside, unnamed
from grader.errors import CourseError
from grader.sandbox.plain_text import listed, one_line

# nbgrader's exchange.


class Exchange:
    """nbgrader's exchange: a folder for each upload, named by the student's nbgrader."""

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
                key = _key_by_owner(named["student"], listing.owners.get(top, ""))
                found.append(Upload(key, inside(files), listing.within(top), time=time_in(named["time"])))
        return found


def _key_by_owner(student: str, owner: str) -> Key:
    """A key from the folder's name and owner: students can choose its name, but not who owns it."""
    if owner and owner != student and _is_user(student):
        return Key.in_doubt(student, f"on this machine, it belongs to another user, {one_line(owner, 60)}")
    return Key.of(student, (ID, student), user=(OWNER, owner) if owner else None)


def _is_user(name: str) -> bool:
    """Whether this machine has a user of this name."""
    try:
        return bool(pwd.getpwnam(name))
    except (KeyError, ValueError):
        return False


# Folders that no platform laid out: names of folders and files show whose they are.


class Clones:
    """A folder of git clones, one for each student."""

    name = "clones"
    called = "a folder of git clones"

    def fits(self, listing: Listing) -> int:
        return len(listing.clones.intersection(listing.tops))

    def uploads(self, listing: Listing, asked: Asked) -> list[Upload]:
        """List the uploads. Git hosts put the assignment before all names, and nobody knows how much of a shared
        beginning that is, so a name must mean one student with any part of it removed."""
        tops = listing.tops
        words = [top.split("-") for top in tops]
        shared = list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))) if len(tops) > 1 else []
        return [
            Upload(
                _named_by(top, ["-".join(top.split("-")[cut:]) for cut in range(1, len(shared) + 1)], asked),
                inside(files),
                listing.within(top),
            )
            for top, files in grouped(listing, str).items()
        ]


class Folder:
    """Any folder or zip, such as Google Classroom's: names of folders or of files show whose they are."""

    name = "folder"
    called = "a folder of files"

    def fits(self, _listing: Listing) -> int:
        """Never recognize it: no platform has written these names."""
        return 0

    def uploads(self, listing: Listing, asked: Asked) -> list[Upload]:
        folders = {file.parts[0] for file in listing.files if len(file.parts) > 1}
        keys = {top: _named_by(top if top in folders else _stem(top), [], asked) for top in listing.tops}
        return [
            Upload(keys[files[0].parts[0]], inside(files), listing.within(files[0].parts[0]))
            for files in grouped(listing, lambda top: keys[top].own or top).values()
        ]


_ENDING = re.compile(r"(?:\.(?:ipynb|py|zip|json|txt|html?|pdf))+$", re.IGNORECASE)
_COPY = re.compile(r"\s*\(\d+\)$| - copy$", re.IGNORECASE)  # the name of a second file, from browsers and systems


def _stem(name: str) -> str:
    if len(name) > MAX_NAME:  # nobody has such a name, and matching it would take long
        return name
    stem = _COPY.sub("", _ENDING.sub("", name))
    return stem if stem != name or "." not in name.strip(".") else name.rpartition(".")[0]


def _named_by(name: str, more: Sequence[str], asked: Asked) -> Key:
    """A key of all that a name may say about its student: the name itself, and without the name of a notebook. The part
    after a dash may be the student's own title."""
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
    """A title made comparable: names of files have several ways to write the same one."""
    return re.sub("[ _-]+", " ", normal(title))


# Moodle: all submissions of an assignment, downloaded as a zip.


class Moodle:
    """Moodle's download of all submissions: a folder for each student, or one for all."""

    name = "moodle"
    called = "a Moodle submissions archive"
    # Moodle takes every `_` out of the name before it writes the rest, so there is only one way to read this, even if
    # students choose odd names for files. A team may have no number.
    _NAMED = re.compile(r"(?P<name>[^_]+)(?:_(?P<number>[0-9]+))?_assignsubmission_[a-z0-9]+(?:_(?P<file>.*))?")

    def fits(self, listing: Listing) -> int:
        return sum(map(bool, map(self._NAMED.fullmatch, listing.tops)))

    def uploads(self, listing: Listing, _asked: Asked) -> list[Upload]:
        found = []
        for files in grouped(listing, self._student).values():
            named = self._NAMED.fullmatch(files[0].parts[0])
            if named and named["number"]:
                name, number = named["name"], named["number"]
                key = Key.of(
                    number, (MOODLE, number), (MOODLE_NAME, name), shown=f"{name} ({number})", user=(MOODLE, number)
                )
                found.append(Upload(key, list(map(self._own, files)), listing.within(f"{name}_{number}")))
            else:
                found.append(unnamed(listing, files, "Moodle"))
        return found

    def _student(self, top: str) -> tuple[str, str]:
        """The name and number of a student: a team may have a student's number."""
        named = self._NAMED.fullmatch(top)
        return (named["name"], named["number"]) if named and named["number"] else (top, "")

    def _own(self, file: File) -> File:
        """The file with the name that its student gave it; in the flat form, it is part of Moodle's name."""
        named = self._NAMED.fullmatch(file.parts[0])
        if len(file.parts) == 1 and named and named["file"]:
            return replace(file, parts=(named["file"],))
        return inside([file])[0]


# Canvas: all submissions of an assignment, downloaded as a zip.

_NUMBER = re.compile(r"[0-9]+")
_LONGEST = 1000  # characters to read of a name: Canvas's part and a file's name are shorter
_LATE, _ANONYMOUS = "LATE", "anon"
_ENTERED = ("text.html", "link.html")  # text that was typed into Canvas instead of a file


@dataclass(frozen=True)
class _Reading:
    """One way to read a file's name NAME_[LATE_]USER_NUMBER_FILE, with parts that can all have numbers."""

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
    """Canvas's download of all submissions, in one folder; names of files show whose they are."""

    name = "canvas"
    called = "a Canvas submissions archive"

    def fits(self, listing: Listing) -> int:
        return sum(any(_readings(top)) for top in listing.tops)

    def uploads(self, listing: Listing, asked: Asked) -> list[Upload]:
        read = {top: _read(top, asked) for top in listing.tops}
        users = {top: (one.user, one.name) if isinstance(one, _Reading) else (top, None) for top, one in read.items()}
        found = []
        for files in grouped(listing, users.__getitem__).values():
            top = files[0].parts[0]
            one = read[top]
            if isinstance(one, _Reading):
                own = [_named(file, read[file.parts[0]]) for file in files]
                found.append(Upload(one.key, own, listing.within(top), late="Canvas" if one.is_late else ""))
            elif one:
                found.append(Upload(Key.in_doubt(top, one), files, listing.within(top)))
            else:
                found.append(unnamed(listing, files, "Canvas"))
        return found


def _readings(top: str) -> Iterator[_Reading]:
    """All ways to read a name: students and their files may have numbers in their names, just like those that Canvas
    writes between the two."""
    words = top[:_LONGEST].split("_")
    hidden = words[1:] if words[0] == _LATE else words
    is_hidden = hidden[0] == _ANONYMOUS and len(hidden) > 2 and hidden[1].isalnum()  # an anonymous one has no name
    if is_hidden and (file := _file(hidden[2:])):
        yield _Reading("", hidden is not words, f"{_ANONYMOUS}_{hidden[1]}", file)
    for place in range(1, len(words) - 1):
        if _NUMBER.fullmatch(words[place]) and (file := _file(words[place + 1 :])):
            is_late = words[place - 1] == _LATE
            name = "_".join(words[: place - is_late])
            yield _Reading(name, is_late, words[place], file)


def _file(words: list[str]) -> str:
    """The name that a student gave a file, without the number before it; empty if it is not a file."""
    if len(words) == 1:
        return words[0] if words[0] in _ENTERED else ""
    return "_".join(words[1:]) if _NUMBER.fullmatch(words[0]) else ""


def _read(top: str, asked: Asked) -> _Reading | str:
    """The one way to read a name, or why it is unclear; empty if it is not Canvas's. Of several, the one counts whose
    name and number belong to one student, if the others mean nobody else."""
    readings = list(_readings(top))
    if len(readings) < 2:
        return readings[0] if readings else ""
    means = {student for one in readings for student in asked.roster.called(one.key)}
    sure = [one for one in readings if asked.roster.called_in_all(one.key) == means]
    if means and len(sure) == 1:
        return sure[0]
    users = listed((f"user {one.user}" for one in readings[:3]), last="or")
    return (
        f"it could be from {users}, since its name has numbers between “_”. "
        "Use --students with the gradebook exported from Canvas, which has the users' numbers"
    )


def _named(file: File, one: _Reading | str) -> File:
    own = one.file if isinstance(one, _Reading) else file.parts[0]
    return replace(file, parts=(own, *file.parts[1:]))


_SPECIAL: tuple[Platform, ...] = (Exchange(), Moodle(), Canvas(), Clones())
_FOLDER = Folder()  # for anything else
PLATFORMS = {platform.name: platform for platform in (*_SPECIAL, _FOLDER)}


def must_be_known(named: str) -> None:
    if named and named not in PLATFORMS:
        raise CourseError(f"There is no platform “{named}”. Choose one of: {', '.join(PLATFORMS)}.")


def uploads_of(listing: Listing, asked: Asked, named: str = "") -> tuple[Platform, list[Upload], str]:
    """The platform of a source, its uploads, and a hint if it may be another platform.

    The platform is the one that is `named`, or the only one that could have written every name in the source: a
    single name could be a student's choice.
    """
    unwrapped = listing.unwrapped()
    inner = unwrapped if _is_wrapped(listing, asked) else listing
    if named:
        platform = PLATFORMS[named]
        seen = next((one for one in (listing, unwrapped) if platform.fits(one)), inner)
        return platform, platform.uploads(seen, asked), ""
    for seen in (listing, inner):
        if len(fitting := [one for one in _SPECIAL if 0 < one.fits(seen) == len(seen.tops)]) == 1:
            return fitting[0], fitting[0].uploads(seen, asked), ""
    is_one = inner is listing and unwrapped is not listing and asked.knows(listing.tops[0])
    doubt = _doubt(listing, listing if is_one else unwrapped, inner is not listing)
    return _FOLDER, _FOLDER.uploads(inner, asked), doubt


def _is_wrapped(listing: Listing, asked: Asked) -> bool:
    """Whether everything is in one folder named like the source or the assignment. Any other folder could belong to the
    only student, who is free to choose names in it."""
    if len(listing.tops) != 1 or asked.knows(top := listing.tops[0]):
        return False
    name, source = plain(top), plain(PurePath(listing.called).stem)
    alike = source == name or source.startswith(f"{name} ") or name.startswith(f"{source} ")
    return alike or name in map(plain, asked.notebooks)


def _doubt(listing: Listing, unwrapped: Listing, is_unwrapped: bool) -> str:
    """A hint for the user if a source may not be what it was taken for; else empty."""
    for seen, platform in product((listing, unwrapped), _SPECIAL):
        if number := platform.fits(seen):
            names = "1 name in it looks" if number == 1 else f"{number} names in it look"
            return f" {names} like {platform.called}. If all of it is that, use --from {platform.name}."
    if unwrapped is not listing and not is_unwrapped and len(unwrapped.tops) > 1:
        return (
            f" All of it is in “{one_line(listing.tops[0], 60)}”, which was read as one student's folder. "
            "If it holds everyone's submissions, collect from that folder; unpack a zip file first."
        )
    return ""
