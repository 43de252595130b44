"""A question that may be asked, and what a second look must see for it to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from grader.explaining.observed import Draw, Observed, Place
from grader.explaining.question import QuestionKind

OPTIONS = 4


class RunWatched(Protocol):
    """Runs code without notes, seen from outside."""

    def __call__(
        self, source: str, draws: Sequence[Draw], expressions: Sequence[Place] = (), with_positions: bool = False
    ) -> Sequence[Observed] | None: ...


class LaterDraws(NamedTuple):
    """Inputs for a second look."""

    fresh: Sequence[Draw]
    of_one_sign: Sequence[Draw]
    of_all_kinds: Sequence[Draw]  # large, small, and of other cases


class SecondLook:
    """Runs of code without notes on other inputs, each made when it is needed."""

    def __init__(self, watch: RunWatched, source: str, draws: LaterDraws, expressions: Sequence[Place]) -> None:
        self._watch = watch
        self._source = source
        self._draws = draws
        self._expressions = expressions

    @cached_property
    def runs(self) -> Sequence[Observed]:
        """Runs of the code as it is."""
        return self._watch(self._source, self._draws.fresh, self._expressions) or ()

    @cached_property
    def runs_with_signs(self) -> Sequence[Observed]:
        """The same on numbers of one sign, too: the shape of what is selected depends on such."""
        return [*self.runs, *(self._watch(self._source, self._draws.of_one_sign, self._expressions) or ())]

    def changed_runs(self, source: str, with_positions: bool) -> Sequence[Observed]:
        """Runs of a version of the code on the same inputs; empty if nothing came back."""
        return self._watch(source, self._draws.fresh, with_positions=with_positions) or ()

    @cached_property
    def wide_runs(self) -> Sequence[Observed]:
        """Runs of the code as it is, on inputs of all kinds."""
        return self._watch(self._source, self._draws.of_all_kinds) or ()

    def wide_changed_runs(self, source: str) -> Sequence[Observed]:
        """Runs of a version of the code on inputs of all kinds."""
        return self._watch(source, self._draws.of_all_kinds) or ()


@dataclass(frozen=True)
class Candidate:
    """A question with its options: the right one first."""

    kind: QuestionKind
    line: int
    text: str
    options: Sequence[str]
    explanation: str  # what a run gave
    weight: float  # how much it is worth asking
    is_confirmed: Callable[[SecondLook], bool]
    alike: str = ""  # what answers of one kind have in common

    def is_like(self, candidate: Candidate) -> bool:
        """Whether the two should not be asked together."""
        return self.line == candidate.line or (self.alike != "" and self.alike == candidate.alike)
