"""A function that trains a model: what it returns, and the weights that it leaves behind."""

from __future__ import annotations

from typing import Any

import torch

from grader.model.forms.parts import InParts


class Training(InParts):
    """A step of training, taken several times."""

    name = "training"
    lendable = False

    def is_well_formed(self, observed: Any) -> bool:
        """Losses, of whatever kind, and weights by name; or that an input was changed."""
        match observed:
            case {"changes_input": True, **more}:
                return not more
            case {"changes_input": False, "floats": bool(), "losses": list(), "outputs": dict() as weights, **more}:
                return not more and all(isinstance(weight, torch.Tensor) for weight in weights.values())
        return False

    def returned_nothing(self, observed: Any) -> bool:
        """None in place of a loss."""
        losses = observed.get("losses") if isinstance(observed, dict) else None
        return isinstance(losses, list) and any(loss is None for loss in losses)

    def result(self, answer: Any) -> Any:
        """The losses."""
        return answer.get("loss") if isinstance(answer, dict) else answer


TRAINING = Training()
