"""A function that trains a model: what it returns, and the weights that it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.model.forms.function import Malformed
from grader.model.forms.parts import InParts


@dataclass(frozen=True)
class TrainingSeen:
    """What each step returned, and the weights after all; neither if an input was changed."""

    changes_input: bool
    floats: bool = False  # whether all losses are floats
    losses: Sequence[Any] = ()
    weights: Mapping[str, torch.Tensor] = field(default_factory=dict)


class Training(InParts):
    """A step of training, taken several times."""

    name = "training"
    lendable = False

    def observed(self, value: object) -> TrainingSeen:
        """Losses of any kind, and weights by name; or that an input was changed."""
        match value:
            case {"changes_input": True, **more} if not more:
                return TrainingSeen(True)
            case {
                "changes_input": False,
                "floats": bool(floats),
                "losses": list(losses),
                "outputs": dict(weights),
                **more,
            }:
                if not more and all(isinstance(weight, torch.Tensor) for weight in weights.values()):
                    return TrainingSeen(False, floats, losses, weights)
        raise Malformed

    def returned_nothing(self, seen: TrainingSeen) -> bool:
        """Whether a step returned None."""
        return any(loss is None for loss in seen.losses)

    def result(self, answer: object) -> Any:
        """The losses."""
        return answer.get("loss") if isinstance(answer, dict) else answer


TRAINING = Training()
