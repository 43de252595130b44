"""An autograder for Gradescope that runs nothing and hands out our grades."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from grader.course import Course
from grader.gradebook.standings import ClassGrades, Standing
from grader.pages.export import IDENTIFIERS, Tell, grades_to_export, identified, write_export
from grader.pages.spreadsheet import number
from grader.sandbox.plain_text import one_line

_TEMPLATES = Path(__file__).parent / "templates" / "gradescope"


def export_gradescope(course: Course, assignment: str, tell: Tell) -> Path:
    """A ZIP file, to be uploaded there as the autograder."""
    grades = grades_to_export(course, assignment, tell)
    heading, identifier = IDENTIFIERS["email"]
    results = {
        name.casefold(): _results(standing, grades)
        for name, standing in identified(grades.graded, identifier, heading, tell)
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            _add(archive, name, (_TEMPLATES / name).read_text(), 0o755)
        _add(archive, "grades.json", json.dumps(results, indent=1), 0o644)
    return write_export(course, f"{assignment}-gradescope.zip", content.getvalue())


def _results(standing: Standing, grades: ClassGrades) -> dict[str, Any]:
    """One student's results.json. Everything in it is text, which Gradescope shows as it is."""
    verdicts = {scored.verdict.exercise or scored.verdict.title: scored.verdict for scored in standing.verdicts}
    tests = []
    for item in grades.items:
        verdict = verdicts.get(item.exercise or item.name)
        title = f": {verdict.title}" if verdict and item.exercise else ""
        tests.append({
            "name": item.name if item.exercise is None else f"Exercise {item.label}{title}",
            "number": item.label,
            "score": round(standing.points.get(item.cell, 0.0), 2),
            "max_score": item.max_points,
            "output": "\n".join(one_line(text, 1000) for text in (verdict.sentences if verdict else ())),
        })  # fmt: skip
    late = (
        f" {number(standing.penalty)} points were taken off, since it was handed in late." if standing.penalty else ""
    )
    return {
        "score": round(standing.total, 2),
        "output": f"Graded outside of Gradescope.{late}",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "tests": tests,
    }


def _add(archive: zipfile.ZipFile, name: str, content: str, mode: int) -> None:
    information = zipfile.ZipInfo(name)
    information.external_attr = mode << 16
    information.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(information, content)
