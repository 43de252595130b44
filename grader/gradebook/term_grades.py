"""Where students stand in the whole term: their points in all assignments, and the weighted total."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_rows import ClassRows, NotInGradebook
from grader.gradebook.connection import check_gradebook, open_gradebook
from grader.gradebook.settings import term_rules
from grader.gradebook.standing import Person, Standing


@dataclass(frozen=True)
class AssignmentGrades:
    """The grades of one assignment, and the maximum."""

    name: str
    max_points: float
    weight: float
    standings: Mapping[str, Standing]  # by student, of those who have a grade
    not_final: Collection[str]  # students who have no grade yet, or wait for points from a person

    @property
    def counts(self) -> bool:
        """Whether it has points and a weight: a share of nothing means nothing."""
        return self.max_points > 0 and self.weight > 0

    def share(self, student: str) -> float:
        """A student's share of the points; 0 without a grade."""
        standing = self.standings.get(student)
        return standing.total / self.max_points if standing else 0.0


@dataclass(frozen=True)
class TermGrades:
    assignments: Sequence[AssignmentGrades]  # those with grades
    ungraded: Sequence[str]  # the others
    people: Sequence[Person]  # by name
    zone: str = ""  # the time zone of the course

    def total(self, student: str) -> float | None:
        """The weighted mean of a student's shares in all assignments; None if nothing counts."""
        counting = [assignment for assignment in self.assignments if assignment.counts]
        total_weight = sum(assignment.weight for assignment in counting)
        if not total_weight:
            return None
        return sum(assignment.weight * assignment.share(student) for assignment in counting) / total_weight

    @property
    def not_final(self) -> list[str]:
        return sorted({student for assignment in self.assignments for student in assignment.not_final})


def read_term(course: Course) -> TermGrades:
    """Read all assignments of the course. It is an error if none has a grade."""
    api = course.api()
    check_gradebook(api)
    rules = {name: term_rules(course, name) for name in course.assignments()}
    people: dict[str, Person] = {}
    assignments: dict[str, AssignmentGrades] = {}
    with contextlib.closing(open_gradebook(api)) as gradebook:
        for name, assignment_rules in rules.items():
            with contextlib.suppress(NotInGradebook):
                rows = ClassRows(gradebook.db, name, assignment_rules)
                people |= {person.id: person for person in rows.people}
                if rows.scored:
                    assignments[name] = _grades(name, rows, assignment_rules.weight, course.students(name))
    if not assignments:
        raise CourseError("Nothing is graded yet. Run: grader autograde")
    for assignment in assignments.values():
        for student in assignment.not_final:
            people.setdefault(student, Person(student))
    ungraded = [name for name in rules if name not in assignments]
    zone = next((assignment_rules.zone for assignment_rules in rules.values()), "")
    return TermGrades([*assignments.values()], ungraded, [people[student] for student in sorted(people)], zone)


def _grades(name: str, rows: ClassRows, weight: float, submitters: Sequence[str]) -> AssignmentGrades:
    waiting = {student for student, standing in rows.standings.items() if standing.waits}
    return AssignmentGrades(
        name=name,
        max_points=rows.max_points,
        weight=weight,
        standings=rows.standings,
        not_final=waiting | (set(submitters) - rows.standings.keys()),
    )
