"""What answers earn that are right but for one thing, whatever the exercise."""

from __future__ import annotations

ARRANGEMENT_CREDIT = 0.5
MODIFIED_CREDIT = 0.5
DEVICE_CREDIT = 0.5
PRECISION_CREDIT = 0.5
UNKNOWN_CREDIT = 0.5
BESIDE_CREDIT = 0.75
PROMISE_CREDIT = 0.5
# The same for classes and pieces of models, by the part that is not right.
SIDES = {"gradient": 0.5, "dropout": 0.5, "mask": 0.75, "input": 0.5, "arguments": 0.75, "type": 0.75, "initial": 0.75}
