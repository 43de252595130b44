"""Student code that a course keeps in corpus/, right and wrong: whether it is judged as its headings say.

`corpus/ASSIGNMENT/EXERCISE.txt` holds that of one exercise, as grader/checks/corpus_checks.py reads it. A wrong one may
say which misconceptions are to be named: `:named: not divided`, several with ` + ` between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

from grader.checks.exercise_checks import ExerciseProblem
from grader.checks.trying import TriedCode, settings_for, try_code
from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.errors import CourseError
from grader.model.label import Label, label_of

# Student code as a course keeps it: all of one exercise in a text, most of it as what is different from another
# piece.

_HEADING = re.compile(r"=== (right|wrong) ([\w-]+)(?:, from ([\w-]+))?: (.+)")
_SIGNS = ("-", "+", " ")
_FIELD = re.compile(r":([a-z]+(?: [a-z]+)*): (.*)")
_NO_FIELD = re.compile(r":|\W*named\b", re.IGNORECASE)  # but somebody may have thought so


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
    """A piece as it is written."""

    line: int
    kind: str
    name: str
    base: str
    about: str
    fields: Mapping[str, str]
    body: Sequence[str]


def read_pieces(text: str) -> list[CorpusPiece]:
    """All pieces of a text, in its order. CourseError says what cannot be read, and in which line."""
    entries = list(_entries(text))
    whole = {entry.name: entry.body for entry in entries if not entry.base}
    names: set[str] = set()
    for entry in entries:
        if entry.name in names:
            raise _wrong(entry.line, f"two pieces have one name: {entry.name}")
        names.add(entry.name)
    return [
        CorpusPiece(entry.kind, entry.name, entry.about, "\n".join(_lines(entry, whole)) + "\n", entry.fields)
        for entry in entries
    ]


def _entries(text: str) -> Iterator[_Entry]:
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if line.startswith("=== ")]
    if any(line.strip() for line in lines[: places[0] if places else None]):
        raise _wrong(1, "what stands before the first heading belongs to no piece")
    for place, end in pairwise([*places, len(lines)]):
        heading = _HEADING.fullmatch(lines[place])
        if not heading:
            raise _wrong(place + 1, "a heading is `=== right NAME: in a few words`, or wrong, or with `, from NAME`")
        kind, name, base, about = heading.groups(default="")
        first, fields = place + 1, {}
        while first < end and (said := _FIELD.fullmatch(lines[first])):
            fields[said[1]] = said[2]
            first += 1
        if first < end and _NO_FIELD.match(lines[first]):
            raise _wrong(first + 1, "a field is `:named: …`, in small letters, directly below the heading")
        while end > first and not lines[end - 1]:
            end -= 1
        yield _Entry(place + 1, kind, name, base, about, fields, lines[first:end])


def _lines(entry: _Entry, whole: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if not entry.base:
        return entry.body
    if entry.base not in whole:
        raise _wrong(entry.line, f"there is no piece {entry.base}, or it is not written out")
    return list(_changed(entry, whole[entry.base]))


def _changed(entry: _Entry, base: Sequence[str]) -> Iterator[str]:
    """The lines of another piece, with those that differ in their places."""
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
    """Lines that stay and lines that go, and what comes in their place."""
    old: list[str] = []
    new: list[str] = []
    for line in entry.body:
        sign = line[:1]
        if sign not in _SIGNS:
            raise _wrong(entry.line, f"a line of what differs begins with -, + or a blank: {line}")
        if (new and sign != "+") or (sign == " " and old and old[-1][0] == "-"):
            yield old, new
            old, new = [], []
        (new if sign == "+" else old).append(line[1:] if sign == "+" else line)
    yield old, new


def _wrong(line: int, said: str) -> CourseError:
    return CourseError(f"line {line}: {said}")


FOLDER = "corpus"


class Corpus:
    """All student code of one assignment."""

    def __init__(self, course: Course, assignment: str) -> None:
        self.assignment = assignment
        self.pieces: dict[str, list[CorpusPiece]] = {}  # by file
        self.unreadable: list[ExerciseProblem] = []
        folder = course.root / FOLDER / assignment
        for path in sorted({former.parent for former in folder.glob("*/[rw]*/")}):  # one file for each, until 0.6
            place = str(path.relative_to(course.root))
            say = f"Put all code of an exercise into one text, {place}.txt: docs/writing_an_exercise.md shows how."
            self.unreadable.append(ExerciseProblem(label_of(path.name), place, "is a folder", say))
        for path in sorted(folder.glob("*.txt")):
            place, label = str(path.relative_to(course.root)), label_of(path.stem)
            try:
                self.pieces[place] = read_pieces(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                self.unreadable.append(ExerciseProblem(label, place, "it is no text in UTF-8", "Save it as that."))
            except CourseError as error:
                self.unreadable.append(ExerciseProblem(label, place, str(error), "Fix that line."))

    def __len__(self) -> int:
        return len(self.unreadable) + sum(map(len, self.pieces.values()))

    def problems(self, course: Course, exercises: Exercises) -> Iterator[ExerciseProblem]:
        places: dict[Label | None, int] = {one: place for place, one in enumerate(exercises)}
        settings = settings_for(course, exercises)
        yield from self.unreadable
        for file in sorted(self.pieces, key=lambda file: places.get(_label(file), len(places))):
            label = _label(file)
            if label is None or label not in exercises:
                say = f"Call it as an exercise of {self.assignment}."
                yield ExerciseProblem(None, file, "there is no such exercise", say)
                continue
            known = {one.name for function in exercises[label].functions for one in function.mistakes}
            tried = partial(try_code, course, self.assignment, settings, label)
            for piece in self.pieces[file]:
                if said := _problem(piece, tried, known):
                    where = f"{file}, {piece.name}"
                    yield ExerciseProblem(
                        label, where, said, "Fix the exercise, or the text if it says what is not so."
                    )


def _label(file: str) -> Label | None:
    return label_of(Path(file).stem)


def _problem(piece: CorpusPiece, tried: Callable[[str], TriedCode], known: Container[str]) -> str:
    """How it is judged otherwise than it says; nothing if it is not."""
    try:
        verdict = tried(piece.code).verdict
    except CourseError as error:
        return str(error)
    if piece.right:
        return "" if verdict.right else f"it is said to be right, and is judged: {' '.join(verdict.sentences)}"
    if verdict.right:
        return "it is said to be wrong, and earns everything"
    if other := set(piece.fields) - {"named"}:
        return f"it has a field {min(other)}, and only `:named:` is known"
    said, named = piece.fields.get("named"), " + ".join(verdict.misconceptions) or "nothing"
    if not said or said == named:
        return ""
    unknown = next((name for name in said.split(" + ") if name not in known and name != "nothing"), "")
    return f"`{said}` is to be named, and {named} is" + (
        f"; the exercise has no mistake “{unknown}”" if unknown else ""
    )
