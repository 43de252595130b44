"""Answers read in parts, by name: sentences (empty if all is well), tensors, or dicts of named tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from grader.model.compare import Difference, difference, paired_numbers
from grader.model.findings import Broken, Differs, Finding
from grader.model.forms.function import Form

IN_PART = "output with the parameters that fit"  # of a module that lacks some: no reference has this


def named(answer: object, name: str) -> Any:
    """What an answer has under this name; None if it has nothing."""
    return answer.get(name) if isinstance(answer, dict) else None


def first_output(answer: object) -> Any:
    """What the first call of a student's class returned."""
    return named(named(answer, "output"), "output")


class InParts(Form):
    """An answer whose parts are compared, one after the other."""

    def returned_nothing(self, seen: Any) -> bool:
        """Whether at least one call returned None."""
        outputs = getattr(seen, "outputs", None) or {}
        return any(output is None for output in outputs.values())

    def finding(self, got: Any, want: Any, tolerance: float) -> Finding | None:
        """The first part with a difference, in the order of the parts."""
        for part, wanted in want.items():
            given = named(got, part)
            found = _finding(part, given, wanted, tolerance)
            if found:
                return found
        return None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether all parts of an answer are a misconception's."""
        return isinstance(answer, dict) and all(
            self._agrees_in_part(answer.get(part), value, expected.get(part), tolerance)
            for part, value in wrong.items()
            if part != IN_PART
        )

    def _agrees_in_part(self, answer: object, wrong: object, expected: object, tolerance: float) -> bool:
        if isinstance(wrong, str) or isinstance(answer, str):
            return bool(answer == wrong)
        if isinstance(wrong, dict):
            answer, expected = (part if isinstance(part, dict) else {} for part in (answer, expected))
            wrong, answer, expected = (list(map(part.get, wrong)) for part in (wrong, answer, expected))
        return super().agrees(answer, wrong, expected, tolerance)

    def result(self, answer: object) -> Any:
        """The part called output."""
        return answer.get("output") if isinstance(answer, dict) else answer

    def paired_numbers(self, got: Any, want: Any) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All numbers of the output with the expected ones."""
        if "output" not in want:
            return []
        got = named(got, "output")
        return paired_numbers(
            *(list(part.values()) if isinstance(part, dict) else part for part in (got, want["output"]))
        )


def _finding(part: str, given: object, wanted: object, tolerance: float) -> Finding | None:
    """What is wrong with a sentence, a tensor, or tensors by name, which share one scale for errors."""
    if isinstance(given, str) or isinstance(wanted, str):
        if given == wanted:
            return None
        return Broken(part, given if isinstance(given, str) and given else f"The {part} cannot be compared.")
    if not isinstance(wanted, dict):
        found = difference(given, wanted, tolerance)
        whole = isinstance(wanted, torch.Tensor) and not wanted.is_floating_point()
        return Differs(found, part, part, whole) if found else None
    values = [named(given, name) for name in wanted]
    found = difference(values, list(wanted.values()), tolerance)
    return _of_named(part, list(wanted), found) if found else None


def _of_named(part: str, names: list[str], found: Difference) -> Differs:
    """A difference, with the name of the tensor."""
    if not found.where:
        return Differs(found, part, part)
    index, *where = found.where
    return Differs(replace(found, where=tuple(where)), part, names[index])
