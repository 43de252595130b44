"""Wrong code as real students write it: is what the verdict says true of the code, or does it show the line?

What stands with the code was written by reading it, before the grader saw it: not what it can say today. The bound
below is what it reaches; whoever makes it better makes it tighter. `pytest -s` shows the table.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter

import pytest

from support.our_course import EXERCISES
from support.real_mistakes import (
    FIELDS,
    MARK,
    OF_ALL,
    Explanation,
    Mistake,
    all_mistakes,
    causes_told,
    explanation_of,
    untrue,
)
from support.records import Record, records

MISTAKES = all_mistakes()
ASSIGNMENTS = list(dict.fromkeys(mistake.assignment for mistake in MISTAKES))
NOT_PYTHON = ("missing_bracket",)

MIN_EXPLAINED = 0.95  # how much is to be named or located; no sentence is false


def of_assignment(assignment: str) -> dict[Mistake, Record]:
    """What is on record of each."""
    return {
        mistake: records(mistake.number)[f"real/{mistake.piece.name}"]
        for mistake in MISTAKES
        if mistake.assignment == assignment
    }


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_real_mistake_header_is_valid_and_marks_a_line(mistake: Mistake) -> None:
    assert set(mistake.piece.fields) <= FIELDS
    assert mistake.causes in (1, 2, 3)
    names = {one.name for function in EXERCISES[mistake.number].functions for one in function.mistakes}
    assert set(mistake.listed("true") + mistake.listed("follows")) <= names | OF_ALL
    re.compile(mistake.says_of_itself("says"))
    re.compile(mistake.says_of_itself("false"))
    marked = [line for line in mistake.marked if MARK.search(line)]
    assert marked
    assert "<-" not in mistake.cell
    if mistake.piece.name not in NOT_PYTHON:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # of an assert that never fails
            ast.parse(mistake.cell)


def test_real_mistakes_include_enough_with_several_causes() -> None:
    causes = Counter(mistake.causes for mistake in MISTAKES)
    assert (causes[2] >= 40, causes[3] >= 25, len(MISTAKES) >= 300) == (True, True, True)
    assert len({mistake.cell for mistake in MISTAKES}) == len(MISTAKES)
    assert {mistake.number for mistake in MISTAKES} == set(range(1, 20))
    assert len({(mistake.number, mistake.piece.name) for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_real_mistakes_are_never_right(assignment: str) -> None:
    assert [str(mistake) for mistake, said in of_assignment(assignment).items() if said.credit == 1] == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_real_mistakes_get_no_false_sentence(assignment: str) -> None:
    said = {str(mistake): untrue(mistake, said) for mistake, said in of_assignment(assignment).items()}
    assert [f"{name}: {found}" for name, found in said.items() if found] == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_real_mistakes_are_mostly_named_or_located(assignment: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = of_assignment(assignment)
    counts = Counter((mistake.causes, explanation_of(mistake, said)) for mistake, said in found.items())
    whole = Counter(
        mistake.causes
        for mistake, said in found.items()
        if explanation_of(mistake, said) == Explanation.NAMED and causes_told(mistake, said) >= mistake.causes
    )
    with capsys.disabled():
        print(f"\n{assignment}\n{table(counts, whole)}")  # noqa: T201
    explained = sum(count for (_, what), count in counts.items() if what in (Explanation.NAMED, Explanation.LOCATED))
    assert explained >= MIN_EXPLAINED * len(found)


def table(counts: Counter[tuple[int, Explanation]], whole: Counter[int]) -> str:
    """How many of those with one, two and three mistakes at once are told what; of how many all mistakes are told."""
    lines = [
        "mistakes at once" + "".join(f"{kind:>16}" for kind in Explanation) + f"{'all':>8}{'every cause told':>20}"
    ]
    for several in (1, 2, 3):
        row = [counts[several, what] for what in Explanation]
        numbers = "".join(f"{count:>16}" for count in row)
        lines.append(f"{several:>16}{numbers}{sum(row):>8}{whole[several]:>20}")
    row = [sum(counts[several, what] for several in (1, 2, 3)) for what in Explanation]
    lines.append(f"{'':>16}" + "".join(f"{count / max(1, sum(row)):>16.1%}" for count in row))
    return "\n".join(lines)
