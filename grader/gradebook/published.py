"""What students were shown: each publication of an assignment is a folder that is never changed.

published/ASSIGNMENT/3/ is the third: state.json with everybody's points, and the files handed out with them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_rows import read_rows
from grader.gradebook.fingerprint import NEW_SUBMISSION, changes_between, digest
from grader.gradebook.standing import Standing
from grader.term.rules import Rule

FOLDER = "published"
STATE = "state.json"
_SEEN_FILE = "seen"


@dataclass(frozen=True)
class PublishedPoints:
    """What one student was shown. The fields are keys in state.json."""

    points: Mapping[str, float]  # by exercise
    total: float  # what counts
    penalty: float = 0.0  # points taken off for being late
    by_hand: Sequence[str] = ()  # exercises with points from a person
    fingerprint: str = ""  # of all that the grade depends on
    remarks: str = ""  # a digest of people's comments; empty if there are none
    void: Sequence[str] = field(default_factory=list)  # exercises that do not count
    rules: Sequence[str] = field(default_factory=list)  # the term's rules behind these points
    hand_in: str = ""  # which attempt counts, if the best of several does
    waits: Sequence[str] = field(default_factory=list)  # exercises that wait for points from a person

    @classmethod
    def of(cls, standing: Standing) -> PublishedPoints:
        """What a student with a graded submission would be shown now."""
        remarks = [f"{remark.cell} {remark.text}" for remark in standing.remarks]
        return cls(
            points=standing.points,
            total=standing.total,
            penalty=standing.penalty,
            by_hand=standing.by_hand,
            fingerprint=standing.record.fingerprint if standing.record else "",
            remarks=digest(*remarks) if remarks else "",
            void=[item.label for item in standing.items if item.rule is Rule.VOID],
            rules=standing.rules,
            hand_in=standing.attempt,
            waits=standing.waiting,
        )

    def describe(self, exercise: str) -> str:
        """The points for an exercise, in words. One that waits may have points for an earlier answer."""
        if exercise in self.waits and not self.points.get(exercise):
            return "waits"
        return self.describe_points(exercise)

    def describe_points(self, exercise: str) -> str:
        """The points for an exercise, even if they are 0."""
        so_far = " so far" if exercise in self.waits else ""
        return f"{round(self.points.get(exercise, 0), 2):g}{so_far}"


@dataclass(frozen=True)
class PointsChange:
    """A student whose points have changed. None means that there were no points, or are none any more."""

    student: str  # whose they are
    before: float | None  # the points that were shown
    now: float | None  # the points of today
    exercises: Sequence[str]  # “4: 2 → 1”
    why: Sequence[str]  # what has changed


@dataclass(frozen=True)
class Publication:
    """A publication: what students were shown, by whom, and when."""

    number: int  # the first is 1
    at: str  # when
    by: str  # who ran the command
    max_points: float  # of the assignment
    students: Mapping[str, PublishedPoints]  # what each was shown
    platforms: Sequence[str] = ()  # that it was exported for
    changed: Sequence[PointsChange] = field(default_factory=tuple)  # since the one before


def points_to_publish(course: Course, assignment: str) -> tuple[dict[str, PublishedPoints], float]:
    """What every student with a graded submission would be shown now, and the maximum points."""
    rows = read_rows(course, assignment)
    points = {student: PublishedPoints.of(rows.standings[student]) for student in sorted(rows.standings)}
    return points, rows.max_points


def changes(before: Mapping[str, PublishedPoints], now: Mapping[str, PublishedPoints]) -> list[PointsChange]:
    """The students whose points have changed, in total or for an exercise, or are waiting now."""
    points_changes = []
    for student in sorted({*before, *now}):
        old, new = before.get(student), now.get(student)
        if _compared_points(old) != _compared_points(new):
            points_changes.append(_make_change(student, old, new))
    return points_changes


def _compared_points(points: PublishedPoints | None) -> object:
    """What has to differ for a change. Exercises without points are left out."""
    if points is None:
        return None
    points_above_zero = {exercise: number for exercise, number in points.points.items() if number}
    return points.total, points.penalty, points_above_zero, points.waits


def _make_change(student: str, old: PublishedPoints | None, new: PublishedPoints | None) -> PointsChange:
    if old is None:
        return PointsChange(student, None, new.total if new else None, (), ("graded for the first time",))
    if new is None:
        return PointsChange(student, old.total, None, (), ("no longer graded",))
    exercises = []
    changes_in_words = []
    for exercise in {**old.points, **new.points}:
        before, now = old.describe(exercise), new.describe(exercise)
        if before != now:
            exercises.append(exercise)
            changes_in_words.append(f"{exercise}: {before} → {now}")
    reasons = _find_reasons(old, new, exercises)
    return PointsChange(student, old.total, new.total, changes_in_words, reasons or ("points in the gradebook",))


def _find_reasons(old: PublishedPoints, new: PublishedPoints, exercises: Sequence[str]) -> list[str]:
    """What has changed between two grades, in words; `exercises` are those with other points."""
    reasons = list(changes_between(old.fingerprint, new.fingerprint))
    if NEW_SUBMISSION in reasons and (new.hand_in or old.hand_in):
        reasons[reasons.index(NEW_SUBMISSION)] = f"another attempt counts: {new.hand_in or 'the last one'}"
    set_by_hand = [exercise for exercise in exercises if exercise in new.by_hand or exercise in old.by_hand]
    if set_by_hand:
        reasons.append(f"manual points for {', '.join(set_by_hand)}")
    rule_changes = [rule for rule in new.rules if rule not in old.rules]
    rule_changes += [f"no longer {rule}" for rule in old.rules if rule not in new.rules]
    if rule_changes:
        reasons.append(f"course.toml ({'; '.join(rule_changes)})")
    if old.penalty != new.penalty:
        reasons.append("the penalty for being late")
    return reasons


def seal(points_changes: Sequence[PointsChange]) -> str:
    """A digest of these changes."""
    return digest(json.dumps([asdict(change) for change in points_changes]))


class Publications:
    """The publications of one assignment."""

    def __init__(self, course: Course, assignment: str) -> None:
        self._folder = course.root / FOLDER / assignment
        self._assignment = assignment

    @property
    def numbers(self) -> list[int]:
        folders = self._folder.iterdir() if self._folder.is_dir() else []
        return sorted(int(path.name) for path in folders if path.name.isdecimal() and (path / STATE).is_file())

    def last(self) -> Publication | None:
        numbers = self.numbers
        return self.read(numbers[-1]) if numbers else None

    def folder(self, number: int) -> Path:
        return self._folder / str(number)

    def read(self, number: int) -> Publication:
        path = self.folder(number) / STATE
        try:
            data = json.loads(path.read_text())
            data.pop("restores", None)  # earlier versions could publish an old state again
            students = {name: PublishedPoints(**points) for name, points in data.pop("students").items()}
            changed = [PointsChange(**change) for change in data.pop("changed")]
            return Publication(**data, students=students, changed=changed)
        except FileNotFoundError:
            numbers = ", ".join(map(str, self.numbers)) or "none"
            raise CourseError(
                f"There is no publication {number} of {self._assignment}. Available: {numbers}."
            ) from None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CourseError(f"{path} cannot be read: {error}. Restore a copy of it, then run this again.") from None

    def begin(self) -> Path:
        """Make an empty folder for the files of the next publication, which is not one until `keep`."""
        folder = self._folder / ".next"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def keep(self, publication: Publication) -> None:
        """Make the prepared folder a publication: from now on, this is what students were shown."""
        folder = self._folder / ".next"
        (folder / STATE).write_text(json.dumps(asdict(publication), indent=1, ensure_ascii=False) + "\n")
        folder.rename(self.folder(publication.number))

    def note_seen(self, points_changes: Sequence[PointsChange]) -> None:
        """Note that an instructor has seen these changes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / _SEEN_FILE).write_text(seal(points_changes))

    def were_seen(self, points_changes: Sequence[PointsChange]) -> bool:
        path = self._folder / _SEEN_FILE
        return path.is_file() and path.read_text() == seal(points_changes)
