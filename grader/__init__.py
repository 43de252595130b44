"""Grades the notebooks of a course: right, explaining, and not to be cheated.

What authors of exercises need is exported here. It is looked up when it is asked for: the sandbox's side imports this
package, too, and must not hold what a judge knows; and nobody waits for torch who does not need it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.kit.module_cases import draw_weights, impossible, trial
    from grader.kit.module_readings import reader
    from grader.model.exercise import Case, Exercise, Inputs, Misconception, at, columns, randn, wrong
    from grader.model.forms.function import FUNCTION, Form
    from grader.model.forms.module import MODULE
    from grader.model.forms.twice import TWICE
    from grader.model.verdict import Picture

_HOMES = {
    "Case": "grader.model.exercise",
    "Exercise": "grader.model.exercise",
    "FUNCTION": "grader.model.forms.function",
    "Form": "grader.model.forms.function",
    "Inputs": "grader.model.exercise",
    "MODULE": "grader.model.forms.module",
    "Misconception": "grader.model.exercise",
    "Picture": "grader.model.verdict",
    "TWICE": "grader.model.forms.twice",
    "at": "grader.model.exercise",
    "columns": "grader.model.exercise",
    "draw_weights": "grader.kit.module_cases",
    "impossible": "grader.kit.module_cases",
    "randn": "grader.model.exercise",
    "reader": "grader.kit.module_readings",
    "trial": "grader.kit.module_cases",
    "wrong": "grader.model.exercise",
}

__all__ = [
    "FUNCTION",
    "MODULE",
    "TWICE",
    "Case",
    "Exercise",
    "Form",
    "Inputs",
    "Misconception",
    "Picture",
    "at",
    "columns",
    "draw_weights",
    "impossible",
    "randn",
    "reader",
    "trial",
    "wrong",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
