"""A function that trains a model: what it returns, and the weights that it leaves behind."""

from __future__ import annotations

from typing import Any

import msgspec
import torch

from grader.model.forms.function import Observation, observation
from grader.model.forms.parts import InParts


class TrainingSeen(Observation, frozen=True):
    """What each step returned, and the weights after all; neither if an input was changed."""

    changes_input: bool
    floats: bool = False  # whether all losses are floats
    losses: list[Any] = msgspec.field(default_factory=list)
    weights: dict[str, torch.Tensor] = msgspec.field(name="outputs", default_factory=dict)

    def __post_init__(self) -> None:
        if not self.changes_input and not self.losses:
            raise ValueError("there is no loss")


class Training(InParts):
    """A step of training, taken several times."""

    name = "training"
    lendable = False

    def observed(self, value: object) -> TrainingSeen:
        """Losses of any kind, and weights by name; or that an input was changed."""
        return observation(value, TrainingSeen)

    def returned_nothing(self, observation: TrainingSeen) -> bool:
        """Whether a step returned None."""
        return any(loss is None for loss in observation.losses)

    def result(self, answer: object) -> Any:
        """The losses."""
        return answer.get("loss") if isinstance(answer, dict) else answer


TRAINING = Training()
