"""A function that computes gradients by formulas, which is asked again where autograd is no more."""

from __future__ import annotations

from grader.sandbox.forms import exact

WORDS = exact.WORDS
put = exact.put
