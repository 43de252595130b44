"""Read course.toml, beside nbgrader_config.py, and what was decided on the class page, into the term's rules."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TypeGuard, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from grader.errors import CourseError
from grader.term.page_changes import read_changes
from grader.term.rules import AskAfter, AssignmentRules, Explain, Late, Rule, Rules, Serving
from grader.term.times import NoTime, length_of, moment_of

# A table of course.toml, whose keys and values are checked before use.
#
# Any mistake is a CourseError that gives the file, the key, what is wrong with it, and what to write instead.

COURSE_FILE = "course.toml"

T = TypeVar("T")
Option = TypeVar("Option", bound=StrEnum)


class TomlTable:
    """A table of course.toml; `path` is the keys that lead to it."""

    def __init__(self, values: Mapping[str, object], path: tuple[str, ...] = ()) -> None:
        self.values = values
        self._path = path

    def error(self, key: str, problem: str, advice: str) -> CourseError:
        return CourseError(f"{COURSE_FILE}, {'.'.join([*self._path, key])}: {problem}. {advice}.")

    def check_keys(self, options: Collection[str]) -> None:
        """Check that there are no keys but these. Any other is probably misspelled."""
        for key in self.values:
            if key not in options:
                raise self.error(key, "there is no such key", suggest(key, options))

    def table(self, key: str) -> TomlTable:
        """The table of this name, or an empty one."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"{quote(value)} is not a table", f"Write [{'.'.join([*self._path, key])}] instead")
        return TomlTable(value, (*self._path, key))

    def share(self, key: str, usual: float | None = None) -> float:
        """A number from 0 to 1. Without a default, it must be there."""
        value = self.values.get(key, usual)
        if not _is_number(value) or not 0 <= value <= 1:
            problem = "it is missing" if value is None else f"{quote(value)} is not a number from 0 to 1"
            raise self.error(key, problem, f"Write {key} = 0.1 for 10%")
        return float(value)

    def amount(self, key: str, usual: float) -> float:
        """A number that is not negative."""
        value = self.values.get(key, usual)
        if not _is_number(value) or not 0 <= value < math.inf:
            raise self.error(key, f"{quote(value)} is not a number of 0 or more", f"For example, write {key} = 2")
        return float(value)

    def count(self, key: str, usual: int | None) -> int | None:
        """A whole number of at least one."""
        value = self.values.get(key, usual)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(key, f"{quote(value)} is not a whole number of 1 or more", f"For example, write {key} = 3")
        return value

    def switch(self, key: str, usual: bool) -> bool:
        value = self.values.get(key, usual)
        if not isinstance(value, bool):
            raise self.error(
                key, f"{quote(value)} is neither true nor false", f"Write {key} = {str(not usual).lower()}"
            )
        return value

    def choice(self, key: str, options: Sequence[str]) -> str:
        value = self.values.get(key)
        if value not in options:
            problem = "it is missing" if value is None else f"{quote(value)} is not an option"
            choices = " or ".join(f'{key} = "{option}"' for option in options)
            raise self.error(key, problem, f"Write {choices}")
        return str(value)

    def length(self, key: str) -> timedelta:
        """A length of time; zero if it is not given."""
        return self._time(key, length_of) if key in self.values else timedelta()

    def moment(self, key: str, zone: str) -> datetime | None:
        return self._time(key, lambda value: moment_of(value, zone)) if key in self.values else None

    def _time(self, key: str, convert: Callable[[object], T]) -> T:
        try:
            return convert(self.values[key])
        except NoTime as error:
            raise self.error(key, f"{quote(self.values[key])}: {error.problem}", error.instead) from None

    def names(self, key: str, example: str) -> list[str]:
        """A list of texts or whole numbers, as texts."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(map(_is_name, value)):
            raise self.error(key, f"{quote(value)} is not a list of names", f"Write {key} = {example}")
        return list(map(str, value))


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def suggest(name: str, options: Collection[str]) -> str:
    """A hint for a misspelled name: the one that was probably meant, and all there are."""
    if not options:
        return "There are none"
    matches = get_close_matches(name, options, 1, 0.0)
    return f"Did you mean {matches[0]}? The options are: {', '.join(options)}"


def quote(value: object) -> str:
    """A value as written in the file, cut if it is long."""
    if isinstance(value, list):
        return f"[{', '.join(map(quote, value))}]"
    text = str(value)
    if isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= 60 else f"{text[:57]}…"


# What may be in each table, and what it says.
_COUNTS = '`"last"` or `"best"`: which of several attempts counts. Usually the last one.'
SERVING = {
    "attempts": "How often each student may submit an assignment. Usually 50 times; if the best counts, at most 100.",
    "a_day": "How often within 24 hours.",
    "pause": 'How long to wait before a third attempt: `"5 minutes"`. Each further one takes twice as long.',
    "before": "What students read until it is due: "
    '`"nothing"`, `"points"`, `"exercises"`, `"mistakes"` or, usually, `"everything"`.',
    "after": "The same, from then on.",
    "closed": "`true`: no more submissions are taken.",
    "solutions": "When students who have full marks for an exercise may read the course's solution: "
    '`"after full marks"`, `"after the due date"` or, usually, `"never"`.',
    "questions": "How long after a verdict, or its publication, students may write that they think it is wrong: "
    '`"7 days"`. Usually not at all.',
}
LATE = {
    "per": '`"day"` or `"hour"`: points are taken off for each one that has begun.',
    "share": "How much that is of the points reached, from 0 to 1.",
    "cap": "The most that is taken off, from 0 to 1. Usually 1.",
    "grace": 'Up to here nothing is taken off: `"15 minutes"`. Beyond it, the whole delay counts.',
}
EXPLAIN = {
    "after": '`"full marks"`: an exercise is asked about once it has full marks, as is usual with this table; or '
    '`"never"`.',
    "questions": "How many questions at most, about the code of an assignment. Usually 3.",
}
TERM = {
    "timezone": 'For times that name no zone: `"Europe/Berlin"`. Usually UTC.',
    "counts": _COUNTS,
    "late": "A table: what being late costs.",
    "groups": 'A table of students who submit together: `blue = ["ada", "kurt"]`.',
    "serving": "A table: what `grader serve` allows and shows.",
    "explain": "A table: what `grader serve` asks students about their own code. Without it, nothing.",
    "lti": "A table: the learning platforms whose students may come to `grader serve`.",
    "assignments": "A table for each assignment.",
}
LTI = {
    "address": 'This server, as browsers reach it: `"https://grader.example.edu"`. Without it, there is no LTI.',
    "private": 'Hosts of platforms that may have a private address: `["moodle.example.edu"]`. Usually none.',
    "platforms": "A table for each platform without dynamic registration.",
}
LTI_PLATFORM = {
    "issuer": "How the platform calls itself: its issuer, or platform id.",
    "client_id": "How it calls this server.",
    "deployment": "Its deployment id for this server. Without it, an instructor confirms each with its courses.",
    "login": "Its address for logins: the authentication request URL.",
    "token": "Its address for access tokens.",
    "keys": "Its address for its public keys: the JWKS, or keyset URL.",
    "audience": "Whom our requests for tokens are for. Usually what `token` says.",
    "family": '`"canvas"`, `"moodle"`, `"blackboard"` or `"brightspace"`. Usually guessed from the addresses.',
}
ASSIGNMENT = {
    Rule.VOID: 'Exercises that do not count: `[3, "mean"]`.',
    Rule.FULL: "Exercises with full marks for everyone who submitted.",
    Rule.BONUS: "Exercises whose points add nothing to the maximum.",
    "due": "When it is due: `2026-10-12T10:00:00`.",
    "extensions": 'A table of students with more time, or a later due date: `ada = "2 days"`.',
    "weight": "What the assignment weighs in the total of the term. Usually 1.",
    "groups": "`false`: everybody submits alone.",
    "counts": _COUNTS,
    "late": "A table, in place of the one for all.",
    "serving": "A table: what differs from the one for all.",
    "explain": "The same.",
}


def read_rules(root: Path, assignments: Sequence[str] | None = None) -> Rules:
    """Read the rules in this folder. If the assignments are given, naming any other is an error."""
    rules = _read_course_file(root, assignments)
    changed = {name: changes.applied_to(rules.of(name)) for name, changes in read_changes(root).items()}
    return replace(rules, assignments={**rules.assignments, **changed})


def read_course_table(root: Path) -> TomlTable:
    """All of course.toml in this folder, unchecked; empty without the file."""
    try:
        return TomlTable(tomllib.loads((root / COURSE_FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return TomlTable({})
    except (OSError, ValueError, RecursionError) as error:  # also if it is not TOML, or not UTF-8
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise CourseError(f"{COURSE_FILE} cannot be read: {reason}. Fix that, then run this again.") from None


def _read_course_file(root: Path, assignments: Sequence[str] | None) -> Rules:
    term = read_course_table(root)
    term.check_keys(TERM)
    tables = term.table("assignments")
    if assignments is not None:
        tables.check_keys(assignments)
    of_all = AssignmentRules(
        late=_late(term),
        groups=_groups(term.table("groups")),
        best=_best(term, False),
        zone=_zone(term),
        serving=_serving(term, Serving()),
        explain=_explain(term, Explain(AskAfter.NEVER)),
    )
    return Rules({name: _assignment(tables.table(name), of_all) for name in tables.values}, of_all)


def must_fit(rules: AssignmentRules, assignment: str, labels: Collection[str]) -> None:
    """Check that the exercises that the rules name exist."""
    for label, rule in rules.exercises.items():
        if label not in labels:
            table = TomlTable({}, ("assignments", assignment))
            raise table.error(rule, f"{assignment} has no exercise {label}", suggest(label, labels))


def _zone(term: TomlTable) -> str:
    """The time zone for times that name none."""
    name = term.values.get("timezone", "")
    try:
        return ZoneInfo(str(name)).key if name else ""
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        advice = "Leave it out"
        zones = available_timezones()
        if zones:
            (match,) = get_close_matches(str(name), zones, 1, 0.0)
            advice = f'For example, write timezone = "{match}"'
        raise term.error("timezone", f"there is no time zone {quote(name)}", advice) from None


def _late(above: TomlTable) -> Late | None:
    """The rule for being late in a table; None if it has none."""
    if "late" not in above.values:
        return None
    table = above.table("late")
    table.check_keys(LATE)
    return Late(
        per=table.choice("per", ("day", "hour")),
        share=table.share("share"),
        cap=table.share("cap", 1.0),
        grace=table.length("grace"),
    )


def _best(table: TomlTable, usual: bool) -> bool:
    """Whether the best of several attempts counts."""
    return table.choice("counts", ("last", "best")) == "best" if "counts" in table.values else usual


def _groups(table: TomlTable) -> list[list[str]]:
    """Groups of students who submit together. Nobody may be in two groups."""
    groups: dict[str, list[str]] = {}
    group_of: dict[str, str] = {}  # by student
    for name in table.values:
        members = table.names(name, '["ada", "kurt"]')
        if len(set(members)) < max(2, len(members)):
            raise table.error(name, f"{quote(members)} are not at least two different students", "Name each once")
        for student in members:
            if student in group_of:
                raise table.error(name, f"{student} is also in {group_of[student]}", "Take the name out of one of them")
            group_of[student] = name
        groups[name] = members
    return list(groups.values())


def _extensions(table: TomlTable, due: datetime | None, zone: str) -> dict[str, timedelta]:
    """Extensions by student, given as a length of time or as a new due date."""
    extension_table = table.table("extensions")
    if extension_table.values and due is None:
        raise table.error("extensions", "there is no due date to extend", "Write due = 2026-10-12T10:00:00+02:00")
    extensions = {}
    for student, value in extension_table.values.items():
        if isinstance(value, dict):
            raise extension_table.error(
                student, "a name with a dot in it is read as two names", f'Write it in quotes: "{student}.…"'
            )
        if isinstance(value, date):  # or a date and time
            until = extension_table.moment(student, zone)
            assert until is not None
            assert due is not None
            extensions[student] = until - due
        else:
            extensions[student] = extension_table.length(student)
        if extensions[student] < timedelta():
            raise extension_table.error(
                student, f"{quote(value)} is before the due date", 'Write a later time, or "2 days"'
            )
    return extensions


def _assignment(table: TomlTable, of_all: AssignmentRules) -> AssignmentRules:
    table.check_keys(ASSIGNMENT)
    zone = of_all.zone
    due = table.moment("due", zone)
    exercises: dict[str, Rule] = {}
    for rule in Rule:
        for label in table.names(rule, '[3, "mean"]'):
            if label in exercises:
                raise table.error(rule, f"exercise {label} is also in {exercises[label]}", "Take it out of one of them")
            exercises[label] = rule
    extensions, weight = _extensions(table, due, zone), table.amount("weight", 1.0)
    groups = of_all.groups if table.switch("groups", True) else ()
    best = _best(table, of_all.best)
    late, serving = _late(table) or of_all.late, _serving(table, of_all.serving)
    explain = _explain(table, of_all.explain)
    return AssignmentRules(exercises, due, extensions, weight, groups, late, best, zone, serving, explain)


def _serving(above: TomlTable, usual: Serving) -> Serving:
    """What the server allows and shows. What a table does not say is as usual."""
    table = above.table("serving")
    table.check_keys(SERVING)

    def option(key: str, usual_option: Option) -> Option:
        options = type(usual_option)
        return options(table.choice(key, list(options))) if key in table.values else usual_option

    return Serving(
        attempts=table.count("attempts", usual.attempts),
        a_day=table.count("a_day", usual.a_day),
        pause=table.length("pause") if "pause" in table.values else usual.pause,
        before=option("before", usual.before),
        after=option("after", usual.after),
        closed=table.switch("closed", usual.closed),
        solutions=option("solutions", usual.solutions),
        questions=table.length("questions") if "questions" in table.values else usual.questions,
    )


def _explain(above: TomlTable, usual: Explain) -> Explain:
    """What students are asked about their own code. A table that says nothing else asks."""
    if "explain" not in above.values:
        return usual
    table = above.table("explain")
    table.check_keys(EXPLAIN)
    after = AskAfter(table.choice("after", list(AskAfter))) if "after" in table.values else AskAfter.FULL_MARKS
    return Explain(after, table.count("questions", usual.questions) or usual.questions)
