"""Pairs of submissions that have much code in common up to names and layout. That is a reason to look, and no finding.

Two solutions of an exercise are compared by the parts of their syntax trees, without what a writer may choose and
without statements that nothing needs; they are alike if nearly all parts of the shorter one are in the other. Students
who work alone often write the same, above all where one short solution is obvious, and whoever has the habits of
somebody else does so in all exercises. So what two have in common is weighed by how much of it nobody else writes in
any cell, neither in the class nor in the course's own solutions; where both are wrong it counts twice. What was
released, the course's own solution, stubs, and what a large part of the class has, do not count at all.

Nobody is in a pair for what a third one has: who puts his work together from two others makes two pairs, and the others
none.

How often chance brings a pair about, nobody can tell. There was none in hundreds of classes that were made up, of 2 to
300 students who solve the eight exercises of the first assignment in short and usual ways, each with habits of their
own. The price: of two students, hardly any copy is told.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.model.label import Label, as_in
from grader.pages.code_forms import Form, form_of

ALIKE = 0.8  # the share of parts of the shorter of two solutions that the other has as well
# Of how many students a solution may be and still say something about two of them.
FEW, SHARE = 8, 0.1
# Three parts that nobody else writes count as one bit, and a cell as six at most, since long code is often found in one
# book or another. Chance has it harder with every bit, but no more is known: whoever works alone has habits, and so who
# writes alike once does so again. Hence a margin, and a larger one the fewer others there are whose habits we see.
PARTS, MOST = 3.0, 6.0
MARGIN, UNSEEN = 8.0, 60.0


@dataclass(frozen=True)
class Shared:
    """An exercise that both of a pair have solved with much the same code."""

    exercise: Label
    alike: float  # the share of the shorter solution that is in the other one
    wrong: bool


@dataclass(frozen=True)
class Pair:
    students: tuple[str, str]
    shared: Sequence[Shared]


@dataclass(frozen=True)
class _Evidence:
    bits: float
    shared: Shared


def pairs(
    solutions: Mapping[str, Mapping[Label, str]],
    wrong: Mapping[str, Collection[Label]],
    given: Mapping[Label, Sequence[str]],
) -> list[Pair]:
    """Those that have more in common than chance explains; the most striking first.

    `solutions` are sources by student and exercise, `wrong` the exercises that did not get full marks, `given` the
    sources that are nobody's own, in the order of the notebook.
    """
    forms: dict[Label, dict[str, Form]] = defaultdict(dict)
    for student in sorted(solutions):
        for exercise, source in solutions[student].items():
            forms[exercise][student] = form_of(source)
    owners = _owners(forms, given)
    found: dict[tuple[str, str], list[_Evidence]] = defaultdict(list)
    for exercise in as_in(given, forms):
        for pair, bits, alike in _alike(forms[exercise], owners, max(FEW, SHARE * len(solutions))):
            both_wrong = all(exercise in wrong.get(student, ()) for student in pair)
            found[pair].append(_Evidence(2 * bits if both_wrong else bits, Shared(exercise, alike, both_wrong)))
    needed = _needed(len(solutions))
    striking = [
        (bits, Pair(pair, [weighed.shared for weighed in evidence]))
        for pair, evidence in found.items()
        if (bits := sum(weighed.bits for weighed in evidence)) >= needed
    ]
    return [pair for _, pair in sorted(striking, key=lambda found: (-found[0], found[1].students))]


def _needed(students: int) -> float:
    """In bits: among many pairs, more is alike by chance; among few students, less is seen of what others write."""
    return math.log2(max(1, math.comb(students, 2))) + MARGIN + UNSEEN / max(1, students)


def _owners(forms: Mapping[Label, Mapping[str, Form]], given: Mapping[Label, Sequence[str]]) -> Mapping[int, float]:
    """How many students write a part, in any exercise; what the course writes, everybody may."""
    written: dict[str, set[int]] = defaultdict(set)
    for of_students in forms.values():
        for student, form in of_students.items():
            written[student] |= form.parts
    owners = Counter(part for parts in written.values() for part in parts)
    known = {part for sources in given.values() for source in sources for part in form_of(source).parts}
    return {part: math.inf if part in known else count for part, count in owners.items()}


def _alike(
    forms: Mapping[str, Form], owners: Mapping[int, float], most: float
) -> list[tuple[tuple[str, str], float, float]]:
    """Pairs whose solutions of an exercise are alike, what that weighs, and how alike they are."""
    found: dict[tuple[str, str], float] = {}
    like: dict[str, set[str]] = defaultdict(set)
    for (one, first), (other, second) in itertools.combinations(forms.items(), 2):
        alike = _share(first, second)
        if alike >= ALIKE:
            found[one, other] = alike
            like[one] |= {one, other}
            like[other] |= {one, other}
    weighed = []
    for (one, other), alike in found.items():
        holders = len(like[one] | like[other])
        bits = _surprise(forms[one].parts & forms[other].parts, holders, owners) if holders <= most else 0.0
        if bits:
            weighed.append(((one, other), bits, alike))
    return weighed


def _share(one: Form, other: Form) -> float:
    shorter = min(len(one.parts), len(other.parts))
    return len(one.parts & other.parts) / shorter if shorter else 0.0


def _surprise(parts: Collection[int], holders: int, owners: Mapping[int, float]) -> float:
    """In bits: how unlikely it is that somebody who works alone writes just these, too."""
    unusual = sum(1 / (1 + max(0.0, owners[part] - holders)) for part in parts)
    return max(0.0, min(MOST, unusual / PARTS) - math.log2(holders - 1) / 2)
