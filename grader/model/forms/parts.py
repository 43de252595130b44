"""Answers read in parts, by name: sentences (empty if all is well), tensors, or dicts of named tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from grader.model.compare import Difference, difference, paired_numbers
from grader.model.findings import Broken, Differs, Finding
from grader.model.forms.function import Form, Observation, observation

IN_PART = "output with the parameters that fit"  # of a module that lacks some: no reference has this


def named(answer: object, name: str) -> Any:
    """What an answer has under this name; None if it has nothing."""
    return answer.get(name) if isinstance(answer, dict) else None


def first_output(answer: object) -> Any:
    """What the first call of a student's class returned."""
    return named(named(answer, "output"), "output")


class InParts(Form):
    """What `read` makes of an answer: sentences and tensors by name, which are compared one after the other.

    `observation_class` has the fields of what the exercise's probe returns.
    """

    name = "parts"

    def __init__(self, observation_class: type[Observation] | None = None) -> None:
        self._observation_class = observation_class

    def observed(self, value: Any) -> Any:
        """What a probe has seen; raises Malformed if it is forged."""
        return observation(value, self._observation_class) if self._observation_class else value

    def returned_nothing(self, observation: Any) -> bool:
        """Whether at least one call returned None."""
        outputs = getattr(observation, "outputs", None) or {}
        return any(output is None for output in outputs.values())

    def finding(self, actual: Any, expected: Any, tolerance: float) -> Finding | None:
        """The first part with a difference, in the order of the parts."""
        for part, expected_value in expected.items():
            finding = _finding_in_part(part, named(actual, part), expected_value, tolerance)
            if finding:
                return finding
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
            names = list(wrong)
            wrong, answer, expected = (_values_of(names, value) for value in (wrong, answer, expected))
        return super().agrees(answer, wrong, expected, tolerance)

    def result(self, answer: object) -> Any:
        """The part called output."""
        return answer.get("output") if isinstance(answer, dict) else answer

    def paired_numbers(self, actual: Any, expected: Any) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All numbers of the output with the expected ones."""
        if "output" not in expected:
            return []
        return paired_numbers(_without_names(named(actual, "output")), _without_names(expected["output"]))


PARTS = InParts()


def _without_names(value: object) -> object:
    return list(value.values()) if isinstance(value, dict) else value


def _values_of(names: list[str], value: object) -> list[Any]:
    return [named(value, name) for name in names]


def _finding_in_part(part: str, actual: object, expected: object, tolerance: float) -> Finding | None:
    """What is wrong with a sentence, a tensor, or tensors by name, which share one scale for errors."""
    if isinstance(actual, str) or isinstance(expected, str):
        if actual == expected:
            return None
        return Broken(part, actual if isinstance(actual, str) and actual else f"The {part} cannot be compared.")
    if not isinstance(expected, dict):
        wrong = difference(actual, expected, tolerance)
        whole = isinstance(expected, torch.Tensor) and not expected.is_floating_point()
        return Differs(wrong, part, part, whole) if wrong else None
    names = list(expected)
    wrong = difference(_values_of(names, actual), list(expected.values()), tolerance)
    return _with_name(part, names, wrong) if wrong else None


def _with_name(part: str, names: list[str], difference: Difference) -> Differs:
    """A difference, with the name of the tensor."""
    if not difference.path:
        return Differs(difference, part, part)
    index, *path = difference.path
    return Differs(replace(difference, path=tuple(path)), part, names[index])
