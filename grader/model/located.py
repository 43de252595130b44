"""A line with a mistake, by proof: with a small change there, all answers are right."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model.change import Change
from grader.model.untrusted import Text


@dataclass(frozen=True)
class Located:
    """The line as the student wrote it, and what is wrong there."""

    line: Text  # as the student wrote it
    change: Change  # what has to change there
