"""The exporter for nbgrader's GenerateFeedback: turns the graded notebook of one student into a page."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader.api import Assignment, Comment, Grade, Notebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from sqlalchemy import Engine, NullPool, Select, create_engine, inspect, select
from sqlalchemy.orm import Session, joinedload
from traitlets import default

from grader.gradebook.items import items_of
from grader.gradebook.records import RECORDS, attempts_of, describe_attempt, read_records
from grader.notebooks.cells import METADATA_KEY, NOTES
from grader.pages.feedback_content import page_of
from grader.pages.page_parts import render
from grader.pages.sections import Sections, sections_of_file
from grader.term.reading import read_rules

_UNREADABLE = "The graded notebook could not be read, so only the points are shown. Please tell your instructor."


class Grades(GetGrades):
    """nbgrader's GetGrades, but notebooks may have cells that the gradebook does not know.

    The total follows the rules of the term; the points of each cell stay as they were given.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = (
            names[name] for name in ("notebook", "assignment", "student")
        )
        # nbgrader makes a new object for each page, without a course, so course.toml is read each time.
        self._rules = rules = read_rules(Path(CourseDirectory(parent=self).root)).of(self.assignment_id)
        with Session(_engine(names["db_url"])) as self._session:
            items = items_of(self._session, self.assignment_id, rules)
            self._items = {item.name: item for item in items if item.notebook == self.notebook_id}
            notebook = self._notebook()
            self._grades, self._comments = self._by_cell(Grade, notebook), self._by_cell(Comment, notebook)
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            if notebook is not None:
                names.update(self._in_all(notebook))
        return nb, resources

    def _notebook(self) -> SubmittedNotebook | None:
        query = (
            select(SubmittedNotebook)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .where(Notebook.name == self.notebook_id)
        )
        return self._session.scalar(self._of(query.join(SubmittedNotebook.assignment), self.student_id))

    def _of(self, query: Select[Any], student: str) -> Select[Any]:
        """Restrict a query to a student's submission of this assignment."""
        submitted = SubmittedAssignment
        query = query.join(Assignment, Assignment.id == submitted.assignment_id)
        return query.where(Assignment.name == self.assignment_id, submitted.student_id == student)

    def _by_cell(self, kind: Any, notebook: SubmittedNotebook | None) -> dict[str, Any]:
        """Grades or comments, in one query: one for each cell would take longer than the rest of the page."""
        if notebook is None:
            return {}
        query = select(kind).where(kind.notebook_id == notebook.id).options(joinedload(kind.cell))
        return {row.name: row for row in self._session.scalars(query)}

    def _in_all(self, notebook: SubmittedNotebook) -> dict[str, object]:
        """The total of the notebook, the maximum, and what is taken off for being late."""
        points = sum(self._items[grade.name].counted(grade.score) for grade in self._grades.values())
        penalty, why = self._taken_off(notebook.assignment, points)
        most = sum(item.most for item in self._items.values())
        group = ", ".join(map(self._called, self._rules.group_of(self.student_id)))
        told = {"of": group, "why_late": why, "attempt": self._which(notebook.assignment)}
        without = sum(item.max_points for item in self._items.values())
        return {**told, "score": points - penalty, "max_score": most, "late_penalty": penalty, "without_rules": without}

    def _called(self, student: str) -> str:
        """The student's name, if the gradebook has one; else the id."""
        found = self._session.execute(
            select(Student.first_name, Student.last_name).where(Student.id == student)
        ).first()
        return " ".join(filter(None, found or ())) or student

    def _which(self, submission: SubmittedAssignment) -> str:
        """Which attempt counts, if the best of several does."""
        if not self._rules.best:
            return ""
        group = self._rules.group_of(self.student_id)
        members = [self._session.scalar(self._of(select(SubmittedAssignment), member)) for member in group]
        graded = [member.id for member in members if member and _is_graded(member)]
        has_records = inspect(self._session.connection()).has_table(RECORDS.name)
        records = read_records(self._session, submission.assignment_id, group) if has_records else {}
        attempts = sum(attempts_of(records.get(member)) for member in graded)
        return describe_attempt(attempts, submission.timestamp, self._rules.zone)

    def _taken_off(self, submission: SubmittedAssignment, points: float) -> tuple[float, str]:
        """The points taken off for being late, and the rule that says so."""
        if self._rules.late is None:
            return 0.0, ""
        due = submission.assignment.duedate
        late = self._rules.late_by(self.student_id, submission.timestamp, due, submission.extension)
        return self._rules.late.penalty(points, late), self._rules.late.words

    def _get_score(self, cell: NotebookNode, _resources: object) -> None:
        grade = self._grades.get(cell.metadata.nbgrader["grade_id"])
        if grade is not None:
            by_hand, rule = grade.manual_score is not None, self._items[grade.name].rule
            known = {"score": grade.score, "points": grade.max_score, "by_hand": by_hand, "rule": rule}
            cell.metadata.nbgrader.update(known, waiting=bool(grade.needs_manual_grade))

    def _get_comment(self, cell: NotebookNode, _resources: object) -> None:
        comment = self._comments.get(cell.metadata.nbgrader["grade_id"])
        if comment is not None:
            cell.metadata.nbgrader.update(comment=comment.comment, comment_by_hand=bool(comment.manual_comment))


def _is_graded(submission: SubmittedAssignment) -> bool:
    return any(grade.auto_score is not None for notebook in submission.notebooks for grade in notebook.grades)


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
            notebook = _in_shape(nbformat.read(file_stream, as_version=4))
        except Exception:  # readers of notebooks may fail in any way; the student should at least see the points
            notebook = nbformat.v4.new_notebook(metadata={METADATA_KEY: {NOTES: [_UNREADABLE]}})
        return self.from_notebook_node(notebook, resources=resources, **kw)

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        names = resources.get("nbgrader", {})
        return render(page_of(nb, names, self._sections(nb, names))), resources

    def _sections(self, nb: NotebookNode, names: Mapping[str, Any]) -> Sections:
        """The sections of the released notebook, if it is where nbgrader put it; else of the student's own."""
        course = getattr(self.parent, "coursedir", None)
        if course is not None and {"assignment", "notebook"} <= names.keys():
            folder = course.format_path(course.release_directory, ".", names["assignment"])
            released = Path(folder, f"{names['notebook']}.ipynb")
            if released.is_file():
                return sections_of_file(released, released.stat().st_mtime_ns)
        return Sections.of(nb)


def _in_shape(notebook: NotebookNode) -> NotebookNode:
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
