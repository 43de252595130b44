"""The platforms that submissions come from, and how to recognize each by the names that it writes."""

from __future__ import annotations

import pwd
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import PurePath

from grader.classroom.submitted_files import time_in
from grader.collecting.files import MAX_NAME, File, Listing
from grader.collecting.students import (
    CANVAS,
    CANVAS_NAME,
    ID,
    MOODLE,
    MOODLE_NAME,
    NAME,
    OWNER,
    StudentReference,
    normal,
)
from grader.collecting.uploads import CollectRequest, Platform, Upload, below_top, group_files, make_unnamed_upload
from grader.errors import CourseError
from grader.sandbox.plain_text import listed, one_line

# nbgrader's exchange.


class Exchange:
    """nbgrader's exchange: a folder for each upload, named by the student's nbgrader."""

    name = "exchange"
    label = "the inbound folder of nbgrader's exchange"
    _PATTERN = re.compile(
        r"(?P<student>.+)\+(?P<assignment>[^+]+)"
        r"\+(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]{5,20}(?: [\w:+-]{1,20}?)?)(?:\+[\w-]+={0,2})?"
    )

    def count_names(self, listing: Listing) -> int:
        return sum(map(bool, map(self._PATTERN.fullmatch, listing.tops)))

    def list_uploads(self, listing: Listing, request: CollectRequest) -> list[Upload]:
        uploads = []
        for top, files in group_files(listing, str).items():
            match = self._PATTERN.fullmatch(top)
            if not match:
                uploads.append(make_unnamed_upload(listing, files, "nbgrader"))
            elif match["assignment"] == request.assignment:
                reference = _refer_by_owner(match["student"], listing.owners.get(top, ""))
                time = time_in(match["time"])
                uploads.append(Upload(reference, below_top(files), listing.path_of(top), time))
        return uploads


def _refer_by_owner(student: str, owner: str) -> StudentReference:
    """A student by the folder's name and owner: students can choose its name, but not who owns it."""
    if owner and owner != student and _is_user(student):
        return StudentReference.in_doubt(student, f"on this machine, it belongs to another user, {one_line(owner, 60)}")
    return StudentReference.of(student, (ID, student), user=(OWNER, owner) if owner else None)


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
    label = "a folder of git clones"

    def count_names(self, listing: Listing) -> int:
        return len(listing.clones.intersection(listing.tops))

    def list_uploads(self, listing: Listing, request: CollectRequest) -> list[Upload]:
        """List the uploads. Git hosts put the assignment before all names, and nobody knows how much of a shared
        beginning that is, so a name must mean one student with any part of it removed."""
        shared_words = _count_shared_words(listing.tops)
        uploads = []
        for top, files in group_files(listing, str).items():
            words = top.split("-")
            shorter_names = ["-".join(words[count:]) for count in range(1, shared_words + 1)]
            reference = _refer_by_name(top, shorter_names, request)
            uploads.append(Upload(reference, below_top(files), listing.path_of(top)))
        return uploads


def _count_shared_words(names: Sequence[str]) -> int:
    """With how many words, between dashes, all these names begin; 0 if there is only one name."""
    if len(names) < 2:
        return 0
    count = 0
    for words in zip(*(name.split("-") for name in names), strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


class Folder:
    """Any folder or zip, such as Google Classroom's: names of folders or of files show whose they are."""

    name = "folder"
    label = "a folder of files"

    def count_names(self, _listing: Listing) -> int:
        """Never recognize it: no platform has written these names."""
        return 0

    def list_uploads(self, listing: Listing, request: CollectRequest) -> list[Upload]:
        folders = {file.segments[0] for file in listing.files if len(file.segments) > 1}
        references = {}
        for top in listing.tops:
            references[top] = _refer_by_name(top if top in folders else _remove_ending(top), [], request)
        uploads = []
        for files in group_files(listing, lambda top: references[top].platform_name or top).values():
            top = files[0].segments[0]
            uploads.append(Upload(references[top], below_top(files), listing.path_of(top)))
        return uploads


_ENDING = re.compile(r"(?:\.(?:ipynb|py|zip|json|txt|html?|pdf))+$", re.IGNORECASE)
_COPY = re.compile(r"\s*\(\d+\)$| - copy$", re.IGNORECASE)  # the name of a second file, from browsers and systems


def _remove_ending(name: str) -> str:
    """A file's name without its ending, and without the number of a copy."""
    if len(name) > MAX_NAME:  # nobody has such a name, and matching it would take long
        return name
    stem = _COPY.sub("", _ENDING.sub("", name))
    if stem == name and "." in name.strip("."):
        return name.rpartition(".")[0]
    return stem


def _refer_by_name(name: str, shorter_names: Sequence[str], request: CollectRequest) -> StudentReference:
    """A student by all that a name may say: the name itself, and without the name of a notebook. The part after a dash
    may be the student's own title."""
    if len(name) > MAX_NAME:
        return StudentReference.of("", label=name)
    candidates = [*_remove_titles(name, request), name, *shorter_names]
    rivals = []
    before, dash, behind = name.partition(" - ")
    if dash:
        candidates.append(before)
        rivals.append((NAME, behind))
    notebooks = set(map(plain, request.notebooks))
    names = [candidate for candidate in dict.fromkeys(candidates) if candidate and plain(candidate) not in notebooks]
    aliases = [(NAME, candidate) for candidate in names]
    return StudentReference.of(names[0] if names else "", *aliases, label=name, rivals=rivals)


def _remove_titles(name: str, request: CollectRequest) -> Iterator[str]:
    """What is left of a name without the name of a notebook, before or behind."""
    for title in request.notebooks:
        title_pattern = "[ _-]+".join(map(re.escape, re.split(r"[ _-]+", title)))
        for pattern in (rf"{title_pattern}[ _-]+(.+)", rf"(.+?)[ _-]+{title_pattern}"):
            match = re.fullmatch(pattern, name, re.IGNORECASE)
            if match:
                yield match[1]


def plain(title: str) -> str:
    """A title made comparable: names of files have several ways to write the same one."""
    return re.sub("[ _-]+", " ", normal(title))


# Moodle: all submissions of an assignment, downloaded as a zip.


class Moodle:
    """Moodle's download of all submissions: a folder for each student, or one for all."""

    name = "moodle"
    label = "a Moodle submissions archive"
    # Moodle takes every `_` out of the name before it writes the rest, so there is only one way to read this, even if
    # students choose odd names for files. A team may have no number.
    _PATTERN = re.compile(r"(?P<name>[^_]+)(?:_(?P<number>[0-9]+))?_assignsubmission_[a-z0-9]+(?:_(?P<file>.*))?")

    def count_names(self, listing: Listing) -> int:
        return sum(map(bool, map(self._PATTERN.fullmatch, listing.tops)))

    def list_uploads(self, listing: Listing, _request: CollectRequest) -> list[Upload]:
        uploads = []
        for (name, number), files in group_files(listing, self._student).items():
            if number:
                user = (MOODLE, number)
                reference = StudentReference.of(
                    number, user, (MOODLE_NAME, name), label=f"{name} ({number})", user=user
                )
                student_files = [self._restore_name(file) for file in files]
                uploads.append(Upload(reference, student_files, listing.path_of(f"{name}_{number}")))
            else:
                uploads.append(make_unnamed_upload(listing, files, "Moodle"))
        return uploads

    def _student(self, top: str) -> tuple[str, str]:
        """The name and number of a student: a team may have a student's number. Without a number, all of it."""
        match = self._PATTERN.fullmatch(top)
        return (match["name"], match["number"]) if match and match["number"] else (top, "")

    def _restore_name(self, file: File) -> File:
        """The file with the name that its student gave it; in the flat form, it is part of Moodle's name."""
        match = self._PATTERN.fullmatch(file.segments[0])
        if len(file.segments) == 1 and match and match["file"]:
            return replace(file, segments=(match["file"],))
        return below_top([file])[0]


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
    def reference(self) -> StudentReference:
        label = f"{self.name} ({self.user})" if self.name else self.user
        user = (CANVAS, self.user)
        return StudentReference.of(self.user, user, (CANVAS_NAME, self.name), label=label, user=user)


class Canvas:
    """Canvas's download of all submissions, in one folder; names of files show whose they are."""

    name = "canvas"
    label = "a Canvas submissions archive"

    def count_names(self, listing: Listing) -> int:
        return sum(any(_list_readings(top)) for top in listing.tops)

    def list_uploads(self, listing: Listing, request: CollectRequest) -> list[Upload]:
        readings = {top: _read_name(top, request) for top in listing.tops}

        def student(top: str) -> tuple[str, str | None]:
            """The user and the name that Canvas gives; for an unclear name, all of it."""
            reading = readings[top]
            return (reading.user, reading.name) if isinstance(reading, _Reading) else (top, None)

        uploads = []
        for files in group_files(listing, student).values():
            top = files[0].segments[0]
            reading = readings[top]
            if isinstance(reading, _Reading):
                platform = "Canvas" if reading.is_late else ""
                student_files = [_restore_name(file, readings[file.segments[0]]) for file in files]
                upload = Upload(reading.reference, student_files, listing.path_of(top), late_platform=platform)
            elif reading:
                upload = Upload(StudentReference.in_doubt(top, reading), files, listing.path_of(top))
            else:
                upload = make_unnamed_upload(listing, files, "Canvas")
            uploads.append(upload)
        return uploads


def _list_readings(top: str) -> Iterator[_Reading]:
    """All ways to read a name: students and their files may have numbers in their names, just like those that Canvas
    writes between the two."""
    words = top[:_LONGEST].split("_")
    begins_late = words[0] == _LATE
    anonymous_words = words[1:] if begins_late else words  # an anonymous student has no name
    if len(anonymous_words) > 2 and anonymous_words[0] == _ANONYMOUS and anonymous_words[1].isalnum():
        file = _file_in(anonymous_words[2:])
        if file:
            yield _Reading("", begins_late, f"{_ANONYMOUS}_{anonymous_words[1]}", file)
    for position in range(1, len(words) - 1):
        if not _NUMBER.fullmatch(words[position]):
            continue
        file = _file_in(words[position + 1 :])
        if file:
            is_late = words[position - 1] == _LATE
            name = "_".join(words[: position - is_late])
            yield _Reading(name, is_late, words[position], file)


def _file_in(words: list[str]) -> str:
    """The name that a student gave a file, without the number before it; empty if it is not a file."""
    if len(words) == 1:
        return words[0] if words[0] in _ENTERED else ""
    return "_".join(words[1:]) if _NUMBER.fullmatch(words[0]) else ""


def _read_name(top: str, request: CollectRequest) -> _Reading | str:
    """The one way to read a name, or why it is unclear; empty if it is not Canvas's. Of several, the one counts whose
    name and number belong to one student, if the others mean nobody else."""
    readings = list(_list_readings(top))
    if not readings:
        return ""
    if len(readings) == 1:
        return readings[0]
    students: set[str] = set()
    for reading in readings:
        students |= request.roster.students_meant(reading.reference)
    if students:
        sure = [reading for reading in readings if request.roster.students_meant_by_all(reading.reference) == students]
        if len(sure) == 1:
            return sure[0]
    users = listed((f"user {reading.user}" for reading in readings[:3]), last="or")
    return (
        f"it could be from {users}, since its name has numbers between “_”. "
        "Use --students with the gradebook exported from Canvas, which has the users' numbers"
    )


def _restore_name(file: File, reading: _Reading | str) -> File:
    """The file with the name that its student gave it."""
    name = reading.file if isinstance(reading, _Reading) else file.segments[0]
    return replace(file, segments=(name, *file.segments[1:]))


# Which platform a source comes from.

_SPECIAL: tuple[Platform, ...] = (Exchange(), Moodle(), Canvas(), Clones())
_FOLDER = Folder()  # for anything else
PLATFORMS = {platform.name: platform for platform in (*_SPECIAL, _FOLDER)}


def check_platform(name: str) -> None:
    if name and name not in PLATFORMS:
        raise CourseError(f"There is no platform “{name}”. Choose one of: {', '.join(PLATFORMS)}.")


def list_uploads(listing: Listing, request: CollectRequest, name: str = "") -> tuple[Platform, list[Upload], str]:
    """The platform of a source, its uploads, and a hint if it may be another platform.

    The platform is the one with this name, or the only one that could have written every name in the source: a single
    name could be a student's choice.
    """
    unwrapped = listing.unwrapped()
    inner = unwrapped if _is_wrapped(listing, request) else listing
    if name:
        platform = PLATFORMS[name]
        source = next((source for source in (listing, unwrapped) if platform.count_names(source)), inner)
        return platform, platform.list_uploads(source, request), ""
    for source in (listing, inner):
        fitting = [platform for platform in _SPECIAL if 0 < platform.count_names(source) == len(source.tops)]
        if len(fitting) == 1:
            return fitting[0], fitting[0].list_uploads(source, request), ""
    if inner is listing and unwrapped is not listing and request.has_student(listing.tops[0]):
        unwrapped = listing  # its only folder is that student's
    doubt = _describe_doubt(listing, unwrapped, is_unwrapped=inner is not listing)
    return _FOLDER, _FOLDER.list_uploads(inner, request), doubt


def _is_wrapped(listing: Listing, request: CollectRequest) -> bool:
    """Whether everything is in one folder named like the source or the assignment. Any other folder could belong to the
    only student, who is free to choose names in it."""
    if len(listing.tops) != 1 or request.has_student(listing.tops[0]):
        return False
    top, source = plain(listing.tops[0]), plain(PurePath(listing.name).stem)
    is_like_source = source == top or source.startswith(f"{top} ") or top.startswith(f"{source} ")
    return is_like_source or top in map(plain, request.notebooks)


def _describe_doubt(listing: Listing, unwrapped: Listing, is_unwrapped: bool) -> str:
    """A hint for the user if a source may not be what it was taken for; else empty."""
    for source, platform in product((listing, unwrapped), _SPECIAL):
        count = platform.count_names(source)
        if count:
            names = "1 name in it looks" if count == 1 else f"{count} names in it look"
            return f" {names} like {platform.label}. If all of it is that, use --from {platform.name}."
    if unwrapped is not listing and not is_unwrapped and len(unwrapped.tops) > 1:
        return (
            f" All of it is in “{one_line(listing.tops[0], 60)}”, which was read as one student's folder. "
            "If it holds everyone's submissions, collect from that folder; unpack a zip file first."
        )
    return ""
