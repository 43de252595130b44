"""Grade one submission: make graded notebooks and points of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from grader.classroom.worker_results import as_text, missing_notebook
from grader.errors import CourseError
from grader.gradebook.conversion import Conversion
from grader.host.devices import cannot_start
from grader.host.zygote_process import ZygoteError
from grader.model.exercise_files import said_of
from grader.model.submission import Assignment, Files, Graded, GradedNotebook, KnownNotebook, Submission
from grader.model.verdict import Scored
from grader.notebooks.parsing import parse_notebook
from grader.notebooks.verdict_cells import results_of, together
from grader.sandbox.confine import CannotConfineError


class SubmissionGrader:
    """Grades one submission after another, and needs neither a gradebook nor the course's folder."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._conversion = Conversion(assignment)

    def grade(self, submission: Submission) -> Graded:
        """Grade a submission. There is always a result; an error in it is ours, and affects only this student.

        CrewGone is raised if no sandbox can start.
        """
        graded = submission.result()
        try:
            results = [self._grade(submission, known, graded) for known in self._assignment.notebooks]
        except (ZygoteError, CannotConfineError) as error:
            raise cannot_start(error) from error
        except CourseError as error:
            return submission.result(str(error))
        except Exception as error:
            return submission.result(said_of(error))
        graded.verdicts, graded.blocked = together(results)
        return graded

    def _grade(
        self, submission: Submission, known: KnownNotebook, graded: Graded
    ) -> tuple[Sequence[Scored], Sequence[str]]:
        """Grade one notebook, and add it to `graded`; return its verdicts and what was blocked."""
        if known.name not in submission.notebooks:
            graded.notebooks[known.name], verdicts = missing_notebook(known)
            return verdicts, ()
        files = _with_given(submission.files, self._assignment.given)
        content = parse_notebook(submission.notebooks[known.name])
        notebook, held = self._conversion.run(content, known, submission.student, files, submission.hidden_seed)
        graded.notebooks[known.name] = GradedNotebook(
            text=as_text(notebook),
            scores={name: marks.auto_score for name, marks in held.grades.items()},
            comments={name: marks.auto_comment for name, marks in held.comments.items()},
        )
        return results_of(notebook)


def _with_given(files: Files, given: Files) -> Files:
    """The files of both. The course's take precedence, even if a student's file is named like one of their folders."""
    folders = {str(folder) for place in given for folder in PurePosixPath(place).parents}
    others = {
        place: content
        for place, content in files.items()
        if place not in folders and given.keys().isdisjoint(map(str, PurePosixPath(place).parents))
    }
    return {**others, **given}
