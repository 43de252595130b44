"""What has to change in a line, as a student reads it."""

from __future__ import annotations

from enum import StrEnum


class Change(StrEnum):
    """What a change is about, as a student reads it. It never says what to write."""

    NUMBER = "a number or a size"
    NUMBERS = "numbers or sizes"
    AXIS = "an axis"
    OPERATOR = "an operator"
    OPPOSITE = "a minus sign, or true where it should be false"
    CONDITION = "a condition"
    UPDATE = "adding to a value or replacing it"
    NAME = "which variable is used"
    ORDER = "the order of two things, or brackets"
    ARRANGEMENT = "rows and columns, or the order of axes"
    ALIAS = "one tensor under two names"
    CALL = "which function is called"
    SURPLUS = "something extra"
    MISSING = "something that is missing"
    LOST = "a result that is lost"
    RETURNED = "what is returned"
    COPIED = "a difference from the line that does the same for the other one"
    AFTER = "a line that is missing after it"
    BRANCH = "what follows it"
    OTHERWISE = "what is done if its condition does not hold"
    PLACE = "where the line is: before or after another one, inside or outside a loop"
