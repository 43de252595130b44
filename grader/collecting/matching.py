"""Whose each hand-in is. Who could be two students, or is at odds with what is known of one, is nobody yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from grader.classroom.handed_in import is_name
from grader.collecting.hand_ins import HandIn
from grader.collecting.students import MOODLE, NAME, OWNER, Form, Key, Roster, normal
from grader.sandbox.plain_text import one_line

_NO_FOLDER = "no name that a folder can have for nbgrader"


def matched(hand_ins: Sequence[HandIn], roster: Roster, as_named: bool) -> Iterator[tuple[HandIn, str, str]]:
    """Each hand-in with the id of its student, or with why that is not known."""
    matching = _Matching(roster, as_named)
    found = [(one, *matching.student_of(one.key)) for one in hand_ins]
    students: dict[Form, set[str]] = defaultdict(set)  # of each user of a platform
    users: dict[tuple[str, str], set[Form]] = defaultdict(set)  # of each student, on each kind of platform
    for one, student, why in found:
        if one.key.user and not why:
            students[one.key.user].add(student)
            users[student, one.key.user[0]].add(one.key.user)
    for one, student, why in found:
        user = one.key.user
        if user and not why and roster.is_user(user) != {student}:
            why = _several(user, students[user], users[student, user[0]])
        yield one, student, why


def _several(user: Form, students: set[str], users: set[Form]) -> str:
    """Why a user who has chosen a name is perhaps not the student of that name; empty if nothing speaks against it."""
    if len(students) > 1:
        why = f"{_shown(user)} has handed in for {' and '.join(map(one_line, sorted(students)))}"
    elif len(users) > 1:
        why = f"{' and '.join(map(_shown, sorted(users)))} have handed in for {one_line(next(iter(students)))}"
    else:
        return ""
    if user[0] == OWNER:
        return f"{why}. If one user has put all of them there, copy the folder, and collect from the copy"
    return f"{why}. Name with --students a table that has their numbers"


def _shown(user: Form) -> str:
    kind, text = user
    if kind == OWNER:
        return f"the user “{one_line(text, 60)}” of this machine"
    return f"user {one_line(text, 60)} of {'Moodle' if kind == MOODLE else 'Canvas'}"


class _Matching:
    def __init__(self, roster: Roster, as_named: bool) -> None:
        self._roster = roster
        self._as_named = as_named
        self._named: dict[str, Key] = {}  # who was not known, by the platform's own key

    def student_of(self, key: Key) -> tuple[str, str]:
        """The student's id, or why that is not known."""
        if key.doubt:
            return "", f"{_quoted(key)}: {key.doubt}"
        found = self._roster.called(key)
        if len(found) > 1:
            return "", f"{_quoted(key)} could be {' or '.join(map(one_line, sorted(found)))}"
        student, why = (found.pop(), "") if found else self._not_known(key)
        return (student, why) if why else self._checked(student, key)

    def _checked(self, student: str, key: Key) -> tuple[str, str]:
        """A student whom a key means, if nothing else that is known speaks against it."""
        if differs := self._roster.differs(student, key):
            of_another = ". Is the table that of this assignment?" if MOODLE in differs else ""
            other = f"who has another {' and another '.join(differs)}"
            return "", f"{_quoted(key)} could be {one_line(student)}, {other}{of_another}"
        user = self._roster.is_user(key.user)
        if user - {student}:
            return "", f"it says to be of {student}, and belongs to {' or '.join(sorted(user))} on this machine"
        return (student, "") if is_name(student) else ("", f"{_quoted(key)} is {_NO_FOLDER}: {one_line(student)}")

    def _not_known(self, key: Key) -> tuple[str, str]:
        unknown = f"no student is known as {_quoted(key)}"
        if not self._as_named or not key.own:
            return "", unknown
        if not is_name(key.own):
            return "", f"{unknown}, and that is {_NO_FOLDER}"
        if self._roster.called(Key.of("", (NAME, key.own))) or self._named.setdefault(normal(key.own), key) != key:
            return "", f"{unknown}, and another student is called {key.own}"
        return key.own, ""


def _quoted(key: Key) -> str:
    return f"“{one_line(key.shown, 100)}”"
