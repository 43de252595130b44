"""Examples for visible checks: known inputs, and what a student's function or class must make of them.

Each says in words what is wrong, with the method `problem`. Nothing here is secret.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import torch

from diagnosis import looks_ahead, looks_like, other_axis, rounded_by
from compare import difference

Student: TypeAlias = Callable[..., Any]  # a function or a class

# The examples are printed with four decimals.
TOLERANCE = 1e-4

NEW_LINE = "\n  "
MOST_NAMES = 6
NOT_ASKED_FOR = 0.25
LOOKS_AHEAD = f"{NEW_LINE}An earlier output changes when the last word does. It must not depend on later words."


class Example(NamedTuple):
    """One call of the student's function and what it must return."""

    name: str
    inputs: tuple[object, ...]
    expected: object  # or a function that says in words what is wrong with a result, or nothing

    def problem(self, function: Student, called: str) -> str | None:
        inputs = _copy(self.inputs)
        problem = _wrong(function(*inputs), self.expected, called)
        changed = _changed(inputs, self.inputs, called)
        if problem is None:
            return changed and f"the result is right, but {changed}"
        return f"{problem}{NEW_LINE}Also, {changed}" if changed else problem


class PieceExample(NamedTuple):
    """What a piece of a model keeps beside right numbers: shape, dtype, gradients, and no NaN for large numbers."""

    name: str
    inputs: tuple[object, ...]
    shape: tuple[int, ...]
    large: tuple[object, ...] = ()

    def problem(self, function: Student, called: str) -> str | None:
        leaves = [_leaf(item) for item in self.inputs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch says in its own words that a gradient is lost
            result = function(*_copy(leaves))
        if not _is_tensor(result) or tuple(result.shape) != self.shape:
            form = f"has shape {tuple(result.shape)}" if _is_tensor(result) else "is not a tensor"
            more = other_axis(result.shape, self.shape) if _is_tensor(result) else ""
            said = f"the result {form}, but a tensor of shape {self.shape} was expected."
            return f"{said}{NEW_LINE}{more}" if more else said
        return (
            _other_dtype(result, self.inputs)
            or _wrong_in_double(function, self.inputs, called)
            or _without_gradient([("its input", item) for item in leaves if _has_gradient(item)], result)
            or (_not_finite(function(*_copy(self.large))) if self.large else None)
        )


class InDouble(NamedTuple):
    """The same numbers in float64, for functions with several results, of which the first ones must be of that type."""

    name: str
    inputs: tuple[object, ...]
    results: int | None = None  # how many of them; None for all

    def problem(self, function: Student, called: str) -> str | None:
        return _wrong_in_double(self._of_results(function), self.inputs, called)

    def _of_results(self, function: Student) -> Student:
        def first_results(*inputs: object) -> object:
            results = function(*inputs)
            return results[: self.results] if isinstance(results, (tuple, list)) else results

        return first_results


class FiniteGradients(NamedTuple):
    """Whether gradients are finite, also where a query sees no key."""

    name: str
    inputs: tuple[Any, ...]

    def problem(self, function: Student, called: str) -> str | None:
        leaves = [_leaf(item) for item in self.inputs]
        result = function(*_copy(leaves))
        total = sum(part.sum() for part in (result if isinstance(result, (tuple, list)) else [result]))
        if not _is_tensor(total) or not total.requires_grad:
            return None  # another example says so
        found = torch.autograd.grad(total, [leaf for leaf in leaves if _has_gradient(leaf)], allow_unused=True)
        if all(gradient is None or bool(gradient.isfinite().all()) for gradient in found):
            return None
        return f"the result of {called} is right, but gradients are NaN: make sure that no NaN appears on the way."


class ModuleExample(NamedTuple):
    """One module of the student's class, with known weights: what it must return, and what gradients must reach."""

    name: str
    arguments: dict[str, object]
    weights: dict[str, torch.Tensor]
    inputs: tuple[object, ...]
    expected: object
    training: bool = False
    mask_size: int | None = None  # where there must be a buffer `mask`, its last two sizes
    causal: bool = False  # no word may look at later ones

    def problem(self, student_class: Student, called: str) -> str | None:
        module = _built(student_class, self.arguments)
        if not isinstance(module, torch.nn.Module):
            return f"{called} is not a module. Start with `class {called}(nn.Module):`, as in the cell above."
        even = _not_random(module, self.weights)
        problem = _load(module, self.weights, called)
        if problem:
            return problem
        module.train(self.training)
        leaves = [_leaf(item) for item in self.inputs]
        inputs = _copy(leaves)
        result = module(*inputs)
        problem = _wrong(result, self.expected, called)
        changed = _changed(inputs, self.inputs, called)
        if problem:
            ahead = self.causal and not self.training and looks_ahead(module, self.inputs)
            also = f"{NEW_LINE}Also, {changed}" if changed else ""
            return problem + (LOOKS_AHEAD if ahead else "") + _not_expected(module, self.weights) + also
        return (
            (changed and f"the result is right, but {changed}")
            or self._again(module, result, called)
            or _without_gradient(_reached(module, self.weights, leaves), result)
            or (_mask_problem(module, self.mask_size) if self.mask_size else None)
            or even
            or _not_finite(module(*(100 * item if _has_gradient(item) else item for item in self.inputs)))
            or _other_dtype(result, (*self.inputs, *self.weights.values()))
            or _wrong_in_double(module.double(), self.inputs, called, *self.weights.values())
            or _other_order(student_class, list(self.arguments), called)
        )

    def _again(self, module: torch.nn.Module, result: object, called: str) -> str | None:
        """What is wrong with a second call with the same input."""
        if not self.training:
            return _otherwise_again(module(*_copy(self.inputs)), self.expected, called)
        return _alike(result, module(*_copy(self.inputs))) if callable(self.expected) else None


def _built(student_class: Student, arguments: dict[str, object]) -> Any:
    """A module, with the arguments by position if they have other names. In another order, they are told by name."""
    parameters = inspect.signature(student_class).parameters.values()
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    if takes_any or arguments.keys() <= {parameter.name for parameter in parameters}:
        return student_class(**arguments)
    return student_class(*arguments.values())


class Refusal(NamedTuple):
    """Arguments that make no sense, so that building the module must raise an error."""

    name: str
    arguments: dict[str, object]

    def problem(self, student_class: Student, called: str) -> str | None:
        try:
            _built(student_class, self.arguments)
        except Exception as error:
            if is_to_do(error, called):
                raise
            return None
        return f"{called} was built without an error. Raise one that says what is wrong, or use assert."


class Several(NamedTuple):
    """Eight calls with the same arguments, for what chance has a part in."""

    name: str
    inputs: tuple[object, ...]
    expected: Callable[[list[torch.Tensor]], str | None]  # says in words what is wrong with their results

    def problem(self, function: Student, called: str) -> str | None:  # noqa: ARG002  as the others
        results = [function(*_copy(self.inputs)) for _ in range(8)]
        return self.expected(results) if all(map(_is_tensor, results)) else None


def _wrong(result: object, expected: object, called: str) -> str | None:
    """What is wrong with a result, in words."""
    if result is None:
        return f"{called} returned None. Does it end with a return statement?"
    if callable(expected):
        said: str | None = expected(result)
        return said
    found = difference(result, expected, TOLERANCE)
    if found is None:
        return _of_16_bits(result)
    said = f"{found.sentence()}{NEW_LINE}There: {found.numbers}." if found.numbers else found.sentence()
    like = looks_like(result, expected, TOLERANCE)
    return f"{said}{NEW_LINE}{like}" if like else said


def _of_16_bits(result: object) -> str | None:
    """Numbers that are near enough here, and would not be elsewhere."""
    small = rounded_by(result)
    return f"the result has 16-bit numbers, {small}. Compute in float32 throughout." if small else None


def _changed(inputs: Sequence[object], before: Sequence[object], called: str) -> str | None:
    can_change = [pair for pair in zip(inputs, before, strict=True) if _is_tensor(pair[0]) or isinstance(pair[0], list)]
    if all(difference(now, then, 0.0) is None for now, then in can_change):
        return None
    return (
        f"{called} changes its input.{NEW_LINE}"
        "Compute a new tensor instead of using -=, x[i] = … and the like on an argument."
    )


def _otherwise_again(result: object, expected: object, called: str) -> str | None:
    """A second call that gives something else than the first one, which was right."""
    if _wrong(result, expected, called) is None:
        return None
    return (
        f"the result is right, but a second call with the same input gives a different one.{NEW_LINE}"
        "Keep nothing from one call to the next, and change no parameter or buffer in forward."
    )


def _alike(result: object, again: object) -> str | None:
    """In training, chance has a part in each call."""
    if not _is_tensor(result) or not _is_tensor(again) or not torch.equal(result, again):
        return None
    return "in training, two calls give the same output. Do not set a seed in your class."


def _other_order(student_class: Student, names: list[str], called: str) -> str | None:
    """Arguments of __init__ that come in another order than others will give them."""
    own = [name for name in inspect.signature(student_class).parameters if name in names]
    if own == [name for name in names if name in own]:
        return None
    return (
        f"the result is right, but {called} takes ({', '.join(own)}), in this order.{NEW_LINE}"
        f"It will be called with ({', '.join(names)})."
    )


def _load(module: torch.nn.Module, weights: dict[str, torch.Tensor], called: str) -> str | None:
    """Put known weights into a module, or say which parameter is missing or has another shape.

    What nobody asked for gets a number that shows, as a bias that begins with zeros would not.
    """
    parameters = dict(module.named_parameters(remove_duplicate=False))
    first = {id(parameter): name for name, parameter in reversed(parameters.items())}
    for name, weight in weights.items():
        if name not in parameters:
            return _missing(module, name, weights, called)
        if (other := first[id(parameters[name])]) != name and other in weights:
            same = f"{name} and {other} are one and the same parameter. Make a new one for each."
            return _wrong_list(module, name, weights) or same
        if parameters[name].shape != weight.shape:
            return f"{name} has shape {tuple(parameters[name].shape)}, but {tuple(weight.shape)} was expected."
    with torch.no_grad():
        for name, parameter in parameters.items():
            if name in weights:
                parameter.copy_(weights[name])
            elif parameter.requires_grad and not name.endswith("mask"):
                parameter.fill_(NOT_ASKED_FOR)
    return None


def _missing(module: torch.nn.Module, name: str, weights: dict[str, torch.Tensor], called: str) -> str:
    if _is_tensor(getattr(module, name, None)):
        return f"{name} is a tensor, but not a parameter, so it would not be trained. Wrap it in nn.Parameter(…)."
    if of_list := _wrong_list(module, name, weights):
        return of_list
    present = [name for name, _ in module.named_parameters()]
    return (
        f"{called} has no parameter {name}.{NEW_LINE}Expected: {some(list(weights))}.{NEW_LINE}"
        f"Your module has: {some(present) or 'no parameters at all'}."
    )


def _wrong_list(module: torch.nn.Module, name: str, weights: dict[str, torch.Tensor]) -> str:
    """Why parameters of a list of modules, such as heads.0.W_query.weight, are not all there."""
    called, _, rest = name.partition(".")
    parts = getattr(module, called, None)
    if not rest or not isinstance(parts, list | tuple | torch.nn.ModuleList):
        return ""
    if not isinstance(parts, torch.nn.ModuleList):
        return f"{called} is a plain {type(parts).__name__}, in which PyTorch finds no parameters. Use nn.ModuleList."
    if len({id(part) for part in parts}) < len(parts):
        return f"{called} holds the same module more than once, with one set of weights. Make a new one each time."
    asked = len({other.split(".")[1] for other in weights if other.startswith(f"{called}.")})
    held = f"{len(parts)} module{'s' * (len(parts) != 1)}"
    return "" if len(parts) == asked else f"{called} holds {held}, but {asked} were asked for."


def some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more < 2 else f"{', '.join(names[:MOST_NAMES])} and {more} more"


def _not_expected(module: torch.nn.Module, weights: dict[str, torch.Tensor]) -> str:
    """Parameters that may be the reason for a wrong result."""
    more = [name for name, _ in module.named_parameters() if name not in weights]
    return f"{NEW_LINE}Your module also has parameters that are not expected here: {some(more)}." if more else ""


def _reached(
    module: torch.nn.Module, weights: dict[str, torch.Tensor], inputs: list[object]
) -> list[tuple[str, torch.Tensor]]:
    """The parameters and inputs that gradients must reach, and what they are called."""
    reached = [(name, parameter) for name, parameter in module.named_parameters() if name in weights]
    return reached + [("its input", item) for item in inputs if _has_gradient(item)]


def _without_gradient(reached: list[tuple[str, torch.Tensor]], result: torch.Tensor) -> str | None:
    """The first of these that no gradient reaches."""
    gradients: Sequence[object] = [None] * len(reached)
    frozen = [name for name, item in reached if not item.requires_grad]
    if frozen:
        return (
            f"the result is right, but {frozen[0]} has requires_grad=False, so it would not be trained. Leave that out."
        )
    if result.requires_grad:
        try:
            gradients = torch.autograd.grad(result.sum(), [item for _, item in reached], allow_unused=True)
        except RuntimeError:
            return (
                f"the result is right, but no gradient can be computed.{NEW_LINE}"
                "Avoid changing tensors in place (-=, /=, x[i] = …) on the way: a gradient may need the old numbers."
            )
    lost = [name for (name, _), gradient in zip(reached, gradients, strict=True) if gradient is None]
    if not lost:
        return None
    return (
        f"the result is right, but no gradient reaches {lost[0]}, so it could not be trained.{NEW_LINE}"
        "Avoid detach(), .data, .item(), torch.tensor(…) and torch.no_grad() on the way from there to the result."
    )


def _other_dtype(result: object, inputs: tuple[object, ...]) -> str | None:
    given = next((item.dtype for item in inputs if _has_gradient(item)), None)  # whole numbers say nothing
    results = result if isinstance(result, (tuple, list)) else [result]
    found = next((one.dtype for one in results if _is_tensor(one) and one.dtype != given), None)
    if given is None or found is None:
        return None
    return (
        f"{'the' if _is_tensor(result) else 'a'} result has the dtype {found} where the input has {given}.{NEW_LINE}"
        "Make new tensors with x.new_zeros(…) or dtype=x.dtype, and leave out .float() and .double()."
    )


def _wrong_in_double(function: Student, inputs: tuple[object, ...], called: str, *weights: object) -> str | None:
    """What is wrong with the type of the result, or stops the code, where the same inputs are in float64."""
    given = tuple(map(_double, inputs))
    try:
        result = function(*given)
    except Exception as error:
        return (
            f"the result is right, but with the same numbers in float64, {called} stopped with {described(error)}"
            f"{NEW_LINE}Make new tensors with x.new_zeros(…) or dtype=x.dtype, and leave out .float()."
        )
    return _other_dtype(result, (*given, *map(_double, weights)))


def _not_finite(result: object) -> str | None:
    if not _is_tensor(result) or bool(result.isfinite().all()):
        return None
    what = "NaN" if bool(result.isnan().any()) else "infinity"
    advice = "Make sure that no exp overflows, no sum is 0, and no logarithm of 0 is taken."
    return f"the result is right, but for large scores it contains {what}.{NEW_LINE}{advice}"


def _not_random(module: torch.nn.Module, weights: dict[str, torch.Tensor]) -> str | None:
    """The first weights of a new module that are the same number everywhere."""
    for name, parameter in module.named_parameters():
        is_even = parameter.numel() > 1 and bool((parameter == parameter.flatten()[0]).all())
        if name in weights and parameter.dim() > 1 and is_even:
            return f"the result is right, but in a new module {name} is the same number everywhere. Make it random."
    return None


def _mask_problem(module: torch.nn.Module, size: int) -> str | None:
    mask = dict(module.named_buffers()).get("mask")
    if mask is None:
        return f'the result is right, but {_instead_of_mask(module)} Use self.register_buffer("mask", …) in __init__.'
    if "mask" not in module.state_dict():
        return "the result is right, but mask is not in state_dict. Leave out persistent=False."
    if mask.shape[-2:] != (size, size):
        return f"the buffer mask has shape {tuple(mask.shape)}, but context_length × context_length was expected."
    return None


def _instead_of_mask(module: torch.nn.Module) -> str:
    if "mask" in dict(module.named_parameters()):
        return "mask is a parameter, so an optimizer would get it, too."
    others = [name for name, _ in module.named_buffers()]
    return f"the buffer is called {others[0]}, not mask." if len(others) == 1 else "there is no buffer mask."


def _is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    return isinstance(value, torch.Tensor)


def _has_gradient(value: object) -> TypeGuard[torch.Tensor]:
    """A mask of booleans or whole numbers has none."""
    return _is_tensor(value) and value.is_floating_point()


def _leaf(value: object) -> object:
    """A copy that gradients can reach."""
    return value.clone().requires_grad_() if _has_gradient(value) else value


def _double(value: object) -> object:
    return value.double() if _has_gradient(value) else value


def is_to_do(error: Exception, called: str) -> bool:
    """Whether it stopped as it was handed out, or has no forward. PyTorch says what else is not implemented."""
    lacks_forward = f"[{called}] is missing the required" in str(error)
    return isinstance(error, NotImplementedError) and (not error.args or lacks_forward)


def described(error: BaseException) -> str:
    """The error in one line, with the line of the notebook where it happened."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{type(error).__name__}: {error.msg}, in line {error.lineno}."
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    place = line_of(error)
    return f"{text}{NEW_LINE}{place}" if place else f"{text.rstrip('.')}."


def line_of(error: BaseException) -> str:
    """Where it happened: the innermost line of the notebook, in words; empty if there is none."""
    lines = [
        frame.line
        for frame in traceback.extract_tb(error.__traceback__)
        if "ipython-input" in frame.filename or "ipykernel" in frame.filename
    ]
    return f"at the line `{lines[-1]}`" if lines and lines[-1] else ""


def _copy(value: object) -> Any:
    if _is_tensor(value):
        return value.clone()
    return type(value)(map(_copy, value)) if isinstance(value, (list, tuple)) else value
