"""Group the sentences of a verdict: if it names several misconceptions, theirs come below one heading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.model.verdict import Verdict


@dataclass(frozen=True)
class Group:
    heading: str  # empty if there is none
    sentences: Sequence[str]


def groups_of(verdict: Verdict) -> Iterator[Group]:
    """All sentences, in order. Those about the text of the code come before the heading, or after its group."""
    said = verdict.sentences
    if verdict.heading not in said:
        yield Group("", said)
        return
    place = said.index(verdict.heading)
    first, end = place + 1, place + 1 + len(verdict.misconceptions)
    for heading, sentences in (("", said[:place]), (said[place], said[first:end]), ("", said[end:])):
        if heading or sentences:
            yield Group(heading, sentences)


def said_of_each(verdict: Verdict) -> Mapping[str, str]:
    """The sentence on each misconception; empty if other sentences cannot be told apart from these."""
    names = verdict.misconceptions
    if len(names) == 1 and len(verdict.sentences) == 1:
        return {names[0]: verdict.sentences[0]}
    groups = [group.sentences for group in groups_of(verdict) if group.heading]
    return dict(zip(names, groups[0], strict=True)) if groups and len(groups[0]) == len(names) else {}
