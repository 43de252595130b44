"""A student's definitions with small changes, to try on a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.model.answer import Answer
from grader.model.exercise import SampledCase


@dataclass(frozen=True)
class EditedSource:
    """Changed definitions, and numbers for names that the change adds."""

    source: str
    lent: Mapping[str, float] = field(default_factory=dict)


# Puts a case to versions of the student's definitions.
AskEdited = Callable[[Sequence[EditedSource], SampledCase], list[Answer]]
