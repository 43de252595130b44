"""What the visible checks of all notebooks share: try the student's functions and classes on a few known examples.

The examples themselves are in checks.py beside each notebook. Nothing here is secret. `grader release` puts this file
beside each notebook whose checks.py imports it, with those it imports: they need nothing else but torch.
"""

from __future__ import annotations

import importlib
import inspect
import io
import math
import os
import sys
import textwrap
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from types import FunctionType
from typing import NamedTuple, TypeAlias, cast

import torch

from call_arguments import exercise_meant, number_meant
from cell_runs import CellRuns
from diagnosis import calls, numbers_read
from earlier_functions import by_examples, in_place, stop_in
from endless import endless_loop
from recognizing import known_mistakes
from showing import progress, show_text
from time_limit import SECONDS, TookTooLong, time_limit
from visible_examples import (
    NEW_LINE,
    TOLERANCE,
    Example,
    Several,
    Student,
    VisibleExample,
    described,
    is_to_do,
    line_of,
    list_names,
)

__all__ = [
    "TOLERANCE",
    "Checks",
    "Entry",
    "Example",
    "Number",
    "Several",
]

Notebook: TypeAlias = dict[str, object]  # its variables

OWN_CODE = "own_code"  # the file that asks about a student's own code
WIDTH = 88
EXACT = 1e-6  # as a part of a counted number
ENOUGH = 2  # seconds, where the text shows a loop that never ends: there is nothing to wait for once it has begun


class Problem(NamedTuple):
    """What is wrong with an entry, in words."""

    sentence: str
    is_to_do: bool = False  # it, or what it calls, is not written yet
    is_of_run: bool = False  # its code ran on an example, and something came out that is wrong


class Entry(NamedTuple):
    """A function or class that an exercise asks for, and the examples to try it on."""

    exercise: int
    name: str
    examples: Callable[[], Sequence[VisibleExample]]
    builds_on: tuple[int, ...] = ()  # the earlier exercises whose functions it may call


class Number(NamedTuple):
    """A question whose answer is a number, and what to say to some wrong ones. It is worth no points."""

    question: str
    right: float
    wrong: Mapping[float, str] = {}


class Checks:
    """check, check_number, explain, hint and solved, for the entries of one notebook."""

    def __init__(self, *entries: Entry | Number) -> None:
        self.entries = [one for one in entries if isinstance(one, Entry)]
        self.numbers = {one.question: one for one in entries if isinstance(one, Number)}
        self.hints_shown: Counter[int] = Counter()
        self.rounds: Counter[int] = Counter()  # of questions, by exercise
        self.cell_runs = CellRuns(entry.name for entry in self.entries)

    def check(self, exercise: object = None, *surplus: object) -> None:
        """Say in one line that an exercise is right, or in a few lines what is wrong; progress, without a number."""
        notebook = sys._getframe(1).f_globals
        try:
            if exercise is None:
                states = [(entry, self._state(entry, notebook)) for entry in self.entries]
                progress([(entry.exercise, state) for entry, state in states], _what_next(states)).show()
            elif isinstance(meant := exercise_meant("check", self._exercises(), exercise, *surplus), str):
                _tell(meant)
            else:
                for entry in self._of(meant):
                    self._say(entry, notebook)
        except KeyboardInterrupt as interrupt:
            _tell(_with_place("You stopped this check", interrupt))

    def solved(self, *exercises: int) -> bool:
        """Whether these exercises pass their checks; if not, say what the next plot waits for."""
        notebook = sys._getframe(1).f_globals
        try:
            problems = {exercise: self._first_problem(exercise, notebook) for exercise in exercises}
            missing = [exercise for exercise, problem in problems.items() if problem is not None]
            by_themselves = [exercise for exercise in missing if self._is_right_by_itself(exercise, notebook)]
        except KeyboardInterrupt as interrupt:
            _tell(_with_place("You stopped this cell", interrupt))
            return False
        if missing and missing == by_themselves:
            _tell(
                f"The result appears here once {_listed(missing)} also works with your own earlier functions: "
                f"check({missing[0]}) says where it does not."
            )
        elif missing:
            solve = [exercise for exercise in missing if exercise not in by_themselves]
            print(f"The result appears here once you have solved {_listed(solve)}.")
        return not missing

    def hint(self, exercise: object = None, *surplus: object) -> None:
        """Show the next hint for an exercise. The hints are folded in the notebook, too, above the cell to write in."""
        if isinstance(exercise, int) and not isinstance(exercise, bool) and not surplus:
            meant: int | str = exercise  # not each exercise that has hints has a check
        else:
            meant = exercise_meant("hint", self._exercises(), exercise, *surplus)
        if isinstance(meant, str):
            _tell(meant)
            return
        anchor, hints = _hints_for(meant)
        if not hints:
            print(f"No hints for exercise {meant} here. If it has any, they are above its cell.")
            return
        count = self.hints_shown[meant] = self.hints_shown[meant] % len(hints) + 1
        what_next = f"hint({meant}) shows the next one" if count < len(hints) else "This was the last one"
        place = f"[exercise {meant}](#{anchor})" if anchor else f"exercise {meant}"
        show_text(f"**Hint {count} of {len(hints)}** for {place}\n\n{hints[count - 1]}\n\n{what_next}.")

    def explain(self, exercise: object = None, *surplus: object) -> None:
        """Ask three questions about your own code, once it is right. Nothing of it is graded."""
        notebook = sys._getframe(1).f_globals
        meant = exercise_meant("explain", self._exercises(), exercise, *surplus)
        if isinstance(meant, str):
            _tell(meant)
            return
        for entry in self._of(meant):
            if self._problem(entry, notebook) is not None:
                _tell(f"explain({meant}) asks about code that is right. check({meant}) says what is missing.")
                return
        try:
            own_code = importlib.import_module(OWN_CODE)
        except ModuleNotFoundError:
            _tell(f"There are no questions here: {OWN_CODE}.py, which makes them, is not beside this notebook.")
            return
        self.rounds[meant] += 1
        for entry in self._of(meant):
            own_code.in_notebook.ask(entry.name, notebook, own_code.INPUTS, self.rounds[meant])

    def check_number(self, question: object = None, answer: object = None, *surplus: object) -> None:
        """Say whether the answer to a question is the right number. Nothing of it is graded."""
        if not isinstance(question, str) or question not in self.numbers:
            questions = ", ".join(self.numbers)
            _tell(
                f"There is no question “{question}”. This notebook has: {questions}."
                if isinstance(question, str)
                else f"check_number takes a question, in quotes, and your number. This notebook has: {questions}."
            )
            return
        if answer is None:
            print(f"Still to do: replace None with your number ({question}).")
            return
        number = number_meant(answer, *surplus)
        if isinstance(number, str):
            _tell(f"{number} ({question}).")
            return
        number_question = self.numbers[question]
        if math.isclose(number, number_question.right, rel_tol=EXACT):
            print(f"\x1b[32m✓\x1b[0m {number:,} is right ({question}).")
            return
        explanation = "Try again, or unfold the answer below."
        for wrong_number, says in number_question.wrong.items():
            if math.isclose(number, wrong_number, rel_tol=EXACT):
                explanation = says
                break
        _tell(f"✗ {number:,} is not right ({question}). {explanation}")

    def _state(self, entry: Entry, notebook: Notebook) -> str:
        """Done, wrong, or open: not written, not run, or calling what is open."""
        with redirect_stdout(io.StringIO()):  # what functions print would bury the picture
            problem = self._problem(entry, notebook)
            if problem is None or (problem.is_of_run and self._is_right_with_right_ones(entry, notebook)):
                return "done"
        return "open" if problem.is_to_do or entry.name not in notebook else "wrong"

    def _exercises(self) -> list[int]:
        return list(dict.fromkeys(entry.exercise for entry in self.entries))

    def _of(self, exercise: int) -> list[Entry]:
        return [entry for entry in self.entries if entry.exercise == exercise]

    def _first_problem(self, exercise: int, notebook: Notebook) -> Problem | None:
        return next(filter(None, (self._problem(entry, notebook) for entry in self._of(exercise))), None)

    def _is_right_by_itself(self, exercise: int, notebook: Notebook) -> bool:
        """Whether only what earlier functions return keeps an exercise from being right."""
        for entry in self._of(exercise):
            problem = self._problem(entry, notebook)
            if problem and not (problem.is_of_run and self._is_right_with_right_ones(entry, notebook)):
                return False
        return True

    def _say(self, entry: Entry, notebook: Notebook) -> None:
        """Say what there is to say about an entry."""
        problem = self._problem(entry, notebook)
        was_edited = self.cell_runs.was_edited(entry.name)
        edited = f"{NEW_LINE}You have edited its cell since: run that, then this one." if was_edited else ""
        # Only the mark is green: a green that is easy to read on white is not on black.
        right = f"Exercise {entry.exercise}: {entry.name} is right on the examples of this notebook"
        if problem is None:
            print(f"\x1b[32m✓\x1b[0m {_folded(right + '.' + edited)}")
        elif problem.is_of_run and self._is_right_with_right_ones(entry, notebook):
            with_own = f"{NEW_LINE}With yours, it is not: {problem.sentence}{self._first(entry, notebook)}"
            sentence = f"{right}, with right functions of earlier exercises in place of yours.{with_own}"
            print(f"\x1b[32m✓\x1b[0m {_folded(sentence + edited)}")
        else:
            sentence = self._explained(problem.sentence, entry, notebook) if problem.is_of_run else problem.sentence
            # On stderr, so that `nbgrader validate` counts it as not passed. Where nbgrader grades, what it finds
            # there takes all points away, and the hidden tests are to decide.
            grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
            text = _folded(f"✗ Exercise {entry.exercise}: {sentence}{edited}")
            print(text, file=sys.stdout if grading else sys.stderr)

    def _problem(self, entry: Entry, notebook: Notebook) -> Problem | None:
        student = notebook.get(entry.name)
        error = self.cell_runs.error(entry.name)
        if not callable(student):
            kind = "function" if entry.name.islower() else "class"
            no_such = f"there is no {kind} {entry.name} yet"
            if error is not None:
                return Problem(f"{no_such}. Its cell stopped with {described(error)}")
            return Problem(f"{no_such}. Run the cell that defines it; if it stops with an error, fix that first.")
        if error is not None:
            return Problem(
                f"{entry.name} is still the one from before, since its cell stopped with {described(error)}{NEW_LINE}"
                "Fix that, run its cell, then run this one again."
            )
        return self._tried(entry, student, notebook)

    def _tried(self, entry: Entry, student: Student, notebook: Notebook) -> Problem | None:
        """What is wrong on the examples."""
        loop = _endless_loop(student)
        example = None
        try:
            with time_limit(ENOUGH if loop else SECONDS):
                for example in entry.examples():
                    problem = self._problem_with(example, entry, student, notebook)
                    if problem is not None:
                        return problem
        except TookTooLong as stop:
            called = f"with {example.name}, {entry.name}" if example else entry.name
            if loop:
                return Problem(f"{called} never ends: nothing in the loop `{loop}` changes what its condition reads.")
            return Problem(_with_place(f"{called} has not ended after {SECONDS} seconds of computing", stop))
        return None

    def _problem_with(
        self, example: VisibleExample, entry: Entry, student: Student, notebook: Notebook
    ) -> Problem | None:
        try:
            with torch.random.fork_rng(devices=[]):  # the notebook's own random numbers stay as they are
                problem = example.problem(student, entry.name)
        except Exception as error:
            if is_to_do(error, entry.name):
                return Problem(self._to_do(entry, error), is_to_do=True)
            problem = self._stopped(entry, error, notebook)
        return None if problem is None else Problem(f"with {example.name}, {problem}", is_of_run=True)

    def _stopped(self, entry: Entry, error: Exception, notebook: Notebook) -> str:
        """Where code stopped with an error: in the function of this exercise, or in an earlier one that it calls."""
        earlier = {other.name: other.exercise for other in self._earlier(entry)}
        stop = stop_in(error, list(earlier), notebook)
        if stop is None:
            return f"{entry.name} stopped with {described(error)}"
        name, arguments = stop
        return f"{name} of exercise {earlier[name]} stopped with {described(error)}{arguments}"

    def _earlier(self, entry: Entry) -> list[Entry]:
        return [other for other in self.entries if other.exercise in entry.builds_on]

    def _is_right_with_right_ones(self, entry: Entry, notebook: Notebook) -> bool:
        """Whether it is right with right functions of earlier exercises, as in grading, as far as examples tell."""
        student = cast("Student", notebook[entry.name])
        functions = {
            earlier.name: by_examples(earlier.examples())
            for earlier in self._earlier(entry)
            if isinstance(notebook.get(earlier.name), FunctionType) and calls(student, earlier.name, notebook)
        }
        if not functions:
            return False
        with in_place(functions, notebook):
            return self._tried(entry, student, notebook) is None

    def _explained(self, sentence: str, entry: Entry, notebook: Notebook) -> str:
        """What is wrong, with its cause, as far as it is known."""
        student = cast("Student", notebook[entry.name])
        elsewhere = _reads(entry.name, student, notebook) + self._first(entry, notebook)
        mistakes: Sequence[str] = []
        with suppress(TookTooLong), time_limit():
            mistakes = [] if elsewhere else known_mistakes(student, entry.name, entry.examples)
        if len(mistakes) == 1:
            return f"{mistakes[0]}{NEW_LINE}{sentence[:1].upper()}{sentence[1:]}"
        if len(mistakes) == 2:
            return NEW_LINE.join([sentence, "One of these is the cause:", *(f"– {text}" for text in mistakes)])
        stuck = f"{NEW_LINE}Stuck? hint({entry.exercise}) helps." if _hints_for(entry.exercise)[1] else ""
        return sentence + (elsewhere or stuck)

    def _to_do(self, entry: Entry, error: Exception) -> str:
        """What is still to do: this entry, a method of it, or an earlier function that it calls."""
        stopped_in = traceback.extract_tb(error.__traceback__)[-1].name
        if stopped_in == "_forward_unimplemented":  # PyTorch's own stand-in
            return f"{entry.name} has no method forward. Give the class a method with exactly that name."
        if stopped_in in ("__init__", "forward"):
            method = f"{stopped_in} of {entry.name}"
            return f"still to do. Write {method} in the cell above, run it, then run this cell again."
        for earlier in self.entries:
            if earlier.name == stopped_in != entry.name:
                return f"{entry.name} calls {earlier.name}, which is still to do: see exercise {earlier.exercise}."
        return f"still to do. Write {entry.name} in the cell above, run it, then run this cell again."

    def _first(self, entry: Entry, notebook: Notebook) -> str:
        """Which earlier exercise to fix first, since a mistake there looks like one here."""
        for earlier in self._earlier(entry):
            if calls(notebook[entry.name], earlier.name, notebook):
                problem = self._problem(earlier, notebook)
                if problem is not None and not problem.is_to_do:
                    return (
                        f"{NEW_LINE}It calls {earlier.name}, so look there first: "
                        f"exercise {earlier.exercise} is not right yet."
                    )
        return ""


def _hints_for(exercise: int) -> tuple[str, Sequence[str]]:
    """Where an exercise begins, and its hints. `grader release` copies them from the notebook; source/ has none."""
    with suppress(Exception):  # the file lies where students can change it
        anchor, hints = importlib.import_module("hints").HINTS[exercise]
        return anchor, hints
    return "", ()


def _what_next(states: Sequence[tuple[Entry, str]]) -> str:
    """What is wrong comes before what is open: it may be nearly right."""
    for next_state, words in (
        ("wrong", "Next: exercise {0}. check({0}) says what is wrong with {1}."),
        ("open", "Next: exercise {0}. Write {1}, and run its cell."),
    ):
        for entry, state in states:
            if state == next_state:
                return words.format(entry.exercise, entry.name)
    return "Next: restart the kernel and run all cells. If every exercise stays done, save the notebook and hand it in."


def _reads(called: str, student: object, notebook: Notebook) -> str:
    """What is no argument, and may be otherwise where the function is used elsewhere."""
    names = numbers_read(student, notebook)
    if not names:
        return ""
    return f"{NEW_LINE}{called} reads {list_names(names)} from the notebook: use the arguments instead."


def _endless_loop(student: Student) -> str:
    """The first line of a loop that never ends once it begins, as the text shows; empty if there is no such loop."""
    with suppress(OSError, TypeError):  # nobody knows its text
        lines = textwrap.dedent(inspect.getsource(student)).splitlines()
        number = endless_loop("\n".join(lines))
        return lines[number - 1].strip() if number else ""
    return ""


def _with_place(sentence: str, stop: BaseException) -> str:
    """That something was stopped, and where it was then."""
    place = line_of(stop)
    return f"{sentence}.{NEW_LINE}It was {place}." if place else f"{sentence}."


def _listed(exercises: Sequence[int]) -> str:
    names = [str(exercise) for exercise in exercises]
    word = "exercise" if len(names) == 1 else "exercises"
    return f"{word} {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}"


def _tell(text: str) -> None:
    print(_folded(text))


def _folded(text: str) -> str:
    """Lines that fit beside Jupyter's file browser. It breaks longer ones in the middle of a word."""
    fold = textwrap.TextWrapper(WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(fold.fill, text.split("\n")))
