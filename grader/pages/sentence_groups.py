"""Group the sentences of a verdict: if it names several misconceptions, theirs come below one heading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.model.verdict import Verdict


@dataclass(frozen=True)
class SentenceGroup:
    heading: str  # empty if there is none
    sentences: Sequence[str]


def groups_of(verdict: Verdict) -> Iterator[SentenceGroup]:
    """All sentences, in order. Those about the text of the code come before the heading, or after its group."""
    sentences = verdict.sentences
    if verdict.heading not in sentences:
        yield SentenceGroup("", sentences)
        return
    heading = sentences.index(verdict.heading)
    start, end = heading + 1, heading + 1 + len(verdict.misconceptions)
    if heading:
        yield SentenceGroup("", sentences[:heading])
    if verdict.heading or sentences[start:end]:
        yield SentenceGroup(verdict.heading, sentences[start:end])
    if sentences[end:]:
        yield SentenceGroup("", sentences[end:])


def sentence_by_misconception(verdict: Verdict) -> Mapping[str, str]:
    """The sentence on each misconception; empty if other sentences cannot be told apart from these."""
    names = verdict.misconceptions
    if len(names) == 1 and len(verdict.sentences) == 1:
        return {names[0]: verdict.sentences[0]}
    for group in groups_of(verdict):
        if group.heading:
            return dict(zip(names, group.sentences, strict=True)) if len(group.sentences) == len(names) else {}
    return {}
