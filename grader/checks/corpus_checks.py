"""Check that the student code in corpus/, right and wrong, is judged as its headings say.

`corpus/ASSIGNMENT/EXERCISE.txt` holds the code for one exercise; grader/checks/student_code.py reads it. Wrong code may
say which misconceptions the verdict should name: `:named: not divided`, or several joined by ` + `.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import partial
from pathlib import Path

from grader.checks.exercise_checks import ExerciseProblem
from grader.checks.student_code import CorpusPiece, read_pieces
from grader.checks.trying import TriedCode, try_code
from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.errors import CourseError
from grader.host.notebook_settings import settings_for
from grader.model.label import Label, label_of

FOLDER = "corpus"


class Corpus:
    """All student code of one assignment."""

    def __init__(self, course: Course, assignment: str) -> None:
        self.assignment = assignment
        self.pieces: dict[str, list[CorpusPiece]] = {}  # by file
        self.unreadable: list[ExerciseProblem] = []
        folder = course.root / FOLDER / assignment
        for path in sorted({former.parent for former in folder.glob("*/[rw]*/")}):  # the layout until 0.6
            place = str(path.relative_to(course.root))
            say = f"Put all code for an exercise into one file, {place}.txt. See docs/writing_an_exercise.md."
            self.unreadable.append(ExerciseProblem(label_of(path.name), place, "is a folder", say))
        for path in sorted(folder.glob("*.txt")):
            place, label = str(path.relative_to(course.root)), label_of(path.stem)
            try:
                self.pieces[place] = read_pieces(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                self.unreadable.append(ExerciseProblem(label, place, "it is not UTF-8 text", "Save it as UTF-8."))
            except CourseError as error:
                self.unreadable.append(ExerciseProblem(label, place, str(error), "Fix that line."))

    def __len__(self) -> int:
        return len(self.unreadable) + sum(map(len, self.pieces.values()))

    def problems(self, course: Course, exercises: Exercises) -> Iterator[ExerciseProblem]:
        places: dict[Label | None, int] = {one: place for place, one in enumerate(exercises)}
        settings = settings_for(course, exercises)
        yield from self.unreadable
        for file in sorted(self.pieces, key=lambda file: places.get(_label(file), len(places))):
            label = _label(file)
            if label is None or label not in exercises:
                say = f"Name it after an exercise of {self.assignment}."
                yield ExerciseProblem(None, file, "there is no such exercise", say)
                continue
            known = {one.name for function in exercises[label].functions for one in function.mistakes}
            tried = partial(try_code, course, self.assignment, settings, label)
            for piece in self.pieces[file]:
                if said := _problem(piece, tried, known):
                    where = f"{file}, {piece.name}"
                    yield ExerciseProblem(label, where, said, "Fix the exercise, or the file if it is wrong.")


def _label(file: str) -> Label | None:
    return label_of(Path(file).stem)


def _problem(piece: CorpusPiece, tried: Callable[[str], TriedCode], known: Container[str]) -> str:
    """How the verdict differs from what the piece says; empty if it does not."""
    try:
        verdict = tried(piece.code).verdict
    except CourseError as error:
        return str(error)
    if piece.right:
        return "" if verdict.right else f"it should be right, but the verdict is: {' '.join(verdict.sentences)}"
    if verdict.right:
        return "it should be wrong, but earns full marks"
    if other := set(piece.fields) - {"named"}:
        return f"it has a field {min(other)}, but only `:named:` is allowed"
    said, named = piece.fields.get("named"), " + ".join(verdict.misconceptions) or "nothing"
    if not said or said == named:
        return ""
    unknown = next((name for name in said.split(" + ") if name not in known and name != "nothing"), "")
    return f"`{said}` should be named, but {named} is" + (
        f"; the exercise has no mistake “{unknown}”" if unknown else ""
    )
