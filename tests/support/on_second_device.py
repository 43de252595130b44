"""Judge the answers of references and misconceptions on the second device. test_second_device.py runs this
in its own process, since a device cannot be removed again.

For each exercise asked for, and for some misconceptions about it ("" for none), this prints the names and the credit of
the verdict, and the devices of the answers.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey, Held
from grader.judging.judge import Judge
from grader.model.answer import Answer, Raised, Returned
from grader.model.exercise import Exercise, SampledCase
from grader.sandbox.decoder import devices
from grader.sandbox.forms import read, written
from grader.solutions.chance import same_chance
from support import second_device
from support.answer_keys import FUNCTIONS, answer_key, some_misconceptions

FEW = 4  # one case in so many


def main() -> None:
    torch.set_num_threads(1)
    json.dump({str(name): told(name, FUNCTIONS[name]) for name in json.loads(sys.argv[1])}, sys.stdout)


def told(name: int | str, exercise: Exercise) -> dict[str, Any]:
    """By misconception. For classes, one answers only a few cases, and the rest if these do not name it."""
    found = {"": told_of(answer_key(name), ())}
    for one in some_misconceptions(exercise):
        key = answer_key(name, every=FEW if exercise.glance else 1)
        found[one.name] = told_of(key, (one,))
        known = found[one.name]
        if exercise.glance and known is not None and known[0] != [one.name]:
            found[one.name] = told_of(answer_key(name), (one,))
    return found


def told_of(key: AnswerKey, held: Held) -> list[Any] | None:
    """Names, credit and devices; None if an index out of range breaks the device, so that nothing can be named."""
    given = []
    for case in key.cases:
        given.append(answer(key.exercise, held, case))
        if second_device.MODULE.broken:
            second_device.MODULE.broken = False  # unlike real devices, this one can be repaired
            return None
    verdict = Judge(second_device.NAME).verdict(key, given)
    places = sorted({place for one in given if isinstance(one, Returned) for place in one.devices})
    return [list(verdict.misconceptions), verdict.credit, places]


def answer(exercise: Exercise, held: Held, case: SampledCase) -> Answer:
    """An answer as it comes from a sandbox."""
    inputs = there(list(case.inputs))
    try:
        with same_chance():
            value = exercise.wrong_answer(held, inputs) if held else exercise.reference(*inputs)
        tree, tensors = written(exercise.form.name, value)
        after, after_tensors = written(exercise.form.name, inputs, "input")
    except Exception as error:  # some mistakes fail for some sizes
        return Raised(type(error).__name__, str(error))
    found = read(exercise.form.name, tree, tensors)
    return Returned(found, read(exercise.form.name, after, after_tensors), devices(tree))


def there(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(second_device.NAME)
    if isinstance(value, dict):
        return {name: there(item) for name, item in value.items()}
    return type(value)(map(there, value)) if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    main()
