"""A class: a torch.nn.Module, whose parameters, outputs, gradients and more are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from grader.model.forms.function import Malformed
from grader.model.forms.parts import InParts, named

MAX_DIMENSIONS = 64  # as many as torch has

Shapes = Mapping[str, list[int]]  # by name


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
    frozen: list[str]  # parameters that are not trained
    even: list[str]  # parameters that are the same number everywhere
    unsaved: list[str]  # buffers that are not in its state_dict
    numbers: Mapping[str, int | None] = field(
        default_factory=dict
    )  # attributes that must be some; None if they are not
    outputs: Mapping[str, Any] | None = None  # by call; None if its parameters are not the right ones
    changes_input: bool = False
    in_part: Mapping[str, Any] | None = None  # outputs with the parameters that fit
    gradients: Mapping[str, torch.Tensor | None] | None = None  # if they were asked for
    ruined: bool = False  # whether a change in place has made them impossible

    @property
    def asked_gradients(self) -> Mapping[str, torch.Tensor | None] | None:
        """The gradients asked for; None if they are ruined."""
        if self.gradients is None and not self.ruined:
            raise Malformed
        return self.gradients


class Module(InParts):
    """A class that is built, given weights, and called."""

    name = "module"
    noun = "class"
    lendable = False  # unless its exercise says how; most notebooks give a class that a later one takes
    methods = ("__init__", "forward")

    def observed(self, value: object) -> Any:
        """What `observe` in the sandbox noted: whether it can be built, or what it holds and does."""
        match value:
            case {"built": bool(built), **more} if not more:
                return BuildSeen(built)
            case {
                "parameters": parameters, "buffers": buffers, "attributes": attributes,
                "frozen": frozen, "even": even, "unsaved": unsaved, **more,
            }:  # fmt: skip
                return ModuleSeen(
                    parameters=_shapes(parameters), buffers=_shapes(buffers), attributes=_shapes(attributes),
                    frozen=_names(frozen), even=_names(even), unsaved=_names(unsaved),
                    numbers=_numbers(more.pop("numbers", {})), **_done(more),
                )  # fmt: skip
        raise Malformed

    def is_evidence(self, wrong: Any) -> bool:
        """Whether a wrong answer is more than a refusal to be built, which shows nothing of what is computed."""
        return list(wrong) != ["arguments"]


def _shapes(held: object) -> Shapes:
    if not isinstance(held, dict) or not all(map(_is_shape, held.values())):
        raise Malformed
    return held


def _is_shape(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MAX_DIMENSIONS and all(type(size) is int for size in value)


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Malformed
    return value


def _numbers(value: object) -> Mapping[str, int | None]:
    if not isinstance(value, dict) or not all(number is None or type(number) is int for number in value.values()):
        raise Malformed
    return value


def _done(more: dict[Any, Any]) -> dict[Any, Any]:
    """What was seen of a module's calls, if any."""
    match more:
        case {"outputs": dict(), "changes_input": bool(), "gradients": None, **rest} if not rest:
            return {**more, "ruined": True}
        case {"outputs": dict(), "changes_input": bool(), "gradients": dict(found), **rest} if not rest:
            if all(gradient is None or isinstance(gradient, torch.Tensor) for gradient in found.values()):
                return more
        case {"outputs": dict(), "changes_input": bool(), **rest} | {"in_part": dict(), **rest} if not rest:
            return more
        case {**rest} if not rest:
            return more
    raise Malformed


def with_gradients_in_order(value: Any, order: Sequence[int]) -> Any:
    """Renumber the inputs' gradients that the sandbox sent, for arguments in this order."""
    gradients = named(value, "gradients")
    if not order or not isinstance(gradients, dict):
        return value
    renumbered = {str(order[int(name)]) if name.isdigit() else name: found for name, found in gradients.items()}
    return {**value, "gradients": {name: renumbered[name] for name in gradients}}


class ClassInputs(NamedTuple):
    """The inputs of a case about a class."""

    arguments: Sequence[Any]
    weights: Mapping[str, Any]
    calls: Mapping[str, Sequence[Any]]
    how: Mapping[str, Any]

    @property
    def gradients(self) -> int:
        """For how many inputs of a call gradients are asked."""
        return int(self.how.get("gradients", 0))


MODULE = Module()


# A class whose forward takes a text in chunks, and hands on what it keeps of them.


class Cached(Module):
    """A class whose runs are compared like the outputs of other classes."""

    name = "cached"


CACHED = Cached()


# A class whose new modules count, too: the parameters that they begin with.


@dataclass(frozen=True)
class NewSeen:
    """The parameters that a new module begins with, by name."""

    parameters: Mapping[str, Any]


class NewModule(Module):
    """A class that is built and looked at, or given weights and called."""

    name = "new_module"
    at_a_glance = False

    def observed(self, value: object) -> Any:
        """The parameters of a new module, or what is noted for any class."""
        match value:
            case {"new": dict(parameters), **more} if not more:
                return NewSeen(parameters)
        return super().observed(value)


NEW_MODULE = NewModule()
