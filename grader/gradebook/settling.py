"""Write the rules of the term into nbgrader's own columns, as far as it has any for them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from difflib import get_close_matches

from nbgrader.api import Gradebook, Student
from sqlalchemy import select

from grader.course.folder import Course
from grader.gradebook.class_rows import ClassRows
from grader.gradebook.connection import PatientSession, open_gradebook
from grader.gradebook.due_dates import NotebookRow, is_late_without_time, notebook_rows, write_dates, write_penalties
from grader.gradebook.settings import term_rules
from grader.sandbox.plain_text import listed, one_line
from grader.term.rules import AssignmentRules

log = logging.getLogger(__name__)


def write_rules(course: Course, assignment: str) -> None:
    """Write the rules of an assignment into the gradebook of its course."""
    rules = term_rules(course, assignment)
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        settle(gradebook, assignment, rules)
        warn_of_unknown_students(gradebook, rules)
    warn_of_unknown_lateness(course, assignment)


def settle(gradebook: Gradebook, assignment: str, rules: AssignmentRules) -> None:
    """Write due date, extensions and penalties by the rules: all or nothing."""
    session = PatientSession(gradebook)
    session.patiently(lambda: _settle(session, gradebook, assignment, rules))


def warn_of_unknown_students(gradebook: Gradebook, rules: AssignmentRules) -> None:
    """Report rules for unknown students: the id is misspelled, or there is no submission from them yet."""
    students_in_rules = set(rules.extensions).union(*rules.groups)
    if not students_in_rules:
        return
    students = set(gradebook.db.scalars(select(Student.id)))
    gradebook.db.rollback()  # or a transaction would stay open on a server
    for student in sorted(students_in_rules - students):
        matches = get_close_matches(student, sorted(students - students_in_rules), 1)
        question = f" Did you mean {one_line(matches[0], 60)}?" if matches else ""
        log.warning(f"course.toml names {one_line(student, 60)}, who is not in the gradebook.{question}")


def warn_of_unknown_lateness(course: Course, assignment: str) -> None:
    """Report late students who lose nothing, since nobody knows how late they are."""
    submitted = course.folder("submitted")
    late = [name for name in course.students(assignment) if is_late_without_time(submitted / name / assignment)]
    if late:
        log.warning(
            f"Late by an unknown time, so there is no penalty: {listed(late)}. Collect again with --times, or write "
            f"the time into timestamp.txt next to the notebook. Then run: grader autograde {assignment}"
        )


def _settle(session: PatientSession, gradebook: Gradebook, assignment: str, rules: AssignmentRules) -> None:
    notebooks = notebook_rows(session.db, assignment)
    # The whole class is only read where its points matter: this runs twice in each grading.
    penalties = _penalties(ClassRows(gradebook.db, assignment, rules), notebooks) if rules.late else {}
    write_dates(session.db, assignment, rules)
    write_penalties(session.db, notebooks, penalties)
    session.commit()
    session.db.expire_all()


def _penalties(rows: ClassRows, notebooks: Sequence[NotebookRow]) -> dict[str, float]:
    """The penalties by id of submitted notebook; as in nbgrader, without those that are 0."""
    counted = {submission.id: rows.counted(submission) for submission in rows.submissions.values()}
    penalties: dict[str, float] = {}
    for notebook in notebooks:
        if notebook.submission in counted:
            penalty = counted[notebook.submission].penalties.get(notebook.name)
            if penalty:
                penalties[notebook.id] = penalty
    return penalties
