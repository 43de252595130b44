"""Wrong code as real students write it: is what the verdict says true of the code, or does it show the line?

The headers of the files were written by reading the code, before the grader saw it: they are not what it can say today.
The two bounds below are what it reaches; whoever makes it better makes them tighter. `pytest -s` shows the table.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from graded_corpus import Result, grade, submissions
from real_mistakes_read import FIELDS, FOLDER, MARK, Mistake, Told, all_mistakes, causes_told, told, untrue

from grader.catalogue import EXERCISES
from grader.course import Course
from grader.judging.with_facts import NAME as BORROWED

MISTAKES = all_mistakes()
ASSIGNMENTS = tuple(dict.fromkeys(mistake.assignment for mistake in MISTAKES))

# How far the grader is from what it is meant to be (no false sentence, and 95 % named or located): tighten them.
MAX_FALSE = 9
MIN_EXPLAINED = 0.6

Graded = dict[Mistake, Result]


@pytest.fixture(scope="module")
def graded(
    new_course: Callable[[], Course], submit: Callable[..., Path], scores: Callable[..., dict[str, float]]
) -> Graded:
    """Each code beside mistakes in other exercises."""
    course = new_course()
    return {
        mistake: result
        for assignment in ASSIGNMENTS
        for mistake, result in grade(
            course, assignment, submissions("real", MISTAKES, assignment), submit, scores
        ).items()
    }


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_the_header_says_what_is_wrong_and_a_line_is_marked(mistake: Mistake) -> None:
    assert set(FIELDS) <= set(mistake.header) <= {*FIELDS, "follows"}
    assert mistake.header["what"]
    assert mistake.causes in (1, 2, 3)
    names = {one.name for function in EXERCISES[mistake.number].functions for one in function.misconceptions}
    assert set(mistake.listed("true") + mistake.listed("follows")) <= {*names, BORROWED}
    re.compile(mistake.header["says"])
    re.compile(mistake.header["false"])
    marked = [line for line in mistake.marked if MARK.search(line)]
    assert marked
    assert len(marked) >= mistake.causes or ";" in mistake.cell
    assert "<-" not in mistake.cell
    assert mistake.header["pattern"] == "cannot-build" or ast.parse(mistake.cell)


def test_no_code_is_there_twice() -> None:
    assert len({mistake.cell for mistake in MISTAKES}) == len(MISTAKES)
    assert sum(1 for _ in FOLDER.rglob("*.py")) == len(MISTAKES)


def test_none_is_right(graded: Graded) -> None:
    assert [str(mistake) for mistake, result in graded.items() if result.points >= result.max_points] == []


def test_no_sentence_is_false(graded: Graded) -> None:
    false = {str(mistake): found for mistake, result in graded.items() if (found := untrue(mistake, result.verdict))}
    assert len(false) <= MAX_FALSE, "\n".join(f"{name}: {found}" for name, found in false.items())


def test_a_true_cause_is_named_or_its_line_shown(graded: Graded, capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counter((mistake.causes, told(mistake, result.verdict)) for mistake, result in graded.items())
    whole = Counter(
        mistake.causes
        for mistake, result in graded.items()
        if told(mistake, result.verdict) == Told.NAMED and causes_told(mistake, result.verdict) >= mistake.causes
    )
    with capsys.disabled():
        print(table(counts))  # noqa: T201
        print(f"every cause told: {', '.join(f'{whole[several]} of those with {several}' for several in (1, 2, 3))}")  # noqa: T201
    explained = sum(count for (_, what), count in counts.items() if what in (Told.NAMED, Told.LOCATED))
    assert explained >= MIN_EXPLAINED * len(graded)


def table(counts: Counter[tuple[int, Told]]) -> str:
    """How many of those with one, two and three mistakes at once are told what."""
    lines = ["", "mistakes at once" + "".join(f"{what:>16}" for what in Told) + f"{'all':>8}"]
    for several in (1, 2, 3):
        row = [counts[several, what] for what in Told]
        lines.append(f"{several:>16}" + "".join(f"{count:>16}" for count in row) + f"{sum(row):>8}")
    row = [sum(counts[several, what] for several in (1, 2, 3)) for what in Told]
    lines.append(f"{'all':>16}" + "".join(f"{count:>16}" for count in row) + f"{sum(row):>8}")
    lines.append(f"{'':>16}" + "".join(f"{count / max(1, sum(row)):>16.1%}" for count in row))
    return "\n".join(lines)
