"""A plain class, such as `Account`: what the methods of its objects return or raise is compared, call by call."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from grader.model.findings import Broken, Differs, Finding, Unreadable
from grader.model.forms.function import Function
from grader.sandbox.forms.objects import MAKING, Note, Step

SHARED = (
    "The first object of your class is right, but a second one, made and used in the same way, is not. Keep what "
    "belongs to one object in `self`, and not in the class, in a default value or in a global variable."
)


def using(arguments: Sequence[Any], *steps: Step) -> tuple[Sequence[Any], list[Step]]:
    """The inputs of a case: arguments of the constructor, and what is done with the object.

    A step is a call, such as `("deposit", 50)`, or the name of an attribute. A call may raise an error that is asked
    for: code is then right if it raises the same one. A second object gets the same arguments and calls.
    """
    return arguments, list(steps)


class Objects(Function):
    """A class whose objects are made and used."""

    name = "objects"
    noun = "class"
    lendable = False

    def is_handed_out(self, function: str, entry: str) -> bool:
        """Whether this is a method of the class: all may be handed out empty."""
        return function.startswith(f"{entry}.")

    def finding(self, actual: Any, expected: Any, tolerance: float) -> Finding | None:
        """What is wrong with the first step that differs."""
        if not _are_notes(actual) or not _are_notes(expected):  # the judge also asks about arguments
            return Unreadable("something that cannot be read")
        first, second = (self._first_wrong(*notes, tolerance) for notes in zip(actual, expected, strict=True))
        return first or (Broken("", SHARED) if second else None)

    def failing_steps(self, answers: Sequence[Sequence[Sequence[Note]]]) -> Mapping[str, str]:
        notes = [note for objects in answers for note in itertools.chain(*objects)]
        successful = {note["step"] for note in notes if "raises" not in note}
        failed = {note["step"]: _word(note["raises"]) for note in notes if "raises" in note}
        return {step: error for step, error in failed.items() if step not in successful}

    def _first_wrong(self, notes: Sequence[Note], expected_notes: Sequence[Note], tolerance: float) -> Finding | None:
        for note, expected in itertools.zip_longest(notes, expected_notes):
            if note is None or expected is None:  # only one of the two could be made, which its first step says
                return None
            finding = self._wrong_step(note, expected, tolerance)
            if finding:
                return finding
        return None

    def _wrong_step(self, note: Note, expected: Note, tolerance: float) -> Finding | None:
        if "raises" in expected:
            error_name = expected["raises"][0]
            wrong = error_name not in note.get("raises", ())
            return Broken("", f"{_called(expected)} should raise {error_name}, {_instead(note)}.") if wrong else None
        if "raises" in note:
            return Broken("", f"{_called(expected)} raises {_word(note['raises'])}, where it should not.")
        if "itself" in expected or "itself" in note:
            if expected.keys() == note.keys():
                return None
            return Broken("", f"{_called(expected)} should {'' if 'itself' in expected else 'not '}return `self`.")
        finding = super().finding(note["value"], expected["value"], tolerance)
        if isinstance(finding, Differs):
            return Differs(finding.difference, expected["step"], f"result of `{expected['step']}`")
        return finding


OBJECTS = Objects()


def _called(note: Note) -> str:
    return "Making an object" if note["step"] == MAKING else f"`{note['step']}`"


def _instead(note: Note) -> str:
    return f"and raises {_word(note['raises'])} instead" if "raises" in note else "and does not"


def _word(names: Sequence[str]) -> str:
    """The name of an error, which may be the student's own."""
    return names[0] if names[0].isidentifier() and len(names[0]) <= 60 else "an error"


def _are_notes(value: object) -> bool:
    """Whether these are the notes that our code in the sandbox makes of two objects."""
    return isinstance(value, list) and len(value) == 2 and all(map(_are_of_steps, value))


def _are_of_steps(notes: object) -> bool:
    return isinstance(notes, list) and all(map(_is_note, notes))


def _is_note(note: object) -> bool:
    match note:
        case {"step": str(), "raises": [*names], **rest} if not rest:
            return bool(names) and all(isinstance(name, str) for name in names)
        case {"step": str(), "itself": True, **rest} | {"step": str(), "value": _, **rest} if not rest:
            return True
    return False
