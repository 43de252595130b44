"""Bring hand-ins into submitted/: every decision is told, and what cannot be decided waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rich import box
from rich.markup import escape
from rich.table import Table

from grader.collecting.arrival import Times
from grader.collecting.choosing import Chosen, choose
from grader.collecting.contents import list_zip
from grader.collecting.files import Listing
from grader.collecting.folders import list_folder
from grader.collecting.hand_ins import Asked, HandIn
from grader.collecting.matching import matched
from grader.collecting.placing import NEW, OLDER, REPLACED, WAITS, Place, recover
from grader.collecting.platforms import hand_ins_of, must_be_known
from grader.collecting.recognising import Recogniser, released_by
from grader.collecting.rosters import known_students
from grader.course.folder import Course
from grader.errors import CourseError
from grader.sandbox.plain_text import one_line
from grader.term.reading import read_rules


@dataclass(frozen=True)
class Decision:
    """What became of one hand-in."""

    student: str  # empty if that is not known
    place: str  # where it came from
    outcome: str
    said: Sequence[str] = ()
    time: datetime | None = None

    @property
    def waits(self) -> bool:
        return self.outcome == WAITS


@dataclass(frozen=True)
class Wanted:
    """What the user has said."""

    students: Path | None = None  # a table
    times: Path | None = None  # when they handed in
    platform: str = ""
    as_named: bool = False
    newer: bool = False
    dry_run: bool = False


def collect(
    course: Course, assignment: str, sources: Sequence[Path], wanted: Wanted, tell: Callable[[str], None]
) -> Iterator[Decision]:
    """What became of each hand-in, as soon as it is decided; `tell` hears what was found where."""
    course.chosen([assignment])
    if not course.notebooks("release", assignment):
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    must_be_known(wanted.platform)
    best = course.rules(assignment).best
    recogniser = Recogniser(released_by(course), assignment)
    roster = known_students(course, wanted.students, tell)
    times = Times(wanted.times, read_rules(course.root).zone, roster) if wanted.times else None
    asked = Asked(assignment, recogniser.all_names, roster, wanted.as_named)
    if not wanted.dry_run:
        recover(course, assignment)
    with ExitStack() as stack:
        listings = [_open(source, stack) for source in sources]
        found = [hand_in for one in listings for hand_in in _hand_ins(one, asked, wanted.platform, tell)]
        by_student: dict[str, list[HandIn]] = {}
        for hand_in, student, why in matched(found, roster, wanted.as_named):
            if why:
                yield Decision("", one_line(hand_in.place), WAITS, [why], hand_in.time)
            else:
                by_student.setdefault(student, []).append(_timed(hand_in, student, times))
        for student, hand_ins in sorted(by_student.items()):
            is_newest = True
            for chosen in choose(hand_ins, recogniser, every=best):
                if isinstance(chosen, Chosen):
                    place = Place(course, student, assignment, keeps=best)
                    missing = _missing(course, assignment, chosen)
                    yield _placed(place, chosen, missing, wanted, is_newest)
                    is_newest = False
                else:
                    hand_in = chosen.hand_in
                    yield Decision(student, one_line(hand_in.place), WAITS, chosen.why, hand_in.time)


def _open(source: Path, stack: ExitStack) -> Listing:
    return list_folder(source) if source.is_dir() else list_zip(source, stack)


def _hand_ins(listing: Listing, asked: Asked, named: str, tell: Callable[[str], None]) -> list[HandIn]:
    platform, found, doubt = hand_ins_of(listing, asked, named)
    number = "1 hand-in" if len(found) == 1 else f"{len(found)} hand-ins"
    tell(f"{listing.called} is read as {platform.called}: {number} of {asked.assignment}.{doubt}")
    return found


def _timed(hand_in: HandIn, student: str, times: Times | None) -> HandIn:
    """With the time that the user's file has for it, if it has none of its own."""
    if times is None or hand_in.time:
        return hand_in
    time, why = times.of(hand_in, student)
    return replace(hand_in, time=time, notes=[*hand_in.notes, *([why] if why else [])])


def _placed(place: Place, chosen: Chosen, without: Sequence[str], wanted: Wanted, is_newest: bool) -> Decision:
    """`without` some notebooks of the assignment."""
    try:
        outcome, why = place.decide(chosen, wanted.newer) if is_newest else (OLDER, "")
        if outcome == OLDER and place.keeps:
            outcome, why = place.keep(chosen, wanted.dry_run)
        if outcome in (NEW, REPLACED) and not wanted.dry_run:
            place.put(chosen)
    except OSError as error:
        outcome, why = WAITS, f"{error.filename or place.path} cannot be written: {error.strerror}"
    said = [why] if why else []
    missing = [] if outcome == WAITS else [f"without {name}.ipynb" for name in without]
    hand_in = chosen.hand_in
    return Decision(place.student, one_line(hand_in.place), outcome, [*said, *missing, *chosen.notes], hand_in.time)


def _missing(course: Course, assignment: str, chosen: Chosen) -> list[str]:
    return [name for name in course.notebooks("release", assignment) if name not in chosen.notebooks]


# What was collected and what waits, as tables and for programs.

_LONGEST = 500


def collected_table(decisions: Sequence[Decision]) -> Table:
    table = _table("Collected", "student", "what", "from", "told")
    for one in decisions:
        table.add_row(*map(_text, (one.student, one.outcome, one.place)), _said(one))
    return table


def waiting_table(decisions: Sequence[Decision]) -> Table:
    table = _table("Waiting for you", "student", "from", "why")
    for one in decisions:
        table.add_row(*map(_text, (one.student or "?", one.place)), _said(one))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _text(text: str) -> str:
    return escape(one_line(text))


def _said(decision: Decision) -> str:
    return "\n".join(escape(one_line(said, _LONGEST)) for said in decision.said)


def as_json(assignment: str, decisions: Sequence[Decision], dry_run: bool) -> dict[str, object]:
    return {
        "assignment": assignment,
        "dry_run": dry_run,
        "collected": [
            {"student": one.student, "outcome": one.outcome, **_shared(one)} for one in decisions if not one.waits
        ],
        "waiting": [{"student": one.student or None, **_shared(one)} for one in decisions if one.waits],
    }


def _shared(one: Decision) -> dict[str, object]:
    time = one.time.isoformat(timespec="seconds") + "Z" if one.time else None
    return {"from": one.place, "time": time, "told": list(one.said)}
