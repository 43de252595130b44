"""Write a mistake into an exercise file, and code with this mistake into the corpus."""

from __future__ import annotations

import ast
import itertools
import json
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from grader.checks.corpus_checks import FOLDER
from grader.checks.student_code import read_pieces
from grader.checks.trying import exercise_called
from grader.course.folder import Course
from grader.course.loading import file_of
from grader.errors import CourseError
from grader.model.exercise import Exercise
from grader.solutions.lines import LineError


@dataclass(frozen=True)
class NewMistake:
    """A mistake in one line of a solution."""

    name: str
    mark: str
    line: str
    says: str  # what students read

    @property
    def call(self) -> str:
        """The mistake as an exercise file has it."""
        name, mark, line, says = (json.dumps(text, ensure_ascii=False) for text in self._texts)
        return f"wrong({name}, {{{mark}: {line}}},\n      {says}),"

    @property
    def _texts(self) -> tuple[str, ...]:
        return self.name, self.mark, self.line, self.says


def new_mistake(course: Course, called: str, mistake: NewMistake, assignment: str = "") -> list[Path]:
    """Add a mistake to the exercise that is called so; returns the files written."""
    assignment, exercises, label = exercise_called(course, called, assignment)
    exercise = exercises[label]
    function = _function_of(exercise, mistake)
    path = _path_of(course, exercise)
    text = _with_call(path, function, mistake)
    corpus = course.root / FOLDER / assignment / f"{label}.txt"
    corpus_text = corpus.read_text(encoding="utf-8") if corpus.exists() else ""
    student_code = _corpus_entry(corpus_text, mistake.name, _cell(exercise, function, mistake))
    path.write_text(text, encoding="utf-8")
    corpus.parent.mkdir(parents=True, exist_ok=True)
    corpus.write_text(f"{corpus_text.rstrip()}\n\n{student_code}".lstrip(), encoding="utf-8")
    return [path, corpus]


def _function_of(exercise: Exercise, mistake: NewMistake) -> Exercise:
    """The function of an exercise that has the marked line, and in which nothing speaks against the mistake."""
    names = {misconception.name for function in exercise.functions for misconception in function.mistakes}
    if mistake.name in names:
        raise CourseError(f"Exercise {exercise.label} already has a mistake “{mistake.name}”. Choose another name.")
    places = {place: function for function in exercise.functions for place in function.solution_text.lines.places}
    if mistake.mark not in places:
        marks = [mark for function in exercise.functions for mark in function.solution_text.lines.marked]
        advice = f"There are: {', '.join(marks)}" if marks else "Write one, such as `#: result`, at the end of a line"
        raise CourseError(f"The solution has no mark “{mistake.mark}”. {advice}.")
    function = places[mistake.mark]
    try:
        function.solution_text.lines.checked({mistake.mark: mistake.line}, function.solution_text.variables)
    except LineError as error:
        raise CourseError(f"“{mistake.line}” cannot stand there: {error}.") from None
    return function


def _cell(exercise: Exercise, function: Exercise, mistake: NewMistake) -> str:
    """A student's solution cell with the mistake."""
    texts: list[str] = []
    for member in exercise.functions:
        changes = {mistake.mark: mistake.line} if member is function else {}
        texts.append(member.solution_text.lines.text(changes))
    return "\n\n".join(texts)


def _path_of(course: Course, exercise: Exercise) -> Path:
    files = course.exercise_files
    if files.package:
        raise CourseError(f"The exercises of this course are in the package {files.package}. Add it there.")
    return Path(files.folder, file_of(files, exercise))


def _with_call(path: Path, function: Exercise, mistake: NewMistake) -> str:
    """The text of an exercise file with the mistake at the end of the function's list."""
    text = path.read_bytes()
    tree = ast.parse(text)
    if not any(isinstance(node, ast.alias) and node.name == "wrong" for node in ast.walk(tree)):
        raise CourseError(f"{path.name} does not import `wrong`. Write `from grader import wrong` there first.")
    mistakes = _list_of_mistakes(tree, function)
    if mistakes is None:
        raise CourseError(f"In {path.name}, `mistakes` is not written as a list, `[…]`. Change that first.")
    starts = [0, *itertools.accumulate(len(line) for line in text.splitlines(keepends=True))]
    line = text[starts[mistakes.lineno - 1] :]
    margin = " " * (len(line) - len(line.lstrip(b" ")))
    bracket = starts[(mistakes.end_lineno or 0) - 1] + (mistakes.end_col_offset or 0) - 1
    before = text[:bracket].decode().rstrip()
    if mistakes.elts:
        last = mistakes.elts[-1]
        end = starts[(last.end_lineno or 0) - 1] + (last.end_col_offset or 0)
        tail = text[end:bracket].decode().rstrip()
        comma = "" if "," in re.sub("#.*", "", tail) else ","
        before = f"{text[:end].decode()}{comma}{tail}"
    call = textwrap.indent(mistake.call, f"{margin}    ")
    return f"{before}\n{call}\n{margin}{text[bracket:].decode()}"


def _list_of_mistakes(tree: ast.Module, function: Exercise) -> ast.List | None:
    """The list of mistakes in the call that makes this exercise."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Exercise":
            arguments = {keyword.arg: keyword.value for keyword in node.keywords}
            solution, mistakes = arguments.get("solution"), arguments.get("mistakes")
            if isinstance(solution, ast.Name) and solution.id == function.solution.__name__:
                return mistakes if isinstance(mistakes, ast.List) else None
    return None


def _corpus_entry(corpus_text: str, name: str, cell: str) -> str:
    """Wrong code as the corpus has it, under a heading that is not in use there."""
    in_use = {piece.name for piece in read_pieces(corpus_text)}
    word = re.sub(r"\W+", "_", name).strip("_") or "mistake"
    headings = (word if number == 1 else f"{word}_{number}" for number in itertools.count(1))
    heading = next(heading for heading in headings if heading not in in_use)
    return f"=== wrong {heading}: {name}\n:named: {name}\n{cell}"
