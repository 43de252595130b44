"""A function that writes with a model: the texts, and in what state the model is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model.forms.function import Malformed
from grader.model.forms.parts import InParts


@dataclass(frozen=True)
class GenerationSeen:
    """What was written, and how the model was left; nothing of that where an input was changed."""

    changes_input: bool
    outputs: Mapping[str, Any] = field(default_factory=dict)
    train: bool = False  # in which mode the model is left
    trains: bool = False  # whether it was in training when it was called
    modules: bool = False  # whether its parts are left as they were
    frozen: bool = False  # whether a parameter is left frozen
    keeps: bool = False  # whether gradients were kept
    left_off: bool = False  # whether they are switched off behind it


NOTED = {"train", "trains", "modules", "frozen", "keeps", "left_off"}


class Generation(InParts):
    """Texts, of which greedy ones are compared, and others read by their distribution."""

    name = "generation"
    lendable = False

    def observed(self, value: Any) -> GenerationSeen:
        """Four texts, of whatever kind, and truth values; or that an input was changed."""
        match value:
            case {"changes_input": True, **more} if not more:
                return GenerationSeen(True)
            case {"changes_input": False, "outputs": {"text": _, "few": _, "again": _, "other": _, **others}, **more}:
                if not others and more.keys() == NOTED and all(isinstance(one, bool) for one in more.values()):
                    return GenerationSeen(**value)
        raise Malformed

    def rules_broken(self, answer: object) -> Mapping[str, str]:
        """All sentences that reading made, since each is about something else that was seen."""
        parts = answer.items() if isinstance(answer, dict) else ()
        return {name: part for name, part in parts if name != "tokens" and isinstance(part, str) and part}

    def result(self, answer: object) -> Any:
        """What was written."""
        return answer.get("tokens") if isinstance(answer, dict) else answer


GENERATION = Generation()
