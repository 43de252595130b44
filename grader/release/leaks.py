"""Search a release for secrets: 20 tokens in a row of a solution, a hidden test, a mark scheme or a mistake. Solutions
of other assignments count, too: what a later notebook gives could be submitted for an earlier one."""

from __future__ import annotations

import contextlib
import html
import inspect
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import nbformat
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions

from grader.course.folder import Course
from grader.errors import CourseError
from grader.kit import visible_examples
from grader.model import broken_rules
from grader.model.exercise import Exercise
from grader.notebooks.cells import called
from grader.notebooks.modules_beside import LEFT_BEHIND
from grader.release.known_mistakes import FILE

RUN = 20  # tokens in a row that are no coincidence
VISIBLE = "shown"  # tags a cell whose lines students may see, although a solution has them, too
_LARGEST = 10 * 2**20  # bytes of a text that is searched
_LAYOUT = frozenset("\"'`#>|\\,")  # copies differ in quotes, comments and trailing commas
_TOKEN, _COMMENT, _TAG = re.compile(r"\w+|[^\w\s]"), re.compile(r"#[^\n\r]*"), re.compile(r"<[^<>]*>")
_BEFORE_A_LINE = re.compile(r"^[ \t>#*+|$-]*(?:\d+[.)][ \t])?", re.MULTILINE)  # of a list, a quotation or a session
_SIGNATURE = re.compile(  # with its docstring: students get both
    r'^[ \t]*(?:async +)?(?:def|class) +\w+(?:\((?:[^()]|\([^()]*\))*\))?[^:\n]*:(?:\s*"""(?:.|\n)*?""")?', re.MULTILINE
)
Text: TypeAlias = tuple[str, str]  # where it is or what it is, such as "the solution in cell exercise-3"; and the text


class LeakError(CourseError):
    """A release would give away what students must not see."""


class Searched(NamedTuple):
    """The leaks in a release, and the files that are neither texts nor zip archives of texts."""

    leaks: list[str]
    unread: list[str]

    def __str__(self) -> str:
        look = f"\n  Please look at these files yourself: {', '.join(self.unread)}." if self.unread else ""
        return f"No solution, hidden test or mistake was found in it.{look}"


def refuse_leaks(course: Course, assignment: str, folder: str | Path = "release", called: str = "") -> Searched:
    """Raise an error if a folder for students contains a secret; otherwise, return what was searched."""
    searched = search(course, assignment, folder)
    if searched.leaks:
        raise LeakError(
            f"{called or folder}/{assignment} would give away what is listed here. Remove it in "
            f"{course.called('source')}/. If students should see it, give the cell that shows it the tag `{VISIBLE}`. "
            "Then release again.\n" + "\n".join(f"  {leak}" for leak in searched.leaks)
        )
    return searched


def search(course: Course, assignment: str, folder: str | Path = "release") -> Searched:
    """Search all files of a release. A leak says where it is, whose it is, and how it begins."""
    secrets = _secret_runs(course, assignment, folder)
    texts = [*_texts(course.folder(folder) / assignment)]
    leaks: dict[Text, str] = {}  # one for all runs of a solution in the same place
    for place, text in texts:
        for run, line in _runs(_readings(text or "")):
            if run in secrets:
                origin, quoted = secrets[run]
                number = f", line {line}" if "\n" in (text or "") else ""
                leaks.setdefault((place, origin), f"{place}{number}: {origin}, `{quoted}`")
    return Searched(list(leaks.values()), [place for place, text in texts if text is None])


def _runs(texts: Iterable[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Each run of tokens, and the line in which it begins."""
    for text in texts:
        lines = enumerate(text.split("\n"), 1)
        tokens = [(token, line) for line, code in lines for token in _TOKEN.findall(code) if token not in _LAYOUT]
        words = [token for token, _ in tokens]
        for start in range(len(words) - RUN + 1):
            yield tuple(words[start : start + RUN]), tokens[start][1]


def _readings(text: str) -> Iterable[str]:
    """A text as it is, without what begins its lines, and as a page; each without and with comments."""
    plain = text.replace("\\n", "\r").replace("\\_", "_")  # an escaped line end ends a comment, but no line of the file
    readings = [plain, _BEFORE_A_LINE.sub("", plain), *(html.unescape(_TAG.sub(gap, plain)) for gap in " \r")]
    return dict.fromkeys([*(_COMMENT.sub("", reading) for reading in readings), *readings])


def _texts(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Each text in a folder with its place; None for a file that cannot be searched."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not LEFT_BEHIND & set(path.parts):
            yield from _texts_of_file(name, path.read_bytes())
        elif path.is_symlink() or not (path.is_file() or path.is_dir()):
            yield name, None


def _texts_of_file(name: str, content: bytes) -> Iterator[tuple[str, str | None]]:
    try:
        if content.startswith(b"PK\x03\x04"):
            archive = zipfile.ZipFile(io.BytesIO(content))
            for packed in archive.namelist():
                yield from _texts_of_file(f"{name}, {packed}", archive.read(packed))
        elif name.endswith(".ipynb"):
            notebook = nbformat.from_dict(json.loads(content))
            for cell in notebook.pop("cells"):
                yield f"{name}, cell {called(cell)}", "".join(cell.pop("source"))
                yield f"{name}, with cell {called(cell)}", json.dumps(cell, ensure_ascii=False, separators=("\r", ":"))
            yield f"{name}, metadata", json.dumps(notebook, ensure_ascii=False, separators=("\r", ":"))
        else:
            yield name, None if len(content) > _LARGEST else content.decode()
    except Exception:  # it is no text, no notebook, or an archive that is broken or has a password
        yield name, None


def _secret_runs(course: Course, assignment: str, folder: str | Path) -> dict[tuple[str, ...], Text]:
    """Each secret run of tokens, with its origin and the line in which it begins."""
    secrets, visible = _split(course, assignment)
    for exercise in course.exercises(assignment).values():
        secrets += _secrets_of_exercise(exercise)
    for neighbor in sorted({*course.assignments()} - {assignment}):
        with contextlib.suppress(CourseError):  # its own release reports what cannot be read
            secrets += [(f"{origin} of {neighbor}", text) for origin, text in _split(course, neighbor)[0]]
    tables = [course.folder(place) / assignment / FILE for place in (folder, "release")]
    sentences = [Path(module.__file__ or "") for module in (broken_rules, visible_examples)]
    visible += [path.read_text() for path in (*sentences, *tables) if path.is_file()]  # by check()
    visible_runs = {run for text in visible for run, _ in _runs(_readings(text))}
    runs: dict[tuple[str, ...], Text] = {}
    for origin, text in secrets:
        bare = _SIGNATURE.sub(lambda signature: "\n" * signature[0].count("\n"), _COMMENT.sub("", text))
        for run, line in _runs([bare]):
            if run not in visible_runs:
                runs.setdefault(run, (origin, text.split("\n")[line - 1].strip()))
    return runs


def _secrets_of_exercise(exercise: Exercise) -> Iterator[Text]:
    """The solution, and for each mistake, its lines or its function, and what students read about it."""
    for function in exercise.functions:
        yield f"the solution of exercise {exercise.label}", _source(function.reference)
        for mistake in function.mistakes:
            texts = map(_source, (*mistake.change.values(), mistake.says))
            yield f"the mistake “{mistake.name}” of exercise {exercise.label}", "\n".join(texts)


def _source(value: object) -> str:
    with contextlib.suppress(OSError, TypeError):  # it is not written in Python, or has no file
        return value if isinstance(value, str) else inspect.getsource(value)  # type: ignore[arg-type]
    return ""


def _split(course: Course, assignment: str) -> tuple[list[Text], list[str]]:
    """What nbgrader removes from cells, and what they show on purpose: with the tag, or around a solution."""
    clearing = ClearSolutions, ClearHiddenTests, ClearMarkScheme
    solution, test, scheme = (clear(config=course.config()) for clear in clearing)
    begins = solution.begin_solution_delimeter, test.begin_test_delimeter, scheme.begin_mark_scheme_delimeter
    ends = solution.end_solution_delimeter, test.end_test_delimeter, scheme.end_mark_scheme_delimeter
    begin, end = ("|".join(map(re.escape, marks)) for marks in (begins, ends))
    region = re.compile(rf"^.*(?:{begin}).*\n((?:.*\n)*?)(?:.*(?:{end}).*\n|\Z)", re.MULTILINE)
    secrets, visible = [], [solution.text_stub]  # the stub is all there is where an author wrote no answer
    for name in course.notebooks("source", assignment):
        for cell in course.read("source", assignment, name).cells:
            settings, source = cell.metadata.get("nbgrader", {}), f"{cell.source}\n"
            removed = region.findall(source)
            if settings.get("solution") and not removed:  # whatever its tags: a mark may be misspelled
                removed = [source]
            elif removed or (VISIBLE in cell.metadata.get("tags", []) and not settings.get("grade")):
                visible.append(region.sub("", source))
            secrets += [(f"what nbgrader removes from cell {called(cell)}", text) for text in removed]
    return secrets, visible
