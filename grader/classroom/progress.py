"""Show the progress of a run over a class: a bar on a terminal, lines in a log."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from types import FrameType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from grader.classroom.terminal_tables import plain_table
from grader.gradebook.published import PublishedPoints
from grader.model.label import Label, as_in
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict
from grader.sandbox.plain_text import one_line

# Ctrl-C, even if Python loses it: an exception that is raised in a destructor is only printed.


class Interrupt:
    """Remembers Ctrl-C until a KeyboardInterrupt has arrived."""

    def __init__(self) -> None:
        self._was_pressed = False

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Remember any Ctrl-C meanwhile; it also does what it usually does."""
        self._was_pressed = False
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler) or threading.current_thread() is not threading.main_thread():
            yield  # it is ignored, or ends us at once, or another thread deals with it
            return

        def note(number: int, frame: FrameType | None) -> None:
            self._was_pressed = True
            handler(number, frame)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if one was lost."""
        if self._was_pressed:
            self._was_pressed = False
            raise KeyboardInterrupt


CountedPoints = Mapping[str, PublishedPoints]  # what counts in the gradebook, by student

ROOM = 30  # characters for the headings of all exercises, in a table of 80
SHORT = 4  # characters of a heading that is never cut
LINE_SECONDS = 10.0  # between two lines in a log
LONG = 2.0  # seconds after which we say who is being graded


class Onlooker:
    """Shows progress as results come: on a terminal one bar, with submissions that take long beside it."""

    def __init__(self, console: Console, total: int, quiet: bool) -> None:
        self._console = console
        self._total = total
        self._quiet = quiet
        self._done = 0
        self._interrupt = Interrupt()
        self._started = self._last_line = time.monotonic()
        # No thread may draw it: a crew is started while the bar is shown.
        self._bar = Progress(
            TextColumn("Grading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("[yellow]{task.fields[now]}"), console=console, auto_refresh=False,
            disable=quiet or not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=total, rate="", now="")

    def follow(self, results: Iterator[Graded]) -> list[Graded]:
        """Collect all results, and show progress as they come."""
        collected = []
        with self._interrupt.noted(), self._bar:
            for graded in results:
                collected.append(graded)
                self._done += 1
                self._bar.update(self._task, completed=self._done, rate=self._rate())
                self._log(time.monotonic())
        return collected

    def show_running(self, running: Mapping[str, float]) -> None:
        self._interrupt.check()
        slow = []
        for student, seconds in running.items():
            if seconds > LONG:
                slow.append(f"{one_line(student, 40)} for {seconds:.0f} s")
        self._bar.update(self._task, now=escape(f"running: {', '.join(slow[:3])}" if slow else ""))
        self._bar.refresh()
        self._log(time.monotonic(), slow)

    def _log(self, now: float, slow: Sequence[str] = ()) -> None:
        """Print a line now and then, if there is no bar."""
        if self._bar.disable and not self._quiet and now > self._last_line + LINE_SECONDS:
            self._last_line = now
            facts = [f"{self._done} of {self._total}", self._rate()]
            if 0 < self._done < self._total:
                seconds_left = (self._total - self._done) * (now - self._started) / self._done
                facts.append(f"{seconds_left:.0f} s left")
            self._console.print(escape(", ".join([*filter(None, facts), *slow])), highlight=False)

    def _rate(self) -> str:
        seconds = time.monotonic() - self._started
        return f"{self._done / seconds:.1f} a second" if self._done and seconds > 1 else ""


def results_table(results: Sequence[Graded], counted: CountedPoints | None = None, most: float | None = None) -> Table:
    """A table with a line for each student: points for each exercise, what went wrong, and other remarks.

    With `counted`, what counts in the gradebook, and `most`, the maximum points, it shows those: points from a person
    or exercises that wait for them, and penalties.
    """
    points_of = {result.student: _points_of(result, counted) for result in results}
    remarks = {result.student: _list_remarks(result, points_of[result.student]) for result in results}
    labels = _list_labels(results, counted)
    headings = _headings(labels)
    table = plain_table(title="Points")
    if headings != labels:
        legend = [f"{heading}: {one_line(label, 60)}" for heading, label in zip(headings, labels, strict=True)]
        table.caption, table.caption_justify = escape(", ".join(legend)), "left"
    table.add_column("student", no_wrap=True)
    for heading in headings:
        table.add_column(escape(heading), justify="right")
    table.add_column("total", justify="right")
    table.add_column("what went wrong")
    if any(remarks.values()):
        table.add_column("also")
    for result in sorted(results, key=lambda graded: graded.student):
        points = points_of[result.student]
        row = [escape(one_line(result.student))]
        row += [_describe_points(label, points, result) for label in labels]
        if result.error or most is None:
            row.append(f"{result.points:g}/{result.max_points:g}" if result.max_points else "–")
        else:
            row.append(f"{points.total:g}/{most:g}")
        row.append(escape("\n".join(_list_mistakes(result, points))))
        if any(remarks.values()):
            row.append(escape("\n".join(remarks[result.student])))
        table.add_row(*row)
    return table


def _headings(labels: Sequence[str]) -> list[str]:
    """The labels as they are, or letters if names are so long that a terminal would cut them."""
    if sum(len(label) + 1 for label in labels) <= ROOM or max(map(len, labels)) <= SHORT:
        return [*labels]
    letters = itertools.chain(ascii_uppercase, map("".join, itertools.product(ascii_uppercase, repeat=2)))
    return list(itertools.islice(letters, len(labels)))


def _points_of(result: Graded, counted: CountedPoints | None) -> PublishedPoints:
    """The points that count; if those are unknown, the points by tests."""
    if counted and result.student in counted:
        return counted[result.student]
    points_by_tests = {scored.verdict.label: scored.points for scored in result.verdicts}
    return PublishedPoints(points_by_tests, result.points)


def _describe_points(label: str, points: PublishedPoints, result: Graded) -> str:
    has_failed = result.error and not result.verdicts
    return points.describe(label) if label in points.points and not has_failed else "–"


def _list_remarks(result: Graded, points: PublishedPoints) -> list[str]:
    """Points from a person, a late penalty, and which attempt counts."""
    remarks = _list_manual_points(result, points)
    if points.penalty:
        remarks.append(f"late: {points.penalty:g} taken off")
    if points.hand_in:
        remarks.append(points.hand_in)
    return remarks


def _list_manual_points(result: Graded, points: PublishedPoints) -> list[str]:
    """The points from a person, and those that they replace."""
    points_by_tests = {scored.verdict.label: f" instead of {scored.points:g}" for scored in result.verdicts}
    remarks = []
    for label in points.by_hand:
        remarks.append(f"{label}: set manually to {points.describe_points(label)}{points_by_tests.get(label, '')}")
    return remarks


def _list_labels(results: Iterable[Graded], counted: CountedPoints | None) -> list[str]:
    """The labels of the assignment's exercises, those without a test last."""
    results = list(results)
    labels = {scored.verdict.label: None for scored in _longest(results)}
    for result in results:
        if counted and result.student in counted:
            labels |= dict.fromkeys(counted[result.student].points)
    return list(labels)


def _longest(results: Iterable[Graded]) -> Sequence[Scored]:
    """The longest list of verdicts: all exercises, in the order of the notebook."""
    return max((result.verdicts for result in results), key=len, default=())


def _select_mistakes(result: Graded, points: PublishedPoints) -> list[Verdict]:
    """The verdicts of mistakes, except where a person gave full points or still has to look."""
    verdicts = []
    for scored in result.verdicts:
        label = scored.verdict.label
        has_full_points = label in points.by_hand and points.points[label] >= scored.max_points
        if not scored.verdict.right and label not in points.waits and not has_full_points:
            verdicts.append(scored.verdict)
    return verdicts


def _list_mistakes(result: Graded, points: PublishedPoints) -> list[str]:
    """The named misconceptions, and the kind of every other mistake."""
    if result.error:
        return [result.error]
    mistakes = []
    for verdict in _select_mistakes(result, points):
        mistakes.append((verdict.label, " + ".join(verdict.misconceptions) or _kind(verdict)))
    kinds = {kind for _, kind in mistakes}
    if len(kinds) == 1 and len(mistakes) == len(result.verdicts):
        mistakes = [("all", kinds.pop())]
    lines = [f"{label}: {kind}" for label, kind in mistakes]
    return lines + [f"⚑ tried to {attempt}" for attempt in result.blocked]


def _kind(verdict: Verdict) -> str:
    """The place of a mistake that has no name, or else its reason."""
    return f"in `{one_line(verdict.located[0].line, 60)}`" if verdict.located else verdict.reason


def summary_table(results: Sequence[Graded], counted: CountedPoints | None = None) -> Table:
    """A table of a few lines about a class: how many students, whom to look at, and what was misunderstood."""
    problems: list[str] = []
    manual_points: list[str] = []
    waiting: list[str] = []
    for result in results:
        student, points = one_line(result.student), _points_of(result, counted)
        student_problems = _list_problems(result)
        if student_problems:
            problems.append(f"{student}: {'; '.join(student_problems)}")
        student_manual_points = _list_manual_points(result, points)
        if student_manual_points:
            manual_points.append(f"{student}: {'; '.join(student_manual_points)}")
        if points.waits:
            waiting.append(f"{student}: {', '.join(points.waits)}")
    table = plain_table(Column(no_wrap=True), Column(justify="right"), "", show_header=False)
    table.add_row("graded", str(_count_graded(results)))
    table.add_row("unchanged", str(sum(result.unchanged for result in results)))
    table.add_row("with problems", str(len(problems)), escape("\n".join(problems)))
    for title, lines in (("manual points", manual_points), ("to grade manually", waiting)):
        if lines:
            table.add_row(title, str(len(lines)), escape("\n".join(lines)))
    for label, counts in count_misconceptions(results, counted).items():
        names = ", ".join(f"{name} ({count})" for name, count in counts.most_common())
        table.add_row(f"exercise {label}", str(counts.total()), escape(names))
    return table


def _count_graded(results: Iterable[Graded]) -> int:
    return sum(not result.unchanged and not result.error for result in results)


def count_misconceptions(results: Iterable[Graded], counted: CountedPoints | None) -> dict[Label, Counter[str]]:
    """How often each misconception was named, by exercise."""
    results = list(results)
    counts: dict[Label, Counter[str]] = {}
    order = [scored.verdict.exercise for scored in _longest(results)]
    for result in results:
        for verdict in _select_mistakes(result, _points_of(result, counted)):
            if verdict.misconceptions and verdict.exercise is not None:
                counts.setdefault(verdict.exercise, Counter()).update(verdict.misconceptions)
    return {label: counts[label] for label in as_in(order, counts)}


def _list_problems(result: Graded) -> list[str]:
    """The problems of a submission that an instructor should know of."""
    if result.error:
        return [result.error.removesuffix(".")]
    problems = []
    for scored in result.verdicts:
        verdict = scored.verdict
        if _has_no_answer(verdict):
            problems.append(f"{verdict.label}: {verdict.sentences[0]}".removesuffix("."))
    return problems + [f"⚑ tried to {attempt}".removesuffix(".") for attempt in result.blocked]


def _has_no_answer(verdict: Verdict) -> bool:
    """Whether the code hung, took its process down, or was never asked."""
    return verdict.reason == Reason.NO_ANSWER and bool(verdict.sentences)


def as_json(results: Sequence[Graded], counted: CountedPoints | None = None) -> dict[str, object]:
    """The results of a run, for programs to read."""
    students: dict[str, dict[str, object]] = {}
    for result in results:
        if not result.error:
            students[result.student] = {
                **result.to_json(),
                "blocked": list(result.blocked),
                "exercises": {scored.verdict.label: _shorten(scored.to_json()) for scored in result.verdicts},
            }
            if counted and result.student in counted:
                students[result.student] |= _points_as_json(counted[result.student])
    misconceptions = count_misconceptions(results, counted)
    return {
        "graded": _count_graded(results),
        "unchanged": sum(result.unchanged for result in results),
        "failed": {result.student: result.error for result in results if result.error},
        "misconceptions": {label: dict(counts) for label, counts in misconceptions.items()},
        "students": students,
    }


def _points_as_json(points: PublishedPoints) -> dict[str, object]:
    """What counts in the gradebook, beside the points by tests."""
    return {
        "by_hand": {label: points.points[label] for label in points.by_hand},
        "waits": list(points.waits),
        "penalty": points.penalty,
        "total": points.total,
        **({"hand_in": points.hand_in} if points.hand_in else {}),
    }


def _shorten(verdict: Mapping[str, object]) -> dict[str, object]:
    """A verdict in JSON without its sentences, pictures and so on."""
    return {name: verdict[name] for name in ("points", "max_points", "reason", "misconceptions")}
