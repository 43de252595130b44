"""What ordinary tests rely on: Python's own names, functions of modules, and the shell that runs a cell.

All of it is remembered before any code of a student runs, and is put back before a test, so that neither a cheap trick
nor a variable that is called `sum` by accident decides about a test. Tests share their process with the student's code,
so somebody who wants to can undo this, too.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from grader.sandbox.cell_outputs import Outputs
from grader.sandbox.shell import OutStream

MOST_NAMES = 20  # that are told of
_MISSING = object()


class InitialState:
    """The state of a process that has run no cell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._builtins = dict(vars(builtins))
        self._modules = {name: (module, _functions(module)) for name, module in list(sys.modules.items()) if module}
        self._owners = (shell, shell.display_pub, shell.displayhook, shell.compile)
        self._attributes = [dict(vars(part)) for part in self._owners]
        classes = [base for cls in (*map(type, self._owners), OutStream, Outputs) for base in cls.__mro__]
        self._classes = {cls: _methods(cls) for cls in classes if cls is not object}
        manager = shell.input_transformer_manager
        self._lists = [
            (callbacks, list(callbacks))
            for callbacks in (
                shell.ast_transformers, shell.input_transformers_post,
                manager.cleanup_transforms, manager.line_transforms, manager.token_transformers,
                shell.events.callbacks["pre_execute"], shell.events.callbacks["pre_run_cell"],
            )
        ]  # fmt: skip
        self._settings = {name: getattr(shell, name) for name in ("custom_exceptions", "ast_node_interactivity")}

    @contextlib.contextmanager
    def during(self, uses: Mapping[str, Any]) -> Iterator[list[str]]:
        """While a test runs, all is as it was; the value is what was not. The notebook's own names come back then."""
        notebook = self._shell.user_ns
        changed = [*self._restore_shell(), *self._restore_builtins(), *self._restore_packages(uses["packages"])]
        replaced = {name: notebook.pop(name) for name in uses["builtins"] if name in notebook}
        for alias, name in uses["modules"].items():
            module = self._modules[name][0] if name in self._modules else _MISSING
            if module is not _MISSING and notebook.get(alias) is not module:
                if alias in notebook:
                    replaced[alias] = notebook[alias]
                notebook[alias] = module
        try:
            yield [*changed, *replaced][:MOST_NAMES]
        finally:
            notebook.update(replaced)

    def _restore_shell(self) -> Iterator[str]:
        sys.settrace(None)
        sys.setprofile(None)
        for cls, methods in self._classes.items():
            now = _methods(cls)
            for name in {**methods, **now}:
                if now.get(name) is methods.get(name):
                    continue
                if name in methods:
                    setattr(cls, name, methods[name])
                else:
                    delattr(cls, name)  # what hides the method of a class above
                yield name
        for owner, attributes in zip(self._owners, self._attributes, strict=True):
            for name in [name for name in vars(owner) if callable(getattr(type(owner), name, None))]:
                if vars(owner)[name] is not attributes.get(name, _MISSING):
                    del vars(owner)[name]  # what hides a method
                    vars(owner).update({name: attributes[name]} if name in attributes else {})
                    yield name
        for callbacks, content in self._lists:
            callbacks[:] = content
        for name, value in self._settings.items():
            setattr(self._shell, name, value)

    def _restore_builtins(self) -> Iterator[str]:
        self._shell.user_ns["__builtins__"] = builtins
        yield from _put_back(vars(builtins), self._builtins)

    def _restore_packages(self, packages: Iterable[str]) -> Iterator[str]:
        names = set(packages)
        for name, (module, functions) in self._modules.items():
            if name.split(".")[0] in names:
                if sys.modules.get(name) is not module:
                    sys.modules[name] = module
                    yield name
                yield from (f"{name}.{function}" for function in _put_back(vars(module), functions))


def _put_back(names: dict[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    for name, value in before.items():
        if names.get(name, _MISSING) is not value and name != "_":  # IPython's own: the last result
            names[name] = value
            yield name


def _functions(module: types.ModuleType) -> dict[str, Any]:
    """What a library does not change by itself, as it does caches and counters."""
    return {
        name: value for name, value in vars(module).items() if callable(value) or isinstance(value, types.ModuleType)
    }


def _methods(cls: type) -> dict[str, Any]:
    """What is called, or computed when it is asked for: functions, properties, and objects in their place."""
    return {name: value for name, value in vars(cls).items() if callable(value) or hasattr(type(value), "__get__")}
