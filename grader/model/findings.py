"""What can be wrong with the answer to one case, not yet in words."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model.answer import Answer, Lost, Missing, Raised, Returned
from grader.model.compare import Difference, Kind
from grader.sandbox.nested import leaves
from grader.sandbox.values import Unusable


@dataclass(frozen=True)
class Failed:
    """Nothing came back."""

    answer: Raised | Lost | Missing


@dataclass(frozen=True)
class Unreadable:
    """Something came back that is not an answer."""

    reason: str


@dataclass(frozen=True)
class NothingReturned:
    """The function ended without a return statement."""


@dataclass(frozen=True)
class Differs:
    """Numbers or their form differ: of the answer, or of a part of it."""

    difference: Difference
    part: str = ""
    name: str = ""  # of what differs, in this part
    whole: bool = False  # whole numbers that are labels: how far apart they are means nothing


@dataclass(frozen=True)
class Broken:
    """A rule is broken; reading the answer made a sentence on it."""

    part: str
    sentence: str


Finding = Failed | Unreadable | NothingReturned | Differs | Broken


def part_of(finding: Finding) -> str:
    """The part of an answer that is wrong; empty if the whole is."""
    return finding.part if isinstance(finding, Differs | Broken) else ""


def found_unusable(answer: Answer) -> Finding | None:
    """What is wrong with an answer that has nothing to compare."""
    if not isinstance(answer, Returned):
        return Failed(answer)
    unusable = first_unusable(answer.value)
    if unusable is not None:
        return Unreadable(unusable.reason)
    return NothingReturned() if answer.value is None else None


def first_unusable(value: object) -> Unusable | None:
    """The first part of a value that is not an answer."""
    return next((leaf for leaf in leaves(value) if isinstance(leaf, Unusable)), None)


def is_of_another_form(finding: Finding) -> bool:
    """Whether the answer as a whole has the wrong form."""
    if not isinstance(finding, Differs) or finding.part:
        return False
    return finding.difference.kind in (Kind.TYPE, Kind.COMPLEX, Kind.LENGTH)
