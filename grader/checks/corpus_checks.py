"""Check that the student code in corpus/, right and wrong, is judged as its headings say.

`corpus/ASSIGNMENT/EXERCISE.txt` holds the code for one exercise; grader/checks/student_code.py reads it. Wrong code may
say which misconceptions the verdict should name: `:named: not divided`, or several joined by ` + `.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
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
            file = str(path.relative_to(course.root))
            way_out = f"Put all code for an exercise into one file, {file}.txt. See docs/writing_an_exercise.md."
            self.unreadable.append(ExerciseProblem(label_of(path.name), file, "is a folder", way_out))
        for path in sorted(folder.glob("*.txt")):
            file, label = str(path.relative_to(course.root)), label_of(path.stem)
            try:
                self.pieces[file] = read_pieces(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                self.unreadable.append(ExerciseProblem(label, file, "it is not UTF-8 text", "Save it as UTF-8."))
            except CourseError as error:
                self.unreadable.append(ExerciseProblem(label, file, str(error), "Fix that line."))

    def __len__(self) -> int:
        return len(self.unreadable) + sum(map(len, self.pieces.values()))

    def problems(self, course: Course, exercises: Exercises) -> Iterator[ExerciseProblem]:
        """What cannot be read, and the pieces that are judged in another way, in the order of the exercises."""
        yield from self.unreadable
        settings = settings_for(course, exercises)
        positions: dict[Label | None, int] = {label: position for position, label in enumerate(exercises)}
        for file in sorted(self.pieces, key=lambda file: positions.get(_label(file), len(positions))):
            label = _label(file)
            if label is None or label not in exercises:
                way_out = f"Name it after an exercise of {self.assignment}."
                yield ExerciseProblem(None, file, "there is no such exercise", way_out)
                continue
            names = {mistake.name for function in exercises[label].functions for mistake in function.mistakes}
            try_piece = partial(try_code, course, self.assignment, settings, label)
            for piece in self.pieces[file]:
                description = _describe_problem(piece, try_piece, names)
                if description:
                    location = f"{file}, {piece.name}"
                    way_out = "Fix the exercise, or the file if it is wrong."
                    yield ExerciseProblem(label, location, description, way_out)


def _label(file: str) -> Label | None:
    return label_of(Path(file).stem)


def _describe_problem(piece: CorpusPiece, try_piece: Callable[[str], TriedCode], names: Collection[str]) -> str:
    """How the verdict differs from what the piece says; empty if it does not. `names` are those of all mistakes."""
    try:
        verdict = try_piece(piece.code).verdict
    except CourseError as error:
        return str(error)
    if piece.right:
        return "" if verdict.right else f"it should be right, but the verdict is: {' '.join(verdict.sentences)}"
    if verdict.right:
        return "it should be wrong, but earns full marks"
    unknown_fields = set(piece.fields) - {"named"}
    if unknown_fields:
        return f"it has a field {min(unknown_fields)}, but only `:named:` is allowed"
    expected = piece.fields.get("named")
    actual = " + ".join(verdict.misconceptions) or "nothing"
    if not expected or expected == actual:
        return ""
    description = f"`{expected}` should be named, but {actual} is"
    for name in expected.split(" + "):
        if name not in names and name != "nothing":
            return f"{description}; the exercise has no mistake “{name}”"
    return description
