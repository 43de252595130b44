"""A function that is a piece of a model, and stops with a ValueError where its arguments do not fit.

A case whose last input is `{"refuses": True}` asks for this error in place of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.sandbox.forms import exact

WORDS = True


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns, the gradients of it, or how it refuses its arguments."""
    if inputs and isinstance(inputs[-1], dict) and "refuses" in inputs[-1]:
        return {"error": refusal(entry, inputs[:-1])}
    return exact.put(entry, inputs)


def refusal(entry: Any, arguments: Sequence[Any]) -> str:
    """How a call ends: with the error that is asked for, with another one, or not with an error."""
    try:
        entry(*arguments)
    except (NotImplementedError, TimeoutError):  # still to do, or stopped
        raise
    except ValueError:
        return "ValueError"
    except Exception:
        return "another"
    return ""
