"""Grades a course's notebooks: correctly, with explanations, and hard to cheat.

This exports what authors of exercises need. Names are imported when first used: the sandbox imports this package, too,
and must not hold what a judge knows; and code that does not need torch should not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_NAMES = {
    "grader.kit.module_cases": ["draw_weights", "impossible", "trial"],
    "grader.kit.module_readings": ["reader"],
    "grader.model.exercise": [
        "Case",
        "Columns",
        "Exercise",
        "Inputs",
        "LentClass",
        "MemoryPromise",
        "Misconception",
        "at",
        "columns",
        "randn",
        "wrong",
    ],
    "grader.model.forms.exact": ["ACCEPTED", "ANOTHER_ERROR", "CUT_OFF", "EXACT", "REFUSING", "RUINED"],
    "grader.model.forms.function": ["FUNCTION", "Form"],
    "grader.model.forms.generation": ["GENERATION", "GenerationSeen"],
    "grader.model.forms.module": ["CACHED", "MODULE", "NEW_MODULE", "BuildSeen", "ModuleSeen", "NewSeen"],
    "grader.model.forms.objects": ["OBJECTS", "using"],
    "grader.model.forms.rounded": ["BY_FORMULAS", "OF_16_BITS", "ROUNDED"],
    "grader.model.forms.tensors": ["SOFTMAX_PIECE", "UNWRITTEN", "WITH_LOGSUMEXP"],
    "grader.model.forms.training": ["TRAINING", "TrainingSeen"],
    "grader.model.forms.twice": ["TWICE", "TwiceSeen"],
    "grader.model.verdict": ["MAX_SIDE", "Picture"],
    "grader.sandbox.forms.cached": ["CACHE", "OUTPUTS"],
    "grader.sandbox.forms.small_model": ["SmallModel", "small_shapes"],
    "grader.solutions.lines": ["version"],
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

if TYPE_CHECKING:  # for editors and mypy, which run nothing; "as" marks a name as exported
    from grader.kit.module_cases import draw_weights as draw_weights
    from grader.kit.module_cases import impossible as impossible
    from grader.kit.module_cases import trial as trial
    from grader.kit.module_readings import reader as reader
    from grader.model.exercise import Case as Case
    from grader.model.exercise import Columns as Columns
    from grader.model.exercise import Exercise as Exercise
    from grader.model.exercise import Inputs as Inputs
    from grader.model.exercise import LentClass as LentClass
    from grader.model.exercise import MemoryPromise as MemoryPromise
    from grader.model.exercise import Misconception as Misconception
    from grader.model.exercise import at as at
    from grader.model.exercise import columns as columns
    from grader.model.exercise import randn as randn
    from grader.model.exercise import wrong as wrong
    from grader.model.forms.exact import ACCEPTED as ACCEPTED
    from grader.model.forms.exact import ANOTHER_ERROR as ANOTHER_ERROR
    from grader.model.forms.exact import CUT_OFF as CUT_OFF
    from grader.model.forms.exact import EXACT as EXACT
    from grader.model.forms.exact import REFUSING as REFUSING
    from grader.model.forms.exact import RUINED as RUINED
    from grader.model.forms.function import FUNCTION as FUNCTION
    from grader.model.forms.function import Form as Form
    from grader.model.forms.generation import GENERATION as GENERATION
    from grader.model.forms.generation import GenerationSeen as GenerationSeen
    from grader.model.forms.module import CACHED as CACHED
    from grader.model.forms.module import MODULE as MODULE
    from grader.model.forms.module import NEW_MODULE as NEW_MODULE
    from grader.model.forms.module import BuildSeen as BuildSeen
    from grader.model.forms.module import ModuleSeen as ModuleSeen
    from grader.model.forms.module import NewSeen as NewSeen
    from grader.model.forms.objects import OBJECTS as OBJECTS
    from grader.model.forms.objects import using as using
    from grader.model.forms.rounded import BY_FORMULAS as BY_FORMULAS
    from grader.model.forms.rounded import OF_16_BITS as OF_16_BITS
    from grader.model.forms.rounded import ROUNDED as ROUNDED
    from grader.model.forms.tensors import SOFTMAX_PIECE as SOFTMAX_PIECE
    from grader.model.forms.tensors import UNWRITTEN as UNWRITTEN
    from grader.model.forms.tensors import WITH_LOGSUMEXP as WITH_LOGSUMEXP
    from grader.model.forms.training import TRAINING as TRAINING
    from grader.model.forms.training import TrainingSeen as TrainingSeen
    from grader.model.forms.twice import TWICE as TWICE
    from grader.model.forms.twice import TwiceSeen as TwiceSeen
    from grader.model.verdict import MAX_SIDE as MAX_SIDE
    from grader.model.verdict import Picture as Picture
    from grader.sandbox.forms.cached import CACHE as CACHE
    from grader.sandbox.forms.cached import OUTPUTS as OUTPUTS
    from grader.sandbox.forms.small_model import SmallModel as SmallModel
    from grader.sandbox.forms.small_model import small_shapes as small_shapes
    from grader.solutions.lines import version as version
else:
    __all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
