"""A version of a student's definitions: with one edit, or as they are."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from grader.facts.student_text import StudentText
from grader.model.edited import EditedSource
from grader.model.located import Located
from grader.repair.edit_rules import Edit
from grader.repair.edit_words import FITTED

SHARE = 2 / 3  # of a function, that a small change leaves as it is


@dataclass(frozen=True)
class Version:
    """The definitions with an edit. A number that it brings in has a value for each case."""

    original: StudentText
    edit: Edit | None = None
    fitting: Sequence[float] = ()

    @property
    def located(self) -> tuple[Located, ...]:
        """The student's lines that are edited, each once, and what the edit is about."""
        if self.edit is None:
            return ()
        lines = [self.original.line(number).strip() for number in self.edit.lines]
        return tuple(Located(line, self.edit.change) for line in dict.fromkeys(lines) if line)

    @cached_property
    def source(self) -> str:
        return self.original.with_splices(*self.edit.splices) if self.edit else self.original.source

    def in_case(self, index: int) -> EditedSource:
        return EditedSource(self.source, {FITTED: self.fitting[index]} if self.fitting else {})

    def is_mostly_original(self, entry: str) -> bool:
        """Whether two thirds of a function or class, in words and signs, are the student's own."""
        before, after = _words_of(self.original, entry), _words_of(StudentText(self.source), entry)
        matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
        return sum(block.size for block in matches) >= SHARE * len(after)


def _words_of(text: StudentText, entry: str) -> list[str]:
    """The words and signs of the definition `entry`, without comments and layout."""
    definition = next((node for node in text.tree.body if getattr(node, "name", "") == entry), None)
    source = ast.unparse(definition) if definition else ""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.string.strip()]


def steps_in(tree: ast.Module) -> int:
    """The number of operations and calls."""
    return sum(isinstance(node, ast.BinOp | ast.Call | ast.Compare) for node in ast.walk(tree))
