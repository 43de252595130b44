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
class _WrittenPiece:
    """A piece as written in the text."""

    line: int  # of its heading
    kind: str
    name: str
    base: str  # the piece that it is a patch of; empty if it is whole
    about: str
    fields: Mapping[str, str]
    body: Sequence[str]


def read_pieces(text: str) -> list[CorpusPiece]:
    """All pieces of a text, in order. A CourseError says which line cannot be read, and why."""
    blocks = list(_split(text))
    whole = {piece.name: piece.body for piece in blocks if not piece.base}
    pieces: dict[str, CorpusPiece] = {}
    for piece in blocks:
        if piece.name in pieces:
            raise _error(piece.line, f"two pieces have the same name: {piece.name}")
        code = "\n".join(_code_lines(piece, whole)) + "\n"
        pieces[piece.name] = CorpusPiece(piece.kind, piece.name, piece.about, code, piece.fields)
    return list(pieces.values())


def _split(text: str) -> Iterator[_WrittenPiece]:
    lines = text.split("\n")
    starts = [index for index, line in enumerate(lines) if line.startswith("=== ")]
    if any(line.strip() for line in lines[: starts[0] if starts else None]):
        raise _error(1, "there is text before the first heading")
    for start, end in pairwise([*starts, len(lines)]):
        heading = _HEADING.fullmatch(lines[start])
        if not heading:
            raise _error(
                start + 1,
                "a heading must look like `=== right NAME: in a few words`, or `=== wrong NAME, from NAME: …`",
            )
        kind, name, base, about = heading.groups(default="")
        body_start = start + 1
        fields: dict[str, str] = {}
        while body_start < end:
            match = _FIELD.fullmatch(lines[body_start])
            if not match:
                break
            fields[match[1]] = match[2]
            body_start += 1
        if body_start < end and _NO_FIELD.match(lines[body_start]):
            sentence = "a field must look like `:named: …`, in lower case, directly below the heading"
            raise _error(body_start + 1, sentence)
        while end > body_start and not lines[end - 1]:
            end -= 1
        yield _WrittenPiece(start + 1, kind, name, base, about, fields, lines[body_start:end])


def _code_lines(piece: _WrittenPiece, whole: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if not piece.base:
        return piece.body
    if piece.base not in whole:
        raise _error(piece.line, f"there is no piece {piece.base}, or it is a patch itself")
    return list(_apply(piece, whole[piece.base]))


def _apply(patch: _WrittenPiece, base: Sequence[str]) -> Iterator[str]:
    """The lines of the base piece, with the changes applied."""
    position = 0
    for hunk in _hunks(patch):
        old = [*hunk.context, *hunk.removed]
        for start in range(position, len(base) + 1):
            if list(base[start : start + len(old)]) == old:
                break
        else:
            raise _error(patch.line, f"{patch.base} has no such lines, or not in this order: {' / '.join(old)}")
        yield from base[position : start + len(hunk.context)]
        yield from hunk.added
        position = start + len(old)
    yield from base[position:]


@dataclass
class _Hunk:
    """Lines to find, of which some are removed, and lines to add in their place."""

    context: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


def _hunks(patch: _WrittenPiece) -> Iterator[_Hunk]:
    hunk = _Hunk()
    for line in patch.body:
        sign, code = line[:1], line[1:]
        if sign not in _SIGNS:
            raise _error(patch.line, f"a line of a patch must begin with -, + or a space: {line}")
        if (hunk.added and sign != "+") or (hunk.removed and sign == " "):
            yield hunk
            hunk = _Hunk()
        {" ": hunk.context, "-": hunk.removed, "+": hunk.added}[sign].append(code)
    yield hunk


def _error(line: int, sentence: str) -> CourseError:
    return CourseError(f"line {line}: {sentence}")
