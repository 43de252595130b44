"""Check that results are on the right device, and advise on code that mixes devices."""

from __future__ import annotations

from grader.model.answer import Answer, Raised, Returned
from grader.sandbox.nested import tensors_in

# How far a right answer may be from the expected one: as far as rounding takes it.

# Right float32 implementations differ from the float64 result by at most 3e-7 on the hidden cases, relative to the
# expected number plus the largest one of the answer (tests/judging/test_tolerance.py measures it). Thirty times that is
# still rounding; a hundred times the tolerance is a part in a thousand, two decimals, or half precision, whose
# spacing is 1e-3. The matrix products of a GPU add up in another order, for which we allow three times as much.
TOLERANCE = {"cpu": 1e-5}
_ELSEWHERE = 3e-5


def tolerance_on(device: str) -> float:
    return TOLERANCE.get(device, _ELSEWHERE)


_NOT_ALIKE = ("on the same device", "on different devices", "same device as")  # in torch's own words
_NOT_FOR_NUMPY = "to numpy. Use Tensor.cpu()"
_NEW_TENSORS = (
    "The inputs are not on the CPU, and your code has a tensor there. "
    "Make new tensors with device=x.device, or with functions such as torch.zeros_like(x)"
)


def is_elsewhere(answer: Answer, inputs: object, device: str) -> bool:
    """Whether a result is not on the device. Inputs without tensors are on none, so anywhere is right."""
    holds_tensor = next(tensors_in(inputs), None) is not None
    return holds_tensor and isinstance(answer, Returned) and bool(answer.devices - {device})


def mixes_devices(error: Raised) -> bool:
    """Whether an error comes from mixing devices."""
    return bool(advice(error, ""))


def advice(error: Raised, noun: str) -> str:
    """Advice on an error that never occurs on the CPU; else empty."""
    if _NOT_FOR_NUMPY in error.message:
        return "The inputs are not on the CPU, where numpy computes. Use functions of torch."
    if not any(words in error.message for words in _NOT_ALIKE):
        return ""
    if noun == "class":
        return f"{_NEW_TENSORS}; what a module keeps, such as a mask, moves with it once register_buffer has it."
    return f"{_NEW_TENSORS}."
