"""Ask again with values in the notebook's variables that fit the case: if all is right then, nothing else was wrong."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from grader.again.another_way import AskAgain
from grader.judging.answer_key import AnswerKey
from grader.judging.found_in_inputs import found_in_all
from grader.judging.judge import is_right
from grader.judging.judging_time import JudgingTime

MAX_NAMES = 3
MOST = 150  # ways to lend; with sizes first, two names are through with them before


def is_right_with_lent_values(
    key: AnswerKey,
    ask: AskAgain,
    names: Sequence[str],
    device: str,
    time: JudgingTime,
) -> bool:
    """Whether there is something in the inputs that each name can stand for, such that all answers are right."""
    if not 0 < len(names) <= MAX_NAMES:
        return False
    key = key.only(key.about_numbers)  # one name cannot fit two numbers of words
    cases, keys = key.cases, key.split()  # what is right depends on nothing that is lent
    for chosen in itertools.islice(itertools.product(found_in_all(cases), repeat=len(names)), MOST):
        lent = [
            replace(case, lent=dict(zip(names, of_case, strict=True)))
            for case, of_case in zip(cases, zip(*chosen, strict=True), strict=True)
        ]
        asked = zip(keys, (lent[:1], lent[1:]), strict=True)
        if all(is_right(key, ask(some), device, time) for key, some in asked):
            return True
    return False
