"""Search a release for secrets: solutions, hidden tests, and anything else that only the grader should know. Solutions
of other assignments count, too: what a later notebook gives could be submitted for an earlier one.

The search compares what is said, not how it is written: three lines of a program in the same file, wherever they are,
however they are laid out, whatever their variables are called. One line says little, and a word less.

It covers all files that can be read, and reports those that cannot.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from grader.course.folder import Course
from grader.errors import CourseError
from grader.release.secrets import (
    SHOWN,
    Secret,
    SecretMarks,
    secrets_of_cells,
    secrets_of_exercise,
    secrets_of_solutions,
    shown_by_an_author,
    spaced,
    words_of,
)
from grader.release.texts import Reading, Text
from grader.release.token_lines import lines_of, names_in, readings, without_tags

_APART = 400  # tokens between two lines at most, if names differ


class LeakError(CourseError):
    """A release would give away what students must not see."""


class Searched(NamedTuple):
    """The leaks in a release, and the files that were read only in part, or not at all."""

    leaks: list[str]
    in_part: list[str]
    unread: list[str]

    @property
    def told(self) -> str:
        """What can be said about a release without leaks."""
        said = [
            "No solution, hidden test or misconception was found in " + ("what was read." if self.unread else "it.")
        ]
        if self.in_part:
            said.append(f"Of images and PDFs, only the text in them was read: {', '.join(self.in_part)}.")
        if self.unread:
            count = "1 file was" if len(self.unread) == 1 else f"{len(self.unread)} files were"
            said.append(f"{count} not checked, so please check manually: {', '.join(self.unread)}.")
        return "\n  ".join(said)


def refuse_leaks(course: Course, assignment: str, folder: str | Path = "release", called: str = "") -> Searched:
    """Raise an error if a folder for students contains a secret; otherwise, return what was searched."""
    searched = search(course, assignment, folder)
    if searched.leaks:
        raise LeakError(
            f"{called or folder}/{assignment} would give away what is listed here. Remove it in "
            f"{course.called('source')}/. If students should see it, give the cell that shows it the tag `{SHOWN}`. "
            "Then release again.\n" + "\n".join(f"  {leak}" for leak in searched.leaks)
        )
    return searched


def find_leaks(course: Course, assignment: str, folder: str | Path = "release") -> list[str]:
    """Every secret in a file of the release: where it is, whose it is, and how it begins."""
    return search(course, assignment, folder).leaks


def search(course: Course, assignment: str, folder: str | Path = "release") -> Searched:
    """Every secret in a file of the release, and the files that could not be read completely."""
    reading = Reading(course.folder(folder) / assignment)
    files: dict[str, list[Text]] = {}
    for text in reading.texts:
        files.setdefault(text.file, []).append(text)
    pages = [(texts, _Page.of(text.text for text in texts)) for texts in files.values()]
    somewhere = _Page.joined([page for _, page in pages])  # rules out nearly all of the hundreds of secrets at once
    secrets = [secret for secret in _secrets(course, assignment) if somewhere.may_have(secret)]
    found: dict[tuple[str, str], str] = {}  # one line covers all pieces of a solution in the same place
    for texts, page in pages:
        for secret in secrets:
            if page.has(secret):
                place, line = _place(texts, secret)
                found.setdefault((place, secret.of), f"{place}{line}: {secret.of}, `{secret.quoted}`")
    return Searched(list(found.values()), list(reading.in_part), list(reading.unread))


def _secrets(course: Course, assignment: str) -> list[Secret]:
    """All secrets of this assignment, and the solutions of the others, except what an author shows on purpose."""
    marks = SecretMarks.of(course.config())
    cells = _cells(course, assignment)
    functions = [function for exercise in course.exercises(assignment).values() for function in exercise.functions]
    secrets = [*secrets_of_cells(cells, marks), *(one for each in functions for one in secrets_of_exercise(each))]
    for other in sorted({*course.assignments()} - {assignment}):
        with contextlib.suppress(CourseError):  # its own release reports what cannot be read
            secrets += _not_shown(_solutions(course, other, marks), _cells(course, other), marks)
    return _not_shown(secrets, cells, marks)


def _solutions(course: Course, other: str, marks: SecretMarks) -> Iterator[Secret]:
    for secret in secrets_of_solutions(_cells(course, other), marks):
        yield secret._replace(of=f"{secret.of} of {other}")


def _not_shown(secrets: Iterable[Secret], cells: Sequence[NotebookNode], marks: SecretMarks) -> list[Secret]:
    shown = [_Page.of([text]) for text in shown_by_an_author(cells, marks)]
    somewhere = _Page.joined(shown)
    asked = [one for one in dict.fromkeys(secrets) if one.lines]
    return [one for one in asked if not somewhere.may_have(one) or not any(page.has(one) for page in shown)]


def _cells(course: Course, assignment: str) -> list[NotebookNode]:
    names = course.notebooks("source", assignment)
    return [cell for name in names for cell in course.read("source", assignment, name).cells]


class _Page(NamedTuple):
    """Texts in the form in which they are searched for secrets."""

    tokens: str  # of each way to read the texts
    forms: str  # the same, with all names alike
    words: str

    @classmethod
    def of(cls, texts: Iterable[str]) -> _Page:
        read = [_read(text) for text in texts]
        ways = [way for ways in itertools.zip_longest(*(ways for ways, _ in read)) for way in ways if way is not None]
        tokens, forms = ("\n".join(each) for each in zip(*ways, strict=True)) if ways else ("", "")
        return cls(tokens, forms, "\n".join(words for _, words in read))

    @classmethod
    def joined(cls, pages: Sequence[_Page]) -> _Page:
        """All pages as one, which has whatever any of them has."""
        return cls(*("\n".join(parts) for parts in zip(*pages, strict=True))) if pages else cls("", "", "")

    def may_have(self, secret: Secret) -> bool:
        """Whether it has all lines of a secret, perhaps with other names."""
        if secret.is_distinct:
            return all(_alike(line) in self.forms for line in secret.lines)
        return self._says(secret)

    def has(self, secret: Secret) -> bool:
        return self._says(secret) or (
            self.may_have(secret) and re.search(_with_other_names(secret.lines), self.tokens) is not None
        )

    def _says(self, secret: Secret) -> bool:
        said = self.words if secret.in_words else self.tokens
        return all(line in said for line in secret.lines)


def _place(texts: Sequence[Text], secret: Secret) -> tuple[str, str]:
    """Where in a file a secret begins, and in which line, if that can be found."""
    pages = [(text, _Page.of([text.text])) for text in texts]
    begins = secret._replace(lines=secret.lines[:1])
    whole = [text for text, page in pages if page.has(secret)]
    text = next(iter(whole or [text for text, page in pages if page.may_have(begins)] or texts))
    if secret.in_words or "\n" not in text.text:
        return text.place, ""
    for code in readings(text.text):
        numbers = list(_numbered(code))
        tokens = spaced(token for token, _ in numbers)
        start = tokens.find(secret.lines[0])
        if start < 0 and secret.is_distinct and (match := re.search(_with_other_names(secret.lines), tokens)):
            start = match.start()
        if start >= 0:
            return text.place, f", line {numbers[tokens[: start + 1].count(' ') - 1][1]}"
    return text.place, ""


@functools.lru_cache(maxsize=4096)  # the same texts come up for several notebooks and assignments
def _read(text: str) -> tuple[list[tuple[str, str]], str]:
    """A text in each way to read it as code, each with its form; and the words of the text."""
    ways = [[line.tokens for line in lines_of(code)] for code in readings(text)]
    codes = [(spaced(itertools.chain.from_iterable(way)), spaced(map(_form, way))) for way in ways]
    return codes, "\n".join(map(words_of, (text, without_tags(text))))


@functools.lru_cache(maxsize=65536)
def _form(tokens: Sequence[str]) -> str:
    return " ".join("_" if is_name else token for token, is_name in zip(tokens, names_in(tokens), strict=True))


@functools.lru_cache(maxsize=4096)
def _alike(line: str) -> str:
    """The form of a line, without a name at its beginning: in prose, a full stop may come before it."""
    return f"{_form(tuple(line.split()))} ".removeprefix("_")


@functools.lru_cache(maxsize=256)
def _with_other_names(lines: Sequence[str]) -> str:
    """A pattern for these lines, in order, with names consistently replaced and anything between the lines."""
    names: dict[str, str] = {}

    def written(token: str, is_name: bool) -> str:
        if not is_name:
            return re.escape(token)
        if token in names:
            return rf"(?P={names[token]})"
        others = "".join(rf"(?!(?P={name})\s)" for name in names.values())
        names[token] = f"n{len(names)}"
        return rf"{others}(?P<{names[token]}>[^\W\d]\w*)"

    patterns = [r"\s".join(map(written, line.split(), names_in(line.split()))) for line in lines]
    return r"\s" + rf"\s(?:\S+\s+){{0,{_APART}}}?".join(patterns) + r"\s"


def _numbered(code: str) -> Iterator[tuple[str, int]]:
    """Each token with its line number, or that of the first line if several belong together."""
    for line in lines_of(code):
        yield from ((token, line.number) for token in line.tokens)
