"""What the visible checks of all notebooks share: try the student's functions and classes on a few known examples.

The examples themselves are in checks.py beside each notebook. Nothing here is secret. `grader release` puts this file
beside each notebook whose checks.py imports it, with those it imports: they need nothing else but torch.
"""

from __future__ import annotations

import importlib
import io
import math
import os
import sys
import textwrap
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from typing import NamedTuple, TypeAlias

import torch

from diagnosis import calls, numbers_read
from recognizing import known_mistakes
from showing import progress, show_text
from visible_examples import (
    NEW_LINE,
    TOLERANCE,
    Example,
    FiniteGradients,
    InDouble,
    ModuleExample,
    PieceExample,
    Refusal,
    Several,
    Student,
    described,
    is_to_do,
    some,
)

__all__ = [
    "TOLERANCE",
    "Checks",
    "Entry",
    "Example",
    "FiniteGradients",
    "InDouble",
    "ModuleExample",
    "Number",
    "PieceExample",
    "Refusal",
    "Several",
]

Notebook: TypeAlias = dict[str, object]  # its variables

WIDTH = 88
EXACT = 1e-6  # as a part of a counted number


class Problem(NamedTuple):
    """What is wrong with an entry, in words."""

    said: str
    is_to_do: bool = False  # it, or what it calls, is not written yet


class Entry(NamedTuple):
    """A function or class that an exercise asks for, and the examples to try it on."""

    exercise: int
    name: str
    examples: Callable[[], Sequence[Example | PieceExample | FiniteGradients | ModuleExample | Refusal | Several]]
    builds_on: tuple[int, ...] = ()  # the earlier exercises whose functions it may call


class Number(NamedTuple):
    """A question whose answer is a number, and what to say to some wrong ones. It is worth no points."""

    question: str
    right: float
    wrong: Mapping[float, str] = {}


class Checks:
    """check, check_number, hint and solved, for the entries of one notebook."""

    def __init__(self, *entries: Entry | Number) -> None:
        self.entries = [one for one in entries if isinstance(one, Entry)]
        self.numbers = {one.question: one for one in entries if isinstance(one, Number)}
        self.hints_shown: Counter[int] = Counter()

    def check(self, exercise: int | None = None) -> None:
        """Say in one line that an exercise is right, or in a few lines what is wrong with it. Without one: progress."""
        notebook = sys._getframe(1).f_globals
        if exercise is None:
            states = [(entry, self._state(entry, notebook)) for entry in self.entries]
            progress([(entry.exercise, state) for entry, state in states], _what_next(states)).show()
            return
        for entry in self._of(exercise):
            problem = self._problem(entry, notebook, in_full=True)
            if problem is None:
                # Only the mark is green: a green that is easy to read on white is not on black.
                print(f"\x1b[32m✓\x1b[0m Exercise {exercise}: {entry.name} is right on the examples of this notebook.")
            else:
                # On stderr, so that `nbgrader validate` counts it as not passed. Where nbgrader grades, what it finds
                # there takes all points away, and the hidden tests are to decide.
                grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
                print(_folded(f"✗ Exercise {exercise}: {problem.said}"), file=sys.stdout if grading else sys.stderr)

    def solved(self, *exercises: int) -> bool:
        """Whether these exercises pass their checks; if not, say what the next plot waits for."""
        notebook = sys._getframe(1).f_globals
        missing = [str(exercise) for exercise in exercises if not self._is_right(exercise, notebook)]
        if missing:
            word = "exercise" if len(missing) == 1 else "exercises"
            names = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
            print(f"The result appears here once you have solved {word} {names}.")
        return not missing

    def hint(self, exercise: int) -> None:
        """Show the next hint for an exercise. The hints are folded in the notebook, too, above the cell to write in."""
        anchor, hints = _hints_for(exercise)
        if not hints:
            print(f"No hints for exercise {exercise} here. If it has any, they are above its cell.")
            return
        count = self.hints_shown[exercise] = self.hints_shown[exercise] % len(hints) + 1
        more = f"hint({exercise}) shows the next one" if count < len(hints) else "This was the last one"
        place = f"[exercise {exercise}](#{anchor})" if anchor else f"exercise {exercise}"
        show_text(f"**Hint {count} of {len(hints)}** for {place}\n\n{hints[count - 1]}\n\n{more}.")

    def check_number(self, question: str, number: float | None) -> None:
        """Say whether the answer to a question is the right number. Nothing of it is graded."""
        if question not in self.numbers:
            print(f"There is no question “{question}”. This notebook has: {', '.join(self.numbers)}.")
            return
        if number is None:
            print(f"Still to do: replace None with your number ({question}).")
            return
        asked = self.numbers[question]
        if math.isclose(number, asked.right, rel_tol=EXACT):
            print(f"\x1b[32m✓\x1b[0m {number:,} is right ({question}).")
            return
        known = (says for wrong, says in asked.wrong.items() if math.isclose(number, wrong, rel_tol=EXACT))
        said = next(known, "Try again, or unfold the answer below.")
        print(_folded(f"✗ {number:,} is not right ({question}). {said}"))

    def _state(self, entry: Entry, notebook: Notebook) -> str:
        """Done, wrong, or open: not written, not run, or calling what is open."""
        with redirect_stdout(io.StringIO()):  # what functions print would bury the picture
            problem = self._problem(entry, notebook)
        if problem is None:
            return "done"
        return "open" if problem.is_to_do or entry.name not in notebook else "wrong"

    def _of(self, exercise: int) -> list[Entry]:
        return [entry for entry in self.entries if entry.exercise == exercise]

    def _is_right(self, exercise: int, notebook: Notebook) -> bool:
        return all(self._problem(entry, notebook) is None for entry in self._of(exercise))

    def _problem(self, entry: Entry, notebook: Notebook, *, in_full: bool = False) -> Problem | None:
        student = notebook.get(entry.name)
        if not callable(student):
            kind = "function" if entry.name.islower() else "class"
            advice = "Run the cell that defines it; if it stops with an error, fix that first."
            return Problem(f"there is no {kind} {entry.name} yet. {advice}")
        for example in entry.examples():
            try:
                with torch.random.fork_rng(devices=[]):  # the notebook's own random numbers stay as they are
                    problem = example.problem(student, entry.name)
            except Exception as error:
                if is_to_do(error, entry.name):
                    return Problem(self._to_do(entry, error), is_to_do=True)
                problem = f"{entry.name} stopped with {described(error)}"
            if problem is not None:
                said = f"with {example.name}, {problem}"
                return Problem(self._explained(said, entry, student, notebook) if in_full else said)
        return None

    def _explained(self, said: str, entry: Entry, student: Student, notebook: Notebook) -> str:
        """What is wrong, with its cause, as far as it is known."""
        elsewhere = _reads(entry.name, student, notebook) + self._first(entry, student, notebook)
        mistakes = [] if elsewhere else known_mistakes(student, entry.name, entry.examples)
        if len(mistakes) == 1:
            return f"{mistakes[0]}{NEW_LINE}{said[:1].upper()}{said[1:]}"
        if len(mistakes) == 2:
            return f"{said}{NEW_LINE}One of these is the cause:" + "".join(f"{NEW_LINE}– {text}" for text in mistakes)
        stuck = f"{NEW_LINE}Stuck? hint({entry.exercise}) helps." if _hints_for(entry.exercise)[1] else ""
        return said + (elsewhere or stuck)

    def _to_do(self, entry: Entry, error: Exception) -> str:
        """What is still to do: this entry, a method of it, or an earlier function that it calls."""
        stopped_in = traceback.extract_tb(error.__traceback__)[-1].name
        if stopped_in == "_forward_unimplemented":  # PyTorch's own stand-in
            return f"{entry.name} has no method forward. Give the class a method with exactly that name."
        if stopped_in in ("__init__", "forward"):
            what = f"{stopped_in} of {entry.name}"
            return f"still to do. Write {what} in the cell above, run it, then run this cell again."
        for earlier in self.entries:
            if earlier.name == stopped_in != entry.name:
                return f"{entry.name} calls {earlier.name}, which is still to do: see exercise {earlier.exercise}."
        return f"still to do. Write {entry.name} in the cell above, run it, then run this cell again."

    def _first(self, entry: Entry, student: object, notebook: Notebook) -> str:
        """which earlier exercise to fix first, since a mistake there looks like one here."""
        for earlier in self.entries:
            if earlier.exercise in entry.builds_on and calls(student, earlier.name, notebook):
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
    for wanted, words in (
        ("wrong", "Next: exercise {0}. check({0}) says what is wrong with {1}."),
        ("open", "Next: exercise {0}. Write {1}, and run its cell."),
    ):
        for entry, state in states:
            if state == wanted:
                return words.format(entry.exercise, entry.name)
    return "Next: restart the kernel and run all cells. If every exercise stays done, save the notebook and hand it in."


def _reads(called: str, student: object, notebook: Notebook) -> str:
    """What is no argument, and may be otherwise where the function is used elsewhere."""
    names = numbers_read(student, notebook)
    if not names:
        return ""
    return f"{NEW_LINE}{called} reads {some(names)} from the notebook: use the arguments instead."


def _folded(text: str) -> str:
    """Lines that fit beside Jupyter's file browser. It breaks longer ones in the middle of a word."""
    fold = textwrap.TextWrapper(WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(fold.fill, text.split("\n")))
