"""The tolerance lies between what rounding does to right answers and what throwing digits away does."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from grader.judging.judge import Judge
from grader.judging.wrong_device import TOLERANCE
from grader.model.answer import Answer, Returned
from grader.model.compare import paired_numbers
from grader.model.exercise import DEFAULT_SEED, Exercise, Inputs
from grader.model.forms.exact import GRADIENTS
from grader.model.forms.rounded import OF_16_BITS, Rounded
from grader.model.verdict import Verdict
from grader.sandbox.forms.exact import asks_for_gradients
from grader.sandbox.forms.module import observe
from oracles import classes
from oracles.oracle import DEFINITIONS, float64
from support.answer_keys import FUNCTIONS, answer_key, short_cases
from support.corpus import corpus
from support.solution_cells import define, from_notebook, notebook, put, run, undisturbed

pytestmark = pytest.mark.slow

# Softmax of numbers up to 10³⁰ in 16 bits is no number; what dropout leaves out is no matter of precision.
# And a class that returns two things is no class of one output.
# A table of sines may have as few digits, and what is turned by them. Frequencies and slopes are made from sizes alone.
# In float16, an eps of 1e-6 is hardly a number. And no triangular system is solved in 16 bits.
WITHOUT_SIXTEEN_BITS = (10, 15, 20, 21, 26, 27, 29, 38, 39, 40, "alibi_slopes", "gated_delta_chunks")
FOR_SIXTEEN_BITS = [name for name in FUNCTIONS if name not in WITHOUT_SIXTEEN_BITS]
# Where nothing is added up, where tokens come back, and where a model has learned, for which there is no definition.
WITHOUT_ROUNDING = (15, 26, 27)
# Frequencies are compared in proportion to plain ones, so that rounding leaves nothing of the slow ones.
IN_PROPORTION = (39,)


def seeds(exercise: Exercise) -> range:
    return range(DEFAULT_SEED, DEFAULT_SEED + (1 if exercise.form.noun == "class" else 2))


@functools.cache
def cases(name: int | str) -> list[tuple[Inputs, Any]]:
    """The hidden inputs of all seeds, with the answers that the definition gives in float64."""
    exercise = FUNCTIONS[name]
    drawn = [case.inputs for seed in seeds(exercise) for case in short_cases(exercise, seed)]
    drawn = [inputs for inputs in drawn if not refuses(inputs)]
    if exercise.form.noun == "class":
        return [(inputs, of_class(exercise.number, inputs)) for inputs in drawn if is_exact(inputs)]
    return [(inputs, of_function(name, inputs)) for inputs in drawn]


def of_function(name: int | str, inputs: Inputs) -> Any:
    """By the definition; gradients by the reference."""
    if asks_for_gradients(inputs):
        return FUNCTIONS[name].reference(*map(classes.as_double, inputs))
    return tensors(DEFINITIONS[name](*map(float64, inputs)))


def refuses(inputs: Inputs) -> bool:
    return isinstance(inputs[-1], dict) and "refuses" in inputs[-1]


def is_exact(inputs: Inputs) -> bool:
    """Not where chance has a part, or a definition does not say: of new modules, of 16 bits, and of a rate of 1."""
    arguments, _, calls, how = inputs
    tensors = [one for call in calls.values() for one in call if isinstance(one, torch.Tensor)]
    if any(one.dtype in OF_16_BITS for one in tensors) or 1.0 in map(float, arguments[3:]):
        return False
    return not how.keys() & {"impossible", "extra", "new"}


def of_class(number: int, inputs: Inputs) -> list[Any]:
    """The outputs of all calls, and the gradients."""
    arguments, weights, calls, how = inputs
    exact = {name: one.double().requires_grad_() for name, one in weights.items()}
    given = [[one.double() if classes.is_real(one) else one for one in call] for call in calls.values()]
    inputs_too = [one for one in given[0][: how["gradients"]] if classes.is_real(one)]
    leaves = [*exact.values(), *(one.requires_grad_() for one in inputs_too)]
    outputs = [classes.MODULES[number](arguments, exact, *call) for call in given]
    if not how["gradients"]:
        return [outputs, []]
    factors = torch.arange(outputs[0].numel(), dtype=torch.float64).cos().reshape(outputs[0].shape)
    return [outputs, list(torch.autograd.grad((outputs[0] * factors).sum(), leaves))]


def parts(value: Any, want: Any) -> Iterator[tuple[Any, Any]]:
    """What is compared as a whole, given and wanted: of a class, each output, and all gradients."""
    if isinstance(want, tuple):  # each has a scale of its own
        yield from zip(value, want, strict=True)
    elif not isinstance(value, dict):
        yield value, want
    elif isinstance(want, dict) and "gradients" not in want:  # how code computes, and no numbers
        return
    elif isinstance(want, dict):
        yield list(value["gradients"].values()), list(want["gradients"].values())
    else:
        yield from zip(value["outputs"].values(), want[0], strict=True)
        yield list(value.get("gradients", {}).values()), want[1]


def tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    return type(value)(tensors(item) for item in value) if isinstance(value, list | tuple) else value


def spread(name: int | str, value: Callable[[Inputs], Any]) -> float:
    """The largest error of a function over all hidden inputs, relative as `compare.difference` has it."""
    exercise = FUNCTIONS[name]

    def counted(value: Any, inputs: Inputs) -> Any:
        """Without gradients that may be any numbers."""
        return exercise.compared(value, inputs) if isinstance(value, dict) and "ruined" in value else value

    return max(
        error(got, wanted) / (GRADIENTS if isinstance(want, dict) else more_rounding(name, inputs))
        for inputs, want in cases(name)
        for got, wanted in parts(counted(value(inputs), inputs), counted(want, inputs))
        if isinstance(wanted, torch.Tensor) or len(wanted)
    )


def more_rounding(name: int | str, inputs: Inputs) -> float:
    """How many times the usual rounding an answer may have."""
    form = FUNCTIONS[name].form
    return form.allowed(inputs[0]) / TOLERANCE["cpu"] if isinstance(form, Rounded) else 1.0


def error(got: Any, want: Any) -> float:
    pairs = paired_numbers(got, want)
    assert pairs is not None
    given, wanted = (torch.cat([pair[side].reshape(-1) for pair in pairs]) for side in (0, 1))
    given, wanted = given[wanted.isfinite()], wanted[wanted.isfinite()]  # the maximum of nothing is −∞
    if not len(wanted):
        return 0.0
    return float(((given - wanted).abs() / (wanted.abs() + wanted.abs().max())).max())


def answer(ask: Callable[[Inputs], Answer]) -> Callable[[Inputs], Any]:
    def value(inputs: Inputs) -> Any:
        given = ask(inputs)
        assert isinstance(given, Returned)
        return given.value

    return value


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in (*WITHOUT_ROUNDING, *IN_PROPORTION)])
def test_rounding_errors_stay_below_a_fifth_of_the_tolerance(name: int | str) -> None:
    """Those of the reference and of every right solution of the corpus, in float32."""
    exercise = FUNCTIONS[name]
    given = notebook(exercise.number)
    with undisturbed():
        spreads = {"reference": spread(name, lambda inputs: exercise.reference(*inputs))}
        for style, source in corpus(exercise.number).items():
            spreads[style] = spread(name, answer(run(source, exercise, given, steps=10**7)))  # loops over numbers
    worst = max(spreads, key=lambda style: spreads[style])
    assert spreads[worst] < TOLERANCE["cpu"] / 5, f"{worst}: {spreads[worst]:.1e}"


def verdict(name: int | str, function: Callable[..., Any]) -> Verdict:
    drawn = short_cases(FUNCTIONS[name])
    return Judge().verdict(answer_key(name), [Returned(function(*case.inputs), list(case.inputs)) for case in drawn])


def changed(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same lists with every tensor changed; of a class, what it computes."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        computed = "outputs" if "outputs" in value else "gradients"
        return {**value, computed: {name: change(one) for name, one in value.get(computed, {}).items()}}
    return type(value)(changed(item, change) for item in value) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_answer_off_by_a_thousandth_is_wrong(name: int | str) -> None:
    exercise = FUNCTIONS[name]
    found = verdict(name, lambda *inputs: changed(exercise.reference(*inputs), lambda one: one * 1.001))
    assert not found.right


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in (*WITHOUT_ROUNDING, *IN_PROPORTION)])
def test_answer_rounded_to_two_decimals_is_named(name: int | str) -> None:
    exercise = FUNCTIONS[name]
    found = verdict(name, lambda *inputs: changed(exercise.reference(*inputs), lambda one: one.round(decimals=2)))
    assert (found.right, found.reason) == (False, "rounded")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", FOR_SIXTEEN_BITS)
def test_answer_in_sixteen_bits_is_named(name: int | str, dtype: torch.dtype) -> None:
    """The notebook's solution, computed in 16 bits from the start and given back as float32."""
    exercise = FUNCTIONS[name]
    namespace = notebook(exercise.number)
    define(from_notebook()[exercise.number], namespace)
    solution = namespace[exercise.entry]
    if exercise.form.noun == "class":
        forward = functools.partialmethod(forward_in_sixteen_bits, solution.forward, dtype)
        function: Callable[..., Any] = functools.partial(observe, type("Low", (solution,), {"forward": forward}))
    else:
        function = functools.partial(in_sixteen_bits, exercise, solution, dtype)
    found = verdict(name, function)
    assert (found.right, found.reason) == (False, "half precision")


def in_sixteen_bits(exercise: Exercise, solution: Callable[..., Any], dtype: torch.dtype, *inputs: Any) -> Any:
    low = [torch.tensor(one) if isinstance(one, list) and isinstance(one[0], float) else one for one in inputs]
    given = [one if isinstance(one, dict) else changed(one, lambda tensor: lower(tensor, dtype)) for one in low]
    return changed(put(exercise, solution, given), lambda one: one.float())


def lower(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers of pages stay whole."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def forward_in_sixteen_bits(
    self: torch.nn.Module, forward: Callable[..., Any], dtype: torch.dtype, *inputs: Any
) -> torch.Tensor:
    low = [one.to(dtype) if classes.is_real(one) else one for one in inputs]
    output: torch.Tensor = forward(copy.deepcopy(self).to(dtype), *low)
    return output.float()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_zero_gradients_have_the_scale_of_those_beside_them(name: int | str) -> None:
    """For a single word, those of queries and keys are: what rounding leaves there is no mistake."""
    key = answer_key(name)
    form, cases, wanted = key.exercise.form, key.cases, key.expected
    for case, want in zip(cases, wanted, strict=True):
        belong_together = isinstance(want, dict) and "gradients" in want and "outputs" not in want
        if form.name == "by_formulas":
            found: Any = tuple(_rounded_like(want, one) for one in want)
        elif belong_together and isinstance(want["gradients"], dict):
            together = [one for one in want["gradients"].values() if one is not None]
            found = {
                **want, "gradients": {which: _rounded_like(together, one) for which, one in want["gradients"].items()}
            }  # fmt: skip
        else:
            continue
        assert form.finding(found, want, TOLERANCE["cpu"]) is None, case.case.name
        assert form.agrees(found, want, want, TOLERANCE["cpu"]), case.case.name


def _rounded_like(together: Sequence[torch.Tensor], one: torch.Tensor) -> torch.Tensor:
    largest = max(float(each.abs().max()) for each in together)
    return one + 3e-7 * largest * torch.randn(one.shape).clamp(-1, 1).to(one.dtype)
