"""Wrong code as real students write it: is what the verdict says true of the code, or does it show the line?

The headers of the files were written by reading the code, before the grader saw it: they are not what it can say today.
The bound below is what it reaches; whoever makes it better makes it tighter. `pytest -s` shows the table.

What nothing explains is searched, which takes seconds: every fifteenth file of one assignment is graded, and all with
GRADER_ALL=1.
"""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from graded_corpus import Result, grade, submissions
from our_course import EXERCISES
from part import ALL, part
from real_mistakes_read import FIELDS, FOLDER, MARK, OF_ALL, Mistake, Told, all_mistakes, causes_told, told, untrue

from grader.course import Course

MISTAKES = all_mistakes()
GRADED = MISTAKES if ALL else MISTAKES[::15]
ASSIGNMENTS = part(dict.fromkeys(mistake.assignment for mistake in MISTAKES), of=3)
NOT_PYTHON = ("missing_bracket.py",)

# How much is to be named or located; no sentence is false. Of a fifteenth of the files, some fifteen for each
# assignment, one more or less is 7 %.
MIN_EXPLAINED = 0.95 if ALL else 0.9

Graded = dict[Mistake, Result]


@pytest.fixture(scope="module")
def graded(
    new_course: Callable[[], Course], submit: Callable[..., Path], scores: Callable[..., dict[str, float]]
) -> Callable[[str], Graded]:
    """Each code of an assignment, beside mistakes in its other exercises. Graded when it is first asked for."""
    course = new_course()

    @functools.cache
    def results(assignment: str) -> Graded:
        return grade(course, assignment, submissions("real", GRADED, assignment), submit, scores)

    return results


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_the_header_says_what_is_wrong_and_a_line_is_marked(mistake: Mistake) -> None:
    assert set(FIELDS) <= set(mistake.header) <= {*FIELDS, "follows"}
    assert mistake.header["what"]
    assert mistake.causes in (1, 2, 3)
    names = {one.name for function in EXERCISES[mistake.number].functions for one in function.misconceptions}
    assert set(mistake.listed("true") + mistake.listed("follows")) <= names | OF_ALL
    re.compile(mistake.header["says"])
    re.compile(mistake.header["false"])
    marked = [line for line in mistake.marked if MARK.search(line)]
    assert marked
    assert "<-" not in mistake.cell
    if mistake.path.name not in NOT_PYTHON:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # of an assert that never fails
            ast.parse(mistake.cell)


def test_there_are_enough_of_each_pattern_and_of_several_at_once() -> None:
    patterns = Counter(mistake.header["pattern"] for mistake in MISTAKES)
    causes = Counter(mistake.causes for mistake in MISTAKES)
    assert {pattern: count for pattern, count in patterns.items() if count < 5} == {}
    assert (causes[2] >= 40, causes[3] >= 25, len(MISTAKES) >= 300) == (True, True, True)
    assert len({mistake.cell for mistake in MISTAKES}) == len(MISTAKES)
    assert {mistake.number for mistake in MISTAKES} == set(range(1, 20))
    assert sum(1 for _ in FOLDER.rglob("*.py")) == len(MISTAKES)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_none_is_right(assignment: str, graded: Callable[[str], Graded]) -> None:
    right = [str(mistake) for mistake, result in graded(assignment).items() if result.points >= result.max_points]
    assert right == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_sentence_is_false(assignment: str, graded: Callable[[str], Graded]) -> None:
    said = {str(mistake): untrue(mistake, result.verdict) for mistake, result in graded(assignment).items()}
    false = [f"{name}: {found}" for name, found in said.items() if found]
    assert false == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_true_cause_is_named_or_its_line_shown(
    assignment: str, graded: Callable[[str], Graded], capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = {mistake: result.verdict for mistake, result in graded(assignment).items()}
    counts = Counter((mistake.causes, told(mistake, verdict)) for mistake, verdict in verdicts.items())
    whole = Counter(
        mistake.causes
        for mistake, verdict in verdicts.items()
        if told(mistake, verdict) == Told.NAMED and causes_told(mistake, verdict) >= mistake.causes
    )
    with capsys.disabled():
        print(f"\n{assignment}\n{table(counts, whole)}")  # noqa: T201
    explained = sum(count for (_, what), count in counts.items() if what in (Told.NAMED, Told.LOCATED))
    assert explained >= MIN_EXPLAINED * len(verdicts)


def table(counts: Counter[tuple[int, Told]], whole: Counter[int]) -> str:
    """How many of those with one, two and three mistakes at once are told what; of how many all mistakes are told."""
    lines = ["mistakes at once" + "".join(f"{what:>16}" for what in Told) + f"{'all':>8}{'every cause told':>20}"]
    for several in (1, 2, 3):
        row = [counts[several, what] for what in Told]
        numbers = "".join(f"{count:>16}" for count in row)
        lines.append(f"{several:>16}{numbers}{sum(row):>8}{whole[several]:>20}")
    row = [sum(counts[several, what] for several in (1, 2, 3)) for what in Told]
    lines.append(f"{'':>16}" + "".join(f"{count / max(1, sum(row)):>16.1%}" for count in row))
    return "\n".join(lines)
