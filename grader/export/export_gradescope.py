"""Export an autograder for Gradescope that runs nothing and just reports our grades."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.autograders.gradescope_files import AS_TEXT, zipped
from grader.course.folder import Course
from grader.export.points import IDENTIFIERS, Tell, grades_to_export, identified, tell_of_maximum, write_export
from grader.gradebook.class_rows import Remark
from grader.gradebook.standings import ClassGrades, Standing
from grader.pages.spreadsheet import number
from grader.sandbox.plain_text import one_line

_TEMPLATES = Path(__file__).parent / "templates" / "gradescope"


def export_gradescope(course: Course, assignment: str, tell: Tell) -> Path:
    """Write a ZIP file, to be uploaded to Gradescope as the autograder."""
    grades = grades_to_export(course, assignment, tell)
    tell_of_maximum(grades, "the assignment in Gradescope", tell)
    heading, identifier = IDENTIFIERS["email"]
    results = {
        name.casefold(): results_for(standing, grades)
        for name, standing in identified(grades.graded, identifier, heading, tell)
    }
    programs = {name: (_TEMPLATES / name).read_bytes() for name in ("setup.sh", "run_autograder")}
    content = zipped(programs, {"grades.json": json.dumps(results, indent=1).encode()})
    return write_export(course, f"{assignment}-gradescope.zip", content)


def results_for(standing: Standing, grades: ClassGrades) -> dict[str, Any]:
    """One student's results.json. Everything in it is plain text."""
    verdicts = {scored.verdict.exercise or scored.verdict.title: scored.verdict for scored in standing.verdicts}
    tests = []
    elsewhere = list(standing.remarks)
    for item in grades.items:
        verdict = verdicts.get(item.exercise or item.name)
        said = [one for one in standing.remarks if one.cell == item.cell or one.exercise == item.exercise is not None]
        elsewhere = [one for one in elsewhere if one not in said]
        found = [one_line(text, 1000) for text in verdict.sentences] if verdict else []
        ruled = [f"Course rule: {item.rule.words}."] if item.rule else []
        waits = ["Waiting for your instructor."] if item.cell in standing.waits else []
        title = f": {verdict.title}" if verdict and item.exercise else ""
        tests.append({
            "name": item.name if item.exercise is None else f"Exercise {item.label}{title}",
            "number": item.label,
            "score": round(standing.counted.points.get(item.cell, 0.0), 2),
            "max_score": item.most,
            "output": "\n".join([*ruled, *waits, *found, *_told(said)]),
        })  # fmt: skip
    late = f"Late penalty: {number(standing.penalty)}." if standing.penalty else ""
    which = f"This is {standing.attempt}." if standing.attempt else ""
    open_ = "These points are not final: some answers are waiting for your instructor." if standing.waits else ""
    first = " ".join(filter(None, ["Graded outside of Gradescope.", which, late, open_]))
    return {
        "score": round(standing.total, 2),
        "output": "\n".join([first, *_told(elsewhere)]),
        **AS_TEXT,
        "tests": tests,
    }


def _told(remarks: Sequence[Remark]) -> list[str]:
    """The lines that people have written about a submission."""
    lines = [one_line(line, 1000) for remark in remarks for line in remark.text.splitlines() if line.strip()]
    return ["From your instructor:", *lines] if lines else []
