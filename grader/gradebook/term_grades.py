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
        counting = [one for one in self.assignments if one.counts]
        weights = sum(one.weight for one in counting)
        return sum(one.weight * one.share(student) for one in counting) / weights if weights else None

    @property
    def not_final(self) -> list[str]:
        return sorted({student for one in self.assignments for student in one.not_final})


def read_term(course: Course) -> TermGrades:
    """Read all assignments of the course. It is an error if none has a grade."""
    api = course.api()
    check_gradebook(api)
    rules = {name: term_rules(course, name) for name in course.assignments()}
    people: dict[str, Person] = {}
    found = []
    with contextlib.closing(open_gradebook(api)) as gradebook:
        for name, own in rules.items():
            with contextlib.suppress(NotInGradebook):
                rows = ClassRows(gradebook.db, name, own)
                people |= {person.id: person for person in rows.people}
                if rows.scored:
                    found.append(_grades(name, rows, own.weight, course.students(name)))
    if not found:
        raise CourseError("Nothing is graded yet. Run: grader autograde")
    people = {student: Person(student) for one in found for student in one.not_final} | people
    graded = {one.name for one in found}
    ungraded = [name for name in rules if name not in graded]
    zone = next((own.zone for own in rules.values()), "")
    return TermGrades(found, ungraded, [people[student] for student in sorted(people)], zone)


def _grades(name: str, rows: ClassRows, weight: float, submitters: Sequence[str]) -> AssignmentGrades:
    waiting = {student for student, standing in rows.standings.items() if standing.waits}
    return AssignmentGrades(
        name=name,
        max_points=rows.max_points,
        weight=weight,
        standings=rows.standings,
        not_final=waiting | (set(submitters) - rows.standings.keys()),
    )
