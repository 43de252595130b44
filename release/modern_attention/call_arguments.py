"""What students mean when they call check, hint or check_number, and what to say where that is not plain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def exercise_meant(function: str, exercises: Sequence[int], *arguments: object) -> int | str:
    """The exercise, or what to say instead of doing anything."""
    argument, (example, *_) = arguments[0], (*exercises, 1)
    # Only these are compared: a tensor is equal to a number entry by entry.
    is_plain = len(arguments) == 1 and isinstance(argument, (int, float, str)) and not isinstance(argument, bool)
    meant = next((exercise for exercise in exercises if is_plain and _is_meant(argument, exercise)), None)
    if meant is not None:
        advice = f"Write {function}({meant!r}), {'without quotes' if isinstance(argument, str) else 'without a point'}."
        return meant if type(argument) is type(meant) else advice
    if not is_plain or not isinstance(argument, int):
        return f"{function} takes the number of one exercise, such as {function}({example!r})."
    return (
        f"These checks are for {_listed(exercises)}, and not for {argument}. If this notebook has an exercise "
        f"{argument}, the .py files beside it belong to another notebook: put those there that came with this one, and "
        "restart the kernel."
    )


def _is_meant(argument: object, exercise: int) -> bool:
    return argument == exercise or str(argument).strip() == str(exercise)


def _listed(exercises: Sequence[int]) -> str:
    if len(exercises) < 2:
        return f"exercise {exercises[0]}" if exercises else "numbers alone"
    in_a_row = list(exercises) == [*range(exercises[0], exercises[0] + len(exercises))]
    return f"exercises {exercises[0]} to {exercises[-1]}" if in_a_row else f"exercises {', '.join(map(str, exercises))}"


def number_meant(*answers: Any) -> float | str:
    """The number, or what to say instead of comparing it."""
    answer = answers[0]
    if len(answers) > 1 and all(isinstance(part, int) for part in answers):
        return "Write your number without commas"
    if isinstance(answer, str):
        return "Write your number without quotes and commas"
    if isinstance(answer, bool) or len(answers) > 1:
        return "Give one number, such as 3 or 3 * 10"
    try:
        number = float(answer)  # a tensor may hold it, too
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):
        return "Give one number, such as 3 or 3 * 10"
    return answer if isinstance(answer, int) else number
