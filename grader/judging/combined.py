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
    said = [verdict.sentences for verdict in verdicts.values()]
    named = [f"`{name}`: {text}" for name, verdict in verdicts.items() for text in verdict.sentences]
    return replace(
        first,
        credit=sum(verdict.credit for verdict in verdicts.values()) / len(verdicts),
        reason=min(verdicts.values(), key=lambda verdict: verdict.credit).reason,
        sentences=first.sentences if all(sentences == first.sentences for sentences in said) else tuple(named),
        misconceptions=tuple(name for verdict in verdicts.values() for name in verdict.misconceptions),
        cases_right=sum(verdict.cases_right for verdict in verdicts.values()),
        cases=sum(verdict.cases for verdict in verdicts.values()),
        explained_in=next((verdict.explained_in for verdict in verdicts.values() if verdict.explained_in), ""),
        pictures=tuple(picture for verdict in verdicts.values() for picture in verdict.pictures),
        lost=next((verdict.lost for verdict in verdicts.values() if verdict.lost), None),
        located=tuple(place for verdict in verdicts.values() for place in verdict.located),
        functions={name: replace(verdict, pictures=()) for name, verdict in verdicts.items()},
    )
