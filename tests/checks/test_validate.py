"""The course in this repository is what `grader validate` wants it to be."""

from __future__ import annotations

import pytest

from grader.checks.validate import validate
from grader.course.folder import Course
from support.our_course import ASSIGNMENTS
from support.places import ROOT
from support.proof import some_in_ci

pytestmark = pytest.mark.slow

COURSE = Course(ROOT)


@pytest.mark.parametrize("assignment", some_in_ci(ASSIGNMENTS, one_in=6))
def test_validate_finds_nothing_wrong_with_an_assignment(assignment: str) -> None:
    findings = list(validate(COURSE, assignment))
    assert [finding.text for finding in findings if not finding.ok] == []
    # Of the last three, one is the release. What visible checks let pass is told for each exercise.
    assert len({finding.checked for finding in findings}) == 8


def test_validate_first_four_checks_pass_for_causal_attention() -> None:
    """What takes no sandbox: all of it is part of the proof."""
    checked = []
    for finding in validate(COURSE, "causal_attention"):
        assert finding.ok, finding.text
        checked.append(finding.checked)
        if len(checked) == 4:
            break
    assert checked[-1] == "answers to something else earn nothing"
