"""Where the students of a class stand, read from the gradebook in a few queries, and from autograded notebooks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_rows import ClassRows, read_rows
from grader.gradebook.connection import check_gradebook
from grader.gradebook.due_dates import is_late_without_time
from grader.gradebook.graded import read_grading_result, solution_sources, words_of
from grader.gradebook.items import Item
from grader.gradebook.roster import RosterLine, read_roster
from grader.gradebook.standing import Person, Standing
from grader.model.label import Label
from grader.notebooks.cells import solutions
from grader.term.rules import Late


@dataclass(frozen=True)
class ClassGrades:
    assignment: str
    duedate: datetime | None
    items: Sequence[Item]
    standings: Sequence[Standing]  # of everyone, by name
    course_solutions: Mapping[Label, Sequence[str]]  # solution cells as released, and as the course solves them
    course_words: Collection[str] = ()  # the course's own cells of text
    released_lines: Collection[str] = ()  # the lines of all released cells
    late: Late | None = None  # the term's rule for being late
    zone: str = ""  # the time zone of the course

    @property
    def graded(self) -> list[Standing]:
        return [standing for standing in self.standings if standing.is_graded]

    @property
    def submissions(self) -> list[Standing]:
        """The graded submissions: one for each group, even if several students share it."""
        return [standing for standing in self.graded if standing.by == standing.student]

    @property
    def max_points(self) -> float:
        return sum(item.most for item in self.items)

    @property
    def without_rules(self) -> float:
        """The maximum without the term's rules for exercises."""
        return sum(item.max_points for item in self.items)

    @cached_property
    def waiting(self) -> dict[str, list[str]]:
        """The exercises that wait for points from a person, by student."""
        return {standing.student: standing.waiting for standing in self.graded if standing.waits}


def read_class(course: Course, assignment: str) -> ClassGrades:
    """Read all that is known about an assignment. It is an error if nothing is graded yet."""
    course.chosen([assignment])
    check_gradebook(course.api())
    rows = read_rows(course, assignment)
    folder = course.folder("autograded").resolve()
    submitters = set(course.students(assignment))
    roster, submitted = read_roster(course.root), course.folder("submitted")
    strangers = submitters - {person.id for person in rows.people}
    standings = []
    for person in [*rows.people, *map(Person, strangers)]:
        person_in_roster = _add_roster_names(person, roster)
        standings.append(_standing(person_in_roster, rows, folder, submitted, person.id in submitters))
    grades = ClassGrades(
        assignment=assignment,
        duedate=rows.duedate,
        items=rows.items,
        standings=sorted(standings, key=lambda standing: standing.student),
        course_solutions=_course_solutions(course, assignment),
        course_words=_course_words(course, assignment),
        released_lines=_released_lines(course, assignment),
        late=rows.rules.late,
        zone=rows.rules.zone,
    )
    if not grades.graded:
        raise CourseError(f"{assignment} is not graded yet. Run: grader autograde {assignment}")
    return grades


def _add_roster_names(person: Person, roster: Mapping[str, RosterLine]) -> Person:
    """The person with added names that only the roster has."""
    line = roster.get(person.id)
    return replace(person, username=line.username, canvas_id=line.canvas_id) if line else person


def _standing(person: Person, rows: ClassRows, folder: Path, submitted: Path, has_submitted: bool) -> Standing:
    """Where a student stands, with what grading found and what only the roster knows."""
    standing = rows.standings.get(person.id)
    if standing is None:
        return Standing(person, has_submitted=has_submitted)
    path = Path(standing.by, rows.assignment)
    return replace(
        standing,
        person=person,
        is_called_late=not standing.has_time and is_late_without_time(submitted / path),
        result=read_grading_result(folder / path, rows.notebooks, standing.record),
    )


def _course_solutions(course: Course, assignment: str) -> dict[Label, list[str]]:
    """Solutions that no student wrote: the cells as released, and as the course solves them."""
    sources: dict[Label, list[str]] = defaultdict(list)
    for name in course.notebooks("source", assignment):
        for number, source in solutions(course.read("source", assignment, name)).items():
            sources[number].append(source)
    for name in course.notebooks("release", assignment):
        for number, source in solution_sources(course.read("release", assignment, name)).items():
            sources[number].append(source)
    return dict(sources)


def _course_words(course: Course, assignment: str) -> set[str]:
    words: set[str] = set()
    for step in ("source", "release"):
        for name in course.notebooks(step, assignment):
            words |= {text for _, text in words_of(course.read(step, assignment, name))}
    return words


def _released_lines(course: Course, assignment: str) -> set[str]:
    lines: set[str] = set()
    for name in course.notebooks("release", assignment):
        for cell in course.read("release", assignment, name).cells:
            lines |= set(cell.source.splitlines())
    return lines
