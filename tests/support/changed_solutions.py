"""Judge the notebook's solutions with some of their text changed."""

from __future__ import annotations

import functools
import textwrap

from grader.judging.judge import Judge
from grader.model.verdict import Verdict
from support.answer_keys import answer_key
from support.solution_cells import from_notebook, notebook, run, undisturbed


def verdict(number: int, *changes: tuple[str, str], after: str = "") -> Verdict:
    """The verdict on the notebook's solution with these changes, followed by the code in `after`."""
    source = from_notebook()[number]
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    key = answer_key(number)
    with undisturbed():
        ask = run(f"{source}\n{textwrap.dedent(after)}", key.exercise, given(number))
        return Judge().verdict(key, [ask(case.inputs) for case in key.cases])


given = functools.cache(notebook)
