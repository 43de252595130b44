"""The students of a course, and which of them a platform means. Names must be equal, except for case and for different
ways to write a letter in Unicode."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import category, normalize

Alias = tuple[str, str]  # a kind of name or number, and a text of that kind

ID, NAME = "id", "name"  # NAME is for ids, addresses and people's names
MOODLE, MOODLE_NAME = "number in Moodle", "name in Moodle's files"
CANVAS, CANVAS_NAME = "number in Canvas", "name in Canvas's files"
OWNER = "user of this machine"
_NAMES = {NAME, MOODLE_NAME, CANVAS_NAME}  # written by people; all others come from machines, in one spelling
_NOT_IN_MOODLES_FILES = re.compile(r"[&<>\"`|':\\/]")  # left out in names of files


@dataclass(frozen=True)
class Student:
    id: str
    first_name: str = ""
    last_name: str = ""
    full_name: str = ""
    email: str = ""
    numbers: frozenset[Alias] = frozenset()

    def aliases(self) -> set[Alias]:
        """All names and numbers of this student."""
        aliases = {(ID, self.id), (OWNER, self.id), (NAME, self.id), (NAME, self.email), *self.numbers}
        for name in _names(self.first_name, self.last_name, self.full_name):
            aliases.add((NAME, name))
            aliases.add((MOODLE_NAME, _NOT_IN_MOODLES_FILES.sub("", name).replace("_", " ")))
        for name in _sortable_names(self.first_name, self.last_name, self.full_name):
            aliases.add((CANVAS_NAME, _as_in_canvas(name)))
        return {_alias(kind, text) for kind, text in aliases if text.strip()}


@dataclass(frozen=True)
class StudentReference:
    """A student as a platform describes them."""

    platform_name: str  # which can become the id; may be empty
    aliases: frozenset[Alias]
    label: str  # for messages
    user: Alias | None = None  # set by the platform, so that students cannot choose it
    rivals: frozenset[Alias] = frozenset()  # names of others who could be meant, too
    doubt: str = ""  # why it is unclear who is meant

    @classmethod
    def of(
        cls,
        platform_name: str,
        *aliases: Alias,
        label: str = "",
        user: Alias | None = None,
        rivals: Iterable[Alias] = (),
    ) -> StudentReference:
        return cls(
            platform_name,
            frozenset(_alias(*alias) for alias in aliases),
            label or platform_name,
            _alias(*user) if user else None,
            frozenset(_alias(*rival) for rival in rivals),
        )

    @classmethod
    def in_doubt(cls, label: str, doubt: str) -> StudentReference:
        return cls("", frozenset(), label, doubt=doubt)


class Roster:
    """All students of the course, found by their names and numbers."""

    def __init__(self, students: Iterable[Student]) -> None:
        self._students: dict[Alias, set[str]] = defaultdict(set)  # their ids
        self._aliases: dict[str, set[Alias]] = defaultdict(set)  # by id
        for student in students:
            for alias in student.aliases():
                self._students[alias].add(student.id)
                self._aliases[student.id].add(alias)

    def students_meant(self, reference: StudentReference) -> set[str]:
        """The ids of all students whom this reference could mean."""
        students = self._students_with(reference.aliases)
        return students | self._students_with(reference.rivals) if students else students

    def students_meant_by_all(self, reference: StudentReference) -> set[str]:
        """The students whom every kind of name and number in a reference means."""
        aliases_by_kind: dict[str, set[Alias]] = defaultdict(set)
        for alias in reference.aliases:
            aliases_by_kind[alias[0]].add(alias)
        students = [self._students_with(aliases) for aliases in aliases_by_kind.values()]
        return set.intersection(*students) if students else set()

    def students_of_user(self, user: Alias | None) -> set[str]:
        """The students who are this user of a platform."""
        return self._students_with([user]) if user else set()

    def students_named(self, text: str) -> set[str]:
        """The ids of all students with this id, address or number."""
        return self._students_with([_alias(NAME, text)])

    def _students_with(self, aliases: Iterable[Alias]) -> set[str]:
        return set[str]().union(*(self._students.get(alias, ()) for alias in aliases))

    def find_contradictions(self, student: str, reference: StudentReference) -> list[str]:
        """The kinds of names or numbers by which a reference contradicts what the roster says about a student."""
        aliases = self._aliases.get(student, set())
        contradictions = (_kinds(reference.aliases) & _kinds(aliases)) - _kinds(reference.aliases & aliases)
        return sorted(contradictions)


def _kinds(aliases: Iterable[Alias]) -> set[str]:
    return {kind for kind, _ in aliases}


def _alias(kind: str, text: str) -> Alias:
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


def _sortable_names(first: str, last: str, full: str) -> set[str]:
    """Sortable names as in Canvas: a full name begins with its last word."""
    names = {f"{last}{first}"} if last else set()
    if "," in full:
        names.add(full)
    elif full.strip():
        *words, last_word = full.split()
        names.add(f"{last_word}{''.join(words)}")
    return names


def _as_in_canvas(name: str) -> str:
    """A name as in Canvas's names of files: only letters with marks, digits, and kinds of `_`."""
    return "".join(letter for letter in name if category(letter)[0] in "LM" or category(letter) in ("Nd", "Pc"))
