"""The students of a course, and which of them a platform means. Names must be equal, except for case and for different
ways to write a letter in Unicode."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from unicodedata import category, normalize

Form = tuple[str, str]  # a kind, and a text of that kind

ID, NAME = "id", "name"  # NAME is for ids, addresses and people's names
MOODLE, MOODLE_NAME = "number in Moodle", "name in Moodle's files"
CANVAS, CANVAS_NAME = "number in Canvas", "name in Canvas's files"
OWNER = "user of this machine"
_NAMES = {NAME, MOODLE_NAME, CANVAS_NAME}  # written by people; all others come from machines, in one form
_NOT_IN_MOODLES_FILES = re.compile(r"[&<>\"`|':\\/]")  # left out in names of files


@dataclass(frozen=True)
class Student:
    id: str
    first: str = ""
    last: str = ""
    full: str = ""
    email: str = ""
    numbers: frozenset[Form] = frozenset()

    def forms(self) -> set[Form]:
        """All names and numbers of this student."""
        names = _names(self.first, self.last, self.full)
        forms = {(ID, self.id), (OWNER, self.id), (NAME, self.id), (NAME, self.email), *self.numbers}
        forms |= {(NAME, name) for name in names}
        forms |= {(MOODLE_NAME, _NOT_IN_MOODLES_FILES.sub("", name).replace("_", " ")) for name in names}
        forms |= {(CANVAS_NAME, _in_canvas(name)) for name in _sortable(self.first, self.last, self.full)}
        return {_form(kind, text) for kind, text in forms if text.strip()}


@dataclass(frozen=True)
class Key:
    """The student as a platform describes them."""

    own: str  # the platform's own name, which can become the id; may be empty
    forms: frozenset[Form]
    shown: str
    user: Form | None = None  # given by the platform, so that students cannot choose it
    rivals: frozenset[Form] = frozenset()  # names of others who could be meant, too
    doubt: str = ""  # why it is unclear who is meant

    @classmethod
    def of(cls, own: str, *forms: Form, shown: str = "", user: Form | None = None, rivals: Iterable[Form] = ()) -> Key:
        return cls(own, _all(forms), shown or own, _form(*user) if user else None, _all(rivals))

    @classmethod
    def in_doubt(cls, shown: str, why: str) -> Key:
        return cls("", frozenset(), shown, doubt=why)


@dataclass
class Roster:
    """All known students."""

    students: Iterable[Student]
    _ids: dict[Form, set[str]] = field(default_factory=lambda: defaultdict(set))
    _forms: dict[str, set[Form]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        for student in self.students:
            for form in student.forms():
                self._ids[form].add(student.id)
                self._forms[student.id].add(form)

    def called(self, key: Key) -> set[str]:
        """The ids of all students that this key could mean."""
        found = self._called(key.forms)
        return found | self._called(key.rivals) if found else found

    def _called(self, forms: Iterable[Form]) -> set[str]:
        return {found for form in forms for found in self._ids.get(form, ())}

    def differs(self, student: str, key: Key) -> list[str]:
        """The kinds of names or numbers by which a key contradicts what is known about a student."""
        known = self._forms.get(student, set())
        kinds = {kind for kind, _ in key.forms} & {kind for kind, _ in known}
        return sorted(kinds - {kind for kind, _ in key.forms & known})

    def called_in_all(self, key: Key) -> set[str]:
        """The students that every kind of name and number in a key means."""
        kinds = {kind for kind, _ in key.forms}
        by_kind = [self._called(form for form in key.forms if form[0] == kind) for kind in kinds]
        return set.intersection(*by_kind) if by_kind else set()

    def is_user(self, user: Form | None) -> set[str]:
        """The students known to be this user of a platform."""
        return self._called([user]) if user else set()

    def called_exactly(self, text: str) -> set[str]:
        """The ids of all students with this id, address or number."""
        return self._ids.get(_form(NAME, text), set())


def _all(forms: Iterable[Form]) -> frozenset[Form]:
    return frozenset(_form(kind, text) for kind, text in forms)


def _form(kind: str, text: str) -> Form:
    return kind, normal(text) if kind in _NAMES else normalize("NFC", text)


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
    """Sortable names as in Canvas: a full name begins with its last word."""
    found = {f"{last}{first}"} if last else set()
    if "," in full:
        found.add(full)
    elif full:
        *before, behind = full.split() or [""]
        found.add(f"{behind}{''.join(before)}")
    return found


def _in_canvas(name: str) -> str:
    """A name as in Canvas's names of files: only letters with marks, digits, and kinds of `_`."""
    return "".join(letter for letter in name if category(letter)[0] in "LM" or category(letter) in ("Nd", "Pc"))
