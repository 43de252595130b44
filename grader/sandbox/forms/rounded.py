"""A function that is a piece of a model, whose right results differ by rounding more than those of others."""

from __future__ import annotations

from grader.sandbox.forms import exact

WORDS = exact.WORDS
put = exact.put
