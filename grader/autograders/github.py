"""Grade a clone of a student's repository on a GitHub runner, in the instructor's workflow."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from grader.autograders.grading_one import Outcome, grade_folder, said_of, who_confines
from grader.autograders.on_github import annotation, lines_of_cells, plain, summarize, table
from grader.autograders.packed import unpack
from grader.collecting.files import Refused
from grader.collecting.folders import list_folder
from grader.errors import CourseError
from grader.model.verdict import Scored


def main(clone: Path, student: str, results: Path, drawn: str = "") -> None:
    """Grade a clone, print annotations and a summary, and write results. Annotated paths begin with its name."""
    outcome = grade_folder(unpack(Path.cwd()), clone, student, drawn)
    for said in _annotations(outcome, clone):
        print(said)  # noqa: T201
    summarize(summary(outcome, student, who_confines()))
    results.write_text(json.dumps(as_json(outcome, student), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _annotations(outcome: Outcome, clone: Path) -> Iterator[str]:
    """An annotation at the cell of each exercise that lost points."""
    lines = {name: _lines(clone, content) for name, content in outcome.taken.items()}
    for scored in outcome.scored:
        if not scored.verdict.right:
            cell = f"exercise-{scored.verdict.exercise}"
            path, line = next(((path, known[cell]) for path, known in lines.values() if cell in known), (".", 1))
            yield annotation(f"{clone.name}/{path}", line, f"Exercise {scored.verdict.label}", _said(scored))


def _lines(clone: Path, content: bytes) -> tuple[str, dict[str, int]]:
    """The path of a notebook in a clone, and the lines of its cells."""
    for file in list_folder(clone).files:
        try:
            same = file.read(len(content)) == content
        except Refused:
            continue
        if same:
            return "/".join(file.parts), lines_of_cells(content.decode("utf-8", "replace"))
    return ".", {}


def summary(outcome: Outcome, student: str, confined_by: str) -> str:
    rows = [
        (scored.verdict.label, f"{scored.points:g} of {scored.max_points:g}", _said(scored))
        for scored in outcome.scored
    ]
    said = [*outcome.notes, *outcome.tries, f"Confined by: {confined_by}."]
    notes = "".join(f"- {plain(note)}\n" for note in said)
    head = f"## {plain(student)}: {outcome.points:g} of {outcome.max_points:g} points"
    return f"{head}\n\n{table(('exercise', 'points', 'why'), rows)}\n{notes}"


def _said(scored: Scored) -> str:
    return " ".join(said_of(scored.verdict))


def as_json(outcome: Outcome, student: str) -> dict[str, object]:
    exercises = [
        {"exercise": one.verdict.label, "points": one.points, "max_points": one.max_points, "said": _said(one)}
        for one in outcome.scored
    ]
    points = {"points": outcome.points, "max_points": outcome.max_points, "exercises": exercises}
    return {"student": student, **points, "hidden_inputs": outcome.drawn}


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
    except CourseError as failure:
        sys.exit(str(failure))
