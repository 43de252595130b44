"""A function that writes with a model: the texts, and the state in which it leaves the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from grader.model.forms.function import Observation, observation
from grader.model.forms.parts import InParts

TEXTS = {"text", "few", "again", "other"}


class GenerationSeen(Observation, frozen=True):
    """The texts, and the state of the model; neither if an input was changed."""

    changes_input: bool
    outputs: dict[str, Any] = msgspec.field(default_factory=dict)
    train: bool = False  # in which mode the model is left
    trains: bool = False  # whether it was in training when it was called
    modules: bool = False  # whether its parts are left as they were
    frozen: bool = False  # whether a parameter is left frozen
    keeps: bool = False  # whether gradients were kept
    left_off: bool = False  # whether they are left switched off

    def __post_init__(self) -> None:
        if not self.changes_input and self.outputs.keys() != TEXTS:
            raise ValueError("texts are missing, or there are others")


class Generation(InParts):
    """Texts: greedy ones are compared, others read by their distribution."""

    name = "generation"
    lendable = False

    def observed(self, value: Any) -> GenerationSeen:
        """Four texts of any kind, and truth values; or that an input was changed."""
        return observation(value, GenerationSeen)

    def rules_broken(self, answer: object) -> Mapping[str, str]:
        """All sentences from reading the answer: each is about something different."""
        if not isinstance(answer, dict):
            return {}
        sentences = {name: part for name, part in answer.items() if name != "tokens" and isinstance(part, str)}
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def result(self, answer: object) -> Any:
        """The tokens written."""
        return answer.get("tokens") if isinstance(answer, dict) else answer


GENERATION = Generation()
