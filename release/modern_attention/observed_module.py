"""A class: build a module, load weights by name, run it, and note all that is judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from torch import nn

from observed_piece import Function, Inputs, Observed, Options, copy_tensor, is_ruined

Tensor = torch.Tensor
Calls: TypeAlias = Mapping[str, Inputs]  # by what they show

FILL = 0.25  # for parameters that nobody asked for, so that what they do is the same each time


def call_module(module: nn.Module, *arguments: object) -> Any:
    """Put a call to a module where no probe does."""
    return module(*arguments)


def put_calls(module_class: Function, inputs: Inputs, put_call: Function = call_module) -> Observed:
    """What `observe` sees of a student's class."""
    arguments, weights, calls, options = inputs
    return observe(module_class, arguments, weights, calls, options, put_call)


def put_or_new(module_class: Function, inputs: Inputs) -> Observed:
    """What `observe` sees, or the initial parameters of a new module if the case asks for those."""
    arguments, weights, *_, options = inputs
    if "new" not in options:
        return put_calls(module_class, inputs)
    module = module_class(*arguments)
    move(module, weights)
    return {"new": {name: parameter.detach() for name, parameter in module.named_parameters()}}


def observe(
    module_class: Function,
    arguments: Inputs,
    weights: Mapping[str, Tensor],
    calls: Calls,
    options: Options,
    put_call: Function = call_module,
) -> Observed:
    """Build a module with `arguments`, give it these weights, put each of `calls` to it, and note what it does.

    `options` say whether the module is in training ("train"), for how many inputs of a call gradients are asked
    ("gradients": whole numbers have none), for which call if not the first ("gradients of"), whether no module can be
    built with the arguments ("impossible"), and which attributes must be numbers ("numbers"). "new" asks `put_or_new`
    for the first parameters; "extra" is for whoever reads what was seen. `put_call` may put a call otherwise.
    """
    if options.get("impossible"):
        return {"built": _can_be_built(module_class, arguments)}
    module = module_class(*arguments)
    if not isinstance(module, nn.Module):
        raise TypeError("this is not a torch.nn.Module. Derive your class from nn.Module.")
    observed = describe(module) | observe_numbers(module, options)
    fits = load(module, weights)
    move(module, weights)
    module.train(bool(options.get("train")))
    if not fits:
        return observed | observe_calls_in_part(module, calls, put_call)
    observed |= observe_calls(module, calls, put_call)
    if options.get("gradients"):
        arguments = call_of_gradients(calls, options)
        observed["gradients"] = gradients(module, weights, arguments, options["gradients"], put_call)
    return observed


def observe_calls(module: nn.Module, calls: Calls, put_call: Function) -> Observed:
    """The output of each call, and whether any call changes its inputs."""
    observed: Observed = {"changes_input": False, "outputs": {}}
    for name, inputs in calls.items():
        arguments = [copy_tensor(value) for value in inputs]
        observed["outputs"][name] = put_call(module, *arguments)
        observed["changes_input"] |= not all(map(same, arguments, inputs))
    return observed


def observe_calls_in_part(module: nn.Module, calls: Calls, put_call: Function) -> Observed:
    """The outputs of a module that lacks some parameters, unless they are random."""
    if not is_the_same_each_time(module):
        return {}
    try:
        outputs = observe_calls(module, calls, put_call)["outputs"]
    except Exception:  # because of parameters that do not fit, which is reported anyway
        return {}
    return {"in_part": outputs} if all(isinstance(output, Tensor) for output in outputs.values()) else {}


def is_the_same_each_time(module: nn.Module) -> bool:
    """Whether it drops nothing and computes with parameters, which are filled: other numbers may be random."""
    return not module.training and bool(_parameters(module)) and not _hides_modules(module)


def _hides_modules(module: nn.Module) -> bool:
    """Whether it keeps modules in a plain list, where PyTorch does not find their parameters."""
    attributes = [value for submodule in module.modules() for value in vars(submodule).values()]
    lists = [value for value in attributes if isinstance(value, list | tuple)]
    return any(isinstance(item, nn.Module) for items in lists for item in items)


def _can_be_built(module_class: Function, arguments: Inputs) -> bool:
    try:
        module_class(*arguments)
    except (Exception, SystemExit) as error:
        if isinstance(error, NotImplementedError) and not error.args:  # still to do
            raise
        return False
    return True


def describe(module: nn.Module) -> Observed:
    """Names and shapes of all tensors that a module holds, by how it holds them."""
    parameters = _parameters(module)
    return {
        "parameters": {name: list(parameter.shape) for name, parameter in parameters.items()},
        "shared": _shared(parameters),
        "frozen": [name for name, parameter in parameters.items() if not parameter.requires_grad],
        "even": [name for name, parameter in parameters.items() if parameter.dim() > 1 and _is_even(parameter)],
        "buffers": {name: list(buffer.shape) for name, buffer in module.named_buffers(remove_duplicate=False)},
        "unsaved": [
            f"{prefix}.{name}".lstrip(".")
            for prefix, submodule in module.named_modules()
            for name in sorted(submodule._non_persistent_buffers_set)
        ],
        "attributes": {
            f"{prefix}.{name}".lstrip("."): list(value.shape)
            for prefix, submodule in module.named_modules()
            for name, value in vars(submodule).items()
            if isinstance(value, Tensor)
        },
    }


def _shared(parameters: Mapping[str, nn.Parameter]) -> dict[str, str]:
    """For each name of a parameter that has another one, the first."""
    first: dict[int, str] = {}
    for name, parameter in parameters.items():
        first.setdefault(id(parameter), name)
    return {name: first[id(parameter)] for name, parameter in parameters.items() if first[id(parameter)] != name}


def observe_numbers(module: nn.Module, options: Options) -> Observed:
    """The attributes that are asked for, if any are; None for those that are no whole numbers, or far too large."""
    numbers = {name: getattr(module, name, None) for name in options.get("numbers", ())}
    for name, number in numbers.items():
        if type(number) is not int or abs(number) >= 2**53:
            numbers[name] = None
    return {"numbers": numbers} if numbers else {}


def _is_even(parameter: torch.Tensor) -> bool:
    """Whether it is the same number everywhere, which random numbers never are."""
    numbers = parameter.flatten()
    # Two numbers first: they end the question for nearly all, and there are a hundred thousand in a large layer.
    return len(numbers) > 1 and bool(numbers[0] == numbers[1]) and bool((numbers == numbers[0]).all())


def move(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Move it to the device of the weights, and to their type if they are float64."""
    first = next(iter(weights.values()))
    module.to(first.device, torch.float64 if first.dtype is torch.float64 else None)


def _parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """Under all names: the same head may be known by two."""
    return dict(module.named_parameters(remove_duplicate=False))


def load(module: nn.Module, weights: Mapping[str, Tensor]) -> bool:
    """Copy the weights into the parameters of these names, where there are such with these shapes: whether all fit."""
    parameters = _parameters(module)
    fitting = {
        name: weight
        for name, weight in weights.items()
        if name in parameters and parameters[name].shape == weight.shape
    }
    with torch.no_grad():
        for name, parameter in parameters.items():
            if parameter.requires_grad and not _is_mask(name, parameter):  # which is not random, and must stay
                parameter.fill_(FILL)
        for name, weight in fitting.items():
            parameters[name].copy_(weight)
    return len(fitting) == len(weights)


def _is_mask(name: str, parameter: torch.Tensor) -> bool:
    """By its name, or because it is a square with one number above its diagonal, and another one on and below it."""
    if name.endswith("mask"):
        return True
    if parameter.dim() < 2 or parameter.shape[-1] != parameter.shape[-2] or parameter.shape[-1] < 2:
        return False
    if not bool((parameter[..., 0, 1:] == parameter[..., 0, -1:]).all()):  # the first row tells nearly all apart
        return False
    upper = torch.ones_like(parameter, dtype=torch.bool).triu(1)
    above, below = parameter[upper], parameter[~upper]
    return bool((above == above[0]).all() and (below == below[0]).all() and above[0] != below[0])


def call_of_gradients(calls: Calls, options: Options) -> Inputs:
    """The one whose gradients are asked for."""
    return calls[options["gradients of"]] if "gradients of" in options else next(iter(calls.values()))


def gradients(
    module: nn.Module, weights: Mapping[str, Tensor], arguments: Inputs, inputs: int, put_call: Function
) -> dict[str, Tensor | None] | None:
    """The gradients of a weighted sum of the output, for the weights by name and for the first inputs by number.

    None if something on the way was changed in place that is needed on the way back.
    """
    real = [index for index in range(inputs) if arguments[index].is_floating_point()]
    leaves = list(arguments)
    for index in real:
        leaves[index] = copy_tensor(arguments[index]).requires_grad_()
    # Copies, so that they may be changed in place as any tensor on the way.
    output = put_call(module, *map(copy_tensor, leaves))
    parameters = _parameters(module)
    sources = {name: parameters[name] for name in weights} | {str(i): leaves[i] for i in real}
    if not (isinstance(output, Tensor) and output.requires_grad):
        return dict.fromkeys(sources)
    factors = torch.arange(output.numel(), device=output.device, dtype=output.dtype).cos().reshape(output.shape)
    trainable = {name: tensor for name, tensor in sources.items() if tensor.requires_grad}
    try:
        tensors = torch.autograd.grad((output * factors).sum(), list(trainable.values()), allow_unused=True)
    except RuntimeError as error:
        if is_ruined(error):
            return None
        raise
    return {**dict.fromkeys(sources), **dict(zip(trainable, tensors, strict=True))}


def same(one: object, other: object) -> bool:
    return torch.equal(one, other) if isinstance(one, Tensor) and isinstance(other, Tensor) else one is other
