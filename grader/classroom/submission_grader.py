"""From what one student handed in to a graded notebook and its points."""

from __future__ import annotations

import nbformat

from grader.gradebook.conversion import Conversion
from grader.model.submission import Assignment, Graded, Submission
from grader.notebooks.parsing import parse_notebook
from grader.notebooks.verdict_cells import results_of


class SubmissionGrader:
    """Grades one submission after another, and needs neither a gradebook nor the course's folder."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._conversion = Conversion(assignment)

    def grade(self, submission: Submission) -> Graded:
        """Whatever is handed in, there is a result; an error in it is one of ours, and costs this student only."""
        files = {**submission.files, **self._assignment.given}
        try:
            notebook, held = self._conversion.run(
                parse_notebook(submission.notebook), submission.student, files, submission.hidden_seed
            )
            verdicts, blocked = results_of(notebook)
            text = nbformat.writes(notebook)
        except Exception as error:
            return Graded(submission.student, error=f"{type(error).__name__}: {error}")
        return Graded(
            student=submission.student,
            notebook=text if text.endswith("\n") else f"{text}\n",  # as nbconvert writes it
            scores={name: marks.auto_score for name, marks in held.grades.items()},
            comments={name: marks.auto_comment for name, marks in held.comments.items()},
            verdicts=verdicts,
            blocked=blocked,
        )
