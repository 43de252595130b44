"""Personal links to the server. Only their digests are stored, so nobody can use what they read in the file."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.roster import read_roster
from grader.host.scratch import write_whole

FILE = "invitations.json"  # in the course folder


class Role(StrEnum):
    STUDENT = "student"
    ASSISTANT = "assistant"  # sees the class, and changes nothing
    INSTRUCTOR = "instructor"


@dataclass(frozen=True)
class Invited:
    name: str  # a student's id
    role: Role

    @property
    def sees_class(self) -> bool:
        return self.role is not Role.STUDENT


@dataclass(frozen=True)
class Proxy:
    """A proxy that signs people in, and says in a header who asks."""

    header: str
    addresses: frozenset[str]  # the header counts only in requests from these


def invite(course: Course, names: Sequence[str], role: Role = Role.STUDENT) -> dict[str, str]:
    """A new code for each of these people, by name. Their earlier codes are no longer valid."""
    codes = {name: secrets.token_urlsafe(18) for name in names}
    known = {digest: person for digest, person in people(course).items() if person.name not in codes}
    _write(course, known | {digest_of(code): Invited(name, role) for name, code in codes.items()})
    return codes


def revoke(course: Course, names: Sequence[str]) -> list[str]:
    """Make the codes of these people invalid; returns who had one."""
    known = people(course)
    _write(course, {digest: person for digest, person in known.items() if person.name not in names})
    return sorted({person.name for person in known.values() if person.name in names})


def people(course: Course) -> dict[str, Invited]:
    """Everyone who is invited, by the digest of their code."""
    path = course.root / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {digest: Invited(one["name"], Role(one["role"])) for digest, one in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CourseError(f"{path} cannot be read. Put back a copy, or remove it and invite everyone again.") from None


def named(course: Course, name: str) -> Invited | None:
    """The person of this name whom a proxy has signed in: someone invited, or a student of the roster."""
    invited = [one for one in people(course).values() if one.name == name]
    if not invited and name not in {*read_roster(course.root), *course.submitters()}:
        return None
    return invited[0] if invited else Invited(name, Role.STUDENT)


def digest_of(code: str) -> str:
    """Codes are long and random, so a quick digest is enough."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _write(course: Course, known: dict[str, Invited]) -> None:
    text = json.dumps({digest: {"name": one.name, "role": one.role} for digest, one in known.items()}, indent=1)
    write_whole(course.root / FILE, text.encode(), mode=0o600)
