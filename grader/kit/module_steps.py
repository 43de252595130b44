"""Classes in steps: made with some of them changed, and taken again only where something else is given to them.

What a step returns depends on what it is given and on chance, but on nothing else, and it changes nothing of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

NOT_KNOWN = object()


def with_steps(module_class: type[nn.Module], steps: Mapping[str, Any], *arguments: Any) -> nn.Module:
    """A module that has these steps from the start, without a class of its own, which takes long to make."""
    module = module_class.__new__(module_class)
    vars(module).update(steps)
    module_class.__init__(module, *arguments)
    return module


def class_with_steps(module_class: type[Any], steps: Mapping[str, Any]) -> type[Any]:
    """The same as a class, for whoever builds modules of it themselves, by names of arguments, too."""

    class Holding(module_class):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            self.__dict__.update(steps)
            super().__init__(*arguments, **named)

    return Holding


class Linear(nn.Linear):
    """A layer whose parameters are not drawn, which takes longer than all else, since they are loaded anyway."""

    def reset_parameters(self) -> None:
        """Other numbers in other places, as if they had been drawn."""
        with torch.no_grad():
            torch.arange(self.weight.numel(), out=self.weight.view(-1))
            if self.bias is not None:  # a mistake may be that there is one, and then nothing is loaded into it
                torch.arange(1, 1 + self.bias.numel(), out=self.bias.view(-1))


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


@dataclass
class Call:
    """A call of a module: what is known only since it began, and whether anything was drawn in it."""

    new: list[Any] = field(default_factory=list)
    drawn: bool = False


class Memory:
    """What steps have returned, by what was given to them, where chance had no part in it and no gradient is asked."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}  # it holds what was given, too, so that nothing else gets its identity
        self._call: Call | None = None  # that is remembered

    def remembering(self, step: Any) -> Any:
        """The same step, which is not taken twice."""
        return self._remembering(step) if callable(step) else step

    def _remembering(self, step: Callable[..., Any]) -> Callable[..., Any]:
        known = self._known
        passes_on = False  # what it is given, which is sooner done than remembered

        def remembered(*given: Any) -> Any:
            nonlocal passes_on
            if passes_on or torch.is_grad_enabled():
                return step(*given)
            key = (step, *given)
            try:
                found = known.get(key, NOT_KNOWN)
            except TypeError:  # a list is given
                return step(*given)
            if found is NOT_KNOWN:
                found = step(*given)
                passes_on = any(found is argument for argument in given)
                if self._call is not None and not passes_on:
                    self._call.new.append(key)
                    known[key] = found
            return found

        return remembered

    @contextlib.contextmanager
    def of_a_call(self) -> Iterator[Call]:
        """Remember what is returned in this call, if nothing is drawn in it."""
        before = torch.default_generator.get_state()
        self._call = call = Call()
        try:
            yield call
        finally:
            self._call = None
            call.drawn = not torch.equal(before, torch.default_generator.get_state())
            if call.drawn:
                self.forget(call)

    def forget(self, call: Call) -> None:
        """Forget what is asked for again only now."""
        for key in call.new:
            del self._known[key]
        call.new.clear()
