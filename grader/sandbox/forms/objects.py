"""A plain class: make two objects of it, call their methods, and note what each call returns or raises.

The inputs of a case are the arguments of the constructor, and steps: a call such as ("deposit", 50), or the name of an
attribute. Both objects are made before anything is called, and get the same arguments and calls. So what the class
keeps for all its objects, such as a list in its body, shows in the second.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeAlias

from grader.sandbox.forms.exact import Function, Inputs

Step: TypeAlias = str | Sequence[Any]  # the name of an attribute, or that of a method with arguments
Note: TypeAlias = dict[str, Any]  # of a step: its name, and what it returned or raised

MAKING = "__init__"
# Errors that no exercise asks for. They end the case, and so are reported with their line.
_SLIPS = (NameError, AttributeError, NotImplementedError, TimeoutError, MemoryError, RecursionError)


def put_steps(made_class: Function, inputs: Inputs) -> list[list[Note]]:
    """The notes on both objects."""
    arguments, steps = inputs
    copies = copy.deepcopy((arguments, steps))  # before student code can change them
    objects = [_make(made_class, arguments), _make(made_class, copies[0])]
    return [
        notes or [_note_on(instance, step) for step in steps_of_object]
        for (instance, notes), steps_of_object in zip(objects, (steps, copies[1]), strict=True)
    ]


def _make(made_class: Function, arguments: Inputs) -> tuple[object, list[Note]]:
    """An object; or a note on why there is none."""
    try:
        return made_class(*arguments), []
    except Exception as error:
        return None, [_raised(MAKING, error)]


def _note_on(instance: object, step: Step) -> Note:
    """The note on one step. What was returned is copied, since later calls may change it."""
    name: str = step if isinstance(step, str) else step[0]
    try:
        attribute = getattr(instance, name)
        value = attribute if isinstance(step, str) else attribute(*step[1:])
    except Exception as error:
        return _raised(name, error)
    if value is instance:
        return {"step": name, "itself": True}
    try:
        return {"step": name, "value": copy.deepcopy(value)}
    except Exception:  # a generator, say
        return {"step": name, "value": value}


def _raised(name: str, error: Exception) -> Note:
    """The names of the error's class and of those that it derives from. A slip is raised again."""
    is_of_call = error.__traceback__ is not None and error.__traceback__.tb_next is None  # with other arguments
    if isinstance(error, _SLIPS) or (isinstance(error, TypeError) and is_of_call):
        raise error
    return {"step": name, "raises": [kind.__name__ for kind in type(error).__mro__]}
