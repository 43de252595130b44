"""Our own classes as references: what one does in a case, with some of its steps changed by misconceptions.

The steps of such a class are its annotated attributes: functions, and whatever else a misconception replaces.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from grader.model.exercise import Glance
from grader.sandbox.forms.module import called, copied, describe, load, observe

Tensor = torch.Tensor
Changes = Mapping[str, Any]


def observing(module_class: type[nn.Module]) -> Callable[..., dict[str, Any]]:
    """A reference: what our class does in a case, with some of its steps changed."""

    def reference(*inputs: Any, **changes: Any) -> dict[str, Any]:
        changed = type(module_class.__name__, (module_class,), {name: _step(one) for name, one in changes.items()})
        with same_chance():
            return observe(changed, *inputs)

    reference.__wrapped__ = module_class  # type: ignore[attr-defined]  # its source is the one that must not leak
    return reference


def glancing(module_class: type[nn.Module]) -> Callable[..., Glance]:
    """At a case without its gradients: what is seen with some steps changed, computed many times as fast."""
    return functools.partial(_Calls, module_class)


@contextlib.contextmanager
def same_chance() -> Iterator[None]:
    """A class draws its parameters, and what it drops, from the one generator that all share."""
    generator = torch.default_generator
    state = generator.get_state()
    generator.manual_seed(0)  # torch.manual_seed formats a traceback for each kind of device that is not in use
    try:
        yield
    finally:
        generator.set_state(state)


def _step(change: Any) -> Any:
    return staticmethod(change) if callable(change) else change


class _Calls:
    """The calls of a case with any of the steps of a class changed.

    A module is built once for all changes of what happens in the call alone: building takes longer than the call.
    """

    def __init__(self, module_class: type[nn.Module], *inputs: Any) -> None:
        self._class = module_class
        self._arguments, self._weights, self._calls, how = inputs
        self._train = bool(how.get("train"))
        self.whole = not how.get("gradients")
        self.inputs = inputs if self.whole else (*inputs[:3], {**how, "gradients": 0})
        self._steps = {name: getattr(module_class, name) for name in module_class.__annotations__}
        self._in_building: set[str] = set()  # the steps that are known to be taken when a module is built
        self._built: dict[frozenset[tuple[str, int]], _Built | Exception] = {}

    def output(self, changes: Changes) -> Any:
        """What comes back of the first call; an error where the module has not the parameters that it should."""
        with torch.no_grad(), self._changed(changes) as built:
            if not built.loaded:
                raise ValueError("it has other parameters")
            return built.module(*map(copied, self._calls["output"]))

    def answer(self, changes: Changes) -> dict[str, Any]:
        """What is seen of all calls."""
        if self.inputs[3].get("impossible"):
            return observing(self._class)(*self.inputs, **changes)
        with self._changed(changes) as built:
            return {**built.seen, **(called(built.module, self._calls) if built.loaded else {})}

    @contextlib.contextmanager
    def _changed(self, changes: Changes) -> Iterator[_Built]:
        """A module with these changes, which are undone afterwards."""
        with same_chance():
            built = self._module(changes)
            later = {name: change for name, change in changes.items() if name not in self._in_building}
            vars(built.module).update(later)
            torch.default_generator.set_state(built.chance)
            try:
                yield built
            finally:
                vars(built.module).update((name, self._steps[name]) for name in later)

    def _module(self, changes: Changes) -> _Built:
        """The module with what is changed in building it."""
        while True:
            steps = {name: change for name, change in changes.items() if name in self._in_building}
            key = frozenset((name, id(change)) for name, change in steps.items())
            if key in self._built:
                built = self._built[key]
                break
            taken: set[str] = set()
            built = self._build(steps, taken)
            if taken <= self._in_building:
                self._built[key] = built
                break
            self._in_building |= taken
        if isinstance(built, Exception):
            raise built
        return built

    def _build(self, changes: Changes, taken: set[str]) -> _Built | Exception:
        """Build a module and note the steps that are taken for it."""
        steps = {**self._steps, **changes}
        watched = {name: _Watched(name, step, taken) for name, step in steps.items()}
        torch.default_generator.manual_seed(0)
        try:
            module = type(self._class.__name__, (self._class,), watched)(*self._arguments)
            seen = describe(module)
            loaded = load(module, self._weights)
        except Exception as error:
            return error
        module.to(next(iter(self._weights.values())).device)
        module.train(self._train)
        vars(module).update(steps)
        return _Built(module, seen, loaded, torch.default_generator.get_state())


@dataclass(frozen=True)
class _Built:
    """A module, what is seen of it, whether the weights were loaded, and the generator's state from there on."""

    module: nn.Module
    seen: dict[str, Any]
    loaded: bool
    chance: Tensor


class _Watched:
    """A step that notes when it is looked up."""

    def __init__(self, name: str, step: Any, taken: set[str]) -> None:
        self._name = name
        self._step = step
        self._taken = taken

    def __get__(self, _instance: Any, _owner: Any = None) -> Any:
        self._taken.add(self._name)
        return self._step
