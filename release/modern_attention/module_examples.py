"""Examples for visible checks of classes: a module with known weights, and what it must return, keep and do.

They look at a module as hidden cases do, and say the same about it.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from visible_examples import (
    NEW_LINE,
    Student,
    described,
    list_names,
    not_what_was_asked,
    right_but,
    wrong_result,
)
from broken_rules import (
    BUILT,
    CHANGED,
    FLOAT64,
    LARGE,
    LATER_CHANGED,
    SAME_DROPPED,
    SECOND_CALL,
    ModuleSeen,
    another_order,
    named_gradients,
    not_random,
    other_type,
    wrong_behavior,
    wrong_mask,
    wrong_parameters,
)
from observed_module import observe
from nested import first_numbers, in_double, map_tensors

Tensor = torch.Tensor

LARGE_NUMBERS = "output for numbers that are 100 times as large"


class ModuleExample(NamedTuple):
    """One module of the student's class, with known weights."""

    name: str
    arguments: dict[str, object]
    weights: dict[str, Tensor]
    inputs: tuple[Any, ...]
    expected: object
    training: bool = False
    mask_size: int | None = None  # where there must be a buffer for a mask, its last two sizes
    causal: bool = False  # no word may look at later ones

    def problem(self, student_class: Student, called: str) -> str | None:
        build = functools.partial(_built, student_class, self.arguments)
        tensors = itertools.takewhile(lambda item: isinstance(item, Tensor), self.inputs)
        options = {"train": self.training, "gradients": len(list(tensors))}
        observation = ModuleSeen.of(observe(build, (), self.weights, self._calls(), options))
        parameters = wrong_parameters(observation, self.weights)
        if parameters or observation.outputs is None:
            return not_what_was_asked(called, parameters)
        outputs = dict(observation.outputs)
        problem, behavior = wrong_result(outputs["output"], self.expected, "class"), self._behavior(outputs)
        if problem is None:
            return right_but(behavior or self._broken_rule(student_class, observation, outputs, called))
        also = behavior, _unasked(observation.parameters, self.weights), CHANGED if observation.changes_input else ""
        return NEW_LINE.join(filter(None, [problem, *also]))

    def _calls(self) -> dict[str, Sequence[Any]]:
        """The input, again, with another last word, and with large numbers."""
        calls: dict[str, Sequence[Any]] = {"output": self.inputs, SECOND_CALL: self.inputs}
        if self._is_by_chance:  # these are many texts, and other examples have these calls
            return calls
        words, *other_inputs = self.inputs
        if self.causal:
            last = words[:, -1:] + 1 if words.is_floating_point() else words[:, :1]
            calls[LATER_CHANGED] = [torch.cat([words[:, :-1], last], dim=1), *other_inputs]
        return calls | {LARGE_NUMBERS: map_tensors(_enlarged, self.inputs)}

    @property
    def _is_by_chance(self) -> bool:
        """Whether chance has a part in the output."""
        return self.training and callable(self.expected)

    def _behavior(self, outputs: Mapping[str, Any]) -> str:
        """A sentence on what outputs must not depend on, where chance has no part in them."""
        if not all(isinstance(output, Tensor) for output in outputs.values()):
            return ""
        if self._is_by_chance:
            return SAME_DROPPED if torch.equal(outputs["output"], outputs[SECOND_CALL]) else ""
        return wrong_behavior(outputs, self.inputs[0], self.causal)

    def _broken_rule(
        self, student_class: Student, observation: ModuleSeen, outputs: Mapping[str, Any], called: str
    ) -> str:
        """A sentence on what is wrong beside right numbers."""
        gradients = named_gradients(observation)
        return (
            (gradients if isinstance(gradients, str) else "")
            or (wrong_mask(observation, self.mask_size) if self.mask_size else "")
            or (CHANGED if observation.changes_input else "")
            or other_type(outputs["output"], first_numbers([self.inputs, self.weights]))
            or not_random(observation, self.weights)
            or ("" if bool(outputs.get(LARGE_NUMBERS, torch.zeros(1)).isfinite().all()) else LARGE)
            or ("" if self._is_by_chance else self._wrong_in_double(student_class))
            or _other_order(student_class, list(self.arguments), called)
        )

    def _wrong_in_double(self, student_class: Student) -> str:
        build = functools.partial(_built, student_class, self.arguments)
        weights, inputs = map_tensors(in_double, self.weights), map_tensors(in_double, self.inputs)
        try:
            output = observe(build, (), weights, {"output": inputs}, {"train": self.training})["outputs"]["output"]
        except Exception as error:
            return f"{FLOAT64}{NEW_LINE}Your class stopped with {described(error)}"
        wrong = other_type(output, first_numbers([inputs, weights]))
        return wrong and f"{FLOAT64}{NEW_LINE}{wrong}"


class Refusal(NamedTuple):
    """Arguments that make no sense, so that building the module must raise an error."""

    name: str
    arguments: dict[str, object]

    def problem(self, student_class: Student, called: str) -> str | None:
        build = functools.partial(_built, student_class, self.arguments)
        is_built = observe(build, (), {}, {}, {"impossible": True})["built"]
        return not_what_was_asked(called, BUILT) if is_built else None


def _built(student_class: Student, arguments: dict[str, object]) -> Any:
    """A module, with the arguments by position if they have other names. In another order, they are told by name."""
    parameters = inspect.signature(student_class).parameters.values()
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    if takes_any or arguments.keys() <= {parameter.name for parameter in parameters}:
        return student_class(**arguments)
    return student_class(*arguments.values())


def _unasked(parameters: Iterable[str], weights: Mapping[str, Tensor]) -> str:
    """Parameters that may be the reason for a wrong result."""
    unexpected = [name for name in parameters if name not in weights]
    if not unexpected:
        return ""
    return f"Your module also has parameters that are not expected here: {list_names(unexpected)}."


def _enlarged(tensor: Tensor) -> Tensor:
    return 100 * tensor if tensor.is_floating_point() else tensor


def _other_order(student_class: Student, expected_order: list[str], called: str) -> str:
    """A sentence on arguments of __init__ that come in another order than others will give them."""
    actual_order = [name for name in inspect.signature(student_class).parameters if name in expected_order]
    if actual_order == [name for name in expected_order if name in actual_order]:
        return ""
    return another_order(called, actual_order, expected_order)


class FirstOfTwo(torch.nn.Module):
    """A module of which the first of two results counts, under the names of its own parameters."""

    module: Any

    def __init__(self, module: Any) -> None:
        super().__init__()
        for name, part in module.named_children() if isinstance(module, torch.nn.Module) else ():
            self.add_module(name, part)
        vars(self)["module"] = module

    def forward(self, x: torch.Tensor) -> Any:
        returned = self.module(x)
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise TypeError("forward must return two things, y and the cache")
        return returned[0]
