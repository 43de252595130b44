"""Read the submissions to compare: this year's files, and a folder with work from earlier years."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nbformat import NotebookNode

from grader.classroom.submitted_files import read_plain
from grader.collecting.files import File, Refused
from grader.collecting.folders import list_folder
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.graded import solution_sources, words_of
from grader.gradebook.records import digest_of
from grader.model.label import Label
from grader.notebooks.parsing import MAX_BYTES, parse_notebook
from grader.pages.similar_code import Work
from grader.sandbox.plain_text import one_line, plural

MOST = 1000  # submissions from earlier years to compare with


def files_of(course: Course, assignment: str, students: Iterable[str]) -> dict[str, str]:
    """Digests of the notebooks in submitted/, by student; empty where all cells are as they were handed out."""
    digests = {student: digest_of(_contents(course, assignment, student)) for student in students}
    times = Counter(digests.values())
    shared = {digest: student for student, digest in digests.items() if times[digest] > 1}
    untouched = {digest for digest, student in shared.items() if _is_untouched(course, assignment, student)}
    return {student: "" if digest in untouched else digest for student, digest in digests.items()}


def _is_untouched(course: Course, assignment: str, student: str) -> bool:
    """Whether no cell was changed; they may have been run."""
    return all(
        _texts(parse_notebook(content)) == _texts(course.read("release", assignment, name))
        for name, content in _contents(course, assignment, student).items()
    )


def _texts(notebook: NotebookNode) -> list[list[str]]:
    return [cell.source.split() for cell in notebook.cells]


def _contents(course: Course, assignment: str, student: str) -> dict[str, bytes]:
    contents = {}
    for name in course.notebooks("release", assignment):
        path = course.notebook(f"submitted/{student}", assignment, name)
        with contextlib.suppress(OSError):
            if (size := path.lstat().st_size) <= MAX_BYTES:
                contents[name] = read_plain(path, size)
    return contents


def read_earlier(folder: Path, assignment: str, tell: Callable[[str], None]) -> Mapping[str, Work]:
    """Read work on an assignment from a folder: STUDENT/ASSIGNMENT/NOTEBOOK, or just notebooks."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder. Use --against with a folder of notebooks.")
    notebooks = [file for file in list_folder(folder).files if file.parts[-1].lower().endswith(".ipynb")]
    of_this = [file for file in notebooks if assignment in file.parts[:-1]] or notebooks
    if not of_this:
        raise CourseError(f"There is no notebook in {folder}. Use --against with a folder of notebooks.")
    found: dict[str, list[File]] = {}
    for file in of_this:
        who = [part for part in file.parts[:-1] if part != assignment] or [file.parts[-1]]
        found.setdefault(f"{folder.name}/{'/'.join(who)}", []).append(file)
    if len(found) > MOST:
        tell(f"{folder} has the work of {len(found)} students. Only the first {MOST} are compared.")
    works = {who: _work(files, tell) for who, files in sorted(found.items())[:MOST]}
    tell(f"Compared with the work of {plural(len(works), 'student')} in {folder}.")
    return works


def _work(files: Iterable[File], tell: Callable[[str], None]) -> Work:
    solutions: dict[Label, str] = {}
    words: list[tuple[str, str]] = []
    contents: dict[str, bytes] = {}
    for file in files:
        try:
            content = file.read(MAX_BYTES)
        except Refused as error:
            tell(f"Skipped {one_line(file.place)}: {error}.")
            continue
        notebook = parse_notebook(content)
        solutions |= solution_sources(notebook)
        words += words_of(notebook)
        contents[file.parts[-1]] = content
    return Work(solutions, words, digest_of(contents) if solutions or words else "")
