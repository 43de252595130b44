"""A class: a torch.nn.Module, of which parameters, outputs, gradients and more are compared."""

from __future__ import annotations

from typing import Any

import torch

from grader.model.forms.parts import InParts

MAX_DIMENSIONS = 64  # as many as torch has


class Module(InParts):
    """A class that is built, given weights, and called."""

    name = "module"
    noun = "class"
    lendable = False  # unless its exercise says how; most notebooks give a class that a later one takes
    methods = ("__init__", "forward")

    def is_well_formed(self, observed: Any) -> bool:
        """As `describe` and `observe` note it: whether it can be built, or what it holds, and then what it does."""
        match observed:
            case {"built": bool(), **more}:
                return not more
            case {"parameters": parameters, "buffers": buffers, "attributes": attributes, **more}:
                held = all(map(_are_shapes, (parameters, buffers, attributes)))
                if not _are_numbers(more.pop("numbers", {})):
                    return False
                named = [more.pop(names, None) for names in ("frozen", "even", "unsaved")]
                return held and all(map(_are_names, named)) and _is_done(more)
        return False

    def is_evidence(self, wrong: Any) -> bool:
        """Not that a module cannot be built, which says nothing of what it computes."""
        return list(wrong) != ["arguments"]


def _are_shapes(held: Any) -> bool:
    """By name."""
    return isinstance(held, dict) and all(map(_is_shape, held.values()))


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MAX_DIMENSIONS and all(type(size) is int for size in value)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(number is None or type(number) is int for number in value.values())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_done(more: dict[Any, Any]) -> bool:
    """What was seen of its calls, if it could be called."""
    match more:
        case {"outputs": dict(), "changes_input": bool(), **rest}:
            gradients = rest.pop("gradients", {})
            by_name = gradients if gradients is not None else {}
            right = isinstance(by_name, dict) and all(
                gradient is None or isinstance(gradient, torch.Tensor) for gradient in by_name.values()
            )
            return right and not rest
        case {"in_part": dict(), **rest}:  # by a module that has not all parameters that it should
            return not rest
    return not more


MODULE = Module()


# A class whose forward takes a text in chunks, and hands on what it keeps of them.


class Cached(Module):
    """What comes back of its runs is compared as are the outputs of other classes."""

    name = "cached"


CACHED = Cached()


# A class of which a new module counts, too: the parameters that it begins with.


class NewModule(Module):
    """A class that is built and looked at as it is, or is given weights and called."""

    name = "new_module"
    at_a_glance = False

    def is_well_formed(self, observed: Any) -> bool:
        """As the sandbox notes it: the parameters of a new module, or what is noted of any class."""
        match observed:
            case {"new": dict(), **more}:
                return not more
        return super().is_well_formed(observed)


NEW_MODULE = NewModule()
