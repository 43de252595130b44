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
    from grader.model.exercise import (
        Allowed,
        Case,
        Exercise,
        Inputs,
        LentClass,
        MemoryPromise,
        Misconception,
        at,
        columns,
        randn,
        wrong,
    )
    from grader.model.forms.exact import ACCEPTED, ANOTHER_ERROR, CUT_OFF, EXACT, REFUSING, RUINED
    from grader.model.forms.function import FUNCTION, Form
    from grader.model.forms.generation import GENERATION
    from grader.model.forms.module import CACHED, MODULE, NEW_MODULE
    from grader.model.forms.rounded import BY_FORMULAS, OF_16_BITS, ROUNDED
    from grader.model.forms.tensors import SOFTMAX_PIECE, UNWRITTEN, WITH_LOGSUMEXP
    from grader.model.forms.training import TRAINING
    from grader.model.forms.twice import TWICE
    from grader.model.verdict import MAX_SIDE, Picture
    from grader.sandbox.forms.cached import CACHE, OUTPUTS
    from grader.sandbox.small_model import SmallModel, small_shapes
    from grader.solutions.lines import version

_HOMES = {
    "ACCEPTED": "grader.model.forms.exact",
    "ANOTHER_ERROR": "grader.model.forms.exact",
    "Allowed": "grader.model.exercise",
    "BY_FORMULAS": "grader.model.forms.rounded",
    "CACHE": "grader.sandbox.forms.cached",
    "CACHED": "grader.model.forms.module",
    "CUT_OFF": "grader.model.forms.exact",
    "Case": "grader.model.exercise",
    "EXACT": "grader.model.forms.exact",
    "Exercise": "grader.model.exercise",
    "FUNCTION": "grader.model.forms.function",
    "Form": "grader.model.forms.function",
    "GENERATION": "grader.model.forms.generation",
    "Inputs": "grader.model.exercise",
    "LentClass": "grader.model.exercise",
    "MAX_SIDE": "grader.model.verdict",
    "MODULE": "grader.model.forms.module",
    "MemoryPromise": "grader.model.exercise",
    "Misconception": "grader.model.exercise",
    "NEW_MODULE": "grader.model.forms.module",
    "OF_16_BITS": "grader.model.forms.rounded",
    "OUTPUTS": "grader.sandbox.forms.cached",
    "Picture": "grader.model.verdict",
    "REFUSING": "grader.model.forms.exact",
    "ROUNDED": "grader.model.forms.rounded",
    "RUINED": "grader.model.forms.exact",
    "SOFTMAX_PIECE": "grader.model.forms.tensors",
    "SmallModel": "grader.sandbox.small_model",
    "TRAINING": "grader.model.forms.training",
    "TWICE": "grader.model.forms.twice",
    "UNWRITTEN": "grader.model.forms.tensors",
    "WITH_LOGSUMEXP": "grader.model.forms.tensors",
    "at": "grader.model.exercise",
    "columns": "grader.model.exercise",
    "draw_weights": "grader.kit.module_cases",
    "impossible": "grader.kit.module_cases",
    "randn": "grader.model.exercise",
    "reader": "grader.kit.module_readings",
    "small_shapes": "grader.sandbox.small_model",
    "trial": "grader.kit.module_cases",
    "version": "grader.solutions.lines",
    "wrong": "grader.model.exercise",
}

__all__ = [
    "ACCEPTED",
    "ANOTHER_ERROR",
    "BY_FORMULAS",
    "CACHE",
    "CACHED",
    "CUT_OFF",
    "EXACT",
    "FUNCTION",
    "GENERATION",
    "MAX_SIDE",
    "MODULE",
    "NEW_MODULE",
    "OF_16_BITS",
    "OUTPUTS",
    "REFUSING",
    "ROUNDED",
    "RUINED",
    "SOFTMAX_PIECE",
    "TRAINING",
    "TWICE",
    "UNWRITTEN",
    "WITH_LOGSUMEXP",
    "Allowed",
    "Case",
    "Exercise",
    "Form",
    "Inputs",
    "LentClass",
    "MemoryPromise",
    "Misconception",
    "Picture",
    "SmallModel",
    "at",
    "columns",
    "draw_weights",
    "impossible",
    "randn",
    "reader",
    "small_shapes",
    "trial",
    "version",
    "wrong",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
