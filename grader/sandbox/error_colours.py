"""The colours in which errors are shown. IPython works them out anew for each error, in half of the time it takes."""

from __future__ import annotations

import functools

import stack_data
from pygments.formatters import terminal256


def remember_colours() -> None:
    """Where IPython looks for them when it shows an error, have each made once: they depend on the style alone."""
    stack_data.style_with_executing_node = functools.cache(stack_data.style_with_executing_node)  # type: ignore[attr-defined]
    terminal256.Terminal256Formatter = functools.cache(terminal256.Terminal256Formatter)
