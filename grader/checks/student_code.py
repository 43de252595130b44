"""Read a course's student code: a text for each exercise, where most pieces only say how they differ from another one.

    === right loop: a dict, and a loop
    def most_common(text):
        counts = {}
        for word in text.lower().split():
            counts[word] = counts.get(word, 0) + 1
        return max(counts, key=counts.get)

    === wrong case_counts, from loop: capital letters are not made small
    :named: capital letters count
    -    for word in text.lower().split():
    +    for word in text.split():

Below a heading and its fields comes the code of the solution cell. With `from NAME`, it only lists how it differs from
the piece of that name: lines to remove (-), lines to add (+), and, where the place would be unclear, lines to keep
(a blank) before them. Changes apply in order, each at the first place that fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from grader.errors import CourseError

_HEADING = re.compile(r"=== (right|wrong) ([\w-]+)(?:, from ([\w-]+))?: (.+)")
_SIGNS = ("-", "+", " ")
_FIELD = re.compile(r":([a-z]+(?: [a-z]+)*): (.*)")
_NO_FIELD = re.compile(r":|\W*named\b", re.IGNORECASE)  # but probably meant as one


@dataclass(frozen=True)
class CorpusPiece:
    """Student code for one exercise, right or wrong."""

    kind: str
    name: str
    about: str  # in a few words
    code: str
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def right(self) -> bool:
        return self.kind == "right"


@dataclass(frozen=True)
class _Entry:
    """A piece as written in the text."""

    line: int
    kind: str
    name: str
    base: str
    about: str
    fields: Mapping[str, str]
    body: Sequence[str]


def read_pieces(text: str) -> list[CorpusPiece]:
    """All pieces of a text, in order. A CourseError says which line cannot be read, and why."""
    entries = list(_entries(text))
    whole = {entry.name: entry.body for entry in entries if not entry.base}
    names: set[str] = set()
    for entry in entries:
        if entry.name in names:
            raise _wrong(entry.line, f"two pieces have the same name: {entry.name}")
        names.add(entry.name)
    return [
        CorpusPiece(entry.kind, entry.name, entry.about, "\n".join(_lines(entry, whole)) + "\n", entry.fields)
        for entry in entries
    ]


def _entries(text: str) -> Iterator[_Entry]:
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if line.startswith("=== ")]
    if any(line.strip() for line in lines[: places[0] if places else None]):
        raise _wrong(1, "there is text before the first heading")
    for place, end in pairwise([*places, len(lines)]):
        heading = _HEADING.fullmatch(lines[place])
        if not heading:
            raise _wrong(
                place + 1,
                "a heading must look like `=== right NAME: in a few words`, or `=== wrong NAME, from NAME: …`",
            )
        kind, name, base, about = heading.groups(default="")
        first, fields = place + 1, {}
        while first < end and (said := _FIELD.fullmatch(lines[first])):
            fields[said[1]] = said[2]
            first += 1
        if first < end and _NO_FIELD.match(lines[first]):
            raise _wrong(first + 1, "a field must look like `:named: …`, in lower case, directly below the heading")
        while end > first and not lines[end - 1]:
            end -= 1
        yield _Entry(place + 1, kind, name, base, about, fields, lines[first:end])


def _lines(entry: _Entry, whole: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if not entry.base:
        return entry.body
    if entry.base not in whole:
        raise _wrong(entry.line, f"there is no piece {entry.base}, or it is a patch itself")
    return list(_changed(entry, whole[entry.base]))


def _changed(entry: _Entry, base: Sequence[str]) -> Iterator[str]:
    """The lines of the base piece, with the changes applied."""
    at = 0
    for old, new in _blocks(entry):
        kept = [line[1:] for line in old if line.startswith(" ")]
        gone = [line[1:] for line in old]
        fits = (place for place in range(at, len(base) + 1) if list(base[place : place + len(gone)]) == gone)
        place = next(fits, None)
        if place is None:
            raise _wrong(entry.line, f"{entry.base} has no such lines, or not in this order: {' / '.join(gone)}")
        yield from base[at : place + len(kept)]
        yield from new
        at = place + len(gone)
    yield from base[at:]


def _blocks(entry: _Entry) -> Iterator[tuple[list[str], list[str]]]:
    """The changes one by one: the lines to keep or remove, and the lines to add after them."""
    old: list[str] = []
    new: list[str] = []
    for line in entry.body:
        sign = line[:1]
        if sign not in _SIGNS:
            raise _wrong(entry.line, f"a line of a patch must begin with -, + or a space: {line}")
        if (new and sign != "+") or (sign == " " and old and old[-1][0] == "-"):
            yield old, new
            old, new = [], []
        (new if sign == "+" else old).append(line[1:] if sign == "+" else line)
    yield old, new


def _wrong(line: int, said: str) -> CourseError:
    return CourseError(f"line {line}: {said}")
