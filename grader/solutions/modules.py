"""Solutions that are module classes, and their behavior in a case with any of their lines changed.

A module is built once for all changes within `forward`, since building takes longer than a call. And the part of a
call that is the same as in an earlier one is not run again.
"""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import nn

from grader.sandbox.forms.exact import Function, Inputs, Observed, copy_tensor
from grader.sandbox.forms.module import (
    call_module,
    call_of_gradients,
    describe,
    gradients,
    load,
    move,
    observe,
    observe_calls_in_part,
    observe_numbers,
    same,
)
from grader.solutions.chance import compute_noting_draws, same_chance
from grader.solutions.lines import Change, LineError, Lines, source_of
from grader.solutions.statements import Body, Changes, Names, Statement, run

Outcome: TypeAlias = tuple[object, bool]  # the output of a call, and whether random numbers were drawn

MOST_CLASSES = 500  # to keep, with changes outside `forward`


class WrittenClass:
    """A class from its author, as a reference: called with changes, it makes a module with other lines."""

    def __init__(self, solution: Any) -> None:
        functools.update_wrapper(self, solution, updated=())
        self.lines = Lines(source_of(solution))
        (node,) = [node for node in self.lines.tree.body if isinstance(node, ast.ClassDef)]
        methods = {member.name: member for member in node.body if isinstance(member, ast.FunctionDef)}
        for name in ("__init__", "forward"):
            if name not in methods:
                raise LineError(f"the class `{solution.__name__}` has no method `{name}`, and needs one")
        self._solution = solution
        self.variables = solution.forward.__globals__
        self._init = Body(self.lines, methods["__init__"], solution.__init__, solution.__name__)
        self._forward = Body(self.lines, methods["forward"], solution.forward, solution.__name__)
        self._class = functools.lru_cache(MOST_CLASSES)(self._compiled)

    def __call__(self, *arguments: object, **changes: Change) -> nn.Module:
        module = self.built(self.outside(changes), *arguments)
        within = self.within(changes)
        if within:
            vars(module)["forward"] = lambda *inputs: self.called(module, within, *inputs)
        return module

    def version(self, changes: Changes) -> Callable[..., nn.Module]:
        """The class with these changes."""
        return functools.partial(self, **changes)

    def outside(self, changes: Changes) -> Changes:
        """The changes that are not in `forward`."""
        return {place: change for place, change in changes.items() if not self._forward.holds(place)}

    def within(self, changes: Changes) -> Changes:
        """The changes in `forward`."""
        return {place: change for place, change in changes.items() if self._forward.holds(place)}

    def built(self, outside: Changes, *arguments: object) -> nn.Module:
        """A module of the class with these changes outside `forward`."""
        in_init = {place: change for place, change in outside.items() if self._init.holds(place)}
        in_other_lines = frozenset(outside.items() - in_init.items())
        cls: type[nn.Module] = self._class(in_other_lines) if in_other_lines else self._solution
        if not in_init:
            return cls(*arguments)
        module = cls.__new__(cls)
        run(self._init.chain(in_init), self._init.names((module, *arguments)))
        return module

    def called(self, module: nn.Module, within: Changes, *inputs: object, **keywords: object) -> object:
        """The output of a call with these changes in `forward`."""
        return run(self.chain(within), self.names(module, *inputs, **keywords))

    def chain(self, within: Changes) -> tuple[Statement, ...]:
        """The statements of `forward` with these changes."""
        return self._forward.chain(within)

    def names(self, module: nn.Module, *inputs: object, **keywords: object) -> Names:
        """The variables at the start of a call."""
        return self._forward.names((module, *inputs), keywords)

    def _compiled(self, changes: frozenset[tuple[str, Change]]) -> type[nn.Module]:
        cls: type[nn.Module] = self.lines.version(dict(changes), self.variables)
        return cls


@dataclass
class _CallTree:
    """A tree of calls that have run, by their statements, with the variables after each one."""

    names: Names = field(default_factory=dict)
    next: dict[Statement, _CallTree] = field(default_factory=dict)

    def run(self, chain: Sequence[Statement], names: Names, *, keeping: bool) -> Outcome:
        """The output of a call, and whether random numbers were drawn."""
        if not all(statement.is_pure for statement in chain):
            return compute_noting_draws(lambda: run(chain, names))
        self.names = names
        node, position = self, 0
        while position < len(chain) and chain[position] in node.next:
            node, position = node.next[chain[position]], position + 1
        if "" in node.names or position == len(chain):
            return node.names.get(""), False
        output, is_random = compute_noting_draws(lambda: node._continue(chain[position:], keeping))
        if is_random:
            node.next.pop(chain[position], None)
        return output, is_random

    def _continue(self, chain: Sequence[Statement], keeping: bool) -> object:
        node, names = self, self.names.copy()
        for statement in chain:
            has_returned = statement.step(names)
            if keeping:
                node.next[statement] = node = _CallTree(names.copy())
            if has_returned:
                break
        return names.get("")


class ModuleCase:
    """The calls of a case, for a class with any of its lines changed."""

    def __init__(self, written: WrittenClass, probe: Function | None, *inputs: Any) -> None:
        self._written = written
        self._probe = probe  # puts the calls, if each is more than a call of `forward`
        self._case = inputs
        self._arguments, self._weights, self._calls, self._options = inputs
        self.whole = not self._options.get("gradients")
        self.inputs = inputs if self.whole else (*inputs[:3], {**self._options, "gradients": 0})
        self._copies = self._copied()
        self._built: dict[frozenset[tuple[str, Change]], _BuiltModule | Exception] = {}

    def _copied(self) -> dict[str, Inputs]:
        """Copies of the inputs of all calls. Calls that share an input share its copy."""
        copies: dict[int, Any] = {}
        copies_of_calls: dict[str, Inputs] = {}
        for name, call in self._calls.items():
            for argument in call:
                if id(argument) not in copies:
                    copies[id(argument)] = copy_tensor(argument)
            copies_of_calls[name] = [copies[id(argument)] for argument in call]
        return copies_of_calls

    def output(self, changes: Changes, *, once: bool = False) -> Any:
        """The output of the first call; raises an error if the module lacks parameters.

        With `once`, nothing is kept for other changes.
        """
        with torch.no_grad(), self._changed(changes) as (built, run_with):
            if not built.is_loaded:
                raise ValueError("it has other parameters")
            return run_with(self._copies["output"], keeping=not once)[0]

    def answer(self, changes: Changes) -> Observed:
        """Everything seen in the calls, without gradients."""
        return self._observed(changes, 0)

    def everything(self, changes: Changes) -> Observed:
        """Everything seen in the case, with gradients if it asks for them."""
        return self._observed(changes, self._options.get("gradients", 0))

    def _observed(self, changes: Changes, inputs: int) -> Observed:
        if self._options.get("impossible"):
            with same_chance():
                return observe(functools.partial(self._written, **changes), *self._case)
        put_call = self._probe or call_module
        with self._changed(changes) as (built, run_with):
            if not built.is_loaded:
                with torch.no_grad():
                    return built.observation | observe_calls_in_part(built.module, self._calls, put_call)
            observation = built.observation | self._observe_calls(run_with, keeping=not changes)
            if inputs:
                arguments = call_of_gradients(self._calls, self._options)
                observation["gradients"] = gradients(built.module, self._weights, arguments, inputs, put_call)
            return observation

    @torch.no_grad()
    def _observe_calls(self, run_with: Callable[..., Outcome], *, keeping: bool) -> Observed:
        """The output of each call, and whether any call changes its inputs."""
        changes_input = False
        outputs: dict[str, object] = {}
        outputs_by_inputs: dict[tuple[int, ...], object] = {}
        for name, call in self._calls.items():
            copies = self._copies[name]
            identity = tuple(map(id, copies))
            if identity in outputs_by_inputs:
                outputs[name] = outputs_by_inputs[identity]
                continue
            outputs[name], is_random = run_with(copies, keeping=keeping)
            if not all(map(same, copies, call)):
                changes_input = True
                self._copies = self._copied()
            elif not is_random:
                outputs_by_inputs[identity] = outputs[name]
        return {"changes_input": changes_input, "outputs": outputs}

    @contextlib.contextmanager
    def _changed(self, changes: Changes) -> Iterator[tuple[_BuiltModule, Callable[..., Outcome]]]:
        """A module with these changes, which are undone afterwards, and a function that calls it."""
        with same_chance():
            built = self._module(self._written.outside(changes))
            within = self._written.within(changes)
            attributes = dict(vars(built.module))
            vars(built.module)["forward"] = functools.partial(self._written.called, built.module, within)
            torch.default_generator.set_state(built.chance)
            try:
                yield built, functools.partial(self._call, built, within)
            finally:
                vars(built.module).clear()  # including anything that it keeps between calls
                vars(built.module).update(attributes)

    def _call(self, built: _BuiltModule, within: Changes, arguments: Inputs, *, keeping: bool) -> Outcome:
        if self._probe:
            return compute_noting_draws(functools.partial(self._probe, built.module, *arguments))
        names = self._written.names(built.module, *arguments)
        calls = built.calls.setdefault(tuple(map(id, arguments)), _CallTree())
        return calls.run(self._written.chain(within), names, keeping=keeping)

    def _module(self, outside: Changes) -> _BuiltModule:
        """The module, built with these changes outside `forward`; each is built only once."""
        key = frozenset(outside.items())
        if key not in self._built:
            self._built[key] = self._build(outside)
        built = self._built[key]
        if isinstance(built, Exception):
            raise built
        return built

    def _build(self, outside: Changes) -> _BuiltModule | Exception:
        torch.default_generator.manual_seed(0)
        try:
            module = self._written.built(outside, *self._arguments)
            observation = describe(module) | observe_numbers(module, self._options)
            is_loaded = load(module, self._weights)
        except Exception as error:
            return error
        chance = torch.default_generator.get_state()
        move(module, self._weights)
        module.train(bool(self._options.get("train")))
        return _BuiltModule(module, is_loaded, chance, observation)


@dataclass
class _BuiltModule:
    """A built module, whether its weights were loaded, and the generator's state after that."""

    module: nn.Module
    is_loaded: bool
    chance: torch.Tensor
    observation: Observed  # of the module itself, before the weights were loaded
    calls: dict[tuple[int, ...], _CallTree] = field(default_factory=dict)  # by the inputs of a call
