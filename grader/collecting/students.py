"""Who the students of a course are, and who of them a platform means. What is not exactly the same is not the same:
only upper and lower case, and ways to write a letter in Unicode, make no difference."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from unicodedata import normalize

Form = tuple[str, str]  # a kind, and a text of that kind

ID, NAME = "id", "name"  # a name is an id, an address or a name of a person
MOODLE, MOODLE_NAME = "Moodle's number", "name in Moodle's files"
CANVAS, CANVAS_NAME = "Canvas's number", "name in Canvas's files"
_NOT_IN_MOODLES_FILES = re.compile(r"[&<>\"`|':\\/]")  # where it makes names of files


@dataclass(frozen=True)
class Student:
    id: str
    first: str = ""
    last: str = ""
    full: str = ""
    email: str = ""
    numbers: frozenset[Form] = frozenset()

    def forms(self) -> set[Form]:
        """All that this student is called."""
        names = _names(self.first, self.last, self.full)
        forms = {(ID, self.id), (NAME, self.id), (NAME, self.email), *self.numbers}
        forms |= {(NAME, name) for name in names}
        forms |= {(MOODLE_NAME, _NOT_IN_MOODLES_FILES.sub("", name).replace("_", " ")) for name in names}
        forms |= {(CANVAS_NAME, re.sub(r"\W", "", name)) for name in _sortable(self.first, self.last, self.full)}
        return {(kind, normal(text)) for kind, text in forms if text.strip()}


@dataclass(frozen=True)
class Key:
    """Who a platform says that it is."""

    own: str  # the platform's own key, which can be taken as the id; empty if it has none
    forms: frozenset[Form]
    shown: str

    @classmethod
    def of(cls, own: str, *forms: Form, shown: str = "") -> Key:
        return cls(own, frozenset((kind, normal(text)) for kind, text in forms), shown or own)


@dataclass
class Roster:
    """All students that are known."""

    students: Iterable[Student]
    _ids: dict[Form, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        for student in self.students:
            for form in student.forms():
                self._ids[form].add(student.id)

    def called(self, key: Key) -> set[str]:
        """The ids of all students whom this key could mean."""
        return {found for form in key.forms if form in self._ids for found in self._ids[form]}

    def called_exactly(self, text: str) -> set[str]:
        """The ids of all students who have this id, address or number."""
        return self._ids.get((NAME, normal(text)), set())


def normal(text: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def _names(first: str, last: str, full: str) -> set[str]:
    names = {f"{first} {last}", f"{last} {first}", f"{last}, {first}"} if first and last else {first + last}
    if full:
        before, comma, behind = full.partition(",")
        names |= _names(behind.strip(), before.strip(), "") if comma else {full}
    return {name for name in names if name.strip()}


def _sortable(first: str, last: str, full: str) -> set[str]:
    """As Canvas sorts people. Who has only a full name is sorted by the last word."""
    found = {f"{last}{first}"} if last else set()
    if "," in full:
        found.add(full)
    elif full:
        *before, behind = full.split() or [""]
        found.add(f"{behind}{''.join(before)}")
    return found
