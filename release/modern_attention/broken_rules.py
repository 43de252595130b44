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


def another_order(function: str, actual: Sequence[str], expected: Sequence[str]) -> str:
    """What is said of arguments in another order than others will give them."""
    return f"`{function}` takes ({', '.join(actual)}), but it is called with ({', '.join(expected)}), in this order."


def other_type(actual: object, expected: Tensor) -> str:
    """A sentence if the numbers of a tensor have another type than those of `expected`; or else empty."""
    if not isinstance(actual, Tensor) or actual.dtype == expected.dtype:
        return ""
    dtype, expected_dtype = (str(tensor.dtype).removeprefix("torch.") for tensor in (actual, expected))
    return Difference(Kind.DTYPE, forms=(dtype, expected_dtype)).sentence("result")


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


def wrong_parameters(module: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """A sentence on the parameters that must be there and are not, or are and must not."""
    shapes = module.parameters
    names: dict[str, str] = {}  # of a parameter that may have two: the first that was asked for
    for name, weight in weights.items():
        if name not in shapes:
            return _missing(module, name, weights)
        first = names.setdefault(module.shared.get(name, name), name)
        if first != name:
            return f"{first} and {name} are one and the same parameter. Make a new one for each."
        if list(shapes[name]) != list(weight.shape):
            return f"The parameter {name} has shape {tuple(shapes[name])}, but {tuple(weight.shape)} is expected."
    biases = [name.removesuffix("weight") + "bias" for name in weights if name.endswith("weight")]
    unexpected = [bias for bias in biases if bias in shapes and bias not in weights]
    return f"There is a parameter {unexpected[0]} where no bias was asked for." if unexpected else ""


def _missing(module: ModuleSeen, name: str, weights: Mapping[str, Tensor]) -> str:
    if module.parameters and name in module.attributes:
        return f"Your module has no parameter {name}: it is a plain tensor, which is not trained. Make it nn.Parameter."
    modules = name.partition(".")[0]
    places, expected_places = _places(modules, module.parameters), _places(modules, weights)
    if places and expected_places and places != expected_places:
        count = f"{len(places)} module{'s' * (len(places) > 1)}"
        return f"{modules} holds {count}, but {len(expected_places)} were asked for."
    return f"Your module has no parameter {name}. {_present(module, weights)}"


def _places(modules: str, names: Iterable[str]) -> set[str]:
    """The places in a list of modules that these parameters belong to."""
    matches = [_IN_A_LIST.fullmatch(name) for name in names]
    return {match["place"] for match in matches if match and match["modules"] == modules}


def _present(module: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """Names that nobody asked for come first: one may be misspelled. The order they were made in does not matter."""
    parameters = sorted(module.parameters, key=lambda name: (name in weights, name))
    names = ", ".join(parameters[:8]) + (", and others" if len(parameters) > 8 else "")
    attributes = ", ".join(sorted(module.attributes)[:4])
    if attributes and not names:
        return f"{attributes}: plain tensors are not trained. Make them nn.Parameter."
    if not names:
        return "It has none at all. Modules in a plain list or dict, or made in forward, do not count."
    if _lacks_a_list(parameters, weights):  # a layer beside a plain list of modules is all that such a module has
        return f"It has {names}. Modules in a plain list do not count: use nn.ModuleList."
    return f"It has {names}."


def _lacks_a_list(names: Sequence[str], weights: Mapping[str, Tensor]) -> bool:
    """Whether parameters of a list of modules are wanted, and no parameter is in a list."""
    return any(map(_IN_A_LIST.fullmatch, weights)) and not any(map(_IN_A_LIST.fullmatch, names))


def not_random(module: ModuleSeen, weights: Mapping[str, Tensor]) -> str:
    """A sentence on the weights of a new module that are the same number everywhere."""
    even = [name for name in weights if name in module.even]
    if not even:
        return ""
    are = "is" if len(even) == 1 else "are each"
    return f"In a new module, {' and '.join(even)} {are} the same number everywhere. Begin with random numbers."


def named_gradients(module: ModuleSeen) -> Gradients | str:
    """The gradients by name, or a sentence on why there are none, or some are missing."""
    if module.gradients is None:
        return RUINED
    gradients = {_name_of(name): gradient for name, gradient in module.gradients.items()}
    missing = [name for name, gradient in gradients.items() if gradient is None]
    if missing and set(missing) <= set(module.frozen):
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
    second, later_changed, others_changed = map(outputs.get, (SECOND_CALL, LATER_CHANGED, OTHERS_CHANGED))
    of_one_shape = [output for output in (first, second, later_changed, others_changed) if output is not None]
    if not all(isinstance(output, Tensor) and output.shape == first.shape for output in of_one_shape):
        return ""
    if second is not None and not equal_but_for_rounding(second, first):
        return TWO_OUTPUTS
    if first.shape[:-1] != x.shape[:-1]:  # no output for each word, so none belongs to a word
        return ""
    larger = outputs.get(MORE)
    if isinstance(larger, Tensor) and larger.shape[1:] == first.shape[1:] and not _begins_with(larger, first):
        return OTHER_SENTENCES
    # A later word is changed in all sentences at once: who mixes sentences need not look into the future.
    if others_changed is not None and not equal_but_for_rounding(others_changed[0], first[0]):
        return OTHER_SENTENCES
    if later_changed is None or not hides_later:
        return ""
    return "" if equal_but_for_rounding(later_changed[:, :-1], first[:, :-1]) else FUTURE


def _begins_with(larger: Tensor, first: Tensor) -> bool:
    return len(larger) >= len(first) and equal_but_for_rounding(larger[: len(first)], first)


def equal_but_for_rounding(first: Tensor, second: Tensor) -> bool:
    """Equal but for rounding, which may depend on what else is in a batch."""
    if first.dtype == second.dtype and torch.equal(first, second):  # quicker, and nearly always so
        return True
    return bool(nearly(first, second).all())


def nearly(first: Tensor, second: Tensor) -> Tensor:
    """Which entries of two outputs are equal but for rounding, which may depend on what else is in a batch."""
    return torch.isclose(first.double(), second.double(), rtol=1e-4, atol=1e-5, equal_nan=True)


def wrong_mask(module: ModuleSeen, size: int, part: str = "") -> str:
    """A sentence on the buffer that must hold a mask of (size, size), whatever its name, in `part` of the module."""
    buffers = {name: shape for name, shape in module.buffers.items() if name.startswith(part) and len(shape) > 1}
    right = [name for name, shape in buffers.items() if shape[-2:] == [size, size]]
    if right:
        return UNSAVED if all(name in module.unsaved for name in right) else ""
    if buffers:
        name, shape = next(iter(buffers.items()))
        return f"The buffer {name} has shape {tuple(shape)}, but the mask needs {(size, size)}, for the longest text."
    if module.parameters.get(f"{part}mask", [])[-2:] == [size, size]:
        return "The mask is a parameter, so an optimizer would train it. Register it as a buffer."
    if "mask" in " ".join(module.attributes):
        return "The mask is a plain attribute: it does not move with the module. Use self.register_buffer."
    return "The mask is not registered as a buffer: use self.register_buffer in __init__."
