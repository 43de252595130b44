"""A function that writes with a model: the model and its random numbers are made here, and texts are noted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.sandbox.small_model import SmallModel

WORDS = True
FEW = 300  # texts that tell whether random numbers are the same; of how they are distributed, more tell


class Watched(SmallModel):
    """The same model; it notes whether gradients were kept when it was called, and whether it was in training mode."""

    keeps = trains = False

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.trains |= self.training
        self.keeps |= torch.is_grad_enabled() and any(one.requires_grad for one in self.parameters())
        return super().forward(tokens)


def put(entry: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """What `written` sees of a student's function."""
    return written(entry, *inputs)


def written(
    generate: Any, weights: Mapping[str, torch.Tensor], tokens: torch.Tensor, count: int, how: Mapping[str, Any]
) -> dict[str, Any]:
    """What is written behind all texts; and behind the first few twice, with the same random numbers, and with others.

    `how` says whether the model is in training before ("train"), which seed its generator has ("seed"; none: there is
    no generator), and holds what else is given by name ("named").
    """
    model = Watched(weights)
    texts: dict[str, Any] = {}
    before, left_off = torch.is_grad_enabled(), False
    for name, rows, more in (("text", len(tokens), 0), ("few", FEW, 0), ("again", FEW, 0), ("other", FEW, 1)):
        model.train(bool(how["train"])).requires_grad_()
        given, named = tokens[:rows].clone(), dict(how["named"])
        if "seed" in how:
            named["generator"] = torch.Generator(device=tokens.device).manual_seed(how["seed"] + more)
        with torch.set_grad_enabled(before):  # which is so again behind it, for whatever is asked next
            texts[name] = generate(model, given, count, **named)
            left_off |= before and not torch.is_grad_enabled()
        if not torch.equal(given, tokens[:rows]):
            return {"changes_input": True}
    return {
        "changes_input": False,
        "outputs": texts,
        "train": model.training,
        "trains": model.trains,
        "modules": all(one.training == bool(how["train"]) for one in model.modules() if one is not model),
        "frozen": not all(one.requires_grad for one in model.parameters()),
        "keeps": model.keeps,
        "left_off": left_off,
    }
