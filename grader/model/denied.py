"""The calls that a submission tried, and was denied."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.model.untrusted import Text
from grader.sandbox.plain_text import one_line


class Tried(StrEnum):
    """The kinds of calls that are denied."""

    READ = "read"
    WRITE = "write"
    ATTRIBUTES = "attributes"
    NETWORK = "network"
    PROGRAM = "program"
    SIGNAL = "signal"


@dataclass(frozen=True)
class DeniedCall:
    """One call that was denied."""

    kind: Tried
    detail: Text = ""  # text of the student's choice

    @property
    def for_instructor(self) -> str:
        """The call with its detail, to follow "tried to"."""
        return _IN_FULL[self.kind].format(one_line(self.detail)).replace(" ()", "")


def for_student(kind: Tried) -> str:
    """The kind alone, to follow "tried to": words of the student's choice could leak what the code was asked."""
    return _KINDS[kind]


_IN_FULL = {
    Tried.READ: "read {}",
    Tried.WRITE: "write {}",
    Tried.ATTRIBUTES: "change the mode, owner or time of {}",
    Tried.NETWORK: "use the network ({})",
    Tried.PROGRAM: "start another program ({})",
    Tried.SIGNAL: "send a signal to another process ({})",
}
_KINDS = {
    Tried.READ: "read a file that is neither its own nor a library's",
    Tried.WRITE: "write a file outside of its own folder",
    Tried.ATTRIBUTES: "change the mode, owner or time of a file",
    Tried.NETWORK: "use the network",
    Tried.PROGRAM: "start another program",
    Tried.SIGNAL: "send a signal to another process",
}
