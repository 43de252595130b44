"""Grade one submission: make graded notebooks and points of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import nbformat
from nbformat import NotebookNode

from grader.errors import CourseError, CrewGone
from grader.gradebook.conversion import Conversion
from grader.host.devices import describe_failure, must_start
from grader.host.zygote_process import ZygoteError
from grader.model.exercise_files import describe_error
from grader.model.submission import Assignment, AssignmentNotebook, Files, Graded, GradedNotebook, Submission
from grader.model.verdict import Reason, Scored, Verdict
from grader.notebooks.cells import exercise_of
from grader.notebooks.parsing import parse_notebook
from grader.notebooks.verdict_cells import results_of, together
from grader.sandbox.confine import CannotConfineError

TRIES = 2  # to start the sandboxes of a submission, where those of others start


class SubmissionGrader:
    """Grades one submission after another, and needs neither a gradebook nor the course's folder."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._conversion = Conversion(assignment)

    def grade(self, submission: Submission) -> Graded:
        """Grade a submission. There is always a result; an error in it is ours, and affects only this student.

        CrewGone is raised if no sandbox can start.
        """
        try:
            return self._grade_or_try_again(submission)
        except CrewGone:
            raise
        except CourseError as error:
            return submission.result(str(error))
        except Exception as error:
            return submission.result(describe_error(error))

    def _grade_or_try_again(self, submission: Submission) -> Graded:
        """Grade it. If no sandbox starts for it though another one does, that is put down to it the second time."""
        for _ in range(TRIES):
            try:
                return self._grade_notebooks(submission)
            except (ZygoteError, CannotConfineError) as error:
                failure = error
            must_start(self._assignment.device, self._assignment.confined, self._assignment.hidden)
        raise CourseError(
            f"No sandbox starts for this submission, though one starts without it: {describe_failure(failure)}."
        )

    def _grade_notebooks(self, submission: Submission) -> Graded:
        graded = submission.result()
        results = [self._grade_notebook(submission, notebook, graded) for notebook in self._assignment.notebooks]
        graded.verdicts, graded.blocked = together(results)
        return graded

    def _grade_notebook(
        self, submission: Submission, released: AssignmentNotebook, graded: Graded
    ) -> tuple[Sequence[Scored], Sequence[str]]:
        """Grade one notebook, and add it to `graded`; return its verdicts and what was blocked."""
        name = released.name
        if name not in submission.notebooks:
            graded.notebooks[name], verdicts = missing_notebook(released)
            return verdicts, ()
        files = _merge_files(submission.files, self._assignment.provided_files)
        content = parse_notebook(submission.notebooks[name])
        notebook, marks = self._conversion.run(content, released, submission.student, files, submission.hidden_seed)
        graded.notebooks[name] = GradedNotebook(
            text=as_text(notebook),
            scores={cell: grade.auto_score for cell, grade in marks.grades.items()},
            comments={cell: comment.auto_comment for cell, comment in marks.comments.items()},
        )
        return results_of(notebook)


def _merge_files(student_files: Files, course_files: Files) -> Files:
    """The files of both. The course's take precedence, even if a student's file is named like one of their folders."""
    course_folders = {str(folder) for path in course_files for folder in PurePosixPath(path).parents}
    files = {}
    for path, content in student_files.items():
        is_in_file = not course_files.keys().isdisjoint(map(str, PurePosixPath(path).parents))
        if path not in course_folders and not is_in_file:
            files[path] = content
    return {**files, **course_files}


def as_text(notebook: NotebookNode) -> str:
    """The text of a notebook, as nbconvert writes it."""
    text: str = nbformat.writes(notebook)
    return text if text.endswith("\n") else f"{text}\n"


def missing_notebook(notebook: AssignmentNotebook) -> tuple[GradedNotebook, list[Scored]]:
    """The result for a missing notebook: as in nbgrader, it earns nothing, and nobody has to look at it."""
    sentence = f"The notebook {notebook.name}.ipynb was not submitted."
    scores: dict[str, float | None] = {}
    verdicts = []
    for cell in notebook.cells:
        if cell.grade or cell.task:
            scores[cell.grade_id] = 0.0
        if cell.grade and cell.cell_type == "code" and not cell.solution and not cell.task:
            verdict = Verdict(exercise_of(cell.grade_id), cell.grade_id, 0.0, Reason.MISSING, (sentence,))
            verdicts.append(Scored(verdict, cell.points))
    return GradedNotebook(scores=scores), verdicts
