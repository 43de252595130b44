"""What a student does next, by what was found."""

from __future__ import annotations

import re

from grader.model.verdict import Reason, Verdict

_NEXT_STEPS = {
    Reason.MISSING: "Restart the kernel, run all cells from the top, and see whether the name is still known.",
    Reason.ERROR: "Print what is computed step by step, up to the line where it stops.",
    Reason.TEST_FAILED: "Restart the kernel, run all cells from the top, and call your code as the test does.",
    Reason.NO_ANSWER: "Look for a loop that never ends, or for something that takes far too much memory.",
    Reason.CONSTANT: "Call it with two inputs that differ, and print what it makes of each, step by step. Use its "
    "arguments, and nothing of the notebook's own data.",
    Reason.LOCATED: "Read what is shown piece by piece, and say for each piece what it is, of which type or shape.",
    Reason.WRONG: "Try it on inputs of other sizes than the notebook's, and follow one result by hand.",
}
# The same, where more is known: by what its sentences have in them.
_ADVICE = {
    r"stopped with (NameError|UnboundLocalError)": "Find the place where that name gets its value. It is an argument, "
    "or something that is computed before it is read.",
    r"stopped with (SyntaxError|IndentationError|TabError)": "Run the cell by itself: Python shows the place that it "
    "cannot read. A bracket or a colon before it may be missing.",
    r"stopped with (TypeError|AttributeError)": "Print what kind of thing each value is, just before it stops: a "
    "tensor, a list, a number or None.",
    r"dtype|scalar type": "Print the dtype of each tensor, just before it stops: all should have that of the input.",
    r"stopped with (RuntimeError|IndexError|ValueError)": "Call it with inputs of other sizes than the notebook's, and "
    "print the shape of each tensor, just before it stops.",
    r"returned None|returns None": "Call it in a cell of its own, and look at what comes back: a result has to be "
    "returned, on every path through the code.",
    r"is NaN\.": "Print what you compute step by step, and find the first line after which there is NaN or ∞.",
}


def next_step(verdict: Verdict) -> str:
    """What to do about it; empty if its sentences say all."""
    if verdict.reason not in _NEXT_STEPS:
        return ""
    said = "\n".join(verdict.sentences)
    return next((advice for words, advice in _ADVICE.items() if re.search(words, said)), _NEXT_STEPS[verdict.reason])
