"""A function that writes with a model: the texts, and in what state the model is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.model.forms.parts import InParts


class Generation(InParts):
    """Texts, of which greedy ones are compared, and others read by their distribution."""

    name = "generation"
    lendable = False

    def is_well_formed(self, observed: Any) -> bool:
        """Four texts, of whatever kind, and truth values; or that an input was changed."""
        match observed:
            case {"changes_input": True, **more}:
                return not more
            case {
                "changes_input": False,
                "outputs": dict() as texts,
                "train": bool(),
                "trains": bool(),
                "modules": bool(),
                "frozen": bool(),
                "keeps": bool(),
                "left_off": bool(),
                **more,
            }:
                return not more and set(texts) == {"text", "few", "again", "other"}
        return False

    def rules_broken(self, answer: Any) -> Mapping[str, str]:
        """All sentences that reading made, since each is about something else that was seen."""
        parts = answer.items() if isinstance(answer, dict) else ()
        return {name: part for name, part in parts if name != "tokens" and isinstance(part, str) and part}

    def result(self, answer: Any) -> Any:
        """What was written."""
        return answer.get("tokens") if isinstance(answer, dict) else answer


GENERATION = Generation()
