"""What earns points in an assignment, and how many of them count by the rules of the term."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from nbgrader.api import Assignment, BaseCell, GradeCell, Notebook, TaskCell
from sqlalchemy import func, select
from sqlalchemy.orm import Session

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
    counting = {
        item.cell: item.counted(points[item.cell])
        for item in items
        if item.cell in points and item.rule is not Rule.VOID
    }
    reached: dict[str, float] = defaultdict(float)
    for item in items:
        reached[item.notebook] += counting.get(item.cell, 0.0)
    penalties = {name: late.penalty(earned, late_by) for name, earned in reached.items()} if late else {}
    return Counted(counting, penalties)


def within_reach(
    items: Sequence[Item], points: Mapping[str, float], unseen: Collection[str], late: Late | None, late_by: timedelta
) -> float:
    """The total that counts if a person gives full marks for all cells that nobody has looked at yet."""
    most = {item.cell: max(points.get(item.cell, 0.0), item.max_points) for item in items if item.cell in unseen}
    return round(count(items, {**points, **most}, late, late_by).total, 6)


def _place(item: Item, order: Mapping[tuple[str, str], int]) -> tuple[bool, int, tuple[bool, int, str], str, str]:
    """A key for sorting: exercises first; cells that are in no released notebook last, by number or name."""
    at = order.get((item.notebook, item.name), len(order))
    return item.exercise is None, at, in_order(item.exercise), item.notebook if item.is_shared else "", item.name


def items_of(
    session: Session, assignment: str, rules: AssignmentRules, cells: Iterable[tuple[str, str]] = ()
) -> list[Item]:
    """What earns points in an assignment, exercises first. A rule for anything else is an error.

    `cells` are those of the released notebooks, in their order, which the gradebook does not keep.
    """
    cell, by_test, by_task = (kind.__table__.c for kind in (BaseCell, GradeCell, TaskCell))
    query = (
        select(
            cell.id,
            cell.name,
            Notebook.name.label("notebook"),
            func.coalesce(by_test.max_score, by_task.max_score, 0.0).label("max_points"),
        )
        .select_from(BaseCell.__table__.outerjoin(GradeCell.__table__).outerjoin(TaskCell.__table__))
        .join(Notebook, Notebook.id == cell.notebook_id)
        .join(Assignment, Assignment.id == Notebook.assignment_id)
        .where(Assignment.name == assignment, (by_test.id.is_not(None)) | (by_task.id.is_not(None)))
    )
    rows = list(session.execute(query))
    times = Counter(row.name for row in rows)
    items = [Item(row.id, row.name, float(row.max_points), row.notebook, times[row.name] > 1) for row in rows]
    must_fit(rules, assignment, [item.label for item in items])
    order = {cell: place for place, cell in enumerate(cells)}
    ruled = [replace(item, rule=rules.exercises.get(item.label)) for item in items]
    return sorted(ruled, key=lambda item: _place(item, order))
