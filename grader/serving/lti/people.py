"""Who comes from a platform: its name for a person, `sub`, belongs to one student of the roster, or to nobody yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from grader.course.folder import Course
from grader.gradebook.roster import RosterLine, read_roster
from grader.serving.invitations import Invited, Role, find_person
from grader.serving.lti.store import PEOPLE, Store

# What the roster calls the ids that platforms send.
COLUMNS = {"username": ("id", "username"), "number": ("lms_user_id",), "canvas_id": ("canvas_id",)}


class Identity(NamedTuple):
    """A person as a platform describes them. Only `sub` is sure to be the same next time."""

    sub: str
    name: str
    email: str
    ids: Mapping[str, str]  # by the keys of COLUMNS


def find_student(roster: Mapping[str, RosterLine], identity: Identity) -> str:
    """The student whom the ids mean, or else the address; empty if that is nobody, or not sure. Names mean nobody."""
    by_ids = {student for kind, text in identity.ids.items() for student in _find(roster, COLUMNS[kind], text)}
    by_address = _find(roster, ("email",), identity.email)
    students = by_ids or by_address
    is_contradicted = by_ids and by_address and by_ids != by_address
    return students.pop() if len(students) == 1 and not is_contradicted else ""


def _find(roster: Mapping[str, RosterLine], columns: tuple[str, ...], text: str) -> set[str]:
    students = set()
    for line in roster.values():
        names = {getattr(line, column).casefold() for column in columns}
        if text and text.casefold() in names:
            students.add(line.id)
    return students


class People:
    """All who have come from platforms, or are in a course there."""

    def __init__(self, course: Course, store: Store) -> None:
        self._course = course
        self._store = store

    def enter(self, registration: str, identity: Identity, **values: object) -> Any:
        """The row of somebody who came, linked to a student now if it is sure who that is."""
        keys = {"registration": registration, "sub": identity.sub}
        person = self._store.save(PEOPLE, keys, name=identity.name, email=identity.email, **values)
        student = "" if person.student else find_student(read_roster(self._course.root), identity)
        if student and person.role == Role.STUDENT:
            self.link(person.id, student)
        return self._store.rows(PEOPLE, **keys)[0]

    def link(self, person_id: int, student: str) -> bool:
        """Let this person be this student, unless either is linked already. It never changes."""
        people = self._store.rows(PEOPLE, id=person_id, student="")
        if not people or find_person(self._course, student) is None:
            return False
        if self._store.rows(PEOPLE, registration=people[0].registration, student=student):
            return False
        return self._store.change(PEOPLE, {"id": person_id, "student": ""}, student=student)

    def unknown(self) -> list[Any]:
        return self._store.rows(PEOPLE, student="", role=Role.STUDENT)

    def guest(self, person_id: int) -> Invited | None:
        """As whom this person is signed in; None for a student whom the roster does not have."""
        for person in self._store.rows(PEOPLE, id=person_id):
            if person.role != Role.STUDENT:
                name = person.name or person.email or person.sub
                return Invited(f"{name[:100]} (LTI {person.id})", Role(person.role))
            guest = find_person(self._course, person.student) if person.student else None
            return guest if guest and guest.role is Role.STUDENT else None
        return None
