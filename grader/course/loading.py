"""Load the exercises of a course from the texts of their files, and report what is wrong with them.

Each file of the folder that sets `exercise` has one exercise. Other files hold shared code, imported with
`from .shared import …`.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, NamedTuple

import torch

from grader.errors import CourseError
from grader.model.exercise import Case, Columns, Exercise, LentClass
from grader.model.exercise_files import IMPORTED, ExerciseFiles
from grader.model.forms.function import FUNCTION, Form
from grader.model.label import Label, in_order, label_of
from grader.model.misconception import KINDS, Misconception
from grader.sandbox.plain_text import listed
from grader.solutions.lines import LineError, Lines
from grader.solutions.probe_texts import ProbeText

# Import the modules of one package from texts instead of files.

INIT = "__init__.py"


class FromTexts(SourceLoader):
    """Finds and loads the modules of `package`. Errors name the files that the texts come from."""

    def __init__(self, package: str, files: ExerciseFiles) -> None:
        self._package = package
        self._files = files
        IMPORTED[package] = files  # to show where an error is

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        if fullname.split(".")[0] != self._package or self._find_path(fullname) is None:
            return None
        return spec_from_file_location(fullname, self.get_filename(fullname), loader=self)

    def get_filename(self, fullname: str) -> str:
        return str(Path(self._files.folder, self._find_path(fullname) or ""))

    def get_data(self, path: str) -> bytes:
        return self._files.texts.get(Path(path).relative_to(self._files.folder).as_posix(), b"")

    def _find_path(self, fullname: str) -> str | None:
        """The path of a module's text; None if there is none. A folder needs no __init__.py."""
        path = "/".join(fullname.split(".")[1:])
        if f"{path}.py" in self._files.texts:
            return f"{path}.py"
        folder = f"{path}/" if path else ""
        return folder + INIT if any(text.startswith(folder) for text in self._files.texts) else None


Exercises = Mapping[Label, Exercise]  # of an assignment, in order
MOST_OPTIONS = 12  # names to list when none is close to a misspelled one


_SLIP = re.compile(r"\b(Exercise|Case|Misconception)\.__init__\(\) got an unexpected keyword argument '(\w+)'")


class ExerciseError(CourseError):
    """Exercise files have mistakes; the text says where, and what to do."""


@dataclass(frozen=True)
class Catalogue:
    """All exercises of a course."""

    assignments: Mapping[str, Exercises] = field(default_factory=dict)

    def of(self, assignment: str) -> Exercises:
        """The exercises of an assignment; none if its tests are nbgrader's ordinary ones."""
        return self.assignments.get(assignment, {})


def in_order_of(exercises: Exercises, labels: Iterable[Label | None]) -> Exercises:
    """The exercises in the order of a notebook's labels; any others come last."""
    order = {label: exercises[label] for label in labels if label is not None and label in exercises}
    return order | {label: exercise for label, exercise in exercises.items() if label not in order}


def earlier_functions(exercises: Exercises, exercise: Exercise) -> Mapping[str, Callable[..., Any]]:
    """Correct versions of everything from earlier exercises: functions, and classes that are lent.

    If the exercise itself asks for gradients, the functions have none, and no classes are lent, since those learn.
    """
    standins: dict[str, Callable[..., Any]] = {}
    for earlier in exercises.values():
        if earlier.label == exercise.label:
            break
        for function in earlier.functions:
            if function.lent or function.form.lendable:
                standins[function.entry] = _make_standin(function)
    if exercise.form.has_autograd:
        return standins
    functions = {name: standin for name, standin in standins.items() if not isinstance(standin, LentClass)}
    return {name: torch.no_grad()(function) for name, function in functions.items()}


def _make_standin(function: Exercise) -> Callable[..., Any]:
    """A correct version of a function that also takes arguments by name."""
    return function.lent or (function.reference if function.first_form else function.solution)


def load(
    files: ExerciseFiles,
    assignments: Collection[str] | None = None,
    *,
    checked: bool = False,
    assignment: str | None = None,
) -> Catalogue:
    """Load the exercises in these files. ExerciseError lists all mistakes in them.

    If `assignments` are given, each exercise has to belong to one of them. Files that are `checked` already, by the
    process that sent them or in this one, are not checked again. With an `assignment`, the solutions and mistakes of
    others are not read: in a large course, that takes as long as the rest of a start.
    """
    exercises = _import(files)
    check = (_package(files), None if assignments is None else frozenset(assignments), assignment)
    if not checked and check not in _checked:
        mistakes = [*_find_in_subfolders(files), *_find_mistakes(exercises, assignments, assignment)]
        mistakes = mistakes or list(_find_solutions_in_probes(exercises))
        _refuse(files, [_Problem(path, _find_line(files, path, name), text) for path, text, name in mistakes])
        _checked.add(check)
    by_assignment: dict[str, dict[Label, Exercise]] = {}
    for exercise in sorted(exercises.values(), key=lambda exercise: in_order(exercise.label)):
        by_assignment.setdefault(exercise.assignment, {})[exercise.label] = exercise
    return Catalogue(by_assignment)


def file_of(files: ExerciseFiles, exercise: Exercise) -> str:
    """The path of the file that makes this exercise."""
    return next(path for path, loaded in _import(files).items() if loaded is exercise)


class _Problem(NamedTuple):
    path: str
    line: int
    text: str


def _refuse(files: ExerciseFiles, problems: Iterable[_Problem]) -> None:
    """Raise ExerciseError if there are problems."""
    lines = [f"{files.display_name}/{problem.path}, line {problem.line}: {problem.text}" for problem in problems]
    if lines:
        raise ExerciseError("\n".join([*dict.fromkeys(lines), "Fix that, then run this again."]))


# --- import ----------------------------------------------------------------------------------------------------------


_imported: dict[str, dict[str, Exercise]] = {}  # by package: equal texts are imported only once
_checked: set[tuple[str, frozenset[str] | None, str | None]] = set()  # packages, with what they were checked for
_one_at_a_time = threading.Lock()


def _package(files: ExerciseFiles) -> str:
    return f"exercises_{files.digest[:16]}"


def _import(files: ExerciseFiles) -> dict[str, Exercise]:
    """Import the exercises, by the path of their file."""
    package = _package(files)
    with _one_at_a_time:
        if package not in _imported:
            finder = FromTexts(package, files)  # stays: functions may import something when called
            sys.meta_path.insert(0, finder)  # before finders of files: those may differ from the texts
            try:
                _imported[package] = _import_all(package, files)
            except ExerciseError:
                sys.meta_path.remove(finder)
                for name in [name for name in sys.modules if name.split(".")[0] == package]:
                    del sys.modules[name]
                raise
        return _imported[package]


def _import_all(package: str, files: ExerciseFiles) -> dict[str, Exercise]:
    exercises: dict[str, Exercise] = {}
    problems: list[_Problem] = []
    for path in files.texts:
        if "/" not in path and path != INIT:
            exercise = _import_one(package, path, files)
            if isinstance(exercise, Exercise):
                exercises[path] = exercise
            elif exercise is not None:
                problems.append(exercise)
    _refuse(files, problems)
    return exercises


def _import_one(package: str, path: str, files: ExerciseFiles) -> Exercise | _Problem | None:
    """Import one file: its exercise, or what is wrong with it, or None if it has none."""
    name = path.removesuffix(".py")
    if not name.isidentifier():
        return _Problem(path, 1, "the name of an exercise file can only have letters, digits and _.")
    try:
        exercise = getattr(importlib.import_module(f"{package}.{name}"), "exercise", None)
    except (Exception, SystemExit) as error:  # it is the author's own Python code, so anything can happen
        return _locate(error, path, files)
    if exercise is None and name.startswith("ex"):
        return _Problem(path, 1, "it does not set `exercise`. Write `exercise = Exercise(…)`.")
    if exercise is None or isinstance(exercise, Exercise):
        return exercise
    line = _find_line(files, path)
    return _Problem(path, line, f"`exercise` is of type {type(exercise).__name__}, not an Exercise.")


def _locate(error: BaseException, path: str, files: ExerciseFiles) -> _Problem:
    """An error as a problem, placed at the last line of the course's own files in its traceback."""
    line = 1
    steps = [(step.filename, step.lineno) for step in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        steps.append((error.filename, error.lineno))
    for filename, number in steps:
        if Path(filename).is_relative_to(files.folder):
            path, line = Path(filename).relative_to(files.folder).as_posix(), number or 1
    message = (error.msg if isinstance(error, SyntaxError) else str(error)).replace(_package(files), "")
    kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "  # our own sentences say it all
    return _Problem(path, line, f"{kind}{message.rstrip('.')}.{_advice(error, files)}")


def _advice(error: BaseException, files: ExerciseFiles) -> str:
    slip = _SLIP.search(str(error))
    if slip and isinstance(error, TypeError):
        if slip[2] == "misconceptions":
            return " They are called `mistakes` since 0.7."
        (cls,) = [cls for cls in (Exercise, Case, Misconception) if cls.__name__ == slip[1]]
        return _suggest(slip[2], [field.name for field in fields(cls)])
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    is_beside = name and {f"{name.split('.')[0]}.py", f"{name.split('.')[0]}/{INIT}"} & files.texts.keys()
    return f" Import files next to it with `from .{name} import …`." if is_beside else ""


# --- checks ----------------------------------------------------------------------------------------------------------

_Mistake = tuple[str, str, str]  # the file, what is wrong, and the case or misconception concerned
# The types of attributes, and words for them. They are checked before anything uses the values.
_TYPES: Sequence[tuple[type, Sequence[str], Any, str]] = (
    (Exercise, ("assignment", "title", "entry"), str, "a text"),
    (Exercise, ("read", "glance", "picture", "lent", "first_form"), (Callable, LentClass, NoneType), "a function"),
    (Exercise, ("cases", "mistakes", "other_forms", "others"), (list, tuple), "a list"),
    (Exercise, ("form",), Form, "a form such as MODULE"),
    (Exercise, ("columns",), (Columns, NoneType), "Columns(…)"),
    (Exercise, ("explained_in",), Mapping, "a dict"),
    (Case, ("name", "catches", "beside"), str, "a text"),
    (Case, ("inputs",), Callable, "a function of rng"),
    (Misconception, ("name", "kind", "says", "says_of_code"), str, "a text"),
    (Misconception, ("credit",), (int, float), "a number"),
    (Misconception, ("change",), Mapping, "a dict"),
    (Misconception, ("in_code",), (list, tuple), "a tuple of strings"),
)


def _find_in_subfolders(files: ExerciseFiles) -> Iterator[_Mistake]:
    """Exercises in subfolders, where nothing looks for them."""
    for path in files.texts:
        if "/" in path and _sets_an_exercise(files.texts[path]):
            yield (
                path,
                f"an exercise in a subfolder is not found. Put its file directly into {files.display_name}/.",
                "",
            )


def _find_mistakes(
    exercises: Mapping[str, Exercise], assignments: Collection[str] | None, assignment: str | None
) -> Iterator[_Mistake]:
    """The mistakes in these exercises."""
    first_paths: dict[tuple[str, Label], str] = {}
    for path, exercise in exercises.items():
        if bool(exercise.number) == bool(exercise.name) or label_of(exercise.label) != exercise.label:
            text = (
                "an exercise needs either a number from 1 up, as in `number=3`, or a name of letters, digits, - and _, "
                'as in `name="softmax"`.'
            )
            yield path, text, ""
            continue
        wrong_types = list(_find_wrong_types(exercise))
        if wrong_types:
            yield from ((path, text, name) for text, name in wrong_types)
            continue
        first_path = first_paths.setdefault((exercise.assignment, exercise.label), path)
        if first_path != path:
            text = f"exercise {exercise.label} of {exercise.assignment} is also in {first_path}. Change one of them."
            yield path, text, ""
        if assignments is not None and exercise.assignment not in assignments:
            options = f"Assignments: {', '.join(sorted(assignments))}." if assignments else "There are none yet."
            yield path, f"there is no assignment “{exercise.assignment}”. {options}", ""
        for function in exercise.functions if assignment in (None, exercise.assignment) else ():
            yield from ((path, text, name) for text, name in _find_mistakes_of_function(function))


def _find_solutions_in_probes(exercises: Mapping[str, Exercise]) -> Iterator[_Mistake]:
    """Probes that use a solution, which would then go to the sandbox with them."""
    functions = [(path, function) for path, exercise in exercises.items() for function in exercise.functions]
    solutions = [function.solution for _, function in functions]
    for path, function in functions:
        for name, value in ProbeText(function.probe).values.items() if function.probe else ():
            if any(value is solution for solution in solutions):
                text = (
                    f"the probe of `{function.entry}` uses `{name}`, a solution. All that it uses goes to the process "
                    "of a student, which must hold no answers."
                )
                yield path, text, ""


def _find_wrong_types(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Attributes that have the wrong type."""
    objects: list[Any] = [exercise]
    lists = {"cases": Case, "mistakes": Misconception, "others": Exercise}
    for attribute, cls in lists.items():
        elements = getattr(exercise, attribute)
        for element in elements if isinstance(elements, (list, tuple)) else ():
            if not isinstance(element, cls):
                yield f"`{attribute}` holds {_describe(element)}, not `{cls.__name__}(…)`.", ""
            elif cls is not Exercise:
                objects.append(element)
    for checked_object in objects:
        name = "" if isinstance(checked_object, Exercise) else str(checked_object.name)
        prefix = f"“{name}”: " if name else ""
        for cls, attributes, types, words in _TYPES:
            for attribute in attributes if isinstance(checked_object, cls) else ():
                value = getattr(checked_object, attribute)
                if not isinstance(value, types):
                    yield f"{prefix}`{attribute}` is {_describe(value)}, but should be {words}.", name
    for function in exercise.others if isinstance(exercise.others, (list, tuple)) else ():
        if isinstance(function, Exercise):
            yield from _find_wrong_types(function)


def _describe(value: object) -> str:
    return repr(value) if isinstance(value, (str, int, float, NoneType)) else f"of type {type(value).__name__}"


def _find_mistakes_of_function(function: Exercise) -> Iterator[tuple[str, str]]:
    if not str(function.entry).isidentifier():
        yield f"`entry` is “{function.entry}”, which is not a name that a student can define.", ""
    if isinstance(function.solution, type) and function.form is FUNCTION:
        yield "its solution is a class. Set `form=OBJECTS`; or `form=MODULE`, if it is a torch.nn.Module.", ""
    if not function.cases:
        yield f"`{function.entry}` has no cases, so every answer would be right.", ""
    for kind, names in (
        ("cases", [case.name for case in function.cases]),
        ("mistakes", [mistake.name for mistake in function.mistakes if mistake.way == 0]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"`{function.entry}` has {count} {kind} called “{name}”. Give each its own name.", name
    lines = function.solution_text.lines
    lacks = {mistake.key: _lacks(mistake, lines, function.solution_text.variables) for mistake in function.mistakes}
    yield from ((text, "") for text in _unmet(function.mistakes, lacks))
    fitting = [mistake for mistake in function.mistakes if not lacks[mistake.key]]
    for mistake in fitting:
        if mistake.kind not in KINDS:
            text = f"“{mistake.name}”: there is no kind “{mistake.kind}”.{_suggest(mistake.kind, KINDS)}"
            yield text, mistake.name
        yield from ((text, mistake.name) for text in _without_marks(mistake, lines.places))
    marked = [mistake for mistake in fitting if mistake.change and set(mistake.change) <= set(lines.places)]
    yield from _find_wrong_lines(lines, function.solution_text.variables, marked)
    names_and_kinds = [name for mistake in function.mistakes for name in (mistake.name, mistake.kind)]
    for name in function.explained_in:
        if name not in names_and_kinds:
            text = f"`explained_in` names “{name}”, which is neither a misconception nor a kind of one."
            yield f"{text}{_suggest(name, names_and_kinds)}", ""


def _find_wrong_lines(
    lines: Lines, variables: Collection[str], misconceptions: Iterable[Misconception]
) -> Iterator[tuple[str, str]]:
    """Misconceptions whose lines cannot be written, or are the same as another one's."""
    name_of: dict[str, str] = {}  # by text
    for misconception in misconceptions:
        name = misconception.name
        try:
            text = lines.checked(misconception.change, variables)
        except LineError as error:
            yield f"“{name}”: {error}.", name
            continue
        if text in name_of:
            yield f"“{name}” has the same lines as “{name_of[text]}”.", name
        name_of[text] = name


def _lacks(mistake: Misconception, lines: Lines, variables: Collection[str]) -> list[str]:
    """The marks, or else the names, that a shared mistake needs and the solution lacks."""
    if mistake.needs is None:
        return []
    marks = {place.rpartition(" ")[2] for place in mistake.change} & set(mistake.needs.marks.split())
    missing = marks - lines.marked.keys()
    if missing:
        return sorted(missing)
    try:
        return sorted(lines.unbound(mistake.change, variables) & set(mistake.needs.variables.split()))
    except (LineError, SyntaxError):  # which is said of the mistake itself
        return []


def _unmet(mistakes: Sequence[Misconception], lacks: Mapping[tuple[str, int], Sequence[str]]) -> Iterator[str]:
    """A sentence for each list of needs that the solution does not meet."""
    for needs in dict.fromkeys(mistake.needs for mistake in mistakes if lacks[mistake.key]):
        if needs:
            names = {name for mistake in mistakes if mistake.needs == needs for name in lacks[mistake.key]}
            no_names = listed([f"`{name}`" for name in sorted(names)], last="or")
            yield (
                f"its solution has no {no_names}, which mistakes that it shares with others need. They are written for "
                f"the marks {needs.marks}; and the variables {needs.variables}."
            )


def _without_marks(mistake: Misconception, marks: Collection[str]) -> Iterator[str]:
    for mark in mistake.change:
        if mark not in marks:
            yield f"“{mistake.name}” changes “{mark}”, which is not a mark of the solution.{_suggest(mark, marks)}"


def _suggest(name: str, options: Collection[str]) -> str:
    """A hint for a misspelled name: the one that was probably meant, or all of them if they are few."""
    public_options = list(dict.fromkeys(option for option in options if not option.startswith("_")))
    matches = get_close_matches(name, public_options, 1)
    if matches:
        return f" Did you mean “{matches[0]}”?"
    return f" Options: {', '.join(public_options)}." if 0 < len(public_options) <= MOST_OPTIONS else ""


def _sets_an_exercise(text: bytes) -> bool:
    try:
        values = [node.value for node in ast.parse(text).body if isinstance(node, ast.Assign) and _is_set_in(node)]
    except (SyntaxError, ValueError):
        return False
    calls = [value.func for value in values if isinstance(value, ast.Call)]
    return any(isinstance(function, ast.Name) and function.id == "Exercise" for function in calls)


def _is_set_in(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "exercise" for target in targets)


def _find_line(files: ExerciseFiles, path: str, name: str = "") -> int:
    """The line where a file names this case or misconception, or else where it sets `exercise`."""
    tree = ast.parse(files.texts[path])
    numbers = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == name]
    if name and numbers:
        return max(numbers)
    return next((node.lineno for node in tree.body if _is_set_in(node)), 1)
