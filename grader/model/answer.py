"""The answers of a sandbox to one case, and the ways to lose it instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from grader.model.untrusted import Number


class Loss(StrEnum):
    """The ways to lose a sandbox."""

    TIME = "time"  # it computed for longer than a cell or a case may
    ENDLESS = "endless"  # it is in a loop that never ends, as its text shows
    WAITING = "waiting"  # it hardly computed, yet never finished
    IDLE = "idle"  # all of the notebook had waited for longer than it may without computing
    NOTEBOOK = "notebook"  # the notebook as a whole took too long, and was stopped during this
    NOT_RUN = "not run"  # the same, before this began
    DEATH = "death"  # the process ended, or memory did
    MEMORY = "memory"  # the case needs more than it may take
    DEVICE = "device"  # the process can no longer use the GPU
    BYTES = "bytes"  # of files
    FILES = "files"  # too many of them
    DEPTH = "depth"  # of folders in folders
    CLOSED = "closed"  # folders nobody can open
    THREADS = "threads"  # too many of them
    CALLS = "calls"  # of other functions
    FORGED = "forged"  # what it sent is not an answer

    @property
    def is_timeout(self) -> bool:
        return self in (Loss.TIME, Loss.ENDLESS, Loss.WAITING, Loss.IDLE, Loss.NOTEBOOK, Loss.NOT_RUN)


class Unchanged(Enum):
    """A marker for inputs that were not changed."""

    INPUTS = "inputs"


UNCHANGED = Unchanged.INPUTS


class Symptom(StrEnum):
    """What an error or a wrong result looks like, for advice on where to look."""

    NAME = "name"  # one is not defined
    SYNTAX = "syntax"  # it is not Python
    KIND = "kind"  # a number where a tensor should be, and the like
    DTYPE = "dtype"  # numbers of another type are needed
    SIZE = "size"  # shapes do not fit
    NOTHING = "nothing"  # None came back
    NAN = "nan"  # NaN came back


_OF_ERRORS = {
    **dict.fromkeys(("NameError", "UnboundLocalError"), Symptom.NAME),
    **dict.fromkeys(("SyntaxError", "IndentationError", "TabError"), Symptom.SYNTAX),
    **dict.fromkeys(("TypeError", "AttributeError"), Symptom.KIND),
    **dict.fromkeys(("RuntimeError", "IndexError", "ValueError"), Symptom.SIZE),
}


def symptom_of(error: str, message: str = "") -> Symptom | None:
    """The symptom that an error of this type is."""
    symptom = _OF_ERRORS.get(error)
    is_about_types = symptom in (None, Symptom.SIZE) and ("dtype" in message or "scalar type" in message)
    return Symptom.DTYPE if is_about_types else symptom


@dataclass(frozen=True)
class Returned:
    """The function returned a value."""

    value: Any
    inputs_after: Any  # the inputs as the function left them, or UNCHANGED
    devices: frozenset[str] = frozenset()  # where the tensors of the value were


@dataclass(frozen=True)
class Raised:
    """The function ended with an error."""

    type: str
    message: str = ""
    line: str = ""  # the line of the notebook where it happened
    function: str = ""  # the function that this line is in, with its class
    exceeds_standin: bool = False  # a right function, lent in place of the student's own, was given too much

    @property
    def is_to_do(self) -> bool:
        """Whether this is the handed-out error. PyTorch's own of this type say what is not implemented."""
        return self.type == "NotImplementedError" and not self.message


def answered(compute: Callable[[], Any], inputs: Sequence[Any]) -> Returned | Raised:
    """The answer of code that runs here and leaves its inputs unchanged."""
    try:
        return Returned(compute(), list(inputs))
    except Exception as error:  # some mistakes cannot be computed for some sizes
        return Raised(type(error).__name__)


@dataclass(frozen=True)
class Lost:
    """No answer: the code ran too long, the process died, or it took too much of something."""

    loss: Loss  # in which way
    limit: Number = 0.0  # what was exceeded: seconds, megabytes, files, folders or threads


@dataclass(frozen=True)
class Missing:
    """There is no such function, perhaps because the cell that should define it failed."""

    because: str = ""
    lost: Lost | None = None  # if that cell was stopped
    error: str = ""  # the type of error that ended that cell


Answer = Returned | Raised | Missing | Lost


def sentence_of(lost: Lost) -> str:
    """The sentence on a loss that students read."""
    return _SENTENCES[lost.loss](lost.limit)


def _seconds(amount: float) -> str:
    whole = max(1, round(amount))
    return f"{whole} second{'' if whole == 1 else 's'}"


def not_run(subject: str, waited: float) -> str:
    """Why nothing was run: the notebook had waited for more than so many seconds, or else computed for too long."""
    reason = f"Your notebook waited, without computing, for more than {_seconds(waited)} in all"
    return f"{reason if waited else 'The notebook took too long in total'}, so {subject} was not run."


_SENTENCES: dict[Loss, Callable[[float], str]] = {
    Loss.TIME: lambda limit: (
        f"Your code ran for more than {_seconds(limit)} and was stopped. Is there an endless loop?"
    ),
    Loss.ENDLESS: lambda line: (
        f"Your `while` loop in line {line:.0f} of its cell never ends: "
        "nothing in the loop changes what its condition reads."
    ),
    Loss.WAITING: lambda limit: (
        f"Your code had not finished after {_seconds(limit)} and was stopped. "
        "Does it sleep, or wait for something that never comes?"
    ),
    Loss.IDLE: lambda limit: (
        f"Your notebook waited, without computing, for more than {_seconds(limit)} in all, so your code was stopped. "
        "Does it sleep, or wait for something that never comes?"
    ),
    Loss.NOTEBOOK: lambda _: "The notebook took too long in total, so your code was stopped.",
    Loss.NOT_RUN: lambda waited: not_run("this exercise", waited),
    Loss.DEATH: lambda _: "Your code ended the Python process, or used too much memory.",
    Loss.MEMORY: lambda limit: f"Your code needs more than {limit:.0f} MB of memory. It has to work with less.",
    Loss.DEVICE: lambda _: (
        "Your code made the GPU fail, as an index out of range does. "
        "Run it on the CPU: there, the error shows the line."
    ),
    Loss.BYTES: lambda limit: f"Your code wrote more than {limit:.0f} MB of files.",
    Loss.FILES: lambda limit: f"Your code made more than {limit:.0f} files.",
    Loss.DEPTH: lambda limit: f"Your code made folders inside folders, more than {limit:.0f} deep.",
    Loss.CLOSED: lambda _: "Your code made folders that cannot be opened.",
    Loss.THREADS: lambda limit: f"Your code started more than {limit:.0f} threads.",
    Loss.CALLS: lambda _: "Your code called other functions far too often.",
    Loss.FORGED: lambda _: "Your code sent something that is not an answer.",
}
