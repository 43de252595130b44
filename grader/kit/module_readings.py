"""Readings of what a student's class did in a case: a sentence for each rule that it breaks, and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from grader.kit.dropout_rules import finding
from grader.kit.module_cases import LATER_CHANGED, MORE, OTHERS_CHANGED, SECOND_CALL
from grader.kit.pictures import looks_ahead, nearly
from grader.kit.pieces import other_type
from grader.model.forms.exact import RUINED
from grader.model.forms.module import BuildSeen, ModuleSeen
from grader.model.forms.parts import IN_PART, named
from grader.model.verdict import Picture
from grader.sandbox.forms.exact import Inputs
from grader.sandbox.forms.module import observe
from grader.solutions.chance import same_chance
from grader.solutions.lines import Solution

Tensor = torch.Tensor
Parts = dict[str, Any]  # name of a part -> a sentence (empty: all is well), or named tensors

ACCEPTED = "Your class accepts arguments that cannot work. It must stop with an error in __init__."
CHANGED = "Your module changes its input. Compute new tensors instead."
TWO_OUTPUTS = "Called twice with the same input, your module gives two different outputs."
UNSAVED = "The mask is a buffer with persistent=False, so it is not in state_dict. Leave that out."

ON_OUTPUT = (
    "In training, your module drops entries of vectors that it computes after the weights. Drop attention weights."
)
NOT_WEIGHTS = "In training, your module drops something other than attention weights, or more than these."

_IN_A_LIST = re.compile(r"\.\d+\.")

RATE = 3  # which of the arguments of a class with dropout is its rate


def reader(
    solution: Solution,
    *,
    causal: bool = False,
    mask: Callable[..., str] | None = None,
    like: int = 0,
) -> Callable[..., Parts]:
    """How to read what was observed in a case, from what is named first to what is named last.

    `causal` modules must not look into the future. `mask` gives the sentence about the buffer. `like` is the number
    of the input with as many words as the output.
    """
    last: list[Tensor] = []  # `extra` of a case about dropout, and its output without any: read thousands of times

    def undropped(arguments: object, weights: object, calls: object, extra: Tensor) -> Tensor:
        if not last or last[0] is not extra:
            last[:] = extra, _seen_of(solution, arguments, weights, calls, {"train": False})["outputs"]["output"]
        return last[1]

    def read(seen: BuildSeen | ModuleSeen, arguments: Any, weights: Any, calls: Any, how: Any) -> Parts:
        if isinstance(seen, BuildSeen) != bool(how.get("impossible")):
            raise ValueError("this was not asked for")
        if isinstance(seen, BuildSeen):
            return {"arguments": ACCEPTED if seen.built else ""}
        parts: Parts = {"parameters": wrong_parameters(seen, weights)}
        buffers = {"mask": mask(seen, *arguments)} if mask else {}
        if seen.outputs is None:
            return parts | buffers | ({} if seen.in_part is None else {IN_PART: seen.in_part})
        outputs = seen.outputs
        if how.get("train") and "extra" in how:
            quiet = undropped(arguments, weights, calls, how["extra"])
            both = [outputs["output"], outputs[SECOND_CALL]]
            parts["dropout"] = wrong_dropout(both, quiet, how["extra"], arguments[RATE])
            if how.get("gradients"):  # which depend on chance, but for whether there are any
                found = named_gradients(seen.asked_gradients, seen.frozen)
                parts["gradient"] = found if isinstance(found, str) else ""
            return parts | buffers
        parts["behavior"] = wrong_behavior(outputs, calls["output"][like], causal)
        if parts["behavior"] != TWO_OUTPUTS:  # or there is nothing to compare
            parts["output"] = outputs
            if how.get("gradients"):
                parts["gradient"] = named_gradients(seen.asked_gradients, seen.frozen)
        given = calls["output"][like]
        parts |= buffers | {"input": CHANGED if seen.changes_input else ""}
        return parts | {"type": other_type(outputs["output"], given), "initial": not_random(seen, weights)}

    return read


def _seen_of(solution: Solution, *inputs: Any) -> Any:
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
    given, quiet = (output.reshape(*output.shape[:-1], -1, size) for output in (torch.stack(list(outputs)), undropped))
    if equal_but_for_rounding(given, quiet.expand_as(given)):
        return "In training, your module drops nothing."
    dropped = given[..., :words]  # (calls, B, T, heads, T)
    if not equal_but_for_rounding(dropped @ extra.to(dropped), given[..., words:]):
        return ON_OUTPUT if not finding(given, quiet.expand_as(given), p) else NOT_WEIGHTS
    if equal_but_for_rounding(given[0], given[-1]):
        return "In training, two calls of your module give the same output. Drop weights anew each time, at random."
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


def named_gradients(
    gradients: Mapping[str, Tensor | None] | None, frozen: Sequence[str]
) -> dict[str, Tensor | None] | str:
    """The gradients by name, or a sentence on why there are none, or some are missing."""
    if gradients is None:
        return RUINED
    named = {_of(name): gradient for name, gradient in gradients.items()}
    missing = [name for name, gradient in named.items() if gradient is None]
    if missing and set(missing) <= set(frozen):
        return f"{' and '.join(missing)} cannot be trained: requires_grad is False."
    if missing:
        return f"No gradient reaches {' and '.join(missing)}: something on the way is detached, or not used."
    return {f"gradient of {name}": gradient for name, gradient in named.items()}


def _of(name: str) -> str:
    """The name of a parameter, or of the input with this number."""
    if not name.isdigit():
        return name
    return "the input" if name == "0" else f"input {int(name) + 1}"


def wrong_parameters(seen: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """A sentence on the parameters that must be there and are not, or are and must not."""
    held = seen.parameters
    for name, weight in weights.items():
        if name not in held:
            return f"Your module has no parameter {name}. {_what_it_has(seen, weights)}"
        if held[name] != list(weight.shape):
            return f"The parameter {name} has shape {tuple(held[name])}, but {tuple(weight.shape)} is expected."
    biases = [name.removesuffix("weight") + "bias" for name in weights if name.endswith("weight")]
    unasked = [bias for bias in biases if bias in held and bias not in weights]
    return f"There is a parameter {unasked[0]} where no bias was asked for." if unasked else ""


def not_random(seen: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """A sentence on the weights of a new module that are the same number everywhere."""
    even = [name for name in weights if name in seen.even]
    if not even:
        return ""
    are = "is" if len(even) == 1 else "are each"
    return f"In a new module, {' and '.join(even)} {are} the same number everywhere. Begin with random numbers."


def _what_it_has(seen: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """Names that nobody asked for come first: one may be misspelled. The order they were made in does not matter."""
    held = sorted(seen.parameters, key=lambda name: (name in weights, name))
    names = ", ".join(held[:8]) + (", and others" if len(held) > 8 else "")
    attributes = ", ".join(sorted(seen.attributes)[:4])
    if attributes and not names:
        return f"{attributes}: plain tensors are not trained. Make them nn.Parameter."
    none = "It has none at all. Modules in a plain list or dict, or made in forward, do not count."
    # A layer beside a plain list of modules is all that such a module has.
    in_a_list = " Modules in a plain list do not count: use nn.ModuleList." if _lacks_a_list(held, weights) else ""
    return f"It has {names}.{in_a_list}" if names else none


def _lacks_a_list(names: Sequence[str], weights: Mapping[str, Tensor]) -> bool:
    """Whether parameters of a list of modules are wanted, and no parameter is in a list."""
    return _IN_A_LIST.search(" ".join(weights)) is not None and _IN_A_LIST.search(" ".join(names)) is None


def wrong_behavior(outputs: Mapping[str, Any], x: Tensor, causal: bool) -> str:
    """A sentence on how outputs, one for each word of x, depend on what they must not depend on."""
    first = outputs["output"]
    again, later, others = (outputs.get(name) for name in (SECOND_CALL, LATER_CHANGED, OTHERS_CHANGED))
    given = [output for output in (first, again, later, others) if output is not None]
    if not all(isinstance(output, torch.Tensor) and output.shape == first.shape for output in given):
        return ""
    if again is not None and not equal_but_for_rounding(again, first):
        return TWO_OUTPUTS
    if first.shape[:-1] != x.shape[:-1]:  # no output for each word, so none belongs to a word
        return ""
    more = outputs.get(MORE)
    if isinstance(more, torch.Tensor) and more.shape[1:] == first.shape[1:] and not _begins_with(more, first):
        return "The output of a sentence changes with the other sentences of the batch."
    # A later word is changed in all sentences at once: who mixes sentences need not look into the future.
    if others is not None and not equal_but_for_rounding(others[0], first[0]):
        return "The output of a sentence changes with the other sentences of the batch."
    if causal and later is not None and not equal_but_for_rounding(later[:, :-1], first[:, :-1]):
        return "Outputs of earlier words change when a later word is changed: your module looks into the future."
    return ""


def _begins_with(more: Tensor, first: Tensor) -> bool:
    return len(more) >= len(first) and equal_but_for_rounding(more[: len(first)], first)


def equal_but_for_rounding(one: Tensor, other: Tensor) -> bool:
    """Equal but for rounding, which may depend on what else is in a batch."""
    if one.dtype == other.dtype and torch.equal(one, other):  # quicker, and nearly always so
        return True
    return bool(nearly(one, other).all())


def wrong_mask(seen: ModuleSeen, size: int, part: str = "") -> str:
    """A sentence on the buffer that must hold a mask of (size, size), whatever its name, in `part` of the module."""
    held = {name: shape for name, shape in seen.buffers.items() if name.startswith(part) and len(shape) > 1}
    right = [name for name, shape in held.items() if shape[-2:] == [size, size]]
    if right:
        return UNSAVED if all(name in seen.unsaved for name in right) else ""
    if held:
        name, shape = next(iter(held.items()))
        return f"The buffer {name} has shape {tuple(shape)}, but the mask needs {(size, size)}, for the longest text."
    if seen.parameters.get(f"{part}mask", [])[-2:] == [size, size]:
        return "The mask is a parameter, so an optimizer would train it. Register it as a buffer."
    if "mask" in " ".join(seen.attributes):
        return "The mask is a plain attribute: it does not move with the module. Use self.register_buffer."
    return "The mask is not registered as a buffer: use self.register_buffer in __init__."
