"""What a submission tried and was not allowed to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.model import untrusted
from grader.sandbox.plain_text import one_line


class Tried(StrEnum):
    """What a submission can try: the kinds of calls that are denied."""

    READ = "read"
    WRITE = "write"
    ATTRIBUTES = "attributes"
    NETWORK = "network"
    PROGRAM = "program"
    SIGNAL = "signal"
    SYSTEM = "system"


@dataclass(frozen=True)
class DeniedCall:
    """One try that was denied."""

    kind: Tried
    detail: str = ""  # text of the student's choice

    @classmethod
    def from_json(cls, data: object) -> DeniedCall | None:
        """What was written as JSON, and perhaps changed by somebody since."""
        if not untrusted.is_object(data) or data.get("kind") not in list(Tried):
            return None
        return cls(Tried(str(data["kind"])), one_line(data.get("detail", "")))

    @property
    def for_instructor(self) -> str:
        """With what it was about, to follow "tried to"."""
        return _IN_FULL[self.kind].format(self.detail).replace(" ()", "")


def for_student(kind: Tried) -> str:
    """The kind alone, to follow "tried to": what a student's page says is not of the student's choice, or it would be
    a way to bring out what the code was asked."""
    return _KINDS[kind]


_IN_FULL = {
    Tried.READ: "read {}",
    Tried.WRITE: "write {}",
    Tried.ATTRIBUTES: "change the mode, owner or time of {}",
    Tried.NETWORK: "use the network ({})",
    Tried.PROGRAM: "start another program ({})",
    Tried.SIGNAL: "send a signal to another process ({})",
    Tried.SYSTEM: "change the system or look into other processes ({})",
}
_KINDS = {
    Tried.READ: "read a file that is neither its own nor a library's",
    Tried.WRITE: "write a file outside of its own folder",
    Tried.ATTRIBUTES: "change the mode, owner or time of a file",
    Tried.NETWORK: "use the network",
    Tried.PROGRAM: "start another program",
    Tried.SIGNAL: "send a signal to another process",
    Tried.SYSTEM: "change the system or look into other processes",
}
