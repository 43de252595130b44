"""The exporter for nbgrader's GenerateFeedback: turns the graded notebook of one student into a page."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader.api import Comment, Notebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from sqlalchemy import Engine, NullPool, create_engine, select
from sqlalchemy.orm import Session, joinedload
from traitlets import default

from grader.course.folder import Course
from grader.gradebook.class_rows import ClassRows, NotInGradebook
from grader.gradebook.items import Item
from grader.gradebook.marks import Marks, Row, points_in
from grader.gradebook.standing import Standing, Submitted
from grader.notebooks.cells import METADATA_KEY, NOTES
from grader.pages.feedback_content import page_of
from grader.pages.headings import Headings, headings_of_file
from grader.pages.page_parts import render
from grader.term.reading import read_rules

_UNREADABLE = "The graded notebook could not be read, so only the points are shown. Please tell your instructor."


class Grades(GetGrades):
    """nbgrader's GetGrades, but notebooks may have cells that the gradebook does not know.

    The total follows the rules of the term; the points of each cell stay as they were given.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = names["notebook"], names["assignment"], names["student"]
        # nbgrader makes a new object for each page, without a course, so course.toml is read each time.
        rules = read_rules(Path(CourseDirectory(parent=self).root)).of(self.assignment_id)
        self._rows: dict[str, tuple[Item, Row]] = {}  # items and their rows, by name of the cell
        self._comments: dict[str, Comment] = {}
        with Session(_engine(names["db_url"])) as session, contextlib.suppress(NotInGradebook):
            rows = ClassRows(session, self.assignment_id, rules, students=[self.student_id])
            standing = rows.of_submitter(self.student_id)
            if standing is not None and standing.submission is not None:
                self._read(session, rows.items, standing.marks, standing.submission)
                names.update(self._totals(rows, standing))
        nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
        return nb, resources

    def _read(self, session: Session, items: Sequence[Item], marks: Marks, submission: Submitted) -> None:
        """Read what cells of this notebook have: comments in one query, or they would take longer than all the rest."""
        for item in items:
            if item.notebook == self.notebook_id and item.cell in marks.grades:
                self._rows[item.name] = (item, marks.grades[item.cell])
        query = (
            select(Comment)
            .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .where(Notebook.name == self.notebook_id, SubmittedNotebook.assignment_id == submission.id)
            .options(joinedload(Comment.cell))
        )
        self._comments = {comment.name: comment for comment in session.scalars(query)}
        session.expunge_all()

    def _totals(self, rows: ClassRows, standing: Standing) -> dict[str, object]:
        """The total of the notebook, the maximum, and what is taken off for being late."""
        items = [item for item in rows.items if item.notebook == self.notebook_id]
        points = sum(standing.counted.points.get(item.cell, 0.0) for item in items)
        penalty = standing.counted.penalties.get(self.notebook_id, 0.0)
        full_names = {person.id: f"{person.first_name} {person.last_name}".strip() for person in rows.people}
        group = [full_names.get(member) or member for member in rows.rules.group_of(self.student_id)]
        return {
            "of": ", ".join(group),
            "prefix": f"{self.notebook_id}-" if len(rows.notebooks) > 1 else "",
            "why_late": rows.rules.late.words if rows.rules.late else "",
            "attempt": standing.attempt,
            "score": points - penalty,
            "max_score": sum(item.most for item in items),
            "late_penalty": penalty,
            "without_rules": sum(item.max_points for item in items),
        }

    def _get_score(self, cell: NotebookNode, _resources: object) -> None:
        if cell.metadata.nbgrader["grade_id"] in self._rows:
            item, row = self._rows[cell.metadata.nbgrader["grade_id"]]
            cell.metadata.nbgrader.update(
                score=points_in(row),
                points=item.max_points,
                by_hand=row["manual_score"] is not None,
                rule=item.rule,
                waiting=bool(row["needs_manual_grade"]),
            )

    def _get_comment(self, cell: NotebookNode, _resources: object) -> None:
        comment = self._comments.get(cell.metadata.nbgrader["grade_id"])
        if comment is not None:
            cell.metadata.nbgrader.update(comment=comment.comment, comment_by_hand=bool(comment.manual_comment))


@functools.lru_cache(maxsize=1)
def _engine(url: str) -> Engine:
    """One engine for all pages of a class, since it caches compiled queries. No connection stays open."""
    return create_engine(url, poolclass=NullPool)


class FeedbackExporter(Exporter):
    """Export a graded notebook as an HTML page for its student."""

    @default("file_extension")  # type: ignore[untyped-decorator]
    def _file_extension_default(self) -> str:
        return ".html"

    output_mimetype = "text/html"

    def from_file(self, file_stream: object, resources: object = None, **kw: Any) -> tuple[str, Any]:
        try:
            notebook = _repair_structure(nbformat.read(file_stream, as_version=4))
        except Exception:  # readers of notebooks may fail in any way; the student should at least see the points
            notebook = nbformat.v4.new_notebook(metadata={METADATA_KEY: {NOTES: [_UNREADABLE]}})
        return self.from_notebook_node(notebook, resources=resources, **kw)

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        names = resources.get("nbgrader", {})
        return render(page_of(nb, names, self._headings(nb, names))), resources

    def _headings(self, nb: NotebookNode, names: Mapping[str, Any]) -> Headings:
        """The sections of the released notebook, if it is where nbgrader put it; else of the student's own."""
        course = getattr(self.parent, "coursedir", None)
        if course is not None and {"assignment", "notebook"} <= names.keys():
            folder = course.format_path(course.release_directory, ".", names["assignment"])
            released = Path(folder, f"{names['notebook']}.ipynb")
            if released.is_file():
                return headings_of_file(released, released.stat().st_mtime_ns)
        return Headings.of(nb)


def pages_of_submission(course: Course, assignment: str, student: str) -> list[str]:
    """The pages that `grader feedback` writes for a submission, one for each notebook, without nbgrader's commands.

    Those take a second, which is too long for a page that somebody has asked for.
    """
    api = course.api()
    exporter = FeedbackExporter(config=api.config, parent=api, default_preprocessors=[])
    exporter.register_preprocessor(Grades, enabled=True)
    pages = []
    for path in sorted((course.folder("autograded") / student / assignment).glob("*.ipynb")):
        names = {"student": student, "assignment": assignment, "notebook": path.stem, "db_url": api.coursedir.db_url}
        page, _ = exporter.from_filename(str(path), resources={"nbgrader": names})
        pages.append(str(page))
    return pages


def _repair_structure(notebook: NotebookNode) -> NotebookNode:
    """Repair the structure that all later code relies on, since anybody may have changed the file."""
    notebook.cells = [cell for cell in notebook.cells if isinstance(cell, dict)]
    for cell in notebook.cells:
        cell.setdefault("cell_type", "raw")
        cell["source"] = cell["source"] if isinstance(cell.get("source"), str) else ""
        if not isinstance(cell.get("metadata"), dict):
            cell["metadata"] = nbformat.from_dict({})
        marks = cell.metadata.get("nbgrader")
        if not isinstance(marks, dict) or not isinstance(marks.get("grade_id"), str):
            cell.metadata.pop("nbgrader", None)
        outputs = cell.get("outputs") if isinstance(cell.get("outputs"), list) else []
        cell["outputs"] = [output for output in outputs if isinstance(output, dict)]
    return notebook
