"""What earns points in an assignment, and how many of them count by the rules of the term."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from nbgrader.api import Assignment, BaseCell, GradeCell, Notebook, TaskCell
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.gradebook.marks import Marks
from grader.model.label import Label, in_order
from grader.notebooks.cells import exercise_of
from grader.term import rules as term
from grader.term.reading import must_fit
from grader.term.rules import AssignmentRules, Late, Rule


@dataclass(frozen=True)
class Item:
    """Something that earns points: usually an exercise."""

    cell: str  # the id of its cell in the gradebook
    name: str
    max_points: float
    notebook: str = ""  # that has the cell
    is_shared: bool = False  # whether other notebooks have a cell of that name
    rule: Rule | None = None  # of the term

    @property
    def exercise(self) -> Label | None:
        """The exercise; None if the cell belongs to none."""
        return exercise_of(self.name)

    @property
    def label(self) -> str:
        label = self.name if self.exercise is None else str(self.exercise)
        return f"{self.notebook}: {label}" if self.is_shared else label

    @property
    def student_cells(self) -> tuple[str, str]:
        """The names that the cell which students write for it can have. An ordinary test has none."""
        return f"exercise-{self.exercise}", self.name

    @property
    def most(self) -> float:
        """The points that this item adds to the maximum."""
        return term.most(self.max_points, self.rule)

    def counted(self, points: float) -> float:
        return term.counted(points, self.max_points, self.rule)


@dataclass(frozen=True)
class Counted:
    """The points of a submission that count by the rules of the term."""

    points: Mapping[str, float]  # by cell, without void ones
    penalties: Mapping[str, float]  # for being late, by notebook

    @property
    def penalty(self) -> float:
        return sum(self.penalties.values())

    @property
    def total(self) -> float:
        """The total as in nbgrader: points from a person take precedence, and penalties never make it negative."""
        return max(0.0, sum(self.points.values()) - self.penalty)


def count(items: Sequence[Item], points: Mapping[str, float], late: Late | None, late_by: timedelta) -> Counted:
    """Count the points of an attempt, given by cell, and the penalties if it is `late_by` so much."""
    counted_points: dict[str, float] = {}
    notebook_points: dict[str, float] = defaultdict(float)
    for item in items:
        if item.cell in points and item.rule is not Rule.VOID:
            counted_points[item.cell] = item.counted(points[item.cell])
        notebook_points[item.notebook] += counted_points.get(item.cell, 0.0)
    if late is None:
        return Counted(counted_points, {})
    penalties = {notebook: late.penalty(reached, late_by) for notebook, reached in notebook_points.items()}
    return Counted(counted_points, penalties)


def points_within_reach(items: Sequence[Item], marks: Marks, late: Late | None, late_by: timedelta) -> float:
    """The points by which attempts are compared: with full marks for all cells that nobody has looked at yet."""
    points, open_cells = marks.points, marks.open
    for item in items:
        if item.cell in open_cells:
            points[item.cell] = max(points.get(item.cell, 0.0), item.max_points)
    return round(count(items, points, late, late_by).total, 6)


def items_of(
    session: Session, assignment: str, rules: AssignmentRules, cells: Iterable[tuple[str, str]] = ()
) -> list[Item]:
    """What earns points in an assignment, exercises first. A rule for anything else is an error.

    `cells` are those of the released notebooks, in their order, which the gradebook does not keep.
    """
    cell, test, task = (table.__table__.c for table in (BaseCell, GradeCell, TaskCell))
    query = (
        select(
            cell.id,
            cell.name,
            Notebook.name.label("notebook"),
            func.coalesce(test.max_score, task.max_score, 0.0).label("max_points"),
        )
        .select_from(BaseCell.__table__.outerjoin(GradeCell.__table__).outerjoin(TaskCell.__table__))
        .join(Notebook, Notebook.id == cell.notebook_id)
        .join(Assignment, Assignment.id == Notebook.assignment_id)
        .where(Assignment.name == assignment, (test.id.is_not(None)) | (task.id.is_not(None)))
    )
    rows = list(session.execute(query))
    counts = Counter(row.name for row in rows)
    items = [Item(row.id, row.name, float(row.max_points), row.notebook, counts[row.name] > 1) for row in rows]
    must_fit(rules, assignment, [item.label for item in items])
    items = [replace(item, rule=rules.exercises.get(item.label)) for item in items]
    positions = {cell: position for position, cell in enumerate(cells)}

    def order(item: Item) -> tuple[bool, int, tuple[bool, int, str], str, str]:
        """Exercises first; cells that are in no released notebook last, by number or name."""
        position = positions.get((item.notebook, item.name), len(positions))
        notebook = item.notebook if item.is_shared else ""
        return item.exercise is None, position, in_order(item.exercise), notebook, item.name

    return sorted(items, key=order)
