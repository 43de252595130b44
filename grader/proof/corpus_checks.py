"""Student code that a course keeps in corpus/, right and wrong: whether it is judged as its first lines say.

A file `corpus/ASSIGNMENT/EXERCISE/right/….py` or `…/wrong/….py` holds what stands in the solution cell. A wrong one may
say in its second line which misconceptions are to be named: `# named: not divided`, several with ` + ` between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.catalogue.exercise_files import hidden_folders
from grader.catalogue.loading import Exercises
from grader.course import Course
from grader.model.label import Label, label_of
from grader.model.verdict import Verdict
from grader.notebooks.cells import is_test_cell, solved_exercise, tested_exercise
from grader.notebooks.solutions import fill_in, solutions
from grader.proof.exercise_checks import Problem
from grader.running.grading import grade_notebook
from grader.running.scratch import files_beside
from grader.running.settings import Settings

FOLDER = "corpus"

_NAMED = re.compile(r"^# named: (.+)$", re.MULTILINE)


def corpus_of(course: Course, assignment: str) -> list[Path]:
    return sorted((course.root / FOLDER / assignment).glob("*/[rw]*/*.py"))


def problems_of_corpus(
    course: Course, compiled: Course, assignment: str, exercises: Exercises, files: list[Path]
) -> Iterator[Problem]:
    """Each file in its notebook as it is `compiled`, with all that comes before as the course solves it."""
    settings = Settings(exercises, [str(compiled.root), *hidden_folders(compiled.exercise_files())])
    places: dict[Label | None, int] = {one: place for place, one in enumerate(exercises)}
    for path in sorted(files, key=lambda path: places.get(label_of(path.parent.parent.name), len(places))):
        label = label_of(path.parent.parent.name)
        place = str(path.relative_to(course.root))
        if label is None or label not in exercises:
            yield Problem(None, place, "there is no such exercise", f"Call its folder as an exercise of {assignment}.")
        elif not _is_text(path):
            yield Problem(label, place, "it is no text in UTF-8", "Save it as that.")
        elif problem := _problem(path, _verdict(compiled, assignment, settings, label, path.read_text("utf-8"))):
            yield Problem(label, place, problem, "Mend the exercise, or the file if it says what is not so.")


def _is_text(path: Path) -> bool:
    try:
        return bool(path.read_text(encoding="utf-8")) or True
    except UnicodeDecodeError:
        return False


def _verdict(course: Course, assignment: str, settings: Settings, label: Label, code: str) -> Verdict | None:
    for name in course.notebooks("release", assignment):
        notebook = course.read("release", assignment, name)
        if label not in map(solved_exercise, notebook.cells):
            continue
        answers: Mapping[Label, str] = {**solutions(course.read("source", assignment, name)), label: code}
        notebook = fill_in(notebook, answers)
        notebook.cells = [cell for cell in notebook.cells if not is_test_cell(cell) or tested_exercise(cell) == label]
        beside = files_beside(course.notebook("release", assignment, name).parent)
        return next(iter(grade_notebook(notebook, beside, settings)), None)
    return None


def _problem(path: Path, verdict: Verdict | None) -> str:
    """How it is judged otherwise than it says; nothing if it is not."""
    if verdict is None:
        return "no notebook has a solution cell and a test cell for it"
    if path.parent.name == "right":
        return "" if verdict.right else f"it is said to be right, and is judged: {' '.join(verdict.sentences)}"
    if verdict.right:
        return "it is said to be wrong, and earns everything"
    text = path.read_text(encoding="utf-8")
    said = _NAMED.search(text)
    if not said and text.partition("\n")[2].startswith("#"):
        return "its second line does not begin with `# named: `, so nobody knows what is to be named"
    named = " + ".join(verdict.misconceptions) or "nothing"
    return f"`{said[1]}` is to be named, and {named} is" if said and said[1] != named else ""
