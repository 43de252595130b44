"""Who comes from a platform: its name for a person, `sub`, belongs to one student of the roster, or to nobody yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import sqlalchemy as sql

from grader.course.folder import Course
from grader.gradebook.roster import RosterLine, read_roster
from grader.serving.invitations import Invited, Role, find_person
from grader.serving.lti.store import MEMBERSHIPS, PEOPLE, Store

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

    def enter(self, course: Any, identity: Identity, role: Role) -> Any:
        """The membership of somebody in a course. A student is linked now if it is sure who that is."""
        keys = {"registration": course.registration, "sub": identity.sub}
        person = self._store.save(PEOPLE, keys, name=identity.name, email=identity.email)
        student = "" if person.student else find_student(read_roster(self._course.root), identity)
        if student and role is Role.STUDENT:
            self.link(person.id, student)
        return self._store.save(MEMBERSHIPS, {"course": course.id, "person": person.id}, role=role)

    def link(self, person_id: int, student: str) -> bool:
        """Let this person be this student, unless either is linked already. It never changes."""
        if find_person(self._course, student) is None:
            return False
        try:
            return self._store.change(PEOPLE, {"id": person_id, "student": None}, student=student)
        except sql.exc.IntegrityError:  # another person on that platform is this student
            return False

    def students_in(self, course_id: int) -> list[Any]:
        """The students of a course on a platform, known or not."""
        is_student = (MEMBERSHIPS.c.course == course_id) & (MEMBERSHIPS.c.role == Role.STUDENT)
        return self._store.select(sql.select(PEOPLE).join(MEMBERSHIPS).where(is_student).order_by(PEOPLE.c.id))

    def unknown(self) -> list[Any]:
        """Students of any course of whom nobody knows who they are."""
        students = sql.select(MEMBERSHIPS.c.person).where(MEMBERSHIPS.c.role == Role.STUDENT)
        query = sql.select(PEOPLE).where(PEOPLE.c.student.is_(None), PEOPLE.c.id.in_(students))
        return self._store.select(query.order_by(PEOPLE.c.id))

    def guest(self, membership: Any) -> Invited | None:
        """As whom somebody from a course is signed in; None for a student whom the roster does not have."""
        (person,) = self._store.rows(PEOPLE, id=membership.person)
        if membership.role != Role.STUDENT:
            name = person.name or person.email or person.sub
            return Invited(f"{name[:100]} (LTI {person.id})", Role(membership.role))
        guest = find_person(self._course, person.student) if person.student else None
        return guest if guest and guest.role is Role.STUDENT else None
