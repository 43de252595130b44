"""Probes: functions of authors that put a case to a student's code, and say what they see of it.

The text of a probe comes with the cases. It runs with names of its own, which are not those of the notebook, and anew
for each case.
"""

from __future__ import annotations

import functools
import math
from types import CodeType, ModuleType
from typing import Any

import numpy
import torch

from grader.sandbox.forms.exact import Function, copy_tensor, is_ruined, put_once, refusal, result_of

MODULES: dict[str, ModuleType] = {module.__name__: module for module in (math, numpy, torch)}
HELPERS: dict[str, Function] = {
    helper.__name__: helper for helper in (copy_tensor, is_ruined, put_once, refusal, result_of)
}
PROBE = "__probe__"  # the name of the probe at the end of a text


def load_probe(text: str) -> Function:
    """The probe of a text, which has these modules and helpers."""
    names: dict[str, Any] = {"__name__": PROBE, **MODULES, **HELPERS}
    exec(compile_probe(text), names)
    probe: Function = names[PROBE]
    return probe


@functools.lru_cache
def compile_probe(text: str) -> CodeType:
    """A text of functions and classes. Their annotations are not evaluated, just as those of this file."""
    return compile(text, "<a probe>", "exec")
