"""What a sandbox can reply to one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Returned:
    """The function returned a value."""

    value: Any
    inputs_after: Any  # the inputs as the function left them
    devices: frozenset[str] = frozenset()  # where the tensors of the value were


@dataclass(frozen=True)
class Raised:
    """The function ended with an error."""

    type: str
    message: str = ""
    line: str = ""  # the line of the notebook where it happened
    function: str = ""  # the function that this line is in


@dataclass(frozen=True)
class Missing:
    """There is no such function, perhaps because the cell that should define it failed."""

    because: str = ""


@dataclass(frozen=True)
class Lost:
    """No answer: the code ran too long, or the process died."""

    reason: str


Answer = Returned | Raised | Missing | Lost
