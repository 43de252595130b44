"""Our own classes as references: what one does in a case, with some of its steps changed by misconceptions.

The steps of such a class are its annotated attributes: functions, and whatever else a misconception replaces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import nn

from grader.kit.module_glance import ModuleGlance
from grader.kit.module_steps import same_chance, with_steps
from grader.model.exercise import Glance
from grader.sandbox.forms.module import observe

__all__ = ["glancing", "observing", "same_chance"]


def observing(module_class: type[nn.Module]) -> Callable[..., dict[str, Any]]:
    """A reference: what our class does in a case, with some of its steps changed."""

    def reference(*inputs: Any, **changes: Any) -> dict[str, Any]:
        with same_chance():
            return observe(functools.partial(with_steps, module_class, changes), *inputs)

    reference.__wrapped__ = module_class  # type: ignore[attr-defined]  # its source is the one that must not leak
    return reference


def glancing(module_class: type[nn.Module]) -> Callable[..., Glance]:
    """The same in one case, for any changes: parts of it or all, many times as fast."""
    return functools.partial(ModuleGlance, module_class)
