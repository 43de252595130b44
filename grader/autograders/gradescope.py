"""Grade in a Gradescope container, for `run_autograder`: from submission/ to results/results.json.

Every submission gets results. Only an error of our own, which is not the student's fault, ends without: Gradescope then
shows a failure and no points.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from grader.autograders.folder_grading import MAX_SENTENCE, Outcome, describe_confinement, grade_folder
from grader.autograders.gradescope_files import AS_TEXT
from grader.autograders.packed import unpack
from grader.errors import CourseError
from grader.model.untrusted import read_json
from grader.model.verdict import Scored
from grader.sandbox.plain_text import one_line


def main(autograder: Path, draw: str = "") -> None:
    packed = unpack(autograder / "source")
    student = _read_addresses(autograder / "submission_metadata.json")
    outcome = grade_folder(packed, autograder / "submission", student, draw)
    # Only instructors see what is printed.
    hidden_inputs = outcome.draw or "none, because nothing was graded"
    lines = [f"Confined by: {describe_confinement()}.", f"Hidden inputs: {hidden_inputs}", *outcome.attempts]
    print(*lines, sep="\n")  # noqa: T201
    results = autograder / "results" / "results.json"
    results.parent.mkdir(exist_ok=True)
    results.write_text(json.dumps(results_of(outcome), indent=1))


def _read_addresses(metadata: Path) -> str:
    """The addresses of those who submitted: one student, or a group."""
    try:
        submission: Any = read_json(metadata.read_text())
        return " ".join(sorted(str(user["email"]).casefold() for user in submission["users"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CourseError(f"{metadata.name} cannot be read: {type(error).__name__}. Nothing was graded.") from None


def results_of(outcome: Outcome) -> dict[str, object]:
    """The results in Gradescope's form. All of it is plain text, and nobody is ranked."""
    return {
        "score": outcome.points,
        "output": "\n".join(one_line(note, MAX_SENTENCE) for note in outcome.notes),
        **AS_TEXT,
        "stdout_visibility": "hidden",
        "tests": [_test(scored) for scored in outcome.scored],
    }


def _test(scored: Scored) -> dict[str, object]:
    verdict = scored.verdict
    heading = f"Exercise {verdict.exercise}" if verdict.exercise else ""
    return {
        "name": ": ".join(filter(None, [heading, verdict.title])),
        "number": verdict.label,
        "score": scored.points,
        "max_score": scored.max_points,
        "status": "passed" if verdict.right else "failed",
        "output": "\n".join(one_line(sentence, MAX_SENTENCE) for sentence in verdict.sentences),
        "visibility": "visible",
    }


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), *sys.argv[2:])
    except CourseError as failure:
        sys.exit(str(failure))
