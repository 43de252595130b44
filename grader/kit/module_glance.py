"""What our own class does in one case, with any of its steps changed: soon computed, since most of it is shared.

A module is built once for all changes of what happens in its calls: building takes longer than a call. And a step
that is given what it was given before is not taken again: in a call, that is all before the first change.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from grader.kit.module_steps import NOT_KNOWN, Memory, same_chance, with_steps
from grader.sandbox.forms.module import (
    call_of_gradients,
    called_in_part,
    copied,
    describe,
    gradients,
    load,
    move,
    numbers,
    observe,
    same,
)

Tensor = torch.Tensor
Changes = Mapping[str, Any]


class ModuleGlance:
    """The calls of a case with any of the steps of a class changed."""

    def __init__(self, module_class: type[nn.Module], *inputs: Any) -> None:
        self._class: Any = module_class
        self._case = inputs
        self._arguments, self._weights, self._calls, self._how = inputs
        self.whole = not self._how.get("gradients")
        self.inputs = inputs if self.whole else (*inputs[:3], {**self._how, "gradients": 0})
        self._copies = self._copied()
        self._steps = {name: getattr(module_class, name) for name in module_class.__annotations__}
        self._memory = Memory()
        self._in_building: set[str] = set()  # the steps that are known to be taken when a module is built
        self._built: dict[frozenset[tuple[str, int]], _Built | Exception] = {}

    def _copied(self) -> dict[str, list[Any]]:
        """What is given in the calls; where two are given the same, it stays the same."""
        copies = {id(argument): copied(argument) for call in self._calls.values() for argument in call}
        return {name: [copies[id(argument)] for argument in call] for name, call in self._calls.items()}

    def output(self, changes: Changes, *, once: bool = False) -> Any:
        """What comes back of the first call; an error where the module has not the parameters that it should.

        Of changes that are looked at once nothing is kept.
        """
        keeping = contextlib.nullcontext() if once else self._memory.of_a_call()
        with torch.no_grad(), self._changed(changes) as built, keeping:
            if not built.loaded:
                raise ValueError("it has other parameters")
            return built.module.forward(*self._copies["output"])

    def answer(self, changes: Changes) -> dict[str, Any]:
        """What is seen of all calls."""
        return self._observed(changes, 0)

    def everything(self, changes: Changes) -> dict[str, Any]:
        """What is seen in the case."""
        return self._observed(changes, self._how.get("gradients", 0))

    def _observed(self, changes: Changes, inputs: int) -> dict[str, Any]:
        if self._how.get("impossible"):
            with same_chance():
                return observe(functools.partial(with_steps, self._class, changes), *self._case)
        with self._changed(changes) as built:
            if not built.loaded:
                return built.seen | self._called_in_part(built.module)
            seen = built.seen | self._called(built.module, keeping=not changes)
            if inputs:
                call = call_of_gradients(self._calls, self._how)
                seen["gradients"] = gradients(built.module, self._weights, call, inputs)
            return seen

    def _called_in_part(self, module: nn.Module) -> dict[str, Any]:
        """The same of a module that has not all the parameters that it should."""
        with torch.no_grad():
            return called_in_part(module, self._calls)

    @torch.no_grad()
    def _called(self, module: nn.Module, *, keeping: bool) -> dict[str, Any]:
        """What comes back of each call, and whether any changes what it is given."""
        seen: dict[str, Any] = {"changes_input": False, "outputs": {}}
        known: dict[tuple[int, ...], Any] = {}  # the outputs that come back for the same again
        for name, call in self._calls.items():
            given = self._copies[name]
            same_again = tuple(map(id, given))
            output = known.get(same_again, NOT_KNOWN)
            if output is NOT_KNOWN:
                with self._memory.of_a_call() as taken:
                    output = module.forward(*given)
                if not all(map(same, given, call)):
                    seen["changes_input"] = True
                    self._copies = self._copied()
                elif not taken.drawn:
                    known[same_again] = output
                if not keeping:
                    self._memory.forget(taken)
            seen["outputs"][name] = output
        return seen

    @contextlib.contextmanager
    def _changed(self, changes: Changes) -> Iterator[_Built]:
        """A module with these changes, which are undone afterwards."""
        with same_chance():
            built = self._module(changes)
            later = [name for name in changes if name not in self._in_building]
            before = dict(vars(built.module))
            vars(built.module).update((name, self._memory.remembering(changes[name])) for name in later)
            torch.default_generator.set_state(built.chance)
            try:
                yield built
            finally:
                vars(built.module).clear()  # also of what a module keeps between its calls
                vars(built.module).update(before)

    def _module(self, changes: Changes) -> _Built:
        """The module with what is changed in building it."""
        key = self._key(changes)
        if key not in self._built:
            built = self._build(changes)
            key = self._key(changes)
            self._built[key] = built
        found = self._built[key]
        if isinstance(found, Exception):
            raise found
        return found

    def _key(self, changes: Changes) -> frozenset[tuple[str, int]]:
        return frozenset((name, id(change)) for name, change in changes.items() if name in self._in_building)

    def _build(self, changes: Changes) -> _Built | Exception:
        """Build a module and note the steps that are taken for it; the others are as they are without changes."""
        torch.default_generator.manual_seed(0)
        try:
            watched = {"watched": ({**self._steps, **changes}, self._in_building)}
            module = with_steps(_watching(self._class), watched, *self._arguments)
            seen = describe(module) | numbers(module, self._how)
            loaded = load(module, self._weights)
        except Exception as error:
            return error
        chance = torch.default_generator.get_state()
        move(module, self._weights)
        module.train(bool(self._how.get("train")))
        steps = self._steps | {name: change for name, change in changes.items() if name in self._in_building}
        vars(module).update((name, self._memory.remembering(step)) for name, step in steps.items())
        return _Built(module, loaded, chance, seen)


class _Built:
    """A module, whether the weights were loaded, and the generator's state from there on."""

    def __init__(self, module: nn.Module, loaded: bool, chance: Tensor, seen: dict[str, Any]) -> None:
        self.module = module
        self.loaded = loaded
        self.chance = chance
        self.seen = seen  # of the module itself, before the weights were loaded


@functools.cache
def _watching(module_class: Any) -> type[nn.Module]:
    """The class with steps that note when they are looked up, until a module has them by itself."""
    steps: dict[str, Any] = {name: _Watched(name) for name in module_class.__annotations__}
    return type(module_class.__name__, (module_class,), steps)


class _Watched:
    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, module: Any, _class: Any = None) -> Any:
        steps, taken = vars(module)["watched"]
        taken.add(self._name)
        return steps[self._name]
