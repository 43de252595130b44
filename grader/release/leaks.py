"""The proof that a release gives nothing away: no solution, no hidden test, and nothing of what the grader knows. Nor
does it hold a solution of another assignment: what a later notebook gives could be handed in for an earlier one.

Compared is what is said, and not how it is written: three lines of a program in a row, wherever they stand, however
they are laid out. One line says little, and a word less.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grader.course import Course
from grader.errors import CourseError
from grader.release.secrets import (
    SHOWN,
    Marks,
    Secret,
    secrets_of_cells,
    secrets_of_exercise,
    secrets_of_solutions,
    shown_by_an_author,
    spaced,
    words_of,
)
from grader.release.texts import texts_in
from grader.release.token_lines import lines_of, readings, without_tags


class LeakError(CourseError):
    """A release would give away what students must not see."""


def refuse_leaks(course: Course, assignment: str, folder: str | Path = "release", called: str = "") -> None:
    """Stop with an error if what is about to be handed out holds a secret."""
    leaks = find_leaks(course, assignment, folder)
    if leaks:
        raise LeakError(
            f"{called or folder}/{assignment} would give away what is listed here. Take it out in "
            f"{course.called('source')}/, or, where students are meant to see it, give the cell that shows it the "
            f"tag `{SHOWN}`. Then release it again.\n" + "\n".join(f"  {leak}" for leak in leaks)
        )


def find_leaks(course: Course, assignment: str, folder: str | Path = "release") -> list[str]:
    """Every secret that occurs in a file of the release: where, whose it is, and how it begins."""
    pages = [(place, _Page.of(text)) for place, text in texts_in(course.folder(folder) / assignment)]
    somewhere = _Page.joined([page for _, page in pages])  # there are hundreds: hardly any secret is in one of them
    secrets = [secret for secret in _secrets(course, assignment) if somewhere.has(secret)]
    found: dict[tuple[str, str], str] = {}  # one line tells of all pieces of a solution in the same place
    for place, page in pages:
        for secret in secrets:
            if (place, secret.of) not in found and page.has(secret):
                found[place, secret.of] = f"{place}{page.line_of(secret)}: {secret.of}, `{secret.quoted}`"
    return list(found.values())


def _secrets(course: Course, assignment: str) -> list[Secret]:
    """What must not be told, but for what an author shows: all of this assignment, and the solutions of the others."""
    marks = Marks.of(course.config())
    cells = _cells(course, assignment)
    functions = [function for exercise in course.exercises(assignment).values() for function in exercise.functions]
    secrets = [*secrets_of_cells(cells, marks), *(one for each in functions for one in secrets_of_exercise(each))]
    for other in sorted({*course.assignments()} - {assignment}):
        with contextlib.suppress(CourseError):  # what cannot be read is told where it is released itself
            secrets += _not_shown(_solutions(course, other, marks), _cells(course, other), marks)
    return _not_shown(secrets, cells, marks)


def _solutions(course: Course, other: str, marks: Marks) -> Iterator[Secret]:
    for secret in secrets_of_solutions(_cells(course, other), marks):
        yield secret._replace(of=f"{secret.of} of {other}")


def _not_shown(secrets: Iterable[Secret], cells: Sequence[Any], marks: Marks) -> list[Secret]:
    shown = [_Page.of(text) for text in shown_by_an_author(cells, marks)]
    somewhere = _Page.joined(shown)
    asked = [one for one in dict.fromkeys(secrets) if one.found_as]
    return [one for one in asked if not somewhere.has(one) or not any(page.has(one) for page in shown)]


def _cells(course: Course, assignment: str) -> list[Any]:
    names = course.notebooks("source", assignment)
    return [cell for name in names for cell in course.read("source", assignment, name).cells]


class _Page(NamedTuple):
    """A text as what secrets are looked for in."""

    codes: Sequence[str]  # as which it can be read
    tokens: str
    words: str
    text: str

    @classmethod
    def of(cls, text: str) -> _Page:
        codes = readings(text)
        return cls(codes, "\n".join(map(_tokens, codes)), "\n".join(map(words_of, (text, without_tags(text)))), text)

    @classmethod
    def joined(cls, pages: Sequence[_Page]) -> _Page:
        """All as one, which has whatever one of them has."""
        return cls((), "\n".join(page.tokens for page in pages), "\n".join(page.words for page in pages), "")

    def has(self, secret: Secret) -> bool:
        return secret.found_as in (self.words if secret.in_words else self.tokens)

    def line_of(self, secret: Secret) -> str:
        """Where in the text it begins, if that can be said."""
        for code in [] if secret.in_words or "\n" not in self.text else self.codes:
            numbers = list(_numbered(code))
            start = spaced(token for token, _ in numbers).find(secret.found_as)
            if start >= 0:
                place = spaced(token for token, _ in numbers)[: start + 1].count(" ") - 1
                return f", line {numbers[place][1]}"
        return ""


@functools.lru_cache(maxsize=4096)  # the same texts lie beside each notebook, and are shown for each other assignment
def _tokens(code: str) -> str:
    return spaced(token for token, _ in _numbered(code))


def _numbered(code: str) -> Iterator[tuple[str, int]]:
    """Each token with the line where it stands, or where its line begins."""
    for line in lines_of(code):
        yield from ((token, line.number) for token in line.tokens)
