"""Mistakes that students make, as other lines of a solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from grader.errors import CourseError
from grader.solutions.lines import Change

# What a mistake is about.
Kind = Literal[
    "scaling", "axis", "mix-up", "missing step", "wrong formula", "arrangement", "convention", "hard-coded", "borrowed",
    "input", "gradient", "type",
]  # fmt: skip
KINDS: Sequence[str] = get_args(Kind)

# What an exercise with one mistake still earns, by its kind. A mistake that says otherwise earns three quarters for a
# detail or an unusual input, a quarter where a whole part is missing, and nothing where nothing of the idea is left.
CREDITS: Mapping[Kind, float] = dict.fromkeys(get_args(Kind), 0.5) | {"type": 0.75, "borrowed": 0.25}


@dataclass(frozen=True)
class Needs:
    """What shared mistakes are written for: the names that their solutions have in common, separated by blanks."""

    marks: str
    variables: str


@dataclass(frozen=True)
class Misconception:
    """A mistake that students make. `wrong` makes one from other lines of the solution."""

    name: str
    """What reports and tables call it."""
    kind: Kind
    """What it is about. Gradebooks, reports and credits count mistakes by their kind."""
    credit: float
    """What the exercise still earns, from 0 to 1."""
    says: str
    """What a student reads. Only numbers are compared, so it must be true of all code that gives these numbers."""
    change: Mapping[str, Any] = field(default_factory=dict)
    """Other lines of the solution, by their marks."""
    other_changes: tuple[Mapping[str, Any], ...] = ()
    """Other ways to write it, with other results."""
    way: int = 0
    """Which of its ways this is. An exercise holds one for each."""
    in_code: tuple[str, ...] = ()
    """Expressions such as "_ ** 1 / 2", where _ matches anything: if code has one, the student reads `says_of_code`."""
    says_of_code: str = ""
    """What a student reads if the code has one of the expressions `in_code`."""
    or_borrowed: bool = False
    """Whether the number may also be one that the code takes from the notebook. A student then reads that instead."""
    needs: Needs | None = None
    """What the solution must have, if exercises share the mistake."""

    @property
    def ways(self) -> list[Misconception]:
        """The mistake as written in each way."""
        changes = enumerate((self.change, *self.other_changes), self.way)
        return [replace(self, change=change, other_changes=(), way=way) for way, change in changes]

    def add_way(self, change: Mapping[str, Any]) -> Misconception:
        """The mistake, with one more way to write it."""
        return replace(self, other_changes=(*self.other_changes, change))

    def edit_ways(self, edit: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Misconception:
        """The mistake, with each way to write it edited."""
        return replace(self, change=edit(self.change), other_changes=tuple(map(edit, self.other_changes)))

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from all others of its exercise."""
        return self.name, self.way


Way = Change | Mapping[str, Change]


def wrong(
    name: str,
    lines: Way | list[Way],
    says: str,
    *,
    also: Mapping[str, Change] | None = None,
    credit: float | None = None,
    kind: Kind = "wrong formula",
    in_code: tuple[str, ...] = (),
    says_of_code: str = "",
    or_borrowed: bool = False,
    needs: Needs | None = None,
) -> Misconception:
    """A mistake: other lines of the solution.

    `lines` has them by their marks: `{"scale": "scores = scores / d"}`. Instead of a whole line, a tuple replaces parts
    of the marked one: `("dim=-1", "dim=0")`. An empty text removes the line; `"before scale"` and `"after scale"` add
    some. Within `at("scale", …)`, give the line alone, and what changes at other marks as `also={…}`. A list holds
    several ways to write one mistake, with different results: `["scores = scores / d", "scores = scores / d**2"]`.

    `says` is what a student reads, and must be true of all code that gives the same numbers. `credit` is what the
    exercise still earns, if it is not what CREDITS has for this kind. A mistake that exercises share says what it
    `needs`.
    """
    if kind not in KINDS:
        raise CourseError(f"“{name}”: there is no kind “{kind}”. There are: {', '.join(KINDS)}.")
    ways = lines if isinstance(lines, list) else [lines]
    change, *other_changes = [way if isinstance(way, Mapping) else {_MARKED: way, **(also or {})} for way in ways]
    return Misconception(
        name,
        kind,
        CREDITS[kind] if credit is None else credit,
        says,
        change,
        tuple(other_changes),
        in_code=in_code,
        says_of_code=says_of_code,
        or_borrowed=or_borrowed,
        needs=needs,
    )


_MARKED = "the line of at(…)"


def at(mark: str, *mistakes: Misconception) -> list[Misconception]:
    """Mistakes in the line with this mark."""

    def placed(change: Mapping[str, Change]) -> Mapping[str, Change]:
        return {mark if place == _MARKED else place: line for place, line in change.items()}

    return [mistake.edit_ways(placed) for mistake in mistakes]


def in_all_ways(mistakes: Sequence[Misconception]) -> Sequence[Misconception]:
    """The mistakes, each in all its ways; anything else stays for the loader to refuse."""
    if not isinstance(mistakes, list | tuple) or not all(isinstance(mistake, Misconception) for mistake in mistakes):
        return mistakes
    return [way for mistake in mistakes for way in mistake.ways]


def changes_of(misconceptions: Sequence[Misconception]) -> dict[str, Any]:
    """The steps of the reference that misconceptions change."""
    changes: dict[str, Any] = {}
    for misconception in misconceptions:
        for step, change in misconception.change.items():
            changes[step] = (*changes[step], *change) if step in changes else change
    return changes


def can_combine(first: Misconception, second: Misconception) -> bool:
    """Whether misconceptions change different steps, or parts of a line: then a student can hold both at once.

    Two ways to write a mistake, which have one sentence, are not two mistakes."""
    if not first.change or not second.change or first.says == second.says:
        return False
    shared_steps = set(first.change) & set(second.change)
    return all(
        isinstance(first.change[step], tuple) and isinstance(second.change[step], tuple) for step in shared_steps
    )
