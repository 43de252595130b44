"""Who asks: somebody with a personal link or a token, or whom a proxy or a JupyterHub has signed in.

Only digests are stored of links and tokens, so nobody can use what they read in the file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.roster import read_roster
from grader.host.scratch import write_whole
from grader.sandbox.plain_text import one_line

FILE = "invitations.json"  # in the course folder


class Role(StrEnum):
    STUDENT = "student"
    ASSISTANT = "assistant"  # sees the class, and changes nothing
    INSTRUCTOR = "instructor"


class Scope(StrEnum):
    """What a token may do, as far as its owner may."""

    READ = "read"  # submissions and verdicts
    SUBMIT = "submit"
    CLASS = "class"  # points of all, and exports


@dataclass(frozen=True)
class Invited:
    name: str  # a student's id
    role: Role
    until: datetime | None = None  # None: until it is revoked
    scopes: frozenset[Scope] | None = None  # of a token; None: of a link, which may do all that its owner may

    @property
    def sees_class(self) -> bool:
        return self.role is not Role.STUDENT and self.may(Scope.CLASS)

    @property
    def usable_scopes(self) -> list[Scope]:
        """What this person, or this token, may do in fact: only students submit, and they never see the class."""
        of_role = {Scope.SUBMIT: self.role is Role.STUDENT, Scope.CLASS: self.role is not Role.STUDENT}
        return sorted(scope for scope in Scope if self.may(scope) and of_role.get(scope, True))

    def may(self, *any_of: Scope) -> bool:
        return self.scopes is None or not self.scopes.isdisjoint(any_of)


@dataclass(frozen=True)
class Proxy:
    """A proxy that signs people in, and says in a header who asks."""

    header: str
    addresses: frozenset[str]  # the header counts only in requests from these


@contextlib.contextmanager
def changing(course: Course) -> Iterator[None]:
    """Wait until nobody else changes links and tokens, and keep others from it. The class may be graded meanwhile."""
    folder = os.open(course.root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def invite(
    course: Course, names: Sequence[str], role: Role = Role.STUDENT, until: datetime | None = None
) -> dict[str, str]:
    """A new code for each of these people, by name. Their earlier codes and tokens are no longer valid."""
    codes = {name: new_code() for name in names}
    let_in(course, codes, role, until)
    return codes


def new_code() -> str:
    return secrets.token_urlsafe(18)


def let_in(course: Course, codes: Mapping[str, str], role: Role, until: datetime | None) -> None:
    """From now on, these codes are valid, and no others of these people."""
    remaining = {digest: person for digest, person in people(course).items() if person.name not in codes}
    _write(course, remaining | {digest_of(code): Invited(name, role, until) for name, code in codes.items()})


def new_token(course: Course, name: str, scopes: Collection[Scope], until: datetime) -> str:
    """A token for programs of somebody who is known. It lasts no longer than their link."""
    owner = find_person(course, name)
    if owner is None:
        raise CourseError(f"Nobody is called {one_line(name)}. Run: grader students invite {one_line(name)}")
    if Scope.CLASS in scopes and not owner.sees_class:
        raise CourseError(f"{one_line(name)} is a student, who never sees the class. Leave out --scope class.")
    token = f"token_{new_code()}"  # never starts with a dash, which a shell's command may trip over
    ends = min(until, owner.until or until)
    _write(course, people(course) | {digest_of(token): Invited(name, owner.role, ends, frozenset(scopes))})
    return token


def revoke(course: Course, names: Sequence[str]) -> list[str]:
    """Make the codes and tokens of these people invalid; returns who had one."""
    everyone = people(course)
    _write(course, {digest: person for digest, person in everyone.items() if person.name not in names})
    return sorted({person.name for person in everyone.values() if person.name in names})


def revoke_token(course: Course, token: str) -> str:
    """Make this token invalid; returns whose it was, or nothing."""
    everyone = people(course)
    owner = everyone.pop(digest_of(token), None)
    _write(course, everyone)
    return owner.name if owner else ""


def links(course: Course) -> dict[str, Invited]:
    """Everyone who may sign in now, by the digest of their link. Tokens are for programs, and sign nobody in."""
    return {digest: one for digest, one in admitted(course).items() if one.scopes is None}


def admitted(course: Course) -> dict[str, Invited]:
    """Everyone who has a link or a token that works now, by its digest: no student who is no longer on the roster."""
    roster = read_roster(course.root)
    everyone = people(course).items()
    return {digest: one for digest, one in everyone if one.role is not Role.STUDENT or not roster or one.name in roster}


def students_of(course: Course) -> set[str]:
    """Who is a student here: the roster says so, or else whoever has submitted something."""
    return set(read_roster(course.root)) or set(course.submitters())


def people(course: Course) -> dict[str, Invited]:
    """Everyone who has been given a link or a token, until it ends, by its digest."""
    path = course.root / FILE
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        everyone = {digest: _invited(one) for digest, one in entries.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CourseError(f"{path} cannot be read. Put back a copy, or remove it and invite everyone again.") from None
    now = datetime.now(UTC)
    return {digest: one for digest, one in everyone.items() if one.until is None or now < one.until}


def _invited(data: dict[str, Any]) -> Invited:
    until = datetime.fromisoformat(data["until"]) if "until" in data else None
    scopes = frozenset(map(Scope, data["scopes"])) if "scopes" in data else None
    return Invited(data["name"], Role(data["role"]), until, scopes)


def find_person(course: Course, name: str) -> Invited | None:
    """The person of this name, whom others have signed in: someone invited, or a student of the roster."""
    invited = [one for one in links(course).values() if one.name == name]
    if not invited and name not in students_of(course):
        return None
    return invited[0] if invited else Invited(name, Role.STUDENT)


def digest_of(code: str) -> str:
    """Codes are long and random, so a quick digest is enough."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _write(course: Course, everyone: dict[str, Invited]) -> None:
    entries = {
        digest: {"name": person.name, "role": person.role}
        | ({"until": person.until.isoformat()} if person.until else {})
        | ({"scopes": sorted(person.scopes)} if person.scopes is not None else {})
        for digest, person in everyone.items()
    }
    text = json.dumps(entries, indent=1)
    write_whole(course.root / FILE, text.encode(), mode=0o600)
