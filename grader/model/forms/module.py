"""A class: a torch.nn.Module, whose parameters, outputs, gradients and more are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import torch
from msgspec import UNSET, Meta, UnsetType

from grader.model.broken_rules import BuildSeen, Gradients, ModuleSeen
from grader.model.forms.function import Observation, observation
from grader.model.forms.parts import InParts, named

Shape = Annotated[list[int], Meta(max_length=64)]  # torch has as many dimensions
Shapes = dict[str, Shape]  # by name


class BuildObservation(Observation, frozen=True):
    """Whether a module was built of arguments that cannot work."""

    built: bool


class ModuleObservation(Observation, frozen=True):
    """What `ModuleSeen` says of a module, as the sandbox sends it."""

    parameters: Shapes
    buffers: Shapes
    attributes: Shapes
    shared: dict[str, str]
    frozen: list[str]
    even: list[str]
    unsaved: list[str]
    numbers: dict[str, int | None] = msgspec.field(default_factory=dict)
    outputs: dict[str, Any] | None = None
    changes_input: bool = False
    in_part: dict[str, Any] | None = None
    gradients: Gradients | UnsetType | None = UNSET  # if they were asked for; None if they are ruined

    def seen(self) -> ModuleSeen:
        fields = msgspec.structs.asdict(self)
        if self.gradients is UNSET:
            del fields["gradients"]
        return ModuleSeen.of(fields)


class Module(InParts):
    """A class that is built, given weights, and called."""

    name = "module"
    noun = "class"
    lendable = False  # unless its exercise says how; most notebooks give a class that a later one takes
    methods: tuple[str, ...] = ("__init__", "forward")

    def observed(self, value: object) -> Any:
        """What `observe` in the sandbox noted: whether it can be built, or what it holds and does."""
        if isinstance(value, dict) and "built" in value:
            return BuildSeen(observation(value, BuildObservation).built)
        return observation(value, ModuleObservation).seen()

    def is_evidence(self, wrong: Any) -> bool:
        """Whether a wrong answer is more than a refusal to be built, which shows nothing of what is computed."""
        return list(wrong) != ["arguments"]


def with_gradients_in_order(value: Any, order: Sequence[int]) -> Any:
    """Renumber the inputs' gradients that the sandbox sent, for arguments in this order."""
    gradients = named(value, "gradients")
    if not order or not isinstance(gradients, dict):
        return value
    new_names = {str(index): str(position) for index, position in enumerate(order)}
    renumbered = {new_names.get(name, name): gradient for name, gradient in gradients.items()}
    names = [name for name in (*gradients, *renumbered) if name in renumbered]
    return {**value, "gradients": {name: renumbered[name] for name in names}}


@dataclass(frozen=True)
class ClassCase:
    """What a case about a class asks for: with which arguments a module is built, and how it is called."""

    arguments: Sequence[Any]
    """Of the class."""
    weights: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """To load, by the names of parameters."""
    calls: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The arguments of each call, by what it shows. The first is "output"."""
    train: bool = False
    """Whether the module is in training."""
    gradients: int = 0
    """For how many arguments of a call gradients are asked, beside those for the weights. 0: for nothing."""
    gradients_of: str = ""
    """The call whose gradients are asked for, if not the first."""
    numbers: Sequence[str] = ()
    """Attributes that must be whole numbers."""
    extra: torch.Tensor | None = None
    """What shows whether it is weights that were dropped: see `dropout_trial`."""
    new: bool = False
    """Ask only for the parameters that a new module begins with."""
    impossible: bool = False
    """The arguments cannot work: the class must refuse them."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What goes to the sandbox: see `observe` there for what may be asked."""
        calls = {name: list(call) for name, call in self.calls.items()}
        return list(self.arguments), dict(self.weights), calls, self._requests

    @property
    def _requests(self) -> dict[str, Any]:
        if self.impossible:
            return {"impossible": True}
        if self.new:
            return {"new": True}
        options = {"gradients of": self.gradients_of, "extra": self.extra, "numbers": list(self.numbers)}
        requests = {name: value for name, value in options.items() if value is not None and len(value)}
        return {"train": self.train, "gradients": self.gradients, **requests}


class ClassInputs(NamedTuple):
    """The inputs of a case about a class, as they go to the sandbox."""

    arguments: Sequence[Any]
    weights: Mapping[str, Any]
    calls: Mapping[str, Sequence[Any]]
    options: Mapping[str, Any]

    @property
    def gradients(self) -> int:
        """For how many inputs of a call gradients are asked."""
        return int(self.options.get("gradients", 0))


MODULE = Module()


# A class whose new modules count, too: the parameters that they begin with.


class NewSeen(Observation, frozen=True):
    """The parameters that a new module begins with, by name."""

    parameters: dict[str, Any] = msgspec.field(name="new")


class NewModule(Module):
    """A class that is built and looked at, or given weights and called."""

    name = "new_module"
    at_a_glance = False

    def observed(self, value: object) -> Any:
        """The parameters of a new module, or what is noted for any class."""
        is_new = isinstance(value, dict) and "new" in value
        return observation(value, NewSeen) if is_new else super().observed(value)


NEW_MODULE = NewModule()
