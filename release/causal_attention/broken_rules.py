"""Rules that a piece of a model or a class keeps besides right numbers, and a sentence for each that is broken.

The grader reads hidden cases with them, and a copy lies beside the notebooks of students, so that a check and a grade
say the same sentence about the same code. They need nothing but torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from compare import Difference, Kind

Tensor = torch.Tensor
Shapes = Mapping[str, list[int]]  # by name
Gradients = Mapping[str, Tensor | None]  # by what they are of

SECOND_CALL = "output of a second call"
LATER_CHANGED = "output after a later word was changed"
OTHERS_CHANGED = "output after another sentence of the batch was changed"
MORE = "output with other sentences in the batch"

INPUT_MODIFIED = (
    "The result is right, but your function changes its input. "
    "Avoid operations in place on an argument, such as x -= …, x[i] = … or x.append(…): make a new tensor or list "
    "instead."
)
HALF_PRECISION = "Your result is only as precise as 16-bit numbers. Use float32 throughout."
WHOLE = "All the numbers you return are whole, as if after //, or in a tensor of integers."

LARGE = "Your code is right for small scores, but not for large ones. It must work up to ±10⁴, without NaN."
FLOAT64 = "Your code is right for float32 inputs, but not for float64: its result must have the dtype of the inputs."

CUT_OFF = (
    "No gradient gets through your function: something on the way cuts it off, such as detach, item, tolist, numpy, "
    "no_grad or torch.tensor(…). Compute with tensors all the way from the inputs to the result."
)
RUINED = (
    "No gradient can be computed: a tensor on the way is changed in place, but its gradient needs the old numbers. "
    "Compute a new tensor there, instead of using +=, /= or x[i] = …."
)
ACCEPTED = "Your function accepts arguments that do not fit together. Raise a ValueError that says what is wrong."
ANOTHER_ERROR = (
    "When arguments do not fit together, your function raises some other error. Raise a ValueError that says what is "
    "wrong."
)

BUILT = "Your class accepts arguments that cannot work. It must stop with an error in __init__."
CHANGED = "Your module changes its input. Compute new tensors instead."
TWO_OUTPUTS = "Called twice with the same input, your module gives two different outputs."
SAME_DROPPED = "In training, two calls of your module give the same output. Drop weights anew each time, at random."
OTHER_SENTENCES = "The output of a sentence changes with the other sentences of the batch."
FUTURE = "Outputs of earlier words change when a later word is changed: your module looks into the future."
UNSAVED = "The mask is a buffer with persistent=False, so it is not in state_dict. Leave that out."

_IN_A_LIST = re.compile(r"(?P<modules>\w+)\.(?P<place>\d+)\.(?P<rest>.+)")


def returned_nothing(noun: str) -> str:
    """What is said of code that ended without a result."""
    name = "forward" if noun == "class" else noun
    return f"Your {name} returned None: does every path through it end with a return statement?"


def another_order(function: str, written: Sequence[str], asked: Sequence[str]) -> str:
    """What is said of arguments in another order than others will give them."""
    return f"`{function}` takes ({', '.join(written)}), but it is called with ({', '.join(asked)}), in this order."


def other_type(got: object, want: Tensor) -> str:
    """A sentence if the numbers of a tensor have another type than those of `want`; or else empty."""
    if not isinstance(got, Tensor) or got.dtype == want.dtype:
        return ""
    given, expected = (str(tensor.dtype).removeprefix("torch.") for tensor in (got, want))
    return Difference(Kind.DTYPE, forms=(given, expected)).sentence("result")


# Functions.


def missing_gradient(gradients: Gradients, arguments: Iterable[str], *, ruined: bool) -> str:
    """A sentence if no gradient reaches one of these arguments, which have numbers; or else empty."""
    if all(gradient is None for gradient in gradients.values()):
        return RUINED if ruined else CUT_OFF
    numbers = list(arguments)
    missing = next((number for number in numbers if gradients.get(number) is None), None)
    if missing is None:
        return ""
    return f"No gradient reaches {argument(missing, numbers)}: something on the way is detached, or not used."


def argument(number: str, numbers: Sequence[str]) -> str:
    """What the argument of this number is called among these."""
    return f"argument {int(number) + 1}" if len(numbers) > 1 else "the argument"


# Classes.


@dataclass(frozen=True)
class BuildSeen:
    """Whether a module was built of arguments that cannot work."""

    built: bool


@dataclass(frozen=True)
class ModuleSeen:
    """What a module holds and, if it could be called, what it does."""

    parameters: Shapes
    buffers: Shapes
    attributes: Shapes  # tensors that are neither
    frozen: Sequence[str]  # parameters that are not trained
    even: Sequence[str]  # parameters that are the same number everywhere
    unsaved: Sequence[str]  # buffers that are not in its state_dict
    shared: Mapping[str, str] = field(default_factory=dict)  # parameters that have another name, too: the first one
    numbers: Mapping[str, int | None] = field(default_factory=dict)  # attributes that must be some; None: they are not
    outputs: Mapping[str, Any] | None = None  # by call; None if its parameters are not the right ones
    changes_input: bool = False
    in_part: Mapping[str, Any] | None = None  # outputs with the parameters that fit
    gradients: Gradients | None = None  # if they were asked for
    ruined: bool = False  # whether a change in place has made them impossible

    @classmethod
    def of(cls, observed: Mapping[str, Any]) -> ModuleSeen:
        """What `observe` noted, by name. Gradients that were asked for and are None are ruined."""
        return cls(**observed, ruined="gradients" in observed and observed["gradients"] is None)


def wrong_parameters(seen: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """A sentence on the parameters that must be there and are not, or are and must not."""
    shapes = seen.parameters
    names: dict[str, str] = {}  # of a parameter that may have two: the first that was asked for
    for name, weight in weights.items():
        if name not in shapes:
            return _missing(seen, name, weights)
        first = names.setdefault(seen.shared.get(name, name), name)
        if first != name:
            return f"{first} and {name} are one and the same parameter. Make a new one for each."
        if list(shapes[name]) != list(weight.shape):
            return f"The parameter {name} has shape {tuple(shapes[name])}, but {tuple(weight.shape)} is expected."
    biases = [name.removesuffix("weight") + "bias" for name in weights if name.endswith("weight")]
    unasked = [bias for bias in biases if bias in shapes and bias not in weights]
    return f"There is a parameter {unasked[0]} where no bias was asked for." if unasked else ""


def _missing(seen: ModuleSeen, name: str, weights: Mapping[str, Tensor]) -> str:
    if seen.parameters and name in seen.attributes:
        return f"Your module has no parameter {name}: it is a plain tensor, which is not trained. Make it nn.Parameter."
    modules = name.partition(".")[0]
    present, asked = (_places(modules, names) for names in (seen.parameters, weights))
    if present and asked and present != asked:
        count = f"{len(present)} module{'s' * (len(present) > 1)}"
        return f"{modules} holds {count}, but {len(asked)} were asked for."
    return f"Your module has no parameter {name}. {_present(seen, weights)}"


def _places(modules: str, names: Iterable[str]) -> set[str]:
    """The places in a list of modules that these parameters belong to."""
    places = [_IN_A_LIST.fullmatch(name) for name in names]
    return {place["place"] for place in places if place and place["modules"] == modules}


def _present(seen: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """Names that nobody asked for come first: one may be misspelled. The order they were made in does not matter."""
    parameters = sorted(seen.parameters, key=lambda name: (name in weights, name))
    names = ", ".join(parameters[:8]) + (", and others" if len(parameters) > 8 else "")
    attributes = ", ".join(sorted(seen.attributes)[:4])
    if attributes and not names:
        return f"{attributes}: plain tensors are not trained. Make them nn.Parameter."
    none = "It has none at all. Modules in a plain list or dict, or made in forward, do not count."
    # A layer beside a plain list of modules is all that such a module has.
    in_a_list = (
        " Modules in a plain list do not count: use nn.ModuleList." if _lacks_a_list(parameters, weights) else ""
    )
    return f"It has {names}.{in_a_list}" if names else none


def _lacks_a_list(names: Sequence[str], weights: Mapping[str, Tensor]) -> bool:
    """Whether parameters of a list of modules are wanted, and no parameter is in a list."""
    return any(map(_IN_A_LIST.fullmatch, weights)) and not any(map(_IN_A_LIST.fullmatch, names))


def not_random(seen: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """A sentence on the weights of a new module that are the same number everywhere."""
    even = [name for name in weights if name in seen.even]
    if not even:
        return ""
    are = "is" if len(even) == 1 else "are each"
    return f"In a new module, {' and '.join(even)} {are} the same number everywhere. Begin with random numbers."


def named_gradients(seen: ModuleSeen) -> Gradients | str:
    """The gradients by name, or a sentence on why there are none, or some are missing."""
    if seen.gradients is None:
        return RUINED
    gradients = {_name_of(name): gradient for name, gradient in seen.gradients.items()}
    missing = [name for name, gradient in gradients.items() if gradient is None]
    if missing and set(missing) <= set(seen.frozen):
        return f"{' and '.join(missing)} cannot be trained: requires_grad is False."
    if missing:
        return f"No gradient reaches {' and '.join(missing)}: something on the way is detached, or not used."
    return {f"gradient of {name}": gradient for name, gradient in gradients.items()}


def _name_of(name: str) -> str:
    """The name of a parameter, or of the input with this number."""
    if not name.isdigit():
        return name
    return "the input" if name == "0" else f"input {int(name) + 1}"


def wrong_behavior(outputs: Mapping[str, Any], x: Tensor, hides_later: bool) -> str:
    """A sentence on how outputs, one for each word of x, depend on what they must not depend on."""
    first = outputs["output"]
    again, later, others = (outputs.get(name) for name in (SECOND_CALL, LATER_CHANGED, OTHERS_CHANGED))
    given = [output for output in (first, again, later, others) if output is not None]
    if not all(isinstance(output, Tensor) and output.shape == first.shape for output in given):
        return ""
    if again is not None and not equal_but_for_rounding(again, first):
        return TWO_OUTPUTS
    if first.shape[:-1] != x.shape[:-1]:  # no output for each word, so none belongs to a word
        return ""
    more = outputs.get(MORE)
    if isinstance(more, Tensor) and more.shape[1:] == first.shape[1:] and not _begins_with(more, first):
        return OTHER_SENTENCES
    # A later word is changed in all sentences at once: who mixes sentences need not look into the future.
    if others is not None and not equal_but_for_rounding(others[0], first[0]):
        return OTHER_SENTENCES
    if hides_later and later is not None and not equal_but_for_rounding(later[:, :-1], first[:, :-1]):
        return FUTURE
    return ""


def _begins_with(more: Tensor, first: Tensor) -> bool:
    return len(more) >= len(first) and equal_but_for_rounding(more[: len(first)], first)


def equal_but_for_rounding(one: Tensor, other: Tensor) -> bool:
    """Equal but for rounding, which may depend on what else is in a batch."""
    if one.dtype == other.dtype and torch.equal(one, other):  # quicker, and nearly always so
        return True
    return bool(nearly(one, other).all())


def nearly(one: Tensor, other: Tensor) -> Tensor:
    """Which entries of two outputs are equal but for rounding, which may depend on what else is in a batch."""
    return torch.isclose(one.double(), other.double(), rtol=1e-4, atol=1e-5, equal_nan=True)


def wrong_mask(seen: ModuleSeen, size: int, part: str = "") -> str:
    """A sentence on the buffer that must hold a mask of (size, size), whatever its name, in `part` of the module."""
    buffers = {name: shape for name, shape in seen.buffers.items() if name.startswith(part) and len(shape) > 1}
    right = [name for name, shape in buffers.items() if shape[-2:] == [size, size]]
    if right:
        return UNSAVED if all(name in seen.unsaved for name in right) else ""
    if buffers:
        name, shape = next(iter(buffers.items()))
        return f"The buffer {name} has shape {tuple(shape)}, but the mask needs {(size, size)}, for the longest text."
    if seen.parameters.get(f"{part}mask", [])[-2:] == [size, size]:
        return "The mask is a parameter, so an optimizer would train it. Register it as a buffer."
    if "mask" in " ".join(seen.attributes):
        return "The mask is a plain attribute: it does not move with the module. Use self.register_buffer."
    return "The mask is not registered as a buffer: use self.register_buffer in __init__."
