"""One verdict for all functions of an exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.model.verdict import Verdict


def combined(verdicts: Mapping[str, Verdict]) -> Verdict:
    """One verdict for the functions of an exercise, by name, which share its points."""
    first, *others = verdicts.values()
    if not others:
        return first
    said = [one.sentences for one in verdicts.values()]
    named = [f"`{name}`: {text}" for name, one in verdicts.items() for text in one.sentences]
    return replace(
        first,
        credit=sum(one.credit for one in verdicts.values()) / len(verdicts),
        reason=min(verdicts.values(), key=lambda one: one.credit).reason,
        sentences=first.sentences if all(one == first.sentences for one in said) else tuple(named),
        misconceptions=tuple(name for one in verdicts.values() for name in one.misconceptions),
        cases_right=sum(one.cases_right for one in verdicts.values()),
        cases=sum(one.cases for one in verdicts.values()),
        reread=next((one.reread for one in verdicts.values() if one.reread), ""),
        pictures=tuple(picture for one in verdicts.values() for picture in one.pictures),
    )
