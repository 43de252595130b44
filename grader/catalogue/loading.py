"""Load the exercises of a course from the texts of their files, and say what is wrong with any of them.

Each file of the folder that sets `exercise` holds one exercise; the others hold what several share, and are imported
as `from .shared import …`.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch

from grader.catalogue.from_texts import INIT, FromTexts
from grader.errors import CourseError
from grader.model.exercise import Exercise
from grader.model.exercise_files import ExerciseFiles
from grader.model.label import Label, in_order, label_of
from grader.model.lent_class import LentClass

Exercises = Mapping[Label, Exercise]  # of an assignment, in their order


class ExerciseError(CourseError):
    """Something is wrong with exercise files; the text says where, and what to do."""


@dataclass(frozen=True)
class Catalogue:
    """All exercises of a course."""

    assignments: Mapping[str, Exercises] = field(default_factory=dict)

    def of(self, assignment: str) -> Exercises:
        """Those of an assignment; none if it is an ordinary one."""
        return self.assignments.get(assignment, {})


def in_order_of(exercises: Exercises, labels: Iterable[Label | None]) -> Exercises:
    """The same in the order in which a notebook has them; what it does not have keeps its place at the end."""
    order = {label: exercises[label] for label in labels if label is not None and label in exercises}
    return order | {label: exercise for label, exercise in exercises.items() if label not in order}


def earlier_functions(exercises: Exercises, exercise: Exercise) -> Mapping[str, Callable[..., Any]]:
    """Right versions of what comes before in this order: functions, and the classes that are lent.

    Where gradients are what is asked for, these have none, and no classes are lent, which learn.
    """
    lent = {
        function.entry: function.lent or function.reference
        for earlier in itertools.takewhile(lambda one: one.label != exercise.label, exercises.values())
        for function in earlier.functions
        if function.lent or function.form.lendable
    }
    if exercise.form.lends_gradients:
        return lent
    return {name: torch.no_grad()(right) for name, right in lent.items() if not isinstance(right, LentClass)}


def load(files: ExerciseFiles, assignments: Collection[str] | None = None) -> Catalogue:
    """The exercises in these files. ExerciseError tells all that is wrong with them.

    Where `assignments` are given, each exercise has to belong to one of them.
    """
    found = _import(files)
    _refuse(files, [_Problem(place, _line(files, place), text) for place, text in _wrong(found, assignments)])
    ordered = sorted(found.values(), key=lambda exercise: in_order(exercise.label))
    names = dict.fromkeys(exercise.assignment for exercise in ordered)
    return Catalogue({name: {each.label: each for each in ordered if each.assignment == name} for name in names})


class _Problem(NamedTuple):
    place: str
    line: int
    text: str


def _refuse(files: ExerciseFiles, problems: Iterable[_Problem]) -> None:
    said = [f"{files.shown}/{one.place}, line {one.line}: {one.text}" for one in dict.fromkeys(problems)]
    if said:
        raise ExerciseError("\n".join([*said, "Mend that, and run this again."]))


# --- import ----------------------------------------------------------------------------------------------------------


_imported: dict[str, dict[str, Exercise]] = {}  # by their package: texts that are the same are imported once
_one_at_a_time = threading.Lock()


def _import(files: ExerciseFiles) -> dict[str, Exercise]:
    """The exercises by the places of their files."""
    package = f"exercises_{files.digest[:16]}"
    with _one_at_a_time:
        if package not in _imported:
            finder = FromTexts(package, files)  # stays: a function may import something when it is called
            sys.meta_path.append(finder)
            try:
                _imported[package] = _import_all(package, files)
            except ExerciseError:
                sys.meta_path.remove(finder)
                for name in [name for name in sys.modules if name.split(".")[0] == package]:
                    del sys.modules[name]
                raise
        return _imported[package]


def _import_all(package: str, files: ExerciseFiles) -> dict[str, Exercise]:
    places = [place for place in files.texts if "/" not in place and place != INIT]
    found = {place: _import_one(package, place, files) for place in places}
    _refuse(files, [one for one in found.values() if isinstance(one, _Problem)])
    return {place: one for place, one in found.items() if isinstance(one, Exercise)}


def _import_one(package: str, place: str, files: ExerciseFiles) -> Exercise | _Problem | None:
    """The exercise of a file, what is wrong with it, or that it holds none."""
    name = place.removesuffix(".py")
    if not name.isidentifier():
        return _Problem(place, 1, "a file of exercises is named like a Python module: letters, digits and _.")
    try:
        exercise = getattr(importlib.import_module(f"{package}.{name}"), "exercise", None)
    except (Exception, SystemExit) as error:  # it is the author's own Python: anything can happen
        return _where(error, place, files)
    if exercise is None and name.startswith("ex"):
        return _Problem(place, 1, "it sets no `exercise`. Write `exercise = Exercise(…)`.")
    if exercise is None or isinstance(exercise, Exercise):
        return exercise
    return _Problem(place, _line(files, place), f"`exercise` is of type {type(exercise).__name__}, and no Exercise.")


def _where(error: BaseException, place: str, files: ExerciseFiles) -> _Problem:
    """An error, at the last line of the course's own files that it went through."""
    line = 1
    steps = [(step.filename, step.lineno) for step in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        steps.append((error.filename, error.lineno))
    for filename, number in steps:
        if Path(filename).is_relative_to(files.folder):
            place, line = Path(filename).relative_to(files.folder).as_posix(), number or 1
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return _Problem(place, line, f"{type(error).__name__}: {said.rstrip('.')}.{_advice(error, files)}")


def _advice(error: BaseException, files: ExerciseFiles) -> str:
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    is_beside = name and {f"{name.split('.')[0]}.py", f"{name.split('.')[0]}/{INIT}"} & files.texts.keys()
    return f" What lies beside it is imported as `from .{name} import …`." if is_beside else ""


# --- checks ----------------------------------------------------------------------------------------------------------


def _wrong(found: Mapping[str, Exercise], assignments: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """What is wrong with these exercises, by the place of the file."""
    first: dict[tuple[str, Label], str] = {}
    for place, exercise in found.items():
        if bool(exercise.number) == bool(exercise.name) or label_of(exercise.label) != exercise.label:
            yield (
                place,
                (
                    "an exercise has either a number from 1, as in `number=3`, or a name of letters, digits, - and _, "
                    'as in `name="softmax"`.'
                ),
            )
            continue
        other = first.setdefault((exercise.assignment, exercise.label), place)
        if other != place:
            yield place, f"exercise {exercise.label} of {exercise.assignment} is in {other}, too. Give it another one."
        if assignments is not None and exercise.assignment not in assignments:
            known = f"There are: {', '.join(sorted(assignments))}." if assignments else "There is none."
            yield place, f"there is no assignment “{exercise.assignment}”. {known}"
        for function in exercise.functions:
            yield from ((place, text) for text in _wrong_with(function))


def _wrong_with(function: Exercise) -> Iterator[str]:
    if not str(function.entry).isidentifier():
        yield f"`entry` is “{function.entry}”, which is no name that a student can define."
    if not function.cases:
        yield f"`{function.entry}` has no cases, so every answer would be right."
    for kind, names in (
        ("cases", [case.name for case in function.cases]),
        ("misconceptions", [misconception.name for misconception in function.misconceptions]),
    ):
        for name, times in Counter(names).items():
            if times > 1:
                yield f"`{function.entry}` has {times} {kind} called “{name}”. Call each by a name of its own."


def _line(files: ExerciseFiles, place: str) -> int:
    """Where a file sets `exercise`."""
    for node in ast.parse(files.texts[place]).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "exercise" for target in targets):
            return node.lineno
    return 1
