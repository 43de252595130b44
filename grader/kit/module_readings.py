"""Readings of what a student's class did in a case: a sentence for each rule that it breaks, and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.kit.dropout_rules import finding
from grader.kit.pictures import looks_ahead
from grader.model.broken_rules import (
    BUILT,
    CHANGED,
    LATER_CHANGED,
    SAME_DROPPED,
    SECOND_CALL,
    BuildSeen,
    ModuleSeen,
    equal_but_for_rounding,
    named_gradients,
    not_random,
    other_type,
    wrong_behavior,
    wrong_parameters,
)
from grader.model.broken_rules import TWO_OUTPUTS as TWO_OUTPUTS
from grader.model.broken_rules import wrong_mask as wrong_mask
from grader.model.forms.parts import IN_PART, named
from grader.model.verdict import Picture
from grader.sandbox.forms.exact import Inputs
from grader.sandbox.forms.module import observe
from grader.solutions.chance import same_chance
from grader.solutions.lines import Solution

Tensor = torch.Tensor
Readings = dict[str, Any]  # name of a part -> a sentence (empty: all is well), or named tensors

ON_OUTPUT = (
    "In training, your module drops entries of vectors that it computes after the weights. Drop attention weights."
)
NOT_WEIGHTS = "In training, your module drops something other than attention weights, or more than these."

RATE = 3  # which of the arguments of a class with dropout is its rate


def reader(
    solution: Solution,
    *,
    causal: bool = False,
    mask: Callable[..., str] | None = None,
    like: int = 0,
) -> Callable[..., Readings]:
    """How to read what was observed in a case, from what is named first to what is named last.

    `causal` modules must not look into the future. `mask` gives the sentence about the buffer. `like` is the number
    of the input with as many words as the output.
    """
    last: list[Tensor] = []  # `extra` of a case about dropout, and its output without any: read thousands of times

    def undropped(arguments: object, weights: object, calls: object, extra: Tensor) -> Tensor:
        if not last or last[0] is not extra:
            last[:] = extra, _observation_of(solution, arguments, weights, calls, {"train": False})["outputs"]["output"]
        return last[1]

    def read(observation: BuildSeen | ModuleSeen, arguments: Any, weights: Any, calls: Any, options: Any) -> Readings:
        if isinstance(observation, BuildSeen) != bool(options.get("impossible")):
            raise ValueError("this was not asked for")
        if isinstance(observation, BuildSeen):
            return {"arguments": BUILT if observation.built else ""}
        readings: Readings = {"parameters": wrong_parameters(observation, weights)}
        buffers = {"mask": mask(observation, *arguments)} if mask else {}
        if observation.outputs is None:
            return readings | buffers | ({} if observation.in_part is None else {IN_PART: observation.in_part})
        outputs = observation.outputs
        if options.get("train") and "extra" in options:
            quiet = undropped(arguments, weights, calls, options["extra"])
            two_outputs = [outputs["output"], outputs[SECOND_CALL]]
            readings["dropout"] = wrong_dropout(two_outputs, quiet, options["extra"], arguments[RATE])
            if options.get("gradients"):  # which depend on chance, but for whether there are any
                gradients = _requested_gradients(observation)
                readings["gradient"] = gradients if isinstance(gradients, str) else ""
            return readings | buffers
        readings["behavior"] = wrong_behavior(outputs, calls["output"][like], causal)
        if readings["behavior"] != TWO_OUTPUTS:  # or there is nothing to compare
            readings["output"] = outputs
            if options.get("gradients"):
                readings["gradient"] = _requested_gradients(observation)
        readings |= buffers | {"input": CHANGED if observation.changes_input else ""}
        wrong_type = other_type(outputs["output"], calls["output"][like])
        return readings | {"type": wrong_type, "initial": not_random(observation, weights)}

    return read


def _requested_gradients(observation: ModuleSeen) -> Any:
    if observation.gradients is None and not observation.ruined:
        raise ValueError("they were not sent")
    return named_gradients(observation)


def _observation_of(solution: Solution, *inputs: Any) -> Any:
    with same_chance():
        return observe(solution, *inputs) if isinstance(solution, type) else solution(*inputs)


def picture_of_future(value: object, inputs: Inputs) -> Picture | None:
    """For causal modules: what changed with a later word, from what `reading` has read."""
    outputs = named(value, "output")
    if not isinstance(outputs, dict):
        return None
    first, (x,) = outputs.get("output"), inputs[2]["output"]
    if not isinstance(first, torch.Tensor) or first.shape[:2] != x.shape[:2]:  # no output for each word
        return None
    return looks_ahead(first, outputs.get(LATER_CHANGED))


def wrong_dropout(outputs: Sequence[Any], undropped: Tensor, extra: Tensor, p: float) -> str:
    """A sentence on what is dropped in training, for values such that outputs show the weights; see `dropout_trial`.

    The outputs of each head are its dropped weights (B, T, T), followed by their product with `extra` (T, m).
    """
    if not all(isinstance(output, torch.Tensor) and output.shape == undropped.shape for output in outputs):
        return "In training, the output has a different shape."
    words, size = len(extra), sum(extra.shape)
    calls = torch.stack(list(outputs))
    calls, quiet = (output.reshape(*output.shape[:-1], -1, size) for output in (calls, undropped))
    if equal_but_for_rounding(calls, quiet.expand_as(calls)):
        return "In training, your module drops nothing."
    dropped = calls[..., :words]  # (calls, B, T, heads, T)
    if not equal_but_for_rounding(dropped @ extra.to(dropped), calls[..., words:]):
        return ON_OUTPUT if not finding(calls, quiet.expand_as(calls), p) else NOT_WEIGHTS
    if equal_but_for_rounding(calls[0], calls[-1]):
        return SAME_DROPPED
    if equal_but_for_rounding(dropped.sum(-1), torch.ones_like(dropped.sum(-1))):
        return (
            "With dropout, your weights still sum to one. Drop weights after the softmax, and do not divide them again."
        )
    if bool((dropped.abs() > 1e-6)[quiet[..., :words].expand_as(dropped) == 0].any()):
        return "In training, some words have weight where they should have none."
    # Sentences come first: what a whole batch shares is found along the first dimension.
    by_sentence = dropped.transpose(0, 1), quiet[..., :words].expand_as(dropped).transpose(0, 1)
    # Heads that are wrong may share draws in ways that no misconception follows.
    return finding(*by_sentence, p, shared_is_wrong=False)
