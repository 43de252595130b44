"""A student's definitions with small changes, to be put to a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.model.answer import Answer
from grader.model.exercise import SampledCase


@dataclass(frozen=True)
class EditedSource:
    """The definitions, and numbers for names that the change has brought in."""

    source: str
    lent: Mapping[str, float] = field(default_factory=dict)


# Puts a case to versions of the student's definitions.
AskEdited = Callable[[Sequence[EditedSource], SampledCase], list[Answer]]
