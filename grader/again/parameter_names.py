"""Another way to give a class its weights: under the names that the student's parameters have."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.again.call_variants import AskAgain, CallVariant
from grader.judging import wording
from grader.model.answer import Returned
from grader.model.exercise import Exercise, Inputs, SampledCase
from grader.model.forms.module import ClassInputs, Shapes
from grader.model.forms.parts import named
from grader.model.untrusted import converted

OTHER_NAMES = "other names of parameters"

LONGEST = 100  # letters of a name: longer ones are not compared

Names = Mapping[str, str]  # parts of names: those asked for -> the student's
_BY_NAME = ("parameters", "buffers", "attributes", "gradients", "new")  # what a class is seen to hold, by name
_LISTED = ("frozen", "even", "unsaved")


def variants_by_parameters(exercise: Exercise, cases: Sequence[SampledCase], ask: AskAgain) -> Iterator[CallVariant]:
    """Variants with the weights under the student's names, if all that are missing are there under others."""
    if not exercise.form.methods:
        return
    first_case = next(case for case in cases if not ClassInputs(*case.inputs).options.get("impossible"))
    (answer,) = ask([first_case])
    shapes = converted(named(answer.value, "parameters"), Shapes) if isinstance(answer, Returned) else None
    if shapes is None:
        return
    weights = ClassInputs(*first_case.inputs).weights
    missing = {name: list(weight.shape) for name, weight in weights.items() if name not in shapes}
    unasked = {name: shape for name, shape in shapes.items() if name not in weights}
    if not missing or len(missing) != len(unasked) or max(map(len, unasked)) > LONGEST:
        return
    tried: list[Names] = []
    for choose in (_most_alike, _first):
        names = _differing_parts(_pair(missing, unasked, choose))
        if not names or names in tried:
            continue
        tried.append(names)
        right_names = {student_name: name for name, student_name in names.items()}
        yield CallVariant(
            OTHER_NAMES,
            (wording.other_names(names),),
            functools.partial(_rename_weights, names=names),
            (functools.partial(_restore_names, names=right_names),),
            wording.ALL_ELSE_RIGHT,
        )


def _most_alike(name: str, candidates: Sequence[str]) -> str:
    return max(candidates, key=lambda candidate: difflib.SequenceMatcher(None, name, candidate).ratio())


def _first(_name: str, candidates: Sequence[str]) -> str:
    """The one that is made first: parameters come in the order in which they are made."""
    return candidates[0]


def _pair(
    missing: Mapping[str, object], unasked: Mapping[str, object], choose: Callable[[str, Sequence[str]], str]
) -> dict[str, str]:
    """Each missing name with one of the same shape; empty if there is none left for one of them."""
    pairs: dict[str, str] = {}
    for name, shape in missing.items():
        free = [candidate for candidate in unasked if candidate not in pairs.values()]
        candidates = [candidate for candidate in free if unasked[candidate] == shape]
        if not candidates:
            return {}
        pairs[name] = choose(name, candidates)
    return pairs


def _differing_parts(pairs: Mapping[str, str]) -> Names:
    """The parts of the names that differ, since other cases have other layers; empty if they contradict each other."""
    names: dict[str, str] = {}
    for right_name, student_name in pairs.items():
        right_parts, student_parts = right_name.split("."), student_name.split(".")
        if len(right_parts) != len(student_parts):
            return {}
        for right_part, student_part in zip(right_parts, student_parts, strict=True):
            if names.setdefault(right_part, student_part) != student_part:
                return {}
    differing = {right: student for right, student in names.items() if right != student}
    return differing if len(set(differing.values())) == len(differing) else {}


def _rename(name: str, names: Names) -> str:
    return ".".join(names.get(part, part) for part in name.split("."))


def _rename_weights(inputs: Inputs, names: Names) -> Inputs:
    case = ClassInputs(*inputs)
    weights: dict[str, Tensor] = {_rename(name, names): weight for name, weight in case.weights.items()}
    return tuple(case._replace(weights=weights))


def _restore_names(value: Any, names: Names) -> Any:
    """What is seen of a class, under the names that are asked for."""
    if not isinstance(value, dict):
        return value
    renamed = dict(value)
    for kind in _BY_NAME:
        if isinstance(value.get(kind), dict):
            renamed[kind] = {_rename(name, names): content for name, content in value[kind].items()}
    for kind in _LISTED:
        if isinstance(value.get(kind), list):
            renamed[kind] = [_rename(name, names) if isinstance(name, str) else name for name in value[kind]]
    return renamed
