"""An auto-graded course on attention: right, explaining, and not to be cheated.

What authors of exercises need is exported here. It is looked up when it is asked for: the sandbox's side imports this
package, too, and must not hold what a judge knows; and nobody waits for torch who does not need it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.model.exercise import Case, Exercise, Inputs, Misconception, columns, randn
    from grader.running.own_kernel import hidden_tests

_HOMES = {
    "Case": "grader.model.exercise",
    "Exercise": "grader.model.exercise",
    "Inputs": "grader.model.exercise",
    "Misconception": "grader.model.exercise",
    "columns": "grader.model.exercise",
    "hidden_tests": "grader.running.own_kernel",
    "randn": "grader.model.exercise",
}

__all__ = ["Case", "Exercise", "Inputs", "Misconception", "columns", "hidden_tests", "randn"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
