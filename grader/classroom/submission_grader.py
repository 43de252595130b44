"""Grade one submission: make graded notebooks and points of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import nbformat
from nbformat import NotebookNode

from grader.errors import CourseError, CrewGone
from grader.gradebook.conversion import Conversion
from grader.host.devices import must_start, said
from grader.host.zygote_process import ZygoteError
from grader.model.exercise_files import describe_error
from grader.model.submission import Assignment, Files, Graded, GradedNotebook, KnownNotebook, Submission
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
                return self._graded(submission)
            except (ZygoteError, CannotConfineError) as error:
                failure = error
            must_start(self._assignment.device, self._assignment.confined, self._assignment.hidden)
        raise CourseError(f"No sandbox starts for this submission, though one starts without it: {said(failure)}.")

    def _graded(self, submission: Submission) -> Graded:
        graded = submission.result()
        results = [self._grade(submission, known, graded) for known in self._assignment.notebooks]
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


def as_text(notebook: NotebookNode) -> str:
    """The text of a notebook, as nbconvert writes it."""
    text: str = nbformat.writes(notebook)
    return text if text.endswith("\n") else f"{text}\n"


def missing_notebook(notebook: KnownNotebook) -> tuple[GradedNotebook, list[Scored]]:
    """The result for a missing notebook: as in nbgrader, it earns nothing, and nobody has to look at it."""
    sentence = f"The notebook {notebook.name}.ipynb was not submitted."
    earning = [cell for cell in notebook.known if cell.grade or cell.task]
    tests = [cell for cell in earning if cell.cell_type == "code" and not cell.solution and not cell.task]
    verdicts = [Verdict(exercise_of(cell.grade_id), cell.grade_id, 0.0, Reason.MISSING, (sentence,)) for cell in tests]
    scored = [Scored(verdict, cell.points) for verdict, cell in zip(verdicts, tests, strict=True)]
    return GradedNotebook(scores={cell.grade_id: 0.0 for cell in earning}), scored
